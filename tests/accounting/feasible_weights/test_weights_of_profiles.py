"""Weights for any profile: against Arb for closed forms, and against a dense look at what lies below them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.errors import InvalidValue, Undecided
from certdp.accounting.expressions import (
    Constant,
    Expression,
    Range,
    W,
    expm1,
    log1p,
    maximum,
    minimum,
    norm,
    select,
    sqrt,
)
from certdp.accounting.feasible_weights import (
    REACHES,
    ConstrainedWeight,
    Reach,
    assumption_8,
    assumption_9,
    assumption_11,
    constrained_weight,
    constrained_weights,
    largest_weights,
    unit_loss,
)
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Public
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.losses import PureLoss
from tests.support.cases import examples

L1 = norm(1)
NOTHING: dict[Any, Enclosure] = {}
BUMP = 2 * minimum(W, 4) / W + maximum(W - 40, 0)
"""Loss 2 up to w = 4, then falling, then rising steeply."""


def solved(loss: Expression, target: str, **options: Any) -> ConstrainedWeight:
    return constrained_weight(PureLoss(loss), NOTHING, Fraction(target), **options)


def within(found: ConstrainedWeight, root: Any, gap: float = 1e-14) -> bool:
    """Whether the weight is below the root, and close."""
    weight = arb(found.weight)
    return bool(weight <= root * (1 + arb(2) ** -300)) and bool(weight >= root * (1 - gap))


@pytest.fixture(autouse=True)
def _precision() -> None:
    ctx.prec = 400


# ε(w) with the root of ψ = ε* in closed form, c = e^ε* − 1
CLOSED: dict[str, tuple[Expression, str, Callable[[Any], Any]]] = {
    "linear": (W / 10, "1", lambda c: -1 / c - (-(1 / (10 * c)) * (-1 / (10 * c)).exp()).lambertw(-1) * 10),
    "linear, to a target beyond binary64": (
        W / 10,
        "1000",
        lambda c: -1 / c - (-(1 / (10 * c)) * (-1 / (10 * c)).exp()).lambertw(-1) * 10,
    ),
    "log of a square": (log1p(W * W), "2", lambda c: c),
    "log of a cube": (log1p(W**3), "3", lambda c: c.sqrt()),
    "log of a scaled square": (log1p(W * W / 100), "0.5", lambda c: 100 * c),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms(name: str) -> None:
    loss, target, root = CLOSED[name]
    found = solved(loss, target)
    c = (arb(Fraction(target).numerator) / Fraction(target).denominator).expm1()
    assert within(found, root(c))
    assert found.reach is Reach.LARGEST
    assert found.root is not None
    assert found.bracket is not None
    assert root(c) <= arb(found.bracket.upper.numerator) / found.bracket.upper.denominator * (1 + arb(2) ** -100)
    assert Fraction(found.probability) * Fraction(found.weight) <= 1
    assert found.gap < 1e-15


def test_moduli() -> None:
    square = solved(log1p(W * W), "2").modulus
    assert square is not None
    assert square.contains(2)
    linear = solved(W / 10, "1").modulus
    assert linear is not None
    assert linear.contains(Enclosure.of("0.1", precision=400).exp() * Fraction(1, 100))


def psi_minus_target(loss: Callable[[Any], Any], weight: float, target: str) -> Any:
    number = Fraction(target)
    return (((loss(arb(weight))).expm1()) / arb(weight)).log1p() - arb(number.numerator) / number.denominator


def test_the_root_one_is_left_behind() -> None:
    found = solved(Fraction("1.2") * sqrt(W), "1.2")
    assert math.isclose(found.weight, 2.9260480888844995)
    assert found.reach is Reach.LARGEST
    one, two = arb("1.2"), arb(found.weight)
    below = psi_minus_target(lambda w: one * w.sqrt(), found.weight, "1.2")
    above = psi_minus_target(lambda w: one * w.sqrt(), float(two) * (1 + 1e-14), "1.2")
    assert below <= arb(2) ** -300
    assert above > 0


def test_weight_one_where_sampling_gains_nothing() -> None:
    found = solved(W * 1, "1")
    assert found.weight == found.probability == 1.0
    assert found.reach is Reach.LARGEST


@pytest.mark.parametrize(
    ("loss", "target", "root"),
    [
        (W / 10 * minimum(W, 3), "1", 9.510326396572815),
        (maximum(W / 10, Fraction(1, 2)), "1", 43.20709028861915),
        (BUMP, "2.0001", None),
    ],
)
def test_first_crossings(loss: Expression, target: str, root: float | None) -> None:
    found = solved(loss, target)
    assert found.reach is Reach.FIRST_CROSSING
    assert found.root is not None
    assert found.gap < 1e-14
    if root is not None:
        assert math.isclose(found.weight, root, rel_tol=1e-14)


def test_a_stretch_of_infeasible_weights_is_not_jumped_over() -> None:
    bump = maximum(5 - 5 * (W - 3) ** 2, 0)  # infeasible about w = 3, feasible again from 4 on
    found = solved(bump + W / 20, "1")
    assert 2 < found.weight < 2.3
    assert found.reach is Reach.FIRST_CROSSING


def test_jumps_are_seen() -> None:
    loss = select(W, Constant(Fraction(5)), W / 10, W / 10 + 3)
    found = solved(loss, "1")
    assert 5 * (1 - 1e-12) < found.weight <= 5
    assert found.reach is Reach.FIRST_CROSSING


def test_kinks_behind_roots_are_not_taken_for_convex() -> None:
    distance = sqrt((W - 2) ** 2)  # |w − 2|
    found = solved(1 / (1 + 4 * distance), "0.6")  # a peak of 1 at w = 2, where log(1 + 2c) = 0.97
    assert found.reach is Reach.FIRST_CROSSING
    assert 1 < found.weight < 2
    pole = solved(Fraction(1, 10) / (W - 2) ** 2, "0.6")
    assert pole.reach is Reach.FIRST_CROSSING
    assert 1 < pole.weight < 2


def test_a_bracket_that_ends_far_beyond_the_root() -> None:
    found = solved(2 * expm1(2 * W), "60")  # b exceeds e^50, where e^ε has no exponent left
    assert found.bracket is not None
    assert found.bracket.upper_float > 1e15
    below = psi_minus_target(lambda w: 2 * (2 * w).expm1(), found.weight, "60")
    above = psi_minus_target(lambda w: 2 * (2 * w).expm1(), found.weight * (1 + 1e-14), "60")
    assert below <= arb(2) ** -300
    assert above > 0


def test_caps() -> None:
    assert solved(W / 10, "1", largest=20.0).reach is Reach.CAPPED
    assert solved(W / 10, "1", largest=20.0).weight == 20.0
    assert solved(W / 10, "1", largest=50.0).weight == solved(W / 10, "1").weight
    assert solved(W / 10, "1", largest=1.0).weight == 1.0
    assert solved(minimum(W / 10, 1), "2", largest=1e9).weight == 1e9
    with pytest.raises(InvalidValue, match="Assumption 9") as caught:
        solved(minimum(W / 10, 1), "2")
    assert caught.value.parameter == "largest"
    with pytest.raises(InvalidValue, match="Assumption 9"):
        solved(log1p(2 * sqrt(W)), "2")


def test_assumption_8_is_checked() -> None:
    with pytest.raises(InvalidValue, match="curator"):
        solved(W * 2, "1")
    wide = {L1: Enclosure.between("0.9", "1.1")}
    with pytest.raises(Undecided, match="weight 1"):
        constrained_weight(PureLoss(W * L1), wide, Fraction(1))


@given(
    st.fractions(Fraction(1, 50), 1, max_denominator=100),
    st.fractions(Fraction(1, 2), 2, max_denominator=8),
    st.fractions(1, 3, max_denominator=10),
)
@examples(15)
def test_powers(scale: Fraction, power: Fraction, factor: Fraction) -> None:
    """The weight is feasible, one a little beyond is not, and so are weights on a grid below."""
    target = scale * factor
    found = constrained_weight(PureLoss(scale * W**power), NOTHING, target, largest=1e6)

    def excess(weight: float) -> Any:
        ctx.prec = 400
        w, a = arb(weight), arb(scale.numerator) / scale.denominator
        loss = a * (w.log() * power.numerator / power.denominator).exp()
        c = (arb(target.numerator) / target.denominator).expm1()
        return loss - (1 + c * w).log()

    tiny = arb(2) ** -300
    assert excess(found.weight) <= tiny
    assert all(excess(1 + (found.weight - 1) * k / 200) <= tiny for k in range(200))
    if found.reach is Reach.LARGEST:
        assert excess(found.weight * (1 + 1e-12)) > 0 or found.weight == 1


@pytest.mark.parametrize("target", [1, 1000])  # e^1000 is beyond binary64
def test_many_records_agree_with_one_and_with_the_kernel(target: int) -> None:
    sizes = [Enclosure.of(f"0.{k % 7 + 1}", precision=192) for k in range(40)]
    loss = PureLoss(W * L1)
    many = constrained_weights(loss, lambda index: {L1: sizes[index]}, 40, Fraction(target))
    public = {L1: Range(Fraction(0), Fraction(1))}
    once = constrained_weights(loss, lambda index: {L1: sizes[index]}, 40, Fraction(target), public=public)
    assert np.all(once.weight <= many.weight)
    assert np.all(once.weight >= many.weight * (1 - 1e-12))
    assert set(once.reach) == set(many.reach) == {REACHES.index(Reach.LARGEST)}
    narrow = {L1: Range(Fraction(0), Fraction(1, 4))}
    with pytest.raises(InvalidValue, match="record 2"):
        constrained_weights(loss, lambda index: {L1: sizes[index]}, 40, Fraction(target), public=narrow)
    kernel = largest_weights([size.upper_float for size in sizes], Fraction(target))
    for index, size in enumerate(sizes):
        assert many.weight[index] == constrained_weight(loss, {L1: size}, Fraction(target)).weight
        assert math.isclose(many.weight[index], kernel.weight[index], rel_tol=1e-13)
    assert many.gap < 1e-15
    assert kernel.gap < 1e-13


def test_many_records_where_not_all_are_convex() -> None:
    sizes = [Enclosure.of("0.1"), Enclosure.of("0.3")]
    loss = PureLoss(maximum(W * L1, Fraction(1, 5)))
    many = constrained_weights(loss, lambda index: {L1: sizes[index]}, 2, Fraction(1))
    for index, size in enumerate(sizes):
        alone = constrained_weight(loss, {L1: size}, Fraction(1))
        assert math.isclose(many.weight[index], alone.weight, rel_tol=1e-12)


BALL = NormBall(norm=Norm.L1, radius=Public(1))


def test_unit_losses() -> None:
    assert unit_loss(PureLoss(W * L1 / 160)) is not None
    assert unit_loss(PureLoss(3 * W * (L1 + 2))) is not None
    for other in (W * W, W + 1, minimum(W, 3), sqrt(W), expm1(W)):
        assert unit_loss(PureLoss(other)) is None


@pytest.mark.parametrize(
    ("loss", "eight", "nine", "eleven"),
    [
        (W * L1, Truth.TRUE, Truth.FALSE, Truth.FALSE),
        (W * (L1 + 1) / 2, Truth.TRUE, Truth.TRUE, Truth.TRUE),
        (W * (L1 + 1), Truth.FALSE, Truth.TRUE, Truth.TRUE),
        (log1p(W * W), Truth.TRUE, Truth.TRUE, Truth.TRUE),
        (log1p(W), Truth.TRUE, Truth.UNDECIDED, Truth.UNDECIDED),
        (W * L1 + sqrt(W) / 9, Truth.FALSE, Truth.UNDECIDED, Truth.UNDECIDED),
        (minimum(W * L1, 2), Truth.TRUE, Truth.FALSE, Truth.FALSE),
    ],
)
def test_assumptions_over_a_domain(loss: Expression, eight: Truth, nine: Truth, eleven: Truth) -> None:
    profile = PureLoss(loss)
    assert assumption_8(profile, BALL, Fraction(1)) is eight
    assert assumption_9(profile, BALL) is nine
    assert assumption_11(profile, BALL) is eleven
