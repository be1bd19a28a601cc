"""Loss-distribution accounting at a δ that may be 0, for which a loss without a bound has no ε."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import product

import pytest
from attrs import frozen

from certdp.accounting.accountants import BEST, LOSS_DISTRIBUTION, WorstPairs
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution.profile import ANSWER, PICTURE, Nearness
from certdp.accounting.pairs import (
    GaussianPair,
    LaplacePair,
    Pair,
    RandomisedResponsePair,
    RenyiCurve,
    Repeated,
    SampledGaussian,
    compose_pairs,
)
from certdp.accounting.pairs.laws import DeltaLaw, PureLaw, RenyiLaw


def test_a_delta_around_zero_has_no_lower_end() -> None:
    run = WorstPairs((LaplacePair(Enclosure.of(1)),), (LaplacePair(Enclosure.of(1)),))
    exactly = LOSS_DISTRIBUTION.epsilon(run, Enclosure.of(0))
    around = LOSS_DISTRIBUTION.epsilon(run, Enclosure.of(0).hull(Enclosure.of("0.1")))
    within = LOSS_DISTRIBUTION.epsilon(run, Enclosure.of("0.1"))
    assert exactly is not None
    assert around is not None
    assert within is not None
    assert exactly.bounds.two_sided
    assert exactly.upper == around.upper == 1
    assert within.upper < 1  # so 1 is no lower end of what 0.1 needs
    assert not around.bounds.two_sided


def test_without_a_pure_loss_a_delta_that_may_be_0_has_no_epsilon() -> None:
    run = WorstPairs((GaussianPair(Enclosure.of(1)),), (GaussianPair(Enclosure.of(1)),))
    for delta in (Enclosure.of(0), Enclosure.between(0, "0.1")):
        assert LOSS_DISTRIBUTION.epsilon(run, delta) is None


@frozen
class KnownAlone(Pair):
    """A pair of which no more is known than its pure ε, and where `other` is a pair, δ(ε) and τ(α)."""

    epsilon: Enclosure
    other: Pair | None = None

    @property
    def pure(self) -> PureLaw:
        return lambda direction: self.epsilon

    @property
    def delta(self) -> DeltaLaw | None:
        return None if self.other is None else self.other.delta

    @property
    def renyi(self) -> RenyiLaw | None:
        return None if self.other is None else self.other.renyi


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["1/10", "1"])
def test_a_pair_with_a_pure_loss_costs_no_more_than_randomised_response(rate: str) -> None:
    """Whatever else is known of it: what is declared beside the pure ε never makes a bound larger."""
    epsilon, drawn = Enclosure.of("1/2"), Enclosure.of(rate)
    response, laplace = RandomisedResponsePair(epsilon), LaplacePair(epsilon)
    for steps, delta in product((1, 7, 60), ("1/100", "1/1000000")):
        limits = []
        for one in (response, KnownAlone(epsilon), KnownAlone(epsilon, laplace)):
            together = compose_pairs([one.sampled(drawn).repeated(steps), GaussianPair(Enclosure.of("1/5"))])
            for pair in (one.sampled(drawn).repeated(steps), together):
                found = BEST.epsilon(WorstPairs((pair,), ()), Enclosure.of(delta))
                assert found is not None
                limits.append(found.upper)
        of_response, *others = zip(limits[::2], limits[1::2], strict=True)
        for limits_of_other in others:
            for limit, least in zip(limits_of_other, of_response, strict=True):
                assert limit <= least * (1 + Fraction(1, 10**9))


def test_a_replaced_pair_proves_no_lower_end() -> None:
    """Randomised response loses more than what it dominates: only its upper ends hold for that."""
    laplace = LaplacePair(Enclosure.of("1/2"))
    pair = KnownAlone(Enclosure.of("1/2"), laplace).repeated(20)
    exact, delta = laplace.repeated(20), Enclosure.of("1/1000")
    found = LOSS_DISTRIBUTION.epsilon(WorstPairs((pair,), (pair,)), delta)
    true = LOSS_DISTRIBUTION.epsilon(WorstPairs((exact,), (exact,)), delta)
    assert found is not None
    assert true is not None
    assert not found.bounds.two_sided
    assert not found.bounds.sharp
    assert true.upper < found.upper


NEAR = Fraction(1, 2**20)


@pytest.mark.parametrize(
    "pair",
    [
        Repeated(SampledGaussian(Enclosure.of(1), Enclosure.of("1/100")), 10),
        Repeated(LaplacePair(Enclosure.of("1/2")), 5),
        GaussianPair(Enclosure.of(1)),
        compose_pairs([RandomisedResponsePair(Enclosure.of(1)), GaussianPair(Enclosure.of("1/2"))]),
    ],
    ids=lambda pair: type(pair).__name__,
)
@pytest.mark.parametrize("nearness", [PICTURE, ANSWER], ids=["picture", "answer"])
def test_many_points_of_one_curve_are_those_of_the_accountant(pair: Pair, nearness: Nearness) -> None:
    run, along = WorstPairs((pair,), (pair,)), LOSS_DISTRIBUTION.along(nearness)
    for level in ("0", "1/4", "1", "1/2"):
        one, other = (who.delta(run, Enclosure.of(level)) for who in (along, LOSS_DISTRIBUTION))
        assert one is not None
        assert other is not None
        assert one.accountant == LOSS_DISTRIBUTION
        mine, exact = one.bounds.enclosure, other.bounds.enclosure
        assert mine.lower <= exact.upper
        assert exact.lower <= mine.upper
        assert mine.width <= mine.upper * Fraction(1, 20)
        assert nearness is PICTURE or mine.width <= max(exact.width * (1 + NEAR), mine.upper * ANSWER.width)
        assert one.bounds.two_sided


def test_a_curve_is_composed_for_each_pair_apart() -> None:
    along = LOSS_DISTRIBUTION.along(PICTURE)
    sampled = SampledGaussian(Enclosure.of(1), Enclosure.of("1/100"))
    few, many = (WorstPairs((Repeated(sampled, times),), ()) for times in (100, 200))
    found = [along.delta(run, Enclosure.of("1/2")) for run in (few, many, few)]
    first, second, third = (None if one is None else one.bounds.enclosure for one in found)
    assert first is not None
    assert second is not None
    assert first.upper < second.lower
    assert third == first


def test_who_answers_along_a_curve_is_pickled_without_what_it_composed() -> None:
    along, run = LOSS_DISTRIBUTION.along(ANSWER), WorstPairs((Repeated(LaplacePair(Enclosure.of("1/2")), 5),), ())
    here, there = (who.delta(run, Enclosure.of("1/4")) for who in (along, pickle.loads(pickle.dumps(along))))
    assert here is not None
    assert there is not None
    assert here.bounds == there.bounds


def test_a_curve_has_no_point_where_a_pair_has_no_law() -> None:
    along = LOSS_DISTRIBUTION.along(PICTURE)
    pair = RenyiCurve(Enclosure.of)
    assert along.delta(WorstPairs((pair,), ()), Enclosure.of(1)) is None
    assert along.epsilon(WorstPairs((GaussianPair(Enclosure.of(1)),), ()), Enclosure.of("1/100")) is not None


def test_others_are_asked_point_by_point() -> None:
    assert BEST.along(PICTURE) is BEST
