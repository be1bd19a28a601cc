"""What an argument may be is refused one step beyond; powers that are not exact are as tight as their precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.enclosures import Enclosure, _powers, _series
from certdp.accounting.enclosures import _ends as ends
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
@pytest.mark.parametrize(
    "exponent",
    ["1/3", "-1/3", "7/5", "22/7", "-1001/3", "1/1000003", f"{2**14 + 1}/3", f"-{2**16 + 1}/7", f"1/{2**90 + 1}"],
)
def test_powers_are_as_tight_as_their_precision(exponent: str, precision: int) -> None:
    for base in (2, 3, Fraction(1, 3), Fraction(10**9, 7), Fraction(1, 2**90) * 3):
        power = Enclosure.of(base, precision=precision + 64).at(precision).power(Fraction(exponent))
        point = Enclosure.of(Fraction(Enclosure.of(base, precision=precision).lower), precision=precision)
        exact = point.power(Fraction(exponent))
        assert exact.width <= exact.upper * Fraction(4, 2**precision)
        assert power.lower <= exact.upper
        assert exact.lower <= power.upper


def test_a_power_of_a_base_below_1_loses_no_bits_to_a_large_exponent() -> None:
    for base in (Fraction(1, 2) + TINY, Fraction(3, 4), Fraction(15, 16)):
        low, high = _powers.power_ends(ends.ratio(base, 400, ends.DOWN), Fraction(2**50 + 1, 3), 400)
        assert ends.fraction(ends.divide(high, low, 500, ends.UP)) <= 1 + Fraction(4, 2**400)


BASES = [ends.ratio(Fraction(k, 64), 64, ends.DOWN) for k in (1, 5, 63, 65, 1000, 3 * 2**90)]
POWERS = [
    Fraction(sign * n, d) for sign in (1, -1) for n, d in ((1, 3), (2**14 + 1, 3), (2**16 + 1, 7), (1, 2**40 + 1))
]


def test_powers_carry_how_far_a_logarithm_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a logarithm that is known to a few bits alone the ends lie apart, around the same number."""
    exact = {(base, power): _powers.power_ends(base, power, 300) for base in BASES for power in POWERS}
    log = _series.log

    def rough(man: int, exponent: int, precision: int) -> tuple[int, int, int]:
        low, high, scale = log(man, exponent, precision)
        return low - (1 << max(-scale - 30, 0)), high + (1 << max(-scale - 30, 0)), scale

    monkeypatch.setattr(_series, "log", rough)
    for (base, power), (least, most) in exact.items():
        low, high = _powers.power_ends(base, power, 64)
        assert ends.fraction(low) <= ends.fraction(least) <= ends.fraction(most) <= ends.fraction(high)


def test_a_logarithm_is_asked_for_as_far_as_the_power_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """To twelve bits more than the precision and those before the point of exponent·ln base, rounded up."""
    asked: list[int] = []
    log = _series.log

    def noted(man: int, exponent: int, precision: int) -> tuple[int, int, int]:
        asked.append(precision)
        return log(man, exponent, precision)

    monkeypatch.setattr(_series, "log", noted)
    for base in BASES:
        for power in POWERS:
            asked.clear()
            _powers.power_ends(base, power, 64)
            size = abs(float(power) * math.log(ends.fraction(base)))
            for work in asked:  # none for an exact root
                most = (abs(math.log2(ends.fraction(base))) + 2) * abs(float(power)) + 2
                assert 12 + math.log2(max(size, 0.5)) <= work - 64 <= 13 + math.log2(most)
