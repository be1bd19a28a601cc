"""Profiles: at a record, over a domain, composed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve

from certdp.accounting.derivation import Assumption, Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.expressions import (
    ONE,
    ZERO,
    Constant,
    Symbol,
    W,
    deserialise,
    minimum,
    norm,
    rounding,
    serialise,
    simplify,
    variables,
)
from certdp.accounting.expressions.floats import evaluate
from certdp.accounting.expressions.suprema import NoFiniteSupremum
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Pure
from certdp.accounting.provenance import Public
from certdp.accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.losses import PureLoss
from certdp.accounting.sampling.profiles import PureProfile, compose_profiles, plus_cost
from certdp.accounting.sampling.rate import ALWAYS, SamplingRate
from certdp.accounting.sampling.theorem_6 import theorem_6
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.samplers.importance import Importance

X = norm(1)
WHY = Theorem("test", "a theorem").conclude()
BALL = NormBall(norm=Norm.L1, radius=Public(5))


def sampled(**options: Any) -> Any:
    rate = Importance(rate=Public("0.3"), **options).rate
    return theorem_6(LaplaceSum(scale=Public(160)).loss.pure, rate, [WHY])


def plain(remove: Any, add: Any = ZERO, relation: Any = ADD_REMOVE, unit: Any = RECORD) -> Any:
    return PureProfile(remove=remove, add=add, relation=relation, unit=unit, derivation=WHY)


@pytest.mark.parametrize(("rate", "inexact"), [("0.3", True), ("0.25", False)])
def test_a_profile_states_how_far_the_drawn_rate_may_be_from_the_declared_one(rate: str, inexact: bool) -> None:
    declared = SamplingRate(Constant(Fraction(rate)), weighted=True)
    assumed = [known.name for known in theorem_6(PureLoss(W * X), declared).derivation.assumptions]
    assert ("relative rounding of probability and weight" in assumed) is inexact


def test_the_supremum_is_a_guarantee_on_the_domain() -> None:
    guarantee, found = theorem_6(PureLoss(W * X / 10), ALWAYS, [WHY]).supremum(BALL)
    assert guarantee.bound.epsilon.contains(Fraction(1, 2))
    assert guarantee.bound.epsilon.upper < Fraction(1, 2) + Fraction(1, 2**48)
    assert (guarantee.relation, guarantee.unit) == (ADD_REMOVE, RECORD)
    assert Assumption("radius", "5") in guarantee.assumptions
    assert found.maximiser is not None
    assert found.maximiser[X] == 5


def test_no_record_of_the_domain_loses_more() -> None:
    profile = sampled()
    guarantee, _ = profile.supremum(BALL)
    for k in range(1, 200):
        value = profile.at({X: Enclosure.of(Fraction(5 * k, 199))})
        assert value.lower <= guarantee.bound.epsilon.upper
    assert profile.at({X: Enclosure.of(5)}).upper >= guarantee.bound.epsilon.lower


def test_a_profile_that_is_nowhere_positive_gives_zero() -> None:
    guarantee, _ = plain(ZERO).supremum(BALL)
    assert guarantee.bound == Pure(Enclosure.of(0))


def test_another_norm_is_bounded_through_the_dimension() -> None:
    profile, cube = plain(norm(2) / 7), NormBall(norm=Norm.LINF, radius=Public(3))
    with pytest.raises(InvalidValue, match="dimension"):
        profile.supremum(cube)
    guarantee, _ = profile.supremum(evolve(cube, dimension=4))
    assert guarantee.bound.epsilon.contains(Fraction(6, 7))


def test_a_norm_that_is_never_the_larger_one_needs_no_dimension() -> None:
    guarantee, _ = plain(norm(2) / 7).supremum(BALL)
    assert guarantee.bound == plain(norm(1) / 7).supremum(BALL)[0].bound


def test_a_rate_that_falls_faster_than_the_loss_has_no_supremum() -> None:
    square = SamplingRate(minimum(1, X * X / 25), weighted=True)
    with pytest.raises(NoFiniteSupremum, match="leaving out the radius"):
        theorem_6(PureLoss(W * X / 160), square).supremum(BALL)


def test_composition_adds_per_record_and_direction() -> None:
    total = compose_profiles(plain(X, X / 2), plain(2 * X, X / 3), plain(ONE))
    assert total.at({X: Enclosure.of(2)}).contains(7)
    assert str(simplify(total.add)) == "5/6·‖x‖₁"
    assert total.derivation.premises == (WHY, WHY, WHY)


def test_a_composition_of_one_is_itself() -> None:
    profile = sampled()
    assert compose_profiles(profile) is profile


def test_every_part_of_a_composition_keeps_its_own_roundings() -> None:
    """Also where the parts are compositions: a rounding shared by two samplers would hide the worst case."""
    one = sampled()
    for total, parts in (
        (compose_profiles(one, one, one), 3),
        (compose_profiles(compose_profiles(one, one), one), 3),
        (compose_profiles(one, compose_profiles(one, one)), 3),
        (compose_profiles(compose_profiles(one, one), compose_profiles(one, one)), 4),
    ):
        thetas = [v for v in variables(total.remove) if v.symbol is Symbol.ROUNDING]
        assert len(thetas) == 2 * parts
        assert deserialise(serialise(total.remove)) == total.remove


def test_roundings_of_opposite_effect_do_not_cancel() -> None:
    theta = rounding("rate")
    rising, falling = plain(1 + theta), plain(1 - theta)
    for total in (
        compose_profiles(rising, falling),
        compose_profiles(compose_profiles(plain(ZERO), rising), falling),
        compose_profiles(compose_profiles(plain(ZERO), rising), plain(ZERO), falling),
    ):
        guarantee, _ = total.supremum(BALL)
        assert guarantee.bound.epsilon.upper >= 4


def test_composed_suprema_add_where_the_worst_record_is_the_same() -> None:
    alone, _ = sampled().supremum(BALL)
    total, _ = compose_profiles(sampled(), sampled(), sampled()).supremum(BALL)
    assert total.bound.epsilon.contains(3 * alone.bound.epsilon.lower) or (
        abs(total.bound.epsilon.upper - 3 * alone.bound.epsilon.upper) < Fraction(1, 2**48)
    )


@pytest.mark.parametrize("other", [plain(X, relation=REPLACE), plain(X, unit=ELEMENT)])
def test_unlike_profiles_do_not_compose(other: Any) -> None:
    with pytest.raises(InvalidValue, match=r"profiles\[1\]\.(relation|unit): got"):
        compose_profiles(plain(X), other)


def test_only_profiles_compose() -> None:
    with pytest.raises(InvalidType, match="Compose profiles only"):
        compose_profiles(plain(X), X)  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="Profiles come from theorems"):
        PureProfile(remove=X, add=X, relation=ADD_REMOVE, unit=RECORD, derivation=None)  # type: ignore[arg-type]


def test_the_cost_of_released_parameters_is_added() -> None:
    cost = Guarantee(bound=Pure(Enclosure.of("0.1")), relation=ADD_REMOVE, unit=RECORD, derivation=WHY)
    total = plus_cost(plain(X, X / 2), cost)
    assert total.at({X: Enclosure.of(2)}).upper >= Fraction(21, 10)
    assert total.at({X: Enclosure.of(2)}).upper < Fraction(21, 10) + Fraction(1, 2**80)
    assert len(total.derivation.premises) == 2
    again = plus_cost(total, cost)
    assert again.released_cost == 2 * total.released_cost
    for before, after in ((total.remove, again.remove), (total.add, again.add)):
        gained = evaluate(after, {X: 2.0}) - evaluate(before, {X: 2.0})
        assert gained == pytest.approx(float(total.released_cost))
    with pytest.raises(InvalidValue, match=r"cost\.unit: got"):
        plus_cost(plain(X, unit=ELEMENT), cost)


@pytest.mark.parametrize("value", [Fraction(1), Fraction(1, 3), Fraction(0)])
def test_a_constant_is_its_own_supremum(value: Fraction) -> None:
    cost = Guarantee(bound=Pure(Enclosure.of("1/4")), relation=ADD_REMOVE, unit=RECORD, derivation=WHY)
    ball = NormBall(norm=Norm.L1, radius=Public(2))
    for profile, exactly in (
        (plain(Constant(value)), value),
        (plus_cost(plain(Constant(value)), cost), value + Fraction(1, 4)),
    ):
        guarantee, found = profile.supremum(ball)
        assert found.enclosure.contains(exactly)
        assert found.enclosure.upper - exactly <= exactly / 2**126
        assert guarantee.bound.epsilon.upper_float == Enclosure.of(exactly).upper_float


def test_a_missing_norm_is_named() -> None:
    with pytest.raises(InvalidValue, match=r"a value for norm\(1\)"):
        plain(X).at({})
