"""Certificates of training runs: they state what was released, claim the budget alone, and hold."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from attrs import evolve

from certdp import Delta, Epsilon, Order, Plan, Public, check
from certdp.accounting.errors import InvalidValue
from certdp.dpis.budget import (
    DominatedAccounting,
    FixedClip,
    NoisySize,
    NormSums,
    PublicSize,
    RenyiAccounting,
    RunPlan,
)
from certdp.dpis.engine import Trained, train
from certdp.dpis.forecast import dp_sgd, forecast
from certdp.dpis.models import LabelledData, Logistic, RecordModel
from certdp.dpis.optimisers import Sgd
from certdp.dpis.payments import gaussian_releases
from certdp.dpis.run_account import RunAccount, open_account, restored_account
from certdp.plugins.contract import Coins
from certdp.runs.calibration import Budget
from certdp.runs.certificates import certified_filtered
from certdp.verification.certificates.writing import sealed
from tests.support.forgeries import Body, body_of
from tests.support.training_plans import adaptive_clip

Releases = Counter[tuple[Fraction, Fraction]]
"""How many there were, by rate and shift."""

PLAN = RunPlan(
    budget=Budget(epsilon=Epsilon("1.5"), delta=Delta("1e-5")),
    batch=Public(20),
    epochs=3,
    steps_per_epoch=6,
    size=NoisySize(noise=Public(30), guess=Public(1000)),
    clip=adaptive_clip(start=1, external=4, quantile="0.5", noise_multiplier=50, lowest="0.1", highest=3),
    norm_sums=NormSums(noise_multiplier=Public(400), rate=Public("0.1")),
)
DECLARED = evolve(PLAN, accounting=DominatedAccounting(rate=Public("0.1")))
SHARES = (Fraction(9, 10), Fraction(2, 5), Fraction(1, 4))


def certificate(account: RunAccount) -> bytes:
    return account.certificate(parameters="as released by the run").content


def a_run(account: RunAccount, *, shares: tuple[Fraction, ...] = SHARES, last_steps: int = 6) -> Releases:
    """Go through a run; what was released, from the outputs alone."""
    released: Releases = Counter()
    account.pay_size()
    account.size_released(Fraction(2007, 2))
    released[Fraction(1), Fraction(1, 30)] += 1
    clip = Fraction(1)
    for epoch, share in enumerate(shares):
        norm_sum = account.pay_norm_sum(epoch, clip).bounded(share * account.size * clip)
        released[Fraction(1, 10), Fraction(1, 40)] += 1
        noise = account.begin_epoch(norm_sum, clip)
        last = epoch == len(shares) - 1
        for _ in range(last_steps if last else 6):
            account.pay_steps()
            length = norm_sum / account.size
            released[20 * clip / norm_sum, length / (noise.noise_multiplier * clip)] += 1
        if not last:
            clip = account.pay_clip().following(Fraction(1500 + epoch))
            released[Fraction(1), Fraction(1, 50)] += 1
    return released


def stated(body: Body) -> Releases:
    """The releases that a certificate states."""
    found: Releases = Counter()
    for part in body["parts"]:
        assert part["mechanism"]["name"] == "gaussian-sum"
        assert (part["sampler"]["name"], part["resample"]) == ("poisson", "each")
        rate, noise = part["sampler"]["options"]["rate"], part["mechanism"]["options"]["noise_multiplier"]
        found[Fraction(rate), 1 / Fraction(noise)] += part["steps"]
    return found


def assumed(body: Body) -> dict[str, str]:
    return {item["name"]: item["value"] for item in body["assumptions"]}


class Ran(NamedTuple):
    account: RunAccount
    released: Releases
    content: bytes


@pytest.fixture(scope="module")
def ran() -> Ran:
    """A run that used up its budget."""
    account = open_account(PLAN)
    released = a_run(account)
    return Ran(account, released, certificate(account))


@pytest.mark.slow
def test_the_certificate_of_a_run_states_its_releases_and_claims_the_budget(ran: Ran) -> None:
    assert check(ran.content).outcome.value == "holds"
    body = body_of(ran.content)
    assert stated(body) == ran.released
    assert (body["claim"]["epsilon"], body["claim"]["delta"]) == ("3/2", "1/100000")
    assert body["method"]["name"] == "renyi-filter"
    assert body["method"]["order"] == ran.account.state()["choice"]["order"]
    assert {"parameters of later releases", "gradient norms", "real-valued noise"} <= assumed(body).keys()
    assert assumed(body)["parameters"] == "as released by the run"


@pytest.mark.slow
def test_a_resumed_run_has_the_same_certificate(ran: Ran) -> None:
    assert certificate(restored_account(PLAN, json.loads(json.dumps(ran.account.state())))) == ran.content


def test_a_run_that_paid_less_claims_no_less() -> None:
    """How much a run pays may be an output: a claim fitted to it afterwards would prove nothing."""
    account = open_account(PLAN)
    released = a_run(account, shares=SHARES[:1], last_steps=1)
    body = body_of(certificate(account))
    assert account.spent() < 1
    assert stated(body) == released
    assert body["claim"]["epsilon"] == "3/2"


FORGERIES: dict[str, Callable[[Body], Body]] = {
    "a smaller epsilon": lambda body: body | {"claim": body["claim"] | {"epsilon": "149/100"}},
    "no filter assumed": lambda body: (
        body | {"assumptions": [a for a in body["assumptions"] if a["name"] != "parameters of later releases"]}
    ),
    "other words": lambda body: (
        body
        | {"assumptions": [a | {"value": a["value"].replace("before the run", "later")} for a in body["assumptions"]]}
    ),
    "a run fixed beforehand": lambda body: body | {"method": body["method"] | {"name": "renyi"}},
}


@pytest.mark.parametrize("forged", FORGERIES)
def test_without_the_budget_or_the_filter_it_is_refused(ran: Ran, forged: str) -> None:
    body = body_of(ran.content)
    assert not check(sealed(FORGERIES[forged](body))).accepted


@pytest.mark.slow
def test_a_dominated_run_certifies_what_was_declared_whatever_came() -> None:
    account, idle = open_account(DECLARED), open_account(DECLARED)
    a_run(account)
    content = certificate(account)
    assert certificate(idle) == content
    assert check(content).outcome.value == "holds"
    body = body_of(content)
    rate, shift = Fraction(1, 10), 1 / Fraction(account.state()["choice"]["noise_multiplier"])
    fixed = {(Fraction(1), Fraction(1, 30)): 1, (rate, Fraction(1, 40)): 3, (Fraction(1), Fraction(1, 50)): 2}
    assert stated(body) == {**fixed, (rate, shift): 18}
    assert Fraction(3, 2) <= Fraction(body["claim"]["epsilon"]) <= Fraction(3, 2) * (1 + Fraction(1, 10**6))
    assert body["claim"]["delta"] == "1/100000"
    assert "dominated" in assumed(body)["releases of the run"]


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "order"), [("0.3", None), ("8", Order("9/4"))])
def test_forecasts_use_all_of_the_budget_and_are_certified(epsilon: str, order: Order | None) -> None:
    budget = Budget(epsilon=Epsilon(epsilon), delta=Delta("1e-6"))
    plan = evolve(PLAN, budget=budget, accounting=RenyiAccounting(order=order), size=PublicSize(size=Public(1000)))
    plan = evolve(plan, clip=FixedClip(bound=Public(1)), norm_sums=NormSums(noise_multiplier=Public(400)))
    for foreseen in (forecast(plan, SHARES), forecast(dp_sgd(plan))):
        found = foreseen.certificate()
        assert (found.epsilon, found.delta) == (Fraction(epsilon), Fraction("1e-6"))
        body = body_of(found.content)
        assert assumed(body)["parameters"] == "as foreseen, before any run"
        assert assumed(body)["number of records is public"] == "1000"
        body["claim"]["epsilon"] = str(found.epsilon * (1 - Fraction(1, 10**4)))
        assert not check(sealed(body)).accepted


@pytest.mark.slow
def test_what_cannot_be_certified_is_refused() -> None:
    with pytest.raises(InvalidValue, match="no release"):
        certificate(open_account(PLAN))
    run = Plan([gaussian_releases(Fraction(1), Fraction(1, 10 + k), 1) for k in range(3)])
    with pytest.raises(InvalidValue, match="within its budget"):
        certified_filtered(run, Fraction(4), PLAN.budget, ())


@pytest.mark.slow
def test_epochs_of_more_than_64_kinds_are_certified() -> None:
    run = Plan([gaussian_releases(Fraction(1, 10 + k), Fraction(200), 1) for k in range(70)])
    found = certified_filtered(run, Fraction(4), PLAN.budget, ())
    assert found.method == "renyi-filter"
    assert (found.epsilon, found.delta) == (PLAN.budget.epsilon.value, PLAN.budget.delta.value)
    assert len(body_of(found.content)["parts"]) == 70


@pytest.mark.slow
def test_a_trained_model_has_a_certificate_where_its_coins_are_private() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 300)
    data = LabelledData(features=random.standard_normal((300, 2)) + labels[:, np.newaxis], labels=labels)
    plan = evolve(PLAN, epochs=2, size=NoisySize(noise=Public(30), guess=Public(300)))

    def model() -> RecordModel:
        return RecordModel(Logistic(features=2, classes=2), data, Sgd(rate=0.5))

    trained = train(model(), plan)
    found = trained.certificate()
    assert check(found.content).accepted
    body = body_of(found.content)
    assert "options fixed beforehand" in assumed(body)
    assert not {"records apart", "contributions independent of the batch", "real-valued noise"} & assumed(body).keys()
    rates = {float(Fraction(part["sampler"]["options"]["rate"])) for part in body["parts"]}
    assert set(trained.history.columns()["rate"]) <= rates
    seeded = train(model(), plan, coins=Coins.seeded(1))
    with pytest.raises(InvalidValue, match="seeded"):
        seeded.certificate()


def trained_briefly(coins: Coins | None = None) -> Trained:
    data = LabelledData(features=np.linspace([-1.0], [1.0], 1000), labels=np.arange(1000) // 500)
    return train(RecordModel(Logistic(features=1, classes=2), data, Sgd(rate=0.5)), PLAN, coins=coins)


def test_a_trained_model_is_published_with_its_statement_and_its_own_certificate(tmp_path: Path) -> None:
    first, second = trained_briefly(), trained_briefly()
    first.write(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as read:
        assert read.files == ["parameters"]
        assert np.array_equal(read["parameters"], first.model.parameters)
    said = json.loads(json.dumps(first.statement.as_json))
    assert said["digest"] == "sha256:" + hashlib.sha256((tmp_path / "model.npz").read_bytes()).hexdigest()
    assert said["digest"] != second.statement.digest
    assert (said["method"], said["coins"], said["plan"]["norm-noise"]) == ("dpis", "operating system", "400")
    assert said["guarantee"]["epsilon"] <= 1.5
    assert {one["name"] for one in said["guarantee"]["assumptions"]} >= {"options fixed beforehand"}
    for unit, epoch in zip(said["grids"], said["epochs"], strict=True):
        units = epoch["noise_multiplier"] * epoch["clip"] / Fraction(unit)
        assert 2**36 * (1 - 1e-9) <= units <= 2**37 * (1 + 1e-9)
    bound = json.loads(first.certificate("model.npz").content)["artefacts"]
    assert bound == {"coins": "operating system", "files": {"model.npz": said["digest"]}}
    assert check(first.certificate("model.npz").content).accepted
    assert "artefacts" not in json.loads(first.certificate().content)
    with pytest.raises(InvalidValue, match="artefacts"):
        first.certificate("folder/model.npz")


def test_a_seeded_model_is_stated_without_a_guarantee() -> None:
    seeded = trained_briefly(Coins.seeded(1))
    assert (seeded.statement.coins, seeded.statement.as_json["guarantee"]) == ("seeded", None)
    with pytest.raises(InvalidValue, match="seeded coins"):
        seeded.certificate("model.npz")
