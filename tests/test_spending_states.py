"""One budget has one account: every class that holds spent budget, found by walking the package."""

from __future__ import annotations

import ast
import contextlib
import copy
import multiprocessing
import pickle
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from inspect import isabstract
from operator import attrgetter
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from attrs import frozen

from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType
from certdp.accounting.filters import (
    ApproximateFilter,
    BudgetExceeded,
    GaussianFilter,
    PureFilter,
    PureOdometer,
    RenyiFilter,
    RenyiOdometer,
    ZeroConcentratedFilter,
    odometers,
)
from certdp.accounting.filters.spending import SecondAccount, SpendingState
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.individual.filter import IndividualFilter
from certdp.accounting.individual.losses import IndividualLosses
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Approximate, Bound, GaussianDP, Pure, Renyi, ZeroConcentrated
from certdp.accounting.provenance import Public
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.releases import ResampleEach
from certdp.accounting.sampling.strategies import Participation, ToeplitzStrategy
from certdp.accounting.units import Delta, Order
from certdp.dpis import engine
from certdp.dpis.budget import DominatedAccounting
from certdp.dpis.dominated_payments import DominatedPayments
from certdp.dpis.filtered_payments import FilteredPayments
from certdp.dpis.models import LabelledData, Logistic, RecordModel
from certdp.dpis.optimisers import Sgd
from certdp.dpis.run_account import RunAccount, open_account, restored_account
from certdp.interoperation.opacus import CertifiedAccountant
from certdp.ledger import IndividualAccount, Ledger
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plugins.forks import can_fork, forked
from certdp.runs.adaptive import AdaptiveRun, DominatedRun
from certdp.runs.correlated import CorrelatedRun
from certdp.runs.correlated_steps import CorrelatedSteps
from certdp.runs.places import DrawnBatches, drawn_places
from certdp.runs.plan import Plan
from certdp.runs.sampled import SampledRun
from certdp.samplers.poisson import Poisson
from tests.support.modules import import_all
from tests.support.training_plans import training_plan

ROOT = Path(__file__).parents[1]
FOLDERS = ("accounting", "mechanisms", "plugins", "samplers", "src/certdp")

NO_BUDGET = {
    "searches, tables and walks of numbers that are not spent": {
        "accounting.accountants.best._Inquiry",
        "accounting.accountants.growing.GrowingEpsilon",
        "accounting.accountants.loss_distribution.LossDistributionProfile",
        "accounting.conversions.best_order._Search",
        "accounting.enclosures.roots._Search",
        "accounting.pairs.many_gaussian_steps.ManyGaussianSteps",
        "accounting.pairs.shuffled._FairTails",
        "src.certdp.runs.run._DeltaLaw",
        "accounting.keyed.reporting.keys._KeyWalk",
        "accounting.keyed.reporting.tables.RowLaws",
        "accounting.keyed.reporting.tables._RowWalk",
        "accounting.individual.log_moments.LogMoments",
        "accounting.individual.log_moments.RateTable",
        "accounting.individual.nodes.NodeTable",
        "accounting.loss_distribution.growing.Growing",
        "accounting.loss_distribution.interpolated_steps.InterpolatedTransform",
        "accounting.loss_distribution.lattice_sums._Tally",
        "accounting.loss_distribution.profile._Side",
        "accounting.sampling.every_value.AnyValue",
        "accounting.sampling.records.Features",
        "accounting.expressions.suprema._Search",
        "src.certdp.runs.calibration._Search",
    },
    "what was paid from a ledger, which holds the account and knows each id": {
        "src.certdp.ledger.ledger.Ledger",
        "src.certdp.ledger.paying.LedgerRequest",
    },
    "coins: words are drawn, and of the operating system's none comes twice": {
        "accounting.draws.exact.LazyNumber",
        "plugins.contract.exact_draws.ExactDraws",
        "src.certdp.dpis.counted_coins.CountedSource",
        "src.certdp.dpis.step_sums._SecondStage",
    },
    "what a run has released or learnt, which post-processing may use as often as it likes": {
        "src.certdp.clustering.DPKMeans",
        "src.certdp.dpis.history.History",
        "src.certdp.dpis.models.record_model.RecordModel",
        "src.certdp.dpis.optimisers._Adam",
        "src.certdp.dpis.optimisers._Sgd",
        "src.certdp.dpis.step_sums.ImportanceSampling",
        "src.certdp.dpis.torch.recorded_calls.Recorder",
    },
    "what is compiled once, and the same whoever asked for it": {
        "accounting._kernels.compile.Kernel",
    },
    "what reads and writes an account in one transaction of a database, which alone holds it": {
        "src.certdp.ledger.turns.Turn",
        "src.certdp.ledger.replay._Book",
    },
    "which file of a database is open: that file holds the account": {
        "src.certdp.ledger.sqlite_store.SqliteStore",
    },
    "readers, writers and tallies of one pass": {
        "plugins.conformance.mechanism_releases._Searches",
        "src.certdp.commands.groups._Loaded",
        "src.certdp.experiments.training_runs.Ledger",
        "src.certdp.durable.files._Draft",
        "src.certdp.interoperation.dp_events._Reader",
        "src.certdp.weighted_sampling.keys.Distinct",
        "src.certdp.weighted_sampling.report.BandTally",
    },
}
"""Classes that change and spend nothing: a new one that changes itself is put here, or made a `SpendingState`."""


def _own_attribute(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="self")):
            return True
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
            return _own_attribute(inner)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return any(map(_own_attribute, elements))
    return False


def _changes_itself(found: ast.ClassDef) -> bool:
    for method in found.body:
        if isinstance(method, ast.FunctionDef) and method.name != "__init__":
            for node in ast.walk(method):
                match node:
                    case ast.Assign(targets=targets) if any(map(_own_attribute, targets)):
                        return True
                    case ast.AugAssign(target=target) | ast.AnnAssign(target=target) if _own_attribute(target):
                        return True
    return False


def changing() -> Iterator[str]:
    """Dotted names of the classes whose methods change their objects."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            module = path.relative_to(ROOT).with_suffix("")
            if module.parts[:2] == ("src", "certdp") and (ROOT / module.parts[2]).is_dir() and folder == "src/certdp":
                continue  # the same folder under the face
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef) and _changes_itself(node):
                    yield ".".join([*module.parts, node.name])


def spending_classes() -> set[type[SpendingState]]:
    """All classes of the package that hold spent budget, but for abstract ones."""
    import_all()
    found, todo = set[type[SpendingState]](), [SpendingState]
    while todo:
        below = todo.pop().__subclasses__()
        todo += below
        found |= {kind for kind in below if kind.__module__.startswith("certdp.") and not isabstract(kind)}
    return found


# One account of each kind


def cost(bound: Bound) -> Guarantee[Any, Any, Any]:
    return Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=Theorem("test", "cost").conclude())


def number(amount: Any) -> Enclosure:
    return Enclosure.of(amount)


BALL = NormBall(norm=Norm.L1, radius=Public(1))


def laplace(steps: int = 1) -> SampledRun:
    return SampledRun(
        mechanism=LaplaceSum(scale=Public(8)),
        sampler=Poisson(rate=Public(1)),
        releases=ResampleEach(steps),
        domain=BALL,
    )


RENYI = training_plan(steps_per_epoch=3)
DOMINATED = training_plan(steps_per_epoch=3, accounting=DominatedAccounting(rate=Public("1/2")))
EITHER: Mapping[str, Any] = {"relation": ADD_REMOVE, "unit": RECORD}


def _records() -> RecordModel:
    data = LabelledData(features=np.eye(4), labels=np.array([0, 1, 0, 1]))
    return RecordModel(Logistic(features=4, classes=2), data, Sgd(rate=1.0))


def _run() -> engine._Run:
    return engine._Run(_records(), open_account(RENYI), None, None, None, None)


def _begun() -> RunAccount:
    account = open_account(RENYI)
    account.begin_epoch(account.pay_norm_sum(0, 1).most, 1)
    return account


def _stored() -> IndividualAccount:
    folder = Path(tempfile.mkdtemp())
    rule = RenyiFilter(Renyi(Fraction(2), number(1)), **EITHER)
    ledger = Ledger.create(folder / "a.ledger", rule, data="people")
    IndividualAccount.create(folder / "accounts", ["a", "b", "c"], ledger, "run", order=2, budget=1)
    return IndividualAccount(folder / "accounts", ledger, "run")


@frozen
class Kind:
    """How to make an account, what spends from it or asks what was spent, and what says the same at any time."""

    make: Callable[[], Any]
    asks: Mapping[str, Callable[[Any], Any]]
    says: frozenset[str] = frozenset()


def _attributes(*names: str) -> dict[str, Callable[[Any], Any]]:
    return {name: attrgetter(name) for name in names}


def a_filter(make: Callable[[], Any], paid: Bound) -> Kind:
    return Kind(
        make,
        {
            **_attributes("number", "spent"),
            "spend": lambda account: account.spend(cost(paid)),
            "would_exceed": lambda account: account.would_exceed(cost(paid)),
            "remaining": lambda account: account.remaining(),
            "state": lambda account: account.state(),
        },
        frozenset({"budget", "relation", "unit", "domain", "guarantee", "theorem", "cost_of", "approximate"})
        | frozenset({"rule", "from_rule", "from_state", "guarantee_of"})
        | frozenset(
            {"start", "read_sums", "after", "exceeded", "share", "total", "left"}
        ),  # about another account, stored elsewhere
    )


_PAYMENTS: dict[str, Callable[[Any], Any]] = {
    "size": lambda account: account.size(),
    "norm_sum": lambda account: account.norm_sum(0),
    "clip": lambda account: account.clip(0),
    "noise_multiplier": lambda account: account.noise_multiplier(0, Fraction(400), Fraction(400)),
    "steps": lambda account: account.steps(0, _begun().current.step, 1),  # type: ignore[union-attr]
    "spent": lambda account: account.spent(),
    "certificate": lambda account: account.certificate([], None),
}

KINDS: dict[type[SpendingState], Kind] = {
    PureFilter: a_filter(lambda: PureFilter(Pure(number(1)), **EITHER), Pure(number(1))),
    ZeroConcentratedFilter: a_filter(
        lambda: ZeroConcentratedFilter(ZeroConcentrated(number(1)), **EITHER), ZeroConcentrated(number(1))
    ),
    RenyiFilter: a_filter(lambda: RenyiFilter(Renyi(Fraction(2), number(1)), **EITHER), Renyi(Fraction(2), number(1))),
    GaussianFilter: a_filter(lambda: GaussianFilter(GaussianDP(number(1)), **EITHER), GaussianDP(number(1))),
    ApproximateFilter: Kind(
        (
            approximate := a_filter(
                lambda: ApproximateFilter(Approximate(number(1), number("1e-3")), at=Delta("1e-4"), **EITHER),
                Approximate(number("1/9"), number("1e-4")),
            )
        ).make,
        approximate.asks,
        approximate.says | {"at", "most_rho", "set_aside"},
    ),
    PureOdometer: Kind(
        lambda: PureOdometer(**EITHER),
        {**_attributes("reading"), "charge": lambda account: account.charge(cost(Pure(number(1))))},
    ),
    RenyiOdometer: Kind(
        lambda: RenyiOdometer([Order(2)], Delta("1e-3"), **EITHER),
        {
            **_attributes("reading"),
            "charge": lambda account: account.charge(cost(Renyi(Fraction(2), number(1)))),
            "charge_line": lambda account: account.charge_line(cost(ZeroConcentrated(number(1)))),
        },
        frozenset({"orders", "delta"}),
    ),
    odometers._Account: Kind(
        lambda: odometers._Account(ADD_REMOVE, RECORD, None, 1),
        {
            "add": lambda account: account.add([number(1)], []),
            "reading": lambda account: account.reading(lambda totals: totals[0], number(0), Theorem("test", "one")),
        },
        frozenset({"relation", "unit", "domain", "check"}),
    ),
    IndividualFilter: Kind(
        lambda: IndividualFilter(Order(2), 1, 3),
        {
            **_attributes("active", "spent", "totals"),
            "step": lambda account: account.step(0.5, 1.0),
            "admit": lambda account: account.admit([1.0, 0.5, 0.0]),
        },
        frozenset({"bound", "guarantee", "resumed"}),
    ),
    IndividualAccount: Kind(
        _stored,
        {
            **_attributes("active", "spent", "steps"),
            "step": lambda account: account.step(0.5, 1.0),
            "admit": lambda account: account.admit([1.0, 0.5, 0.0]),
        },
        frozenset({"guarantee", "units", "create"}),
    ),
    IndividualLosses: Kind(
        lambda: IndividualLosses(3),
        {
            "step": lambda account: account.step(0.5, 1.0, given=Public(None)),
            "renyi": lambda account: account.renyi(Order(2)),
            "epsilon": lambda account: account.epsilon(Delta("1e-5")),
        },
        frozenset({"orders"}),
    ),
    AdaptiveRun: Kind(
        lambda: AdaptiveRun(PureFilter(Pure(number(1)), domain=BALL, **EITHER)),
        {
            "pay": lambda account: account.pay(laplace()),
            "release": lambda account: account.release(laplace(), np.eye(2)),
            "would_exceed": lambda account: account.would_exceed(laplace()),
        },
        frozenset({"filter", "ledger", "guarantee", "cost", "chosen"}),
    ),
    DominatedRun: Kind(
        lambda: DominatedRun(Plan([laplace(2), laplace()])),
        {
            "use": lambda account: account.use(laplace()),
            "release": lambda account: account.release(laplace(), np.eye(2)),
            "skip": lambda account: account.skip(),
        },
        frozenset({"plan", "epsilon", "delta", "chosen"}),
    ),
    FilteredPayments: Kind(
        lambda: FilteredPayments(RENYI, Order(4)),
        _PAYMENTS,
        frozenset({"plan", "order", "total", "guarantee", "choice"}),
    ),
    DominatedPayments: Kind(
        lambda: DominatedPayments(DOMINATED, Fraction(1, 2)),
        _PAYMENTS,
        frozenset({"plan", "base", "guarantee", "choice"}),
    ),
    RunAccount: Kind(
        _begun,
        {
            **_attributes("size", "size_known", "size_paid", "next_epoch", "begun", "current", "steps_paid"),
            "pay_size": lambda account: account.pay_size(),
            "size_released": lambda account: account.size_released(400),
            "norm_sum_paid": lambda account: account.norm_sum_paid(0),
            "pay_norm_sum": lambda account: account.pay_norm_sum(1, 1),
            "begin_epoch": lambda account: account.begin_epoch(400, 1),
            "pay_steps": lambda account: account.pay_steps(),
            "clip_paid": lambda account: account.clip_paid(0),
            "pay_clip": lambda account: account.pay_clip(),
            "spent": lambda account: account.spent(),
            "state": lambda account: account.state(),
            "certificate": lambda account: account.certificate(parameters="foreseen"),
        },
        frozenset({"plan", "guarantee", "drawn_with_a_seed", "drawn_correctly_rounded"}),
    ),
    engine._Run: Kind(_run, {"finished": lambda run: run.finished()}, frozenset({"go_back_to", "pay", "go_on"})),
    CertifiedAccountant: Kind(
        CertifiedAccountant,
        {
            **_attributes("history", "event", "run"),
            "step": lambda account: account.step(noise_multiplier=1.0, sample_rate=0.5),
            "get_epsilon": lambda account: account.get_epsilon(1e-5),
            "get_epsilon_interval": lambda account: account.get_epsilon_interval(1e-5),
            "answer": lambda account: account.answer(Delta("1e-5")),
            "state_dict": lambda account: account.state_dict(),
            "load_state_dict": lambda account: account.load_state_dict({"history": [], "mechanism": "certdp"}),
        },
        frozenset({"mechanism", "get_optimizer_hook_fn"}),
    ),
}
KINDS[CorrelatedSteps] = Kind(
    lambda: CorrelatedRun(
        mechanism=GaussianSum(noise_multiplier=Public(1)),
        strategy=ToeplitzStrategy([1, 0.5], 4),
        participation=Participation(times=1, apart=1),
        domain=NormBall(norm=Norm.L2, radius=Public(1)),
    ).begin(1),
    {**_attributes("step"), "add": lambda steps: steps.add([[1.0]], ["a"])},
)
KINDS[DrawnBatches] = Kind(lambda: drawn_places(laplace(), 2), {"__iter__": lambda batches: next(iter(batches))})
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@pytest.mark.slow
def test_every_class_that_changes_is_known_to_spend_or_not() -> None:
    kinds: list[type] = [SpendingState, *SpendingState.__subclasses__(), *KINDS]
    spending = {f"{kind.__module__}.{kind.__name__}" for kind in kinds}
    known = {name.removeprefix("certdp.") for name in spending}
    for name in changing():
        inside = name.removeprefix("src.certdp.")
        assert inside in known or any(name in names for names in NO_BUDGET.values()), name
    assert set().union(*NO_BUDGET.values()) <= set(changing())


def test_every_spending_class_is_in_the_table() -> None:
    assert spending_classes() == set(KINDS)


@every_kind
def test_every_public_member_asks_or_says(kind: type[SpendingState]) -> None:
    made, row = KINDS[kind].make(), KINDS[kind]
    public = {name for name in [*dir(kind), *vars(made)] if not name.startswith("_")}
    public |= {"__iter__"} & vars(kind).keys()  # going through it hands out what was paid for
    assert public == set(row.asks) | (row.says & public)


@every_kind
@pytest.mark.parametrize(
    "again",
    [
        copy.copy,
        copy.deepcopy,
        *(lambda made, n=n: pickle.dumps(made, n) for n in range(6)),
        lambda made: made.__replace__(),
    ],
    ids=["copy", "deepcopy", *(f"pickle {n}" for n in range(6)), "replace"],
)
def test_no_second_account(kind: type[SpendingState], again: Callable[[Any], Any]) -> None:
    with pytest.raises(SecondAccount, match="checkpoints") as caught:
        again(KINDS[kind].make())
    assert isinstance(caught.value, TypeError)
    assert not attrs.has(kind)  # so that attrs.evolve has nothing to go by


@every_kind
def test_what_it_was_made_with_stays(kind: type[SpendingState]) -> None:
    made = KINDS[kind].make()
    for name in vars(made):
        if not name.startswith("_"):
            with pytest.raises(InvalidType, match="Make another account"):
                setattr(made, name, None)


def _outcomes(made: Any, asks: Mapping[str, Callable[[Any], Any]], into: Any) -> None:
    outcomes = {}
    for name, ask in asks.items():
        try:
            outcomes[name] = f"answered {ask(made)!r}"
        except Exception as error:
            outcomes[name] = type(error).__name__
    into.send((outcomes, repr(made)))


@pytest.mark.skipif(not can_fork(), reason="no forks here")
@every_kind
def test_a_forked_process_neither_spends_nor_asks(kind: type[SpendingState]) -> None:
    made, asks = KINDS[kind].make(), KINDS[kind].asks
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = forked(_outcomes, made, asks, sender)
    outcomes, shown = receiver.recv() if receiver.poll(60) else ({}, "")
    child.join()
    assert outcomes == dict.fromkeys(asks, "SecondAccount")
    assert kind.__name__ in shown


@pytest.mark.skipif(not can_fork(), reason="no forks here")
def test_a_fork_while_a_thread_spends_is_refused_and_does_not_hang() -> None:
    made = KINDS[PureFilter].make()
    receiver, sender = multiprocessing.Pipe(duplex=False)
    with made._own():
        other = threading.Thread(target=lambda: forked(_outcomes, made, KINDS[PureFilter].asks, sender).join())
        other.start()
        outcomes, _ = receiver.recv() if receiver.poll(60) else ({}, "")
        other.join()
    assert set(outcomes.values()) == {"SecondAccount"}


def test_threads_cannot_both_spend_the_last_of_a_budget() -> None:
    account = PureFilter(Pure(number(10)), **EITHER)
    start, refused = threading.Barrier(8), []

    def spend() -> None:
        start.wait()
        for _ in range(5):
            try:
                account.spend(cost(Pure(number(1))))
            except BudgetExceeded:
                refused.append(1)

    _together(spend, 8)
    assert account.number == 10
    assert len(refused) == 30
    assert account.spent.epsilon.upper == 10


def test_threads_cannot_pay_a_release_twice() -> None:
    account, start, paid = open_account(RENYI), threading.Barrier(8), []

    def pay() -> None:
        start.wait()
        with contextlib.suppress(BudgetExceeded):
            paid.append(account.pay_norm_sum(0, 1))

    _together(pay, 8)
    assert len(paid) == 1


def _together(work: Callable[[], None], count: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_run_goes_on_elsewhere_from_its_state() -> None:
    account = _begun()
    account.pay_steps(2)
    again = restored_account(RENYI, pickle.loads(pickle.dumps(account.state())))
    assert again.spent() == account.spent() > 0
    assert again.steps_paid == 2
