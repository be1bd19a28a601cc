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


@pytest.mark.parametrize(("cells", "admitted"), [(0, False), (1, True), (4096, True), (4097, False), ("7", False)])
def test_a_line_has_so_many_cells(cells: Any, admitted: bool) -> None:
    if admitted:
        on_lines("add", cells=cells)
        return
    with pytest.raises(Refused, match=r"method\.add\.cells"):
        on_lines("add", cells=cells)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_laplace_noise_needs_cells_that_are_stated(direction: str) -> None:
    noise = [Factor("laplace", Fraction(1), Fraction(1, 2), 1, 3)]
    on_lines(direction, cells=2).delta(noise, Fraction(1), direction)
    with pytest.raises(Refused, match="loss distribution of laplace"):
        on_lines(direction).delta(noise, Fraction(1), direction)


ORDER = {"order": "3", "ratio": None}
STATED: dict[str, dict[str, Any]] = {
    "pure": {},
    "hockey-stick": {},
    "renyi": dict.fromkeys(DIRECTIONS, ORDER),
    "renyi-filter": ORDER,
    "loss-distribution": dict.fromkeys(DIRECTIONS, LINE),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_its_parameters_and_no_others(name: str) -> None:
    """Nor is one of them missing, or of another type: what is refused says so, and is no error of the checker's own."""
    stated = {"name": name, **STATED[name]}
    METHODS[name](stated, Budget())
    for forged in ({**stated, "slack": "1"}, {**stated, "name": 3}, {key: stated[key] for key in list(stated)[1:]}):
        with pytest.raises(Refused, match=r"^method\b"):
            METHODS[name](forged, Budget())
    for key in STATED[name]:
        for forged in ({**stated, key: 3}, {other: stated[other] for other in stated if other != key}):
            with pytest.raises(Refused, match=r"^method\b"):
                METHODS[name](forged, Budget())


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_lost_where_nothing_is_drawn_or_the_record_does_not_matter(family: str) -> None:
    assert Factor(family, Fraction(0), Fraction(1, 2), 1, 1).null
    assert Factor(family, Fraction(1, 2), Fraction(0), 1, 1).null
    assert not Factor(family, Fraction(1, 2), Fraction(1, 2), 1, 1).null


HIGHEST = 2**40
BIT = Fraction(1, 2**80)


def at_an_order(direction: str, **changed: Any) -> None:
    side = {"order": "3", "ratio": None}
    sides = {each: {**side, **(changed if each == direction else {})} for each in DIRECTIONS}
    METHODS["renyi"]({"name": "renyi", **sides}, Budget())
    METHODS["renyi-filter"]({"name": "renyi-filter", **side, **changed}, Budget())


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("order", [1 + BIT, Fraction(HIGHEST)])
@pytest.mark.parametrize("share", [None, BIT, Fraction(1)])
def test_orders_and_ratios_are_admitted_within_their_limits(
    direction: str, order: Fraction, share: Fraction | None
) -> None:
    """The ratio is that share of the largest, which is the highest order over the order."""
    at_an_order(direction, order=str(order), ratio=None if share is None else str(share * HIGHEST / order))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("order", "ratio", "what"),
    [
        ("0", None, "order"),
        ("1/2", None, "order"),
        ("1", None, "order"),
        (str(HIGHEST + BIT), None, "order"),
        ("3", "0", "ratio"),
        ("3", str(Fraction(HIGHEST, 3) + BIT), "ratio"),
        ("3", str(HIGHEST), "ratio"),
        (str(HIGHEST), str(1 + BIT), "ratio"),
        (str(1 + BIT), str(HIGHEST), "ratio"),
    ],
)
def test_orders_and_ratios_beyond_their_limits_are_refused(
    direction: str, order: str, ratio: str | None, what: str
) -> None:
    at_an_order(direction, order=str(HIGHEST), ratio=None)
    with pytest.raises(Refused, match=rf"the {what} of the method \({direction}\)"):
        at_an_order(direction, order=order, ratio=ratio)


NOISE = Factor("gaussian", Fraction(1, 2), Fraction(1), 1, 1)
ON_A_SAMPLE = Factor("gaussian", Fraction(1, 2), Fraction(1, 3), 1, 1)
RESPONSES = Factor("pure", Fraction(1, 2), Fraction(1), 3, 5)
ALONE = {"renyi": {"remove": {"order": "3", "ratio": None}, "add": {"order": "7/2", "ratio": None}}}


@pytest.mark.parametrize(
    ("method", "factors", "direction", "work"),
    [
        ("pure", [], "remove", 0),
        ("pure", [RESPONSES], "remove", 25_000),
        ("pure", [RESPONSES, Factor("laplace", Fraction(1), Fraction(1, 2), 2, 3)], "add", 50_000),
        ("hockey-stick", [NOISE], "remove", 25_000_000),
        ("hockey-stick", [RESPONSES._replace(samples=1)], "add", 25_000_000 + 3 * 25_000),
        ("hockey-stick", [RESPONSES._replace(together=1)], "add", 25_000_000 + 5 * 25_000),
        ("renyi", [], "remove", 0),
        ("renyi", [NOISE, RESPONSES], "remove", 500_000 + 2 * 400_000),
        ("renyi", [NOISE, NOISE], "add", 500_000 + 400_000),
        ("renyi", [ON_A_SAMPLE], "remove", 500_000 + 400_000 + (3 + 3) * 15_000),
        ("renyi", [RESPONSES._replace(rate=Fraction(1, 3))], "remove", 500_000 + 400_000 + (3 + 3) * 120_000),
        ("renyi", [RESPONSES._replace(rate=Fraction(1, 3))], "add", 500_000 + 400_000 + (3 + 4) * 120_000),
        ("renyi", [Factor("laplace", Fraction(1), Fraction(1, 3), 2, 3)], "add", 500_000 + 400_000 + (3 + 4) * 60_000),
    ],
)
def test_a_method_takes_the_work_that_it_was_measured_to_do(
    method: str, factors: list[Factor], direction: str, work: int
) -> None:
    """What was measured are the constants: a bound on the time holds as long as so much is taken."""
    budget = Budget()
    before = budget.left
    METHODS[method]({"name": method, **ALONE.get(method, {})}, budget).delta(factors, Fraction(9), direction)
    assert before - budget.left == work
