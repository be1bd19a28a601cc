"""Sums of infinitely many falling terms, against geometric series, whose sums are known."""

from __future__ import annotations

from fractions import Fraction
from itertools import repeat

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs.falling_sums import with_falling_terms


@pytest.mark.parametrize("precision", [64, 128])
@pytest.mark.parametrize("ratio", [Fraction(1, 2**40), Fraction(1, 2**70), Fraction(1, 3), Fraction(9, 10)])
@pytest.mark.parametrize("weight", [Fraction(1), Fraction(1, 2), Fraction(0)])
def test_the_whole_series_is_enclosed(ratio: Fraction, weight: Fraction, precision: int) -> None:
    """Also where all terms added are exact, and what is left out decides alone."""
    one, next_to_last = (Enclosure.of(value, precision=precision) for value in (1, ratio))
    found = with_falling_terms(one, one, repeat((next_to_last, Enclosure.of(weight, precision=precision))))
    assert found.contains(1 + weight * ratio / (1 - ratio))
    terms = 1 + precision if ratio < Fraction(1, 2) else 8 * precision
    assert found.width <= found.upper * terms * Fraction(8, 2**precision)  # a few roundings of each
