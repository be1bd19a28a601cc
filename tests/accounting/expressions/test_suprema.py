"""Suprema over boxes against dense sampling, closed forms and exact corners."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import (
    ONE,
    Expression,
    Power,
    Range,
    Variable,
    evaluate,
    exp,
    expm1,
    log,
    log1p,
    maximum,
    minimum,
    norm,
    rounding,
    select,
    sqrt,
)
from certdp.accounting.expressions.suprema import NoFiniteSupremum, Supremum, _Search, supremum
from tests.support.arb_numbers import arb_of
from tests.support.cases import examples

Counted = Callable[[Callable[[], Any]], tuple[Any, int]]
FEW_CALLS = 10**6

X, Y, THETA = norm(1), norm(2), rounding("rate")
TIGHT = Fraction(1, 10**12)
Arb = Callable[..., Any]
Ends = Callable[[Any], tuple[Fraction, Fraction]]
Sides = Mapping[Variable, tuple[Any, Any]]


def sup(root: Expression, sides: Sides, **options: Any) -> Supremum:
    return supremum(root, {v: Range(Fraction(low), Fraction(high)) for v, (low, high) in sides.items()}, **options)


def is_tight(found: Supremum) -> bool:
    return found.enclosure.width <= TIGHT * abs(found.enclosure.upper)


CLOSED: dict[str, tuple[Expression, Sides, Callable[[], flint.arb]]] = {
    "increasing": (expm1(X) + X, {X: (0, 3)}, lambda: flint.arb(3).exp() + 2),
    "decreasing": (1 / (1 + X), {X: (0, 3)}, lambda: flint.arb(1)),
    "interior": (X * exp(-X), {X: (0, 10)}, lambda: flint.arb(-1).exp()),
    "interior away from dyadics": (X * X * exp(-3 * X), {X: (0, 10)}, lambda: flint.arb(4) / 9 * flint.arb(-2).exp()),
    "entropy": (-(X * log(X)), {X: (Fraction(1, 100), 5)}, lambda: flint.arb(-1).exp()),
    "kink": (minimum(X, 2 - X * X), {X: (0, 3)}, lambda: flint.arb(1)),
    "irrational kink": (minimum(X, 1 / X), {X: (Fraction(1, 8), 3)}, lambda: flint.arb(1)),
    "kink at a root": (minimum(X * X, 2 - X), {X: (0, 3)}, lambda: flint.arb(1)),
    "root of two": (minimum(X, 2 / X), {X: (Fraction(1, 2), 3)}, lambda: flint.arb(2).sqrt()),
    "ridge of a maximum": (-maximum(X - 1, 1 - X) + 5, {X: (0, 3)}, lambda: flint.arb(5)),
    "plateau": (minimum(1, X), {X: (0, 3)}, lambda: flint.arb(1)),
    "constant": (ONE * 7, {X: (0, 3)}, lambda: flint.arb(7)),
    "negative": (-1 - X, {X: (1, 3)}, lambda: flint.arb(-2)),
    "root at zero": (sqrt(X) - X, {X: (0, 3)}, lambda: flint.arb(1) / 4),
    "saddle": (X * (1 - Y) + Y * (1 - X), {X: (0, 1), Y: (0, 1)}, lambda: flint.arb(1)),
    "two interior": (X * exp(-X) * Y * exp(-2 * Y), {X: (0, 4), Y: (0, 4)}, lambda: flint.arb(-2).exp() / 2),
    "bowl": (X * X + Y * Y - X * Y, {X: (0, 2), Y: (0, 3)}, lambda: flint.arb(9)),
    "signed": (THETA * THETA * X - THETA, {THETA: (-1, 1), X: (0, 2)}, lambda: flint.arb(3)),
    "removable": (X * X / X, {X: (0, 3)}, lambda: flint.arb(3)),
    "undefined to a coarse look": (
        log(Y * Y - Y + 1) + X,
        {X: (0, 1), Y: (Fraction(1, 4), 1)},
        lambda: flint.arb(1),
    ),
    "a side without width": (log(Y * Y - Y + 1) + X, {X: (0, 0), Y: (Fraction(1, 4), 1)}, lambda: flint.arb(0) + 0),
    "point": (exp(X), {X: (2, 2)}, lambda: flint.arb(2).exp()),
    "powers": (Power(X, Fraction(1, 3)) * (1 - X), {X: (0, 1)}, lambda: (flint.arb(1) / 4).root(3) * 3 / 4),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms(name: str, ends: Ends, bits: Any) -> None:
    root, sides, value = CLOSED[name]
    found = sup(root, sides)
    with bits(300):
        low, high = ends(value())
    assert found.enclosure.lower <= high
    assert low <= found.enclosure.upper
    assert is_tight(found)


LAMBDAS = [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(1, 1000), Fraction(1)]


def coreset(share: Fraction, scale: Fraction) -> Expression:
    """ψ of the loss W·x/scale at q = λ + (1 − λ)·x², x ≤ 1: a maximum inside for some constants, no closed form."""
    q = minimum(1, share + (1 - share) * X * X)
    return log1p(q * expm1(X / (q * scale)))


@pytest.mark.parametrize("share", LAMBDAS)
@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(1), Fraction(10)])
def test_coreset_rates_against_dense_sampling(share: Fraction, scale: Fraction, arb: Arb, ends: Ends) -> None:
    root = coreset(share, scale)
    found = sup(root, {X: (0, 1)})
    grid = np.linspace(0, 1, 20_001)
    with np.errstate(over="ignore"):
        values = evaluate(root, {X: grid})
    assume_best = grid[int(np.nanargmax(np.where(np.isfinite(values), values, -1)))]
    best = max(
        ends(arb(root, {X: Fraction(float(assume_best)) + Fraction(k, 10**6)}))[1]
        for k in range(-50, 51)
        if 0 <= Fraction(float(assume_best)) + Fraction(k, 10**6) <= 1
    )
    assert best <= found.enclosure.upper
    assert found.enclosure.lower <= best * (1 + Fraction(1, 10**6))
    assert is_tight(found)


def test_a_maximiser_is_a_witness(arb: Arb, ends: Ends) -> None:
    found = sup(coreset(Fraction(1, 1000), Fraction(1)), {X: (0, 1)})
    assert found.maximiser is not None
    assert 0 < found.maximiser[X] < Fraction(1, 2)  # the maximum lies inside: an end of the box loses less
    high = ends(arb(coreset(Fraction(1, 1000), Fraction(1)), found.maximiser))[1]
    assert found.enclosure.lower <= high
    assert high <= found.enclosure.upper


@pytest.mark.slow
@examples(80)
@given(data=st.data())
def test_no_sampled_value_is_above(
    data: DataObject,
    trees: SearchStrategy[Expression],
    boxes: SearchStrategy[dict[Variable, tuple[Fraction, Fraction]]],
    arb: Arb,
    ends: Ends,
) -> None:
    """Trees over the whole grammar: jumps, kinks, poles, boxes of several sides."""
    root, box = data.draw(trees), data.draw(boxes)
    try:
        found = sup(root, box, budget=300)
    except NoFiniteSupremum:
        return
    share = st.integers(0, 12).map(lambda n: Fraction(n, 12))
    for _ in range(6):
        point = {v: low + (high - low) * data.draw(share, v.name) for v, (low, high) in box.items()}
        value = arb(root, point)
        assert value is None or ends(value)[0] <= found.enclosure.upper
    if found.maximiser is not None:
        assert all(box[v][0] <= x <= box[v][1] for v, x in found.maximiser.items())
        value = arb(root, found.maximiser)
        assert value is None or found.enclosure.lower <= ends(value)[1]


@examples(60)
@given(
    coefficients=st.lists(st.integers(-6, 6), min_size=2, max_size=5),
    low=st.integers(0, 20).map(lambda n: Fraction(n, 7)),
    width=st.integers(1, 30).map(lambda n: Fraction(n, 7)),
)
def test_polynomials_against_their_critical_points(coefficients: list[int], low: Fraction, width: Fraction) -> None:
    high = low + width
    root: Expression = ONE * 0
    for power, coefficient in enumerate(coefficients):
        root = root + coefficient * Power(X, Fraction(power))
    polynomial = flint.fmpz_poly(coefficients)
    critical = [arb_of(end) for end in (low, high)]
    slope = polynomial.derivative()
    if slope.degree() > 0:
        roots: Any = slope.complex_roots()
        critical += [z.real for z, _ in roots if z.imag.contains(0) and critical[0] < z.real < critical[1]]
    truth = max(float(flint.arb_poly(polynomial)(z).mid()) for z in critical)
    assume(abs(truth) > 1e-6)
    found = sup(root, {X: (low, high)})
    assert float(found.enclosure.lower) <= truth + 1e-9 * abs(truth)
    assert float(found.enclosure.upper) >= truth - 1e-9 * abs(truth)
    assert is_tight(found)


JUMPS: list[tuple[Expression, Sides, Fraction]] = [
    (select(X, ONE, ONE * 2, ONE), {X: (0, 2)}, Fraction(2)),
    (select(ONE, X, ONE * 2, ONE), {X: (0, 2)}, Fraction(2)),
    (select(3 * X, ONE, X, -X), {X: (0, 2)}, Fraction(1, 3)),
    (select(X, ONE, X, X / 4), {X: (0, 2)}, Fraction(1)),
    (select(X, ONE, ONE, 10 - X), {X: (0, 2)}, Fraction(9)),  # approached, not reached
    (select(X, Y, Y, ONE * 0) + THETA, {X: (0, 1), Y: (0, 1), THETA: (-1, 1)}, Fraction(2)),
]


@pytest.mark.parametrize(("root", "sides", "value"), JUMPS)
def test_jumps_of_selections_hide_nothing(root: Expression, sides: Sides, value: Fraction) -> None:
    found = sup(root, sides)
    assert found.enclosure.lower <= value <= found.enclosure.upper
    assert is_tight(found)


@pytest.mark.parametrize(
    ("root", "sides"),
    [
        (1 / X, {X: (0, 1)}),
        (X / (Y * Y), {X: (0, 1), Y: (0, 1)}),
        (-log(X), {X: (0, 1)}),
        (1 / (X - Fraction(1, 3)), {X: (0, 1)}),
        (log1p(X * X * expm1(1 / X)), {X: (0, 1)}),
        (1 / (1 + THETA), {THETA: (-1, 1)}),
        (exp(exp(exp(X))), {X: (0, 5)}),  # finite, and beyond every number that can be written down
    ],
)
def test_poles_are_told_soon(root: Expression, sides: Sides, counted: Counted) -> None:
    def refused() -> None:
        with pytest.raises(NoFiniteSupremum, match="Set a floor above 0"):
            sup(root, sides)

    assert counted(refused)[1] < FEW_CALLS


def test_a_spent_budget_gives_a_wider_enclosure_that_still_holds(ends: Ends) -> None:
    wide = sup(X * exp(-X) * Y * exp(-2 * Y), {X: (0, 4), Y: (0, 4)}, budget=4).enclosure
    low, high = ends(flint.arb(-2).exp() / 2)
    assert wide.lower <= high
    assert low <= wide.upper
    assert wide.width > TIGHT


@pytest.mark.slow
def test_a_wider_gap_ends_sooner() -> None:
    root, box = X * exp(-X) * Y * exp(-2 * Y), {X: (0, 4), Y: (0, 4)}
    assert sup(root, box, relative_gap=Fraction(1, 100)).cells < sup(root, box).cells


@pytest.mark.parametrize("side", [Range(Fraction(0), None), Range(None, Fraction(1))])
def test_unbounded_boxes_are_refused(side: Range) -> None:
    with pytest.raises(InvalidValue, match=r"norm\(1\): got an unbounded range; admissible: a bounded box"):
        supremum(X, {X: side})


def test_precision_is_an_argument() -> None:
    assert sup(exp(X), {X: (0, 1)}, precision=300).enclosure.precision == 300
    assert sup(exp(X), {X: (0, 1)}).enclosure.precision == 128


@pytest.mark.parametrize(("low", "high"), [("0", "1/2"), ("0", "3"), ("1/3", "7/8"), ("5/4", "3/2"), ("3/2", "7/4")])
def test_the_summit_is_sought_within_the_cell(low: str, high: str) -> None:
    """Of x·e^(-x), which is at 1: to the left of some of these cells, and to the right of others."""
    cell = {X: (Fraction(low), Fraction(high))}
    root = X * exp(-X)
    found = _Search(root, 128)._summit(root, X, cell)
    assert Fraction(low) <= found <= Fraction(high)
    assert abs(found - min(max(Fraction(1), Fraction(low)), Fraction(high))) < Fraction(1, 100)
