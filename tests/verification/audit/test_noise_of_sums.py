"""The audit on the Laplace sum and on the noise of DP-Lloyd's sums: both pass, and an exponential radius is caught."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Public
from certdp.accounting.units import Epsilon
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.mechanisms.lp_sum import lp_noise
from certdp.plugins.contract import Coins, WeightedSample
from certdp.verification.audit import Audit, Releases, audit, repeated

RUNS = 6_000


def sums(dimension: int, shift: float, seed: int) -> Releases:
    """Noisy sums of one cluster, β = 1, as DP-Lloyd releases them."""
    coins = Coins.seeded(seed)

    def releases(count: int) -> Any:
        noise = lp_noise(Norm.L2, Fraction(1), (count, dimension), coins)
        noise[:, 0] += shift
        return noise

    return releases


def with_exponential_radius(dimension: int, shift: float, seed: int) -> Releases:
    """The same with the law of the radius that IS Algorithm 2 is easily read as (IS-noise)."""
    generator = np.random.default_rng(seed)

    def releases(count: int) -> Any:
        direction = generator.standard_normal((count, dimension))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        noise = direction * generator.exponential(1.0, (count, 1))
        noise[:, 0] += shift
        return noise

    return releases


@pytest.mark.parametrize("dimension", [1, 2, 10])
def test_the_noise_keeps_its_epsilon(dimension: int, stream: int) -> None:
    found = audit(sums(dimension, 1.0, 100 + 2 * stream), sums(dimension, 0.0, 101 + 2 * stream), runs=RUNS)
    assert not found.refutes(Epsilon(1))
    assert found.lower > 0.1 or dimension == 10  # so a scale that is far too small would be seen


@pytest.mark.parametrize("dimension", [2, 10])
def test_an_exponential_radius_is_caught(dimension: int) -> None:
    found = audit(
        with_exponential_radius(dimension, 0.1, 1), with_exponential_radius(dimension, 0.0, 2), runs=10 * RUNS
    )
    assert found.refutes(Epsilon("0.1"))


def test_on_the_line_an_exponential_radius_is_right() -> None:
    found = audit(with_exponential_radius(1, 0.1, 1), with_exponential_radius(1, 0.0, 2), runs=10 * RUNS)
    assert not found.refutes(Epsilon("0.1"))


def audit_of_laplace_sums(dimension: int, scale: str, seed: int) -> Audit:
    """On a data set with a record of ℓ1 norm 1, and on one without it."""
    mechanism, coins = LaplaceSum(scale=Public(scale)), Coins.seeded(seed)
    record = np.full((1, dimension), 1 / dimension)
    present, absent = WeightedSample(record, np.ones(1)), WeightedSample(record[:0], np.ones(0))
    return audit(repeated(mechanism, present, coins), repeated(mechanism, absent, coins), runs=RUNS)


@pytest.mark.parametrize("dimension", [1, 2, 10])
def test_laplace_sums_keep_their_epsilon(dimension: int, stream: int) -> None:
    assert not audit_of_laplace_sums(dimension, "1", 300 + stream).refutes(Epsilon(1))


@pytest.mark.parametrize("dimension", [1, 2, 10])
def test_laplace_sums_with_too_little_noise_are_caught(dimension: int) -> None:
    assert audit_of_laplace_sums(dimension, "1/4", 300).refutes(Epsilon(1))
