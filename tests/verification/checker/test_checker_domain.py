"""The domain of a certificate in the coordinates of its proof, against records themselves."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from mpmath import mp

from certdp.verification.checker.approximate.cover import Corner, prove_cover
from certdp.verification.checker.domain import DOMAIN, Domain, Extreme
from certdp.verification.checker.expressions import Pool, norm
from certdp.verification.checker.intervals import Arithmetic, Interval
from certdp.verification.checker.verdict import Refused

FINE = Arithmetic(160)
ORDERS = ("1", "3/2", "2", "3", "inf")


def of(record: list[float], p: str) -> Any:
    """A norm of a record, by mpmath."""
    sizes = [abs(mpmath.mpf(x)) for x in record]
    if p == "inf":
        return max(sizes)
    order = mpmath.mpf(Fraction(p).numerator) / Fraction(p).denominator
    return mpmath.fsum(size**order for size in sizes) ** (1 / order)


def end(value: Any) -> Any:
    return mp.make_mpf(value)


def holds(interval: Interval, value: Any) -> bool:
    slack = mpmath.mpf(10) ** -12 * (1 + abs(value))
    return bool(end(interval.lo) - slack <= value <= end(interval.hi) + slack)


def records(dimension: int, source: random.Random) -> list[list[float]]:
    """Axes, diagonals and others: norms are farthest apart at the first two."""
    axis = [1.0] + [0.0] * (dimension - 1)
    return [axis, [1.0] * dimension, *([source.gauss(0, 1) for _ in range(dimension)] for _ in range(20))]


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("other", ORDERS)
@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_ratios_of_norms_lie_in_a_range_whose_ends_are_reached(p: str, other: str, dimension: int) -> None:
    if p == other:
        return
    domain = Domain(p, Fraction(3), dimension)
    found = domain.ratio_range(other, FINE)
    ratios = [of(record, other) / of(record, p) for record in records(dimension, random.Random(dimension))]
    assert all(holds(found, ratio) for ratio in ratios)
    assert abs(end(found.lo) - min(ratios)) < 1e-12
    assert abs(end(found.hi) - max(ratios)) < 1e-12
    norms = domain.norms([other], FINE)
    assert norms[norm(p)] == Interval(FINE.rational(Fraction(0)).lo, FINE.rational(Fraction(3)).hi)
    assert end(norms[norm(other)].lo) == 0
    assert abs(end(norms[norm(other)].hi) - 3 * max(ratios)) < 1e-12


def test_a_number_is_told_from_a_power() -> None:
    source = random.Random(4)
    with mp.workprec(400):
        for _ in range(500):
            base = source.choice([1, 2, 3, 4, 10, 2**53])
            exponent = Fraction(source.randint(-6, 6), source.choice([1, 2, 3, 7, 60]))
            extreme = Extreme(base, exponent)
            truth = mpmath.mpf(base) ** (mpmath.mpf(exponent.numerator) / exponent.denominator)
            enclosed = extreme.enclose(FINE)
            assert (
                end(enclosed.lo) * (1 - mpmath.mpf(10) ** -40)
                <= truth
                <= end(enclosed.hi) * (1 + mpmath.mpf(10) ** -40)
            )
            near = Fraction(int(truth * 2**30), 2**30)
            for value in (near, near + Fraction(1, 2**20), Fraction(0), Fraction(10**30)):
                sign = mpmath.sign(mpmath.mpf(value.numerator) / value.denominator - truth)
                assert extreme.order(value, FINE) == sign
    assert Extreme(4, Fraction(1, 2)).order(Fraction(2), FINE) == 0
    assert Extreme(1, Fraction(5, 60)).order(Fraction(1), FINE) == 0


def test_what_an_enclosure_does_not_tell_is_refused() -> None:
    near = Fraction(int(mpmath.nint(mpmath.mpf(2) ** (mpmath.mpf(1) / 60) * 2**30)), 2**30)
    with pytest.raises(Refused, match="too close to the range"):
        Extreme(2, Fraction(1, 60)).order(near, Arithmetic(12))


def test_another_norm_needs_a_dimension() -> None:
    with pytest.raises(Refused, match=re.escape("norm(1) over a domain in norm(2) needs a dimension")):
        Domain("2", Fraction(1), None).extreme_ratio("1")
    assert Domain("2", Fraction(1), None).others(["weight", norm("2"), norm("1"), "rounding(rate)"]) == ["1"]


def test_a_norm_that_never_grows_needs_no_dimension_unless_it_stands_beside_another() -> None:
    domain, pool = Domain("1", Fraction(3), None), Pool()
    alone = pool.variable(norm("2"))
    root, box = domain.place(pool, alone, FINE)
    assert (root, list(box)) == (alone, [norm("2")])
    assert box[norm("2")] == domain.norms([], FINE)[norm("1")]
    domain.check_point({norm("2"): Fraction(3)}, box, ["2"], FINE)
    with pytest.raises(Refused, match="leaves the range"):
        domain.check_point({norm("2"): Fraction(3) + Fraction(1, 2**60)}, box, ["2"], FINE)
    with pytest.raises(Refused, match="needs a dimension"):
        domain.place(pool, pool.node("add", alone, pool.variable(norm("1"))), FINE)
    with pytest.raises(Refused, match="needs a dimension"):
        Domain("2", Fraction(3), None).place(pool, pool.variable(norm("1")), FINE)


def test_an_expression_is_the_same_in_the_coordinates_of_the_domain() -> None:
    """At every record: norms alone, the domain's own, another one alone, and both."""
    domain, source = Domain("2", Fraction(2), 3), random.Random(8)
    for names, coordinates in (([], 1), (["2"], 1), (["1"], 1), (["1", "2"], 2), (["1", "inf"], 3)):
        pool = Pool()
        root = pool.constant(1)
        for count, p in enumerate(names, 1):
            root = pool.node("add", pool.node("multiply", root, pool.constant(count)), pool.variable(norm(p)))
        placed, box = domain.place(pool, root, FINE)
        assert pool.variables(placed) <= set(box)
        assert len(box) == coordinates
        for record in records(3, source):
            scale = source.random() * 2 / float(of(record, "2"))
            norms = {norm(p): of([scale * x for x in record], p) for p in ORDERS}
            ratios = {f"ratio({p})": norms[norm(p)] / norms[norm("2")] for p in ORDERS}
            for name, side in box.items():
                assert holds(side, (norms | ratios)[name]), name
            points = norms | ratios
            truth = mpmath.mpf(1)
            for count, p in enumerate(names, 1):
                truth = truth * count + norms[norm(p)]
            exactly = {name: interval_at(points[name]) for name in pool.variables(placed)}
            assert holds(pool.evaluate(placed, exactly, FINE).values[placed], truth)


def interval_at(value: Any) -> Interval:
    point = mpmath.mpf(value)._mpf_
    return Interval(point, point)


INSIDE: list[tuple[dict[str, str], list[str]]] = [
    ({"norm(2)": "0"}, []),
    ({"norm(2)": "2"}, []),
    ({"norm(2)": "1/3", "rounding(rate)": "-1"}, []),
    ({"norm(2)": "1/3", "rounding(weight)": "1"}, []),
    ({"norm(1)": "4"}, ["1"]),
    ({"norm(inf)": "2"}, ["inf"]),
    ({"norm(2)": "2", "ratio(1)": "2"}, ["1"]),
    ({"norm(2)": "2", "ratio(1)": "1"}, ["1"]),
    ({"norm(2)": "2", "ratio(inf)": "1/2"}, ["inf"]),
    ({"norm(2)": "2", "ratio(inf)": "1"}, ["inf"]),
]
OUTSIDE: list[tuple[dict[str, str], list[str]]] = [
    ({"norm(2)": "-1/9"}, []),
    ({"norm(2)": "2000001/1000000"}, []),
    ({"norm(2)": "1", "rounding(rate)": "-1000001/1000000"}, []),
    ({"norm(2)": "1", "rounding(weight)": "1000001/1000000"}, []),
    ({"norm(1)": "4000001/1000000"}, ["1"]),
    ({"norm(1)": "-1"}, ["1"]),
    ({"norm(inf)": "2000001/1000000"}, ["inf"]),
    ({"norm(2)": "2", "ratio(1)": "2000001/1000000"}, ["1"]),
    ({"norm(2)": "2", "ratio(1)": "999999/1000000"}, ["1"]),
    ({"norm(2)": "2", "ratio(inf)": "499999/1000000"}, ["inf"]),
    ({"norm(2)": "2", "ratio(inf)": "1000001/1000000"}, ["inf"]),
    ({"norm(2)": "2", "ratio(1)": "0"}, ["1"]),
    ({"norm(2)": "2", "ratio(1)": "-1"}, ["1"]),
    ({"norm(2)": "2", "ratio(1)": "-3"}, ["1"]),  # whose square is that of a ratio within
]


def check_point(point: dict[str, str], others: list[str]) -> None:
    domain = Domain("2", Fraction(2), 4)
    box = dict.fromkeys([*point], FINE.rational(Fraction(0)))
    domain.check_point({name: Fraction(text) for name, text in point.items()}, box, others, FINE)


@pytest.mark.parametrize(("point", "others"), INSIDE)
def test_a_point_of_the_domain_is_taken(point: dict[str, str], others: list[str]) -> None:
    check_point(point, others)


@pytest.mark.parametrize(("point", "others"), OUTSIDE)
def test_a_point_outside_the_domain_is_refused(point: dict[str, str], others: list[str]) -> None:
    with pytest.raises(Refused, match="the maximiser leaves the range of"):
        check_point(point, others)


def test_a_point_with_an_unknown_coordinate_is_refused() -> None:
    with pytest.raises(Refused, match="names an unknown variable"):
        Domain("2", Fraction(2), 4).check_point({"norm(3)": Fraction(0)}, {}, [], FINE)


@pytest.mark.parametrize("dimension", [1, 2**53, None])
def test_a_stated_domain_is_read(dimension: int | None) -> None:
    stated = {"norm": "3/2", "radius": "1/3", "dimension": dimension}
    DOMAIN(stated, "here")
    assert Domain.of(stated) == Domain("3/2", Fraction(1, 3), dimension)
    assert str(Domain.of(stated)) == "norm(3/2) <= 1/3"


@pytest.mark.parametrize(
    "change",
    [{"dimension": 0}, {"dimension": 2**53 + 1}, {"dimension": True}, {"radius": "0"}, {"norm": "1/2"}, {"x": 1}],
)
def test_what_states_no_domain_is_refused(change: dict[str, Any]) -> None:
    stated = {"norm": "2", "radius": "1", "dimension": 3}
    DOMAIN(stated, "here")
    assert Domain.of(stated) == Domain("2", Fraction(1), 3)
    with pytest.raises(Refused):
        DOMAIN(stated | change, "here")


# Covers.


def cover_of(tree: Any, limit: str = "4") -> list[Corner]:
    """Of the loss x + y and the rate x·y/4 over 0 ≤ x ≤ 2, 0 ≤ y ≤ 2."""
    pool = Pool()
    x, y = pool.variable(norm("1")), pool.variable(norm("2"))
    loss, rate = (
        pool.node("add", x, y),
        pool.node("divide", pool.node("multiply", x, y), pool.constant(Fraction(limit))),
    )
    side = Interval(FINE.rational(Fraction(0)).lo, FINE.rational(Fraction(2)).hi)
    return prove_cover(tree, pool, [loss], rate, {norm("1"): side, norm("2"): side}, FINE, "here", is_curve=False)


def leaf(parameter: str, rate: str) -> dict[str, Any]:
    return {"parameter": parameter, "rate": rate}


def split(coordinate: str, at: str, below: Any, above: Any) -> dict[str, Any]:
    return {"coordinate": coordinate, "at": at, "below": below, "above": above}


def test_what_every_cell_says_is_proven_of_that_cell() -> None:
    """With the values at each cell's worst corner, and with nothing less."""
    corners = [("2", "1/4"), ("3", "1/2"), ("3", "1/2"), ("4", "1")]

    def four(bounds: list[tuple[str, str]]) -> Any:
        low, high = (split("norm(2)", "1", leaf(*a), leaf(*b)) for a, b in (bounds[:2], bounds[2:]))
        return split("norm(1)", "1", low, high)

    assert set(cover_of(four(corners))) == {Corner((Fraction(a),), Fraction(b)) for a, b in corners}
    for place in range(4):
        for part in range(2):
            less = [
                str(Fraction(text) - (Fraction(1, 10**9) if part == at else 0))
                for at, text in enumerate(corners[place])
            ]
            bounds = [*corners[:place], (less[0], less[1]), *corners[place + 1 :]]
            with pytest.raises(Refused, match=r"some record of a cell has a larger (loss|rate)"):
                cover_of(four(bounds))


def test_a_cell_may_be_split_at_its_ends_and_not_outside() -> None:
    whole = leaf("4", "1")
    assert cover_of(split("norm(1)", "2", whole, whole)) == [Corner((Fraction(4),), Fraction(1))]
    assert cover_of(split("norm(1)", "0", whole, whole)) == [Corner((Fraction(4),), Fraction(1))]
    for at in ("-1/1000000", "2000001/1000000"):
        with pytest.raises(Refused, match="splits a cell outside it"):
            cover_of(split("norm(1)", at, whole, whole))
    with pytest.raises(Refused, match="splits a cell outside it"):
        cover_of(split("norm(1)", "1", split("norm(1)", "3/2", whole, whole), whole))


def test_unknown_coordinates_and_rates_above_one_are_refused() -> None:
    for name in ("norm(3)", "rounding(rate)"):
        with pytest.raises(Refused, match="splits an unknown coordinate"):
            cover_of(split(name, "1", leaf("4", "1"), leaf("4", "1")))
    with pytest.raises(Refused, match="states a rate above 1"):
        cover_of(leaf("4", "1000001/1000000"))


@pytest.mark.parametrize(
    "node",
    [
        *(5, None, "coordinate", ["coordinate"], {}),
        *({"parameter": "4"}, leaf("4", "-1"), leaf("-1", "1"), leaf("4", "1") | {"more": 1}, leaf("1.5", "1")),
        *({"coordinate": "norm(1)", "at": "1", "below": leaf("4", "1")}, split("norm(1)", "1", 5, leaf("4", "1"))),
        *(split("norm(1)", "1.0", leaf("4", "1"), leaf("4", "1")),),
        split("norm(1)", "1", leaf("4", "1"), leaf("4", "1")) | {"more": 1},
    ],
)
def test_what_is_no_cover_is_refused(node: Any) -> None:
    with pytest.raises(Refused):
        cover_of(node)


def test_a_rounding_is_no_coordinate_of_a_cover() -> None:
    pool = Pool()
    side = Interval(FINE.rational(Fraction(-1)).lo, FINE.rational(Fraction(1)).hi)
    name = "rounding(rate)"
    tree = split(name, "0", leaf("4", "1"), leaf("4", "1"))
    with pytest.raises(Refused, match="splits an unknown coordinate"):
        prove_cover(tree, pool, [pool.constant(1)], pool.constant(1), {name: side}, FINE, "here", is_curve=False)


@pytest.mark.parametrize(("leaves", "taken"), [(64, True), (65, False)])
def test_so_many_cells_and_no_more(leaves: int, taken: bool) -> None:
    tree: Any = leaf("4", "1")
    for count in range(leaves - 1, 0, -1):
        tree = split("norm(1)", str(Fraction(count, leaves)), leaf("4", "1"), tree)
    if taken:
        assert cover_of(tree) == [Corner((Fraction(4),), Fraction(1))]
    else:
        with pytest.raises(Refused, match="has more than 64 cells"):
            cover_of(tree)
