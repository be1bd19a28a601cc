"""Every interpretation of an expression against Arb and exact rationals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.errors import InvalidValue, OutsideDomain
from certdp.accounting.expressions import (
    Constant,
    Expression,
    Power,
    Range,
    Variable,
    W,
    deciding,
    derivative,
    enclose,
    evaluate,
    exp,
    expm1,
    log,
    log1p,
    maximum,
    minimum,
    norm,
    prune,
    range_of,
    select,
    simplify,
    sqrt,
    variables,
)
from tests.support.arb_numbers import arb_of
from tests.support.cases import examples

Trees = SearchStrategy[Expression]
Points = SearchStrategy[dict[Variable, Fraction]]
Boxes = SearchStrategy[dict[Variable, tuple[Fraction, Fraction]]]
Arb = Callable[..., Any]
Ends = Callable[[Any], tuple[Fraction, Fraction]]
Bits = Callable[[int], AbstractContextManager[None]]
MANY = examples(200)
SOME = examples(100)


def box_at(values: Mapping[Variable, Fraction], precision: int) -> dict[Variable, Enclosure]:
    return {v: Enclosure.of(x, precision=precision) for v, x in values.items()}


def meets(enclosure: Enclosure, ends: tuple[Fraction, Fraction]) -> bool:
    return enclosure.greater(ends[1]) is not Truth.TRUE and enclosure.less(ends[0]) is not Truth.TRUE


def inside(box: Mapping[Variable, tuple[Fraction, Fraction]], data: DataObject) -> dict[Variable, Fraction]:
    share = st.integers(0, 12).map(lambda n: Fraction(n, 12))
    return {v: low + (high - low) * data.draw(share, v.name) for v, (low, high) in box.items()}


@MANY
@given(data=st.data())
def test_enclosures_hold_the_value(data: DataObject, trees: Trees, points: Points, arb: Arb, ends: Ends) -> None:
    root, point = data.draw(trees), data.draw(points)
    value = arb(root, point)
    assume(value is not None)
    for precision in (64, 200):
        try:
            enclosure = enclose(root, box_at(point, precision), precision=precision)
        except OutsideDomain:
            assert arb(root, point, 32) is None, "the oracle decides with fewer bits"
            continue
        assert meets(enclosure, ends(value))


@MANY
@given(data=st.data())
def test_enclosures_hold_the_values_in_a_box(
    data: DataObject, trees: Trees, boxes: Boxes, arb: Arb, ends: Ends
) -> None:
    root, box = data.draw(trees), data.draw(boxes)
    sides = {v: Enclosure.between(*side, precision=96) for v, side in box.items()}
    try:
        enclosure = enclose(root, sides, precision=96)
    except OutsideDomain:
        assume(False)
        return
    value = arb(root, inside(box, data))
    assert value is None or meets(enclosure, ends(value))


@MANY
@given(data=st.data())
def test_estimates_are_as_good_as_53_bits_allow(
    data: DataObject, trees: Trees, points: Points, arb: Arb, ends: Ends
) -> None:
    root, point = data.draw(trees), data.draw(points)
    rounded = {v: Fraction(float(x)) for v, x in point.items()}
    value = arb(root, rounded, 53)
    assume(value is not None and abs(value) < 2**1000)
    low, high = ends(value)
    with np.errstate(all="ignore"):
        estimate = float(evaluate(root, {v: float(x) for v, x in rounded.items()}))
    room = 64 * (high - low) + Fraction(1, 2**1000)
    assume(room < 1)  # beyond it the estimate is lost in cancellation, or in overflow on the way
    assert low - room <= Fraction(estimate) <= high + room


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_estimates_of_numbers_beyond_binary64_are_infinite(number: int) -> None:
    assert evaluate(Constant(Fraction(number)), {}) == np.inf * np.sign(number)


def test_estimates_broadcast_and_name_what_is_missing() -> None:
    values = evaluate(W * norm(1), {W: [[1.0], [2.0]], norm(1): [3.0, 4.0, 5.0]})
    assert values.tolist() == [[3, 4, 5], [6, 8, 10]]
    with pytest.raises(InvalidValue, match=r"values: got weight; admissible: a value for norm\(1\)"):
        evaluate(W * norm(1), {W: 1.0})
    with pytest.raises(InvalidValue, match=r"box: got none; admissible: a value for weight"):
        enclose(W, {}, precision=96)


def quotient(root: Expression, point: dict[Variable, Fraction], v: Variable, step: Fraction, arb: Arb) -> Any:
    """(f(x + h) − f(x)) / h in Arb with 2000 bits, or None."""
    first, second = arb(root, {**point, v: point[v] + step}, 2000), arb(root, point, 2000)
    if first is None or second is None:
        return None
    return (first - second) / arb_of(step)


@pytest.mark.slow
@MANY
@given(data=st.data())
def test_derivatives_are_limits_of_difference_quotients(
    data: DataObject, trees: Trees, points: Points, arb: Arb, ends: Ends, bits: Bits
) -> None:
    root, point = data.draw(trees), data.draw(points)
    assume(variables(root))
    v = data.draw(st.sampled_from(sorted(variables(root), key=str)))
    h = Fraction(1, 2**400)
    with bits(2000):
        right, left = quotient(root, point, v, h, arb), quotient(root, point, v, -h, arb)
        if right is None or left is None:
            assume(False)
            return
        scale = 1 + abs(right)
        assume(abs(right - left) < scale * flint.arb(2) ** -200)  # no kink and no jump here
    try:
        slope = enclose(derivative(root, v), box_at(point, 300), precision=300)
    except OutsideDomain:
        assume(False)
        return
    room = ends(scale)[1] / 2**150
    low, high = ends(right)
    assert meets(slope, (low - room, high + room))


@SOME
@given(data=st.data())
def test_chords_lie_in_the_enclosure_of_the_derivative(
    data: DataObject, trees: Trees, boxes: Boxes, arb: Arb, ends: Ends, bits: Bits
) -> None:
    """The mean value theorem, kinks included: what the suprema rest on."""
    root, box = data.draw(trees), data.draw(boxes)
    occurring = sorted(variables(root), key=str)
    assume(occurring)
    v = data.draw(st.sampled_from(occurring))
    assume(v not in deciding(root) and box[v][0] < box[v][1])
    sides = {w: Enclosure.between(*side, precision=128) for w, side in box.items()}
    try:
        enclose(root, sides, precision=128)
        slope = enclose(derivative(root, v), sides, precision=128)
    except OutsideDomain:
        assume(False)
        return
    first = inside(box, data)
    second = {**first, v: inside({v: box[v]}, data)[v]}
    assume(first[v] != second[v])
    one, other = arb(root, first, 500), arb(root, second, 500)
    if one is not None and other is not None:
        difference = second[v] - first[v]
        with bits(500):
            chord = ends((other - one) / arb_of(difference))
        assert meets(slope, chord)


@MANY
@given(data=st.data())
def test_simplifying_keeps_every_value(data: DataObject, trees: Trees, points: Points, arb: Arb) -> None:
    root, point = data.draw(trees), data.draw(points)
    value = arb(root, point)
    assume(value is not None)
    simpler = simplify(root)
    other = arb(simpler, point)
    if other is None:  # the oracle may lack the bits to tell an argument from the edge of a domain, not the library
        assume(arb(root, point, 60) is not None)
    assert other is not None, f"{simpler} is undefined where {root} is defined"
    assert value.overlaps(other), (str(root), str(simpler))


@pytest.mark.slow
@MANY
@given(data=st.data())
def test_simplifying_keeps_every_value_exactly(
    data: DataObject, rational_trees: Trees, points: Points, exactly: Callable[..., Fraction | None]
) -> None:
    root = data.draw(rational_trees)
    simpler = simplify(root)
    for _ in range(4):
        point = data.draw(points)
        value = exactly(root, point)
        assert value is None or exactly(simpler, point) == value


@pytest.mark.slow
@MANY
@given(data=st.data())
def test_pruning_keeps_every_value_in_the_box(
    data: DataObject, rational_trees: Trees, boxes: Boxes, exactly: Callable[..., Fraction | None]
) -> None:
    root, box = data.draw(rational_trees), data.draw(boxes)
    pruned = prune(root, {v: Range(*side) for v, side in box.items()})
    for _ in range(2):
        point = inside(box, data)
        value = exactly(root, point)
        assert value is None or exactly(pruned, point) == value


@SOME
@given(data=st.data())
def test_pruning_keeps_every_value_of_the_whole_grammar(data: DataObject, trees: Trees, boxes: Boxes, arb: Arb) -> None:
    root, box = data.draw(trees), data.draw(boxes)
    point = inside(box, data)
    value = arb(root, point)
    assume(value is not None)
    other = arb(prune(root, {v: Range(*side) for v, side in box.items()}), point)
    assert other is not None
    assert value.overlaps(other)


@pytest.mark.slow
@MANY
@given(data=st.data(), boxed=st.booleans())
def test_ranges_hold_every_value(
    data: DataObject, boxed: bool, trees: Trees, boxes: Boxes, arb: Arb, ends: Ends
) -> None:
    root, box = data.draw(trees), data.draw(boxes)
    value = arb(root, inside(box, data))
    assume(value is not None)
    known = {v: Range(*side) for v, side in box.items()} if boxed else {}
    found, (low, high) = range_of(root, known), ends(value)
    assert found.lower is None or found.lower <= high
    assert found.upper is None or low <= found.upper


F = Fraction
TOUCHING = {norm(1): Range(F(0), F(5)), norm(2): Range(F(0), F(0))}


@pytest.mark.parametrize(
    ("root", "x", "value"),
    [
        (select(norm(1), norm(2), W, 2 * W), 0, 1),  # at most, by equality in one point of the box
        (select(norm(1), norm(2), W, 2 * W), 1, 2),
        (select(norm(2), norm(1), W, 2 * W), 0, 1),
        (minimum(norm(1), norm(2)), 3, 0),
        (maximum(norm(2), norm(1)), 3, 3),
    ],
)
def test_pruning_where_the_ranges_touch(
    root: Expression, x: int, value: int, exactly: Callable[..., Fraction | None]
) -> None:
    pruned = prune(root, TOUCHING)
    assert exactly(pruned, {norm(1): F(x), norm(2): F(0), W: F(1)}) == value


@pytest.mark.parametrize(
    ("root", "known", "expected"),
    [
        (log1p(norm(1)), (0, 7), (0, 7)),
        (log(norm(1)), (1, 7), (0, 6)),
        (sqrt(norm(1)), (F(1, 4), F(1, 2)), (0, 1)),
        (sqrt(norm(1)), (1, 2), (1, None)),
        (Power(norm(1), F(-2)), (F(1, 2), 3), (F(1, 9), 4)),
        (1 / norm(1), (0, 4), (F(1, 4), None)),
        (1 / norm(1), (2, None), (0, F(1, 2))),
        (exp(norm(1)), (0, 3), (1, None)),
        (exp(-norm(1)), (0, 3), (0, 1)),
        (-expm1(-norm(1)), (0, None), (0, 1)),
        (minimum(1, norm(1)), (0, None), (0, 1)),
        (maximum(1, norm(1)), (0, None), (1, None)),
        (norm(1) * -2, (1, 3), (-6, -2)),
        (Power(norm(1) - 2, F(2)), (0, 3), (0, None)),
        (Power(norm(1) - 2, F(3)), (0, 3), (None, None)),
        (select(norm(1), W, norm(1), -norm(1)), (1, 3), (-3, 3)),
    ],
    ids=str,
)
def test_ranges_are_these(root: Expression, known: tuple[Any, Any], expected: tuple[Any, Any]) -> None:
    low, high = (None if end is None else F(end) for end in known)
    wanted = Range(*(None if end is None else F(end) for end in expected))
    assert range_of(root, {norm(1): Range(low, high)}) == wanted


def test_an_undecided_selection_holds_both_branches() -> None:
    box = {norm(1): Enclosure.between(0, 2), W: Enclosure.of(1)}
    found = enclose(select(norm(1), W, 5 * W, -3 * W), box, precision=96)
    assert found == Enclosure.between(-3, 5)
