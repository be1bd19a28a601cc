"""ε of a run so far, asked after each release: that of the loss distribution from the start, from above."""

from __future__ import annotations

from fractions import Fraction

import pytest

from certdp.accounting.accountants import LOSS_DISTRIBUTION, WorstPairs
from certdp.accounting.accountants.growing import GrowingEpsilon
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import Composed, GaussianPair, LaplacePair, Pair, Repeated, SampledGaussian

DELTA = Enclosure.of("1e-6")
NOISE = GaussianPair(Enclosure.of("1/20"))
SAMPLES = SampledGaussian(Enclosure.of(1), Enclosure.of("1/50"))


def of(samples: int, noise: int) -> Pair:
    return Composed((Repeated(SAMPLES, samples), Repeated(NOISE, noise)))


@pytest.mark.parametrize("numbers", [range(50, 601, 50), (600, 50, 300), (1, 2, 1000)])
def test_it_is_that_of_the_run_whatever_was_asked_before(numbers: tuple[int, ...]) -> None:
    growing = GrowingEpsilon(DELTA)
    for number in numbers:
        found = growing.upper(of(number, 1 + number // 50))
        known = LOSS_DISTRIBUTION.epsilon(WorstPairs((of(number, 1 + number // 50),), ()), DELTA)
        assert found is not None
        assert known is not None
        truth = known.bounds.enclosure
        assert truth.lower <= found <= truth.upper * (1 + Fraction(1, 2**20))
        assert growing.upper(of(number, 1 + number // 50)) == found


def test_the_direction_that_costs_more_counts() -> None:
    """Small rates and much noise: at a large δ adding a record costs more than removing one."""
    pair = Repeated(SampledGaussian(Enclosure.of("1/2"), Enclosure.of("1/2")), 2)
    for share in ("1/100", "1/20"):
        delta = Enclosure.of(share)
        found = GrowingEpsilon(delta).upper(pair)
        each = [pair.smallest_epsilon(delta, direction) for direction in pair.directions]
        assert found is not None
        for known in each:
            assert known is not None
            assert known.lower <= found


def test_where_no_contour_tells_nothing_is_said() -> None:
    assert GrowingEpsilon(DELTA).upper(LaplacePair(Enclosure.of(1))) is None
    assert GrowingEpsilon(Enclosure.of("1/2")).upper(NOISE) is None  # its ε is 0
