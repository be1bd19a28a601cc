"""Theorem 6 against Arb, and against the output distributions themselves."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.amplification import proposition_3, psi, psi_add
from certdp.accounting.amplification.approximate import delta_after_sampling
from certdp.accounting.amplification.renyi import renyi_after_sampling
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue, OutsideDomain
from certdp.accounting.expressions import (
    ONE,
    Constant,
    Variable,
    W,
    enclose,
    minimum,
    norm,
    rounding,
    variables,
)
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Public
from certdp.accounting.relations import AddRemove, Direction, Record
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.losses import PureLoss
from certdp.accounting.sampling.rate import ALWAYS, SamplingRate
from certdp.accounting.sampling.theorem_6 import realised, theorem_6
from tests.support.arb_numbers import arb_of
from tests.support.cases import examples

SETTINGS = examples(200)
EPSILONS = st.fractions(0, 60, max_denominator=10**6) | st.integers(1, 300).map(lambda n: Fraction(1, 2**n))
RATES = st.fractions(0, 1, max_denominator=10**6) | st.integers(1, 300).map(lambda n: Fraction(1, 3**n))
X = norm(1)
Ends = Callable[[Any], tuple[Fraction, Fraction]]


@pytest.fixture(autouse=True, scope="module")
def _precision(bits: Any) -> Any:
    with bits(1200):
        yield


@SETTINGS
@given(epsilon=EPSILONS, q=RATES)
@example(epsilon=Fraction(32), q=Fraction(1))
def test_both_directions_are_the_losses_of_the_worst_mechanism(epsilon: Fraction, q: Fraction, ends: Ends) -> None:
    """The mechanism: two outputs whose probabilities differ by e^ε and e^−ε. Its sampled form is a mixture."""
    factor = arb_of(epsilon).exp()
    without = [1 / (1 + factor), factor / (1 + factor)]
    within = [factor / (1 + factor), 1 / (1 + factor)]
    mixture = [(1 - arb_of(q)) * b + arb_of(q) * a for a, b in zip(within, without, strict=True)]
    remove = (mixture[0] / without[0]).log().max((mixture[1] / without[1]).log())
    add = (without[0] / mixture[0]).log().max((without[1] / mixture[1]).log())
    loss, rate = Enclosure.of(epsilon, precision=160), Enclosure.of(q, precision=160)
    for enclosure, truth, lost in ((psi(loss, rate), remove, 0), (psi_add(loss, rate), add, math.ceil(1.5 * epsilon))):
        low, high = ends(truth)
        assert enclosure.lower - Fraction(1, 2**900) <= high
        assert low <= enclosure.upper + Fraction(1, 2**900)
        # the add direction takes e^−ε from 1 where q is 1: as many bits as ε·log₂e are lost there
        assert enclosure.width <= abs(enclosure.upper) / 2 ** (145 - lost)
    assert psi_add(loss, rate).lower <= psi(loss, rate).upper


@SETTINGS
@given(epsilon=EPSILONS, q=RATES, a=st.fractions(Fraction(1, 100), 5, max_denominator=100), weighted=st.booleans())
def test_the_profile_is_the_formula(epsilon: Fraction, q: Fraction, a: Fraction, weighted: bool, ends: Ends) -> None:
    """At the rounding 0, where the profile must meet the printed formula."""
    if not q and weighted:
        return
    profile = theorem_6(PureLoss(W * X / (a * 3)), SamplingRate(Constant(q), weighted=weighted))
    x = 3 * epsilon * a * q if weighted else 3 * epsilon * a
    exponent = arb_of(epsilon)  # W·x/(3a) at W = 1/q
    box = {v: Enclosure.of(x if v == X else 0, precision=200) for v in variables(profile.remove)}
    low, high = ends((1 + arb_of(q) * (exponent.exp() - 1)).log())
    found = enclose(profile.remove, box, precision=200)
    assert found.lower - Fraction(1, 2**900) <= high
    assert low <= found.upper + Fraction(1, 2**900)
    low, high = ends(-(1 - arb_of(q) * (1 - (-exponent).exp())).log())
    found = enclose(profile.add, box, precision=200)
    assert found.lower - Fraction(1, 2**900) <= high
    assert low <= found.upper + Fraction(1, 2**900)


def test_reference_a_profile_linear_in_the_weight() -> None:
    profile = theorem_6(PureLoss(2 * W), SamplingRate(ONE, weighted=True))
    found = profile.at({})
    assert found.contains(2)
    assert found.width < Fraction(1, 2**120)


def test_reference_a_tiny_rate_loses_no_digits(ends: Ends) -> None:
    rate = SamplingRate(Constant(Fraction(1, 10**12)), weighted=False)
    profile = theorem_6(PureLoss(ONE * 10), rate)
    low, high = ends((arb_of(Fraction(1, 10**12)) * (flint.arb(10).exp() - 1)).log1p())
    found = profile.at({})
    assert found.lower <= low
    assert high <= found.upper
    relative = found.relative_width
    assert relative is not None
    assert relative <= 3 * rate.rounding
    exact = psi(Enclosure.of(10), Enclosure.of("1e-12"))
    assert exact.lower <= low
    assert high <= exact.upper
    assert proposition_3(Enclosure.of(10), Enclosure.of("1e-12")) == exact


@SETTINGS
@given(
    q=st.fractions(Fraction(1, 1000), 1, max_denominator=1000),
    x=st.fractions(0, 5, max_denominator=64),
    shares=st.tuples(st.fractions(-1, 1, max_denominator=32), st.fractions(-1, 1, max_denominator=32)),
)
def test_the_profile_covers_every_admissible_rounding(
    q: Fraction, x: Fraction, shares: tuple[Fraction, Fraction], ends: Ends
) -> None:
    rate = SamplingRate(minimum(1, q * X), weighted=True)
    profile = theorem_6(PureLoss(W * X / 10), rate)
    declared = min(Fraction(1), q * x)
    if not declared:
        with pytest.raises(OutsideDomain):
            profile.at({X: Enclosure.of(x)})
        return
    drawn = min(Fraction(1), declared * (1 + rate.rounding * shares[0]))
    weight = max(Fraction(1), (1 + rate.rounding * shares[1]) / declared)
    low, high = ends((1 + arb_of(drawn) * ((arb_of(weight * x) / 10).exp() - 1)).log())
    found = profile.at({X: Enclosure.of(x, precision=128)})
    assert found.lower <= high
    assert low <= found.upper


def test_roundings_appear_where_something_rounds() -> None:
    exact = theorem_6(PureLoss(W * X), ALWAYS)
    assert variables(exact.remove) == {X}
    assert exact.assumptions == ()
    rounded = theorem_6(PureLoss(W * X), SamplingRate(Constant(Fraction(1, 3)), weighted=True))
    assert variables(rounded.remove) == {X, rounding("rate"), rounding("weight")}
    assert [a.name for a in rounded.assumptions] == ["relative rounding of probability and weight"]
    unweighted = theorem_6(PureLoss(W * X), SamplingRate(Constant(Fraction(1, 3)), weighted=False))
    assert variables(unweighted.remove) == {X, rounding("rate")}


def test_realised_probabilities_and_weights_stay_admissible() -> None:
    used = realised(SamplingRate(minimum(1, X), weighted=True))
    for theta in (-1, 1):
        box: dict[Variable, Enclosure] = {X: Enclosure.of(2), rounding("rate"): Enclosure.of(theta)}
        assert enclose(used.probability, box, precision=96).upper <= 1
        box[rounding("weight")] = Enclosure.of(theta)
        assert enclose(used.weight, box, precision=96).lower >= 1


def test_the_statement_names_its_theorem() -> None:
    profile = theorem_6(PureLoss(W * X), ALWAYS)
    assert str(profile.derivation) == "IS Theorem 6"
    assert (profile.relation, profile.unit) == (AddRemove(), Record())


def test_a_rate_of_zero_loses_nothing_anywhere() -> None:
    for weighted in (False, True):
        profile = theorem_6(PureLoss(W * X), SamplingRate(Constant(Fraction(0)), weighted=weighted))
        guarantee, _ = profile.supremum(NormBall(norm=Norm.L1, radius=Public(5)))
        assert guarantee.bound.epsilon == Enclosure.of(0)


def nothing(_: Enclosure, __: Direction) -> Enclosure:
    """The δ of a pair that tells nothing."""
    return Enclosure.of(0)


@pytest.mark.parametrize(
    "amplified",
    [
        psi,
        psi_add,
        proposition_3,
        lambda epsilon, rate: delta_after_sampling(nothing, rate, epsilon, Direction.REMOVE),
        lambda epsilon, rate: delta_after_sampling(nothing, rate, epsilon, Direction.ADD),
    ],
    ids=["psi", "psi_add", "proposition 3", "delta, remove", "delta, add"],
)
@pytest.mark.parametrize(
    ("epsilon", "rate", "parameter"),
    [("-1/10", "1/2", "epsilon"), ("1", "-1/10", "rate|probability"), ("1", "11/10", "rate|probability")],
)
def test_what_is_no_loss_and_no_rate_is_refused(
    amplified: Callable[[Enclosure, Enclosure], Enclosure], epsilon: str, rate: str, parameter: str
) -> None:
    with pytest.raises(InvalidValue, match=parameter):
        amplified(Enclosure.of(Fraction(epsilon)), Enclosure.of(Fraction(rate)))


@pytest.mark.parametrize("rate", ["-1/10", "11/10"])
@pytest.mark.parametrize("direction", Direction)
def test_what_is_no_rate_has_no_divergence(rate: str, direction: Direction) -> None:
    with pytest.raises(InvalidValue, match="rate"):
        renyi_after_sampling(lambda *_: Enclosure.of(1), Enclosure.of(Fraction(rate)), Fraction(3), direction)
