"""Names that could be taken for one another, against the textbook's distance."""

from __future__ import annotations

from itertools import product

from hypothesis import example, given
from hypothesis import strategies as st

from certdp.verification.checker.likeness import reduced, within_a_slip

WORDS = st.text(alphabet="abc", max_size=7)


def distance(one: str, other: str) -> int:
    """Optimal string alignment (Damerau 1964), row by row."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            least = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                least = min(least, rows[i - 2][j - 2] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]


@given(WORDS, WORDS)
@example("ab", "ba")
@example("abab", "baba")
@example("aab", "ab")
@example("", "a")
@example("abcab", "abcb")
def test_a_slip_is_a_distance_of_at_most_1(one: str, other: str) -> None:
    assert within_a_slip(one, other) == (distance(one, other) <= 1)


def test_every_pair_of_short_words() -> None:
    words = ["".join(letters) for length in range(5) for letters in product("abc", repeat=length)]
    for one, other in product(words, words):
        if abs(len(one) - len(other)) <= 2:
            assert within_a_slip(one, other) == (distance(one, other) <= 1), (one, other)


def test_what_looks_alike_is_reduced_to_the_same() -> None:
    assert reduced("PPS-w0r") == reduced("ppswor")
    assert reduced("gaussian_surn") == reduced("Gaussian sum")
    assert reduced("ful1") == reduced("full") == reduced("fuiI")
    assert reduced("laplace-sum") != reduced("laplace-mus")
