"""What was chosen on the way is no plan: accountants, order searches and plans refuse an adaptive run by its type."""

from certdp.accounting.accountants import LOSS_DISTRIBUTION, RENYI, WorstPairs
from certdp.accounting.conversions import best_order, renyi_to_approximate
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.filters import LossReading, PureFilter, RenyiFilter, Spent, ZeroConcentratedFilter
from certdp.accounting.guarantees import Guarantee, compose
from certdp.accounting.notions import Pure, Renyi, ZeroConcentrated
from certdp.accounting.provenance import Public
from certdp.accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record, Replace
from certdp.accounting.units import Delta, Order
from certdp.runs.adaptive import AdaptiveRun, DominatedRun
from certdp.runs.plan import Plan
from certdp.runs.sampled import SampledRun

one = Enclosure.of(1)
delta = Delta("1e-5")


def accountants(run: AdaptiveRun[ZeroConcentrated, AddRemove], plan: Plan, step: SampledRun) -> None:
    plan.epsilon(delta, accountant=RENYI)
    run.epsilon(delta)  # E: mypy=attr-defined pyright=reportAttributeAccessIssue
    run.epsilon(delta, accountant=LOSS_DISTRIBUTION)  # E: mypy=attr-defined pyright=reportAttributeAccessIssue
    run.renyi(Order(2))  # E: mypy=attr-defined pyright=reportAttributeAccessIssue
    RENYI.epsilon(run.pairs, one)  # E: mypy=attr-defined pyright=reportAttributeAccessIssue
    RENYI.epsilon(plan.pairs, one)
    RENYI.epsilon(run, one)  # E: mypy=arg-type pyright=reportArgumentType
    LOSS_DISTRIBUTION.epsilon(run, one)  # E: mypy=arg-type pyright=reportArgumentType
    best_order(run, one)  # E: mypy=arg-type pyright=reportArgumentType
    Plan([step, step])
    Plan([run])  # E: mypy=list-item pyright=reportArgumentType
    Plan([plan])  # E: mypy=list-item pyright=reportArgumentType
    DominatedRun(plan).epsilon(delta, accountant=LOSS_DISTRIBUTION)
    DominatedRun(run)  # E: mypy=arg-type pyright=reportArgumentType
    WorstPairs(run, ())  # E: mypy=arg-type pyright=reportArgumentType


def budgets(
    pure: Guarantee[Pure, AddRemove, Record],
    renyi: Guarantee[Renyi, AddRemove, Record],
    replacing: Guarantee[Pure, Replace, Record],
) -> None:
    account = PureFilter(Pure(one), relation=ADD_REMOVE, unit=RECORD)
    account.spend(pure)
    account.spend(renyi)  # E: mypy=arg-type pyright=reportArgumentType
    account.spend(replacing)  # E: mypy=arg-type pyright=reportArgumentType
    account.spend(Pure(one))  # E: mypy=arg-type pyright=reportArgumentType
    account.spend(1.0)  # E: mypy=arg-type pyright=reportArgumentType
    PureFilter(one, relation=ADD_REMOVE, unit=RECORD)  # E: mypy=arg-type pyright=reportArgumentType
    RenyiFilter(ZeroConcentrated(one), relation=ADD_REMOVE, unit=RECORD)  # E: mypy=arg-type pyright=reportArgumentType
    PureFilter(Pure(one), relation=ADD_REMOVE)  # E: mypy=call-arg pyright=reportCallIssue
    compose(account.guarantee, pure)
    compose(account.guarantee, replacing)  # E: mypy=misc pyright=reportArgumentType


def what_came(
    account: RenyiFilter[AddRemove, Record],
    spent: Spent[Renyi, AddRemove, Record],
    reading: LossReading[AddRemove, Record],
) -> None:
    renyi_to_approximate(account.guarantee, delta)
    renyi_to_approximate(spent, delta)  # E: mypy=arg-type pyright=reportArgumentType
    renyi_to_approximate(spent.total, delta)  # E: mypy=arg-type pyright=reportArgumentType
    compose(reading, account.guarantee)  # E: mypy=arg-type pyright=reportArgumentType
    renyi_to_approximate(account.spent, delta)  # E: mypy=arg-type pyright=reportArgumentType


def runs(account: ZeroConcentratedFilter[AddRemove, Record], step: SampledRun) -> None:
    run = AdaptiveRun(account)
    run.pay(step)
    run.pay(Public(step))  # E: mypy=arg-type pyright=reportArgumentType
    compose(run.guarantee, account.guarantee)
    renyi_to_approximate(run.guarantee, delta)  # E: mypy=arg-type pyright=reportArgumentType
    AdaptiveRun(ZeroConcentrated(one))  # E: mypy=call-overload pyright=reportArgumentType
