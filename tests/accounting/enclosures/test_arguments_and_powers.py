"""What an argument may be is refused one step beyond; powers that are not exact are as tight as their precision."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.enclosures.arguments import non_negative, positive, probability
from certdp.accounting.errors import InvalidType, InvalidValue

TINY = Fraction(1, 2**300)


@pytest.mark.parametrize(
    ("admits", "admitted", "refused"),
    [
        (non_negative, [(0, 0), (0, 5), (TINY, 1)], [(-TINY, 1), (-2, -1), (-TINY, 0)]),
        (positive, [(TINY, 1), (2, 3)], [(0, 0), (0, 1), (-1, 1)]),
        (probability, [(0, 1), (0, 0), (1, 1), (TINY, 1 - TINY)], [(-TINY, 1), (0, 1 + TINY), (2, 3)]),
    ],
    ids=["non-negative", "positive", "probability"],
)
def test_an_enclosure_lies_within_the_range_as_a_whole(
    admits: Callable[[str, Any], Enclosure], admitted: list[tuple[Any, Any]], refused: list[tuple[Any, Any]]
) -> None:
    for low, high in admitted:
        inside = Enclosure.between(low, high, precision=400)
        assert admits("it", inside) is inside
    for low, high in refused:
        with pytest.raises(InvalidValue, match=r"^it: got"):
            admits("it", Enclosure.between(low, high, precision=400))
    with pytest.raises(InvalidType):
        admits("it", 0.5)


@pytest.mark.parametrize("precision", [24, 96, 300])
@pytest.mark.parametrize("exponent", ["1/3", "-1/3", "7/5", "22/7", "-1001/3", "1/1000003"])
def test_powers_are_as_tight_as_their_precision(exponent: str, precision: int) -> None:
    for base in (2, 3, Fraction(1, 3), Fraction(10**9, 7), Fraction(1, 2**90) * 3):
        power = Enclosure.of(base, precision=precision + 64).at(precision).power(Fraction(exponent))
        point = Enclosure.of(Fraction(Enclosure.of(base, precision=precision).lower), precision=precision)
        exact = point.power(Fraction(exponent))
        assert exact.width <= exact.upper * Fraction(4, 2**precision)
        assert power.lower <= exact.upper
        assert exact.lower <= power.upper
