"""The claims of the built-in mechanisms hold, and each refutes a mechanism that declares or does something else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
import pytest

from certdp.accounting.expressions import Expression
from certdp.mechanisms.discrete_gaussian import DiscreteGaussian
from certdp.mechanisms.discrete_laplace import DiscreteLaplace
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.mechanisms.lp_sum import LpSum
from certdp.plugins.contract import Coins, Release, WeightedSample
from certdp.verification.claims import mechanisms as claims
from certdp.verification.mutation.declared import DECLARED
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}
GUARDED = [(type(item.example), claim) for item in DECLARED for claim in item.claims if claim in BY_ID]
CLAIM_OF: dict[type, str] = {kind: claim for kind, claim in GUARDED if claim != "samplers/rates"}
RATED = [kind for kind, claim in GUARDED if claim == "samplers/rates"]


def scaled(declared: Any, factor: Fraction) -> Any:
    """The loss or rate with every expression in it times a factor."""
    trees = {f.name: getattr(declared, f.name) for f in attrs.fields(type(declared))}
    changed = {name: tree * factor for name, tree in trees.items() if isinstance(tree, Expression)}
    return attrs.evolve(declared, **changed)


def off(right: Any) -> property:
    return property(lambda self: scaled(right.__get__(self), Fraction(99, 100)))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", CLAIM_OF)
def test_a_loss_that_is_a_percent_too_small_is_refuted(monkeypatch: pytest.MonkeyPatch, mechanism: type) -> None:
    monkeypatch.setattr(mechanism, "loss", off(vars(mechanism)["loss"]))
    result = check(BY_ID[CLAIM_OF[mechanism]], 30, 0)
    assert result.error is None, result.error
    assert not result.passed


@pytest.mark.parametrize("sampler", RATED)
def test_a_rate_that_is_a_percent_too_small_is_refuted(monkeypatch: pytest.MonkeyPatch, sampler: type) -> None:
    monkeypatch.setattr(sampler, "rate", off(vars(sampler)["rate"]))
    result = check(BY_ID["samplers/rates"], 30, 0)
    assert result.error is None, result.error
    assert not result.passed


def doubled(right: Callable[..., Release]) -> Callable[..., Release]:
    def release(self: object, sample: WeightedSample, coins: Coins) -> Release:
        return right(self, WeightedSample(2 * sample.records, sample.weights), coins)

    return release


@pytest.mark.parametrize("mechanism", [LaplaceSum, GaussianSum, LpSum, DiscreteLaplace, DiscreteGaussian])
def test_a_release_that_moves_twice_as_far_is_refuted(monkeypatch: pytest.MonkeyPatch, mechanism: type) -> None:
    monkeypatch.setattr(mechanism, "release", doubled(vars(mechanism)["release"]))
    result = check(BY_ID[CLAIM_OF[mechanism]], 30, 0)
    assert result.error is None, result.error
    assert not result.passed
