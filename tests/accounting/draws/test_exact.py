"""The exact routine: whatever the word, the cell is the one that holds the noise, and no bit is drawn in vain."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.draws.exact import exact_cell, exact_number
from certdp.accounting.draws.laws import GAUSSIAN, LAPLACE, Law
from certdp.accounting.enclosures import Enclosure
from tests.support.arb_noise import Handed, cell, digits
from tests.support.cases import examples

LAWS = st.sampled_from([LAPLACE, GAUSSIAN])
RATIOS = st.fractions(1, 40, max_denominator=30) | st.integers(0, 45).flatmap(
    lambda k: st.fractions(2**k, 2**k + 1, max_denominator=99).map(lambda r: min(r, Fraction(2**45)))
)
TOP = 2**64


@examples(400)
@given(law=LAWS, ratio=RATIOS, word=st.integers(0, TOP - 1), zeros=st.integers(0, 63))
@example(LAPLACE, Fraction(2**30), 0, 0)
@example(GAUSSIAN, Fraction(2**30), 1, 0)
@example(LAPLACE, Fraction(1), TOP - 1, 0)
@example(GAUSSIAN, Fraction(2**45), TOP - 2, 0)
def test_a_word_means_the_cell_of_its_noise(law: Law, ratio: Fraction, word: int, zeros: int) -> None:
    """Against the inverse of the tail in Arb, with words of every size."""
    word >>= zeros
    right = cell(law, ratio, word)
    assert exact_cell(law, ratio, word, Handed([])) == right
    for lower in {max(0, abs(right) - 1), abs(right)}:  # where one of two cells is known to be right
        assert exact_cell(law, ratio, word, Handed([]), lower) == right


@examples(400)
@given(
    law=LAWS,
    ratio=RATIOS,
    share=st.fractions(0, 6, max_denominator=1000),
    words=st.integers(0, 3),
    side=st.sampled_from([-1, 0, 1]),
    sign=st.integers(0, 1),
)
def test_numbers_beside_a_boundary_are_told_apart_by_as_many_words_as_that_takes(
    law: Law, ratio: Fraction, share: Fraction, words: int, side: int, sign: int
) -> None:
    """The number agrees with the tail at a cell's end in its first 63 + 64·words bits, or is one unit from it there."""
    boundary = int(share * ratio) + Fraction(1, 2)
    bits = 63 + 64 * words
    spelled = digits(law, boundary / ratio, bits) + side
    if not 0 < spelled < 1 << bits:
        return
    first = (spelled >> (64 * words)) << 1 | sign
    rest = [spelled >> (64 * k) & (TOP - 1) for k in reversed(range(words))]
    source = Handed(rest)
    full = (spelled + Fraction(0x9E3779B97F4A7C15, TOP - 1)) / (1 << bits)
    assert exact_cell(law, ratio, first, source) == cell(law, ratio, first, full)
    assert source.further <= 1 if side == 0 else source.further == 0
    assert len(source.words) == 0 or side != 0


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=lambda law: law.name)
def test_a_word_of_zeros_goes_on(law: Law) -> None:
    source = Handed([0, 0, 0, 5])
    found = exact_cell(law, Fraction(2**30), 0, source)
    p = (5 + Fraction(1, 2)) / 2 ** (63 + 64 * 4)
    assert abs(found - cell(law, Fraction(2**30), 0, p)) < 2**30
    assert len(source.words) == 0


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=lambda law: law.name)
@pytest.mark.parametrize("off", [-1e9, -40.0, -1e-9, 0.5, 1e-6, 90.0])
def test_a_wrong_guess_costs_time_alone(law: Law, off: float, monkeypatch: pytest.MonkeyPatch) -> None:
    ratio, words = Fraction(2**31, 3), [12345, 2**63 + 1, TOP - 1, 2**50]
    right = [cell(law, ratio, word) for word in words]
    guess = law.guess
    monkeypatch.setattr(type(law), "guess", lambda _, p: max(0.0, guess(p) + off))
    assert [exact_cell(law, ratio, word, Handed([])) for word in words] == right


@pytest.mark.parametrize("about", [-3, 0, 1, 2, 5, 40])
@pytest.mark.parametrize("leading_zeros", [0, 1, 2, 7])
def test_wherever_a_search_begins_it_asks_for_magnitudes_from_1_and_ends_at_the_largest(
    about: int, leading_zeros: int
) -> None:
    """With T_k = 2^-k a magnitude is the number of zeros that p begins with."""

    def tail(k: int, precision: int) -> Enclosure:
        assert k >= 1
        return Enclosure.of(Fraction(1, 2**k), precision=precision)

    word = (1 << 62 - leading_zeros | 1) << 1
    for sign in (0, 1):
        found = exact_number(tail, lambda _: about, word | sign, Handed([]))
        assert found == (-leading_zeros if sign else leading_zeros)
        for lower in range(max(0, leading_zeros - 1), leading_zeros + 1):
            assert exact_number(tail, lambda _: about, word | sign, Handed([]), lower) == found
