"""Laws of the number of repetitions: what they draw, and their means and tilts, against sums over all numbers."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import Public
from certdp.accounting.draws.source import Seeded
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import CertdpError, InvalidValue
from certdp.accounting.selection import (
    FixedRepetitions,
    NegativeBinomialRepetitions,
    PoissonRepetitions,
    RandomRepetitions,
)
from certdp.verification.oracles.repetitions import negative_binomial, poisson
from tests.support.cases import draws, examples

LAWS: dict[str, tuple[RandomRepetitions, list[Fraction]]] = {
    "geometric": (NegativeBinomialRepetitions(mean=Public(4)), negative_binomial(Fraction(4), Fraction(1))),
    "logarithmic": (
        NegativeBinomialRepetitions(mean=Public(4), shape=Public(0)),
        negative_binomial(Fraction(4), Fraction(0)),
    ),
    "between": (
        NegativeBinomialRepetitions(mean=Public("5/4"), shape=Public("-1/2")),
        negative_binomial(Fraction(5, 4), Fraction(-1, 2)),
    ),
    "poisson": (PoissonRepetitions(mean=Public(3)), poisson(Fraction(3))),
}


class Words:
    """A source of the words that are given, one at a time."""

    private = False

    def __init__(self, *words: int) -> None:
        self.words = list(words)

    def bits(self, count: int) -> np.ndarray:
        return np.array([self.words.pop(0) for _ in range(count)], dtype=np.uint64)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_numbers_are_drawn_by_their_law(name: str) -> None:
    """The share of each number within five standard deviations of its probability."""
    law, chances = LAWS[name]
    count, source = draws(8000), Seeded(5)
    seen = Counter(law.drawn(source) for _ in range(count))
    assert min(seen) == (0 if name == "poisson" else 1)
    for number in range(12):
        p = float(chances[number])
        assert abs(seen[number] / count - p) <= 5 * math.sqrt(p * (1 - p) / count) + 1e-9


@examples(60)
@given(name=st.sampled_from(sorted(LAWS)), number=st.integers(0, 30), side=st.sampled_from([0, 1]))
def test_a_number_begins_where_the_sum_before_it_ends(name: str, number: int, side: int) -> None:
    """The words on both sides of each sum of probabilities mean the numbers on both sides of it."""
    law, chances = LAWS[name]
    end = sum(chances[: number + 1], Fraction(0))
    word = math.floor(end * 2**64)
    if not 2 < word < 2**64 - 3:
        return
    drawn = law.drawn(Words(word + 2 if side else word - 2, 0, 0, 0))
    after = next(k for k in range(number + 1, len(chances)) if chances[k]) if side else number
    assert drawn == after or chances[number] == 0


@pytest.mark.parametrize("name", LAWS)
def test_the_mean_is_the_one_stated(name: str) -> None:
    law, chances = LAWS[name]
    mean = sum((k * chance for k, chance in enumerate(chances)), Fraction(0))
    assert abs(law.mean_at(128).midpoint - mean) < Fraction(1, 2**60)
    assert law.none_at(256).contains(chances[0]) or abs(law.none_at(256).midpoint - chances[0]) < Fraction(1, 2**200)


@examples(100)
@given(
    name=st.sampled_from(sorted(LAWS)),
    x=st.fractions("1/8", 3, max_denominator=8),
    delta=st.sampled_from([Fraction(0), Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 5)]),
    s=st.fractions(0, 1, max_denominator=64),
    slope=st.fractions("1/50", 4, max_denominator=50),
)
def test_lines_are_below_the_tilts(name: str, x: Fraction, delta: Fraction, s: Fraction, slope: Fraction) -> None:
    """Both tilts by the sums that define them, where s' is as large as it may be."""
    law, chances = LAWS[name]
    other = min(math.exp(x) * float(s) + float(delta), 1.0)
    line = law.line(x, Enclosure.of(delta), slope)
    if line is None:
        return
    a, c = (
        sum(k * float(chance) * (1 - float(top)) ** (k - 1) for k, chance in enumerate(chances) if k)
        / sum(k * float(chance) for k, chance in enumerate(chances))
        for top in (s, other)
    )
    assert c >= float(line.slope) * a + float(line.intercept) - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_a_line_touches_the_tilts(name: str) -> None:
    """Somewhere along e^x·s + δ a line is as high as the tilt: a higher one of its slope would be wrong."""
    law, chances = LAWS[name]
    x, delta = Fraction(2), 1e-4
    line = law.line(x, Enclosure.of(Fraction(delta)), Fraction(law.steepness(2.0, delta, 0.02)))
    assert line is not None
    mean = sum(k * float(chance) for k, chance in enumerate(chances))

    def tilt(s: float) -> float:
        return sum(k * float(chance) * (1 - s) ** (k - 1) for k, chance in enumerate(chances) if k) / mean

    places = np.linspace(0, (1 - delta) * math.exp(-2), 4000)
    gaps = [tilt(math.exp(2) * s + delta) - float(line.slope) * tilt(s) - float(line.intercept) for s in places]
    assert -1e-9 <= min(gaps) <= 1e-4


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: NegativeBinomialRepetitions(mean=Public(1)), "mean"),
        (lambda: NegativeBinomialRepetitions(mean=Public(2), shape=Public(-1)), "shape"),
        (lambda: NegativeBinomialRepetitions(mean=Public(10**9), shape=Public("-0.9999")), "shape"),
        (lambda: PoissonRepetitions(mean=Public(0)), "mean"),
        (lambda: PoissonRepetitions(mean=Public("1e10")), "mean"),
        (lambda: FixedRepetitions(times=Public("1.5")), "times"),
        (lambda: FixedRepetitions(times=Public(0)), "times"),
    ],
)
def test_laws_that_are_none_are_refused_by_name(make: object, named: str) -> None:
    with pytest.raises(InvalidValue, match=f"^{named}: "):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("shape", ["-1/2", "0", "1/2", "1", "3"])
@pytest.mark.parametrize("mean", ["1.001", "5/4", "4", "1000"])
def test_the_level_is_the_probability_of_stopping(mean: str, shape: str) -> None:
    """With which the closed form of the mean gives the mean back."""
    law, eta = NegativeBinomialRepetitions(mean=Public(mean), shape=Public(shape)), float(Fraction(shape))
    stop = law.level
    found = (1 - stop) / (stop * -math.log(stop)) if not eta else eta * (1 - stop) / (stop * (1 - stop**eta))
    assert found == pytest.approx(float(Fraction(mean)), rel=1e-9)


def test_a_law_is_public() -> None:
    with pytest.raises(CertdpError, match="mean"):
        PoissonRepetitions(mean=3)  # type: ignore[arg-type]


def test_a_fixed_number_is_not_drawn() -> None:
    assert FixedRepetitions(times=Public(7)).drawn(Words()) == 7
