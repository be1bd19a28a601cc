"""Bulk evaluation with a margin: never below the truth, whatever the magnitudes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import OutsideDomain
from certdp.accounting.expressions import (
    Constant,
    Expression,
    Power,
    Rounded,
    Variable,
    W,
    exp,
    expm1,
    log1p,
    maximum,
    minimum,
    norm,
    rounded,
    roundings,
    select,
    sqrt,
    upper,
)
from tests.support.cases import examples

SETTINGS = examples(250)
X = norm(1)
VARIABLES = (W, norm(1), norm(2), norm("inf"))
UNIT = Fraction(1, 2**53)
Arb = Callable[..., Any]
Ends = Callable[[Any], tuple[Fraction, Fraction]]
MAGNITUDES = st.one_of(
    st.floats(0, allow_infinity=False),
    st.floats(0, 100),
    st.sampled_from([0.0, 5e-324, 2.0**-1022, 2.0**-901, 2.0**-900, 1.0, 2.0**900, 2.0**901, 1.7e308]),
)


def exactly_known(values: dict[Variable, float]) -> dict[Variable, Rounded]:
    return {v: Rounded(np.array([x]), 0, np.array([True])) for v, x in values.items()}


def bound(root: Expression, values: dict[Variable, float]) -> float:
    box = {v: Enclosure.of(x) for v, x in values.items()}
    return float(upper(root, exactly_known(values), 1, lambda _: box)[0])


@pytest.mark.slow
@SETTINGS
@given(data=st.data())
def test_bounds_are_never_below_the_truth(
    data: DataObject, positive_trees: SearchStrategy[Expression], arb: Arb, ends: Ends
) -> None:
    root = data.draw(positive_trees)
    values = {v: data.draw(MAGNITUDES, v.name) for v in VARIABLES}
    truth = arb(root, {v: Fraction(x) for v, x in values.items()}, 3000)
    assume(truth is not None)
    try:
        found = bound(root, values)
    except OutsideDomain:
        assume(False)
        return
    low, high = ends(truth)
    if found == np.inf:
        assert high > Fraction(np.finfo(float).max)
        return
    assert Fraction(found) >= low
    assert Fraction(found) <= high * (1 + Fraction(1, 10**12)) + Fraction(1, 2**1074)


@pytest.mark.slow
@SETTINGS
@given(data=st.data())
def test_counted_roundings_cover_the_error(
    data: DataObject, positive_trees: SearchStrategy[Expression], arb: Arb, ends: Ends
) -> None:
    """With inputs off by as much as their own count says, in whichever direction."""
    root = data.draw(positive_trees)
    seen = {v: data.draw(MAGNITUDES, v.name) for v in VARIABLES}
    count = 6
    factors = st.sampled_from([1 - UNIT, 1 + UNIT])
    true = {v: Fraction(x) / data.draw(factors, v.name) ** count for v, x in seen.items()}
    known = {
        v: Rounded(np.array([x]), count, np.array([2.0**-900 <= x <= 2.0**900 or x == 0])) for v, x in seen.items()
    }
    result = rounded(root, known)
    assume(result is not None and result.safe.all())
    assert result is not None
    truth = arb(root, true, 3000)
    assert truth is not None, "what is safe is defined"
    low, high = ends(truth)
    # the count is of first order: quotients add products of the errors
    room = result.roundings * UNIT * (1 + Fraction(1, 2**40)) + Fraction(result.roundings**2) * UNIT**2
    value = Fraction(float(result.values.reshape(-1)[0]))
    assert low * (1 - room) <= value <= high * (1 + room)
    assert result.roundings == roundings(root, dict.fromkeys(VARIABLES, count))


@pytest.mark.parametrize(
    ("root", "away"),
    [
        (X * X * X, lambda e: e**3),
        (Power(X, Fraction(5)), lambda e: e**5),
        (X * X / W, lambda e: e**3),
        (sqrt(X), lambda e: e ** Fraction(1, 2)),
        (Power(X, Fraction(1, 2)), lambda e: e ** Fraction(1, 2)),
        (Power(X, Fraction(5, 8)), lambda e: e ** Fraction(5, 8)),
        (Power(X, Fraction(16, 1)), lambda e: e**16),
        (X + X * W, lambda e: e**2),
    ],
    ids=lambda part: None if callable(part) else str(part),
)
def test_counts_are_at_least_those_of_the_worst_inputs(root: Expression, away: Callable[[Fraction], Any]) -> None:
    """Every factor off in the same sense, every divisor in the other."""
    count = roundings(root, {X: 1000, W: 1000})
    assert count is not None
    assert away(1 + 1000 * UNIT) <= 1 + (count + 2) * UNIT * (1 + Fraction(1, 2**30))


@given(x=MAGNITUDES, scale=MAGNITUDES)
@example(5e-324, 3.0)
@example(1.7e308, 1e-3)
@example(2.0**1023, 0.5000000000000001)  # just inside the range before the margin, just outside after it
def test_a_quotient_at_the_edges_of_the_range(x: float, scale: float) -> None:
    assume(scale > 0)
    found = bound(X / Fraction(scale), {X: x})
    truth = Fraction(x) / Fraction(scale)
    assert found == np.inf or Fraction(found) >= truth
    assert found < np.inf or truth > Fraction(np.finfo(float).max)


@pytest.mark.parametrize("exponent", ["1/2", "3/4", "7/16", "3/2"])
@given(x=MAGNITUDES)
@example(2.0**-900)
@example(4.0)
def test_powers_of_which_the_denominator_is_a_power_of_two(exponent: str, x: float) -> None:
    root = Power(X, Fraction(exponent))
    assert rounded(root, exactly_known({X: x})) is not None  # so that no enclosure is needed within the range
    found = bound(root, {X: x})
    assume(found < np.inf)
    top, bottom = root.exponent.as_integer_ratio()
    assert Fraction(found) ** bottom >= Fraction(x) ** top
    assume(found > 2.0**-900)
    assert Fraction(found) ** bottom <= Fraction(x) ** top * (1 + Fraction(1, 2**40))


@pytest.mark.parametrize(
    ("root", "x", "value"),
    [
        (X - W / 2, 1.0, 0.5),
        (exp(X), 0.0, 1.0),
        (log1p(X), 0.0, 0.0),
        (expm1(X) + W, 0.0, 1.0),
        (select(X, W, W, X), 1.0, 1.0),
        (Power(X, Fraction(1, 3)) + 8, 1.0, 9.0),
        (Power(X, Fraction(17)), 1.0, 1.0),
        (Power(X, Fraction(17, 2)), 1.0, 1.0),
        (Power(X, Fraction(1, 32)), 1.0, 1.0),
        (X * Fraction(-1) + 2, 1.0, 1.0),
    ],
)
def test_what_the_model_lacks_is_bounded_by_enclosures(root: Expression, x: float, value: float) -> None:
    assert rounded(root, exactly_known({X: x, W: 1.0})) is None
    assert roundings(root, {X: 0, W: 0}) is None
    assert bound(root, {X: x, W: 1.0}) == value


def test_each_element_is_treated_for_itself() -> None:
    values = np.array([0.0, 5e-324, 1.0, 1e300, 2.0])
    known = {X: Rounded(values, 0, np.ones(5, dtype=np.bool_))}
    asked: list[int] = []

    def at(index: int) -> dict[Variable, Enclosure]:
        asked.append(index)
        return {X: Enclosure.of(float(values[index]))}

    bounds = upper(X * 3 / 7, known, 5, at)
    assert asked == [1, 3]
    for value, found in zip(values, bounds, strict=True):
        truth = Fraction(float(value)) * 3 / 7
        assert truth <= Fraction(float(found)) <= truth * (1 + Fraction(1, 10**12)) + Fraction(1, 2**1074)


def test_zero_stays_zero_and_a_pole_is_refused() -> None:
    assert bound(W * X / 160, {W: 2.0**960, X: 0.0}) == 0
    assert bound(sqrt(X), {X: 0.0}) == 0
    assert bound(minimum(X, maximum(X, 0)), {X: 0.0}) == 0
    with pytest.raises(OutsideDomain, match="division"):
        bound(1 / X, {X: 0.0})


def test_constants_beyond_binary64() -> None:
    tiny, huge = Constant(Fraction(1, 10**400)), Constant(Fraction(10**400))
    assert 1 <= bound(tiny * huge * X, {X: 1.0}) <= 1 + 2**-52
    assert bound(huge * X, {X: 1.0}) == np.inf
    assert bound(tiny * X, {X: 1.0}) == 5e-324
