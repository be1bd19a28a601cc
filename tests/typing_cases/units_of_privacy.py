"""Whom a run protects is part of its type: elements, records and users do not mix."""

from certdp.accounting.guarantees import Guarantee, compose
from certdp.accounting.notions import Approximate
from certdp.accounting.relations import ELEMENT, AddRemove, Change, Element, Record, User
from certdp.accounting.units import Delta, Epsilon
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.mechanisms.pws_keys import PwsKeys
from certdp.runs.adaptive import AdaptiveRun, DominatedRun
from certdp.runs.keyed import KeyedRun
from certdp.runs.plan import Plan
from certdp.runs.run import Answer, Run
from certdp.runs.sampled import SampledRun
from certdp.samplers.full import Full
from certdp.samplers.ppswor import Ppswor

delta = Delta("1e-5")


def parts(mechanism: LaplaceSum, sanitiser: PwsKeys, full: Full, ppswor: Ppswor) -> None:
    records = SampledRun(mechanism=mechanism, sampler=full)
    elements = SampledRun(mechanism=mechanism, sampler=full, unit=ELEMENT)
    keys = KeyedRun(mechanism=sanitiser, sampler=ppswor)
    SampledRun(mechanism=mechanism, sampler=full, unit=User(contributions=1)).unit.contributions
    KeyedRun(mechanism=mechanism, sampler=ppswor)  # E: mypy=arg-type pyright=reportArgumentType
    KeyedRun(mechanism=sanitiser, sampler=full)  # E: mypy=arg-type pyright=reportArgumentType
    SampledRun(mechanism=sanitiser, sampler=full)  # E: mypy=arg-type pyright=reportArgumentType
    SampledRun(mechanism=mechanism, sampler=ppswor)  # E: mypy=arg-type pyright=reportArgumentType
    both: Plan[Element] = Plan([elements, keys])
    alone: Plan = Plan([records])
    wrong: Plan[Record] = Plan([keys])  # E: mypy=list-item pyright=reportAssignmentType
    Plan([records, keys])  # E: mypy=list-item pyright=reportArgumentType
    DominatedRun(alone)
    DominatedRun(both)  # E: mypy=arg-type pyright=reportArgumentType


def what_they_cost(
    keys: KeyedRun, plan: Plan[Element], records: SampledRun, run: AdaptiveRun[Approximate, AddRemove]
) -> None:
    mine: Guarantee[Approximate, AddRemove, Element] = keys.guarantee()
    users: Guarantee[Approximate, AddRemove, User] = keys.guarantee_for_users(3)
    answer: Answer[Element] = plan.epsilon(delta)
    other: Answer = plan.epsilon(delta)  # E: mypy=assignment pyright=reportAssignmentType
    general: Guarantee[Approximate, Change, Element] = answer.guarantee
    compose(mine, mine)
    compose(general, keys.delta(Epsilon(1)).guarantee)
    compose(mine, users)  # E: mypy=misc pyright=reportArgumentType
    compose(general, records.delta(Epsilon(1)).guarantee)  # E: mypy=misc pyright=reportArgumentType
    keys.guarantee_for_users(delta)  # E: mypy=arg-type pyright=reportArgumentType
    run.pay(records)
    run.pay(keys)  # E: mypy=arg-type pyright=reportArgumentType
    run.pay(plan)  # E: mypy=arg-type pyright=reportArgumentType


def anything(run: Run[Element], other: Run) -> None:
    run.unit.name
    unit: Record = other.unit
