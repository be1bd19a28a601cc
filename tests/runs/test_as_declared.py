"""What lower ends are about: real numbers, or what is released."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from attrs import evolve, frozen

from certdp import (
    Coins,
    Delta,
    Epsilon,
    Full,
    GaussianSteps,
    GaussianSum,
    LaplaceSum,
    NormBall,
    Plan,
    Public,
    SampledRun,
)
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Renyi
from certdp.guarantees import Evidence
from certdp.interoperation import DiscreteLaplace, Finding, Gaussian, judged
from certdp.interoperation.claims import judged_in
from certdp.interoperation.proven_claims import proven
from certdp.pairs import LaplaceLoss
from certdp.plugins.contract import CONTRACT_VERSION, About, W, WeightedSample, norm
from certdp.runs.as_declared import AS_DECLARED, lower_ends_of
from certdp.verification.mutation.declared import DECLARED

BALL = NormBall(norm=Norm.L1, radius=Public(1))
ON_GRIDS = {"laplace-sum", "gaussian-sum", "lp-sum", "count", "dpis-step", "lloyd"}
MECHANISMS: dict[str, Any] = {one.example.about.name: one.example for one in DECLARED if one.attribute == "loss"}


@frozen(kw_only=True)
class Theirs:
    """Laplace noise by somebody else."""

    about: ClassVar[About] = About(
        name="theirs", version="1", contract=CONTRACT_VERSION, evidence=Evidence.CITED, citation="nobody"
    )

    @property
    def loss(self) -> LaplaceLoss:
        return LaplaceLoss(W * norm(1))

    def release(self, sample: WeightedSample, coins: Coins) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("name", MECHANISMS)
def test_lower_ends_are_of_what_is_released_where_noise_is_drawn_exactly(name: str) -> None:
    found = lower_ends_of(SampledRun(mechanism=MECHANISMS[name], sampler=Full()))
    assert found == (AS_DECLARED if name in ON_GRIDS else None)


def test_one_part_on_a_grid_is_enough() -> None:
    parts = [SampledRun(mechanism=MECHANISMS[name], sampler=Full()) for name in ("discrete-laplace", "laplace-sum")]
    assert lower_ends_of(Plan([evolve(part, domain=BALL) for part in parts])) == AS_DECLARED
    assert lower_ends_of(Plan([evolve(parts[0], domain=BALL)] * 2)) is None


def test_what_another_tool_or_author_releases_is_not_known() -> None:
    theirs = SampledRun(mechanism=Theirs(), sampler=Full(), domain=BALL)
    assert lower_ends_of(theirs) == AS_DECLARED
    assert lower_ends_of(Gaussian(1).run()) == AS_DECLARED
    assert lower_ends_of(GaussianSteps(rates=Public(1), noise_multipliers=Public(1))) == AS_DECLARED
    assert lower_ends_of(DiscreteLaplace(1, 1).run()) is None


def test_a_claim_is_refuted_of_the_mechanism_as_declared_alone() -> None:
    """On a grid as coarse as the domain every record is 0, and what is released tells nothing."""
    mechanism = LaplaceSum(scale=Public(2**60))
    run = SampledRun(mechanism=mechanism, sampler=Full(), domain=BALL)
    samples = [WeightedSample(records=np.array([[record]]), weights=np.ones(1)) for record in (1.0, 0.0)]
    one, other = (mechanism.release(sample, Coins.seeded(1)) for sample in samples)
    assert np.array_equal(one, other)
    verdict = judged(run, Epsilon(Fraction(1, 2**61)), Delta(0))
    assert (verdict.finding, verdict.lower_end) == (Finding.REFUTED, AS_DECLARED)
    ends = judged_in(run, Renyi(Fraction(2), Enclosure.of(10)))
    assert (ends.finding, ends.lower_end) == (Finding.HOLDS, AS_DECLARED)


def test_what_is_undecided_says_it_of_the_lower_end() -> None:
    run = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(1)), sampler=Full())
    found = proven(run, Fraction(run.epsilon("1e-5").epsilon.lower or 0), "1e-5")
    assert found.verdict.finding is Finding.UNDECIDED
    assert str(found.refusal).endswith(AS_DECLARED)
