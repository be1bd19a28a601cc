"""Releases with their statements: a certificate of the run stands beside this output and no other."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certdp
from certdp import (
    Coins,
    Count,
    Delta,
    DiscreteLaplace,
    Full,
    GaussianSum,
    InvalidType,
    InvalidValue,
    LaplaceSum,
    Lloyd,
    LpSum,
    Norm,
    NormBall,
    Poisson,
    Public,
    ResampleEach,
    SampledRun,
    certificate,
    profile_certificate,
)
from certdp.mechanisms.dpis_step import DpisStep
from certdp.mechanisms.lattice import noise_unit
from certdp.runs.statements import ReleaseStatement, StatedRelease, stated_release
from certdp.verification.checker import check
from certdp.verification.checker.__main__ import main

RECORDS = np.random.default_rng(1).uniform(-0.5, 0.5, (40, 2))


def run_of(mechanism: Any, **changes: Any) -> SampledRun:
    domain = NormBall(norm=Norm.L1, radius=Public(1))
    return SampledRun(**{"mechanism": mechanism, "sampler": Poisson(rate=Public("0.5")), "domain": domain, **changes})


RUN = run_of(LaplaceSum(scale=Public(2)))


def test_a_release_says_what_it_is() -> None:
    found = stated_release(run_of(LaplaceSum(scale=Public(2)), releases=ResampleEach(3)), RECORDS)
    assert found.value.shape == (3, 2)
    assert found.statement.mechanism == {"name": "laplace-sum", "version": "2", "options": {"scale": "2"}}
    assert found.statement.sampler["options"] == {"rate": "1/2", "weighted": "false"}
    assert found.statement.grids == {"sums": Fraction(1, 2**29)}
    assert found.statement.coins == "operating system"
    assert "3" in found.statement.releases
    assert json.loads(json.dumps(found.statement.as_json))["grids"] == {"sums": "1/536870912"}


@pytest.mark.parametrize(
    "mechanism",
    [
        LaplaceSum(scale=Public(3)),
        LpSum(scale=Public("0.3"), norm=Public(2)),
        GaussianSum(scale=Public("0.1")),
        Count(scale=Public(7)),
        Lloyd(clusters=Public(2), scale_sum=Public(1), scale_count=Public(3), radius=Public(1), iterations=Public(1)),
        DpisStep(noise_multiplier=Public(2), clip=Public(1), size=Public(9), batch=Public(3)),
    ],
    ids=lambda mechanism: mechanism.about.name,
)
def test_what_is_rounded_lies_on_the_grid_that_is_stated(mechanism: Any) -> None:
    found = stated_release(run_of(mechanism, domain=None), RECORDS, coins=Coins.seeded(1))
    assert found.statement.coins == "seeded"
    for unit in found.statement.grids.values():
        assert Fraction(2) ** (unit.numerator.bit_length() - unit.denominator.bit_length()) == unit
    if "sums" in found.statement.grids and mechanism.about.name not in ("lloyd", "dpis-step"):
        assert noise_unit(mechanism.scale.value) == found.statement.grids["sums"]
        assert all(Fraction(x) % found.statement.grids["sums"] == 0 for x in found.value.ravel().tolist())


def test_a_mechanism_without_a_grid_states_none() -> None:
    found = stated_release(run_of(DiscreteLaplace(scale=Public(2), granularity=Public(1))), RECORDS)
    assert found.statement.grids == {}


def test_its_certificate_is_of_this_output_alone(tmp_path: Path) -> None:
    first, second = (stated_release(RUN, RECORDS) for _ in range(2))
    kept, released = tmp_path / "certificate.json", tmp_path / "sums.npy"
    kept.write_bytes(first.certificate("sums.npy"))
    first.write(released)
    assert np.array_equal(np.load(released), first.value)
    assert check(kept.read_bytes()).accepted
    assert main([str(kept), "--artefact", str(released)]) == 0
    second.write(released)
    assert main([str(kept), "--artefact", str(released)]) == 1
    released.write_bytes(first.content[:-1] + bytes([first.content[-1] ^ 1]))
    assert main([str(kept), "--artefact", str(released)]) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "sampler", "norm"),
    [
        (LaplaceSum(scale=Public(2)), Poisson(rate=Public("0.5")), Norm.L1),
        (GaussianSum(scale=Public(20)), Full(), Norm.L2),
    ],
    ids=["laplace", "gaussian"],
)
def test_its_certificate_is_of_the_run_that_was_released(mechanism: Any, sampler: Any, norm: Norm) -> None:
    """As many releases on the same domain: the profile, or an answer's ε."""
    domain = NormBall(norm=norm, radius=Public(1))
    many = run_of(mechanism, sampler=sampler, releases=ResampleEach(3), domain=domain)
    found = stated_release(many, RECORDS)
    asked = many.epsilon(Delta("1e-2"))
    bound = json.loads(found.certificate("sums.npy", asked))
    own = json.loads(certificate(many, asked).content)
    assert bound.pop("artefacts") == {"coins": "operating system", "files": {"sums.npy": found.statement.digest}}
    assert bound.pop("digest") != own.pop("digest")
    assert bound == own
    profile = json.loads(stated_release(RUN, RECORDS).certificate("sums.npy"))
    assert profile["claim"] == json.loads(profile_certificate(RUN))["claim"]


def test_a_seeded_release_has_no_certificate() -> None:
    found = stated_release(RUN, RECORDS, coins=Coins.seeded(3))
    assert np.array_equal(found.value, stated_release(RUN, RECORDS, coins=Coins.seeded(3)).value)
    with pytest.raises(InvalidValue, match="seeded"):
        found.certificate("sums.npy")
    assert isinstance(found, StatedRelease)
    assert isinstance(found.statement, ReleaseStatement)


@pytest.mark.parametrize(
    "ask",
    [
        certdp.profile_certificate,
        lambda run: certdp.owner_certificate(run, np.ones((3, 2))),
        lambda run: certdp.record_losses(run, np.ones((3, 2))),
        lambda run: certdp.record_weights(run, np.ones((3, 2))),
        lambda run: certdp.stated_release(run, np.ones((3, 2))),
    ],
)
def test_what_is_stated_of_records_is_refused_of_runs_of_another_kind(ask: Any) -> None:
    """Before anything of them is looked at, or drawn."""
    batches = certdp.RandomAllocation(batches=Public(4))
    allocated = certdp.AllocatedRun(mechanism=RUN.mechanism, sampler=batches, domain=RUN.domain)
    keyed = certdp.KeyedRun(
        mechanism=certdp.PwsKeys(epsilon=Public(1), delta=Public("1e-3")), sampler=certdp.EveryKey()
    )
    assert ask(RUN) is not None
    others: list[Any] = [allocated, keyed, certdp.Plan([RUN]), RUN.pure(), None]
    for other in others:
        with pytest.raises(InvalidType, match=r"run: .*SampledRun"):
            ask(other)


@pytest.mark.parametrize("run", [None, "a run", 3])
def test_a_certificate_is_of_a_run(run: Any) -> None:
    with pytest.raises(InvalidType, match="run"):
        certdp.certificate(run, RUN.pure())
