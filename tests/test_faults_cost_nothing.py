"""Nothing is paid before all that can be refused was looked at: whatever takes a ledger or charges an account, found
by walking the package, is asked with a fault in the last row or the last parameter, after which the account is as it
was.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from certdp import ADD_REMOVE, ELEMENT, RECORD, Coins, Ledger, Public
from certdp import queries as q
from certdp.accounting.errors import CertdpError, InvalidType, OutsideDomain
from certdp.accounting.filters import ApproximateFilter, PureFilter, RenyiFilter
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Approximate, Pure, Renyi
from certdp.accounting.sampling.domains import NormBall
from certdp.data import open_records
from certdp.dpis.engine import train
from certdp.dpis.models import LabelledData, Logistic, RecordModel
from certdp.dpis.optimisers import Sgd
from certdp.ledger import IndividualAccount, LedgerRequest, PaidFrom, request_of
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.runs.adaptive import AdaptiveRun
from certdp.runs.sampled import SampledRun
from certdp.samplers.every_key import EveryKey
from certdp.samplers.full import Full
from certdp.samplers.listed_rates import ListedRates
from certdp.samplers.ppswor import Ppswor
from certdp.weighted_sampling import KeyCounts, open_counts
from certdp.weighted_sampling.release import PrivateWeightedSampling
from certdp.weighted_sampling.threshold_samples import ThresholdSample, threshold_sample
from tests.support.ledgers import cost, number
from tests.support.modules import import_all
from tests.support.training_plans import training_plan

Paying = Callable[[Any], object]
POINTS = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 2))
BALL = NormBall(norm=Norm.L2, radius=Public(1), dimension=2)
L1 = NormBall(norm=Norm.L1, radius=Public(1))
COUNTS = {f"k{n}": 1 + n % 20 for n in range(300)}
BEYOND = 2**53 + 1


def pure(domain: Any = None) -> Any:
    return PureFilter(Pure(number(10**20)), relation=ADD_REMOVE, unit=RECORD, domain=domain)


def approximate(unit: Any = RECORD) -> Any:
    return ApproximateFilter(Approximate(number(100), number("0.1")), relation=ADD_REMOVE, unit=unit)


def renyi() -> Any:
    return RenyiFilter(Renyi(Fraction(8), number(100)), relation=ADD_REMOVE, unit=RECORD)


@frozen
class Row:
    """What charges an account.

    Attributes:
        rule: the filter of the account.
        pays: charges it, which shows that it can be charged.
        faults: the same but for a fault in what comes last, by what the fault is.
    """

    rule: Callable[[], Any]
    pays: Paying
    faults: Mapping[str, Paying]


# What is released


def with_last(rows: Any, *values: object) -> Any:
    return np.vstack([rows, np.array([values], dtype=float)])


def centres(ledger: PaidFrom, points: Any = POINTS, **options: Any) -> object:
    from certdp.clustering import DPKMeans

    return DPKMeans(**{"n_clusters": 2, "epsilon": 1, "radius": 1, "ledger": ledger} | options).fit(points)


def centres_of_file(ledger: PaidFrom) -> object:
    text = "a,b\n" + "".join(f"{a!r},{b!r}\n" for a, b in POINTS.tolist()) + "0.5,inf\n"
    with open_records(written("points.csv", text)) as records:
        return centres(ledger, records)


def written(name: str, text: str) -> Path:
    path = Path(FOLDER) / name
    path.write_text(text)
    return path


FOLDER = ""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys.modules[__name__], "FOLDER", str(tmp_path))
    return tmp_path


def keys(sampler: Any = None, **options: Any) -> PrivateWeightedSampling:
    used = Ppswor(threshold=Public("0.1")) if sampler is None else sampler
    return PrivateWeightedSampling.within(epsilon=1, delta="0.001", sampler=used, **options)


LISTED = ListedRates(rates=Public(["0.5"] * 20))
SLOW = {"sampler": Ppswor(threshold=Public("1e-9")), "frequencies": True}
"""Rows of which follow one from the other farther than is walked to."""


def counts_file(*lines: str) -> Path:
    return written(
        "counts.csv", "key,count\n" + "".join(f"{key},{n}\n" for key, n in COUNTS.items()) + "\n".join(lines)
    )


def chunked(ledger: PaidFrom, *last: Any, **options: Any) -> object:
    return keys(**options).release_chunks([KeyCounts.of(COUNTS), *last], ledger=ledger)


def counts(**of_keys: int) -> KeyCounts:
    names = KeyCounts.of(dict.fromkeys(of_keys, 1)).keys
    return KeyCounts(names, np.array(list(of_keys.values()), dtype=np.uint64))


def from_stream(ledger: PaidFrom, *lines: str, one_pass: bool = False) -> object:
    with open_counts(counts_file(*lines)) as stream:
        return keys().release_chunks(stream.chunks() if one_pass else stream, ledger=ledger)


def sanitised(ledger: PaidFrom, last: int = 1, sampler: Any = LISTED, **options: Any) -> object:
    sample = threshold_sample([counts(a=1, b=2)], sampler, Coins())
    held = counts(a=1, z=last)
    faulty = ThresholdSample(
        keys=held.keys, counts=held.counts, rule=sample.rule, coins=sample.coins, draws=sample.draws
    )
    return keys(sampler, **options).sanitise(faulty, ledger=ledger)


def trained(ledger: PaidFrom, labels: Any = (0, 1, 0, 1), features: Any = None, **options: Any) -> object:
    held = np.eye(4) if features is None else features
    data = LabelledData(features=held, labels=np.array(labels))
    plan = training_plan(epochs=1, steps_per_epoch=1, records=40, batch=2)
    return train(RecordModel(Logistic(features=4, classes=2), data, Sgd(rate=1.0)), plan, ledger=ledger, **options)


def laplace(domain: Any = L1) -> SampledRun[Any]:
    return SampledRun(mechanism=LaplaceSum(scale=Public(1)), sampler=Full(), domain=domain)


def step(account: Any, points: Any = POINTS, **options: Any) -> object:
    if isinstance(account, LedgerRequest):
        return AdaptiveRun(ledger=account.ledger).release(laplace(), points, request=account.request, **options)
    run = AdaptiveRun(ledger=account) if isinstance(account, Ledger) else AdaptiveRun(account)
    return run.release(laplace(), points, **options)


AGES = {"age": [31, 44, 59, 20] * 50}


def answered(account: Any, *queries: Any, data: Any = AGES, **options: Any) -> object:
    held = account.ledger if isinstance(account, LedgerRequest) else account
    columns = [q.Column("age", 0, 120)]
    kept = q.Account.of(100, 0, RECORD)
    own = (
        kept.kept_in(held) if isinstance(held, Ledger) else q.Account(budget=kept.budget, contributions=1, filter=held)
    )
    return q.table(data, columns, account=own).release(*(queries or (q.count(),)), **options)


def with_bounds(account: Any, name: str = "age", **options: Any) -> object:
    held = account.ledger if isinstance(account, LedgerRequest) else account
    kept = q.Account.of(100, 0, RECORD)
    own = (
        kept.kept_in(held) if isinstance(held, Ledger) else q.Account(budget=kept.budget, contributions=1, filter=held)
    )
    stated: dict[str, Any] = {"epsilon": 1} | options
    return q.table(AGES, [q.Column("age")], account=own).with_bounds(name, **stated)


def individual(ledger: PaidFrom, units: Any = ("a", "b"), **options: Any) -> object:
    held, request = (ledger.ledger, ledger.request) if isinstance(ledger, LedgerRequest) else (ledger, "run")
    place = Path(FOLDER) / "accounts"
    stated: dict[str, Any] = {"order": 8, "budget": 1} | options
    return IndividualAccount.create(place, units, held, request, **stated)


def paid(ledger: PaidFrom, **options: Any) -> None:
    stated: dict[str, Any] = {"plan": "sha256:0", "coins": Coins()}
    request_of(ledger, "test").pay(cost(Pure(number(1))), **stated | options)


ROWS: Mapping[str, Row] = {
    "clustering.DPKMeans.__init__": Row(
        lambda: pure(BALL),
        centres,
        {
            "NaN": lambda ledger: centres(ledger, with_last(POINTS, 0, np.nan)),
            "infinity in a file": centres_of_file,
            "seed": lambda ledger: centres(ledger, random_state=1),
            "outside": lambda ledger: centres(ledger, outside="x"),
            "noise below the lattice": lambda ledger: centres(ledger, epsilon="1e16", noise_scale="1e-12"),
        },
    ),
    "dpis.engine.train": Row(
        approximate,
        trained,
        {
            "class": lambda ledger: trained(ledger, labels=(0, 1, 0, 7)),
            "columns": lambda ledger: trained(ledger, features=np.eye(4)[:, :3]),
            "seed": lambda ledger: trained(ledger, coins=Coins.seeded(1)),
            "proposals": lambda ledger: trained(ledger, proposals="few"),
            "progress": lambda ledger: trained(ledger, progress="shown"),
        },
    ),
    "ledger.individual.IndividualAccount.create": Row(
        renyi,
        individual,
        {
            "twice": lambda ledger: individual(ledger, ("a", "b", "a")),
            "kind": lambda ledger: individual(ledger, ("a", "b", 1)),
            "shards": lambda ledger: individual(ledger, shards=0),
            "order": lambda ledger: individual(ledger, order=7),
            "by": lambda ledger: individual(ledger, by=7),
        },
    ),
    "ledger.paying.request_of": Row(
        pure,
        paid,
        {
            "coins": lambda ledger: paid(ledger, coins=Coins.seeded(1)),
            "uses": lambda ledger: paid(ledger, uses=["a", 7]),
            "certificate": lambda ledger: paid(ledger, certificate="text"),
            "plan": lambda ledger: paid(ledger, plan=7),
        },
    ),
    "queries.tables.table": Row(
        lambda: q.Account.of(100, 0, RECORD).filter,
        lambda account: answered(account, epsilon=1),
        {
            "column": lambda account: answered(account, q.count(), q.mean("height"), epsilon=1),
            "confidence": lambda account: answered(account, epsilon=1, confidence=2.0),
            "epsilon": lambda account: answered(account, epsilon=0),
            "no query": lambda account: answered(account, q.count(), "count", epsilon=1),
            "rows": lambda account: answered(account, data={"age": [1, 2], "other": [3]}, epsilon="nan"),
            "bounds of another column": lambda account: with_bounds(account, "height"),
            "epsilon of bounds": lambda account: with_bounds(account, epsilon=-1),
        },
    ),
    "runs.adaptive.AdaptiveRun.__init__": Row(
        lambda: pure(L1),
        step,
        {
            "NaN": lambda account: step(account, with_last(POINTS, 0, np.nan)),
            "outside": lambda account: step(account, outside="clip"),
            "dimension": lambda account: step(account, POINTS[0]),
            "coins": lambda account: step(account, coins="private"),
        },
    ),
    "weighted_sampling.release.PrivateWeightedSampling.release": Row(
        lambda: approximate(ELEMENT),
        lambda ledger: keys().release(COUNTS, ledger=ledger),
        {
            "count 0": lambda ledger: keys().release({**COUNTS, "last": 0}, ledger=ledger),
            "beyond": lambda ledger: keys().release({**COUNTS, "last": BEYOND}, ledger=ledger),
            "beyond the rates": lambda ledger: keys(LISTED).release({**COUNTS, "last": 21}, ledger=ledger),
            "too many tokens": lambda ledger: keys(EveryKey(), frequencies=True).release(
                {**COUNTS, "last": 2**53}, ledger=ledger
            ),
            "rows too far": lambda ledger: keys(**SLOW).release({**COUNTS, "last": 2**31}, ledger=ledger),
            "file": lambda ledger: keys().release(counts_file("last,0"), ledger=ledger),
            "no number in a file": lambda ledger: keys().release(counts_file("last,many"), ledger=ledger),
            "twice in a file": lambda ledger: keys().release(counts_file("k0,5"), ledger=ledger),
            "seed": lambda ledger: keys().release(COUNTS, Coins.seeded(1), ledger=ledger),
        },
    ),
    "weighted_sampling.release.PrivateWeightedSampling.release_chunks": Row(
        lambda: approximate(ELEMENT),
        from_stream,
        {
            "beyond": lambda ledger: chunked(ledger, counts(last=BEYOND)),
            "beyond the rates": lambda ledger: chunked(ledger, counts(last=21), sampler=LISTED),
            "rows too far": lambda ledger: chunked(ledger, counts(last=2**31), **SLOW),
            "twice": lambda ledger: chunked(ledger, counts(other=1), counts(k5=3)),
            "no counts": lambda ledger: chunked(ledger, {"last": 1}),
            "a stream": lambda ledger: from_stream(ledger, "last,0"),
            "gone through once": lambda ledger: from_stream(ledger, one_pass=True),
            "watch": lambda ledger: keys().release_chunks([KeyCounts.of(COUNTS)], watch="me", ledger=ledger),  # type: ignore[arg-type]
        },
    ),
    "weighted_sampling.release.PrivateWeightedSampling.sanitise": Row(
        lambda: approximate(ELEMENT),
        sanitised,
        {
            "beyond the rates": lambda ledger: sanitised(ledger, 21),
            "beyond": lambda ledger: sanitised(ledger, BEYOND, EveryKey()),
            "rows too far": lambda ledger: sanitised(ledger, 2**31, **SLOW),
            "another sampler": lambda ledger: keys(EveryKey()).sanitise(
                threshold_sample([KeyCounts.of(COUNTS)], LISTED), ledger=ledger
            ),
        },
    ),
}

NOTHING_PAID = {
    "ledger.individual.IndividualAccount.__init__": "opens what was paid; its steps are tried below",
    "ledger.paying.LedgerRequest.__init__": "names a request; it pays by request_of(…).pay",
    "queries.account.Account.__init__": "holds the ledger that a table pays from",
    "queries.account.Account.kept_in": "holds the ledger that a table pays from",
    "engines.dask.release_keys": "tests/engines",
    "engines.dask.release_sum": "tests/engines",
    "engines.released.release_keys": "tests/engines",
    "engines.released.release_sum": "tests/engines",
    "engines.spark.release_keys": "tests/engines",
    "engines.spark.release_sum": "tests/engines",
    "experiments.training_runs.Trainer.__init__": "a ledger of finished runs, which holds no budget",
}
"""What takes a ledger and pays nothing by itself, or is tried elsewhere; commands are in tests/commands."""


def taking_ledgers() -> Iterator[str]:
    """Dotted names of the public functions and methods of the package that take a ledger."""
    import_all()
    for name, module in list(sys.modules.items()):
        if name.startswith("certdp.") and not name.startswith("certdp.commands."):
            for word, made in vars(module).items():
                if getattr(made, "__module__", None) == name:
                    found = [path for path, called in callables(word, made) if takes(called)]
                    yield from (f"{name.removeprefix('certdp.')}.{path}" for path in found)


def callables(word: str, made: Any) -> Iterator[tuple[str, Any]]:
    if word.startswith("_"):
        return
    if inspect.isfunction(made):
        yield word, inspect.unwrap(made)
    elif inspect.isclass(made):
        for method, found in vars(made).items():
            plain = getattr(found, "__func__", found)
            if inspect.isfunction(plain) and (not method.startswith("_") or method == "__init__"):
                yield f"{word}.{method}", inspect.unwrap(plain)


def takes(called: Any) -> bool:
    return any(
        one.name == "ledger" or re.search(r"\b(PaidFrom|Ledger|LedgerRequest)\b", str(one.annotation))
        for one in inspect.signature(called).parameters.values()
    )


def test_whatever_takes_a_ledger_is_tried() -> None:
    assert set(taking_ledgers()) == {*ROWS, *NOTHING_PAID}


IN_MEMORY = ("queries.tables.table", "runs.adaptive.AdaptiveRun.__init__")
"""What pays from a filter where there is no ledger."""


def tried(row: Row, fault: str, account: Any, stands: Callable[[], object], pay: Any) -> None:
    before = stands()
    with pytest.raises((CertdpError, TypeError, ValueError)):
        row.faults[fault](pay)
    assert stands() == before
    row.pays(pay)
    assert account.number == 1


EVERY_FAULT = [(name, fault) for name, row in ROWS.items() for fault in row.faults]


@pytest.mark.filterwarnings("ignore::certdp.clustering.NotPrivate")
@pytest.mark.parametrize("named", [False, True], ids=["ledger", "request"])
@pytest.mark.parametrize(("name", "fault"), EVERY_FAULT)
def test_a_fault_costs_nothing(name: str, fault: str, named: bool, tmp_path: Path) -> None:
    row = ROWS[name]
    ledger = Ledger.create(tmp_path / "a.ledger", row.rule(), data="people")
    pay = LedgerRequest(ledger, "one") if named else ledger
    tried(row, fault, ledger, lambda: (ledger.number, str(ledger.spent), ledger.head), pay)


@pytest.mark.parametrize(("name", "fault"), [case for case in EVERY_FAULT if case[0] in IN_MEMORY])
def test_a_fault_costs_nothing_of_an_account_in_memory(name: str, fault: str) -> None:
    row = ROWS[name]
    account = row.rule()
    tried(row, fault, account, account.state, account)


@pytest.mark.parametrize("draw", [None, b"drawn before"])
def test_a_ledger_does_not_pay_for_what_draws_nothing(tmp_path: Path, draw: Any) -> None:
    ledger = Ledger.create(tmp_path / "a.ledger", pure(), data="people")
    with pytest.raises(InvalidType, match="a function"):
        ledger.release(cost(Pure(number(1))), draw, request="one")
    with pytest.raises(InvalidType, match="by"):
        ledger.release(cost(Pure(number(1))), bytes, request="one", by=7)  # type: ignore[arg-type]
    assert ledger.number == 0


def test_what_is_kept_by_name_is_looked_at_as_it_will_be_drawn_for() -> None:
    with pytest.raises(OutsideDomain, match="follow one from the other"):
        keys(**SLOW).require(counts(a=1, last=2**31))
