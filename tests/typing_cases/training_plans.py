"""A training run's parameters are public: neither private values nor released ones, nor numbers of unknown origin."""

from fractions import Fraction
from typing import Any

from certdp.accounting.guarantees import Guarantee
from certdp.accounting.provenance import Private, Public, Released
from certdp.accounting.units import Delta, Epsilon, Order
from certdp.dpis.budget import DominatedAccounting, FixedClip, NoisySize, NormSums, PublicSize, RenyiAccounting, RunPlan
from certdp.dpis.run_account import EpochNoise, RunAccount, open_account
from certdp.dpis.sampling import Drawn
from certdp.runs.calibration import Budget


def plans(count: Private[int], estimate: Released[int], cost: Guarantee[Any, Any, Any]) -> RunPlan:
    PublicSize(size=count)  # E: mypy=arg-type pyright=reportArgumentType
    PublicSize(size=estimate)  # E: mypy=arg-type pyright=reportArgumentType
    PublicSize(size=60_000)  # E: mypy=arg-type pyright=reportArgumentType
    NoisySize(noise=Public(30), guess=count)  # E: mypy=arg-type pyright=reportArgumentType
    FixedClip(bound=1)  # E: mypy=arg-type pyright=reportArgumentType
    NormSums(noise_multiplier=Public("1200"), rate=0.5)  # E: mypy=arg-type pyright=reportArgumentType
    DominatedAccounting(rate=count)  # E: mypy=arg-type pyright=reportArgumentType
    RenyiAccounting(order=5)  # E: mypy=arg-type pyright=reportArgumentType
    RenyiAccounting(order=Order(5))
    return RunPlan(
        budget=Budget(epsilon=Epsilon(1), delta=Delta("1e-5")),
        batch=Public(256),
        epochs=3,
        steps_per_epoch=10,
        size=PublicSize(size=Public(60_000)),
        clip=FixedClip(bound=Public("0.1")),
        norm_sums=NormSums(noise_multiplier=Public(1200)),
    )


def runs(plan: RunPlan, drawn: Drawn) -> EpochNoise:
    account: RunAccount = open_account(plan)
    account.begin_epoch(drawn.expected, 1)  # E: mypy=arg-type pyright=reportArgumentType
    account.epsilon(Delta("1e-5"))  # E: mypy=attr-defined pyright=reportAttributeAccessIssue
    return account.begin_epoch(Fraction(60_000), Fraction(1))
