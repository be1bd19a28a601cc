"""What the parameters of each method may be: admitted at the end of its range, refused one step beyond."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from certdp.verification.checker.approximate.factors import DIRECTIONS, FAMILIES, Factor
from certdp.verification.checker.approximate.methods import METHODS, Method
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.verdict import Refused

LINE = {"real_part": "3/2", "step": "1/4", "places": 100, "dither": "1/8"}
LEAST, MOST = Fraction(1, 2**60), Fraction(2**40)


def on_lines(direction: str, **changed: Any) -> Method:
    lines = {side: {**LINE, **(changed if side == direction else {})} for side in DIRECTIONS}
    return METHODS["loss-distribution"]({"name": "loss-distribution", **lines}, Budget())


@pytest.mark.parametrize(
    ("key", "admitted", "refused"),
    [
        ("real_part", LEAST, LEAST - Fraction(1, 2**70)),
        ("real_part", MOST, MOST + 1),
        ("real_part", 1 + Fraction(1, 2**128), 1 + Fraction(1, 2**128 + 1)),
        ("step", LEAST, LEAST - Fraction(1, 2**70)),
        ("step", MOST, MOST + 1),
        ("step", 1 + Fraction(1, 2**128), 1 + Fraction(1, 2**128 + 1)),
        ("dither", Fraction(1), 1 + Fraction(1, 2**70)),
        ("dither", Fraction(1, 2**128), Fraction(1, 2**128 + 1)),
    ],
)
def test_a_line_lies_within_the_limits(key: str, admitted: Fraction, refused: Fraction) -> None:
    for direction in DIRECTIONS:
        on_lines(direction, **{key: str(admitted)})
        with pytest.raises(Refused, match=f"method.{direction}"):
            on_lines(direction, **{key: str(refused)})


@pytest.mark.parametrize(("places", "admitted"), [(1, False), (2, True), (50_000, True), (50_001, False)])
def test_a_line_has_so_many_places(places: int, admitted: bool) -> None:
    if admitted:
        on_lines("remove", places=places)
        return
    with pytest.raises(Refused):
        on_lines("remove", places=places)


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_lost_where_nothing_is_drawn_or_the_record_does_not_matter(family: str) -> None:
    assert Factor(family, Fraction(0), Fraction(1, 2), 1, 1).null
    assert Factor(family, Fraction(1, 2), Fraction(0), 1, 1).null
    assert not Factor(family, Fraction(1, 2), Fraction(1, 2), 1, 1).null
