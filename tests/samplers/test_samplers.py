"""The rates of the built-in samplers, against their definitions in exact rationals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.expressions import Apply, Constant, Expression, Operation, Variable, W, enclose, norm
from certdp.accounting.feasible_weights.gaussian import ApproximateTarget, RenyiTarget
from certdp.accounting.feasible_weights.rates import (
    GAUSSIAN_DIGITS,
    GaussianConstrainedRate,
    LinearConstrainedRate,
    ProfileConstrainedRate,
)
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Public
from certdp.accounting.sampling.losses import PureLoss
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plugins.contract import Sampler
from certdp.samplers.dpis import Dpis
from certdp.samplers.full import Full
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson
from certdp.samplers.privacy_constrained import PrivacyConstrained

NORMS = [Norm.L1, Norm.L2, Norm.LINF, Norm("3/2")]
SHARES = st.fractions(0, 1, max_denominator=50)
SIZES = st.fractions(0, 40, max_denominator=50)


def value(root: Expression, values: dict[Variable, Fraction]) -> Fraction:
    """Exact evaluation of the operations that a rate of importance sampling may have."""
    match root:
        case Constant():
            return root.value
        case Variable():
            return values[root]
        case Apply():
            first, second = (value(argument, values) for argument in root.arguments)
            rules: dict[Operation, Callable[[Fraction, Fraction], Fraction]] = {
                Operation.MINIMUM: min,
                Operation.MAXIMUM: max,
                Operation.MULTIPLY: lambda a, b: a * b,
            }
            return rules[root.operation](first, second)
    raise AssertionError(root)


@given(slope=st.fractions(Fraction(1, 100), 5, max_denominator=100), floor=SHARES, size=SIZES, p=st.sampled_from(NORMS))
def test_importance_is_its_definition(slope: Fraction, floor: Fraction, size: Fraction, p: Norm) -> None:
    rate = Importance(rate=Public(slope), norm=Public(p), floor=Public(floor)).rate
    assert value(rate.probability, {norm(p): size}) == min(1, max(floor, slope * size))
    assert rate.weighted
    assert enclose(rate.probability, {norm(p): Enclosure.of(size)}, precision=96).upper <= 1


@given(q=SHARES, weighted=st.booleans())
def test_poisson_is_constant(q: Fraction, weighted: bool) -> None:
    rate = Poisson(rate=Public(q), weighted=Public(weighted)).rate
    assert rate.probability == Constant(q)
    assert rate.weighted is weighted


def test_defaults() -> None:
    assert Importance(rate=Public(1)) == Importance(rate=Public(1), norm=Public(1), floor=Public(0))
    assert not Poisson(rate=Public(1)).rate.weighted
    assert Full().rate.probability == Constant(Fraction(1))
    assert not Full().rate.weighted


@pytest.mark.parametrize("sampler", [Full(), Poisson(rate=Public(0.5)), Importance(rate=Public(0.5))])
def test_they_are_samplers(sampler: Any) -> None:
    assert isinstance(sampler, Sampler)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Poisson(rate=Public(1.5)), "rate: got 1.5; admissible: a probability"),
        (lambda: Poisson(rate=Public(float("nan"))), "rate: got nan; admissible: a finite number"),
        (lambda: Poisson(rate=Public(-1)), "rate: got -1; admissible: a probability"),
        (lambda: Poisson(rate=Public(0.5), weighted=Public("maybe")), "weighted: got maybe; admissible: true or false"),
        (lambda: Importance(rate=Public(0)), "rate: got 0; admissible: a number > 0"),
        (lambda: Importance(rate=Public(1), floor=Public(2)), "floor: got 2; admissible: a probability"),
        (lambda: Importance(rate=Public(1), norm=Public("1/2")), "norm: got 1/2; admissible: a number ≥ 1"),
    ],
)
def test_inadmissible_parameters_are_named(build: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        build()


def test_parameters_are_given_by_name_and_declared() -> None:
    with pytest.raises(TypeError):
        Poisson(Public(0.5))  # type: ignore[call-arg]
    with pytest.raises(InvalidType, match=r"rate: got 0\.5"):
        Poisson(rate=0.5)  # type: ignore[arg-type]


RANGES: dict[str, tuple[str, tuple[Any, ...], tuple[Any, ...]]] = {
    "digits": ("a whole number from 4 to 52", (4, 52), (3, 53, "9/2")),
    "largest_weight": ("a number ≥ 1", (1, "10000001/10000000", 10**400), ("9999999/10000000", "1/2")),
    "delta": (r"a number in \(0, 1\]", (1, "1/2", f"1/{10**400}"), ("10000001/10000000", 2)),
    "order": ("a number > 1", ("10000001/10000000", 2, 10**9), (1, "1/2")),
}
"""Of options of `privacy-constrained`: what a refusal says, what is admitted, the ends among it, and what is not."""


@pytest.mark.parametrize("option", RANGES)
def test_options_of_a_target_are_admitted_up_to_their_ends(option: str) -> None:
    admissible, admitted, refused = RANGES[option]
    for value in admitted:
        sampler = PrivacyConstrained(target=Public(1), **{option: Public(value)})
        assert getattr(sampler, option).value == Fraction(value)
    for value in refused:
        with pytest.raises(InvalidValue, match=f"^{option}: got .*; admissible: {admissible}"):
            PrivacyConstrained(target=Public(1), **{option: Public(value)})
    for value in (0, "-1"):
        with pytest.raises(InvalidValue, match=f"^{option}: got"):
            PrivacyConstrained(target=Public(1), **{option: Public(value)})


def test_a_target_is_at_a_delta_or_at_an_order() -> None:
    with pytest.raises(InvalidValue, match="order: got 2; admissible: nothing, beside a δ"):
        PrivacyConstrained(target=Public(1), delta=Public("1/10"), order=Public(2))


def test_a_step_draws_at_the_share_of_the_norm_sum_down_to_that_of_a_batch() -> None:
    """b·min(‖x‖, C)/K̃, which is a probability for every gradient from K̃ = b·C on."""
    batch_and_clip: dict[str, Any] = {"batch": Public(10), "clip": Public("3/2")}
    for norm_sum in (15, 20, "61/2"):
        rate = Dpis(norm_sum=Public(norm_sum), **batch_and_clip).rate
        for size in (Fraction(0), Fraction(1, 3), Fraction(3, 2), Fraction(9)):
            drawn = value(rate.probability, {norm(2): size})
            assert drawn == 10 * min(size, Fraction(3, 2)) / Fraction(norm_sum) <= 1
    assert value(Dpis(norm_sum=Public(15), **batch_and_clip).rate.probability, {norm(2): Fraction(2)}) == 1
    with pytest.raises(InvalidValue, match=r"norm_sum: got 14999999/1000000; admissible: at least batch·clip = 15"):
        Dpis(norm_sum=Public("14999999/1000000"), **batch_and_clip)


def test_a_target_has_the_rate_of_its_loss_and_of_its_kind() -> None:
    laplace, gaussian = LaplaceSum(scale=Public(2)).loss, GaussianSum(scale=Public(2)).loss
    capped = PrivacyConstrained(target=Public(1), largest_weight=Public("5/2"))
    linear = capped.rate_for(laplace)
    assert isinstance(linear, LinearConstrainedRate)
    assert linear.target == 1
    assert linear.largest == 2.5
    at_a_delta = PrivacyConstrained(target=Public(1), delta=Public("1/100")).rate_for(gaussian)
    at_an_order = PrivacyConstrained(target=Public(1), order=Public(3), digits=Public(9)).rate_for(gaussian)
    assert isinstance(at_a_delta, GaussianConstrainedRate)
    assert isinstance(at_an_order, GaussianConstrainedRate)
    assert at_a_delta.digits == GAUSSIAN_DIGITS
    assert at_an_order.digits == 9
    assert at_a_delta.aim == ApproximateTarget(epsilon=Fraction(1), delta=Fraction(1, 100))
    assert at_an_order.aim == RenyiTarget(order=Fraction(3), tau=Fraction(1))
    for digits in (None, 7):
        given_digits = {} if digits is None else {"digits": Public(digits)}
        pure = PrivacyConstrained(target=Public(1), **given_digits).rate_for(PureLoss(W * W * norm(1)))
        assert isinstance(pure, ProfileConstrainedRate)
        assert pure.digits == digits
    with pytest.raises(InvalidValue, match="digits: got 7; admissible: nothing, for a loss proportional"):
        PrivacyConstrained(target=Public(1), digits=Public(7)).rate_for(laplace)
