"""Releases from what an engine holds: drawn once, the same however it is cut, and never again by a task run again."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from attrs import evolve
from scipy.stats import chi2

import certdp
from certdp import ADD_REMOVE, ELEMENT, RECORD, Ledger, PrivateWeightedSampling, Public
from certdp.accounting.draws.by_name import NamedCoins
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.filters import ApproximateFilter, BudgetExceeded, PureFilter
from certdp.accounting.notions import Approximate, Pure
from certdp.accounting.sampling.clipping import Outside
from certdp.engines.batches import UnitSums
from certdp.ledger import LedgerRequest, OutputLost
from certdp.parts import SumPart
from tests.support.engines import PARTITIONS, Engine, KilledOnce, Spark, drawn_by_tasks
from tests.support.ledgers import number

RUN = certdp.SampledRun(
    mechanism=certdp.LaplaceSum(scale=Public(100)),
    sampler=certdp.Importance(rate=Public("0.1"), norm=Public(1)),
    domain=certdp.NormBall(norm=certdp.Norm.L1, radius=Public(20)),
)
ALL = certdp.SampledRun(mechanism=certdp.LaplaceSum(scale=Public(100)), sampler=certdp.Full(), domain=RUN.domain)
KEYS = PrivateWeightedSampling.within(epsilon=1, delta="1e-3")
TOKENS = PrivateWeightedSampling.within(
    epsilon=1, delta="1e-3", sampler=certdp.Ppswor(threshold=Public("0.3")), frequencies=True
)
LEVEL = 1e-6
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
ROWS = 6_000
FREQUENCIES, EACH = range(1, 13), 500
SECRET = NamedCoins(bytes(range(32)))


@pytest.fixture
def sums(tmp_path: Path) -> Ledger:
    rule = PureFilter(Pure(number(30)), relation=ADD_REMOVE, unit=RECORD, domain=RUN.domain)
    return Ledger.create(tmp_path / "sums.ledger", rule, data="events")


@pytest.fixture
def keys(tmp_path: Path) -> Ledger:
    rule = ApproximateFilter(Approximate(number(30), number("0.1")), relation=ADD_REMOVE, unit=ELEMENT)
    return Ledger.create(tmp_path / "keys.ledger", rule, data="events")


def events() -> dict[str, Any]:
    """Rows of users, whose sums in binary64 depend on the order of their rows."""
    generator = np.random.default_rng(20)
    users = generator.integers(0, 500, ROWS)
    return {"user_id": users, "x": generator.normal(size=ROWS), "y": generator.integers(0, 3, ROWS) / 10}


def added_up(data: dict[str, Any], bits: int) -> tuple[list[bytes], Any]:
    """Users and their records, by the exact sums of rows that are rounded to multiples of 2^-bits."""
    totals: dict[int, list[int]] = {}
    for user, *row in zip(data["user_id"].tolist(), data["x"].tolist(), data["y"].tolist(), strict=True):
        own = totals.setdefault(user, [0, 0])
        for place, each in enumerate(row):
            own[place] += round(Fraction(each) * 2**bits)
    records = [[float(Fraction(total, 2**bits)) for total in own] for own in totals.values()]
    return [str(user).encode() for user in totals], np.array(records)


def occurrences() -> dict[str, Any]:
    """500 keys of each frequency from 1 to 12, in rows of 1 and of all the rest."""
    names, counts = list[str](), list[int]()
    for frequency in FREQUENCIES:
        for place in range(EACH):
            name = f"key {frequency} {place}"
            names += [name] * min(2, frequency)
            counts += [1] if frequency == 1 else [1, frequency - 1]
    order = np.random.default_rng(21).permutation(len(names))
    return {"key": [names[place] for place in order], "count": np.array(counts)[order]}


@pytest.fixture
def totals(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The exact totals of what was finished."""
    found, finish = list[Any](), SumPart.finish

    def noted(part: SumPart, run: Any, coins: Any = None) -> Any:
        found.append(part._state.reveal().totals)
        return finish(part, run, coins)

    monkeypatch.setattr(SumPart, "finish", noted)
    return found


@pytest.fixture
def one_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NamedCoins, "fresh", lambda: SECRET)


def test_a_second_action_gives_the_same_bytes_and_pays_nothing(engine: Engine, sums: Ledger, keys: Ledger) -> None:
    rows, counts = engine.frame(events(), 4), engine.frame(occurrences(), 4)
    values = [engine.module.release_sum(RUN, rows, pay=LedgerRequest(sums, "sum")) for _ in range(2)]
    assert values[0].content == values[1].content == sums.output("sum").content
    assert values[0].statement == values[1].statement
    samples = [engine.module.release_keys(KEYS, counts, pay=LedgerRequest(keys, "keys")) for _ in range(2)]
    assert samples[0] == samples[1]
    assert samples[0].to_bytes() == keys.output("keys").content
    assert samples[0].statement.private
    assert len(samples[0]) > 0
    assert (sums.number, keys.number) == (1, 1)
    other = engine.module.release_sum(RUN, rows, pay=LedgerRequest(sums, "another"))
    assert other.content != values[0].content
    assert sums.number == 2


@pytest.mark.parametrize("run", [ALL, RUN], ids=["all", "sampled"])
def test_exact_totals_are_the_same_in_any_number_of_partitions(
    engine: Engine, sums: Ledger, totals: list[Any], run: Any
) -> None:
    data = events()
    coins = NamedCoins.fresh()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NamedCoins, "fresh", lambda: coins)
        for partitions in PARTITIONS:
            engine.module.release_sum(run, engine.frame(data, partitions), pay=LedgerRequest(sums, f"in {partitions}"))
    names, records = added_up(data, bits=28)  # 2^-28 ≤ 2^-32 · 20 < 2^-27
    part = SumPart.of_units(run, records, names, coins)
    assert totals[0] == totals[1] == part._state.reveal().totals
    if run is ALL:
        assert totals[0] == SumPart.of(run, records)._state.reveal().totals


def test_as_many_rows_of_a_unit_count_in_any_number_of_partitions(
    engine: Engine, sums: Ledger, totals: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    of = UnitSums.of
    monkeypatch.setattr(UnitSums, "of", lambda *given: evolve(of(*given), salt=bytes(32)))
    data = {**events(), "y": np.ones(ROWS) / 4}
    for partitions in PARTITIONS:
        rows = engine.frame(data, partitions)
        engine.module.release_sum(ALL, rows, most=Public(7), pay=LedgerRequest(sums, f"in {partitions}"))
    assert totals[0] == totals[1]
    own = np.minimum(np.bincount(data["user_id"]), 7)
    counted = np.c_[np.zeros(len(own)), own / 4]
    assert totals[0][0][1] == SumPart.of(ALL, counted)._state.reveal().totals[0][1]


@pytest.mark.usefixtures("one_secret")
@pytest.mark.parametrize("sampling", [KEYS, TOKENS], ids=["keys", "tokens"])
def test_which_keys_are_kept_does_not_depend_on_partitions(
    engine: Engine, keys: Ledger, sampling: PrivateWeightedSampling, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, report = list[dict[Any, int]](), PrivateWeightedSampling.release_kept

    def noted(self: Any, parts: Any, kept_by: Any, coins: Any = None) -> Any:
        held = list(parts)
        every = [pair for part in held for pair in zip(part.keys.to_pylist(), part.counts.tolist(), strict=True)]
        assert len(dict(every)) == len(every)
        kept.append(dict(every))
        return report(self, held, kept_by, coins)

    monkeypatch.setattr(PrivateWeightedSampling, "release_kept", noted)
    for partitions in PARTITIONS:
        frame = engine.frame(occurrences(), partitions)
        sample = engine.module.release_keys(sampling, frame, pay=LedgerRequest(keys, f"in {partitions}"))
        assert sample.keys.to_pylist() == sorted(sample.keys.to_pylist())
        assert set(sample.keys.to_pylist()) <= set(kept[-1])
        assert not sample.statement.private  # whose secret was stated
    assert kept[0] == kept[1]
    assert all(name.split()[1] == str(count) for name, count in kept[0].items())


def test_one_and_sixteen_partitions_have_one_law(engine: Engine, keys: Ledger) -> None:
    reported = list[list[int]]()
    for partitions in PARTITIONS:
        frame = engine.frame(occurrences(), partitions)
        sample = engine.module.release_keys(KEYS, frame, pay=LedgerRequest(keys, f"in {partitions}"))
        found = Counter(int(name.split()[1]) for name in sample.keys.to_pylist())
        reported.append([found[frequency] for frequency in FREQUENCIES])
    rates = np.array([row.reported / 2**row.bits for row in KEYS.reporting.at(FREQUENCIES)])
    seen = np.array(reported)
    certain = rates == 1
    assert (seen[:, certain] == EACH).all()
    common = (EACH * rates >= 5) & (EACH * (1 - rates) >= 5)
    assert common.sum() >= 4
    deviation = (seen - EACH * rates)[:, common] ** 2 / (EACH * rates * (1 - rates))[common]
    assert (chi2.sf(deviation.sum(axis=1), common.sum()) > LEVEL).all()  # each against the law
    alike = (seen[0] - seen[1])[common] ** 2 / (2 * EACH * rates * (1 - rates))[common]
    assert chi2.sf(alike.sum(), common.sum()) > LEVEL  # and one against the other


@pytest.mark.parametrize("what", ["sum", "sum of all", "keys"])
def test_a_task_that_is_killed_and_run_again_draws_nothing_new(
    what: str, engine: Engine, sums: Ledger, keys: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "drawn"
    folder.mkdir()
    runs = {"sum": RUN, "sum of all": ALL}
    drawing: Any = engine.module._Rows if what == "sum of all" else engine.module._Held
    each = drawing.each
    monkeypatch.setattr(drawing, "each", lambda self, draw: each(self, KilledOnce(draw, folder)))
    if what in runs:
        engine.module.release_sum(runs[what], engine.frame(events(), 4), pay=LedgerRequest(sums, "a"))
        assert sums.number == 1
    else:
        engine.module.release_keys(KEYS, engine.frame(occurrences(), 4), pay=LedgerRequest(keys, "a"))
        assert keys.number == 1
    assert (folder / "killed").exists()
    drawn = drawn_by_tasks(folder)
    assert len(drawn) > len(set(drawn)) > 1  # a task was run again, and drew what it had drawn before


def test_weights_are_those_of_the_records_and_stay_lazy(engine: Engine) -> None:
    data = {name: column for name, column in events().items() if name != "user_id"}
    parts = list[Any]()
    certdp.record_weights(RUN, np.column_stack([data["x"], data["y"]]), into=parts.append)
    expected = {
        (x, y): (weight, probability)
        for x, y, weight, probability in zip(
            data["x"].tolist(),
            data["y"].tolist(),
            np.concatenate([part.weight for part in parts]).tolist(),
            np.concatenate([part.probability for part in parts]).tolist(),
            strict=True,
        )
    }
    weighted = engine.module.record_weights(RUN, engine.frame(data, 5)).reveal()
    found = engine.rows(weighted)
    assert len(found) == ROWS
    assert {(row["x"], row["y"]): (row["weight"], row["probability"]) for row in found} == expected
    order = sorted(tuple(row.values()) for row in found)
    assert order == sorted(tuple(row.values()) for row in engine.rows(weighted))


def test_faults_of_the_data_are_found_before_the_payment(engine: Engine, sums: Ledger, keys: Ledger) -> None:
    data = events()
    data["x"][17] = np.inf
    for run in (RUN, ALL):
        with pytest.raises(Exception, match="finite"):
            engine.module.release_sum(run, engine.frame(data, 3), pay=LedgerRequest(sums, "a"))
    for wrong in (0, -1, 2**53 + 1, -(2**63)):
        counts = occurrences()
        places = np.flatnonzero(np.asarray(counts["key"]) == counts["key"][5])
        counts["count"] = np.asarray(counts["count"], dtype=np.int64)
        counts["count"][places] = (
            2**60 if wrong > 0 else 5
        )  # what they add up to shows nothing, or is too long a number
        counts["count"][5] = wrong
        with pytest.raises(Exception, match="1 to 2\\^53"):
            engine.module.release_keys(KEYS, engine.frame(counts, 3), pay=LedgerRequest(keys, "a"))
    assert (sums.number, keys.number) == (0, 0)
    assert sums.state("a") is keys.state("a") is None


def test_columns_of_other_types_are_refused(engine: Engine, sums: Ledger, keys: Ledger) -> None:
    for columns in ({"user_id": [True, False]}, {"x": ["1", "2"]}, {"x": [Decimal(1)] * 2}):
        rows = engine.frame({"user_id": ["ann", "bob"], "x": [1.0, 2.0], **columns}, 1)
        with pytest.raises(InvalidType, match="a column of type"):
            engine.module.release_sum(ALL, rows, pay=LedgerRequest(sums, "a"))
    rows = engine.frame({"key": ["often", "seldom"], "count": ["9", "1"]}, 1)
    with pytest.raises(InvalidType, match="a column of type"):
        engine.module.release_keys(KEYS, rows, pay=LedgerRequest(keys, "a"))
    assert sums.state("a") is keys.state("a") is None


def test_what_spark_adds_up_tells_of_faults(engine: Engine) -> None:
    if not isinstance(engine, Spark):
        pytest.skip("what tasks of Dask add up is tried apart")
    faulty: tuple[Any, ...] = (None, math.nan, math.inf, -math.inf, 1e308, 2.0**35, 1.0)
    numbers = pa.array(faulty, pa.float64())
    wholes = pa.array([2**53 + 1, -(2**53) - 1, -(2**63), 2**63 - 1, None, 2**53, 1])
    rows = engine.frame({"user_id": [f"{place}" for place in range(7)], "x": numbers, "y": wholes}, 3)
    made = UnitSums.of(ALL, rows.columns, "user_id", None, None, Outside.CLIP)
    found = {bytes(row["unit"]): row for row in engine.rows(engine.module._totals(rows, made))}
    for place in range(6):
        unit = arrow_table([found[f"{place}".encode()]])
        with pytest.raises(InvalidValue, match="too large"):
            made.records(unit)
    assert made.records(arrow_table([found[b"6"]])).to_pylist() == [{"unit": b"6", "x": 1.0, "y": 1.0}]
    counts = engine.frame({"key": [f"{place}" for place in range(7)], "count": numbers}, 3)
    added = {bytes(row["key"]): row["count"] for row in engine.rows(engine.module._added_up(counts, "key", "count"))}
    assert added == {b"0": None, **{f"{place}".encode(): 0 for place in (1, 2, 3, 4)}, b"5": 2**35, b"6": 1}


def arrow_table(rows: list[dict[str, Any]]) -> Any:
    return pa.Table.from_pylist([{**row, "unit": bytes(row["unit"])} for row in rows])


def test_counts_that_are_whole_are_added_up_whatever_their_type(engine: Engine, keys: Ledger) -> None:
    rows = engine.frame({"key": ["often", "often", "seldom"], "count": [9e3, 1e3, 1.0]}, 2)
    sample = engine.module.release_keys(KEYS, rows, pay=LedgerRequest(keys, "a"))
    assert sample.keys.to_pylist() == ["often"]


def test_faults_of_the_call_are_found_at_once(engine: Engine, sums: Ledger, keys: Ledger) -> None:
    rows, module = engine.frame(events(), 2), engine.module
    every_fault: tuple[dict[str, Any], ...] = (
        {"unit": "nobody"},
        {"columns": ["x", "x"]},
        {"columns": ["x", "user_id"]},
        {"columns": []},
        {"most": Public(0)},
    )
    for faulty in every_fault:
        with pytest.raises(InvalidValue):
            module.release_sum(RUN, rows, pay=sums, **faulty)
    with pytest.raises(InvalidType):
        module.release_sum(KEYS, rows, pay=sums)
    with pytest.raises(InvalidType):
        module.release_sum(RUN, rows, pay=None)
    with pytest.raises(InvalidValue):
        module.release_keys(KEYS, rows, pay=keys)
    with pytest.raises(InvalidValue, match="weight"):
        module.record_weights(RUN, engine.frame({"weight": [1.0]}, 1))
    assert (sums.number, keys.number) == (0, 0)


def test_what_is_refused_is_not_computed_and_what_is_lost_stays_so(
    engine: Engine, sums: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = PureFilter(Pure(number("1e-3")), relation=ADD_REMOVE, unit=RECORD, domain=RUN.domain)
    small, rows = Ledger.create(tmp_path / "small.ledger", rule, data="events"), engine.frame(events(), 2)

    def never(*_: Any) -> None:
        raise AssertionError("grouped")

    with monkeypatch.context() as patch:
        for name in ("held", "each"):
            patch.setattr(engine.module._Rows, name, never)
        for run in (RUN, ALL):
            with pytest.raises(BudgetExceeded):
                engine.module.release_sum(run, rows, pay=small)

    def fails(*_: Any) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(SumPart, "finish", fails)
        with pytest.raises(ZeroDivisionError):
            engine.module.release_sum(RUN, rows, pay=LedgerRequest(sums, "a"))
    with pytest.raises(OutputLost):
        engine.module.release_sum(RUN, rows, pay=LedgerRequest(sums, "a"))
    assert sums.number == 1
