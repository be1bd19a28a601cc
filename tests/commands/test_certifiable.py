"""Whatever states an ε, δ, τ, ρ, μ, a rate of attackers or a weight: its certificate, or the reason why there is none.

The tables are whole: a command, a question to a run, a notion, a loss or a limit that is new fails here until it is in
one of them.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certdp
from certdp import (
    AllocatedRun,
    Count,
    DiscreteGaussian,
    FixedBatches,
    Full,
    GaussianSteps,
    GaussianSum,
    InvalidValue,
    LaplaceSteps,
    LaplaceSum,
    LpSum,
    Norm,
    NormBall,
    Poisson,
    PrivacyConstrained,
    Public,
    RandomAllocation,
    RandomisedResponse,
    Released,
    ResampleEach,
    SampledRun,
    TruncatedPoisson,
)
from certdp.accounting.errors import CertdpError
from certdp.accounting.expressions import Constant
from certdp.accounting.notions import Notion
from certdp.accounting.pairs import LaplacePair
from certdp.accounting.relations import REPLACE, ZERO_OUT, User
from certdp.accounting.sampling import losses
from certdp.correlated_noise import CorrelatedRun, CyclicPoisson, ToeplitzStrategy
from certdp.interoperation import Gaussian, plan_of
from certdp.interoperation.stated_run import StatedRun
from certdp.mechanisms.pws_keys import PwsKeys
from certdp.runs.bound_limit import BoundLimit
from certdp.runs.calibration import Budget, Limit
from certdp.runs.risk import AdvantageLimit, BayesRiskLimit, RiskLimit, TruePositiveRateLimit
from certdp.runs.run import NotionAbsent, Run
from certdp.samplers.ppswor import Ppswor
from certdp.samplers.shuffled import Shuffled
from certdp.samplers.shuffled_batches import ShuffledBatches
from certdp.sampling import NormStrata, Strata, StratifiedRun
from certdp.selection import PoissonRepetitions, ReportNoisyMax, SelectedRun
from certdp.verification.certificates import approximate
from certdp.verification.checker import check
from certdp.verification.checker.approximate.claims import CLAIMS
from tests.support.commands import commands
from tests.support.modules import import_all

Command = Callable[..., Any]
NORMAL = ("--mechanism", "gaussian-sum", "--sampler", "full", "--option", "noise_multiplier=2")
LAPLACE = ("--mechanism", "laplace-sum", "--sampler", "full", "--option", "scale=10", "--option", "radius=1")
KEYS = (
    *("--mechanism", "pws-keys", "--sampler", "ppswor", "--option", "threshold=0.1"),
    *("--option", "epsilon=0.5", "--option", "delta=0.01"),
)
FIND_NOISE = ("calibrate", "--mechanism", "gaussian-sum", "--sampler", "full", "--find", "noise_multiplier")

CERTIFIED: dict[str, dict[str, tuple[str, ...]]] = {
    "psi": {
        "sampled-pure-profile": ("psi", *LAPLACE),
        "composed-approximate": ("psi", *NORMAL, "--delta", "1e-5"),
        "composed-renyi": ("psi", *NORMAL, "--order", "4"),
    },
    "epsilon": {
        "composed-approximate": ("epsilon", *NORMAL, "--delta", "1e-5"),
        "keyed-approximate": ("epsilon", *KEYS, "--delta", "0.1", "--steps", "3", "--resample", "each"),
    },
    "delta": {
        "composed-approximate": ("delta", *NORMAL, "--epsilon", "1"),
        "keyed-approximate": ("delta", *KEYS, "--epsilon", "1", "--steps", "3", "--resample", "each"),
    },
    "risk": {"composed-risk": ("risk", *NORMAL)},
    "calibrate": {
        "composed-approximate": (
            *("calibrate", "--mechanism", "laplace-sum", "--sampler", "full", "--option", "radius=1"),
            *("--find", "scale", "--epsilon", "1"),
        ),
        "composed-risk": (*FIND_NOISE, "--advantage", "1/10"),
        "composed-renyi": (*FIND_NOISE, "--tau", "1/2", "--order", "4"),
        "composed-zero-concentrated": (*FIND_NOISE, "--rho", "1/10"),
        "composed-gaussian": (*FIND_NOISE, "--mu", "1/2"),
    },
    "weights": {
        "constrained-pure-profile": (
            *("weights", "--mechanism", "laplace-sum", "--option", "scale=10", "--option", "radius=3"),
            *("--epsilon", "1", "--data", "{}/records.npy", "--output", "{}/weights.csv"),
        ),
        "constrained-approximate": (
            *("weights", "--mechanism", "gaussian-sum", "--option", "scale=40", "--option", "radius=3"),
            *("--epsilon", "1", "--delta", "1e-5", "--data", "{}/records.npy", "--output", "{}/weights.csv"),
        ),
        "constrained-renyi": (
            *("weights", "--mechanism", "gaussian-sum", "--option", "scale=40", "--option", "radius=3"),
            *("--epsilon", "1", "--order", "4", "--data", "{}/records.npy", "--output", "{}/weights.csv"),
        ),
    },
    "verify-peer": {
        "composed-approximate": ("verify-peer", "{}/plan.toml", "--epsilon", "1"),
        "composed-renyi": ("verify-peer", "{}/plan.toml", "--order", "4", "--tau", "1"),
        "composed-zero-concentrated": ("verify-peer", "{}/plan.toml", "--rho", "1"),
        "composed-gaussian": ("verify-peer", "{}/plan.toml", "--mu", "1"),
    },
    "pws release": {
        "keyed-approximate": (
            *("pws", "release", "{}/counts.csv", "--epsilon", "1", "--delta", "1e-6", "--output", "{}/s.csv"),
        )
    },
    "dpis plan": {
        "composed-approximate": (
            *("dpis", "plan", "--records", "300", "--batch", "20", "--epochs", "2", "--epsilon", "8"),
            *("--delta", "1e-5", "--order", "4"),
        )
    },
}
"""Commands that write certificates of what they state, by kind."""

ELSEWHERE = {
    "cluster": "tests/commands/test_cluster_command.py: the statement of what was released",
    "pws sanitise": "tests/commands/pws: of one release, as psi writes it of keys",
    "dpis train": "tests/commands/dpis/test_train.py: what the training paid",
}
"""Commands with certificates of what they release, which their own tests check."""

STATES_NOTHING = {
    **dict.fromkeys(["pws table", "pws sample", "pws merge"], "samples are the owner's: nothing is released"),
    "pws estimate": "estimates from what was released; the release has the certificate",
    **dict.fromkeys(
        ["ledger create", "ledger pay", "ledger status", "ledger statement", "ledger verify", "ledger export"],
        "a budget and payments, as they were declared: its entries are the evidence, with digests",
    ),
    "audit": "lower ends from samples, with a confidence, not a proof",
    **dict.fromkeys(["check", "statement", "sign"], "about certificates"),
    **dict.fromkeys(["verify", "mutants", "reproduce", "experiments"], "about claims and figures of papers, and code"),
    **dict.fromkeys(["plugins show", "plugins new", "plugins check", "plugins list", "errata"], "about plugins"),
}


def test_every_command_has_its_certificate_or_states_nothing() -> None:
    found = {name for name, _ in commands()}
    assert found - (CERTIFIED.keys() | ELSEWHERE.keys() | STATES_NOTHING.keys()) == set()
    assert not CERTIFIED.keys() & (ELSEWHERE.keys() | STATES_NOTHING.keys())
    assert (CERTIFIED.keys() | ELSEWHERE.keys()) <= found


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kinds in CERTIFIED.items() for kind in kinds])
def test_what_a_command_states_is_certified(name: str, kind: str, table: Path, certdp: Command) -> None:
    folder = table.parent
    (folder / "counts.csv").write_text("key,count\na,100\nb,2000\nc,1\n")
    one = '[[release]]\nmechanism = "laplace-sum"\nsampler = "full"\noption = {scale = 2}\n'
    (folder / "plan.toml").write_text("[domain]\nradius = 1\n" + one)
    path = folder / f"{name.replace(' ', '-')}-{kind}.json"
    words = [word.replace("{}", str(folder)) for word in CERTIFIED[name][kind]]
    ran = certdp(*words, "--certificate", path, "--json")
    assert ran.code == 0, ran.out
    assert ran.json["certificate"] == str(path)
    assert json.loads(path.read_bytes())["kind"] == kind
    assert certdp("check", path, "--require", "proved").code == 0
    said = certdp("statement", path)
    assert said.code == 0, said.err
    assert "Privacy statement: " in said.out


NO_KIND: dict[str, tuple[tuple[str, ...], str]] = {
    "what releases of keys tell an attacker": (("risk", *KEYS), "No certificate states a risk of keys"),
}
"""What states a number and has no certificate, with the reason that is given."""


@pytest.mark.parametrize("name", NO_KIND)
def test_what_has_no_certificate_is_refused_by_name(
    name: str, table: Path, tmp_path: Path, refusal: Callable[..., dict[str, str]]
) -> None:
    words, reason = NO_KIND[name]
    path = tmp_path / "certificate.json"
    error = refusal(*(word.replace("{}", str(table.parent)) for word in words), "--certificate", path)
    assert reason in error["remedy"]
    assert not path.exists()


# What runs are asked.

BALL = NormBall(norm=Norm.L1, radius=Public(1))
COUNT = SampledRun(mechanism=Count(scale=Public(20)), sampler=Full(), domain=BALL).pure()
RUNS: dict[str, Run[Any]] = {
    "normal": SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(3)), sampler=Poisson(rate=Public("0.1")), releases=ResampleEach(9)
    ),
    "laplace": SampledRun(mechanism=LaplaceSum(scale=Public(2)), sampler=Full(), domain=BALL),
    "plan": certdp.Plan(
        [
            SampledRun(mechanism=LaplaceSum(scale=Public(8)), sampler=Full(), domain=BALL),
            SampledRun(mechanism=Count(scale=Public(8)), sampler=Full(), domain=BALL),
        ]
    ),
    "lattice": SampledRun(
        mechanism=DiscreteGaussian(scale=Public(8)), sampler=Full(), domain=NormBall(norm=Norm.L2, radius=Public(1))
    ),
    "released": SampledRun(
        mechanism=GaussianSum(scale=Released(8, COUNT, within=(8, 9))),
        sampler=Full(),
        domain=NormBall(norm=Norm.L2, radius=Public(1)),
    ),
    "responses": SampledRun(mechanism=RandomisedResponse(epsilon=Public(1), categories=Public(2)), sampler=Full()),
    "keys": certdp.KeyedRun(
        mechanism=PwsKeys(epsilon=Public("0.5"), delta=Public("1e-3")), sampler=Ppswor(threshold=Public("0.1"))
    ),
    "target": SampledRun(
        mechanism=LaplaceSum(scale=Public(8)), sampler=PrivacyConstrained(target=Public(1)), domain=BALL
    ),
    "replaced": SampledRun(
        mechanism=LaplaceSum(scale=Public(2)),
        sampler=Poisson(rate=Public("0.1")),
        releases=ResampleEach(2),
        domain=BALL,
        relation=REPLACE,
    ),
    "replaced, normal": SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(3)), sampler=Poisson(rate=Public("0.1")), relation=REPLACE
    ),
    "zeroed": SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(3)), sampler=Poisson(rate=Public("0.1")), relation=ZERO_OUT
    ),
    "users": SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(3)),
        sampler=Poisson(rate=Public("0.1")),
        unit=User(contributions=2),
    ),
    "correlated": CorrelatedRun(
        mechanism=GaussianSum(noise_multiplier=Public(3)),
        strategy=ToeplitzStrategy([1, 0.5], 6),
        participation=CyclicPoisson(groups=3, rate="0.1"),
    ),
    "losses in an interval": SampledRun(
        mechanism=ReportNoisyMax(scale=Public(20), noise=Public("gumbel")),
        sampler=Poisson(rate=Public("0.1")),
        releases=ResampleEach(3),
        domain=NormBall(norm=Norm("inf"), radius=Public(1)),
    ),
    "batches": SampledRun(
        mechanism=GaussianSum(scale=Public(8)),
        sampler=FixedBatches(batch_size=Public(2), data_size=Public(20)),
        domain=NormBall(norm=Norm.L2, radius=Public(1)),
    ),
    "batches cut down": SampledRun(
        mechanism=LpSum(scale=Public(8), norm=Public("3/2")),
        sampler=TruncatedPoisson(rate=Public("0.1"), batch_size=Public(2), data_size=Public(20), at_most=Public(True)),
        domain=NormBall(norm=Norm("3/2"), radius=Public(1)),
    ),
    "answers, shuffled": SampledRun(
        mechanism=RandomisedResponse(epsilon=Public(1), categories=Public(3)), sampler=Shuffled(users=Public(100))
    ),
    "the best of several": SelectedRun(
        base=SampledRun(mechanism=LaplaceSum(scale=Public(2)), sampler=Full(), domain=BALL),
        repetitions=PoissonRepetitions(mean=Public(2)),
    ),
    "strata": StratifiedRun(
        mechanism=LaplaceSum(scale=Public(2)), sampler=Strata(rates=Public("a:1/10,b:1/2")), domain=BALL
    ),
    "strata by a norm": StratifiedRun(
        mechanism=GaussianSum(scale=Public(8)),
        sampler=NormStrata(bounds=Public("1/2"), rates=Public("1/2,1/4"), weighted=Public(True)),
        domain=NormBall(norm=Norm.L2, radius=Public(1)),
    ),
    "many steps": GaussianSteps(rates=Public([0.1, 0.2, 0.1, 1]), noise_multipliers=Public([3.0, 4.0, 3.0, 5.0])),
    "many steps of Laplace noise": LaplaceSteps(rates=Public([0.1, 0]), noise_multipliers=Public([3.0, 4.0])),
    "epochs": AllocatedRun(
        mechanism=LaplaceSum(scale=Public(2)), sampler=RandomAllocation(batches=Public(3)), epochs=2, domain=BALL
    ),
    "epochs, several batches of each": AllocatedRun(
        mechanism=LaplaceSum(scale=Public(2)),
        sampler=RandomAllocation(batches=Public(3), participations=Public(2)),
        domain=BALL,
    ),
    "epochs, shuffled": AllocatedRun(
        mechanism=LaplaceSum(scale=Public(2)),
        sampler=ShuffledBatches(batch_size=Public(5), data_size=Public(20)),
        domain=BALL,
        relation=REPLACE,
    ),
}
QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "pure": lambda run: run.pure(),
    "renyi": lambda run: run.renyi(4),
    "zero_concentrated": lambda run: run.zero_concentrated(),
    "gaussian": lambda run: run.gaussian(),
    "epsilon": lambda run: run.epsilon("1e-5"),
    "delta": lambda run: run.delta("1/2"),
    "trade_off": lambda run: run.trade_off(),
}
RISK: dict[str, Callable[[Any], Any]] = {
    "risk": certdp.risk,
    "point of the trade-off curve": lambda _: TruePositiveRateLimit(true_positive_rate=1, false_positive_rate="1/20"),
}
KINDS = {
    "pure": "composed-approximate",
    "renyi": "composed-renyi",
    "zero_concentrated": "composed-zero-concentrated",
    "gaussian": "composed-gaussian",
    "epsilon": "composed-approximate",
    "delta": "composed-approximate",
    "risk": "composed-risk",
    "point of the trade-off curve": "composed-risk",
}
REFUSED = {
    "target": "a certificate states its profile: profile_certificate(run)",
}
"""Runs of which no certificate of this kind speaks, and why."""
OF_ONE_RUN = {*KINDS, "trade_off"} - {"epsilon", "delta"}
"""Questions whose answers about the best of several runs no certificate states."""
NO_CERTIFICATE = {"trade_off": "a whole curve: its points are certified, as limits on true-positive rates"}


def test_every_question_to_a_run_is_asked_here() -> None:
    stated = ("Guarantee[", "Answer[", "TradeOff")
    found = {
        name
        for name, member in inspect.getmembers(Run, inspect.isfunction)
        if not name.startswith("_") and str(inspect.signature(member).return_annotation).strip("'").startswith(stated)
    }
    assert found == QUESTIONS.keys()
    assert KINDS.keys() | NO_CERTIFICATE.keys() == QUESTIONS.keys() | RISK.keys()
    assert set(CLAIMS) == set(KINDS.values())


@pytest.mark.parametrize("question", [*QUESTIONS, *RISK])
@pytest.mark.parametrize("name", RUNS)
def test_what_a_run_answers_is_certified_or_refused_by_name(name: str, question: str) -> None:
    run: Any = RUNS[name]
    try:
        answer = {**QUESTIONS, **RISK}[question](run)
    except NotionAbsent:
        return  # nothing is stated
    of_another_kind = (name == "keys" and question in RISK) or (
        name == "the best of several" and question in OF_ONE_RUN
    )
    if question in NO_CERTIFICATE or name in REFUSED or of_another_kind:
        with pytest.raises((CertdpError, TypeError)) as refusal:
            certdp.certificate(run, answer)
        assert str(refusal.value)
        return
    found = certdp.certificate(run, answer)
    assert json.loads(found.content)["kind"] == ("keyed-approximate" if name == "keys" else KINDS[question])
    assert check(found.content).accepted
    if "risk" not in KINDS[question] and name not in ("users", "keys"):
        pair = certdp.certificate(run, answer, group=2) if question != "renyi" else found
        assert check(pair.content).accepted


def test_every_kind_of_run_is_asked_here() -> None:
    """Many steps had no certificate, and an AttributeError in place of a reason."""

    def below(kind: type[Any]) -> set[type[Any]]:
        further: list[type[Any]] = kind.__subclasses__()
        return {kind, *(one for each in further for one in below(each))}

    import_all()
    kinds = {
        one.__qualname__  # of a class with slots its like without them may still be there
        for one in below(Run)
        if not inspect.isabstract(one) and one.__module__.startswith("certdp.")
    }
    assert kinds == {type(run).__qualname__ for run in RUNS.values()} | {StatedRun.__qualname__}


def test_a_run_of_another_tool_is_certified_as_its_plan() -> None:
    run = Gaussian(2).run()
    answer = run.epsilon("1e-5")
    with pytest.raises(InvalidValue, match=r"GaussianDpEvent.*certificate\(plan_of\(event, relation\), answer\)"):
        certdp.certificate(run, answer)  # type: ignore[arg-type]
    assert check(certdp.certificate(plan_of(Gaussian(2)), answer).content).accepted


def test_too_many_different_steps_are_refused_by_name() -> None:
    steps = GaussianSteps(rates=Public(np.linspace(0.1, 0.2, 10_001)), noise_multipliers=Public(8))
    with pytest.raises(InvalidValue, match=r"10,001 different steps.*at most 10,000"):
        certdp.certificate(steps, TruePositiveRateLimit(true_positive_rate=1, false_positive_rate=0))


def test_those_that_are_refused_have_the_certificate_that_is_named() -> None:
    target: Any = RUNS["target"]
    assert check(certdp.profile_certificate(target)).accepted


def test_every_notion_has_a_kind() -> None:
    from certdp import notions

    found = {value.name for value in vars(notions).values() if isinstance(value, Notion)}
    assert found == {"pure", "approximate", "Rényi", "zero-concentrated", "Gaussian"}


def test_every_limit_is_certified() -> None:
    def below(kind: type[Any]) -> set[type[Any]]:
        further: list[type[Any]] = kind.__subclasses__()
        return {kind, *(one for each in further for one in below(each))}

    limits = {one.__qualname__ for one in below(Limit) if one.__module__.startswith("certdp.")}
    known = (Limit, Budget, BoundLimit, RiskLimit, AdvantageLimit, TruePositiveRateLimit, BayesRiskLimit)
    assert limits == {one.__qualname__ for one in known}
    run: Any = RUNS["laplace"]
    for limit in (
        AdvantageLimit(advantage=1),
        TruePositiveRateLimit(true_positive_rate=1, false_positive_rate=0),
        BayesRiskLimit(risk=0, prior="1/2"),
    ):
        assert check(certdp.certificate(run, limit).content).accepted


STATED_LOSSES = {
    *("PureLoss", "LaplaceLoss", "GaussianLoss", "DiscreteLaplaceLoss", "DiscreteGaussianLoss"),
    *("DiscreteGaussianVectorLoss", "ZeroConcentratedLoss", "RenyiLoss", "FamilyLoss"),
}


def test_every_loss_is_stated_or_refused_by_name() -> None:
    found = {
        kind.__name__: kind for kind in vars(losses).values() if inspect.isclass(kind) and issubclass(kind, losses.Loss)
    }
    del found["Loss"]
    assert found.keys() == STATED_LOSSES
    for name, kind in found.items():
        stated = approximate.stated_losses.dispatch(kind) is not approximate.stated_losses.dispatch(losses.Loss)
        assert stated, name
    with pytest.raises(InvalidValue, match="FamilyLoss"):  # of a family of its own without a pure loss nothing is known
        approximate.stated_losses(losses.FamilyLoss(Constant(Fraction(1)), lambda end: LaplacePair(end)))
