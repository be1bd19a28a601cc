# pyright: reportMissingImports=false
"""Data frames of Dask: it shuffles and groups, its tasks compute parts, and these are finished where they meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.private import Private
from ..accounting.provenance import Public
from ..accounting.sampling.clipping import Outside
from ..ledger import PaidFrom
from ..runs.sampled import SampledRun
from ..runs.statements import StatedRelease
from ..weighted_sampling.keys import arrow
from ..weighted_sampling.release import PrivateSample, PrivateWeightedSampling
from . import released
from .batches import PROBABILITY, WEIGHT, KeyDraws, Table, UnitSums, WeightsOf, named
from .released import Draw, Work


def release_sum(
    step: SampledRun[Any],
    rows: Any,
    unit: str = "user_id",
    *,
    pay: PaidFrom,
    columns: Sequence[str] | None = None,
    most: Public[int] | None = None,
    outside: Outside = Outside.CLIP,
) -> StatedRelease:
    """Release the sum over all units of a Dask data frame, once: eager, paid first, kept in the ledger.

    Args:
        step: what is released; its mechanism adds noise to exact sums. A record is what all rows of a unit add up to,
            each rounded to a public grid: multiples of a power of two that is at most 2^-32 of the domain's radius.
        rows: a dask.dataframe.DataFrame, a row for each event.
        unit: name of the column that says whose row it is: text, bytes or whole numbers.
        pay: a `Ledger`, or a `LedgerRequest`, with which a call may be repeated and gives the same bytes.
        columns: of numbers, the coordinates of a record; all but `unit` unless given.
        most: how many rows of a unit count at most, chosen by keyed hashes of that unit's rows; all unless given.
        outside: what happens to records outside the domain of the step.

    Guarantees: the law of the release is that of `step.release` on the records of all units; it does not depend on
        partitions. Noise is drawn once, here. Which units are sampled follows from a secret of this release, so a task
        that is run again, or twice at a time, gives the same bytes.

    Raises:
        InvalidType, InvalidValue: for another step and other columns, and for rows that cannot be released from, which
            is found before the payment.
        BudgetExceeded, OutputLost and others: as `Ledger.release`.
    """
    sums = UnitSums.of(step, list(rows.columns), unit, columns, most, outside)
    chosen = rows[[unit, *sums.columns]]
    return released.release_sum(_Rows(chosen, unit), sums, lambda some: sums.records(sums.totals(some)), pay)


def release_keys(
    sampling: PrivateWeightedSampling, counts: Any, *, pay: PaidFrom, key: str = "key", count: str = "count"
) -> PrivateSample:
    """Release a private weighted sample of the keys of a Dask data frame, once: eager, paid first, globally sorted.

    Args:
        sampling: what is released.
        counts: a dask.dataframe.DataFrame of keys and counts; those of a key are added up.
        pay: as for `release_sum`.
        key: name of the column of keys: text or bytes.
        count: name of the column of counts: whole numbers from 1.

    Guarantees: the law of the release is that of `sampling.release` on the sums of all keys. Which keys are kept
        follows from a secret of this release and each key alone; those kept are reported once, here.

    Raises:
        InvalidType, InvalidValue: for keys and counts that are none, which is found before the payment.
        BudgetExceeded, OutputLost and others: as `Ledger.release`.
    """
    known = list(counts.columns)
    draws = KeyDraws(sampling=sampling, key=named("key", known, key), count=named("count", known, count))
    chosen = counts[[key, count]]
    return released.release_keys(_Rows(chosen, key), draws, pay)


def record_weights(
    run: SampledRun[Any], records: Any, *, columns: Sequence[str] | None = None, outside: Outside = Outside.CLIP
) -> Private[Any]:
    """The records of a Dask data frame with a weight and a probability each, as `run` would draw them. Lazy.

    Args:
        run: the run, with or without a public domain.
        records: a dask.dataframe.DataFrame, a row for each record.
        columns: of numbers, the coordinates of a record; all unless given.
        outside: what happens to records outside the run's domain; a dropped one has probability 0 and weight inf.

    Returns:
        A data frame for the data's owner, with two more columns: weight and probability.

    Guarantees: they depend on the record and public constants alone, whatever computes them, and how often.
    """
    weights = WeightsOf.of(run, list(records.columns), columns, outside)
    meta = records._meta.assign(**{WEIGHT: 0.0, PROBABILITY: 0.0})
    return Private(records.map_partitions(_with_weights, weights, meta=meta))


def _with_weights(frame: Any, weights: WeightsOf) -> Any:
    weight, probability = weights.of_table(_table(frame[list(weights.columns)]))
    return frame.assign(**{WEIGHT: weight, PROBABILITY: probability})


@final
class _Rows:
    """Rows of a frame, by a column of units or keys."""

    def __init__(self, frame: Any, by: str) -> None:
        self._frame = frame
        self._by = by

    def held(self, work: Work) -> _Held:
        worked = _dask().persist(*self._worked(work))
        self._require_one(_dask().compute(*(kind for kind, _ in worked)))  # faults show here
        return _Held([table for _, table in worked])

    def each(self, draw: Draw) -> Sequence[bytes]:
        found = _dask().compute(*self._worked(draw))
        self._require_one([kind for kind, _ in found])
        return [drawn for _, drawn in found]

    def _worked(self, work: Callable[[Table], Any]) -> list[Any]:
        dask, by = _dask(), self._by
        return [dask.delayed(_worked, nout=2)(part, by, work) for part in self._frame.shuffle(on=by).to_delayed()]

    def _require_one(self, kinds: Sequence[str | None]) -> None:
        if len(found := {kind for kind in kinds if kind is not None}) > 1:
            raise _mixed(self._by, " and ".join(sorted(found)))


@final
class _Held:
    """Tables by partition, after a shuffle, in the memory of the cluster."""

    def __init__(self, tables: Sequence[Any]) -> None:
        self._tables = tables

    def each(self, draw: Draw) -> Sequence[bytes]:
        dask = _dask()
        found: Sequence[bytes] = dask.compute(*(dask.delayed(draw)(table) for table in self._tables))
        return found

    def drop(self) -> None:
        """Dask frees them with the last reference."""


def _worked(frame: Any, by: str, work: Callable[[Table], Any]) -> tuple[str | None, Any]:
    """What a task makes of its partition, and of what kind the names in a column are; None without any."""
    from pandas.api.types import infer_dtype

    found = infer_dtype(frame[by], skipna=True) if frame[by].dtype == object else "one type"
    if found.startswith("mixed"):  # Arrow would take text for its bytes
        raise _mixed(by, f"values of several types ({found})")
    table = _table(frame)
    kinds, of = arrow().types, table.column(by).type
    of = of.value_type if kinds.is_dictionary(of) else of
    name = "whole number" if kinds.is_integer(of) else str(of).removeprefix("large_").removesuffix("_view")
    return (name if table.num_rows and not kinds.is_null(of) else None), work(table)


def _mixed(column: str, found: str) -> InvalidType:
    return InvalidType(
        column, found, "one type: text, bytes or whole numbers", "5 and '5' are no two units: convert it"
    )


def _table(frame: Any) -> Table:
    return arrow().Table.from_pandas(frame, preserve_index=False)


def _dask() -> Any:
    try:
        import dask
    except ImportError:
        raise InvalidValue("rows", "no dask", "an installation with Dask", "pip install 'certdp[dask]'") from None
    return dask
