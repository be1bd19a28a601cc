# pyright: reportMissingImports=false
"""Data frames of Spark: it shuffles and groups, its tasks compute parts by `mapInArrow`, finished where they meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, final

from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.private import Private
from ..accounting.provenance import Public
from ..accounting.sampling.clipping import Outside
from ..ledger import PaidFrom
from ..runs.sampled import SampledRun
from ..runs.statements import StatedRelease
from ..weighted_sampling.frequencies import LARGEST_COUNT
from ..weighted_sampling.keys import arrow
from ..weighted_sampling.release import PrivateSample, PrivateWeightedSampling
from . import released
from .batches import PROBABILITY, UNIT, WEIGHT, KeyDraws, Table, UnitSums, WeightsOf, magnitude_of, named, sum_of
from .released import Draw, Work

_DRAWN = "drawn"
_CELL = f"{_DRAWN} binary"
_EXACT = 2**53  # up to which binary64 holds whole numbers


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
    """Release the sum over all units of a Spark data frame, once: eager, paid first, kept in the ledger.

    Args:
        step: what is released; its mechanism adds noise to exact sums. A record is what all rows of a unit add up to,
            each rounded to a public grid: multiples of a power of two that is at most 2^-32 of the domain's radius.
        rows: a pyspark.sql.DataFrame, a row for each event.
        unit: name of the column that says whose row it is: text, bytes or whole numbers.
        pay: a `Ledger`, or a `LedgerRequest`, with which a call may be repeated and gives the same bytes.
        columns: of numbers, the coordinates of a record; all but `unit` unless given.
        most: how many rows of a unit count at most, chosen by keyed hashes of that unit's rows; all unless given.
        outside: what happens to records outside the domain of the step.

    Guarantees: the law of the release is that of `step.release` on the records of all units; it does not depend on
        partitions. Noise is drawn once, here. Which units are sampled follows from a secret of this release, so a task
        that is run again, or twice at a time, gives the same bytes.

    Raises:
        InvalidType, InvalidValue: for another step, other columns, and columns of other types.
        pyspark.errors.PythonException: for rows that cannot be released from, before the payment.
        BudgetExceeded, OutputLost and others: as `Ledger.release`.
    """
    sums = UnitSums.of(step, rows.columns, unit, columns, most, outside)
    shape = ", ".join([f"{UNIT} binary", *(f"{_quoted(name)} double" for name in sums.columns)])
    return released.release_sum(_Rows(_totals(rows, sums), shape), sums, sums.records, pay)


def release_keys(
    sampling: PrivateWeightedSampling, counts: Any, *, pay: PaidFrom, key: str = "key", count: str = "count"
) -> PrivateSample:
    """Release a private weighted sample of the keys of a Spark data frame, once: eager, paid first, globally sorted.

    Args:
        sampling: what is released.
        counts: a pyspark.sql.DataFrame of keys and counts; those of a key are added up.
        pay: as for `release_sum`.
        key: name of the column of keys: text or bytes.
        count: name of the column of counts: whole numbers from 1, which Spark adds up where their type is one of those.

    Guarantees: the law of the release is that of `sampling.release` on the sums of all keys. Which keys are kept
        follows from a secret of this release and each key alone; those kept are reported once, here.

    Raises:
        InvalidType, InvalidValue: for columns that are not there.
        pyspark.errors.PythonException: for keys and counts that are none, before the payment.
        BudgetExceeded, OutputLost and others: as `Ledger.release`.
    """
    draws = KeyDraws(
        sampling=sampling, key=named("key", counts.columns, key), count=named("count", counts.columns, count)
    )
    shape = f"{_quoted(key)} binary, {_quoted(count)} bigint"
    return released.release_keys(_Rows(_added_up(counts, key, count), shape), draws, pay)


def record_weights(
    run: SampledRun[Any], records: Any, *, columns: Sequence[str] | None = None, outside: Outside = Outside.CLIP
) -> Private[Any]:
    """The records of a Spark data frame with a weight and a probability each, as `run` would draw them. Lazy.

    Args:
        run: the run, with or without a public domain.
        records: a pyspark.sql.DataFrame, a row for each record.
        columns: of numbers, the coordinates of a record; all unless given.
        outside: what happens to records outside the run's domain; a dropped one has probability 0 and weight inf.

    Returns:
        A data frame for the data's owner, with two more columns: weight and probability.

    Guarantees: they depend on the record and public constants alone, whatever computes them, and how often.
    """
    weights = WeightsOf.of(run, records.columns, columns, outside)
    _, types = _spark()
    shape = types.StructType([*records.schema, *(types.StructField(name, types.DoubleType()) for name in _ADDED)])

    def with_weights(batches: Iterable[Any]) -> Iterator[Any]:
        for table in map(_table, batches):
            for name, column in zip(_ADDED, weights.of_table(table), strict=True):
                table = table.append_column(name, arrow().array(column))
            yield from table.to_batches()

    return Private(records.mapInArrow(with_weights, shape))


_ADDED = (WEIGHT, PROBABILITY)


@final
class _Rows:
    """Rows by unit or key, one of each, and of what shape a table is that a task makes of some of them."""

    def __init__(self, grouped: Any, shape: str) -> None:
        self._grouped = grouped
        self._shape = shape

    def held(self, work: Work) -> _Held:
        few = _few(self._grouped)  # Spark joins small partitions by itself, but not of what is persisted
        return _Held(few.mapInArrow(_by_batch(lambda rows: _as_declared(work(rows))), self._shape))

    def each(self, draw: Draw) -> Sequence[bytes]:
        return _collected(self._grouped.mapInArrow(_by_batch(lambda rows: _cell(draw(rows))), _CELL))


@final
class _Held:
    """Tables by partition, after a shuffle, in the memory and on the disks of the executors."""

    def __init__(self, grouped: Any) -> None:
        self._frame = grouped.persist()
        try:
            self._frame.count()  # faults show here
        except BaseException:
            self.drop()
            raise

    def each(self, draw: Draw) -> Sequence[bytes]:
        return _collected(self._frame.mapInArrow(_by_batch(lambda rows: _cell(draw(rows))), _CELL))

    def drop(self) -> None:
        self._frame.unpersist()


def _totals(rows: Any, sums: UnitSums) -> Any:
    """What Spark adds up for each unit, as `UnitSums.totals` does."""
    functions, _ = _spark()
    from pyspark.sql import Window

    row, whole = ([f"{kind}{place}" for place in range(len(sums.columns))] for kind in ("row", "whole"))
    on_grid = [_on_grid(rows, name, sums.bits).alias(one) for name, one in zip(sums.columns, row, strict=True)]
    placed = rows.select(_names(rows, sums.unit).alias(UNIT), *on_grid)
    placed = placed.select(
        "*", *(functions.expr(f"try_cast({one} as bigint)").alias(of) for one, of in zip(row, whole, strict=True))
    )
    if sums.most is not None:
        by_hash = Window.partitionBy(UNIT).orderBy(functions.xxhash64(functions.lit(sums.salt), *whole), *whole)
        counts = functions.row_number().over(by_hash) <= sums.most
        placed = placed.select(UNIT, *row, counts.alias("counts"), *whole)
        placed = placed.select(
            UNIT, *row, *(functions.when(functions.col("counts"), functions.col(one)).alias(one) for one in whole)
        )
    added = [functions.try_sum(of).alias(sum_of(place)) for place, of in enumerate(whole)]
    added += [functions.sum(functions.abs(one)).alias(magnitude_of(place)) for place, one in enumerate(row)]
    return placed.groupBy(UNIT).agg(*added)


def _names(rows: Any, column: str) -> Any:
    """The column of units or keys, those of text as bytes: no collation makes two of them one.

    Raises:
        InvalidType: for a column of another type.
    """
    _, types = _spark()
    match rows.schema[column].dataType:
        case types.StringType():
            return _column(column).cast("binary")
        case types.BinaryType() | types.IntegralType():
            return _column(column)
        case other:
            raise InvalidType(
                column, f"a column of type {other.simpleString()}", "text, bytes or whole numbers", "Convert it"
            )


def _on_grid(rows: Any, name: str, bits: int) -> Any:
    """A column of numbers in units of the grid, rounded; NaN for one that is missing, or that binary64 would round.

    Raises:
        InvalidType: for a column of another type.
    """
    functions, types = _spark()
    column = _column(name)
    match rows.schema[name].dataType:
        case types.LongType():
            column = functions.when(column.between(-_EXACT, _EXACT), column.cast("double"))
        case types.ByteType() | types.ShortType() | types.IntegerType() | types.FloatType() | types.DoubleType():
            column = column.cast("double")
        case other:
            raise InvalidType(
                name, f"a column of type {other.simpleString()}", "whole or binary64 numbers", "Leave it out"
            )
    return functions.coalesce(functions.rint(column * functions.lit(2.0**bits)), functions.lit(math.nan))


def _added_up(counts: Any, key: str, count: str) -> Any:
    """Keys with their counts, added up by Spark; 0 or less, missing or beyond 2^53 where one of a key's is no count.

    Raises:
        InvalidType: for columns of other types.
    """
    functions, types = _spark()
    each, kind = _column(count), counts.schema[count].dataType
    match kind:
        case types.IntegralType():
            number = each
        case types.FractionalType():
            whole = functions.expr(f"try_cast({_quoted(count)} as bigint)")
            number = functions.when((whole == each) & whole.between(1, LARGEST_COUNT), whole)
            number = number.when(each.isNotNull(), functions.lit(0))
        case _:
            raise InvalidType(count, f"a column of type {kind.simpleString()}", "whole numbers", "Convert it")
    placed = counts.select(_names(counts, key).alias(key), number.cast("bigint").alias(count))
    each = _column(count)
    missing, least = functions.count(functions.lit(1)) > functions.count(each), functions.min(each)
    total = functions.coalesce(
        functions.try_sum(each), functions.lit(LARGEST_COUNT + 1)
    )  # where it is too long a number
    found = functions.when(missing, None).when(least < 1, least).otherwise(total).cast("bigint")
    return placed.groupBy(_column(key)).agg(found.alias(count))


def _few(frame: Any) -> Any:
    """The frame in no more partitions than there are cores, where Spark tells: each task of Python takes its time."""
    context = getattr(frame.sparkSession, "sparkContext", None)
    return frame if context is None else frame.coalesce(context.defaultParallelism)


def _by_batch(work: Work) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What a task does with each batch of its partition, in which every unit or key has one row."""

    def worked(batches: Iterable[Any]) -> Iterator[Any]:
        for table in map(_table, batches):
            yield from work(table).to_batches()

    return worked


def _as_declared(table: Table) -> Table:
    """The table in the types that Spark has: binary, bigint and double."""
    pa = arrow()
    types = {pa.large_binary(): pa.binary(), pa.uint64(): pa.int64()}
    return table.cast(pa.schema([(one.name, types.get(one.type, one.type)) for one in table.schema]))


def _cell(drawn: bytes) -> Table:
    """A table of one value, made without pandas."""
    pa = arrow()
    ends = pa.py_buffer(len(drawn).to_bytes(8, "little").rjust(16, b"\0"))
    return pa.table(
        {_DRAWN: pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(drawn)]).cast(pa.binary())}
    )


def _collected(frame: Any) -> Sequence[bytes]:
    return [bytes(row[_DRAWN]) for row in frame.collect()]


def _table(batch: Any) -> Table:
    return arrow().Table.from_batches([batch])


def _column(name: str) -> Any:
    """A column by its whole name, points included."""
    functions, _ = _spark()
    return functions.col(_quoted(name))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _spark() -> tuple[Any, Any]:
    try:
        from pyspark.sql import functions, types
    except ImportError:
        raise InvalidValue("rows", "no pyspark", "an installation with it", "pip install 'certdp[spark]'") from None
    return functions, types
