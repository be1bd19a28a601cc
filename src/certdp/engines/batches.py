"""What tasks of an engine compute of Arrow tables: pure functions, whose results depend on no order of rows."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from typing import Any, Self, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..accounting.display import shorten
from ..accounting.draws.by_name import NamedCoins
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import Floats
from ..accounting.guarantees import require
from ..accounting.private import InvalidData
from ..accounting.provenance import Public
from ..accounting.sampling.clipping import Outside, hold, largest_radius
from ..accounting.sampling.domains import NormBall
from ..accounting.stored import packed, unpacked
from ..records.chunks import every_realisation
from ..records.sums import SumPart, additive
from ..runs.prepared import matrix_within, prepared
from ..runs.sampled import SampledRun
from ..weighted_sampling import KeyCounts
from ..weighted_sampling.keys import arrow, as_bytes, as_keys, packed_keys, unpacked_keys
from ..weighted_sampling.release import PrivateWeightedSampling

Table: TypeAlias = Any
"""A pyarrow.Table."""

UNIT = "unit"
WEIGHT, PROBABILITY = "weight", "probability"
_KEPT = "certdp-kept-keys/1"
_COUNT = "count"
_WORD, _SALT = 8, 32  # bytes
_FINE = 32  # bits of the radius that a grid for rows has
_MOST_BITS = 62  # of magnitudes added up in binary64: the exact sum has less than 63 then
_GRIDS = 900  # bits: so a row scales exactly, or to infinity


@final
@frozen(kw_only=True)
class UnitSums:
    """One record for each unit: what its rows add up to. Of more rows than are to count, those with the least hashes.

    A row is rounded to a public grid of 2^-bits, at most 2^-32 of the radius of the run's domain, and rows are added as
    whole numbers of it: what they add up to is a function of a unit's own rows alone, in whatever order an engine adds.

    Attributes:
        run: what is released of these records.
        unit: name of the column that says whose row it is.
        columns: of numbers; the coordinates of a record.
        most: how many rows of a unit count; all of them for None.
        outside: what happens to records outside the run's domain.
        salt: of the hashes, which are of a unit's own rows.
        bits: of the grid.
    """

    run: SampledRun[Any]
    unit: str
    columns: tuple[str, ...]
    most: int | None
    outside: Outside
    salt: bytes
    bits: int

    @classmethod
    def of(
        cls,
        run: SampledRun[Any],
        known: Sequence[str],
        unit: str,
        columns: Sequence[str] | None,
        most: Public[int] | None,
        outside: Outside,
    ) -> Self:
        """The sums of rows with these columns; all but that of units unless some are named.

        Raises:
            InvalidType, InvalidValue: for a run that does not release from exact sums, a column that is not there or
                named twice, a number of rows below 1, and a radius for which binary64 has no grid.
        """
        require("step", run, SampledRun, "Build one: SampledRun(mechanism=…, sampler=…, domain=…)")
        require("outside", outside, Outside, "Use Outside.CLIP or Outside.DROP")
        additive(run)
        if most is not None:
            require("most", most, Public, "Declare it: Public(…)")
            whole("most", most.value, 1)
        return cls(
            run=run,
            unit=named("unit", known, unit),
            columns=numbers_among(known, columns, without=(unit,)),
            most=None if most is None else most.value,
            outside=outside,
            salt=os.urandom(_SALT),
            bits=_grid(run.domain),
        )

    def totals(self, rows: Table) -> Table:
        """What the rows of each unit add up to: `of_totals` of it are the records.

        Args:
            rows: all those of a unit are in this table.

        Returns:
            the units; for each coordinate the sum of the rows that count, int64 in units of the grid, and the float64
            sum of the magnitudes of all rows, which tells whether the first is right.

        Raises:
            InvalidType, InvalidValue: for a row of no unit, and for columns of anything but numbers.
        """
        pa = arrow()
        units = as_names(rows.column(self.unit)).dictionary_encode()
        codes, names = units.indices.to_numpy(), units.dictionary
        with np.errstate(over="ignore", invalid="ignore"):  # their magnitudes tell
            row = np.rint(np.ldexp(matrix_of(rows, self.columns), self.bits)) + 0.0  # no sign of zero decides an order
            number = row.astype(np.int64)
        order = np.argsort(codes, kind="stable")
        if self.most is not None:
            order, counted = self._bounded(codes, names, row)
            number *= counted[:, np.newaxis]
        starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) != 0]) if len(order) else np.zeros(0, np.int64)
        sums, magnitudes = (
            np.add.reduceat(each[order], starts, axis=0) if len(order) else each for each in (number, np.abs(row))
        )
        found = {UNIT: names.take(pa.array(codes[order][starts]))}
        for place in range(len(self.columns)):
            found[sum_of(place)] = pa.array(np.ascontiguousarray(sums[:, place]))
            found[magnitude_of(place)] = pa.array(np.ascontiguousarray(magnitudes[:, place]))
        return pa.table(found)

    def records(self, totals: Table) -> Table:
        """A table of units and their records, from what their rows add up to.

        Args:
            totals: as `totals` gives; an engine may have added up itself, missing numbers as NaN.

        Guarantees: a unit's record is a function of its own rows, whatever their order and whosever rows are beside.

        Raises:
            InvalidType, InvalidValue: for a row of no unit, numbers that are not finite or too large to be added, and
                what the run could not release from: nothing was paid.
        """
        pa, units = arrow(), as_names(totals.column(UNIT))
        records = np.empty((len(units), len(self.columns)))
        for place, name in enumerate(self.columns):
            if not np.all(_numbers(totals.column(magnitude_of(place))) < 2.0**_MOST_BITS):  # so it is for NaN
                limit = f"finite numbers, whose magnitudes add up to less than 2^{_MOST_BITS - self.bits} for a unit"
                remedy = "Remove or impute such rows, or declare the radius of the data"
                raise InvalidData(
                    name, "a number that is missing, not finite or too large for the radius", limit, remedy
                )
            records[:, place] = np.ldexp(_numbers(totals.column(sum_of(place))).astype(np.float64), -self.bits)
        prepared(
            self.run.mechanism,
            self.run.drawing.realise,
            self.run.releases,
            records,
            self.run.domain,
            self.outside,
            None,
        )
        columns = [np.ascontiguousarray(column) for column in records.T]
        arrays = [pa.Array.from_buffers(pa.float64(), len(units), [None, pa.py_buffer(one)]) for one in columns]
        return pa.table([units, *arrays], names=[UNIT, *self.columns])

    def part(self, records: Table, coins: NamedCoins) -> bytes:
        """The bytes of the `SumPart` over some of the records."""
        names = records.column(UNIT).to_pylist()
        return SumPart.of_units(self.run, matrix_of(records, self.columns), names, coins, self.outside).to_bytes()

    def empty(self, coins: NamedCoins) -> SumPart:
        """The part over no records: a release of nobody is an output like any other."""
        return SumPart.of_units(self.run, np.empty((0, len(self.columns))), [], coins, self.outside)

    def _bounded(
        self, codes: NDArray[np.int32], names: Any, row: Floats
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """An order of the rows by unit, and which of them count: of each unit those with the least hashes."""
        own, rows, most = names.to_pylist(), np.ascontiguousarray(row), self.most or 0
        start = hashlib.blake2b(digest_size=_WORD, key=self.salt, person=b"certdp-rows")
        many = np.bincount(codes, minlength=len(own))[codes] > most
        hashes = np.zeros(len(codes), dtype=np.uint64)
        for place in np.flatnonzero(many).tolist():
            hashed = start.copy()
            hashed.update(len(own[codes[place]]).to_bytes(_WORD, "little") + own[codes[place]] + rows[place].tobytes())
            hashes[place] = int.from_bytes(hashed.digest(), "little")
        order = np.lexsort([*row.T[::-1], hashes, codes])
        grouped = codes[order]
        counted = np.zeros(len(codes), dtype=np.bool_)
        counted[order] = np.arange(len(codes)) - np.searchsorted(grouped, grouped, side="left") < most
        return order, counted


def sum_of(place: int) -> str:
    """The name of the column in which a coordinate is added up."""
    return f"sum {place}"


def magnitude_of(place: int) -> str:
    """The name of the column in which a coordinate's magnitudes are added up."""
    return f"magnitude {place}"


def _grid(domain: NormBall | None) -> int:
    """The bits of the grid for rows: 2^-bits is at most 2^-32 of the radius, and of 1 without a domain."""
    _, exponent = math.frexp(1.0 if domain is None else largest_radius(domain))
    bits = _FINE + 1 - exponent
    if abs(bits) > _GRIDS:
        radius = shorten(str(domain.radius.value)) if domain else ""
        raise InvalidValue(
            "radius", radius, f"between about 2^-{_GRIDS - _FINE} and 2^{_GRIDS + _FINE}", "Scale the data"
        )
    return bits


@final
@frozen(kw_only=True)
class KeyDraws:
    """Keys of one place, of which some are kept.

    Attributes:
        sampling: what is released of them.
        key: name of the column of keys.
        count: name of the column of counts.
    """

    sampling: PrivateWeightedSampling
    key: str
    count: str

    def counts(self, rows: Table) -> Table:
        """A table of keys and counts, added up; all rows of a key are in this one.

        Raises:
            InvalidType, InvalidValue: for keys and counts that are none, or that could not be drawn for.
        """
        pa = arrow()
        summed = KeyCounts.of(rows, key=self.key, count=self.count, aggregate=True)
        self.sampling.require(summed)
        return pa.table([as_bytes(summed.keys), pa.array(summed.counts)], names=[self.key, self.count])

    def kept(self, counts: Table, coins: NamedCoins) -> bytes:
        """The keys that are kept, with their counts, as bytes."""
        kept = self.sampling.keep(KeyCounts.of(counts, key=self.key, count=self.count), coins)
        return packed(_KEPT, {}, {**packed_keys(kept.keys), _COUNT: kept.counts})


def named(parameter: str, known: Sequence[str], column: str) -> str:
    """The name of a column that is there.

    Raises:
        InvalidValue: for any other.
    """
    if column not in known:
        raise InvalidValue(parameter, column, f"one of the columns {', '.join(known)}")
    return column


def numbers_among(
    known: Sequence[str], columns: Sequence[str] | None, *, without: Sequence[str] = ()
) -> tuple[str, ...]:
    """The columns of numbers that a record is made of: those named, else all but some.

    Raises:
        InvalidValue: for none, one that is not there, and one named twice.
    """
    chosen = [name for name in known if name not in without] if columns is None else list(columns)
    for name in chosen:
        if name in without or chosen.count(name) > 1:
            raise InvalidValue("columns", name, "columns of numbers, each one once")
        named("columns", known, name)
    if not chosen:
        raise InvalidValue("columns", "none", "at least one column of numbers")
    return tuple(chosen)


def kept_counts(content: bytes) -> KeyCounts:
    """The keys that `KeyDraws.kept` gave."""
    _, arrays = unpacked(_KEPT, content)
    return KeyCounts(unpacked_keys(arrays), arrays[_COUNT])


@final
@frozen(kw_only=True)
class WeightsOf:
    """Weight and probability of each record.

    Attributes:
        run: as which records would be drawn.
        columns: of numbers; the coordinates of a record.
        outside: what happens to records outside the run's domain.
    """

    run: SampledRun[Any]
    columns: tuple[str, ...]
    outside: Outside

    @classmethod
    def of(cls, run: SampledRun[Any], known: Sequence[str], columns: Sequence[str] | None, outside: Outside) -> Self:
        """The weights of records with these columns.

        Raises:
            InvalidType, InvalidValue: for no run, a column that is not there, and columns that have the results' names.
        """
        require("run", run, SampledRun, "Build one: SampledRun(mechanism=…, sampler=…)")
        require("outside", outside, Outside, "Use Outside.CLIP or Outside.DROP")
        run.require_drawn_apart()
        for name in (WEIGHT, PROBABILITY):
            if name in known:
                raise InvalidValue("records", f"a column {name}", "records without one", "Rename it")
        return cls(run=run, columns=numbers_among(known, columns), outside=outside)

    def of_table(self, records: Table) -> tuple[Floats, Floats]:
        """Weight and probability of each; weight inf and probability 0 of one that is dropped."""
        held = hold(matrix_within(matrix_of(records, self.columns), self.run.domain), self.run.domain, self.outside)
        every = every_realisation(held, self.run.drawing.realise(held.features))
        return every.weight, every.probability


def matrix_of(table: Table, columns: Sequence[str]) -> Floats:
    """The matrix of some columns in binary64, with a row for each row of the table.

    Raises:
        InvalidType: for a column of anything but numbers.
        InvalidData: for a missing number, and for one that binary64 would round.
    """
    pa, found = arrow(), np.empty((table.num_rows, len(columns)))
    for place, name in enumerate(columns):
        column = table.column(name)
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            raise InvalidType(name, f"a column of type {column.type}", "whole or binary64 numbers", "Leave it out")
        if column.null_count:
            raise InvalidData(name, "a missing number", "a number in every row", "Remove or impute such rows")
        try:
            found[:, place] = _numbers(column.cast(pa.float64()))
        except pa.ArrowInvalid:
            raise InvalidData(name, "a whole number beyond 2^53", "numbers that binary64 holds") from None
    return found


def _numbers(column: Any) -> NDArray[Any]:
    """A column of numbers without nulls; what Arrow itself offers loads pandas, a second of a worker's first call."""
    return np.from_dlpack(column.combine_chunks())


def as_names(column: Any) -> Any:
    """A column of units as an array of bytes: text, bytes, or whole numbers in decimal.

    Raises:
        InvalidType: for any other type.
        InvalidValue: for a row of no unit.
    """
    pa = arrow()
    if pa.types.is_integer(column.type):
        column = column.cast(pa.large_string())
    return as_bytes(as_keys(column))
