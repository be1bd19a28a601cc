"""What can be asked of a table: counts, sums, means, variances, histograms and quantiles, of groups or of all."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import TypeAlias, final

import numpy as np
from attrs import evolve, frozen

from ..accounting.bulk.clusters import Integers
from ..accounting.errors import InvalidType, InvalidValue, known_keywords
from ..accounting.exact import Number, exact, python_int
from ..accounting.provenance import Public
from ..mechanisms.quantile_choice import QuantileChoice
from .columns import Category, Column, Declared, in_range
from .intervals import rank_reach
from .noise import Share
from .parts import Choice, Groups, Part, Sums
from .results import Result
from .row_sums import Averaged, Counted, Spread, Statistic, Summed
from .rows import Rows

Columns: TypeAlias = Mapping[str, Declared]

_MOST_CELLS = 1 << 20
_CANDIDATES = 4096


class Query(ABC):
    """A query about a table, before it is put to one.

    Attributes:
        name: as the answer bears it, such as mean(age).
    """

    name: str

    @abstractmethod
    def parts(self, columns: Columns, share: Share, rows: int, confidence: float) -> Sequence[Part]:
        """The releases that answer it, which together cost at most a share of the budget.

        Args:
            columns: what may be asked about, by name.
            share: of the budget.
            rows: of one unit of privacy, at most.
            confidence: of the intervals.

        Raises:
            InvalidValue: for columns that are not there, or of another kind.
        """

    def joined(self, results: Sequence[Result]) -> Result:
        """The answer, from what was told of each release, in order."""
        return Result.joined(results)


@final
@frozen
class _OfGroups(Query):
    """A statistic of each group of rows."""

    name: str
    column: str | None
    by: tuple[str, ...]
    statistic: Callable[[Column | None], Statistic]

    def parts(self, columns: Columns, share: Share, rows: int, confidence: float) -> Sequence[Part]:
        """One release of sums."""
        column = None if self.column is None else number_column(columns, self.column)
        keys = [_category(columns, name) for name in self.by]
        groups: Groups = tuple(product(*(key.values for key in keys)))
        statistic = self.statistic(column)
        return (
            Sums(
                name=self.name,
                groups=_few(groups),
                statistic=statistic,
                noise=share.noise(rows, statistic.finest),
                cells=lambda found: _cells(found, keys),
                numbers=lambda found: np.zeros(found.length) if column is None else found.numbers[column.name],
            ),
        )


@final
@frozen
class _Histogram(Query):
    """The number of rows in each bin."""

    name: str
    column: str
    bins: int | tuple[Fraction, ...]

    def parts(self, columns: Columns, share: Share, rows: int, confidence: float) -> Sequence[Part]:
        """One release of counts."""
        column = number_column(columns, self.column)
        edges = self._edges(column)
        inner = np.array([float(edge) for edge in edges[1:-1]])
        first, last = float(edges[0]), float(edges[-1])
        clipped = isinstance(self.bins, int)

        def cells(found: Rows) -> Integers:
            numbers = found.numbers[column.name]
            inside = clipped | ((numbers >= first) & (numbers <= last))
            return np.where(inside, np.searchsorted(inner, numbers, side="right"), -1)

        return (
            Sums(
                name=self.name,
                groups=_few(tuple((f"{float(a):g} to {float(b):g}",) for a, b in pairwise(edges))),
                statistic=Counted(),
                noise=share.noise(rows, Counted.finest),
                cells=cells,
                numbers=lambda found: found.numbers[column.name],
            ),
        )

    def _edges(self, column: Column) -> tuple[Fraction, ...]:
        if not isinstance(self.bins, int):
            return self.bins
        low, high = column.bounds
        return tuple(low + (high - low) * place / self.bins for place in range(self.bins + 1))


@final
@frozen
class _Quantiles(Query):
    """Quantiles of a column, each a choice among candidates."""

    name: str
    column: str
    at: tuple[Fraction, ...]
    candidates: int
    interval: bool

    def parts(self, columns: Columns, share: Share, rows: int, confidence: float) -> Sequence[Part]:
        """One choice for each quantile; or three, of which the first and the last are ends of an interval."""
        column = number_column(columns, self.column)
        low, high = map(float, column.bounds)
        sides = (-1, 0, 1) if self.interval else (0,)
        pure = share.split(len(self.at) * len(sides)).pure
        found = []
        for quantile, side in product(self.at, sides):
            scale = 2 * max(quantile, 1 - quantile) * rows / pure
            shift = side * math.ceil(rank_reach(float(scale), self.candidates, (1 + confidence) / 2))
            found.append(
                Choice(
                    name=self.name,
                    group=() if len(self.at) == 1 else (f"{float(quantile):g}",),
                    mechanism=QuantileChoice(quantile=Public(quantile), scale=Public(scale), shift=Public(shift)),
                    candidates=np.linspace(low, high, self.candidates),
                    numbers=lambda found: found.numbers[column.name],
                )
            )
        return found

    def joined(self, results: Sequence[Result]) -> Result:
        """Each candidate, held within its interval where there is one."""
        if not self.interval:
            return Result.joined(results)
        lowest, middle, highest = (Result.joined(results[place::3]) for place in range(3))
        ends = np.sort([lowest.low, highest.high], axis=0)  # in the other order, all between them are quantiles
        return evolve(middle, values=np.clip(middle.values, *ends), low=ends[0], high=ends[1])


@known_keywords
def count(*, by: str | Iterable[str] = ()) -> Query:
    """Ask for the number of rows.

    Args:
        by: names of categories: one number for each combination of their public values.
    """
    keys = _names(by)
    return _OfGroups(f"count{_by(keys)}", None, keys, lambda _: Counted())


@known_keywords
def sum(column: str, *, by: str | Iterable[str] = ()) -> Query:
    """Ask for the sum of a column, each number held within its bounds. Noise is relative to the larger bound.

    Args:
        column: its name.
        by: as for `count`.
    """
    return _of_numbers("sum", column, by, Summed)


@known_keywords
def mean(column: str, *, by: str | Iterable[str] = ()) -> Query:
    """Ask for the mean of a column, each number held within its bounds.

    How many rows there are need not be public: it is told with the same noise, at no cost of its own.

    Args:
        column: its name.
        by: as for `count`.
    """
    return _of_numbers("mean", column, by, Averaged)


@known_keywords
def variance(column: str, *, by: str | Iterable[str] = ()) -> Query:
    """Ask for the variance of a column, each number held within its bounds: the mean squared distance from the mean.

    Args:
        column: its name.
        by: as for `count`.
    """
    return _of_numbers("variance", column, by, Spread)


@known_keywords
def standard_deviation(column: str, *, by: str | Iterable[str] = ()) -> Query:
    """Ask for the root of the variance of a column.

    Args:
        column: its name.
        by: as for `count`.
    """
    return _of_numbers("standard_deviation", column, by, lambda low, high: Spread(low, high, root=True))


@known_keywords
def histogram(column: str, bins: int | Iterable[Number] = 10) -> Query:
    """Ask how many numbers of a column lie in each bin.

    Args:
        column: its name.
        bins: how many of equal width there are between the bounds of the column, where numbers beyond a bound are in
            the last bin on that side; or edges in order, where such numbers are in none. A number on an edge is in the
            bin above it.

    Raises:
        InvalidValue: for less than one bin, and edges that are not in order.
    """
    if isinstance(bins, Iterable):
        edges = tuple(in_range(edge, parameter="bins") for edge in bins)
        if len(edges) < 2 or any(a >= b for a, b in pairwise(map(float, edges))):
            raise InvalidValue("bins", [str(edge) for edge in edges], "at least two edges, in order in binary64")
        return _Histogram(f"histogram({column})", column, edges)
    number = python_int(bins)
    if number < 1:
        raise InvalidValue("bins", bins, "at least 1")
    return _Histogram(f"histogram({column})", column, number)


@known_keywords
def quantiles(
    column: str,
    at: Iterable[Number] = ("0.25", "0.5", "0.75"),
    *,
    candidates: int = _CANDIDATES,
    interval: bool = False,
) -> Query:
    """Ask for quantiles of a column.

    Args:
        column: its name.
        at: which, in [0, 1].
        candidates: answers are some of so many public numbers, evenly spaced from bound to bound.
        interval: whether each has an interval that holds the quantile with the confidence stated, whatever the data
            are. Both ends are released too, and each of the three gets a third of the budget. Without it the answer
            says by how many values its rank may be off.

    Raises:
        InvalidValue: for no quantile, one outside [0, 1], and less than two candidates.
    """
    return _quantiles("quantiles", column, at, candidates, interval)


@known_keywords
def median(column: str, *, candidates: int = _CANDIDATES, interval: bool = False) -> Query:
    """Ask for the median of a column; arguments and errors as for `quantiles`."""
    return _quantiles("median", column, ("0.5",), candidates, interval)


def number_column(columns: Columns, name: str) -> Column:
    """The declared column of numbers of this name.

    Raises:
        InvalidValue: where there is none.
    """
    match columns.get(name):
        case Column() as column:
            return column
    known = [column.name for column in columns.values() if isinstance(column, Column)]
    raise InvalidValue("column", name, f"one of the columns of numbers: {', '.join(known) or 'none is declared'}")


def _category(columns: Columns, name: str) -> Category:
    match columns.get(name):
        case Category() as category:
            return category
    known = [column.name for column in columns.values() if isinstance(column, Category)]
    admissible = f"one of the categories: {', '.join(known) or 'none is declared'}"
    raise InvalidValue("by", name, admissible, f"Declare its public values: Category({name!r}, values)")


def _of_numbers(
    kind: str, column: str, by: str | Iterable[str], statistic: Callable[[float, float], Statistic]
) -> Query:
    if not isinstance(column, str):
        raise InvalidType("column", column, "the name of a column, as text")
    keys = _names(by)

    def of(declared: Column | None) -> Statistic:
        assert declared is not None
        return statistic(*map(float, declared.bounds))

    return _OfGroups(f"{kind}({column}){_by(keys)}", column, keys, of)


def _quantiles(kind: str, column: str, at: Iterable[Number], candidates: int, interval: bool) -> Query:
    wanted = tuple(exact(quantile, parameter="at") for quantile in at)
    if not wanted or not all(0 <= quantile <= 1 for quantile in wanted):
        raise InvalidValue("at", [str(quantile) for quantile in wanted], "at least one number in [0, 1]")
    if not 2 <= candidates <= _MOST_CELLS:
        raise InvalidValue("candidates", candidates, f"between 2 and {_MOST_CELLS}")
    return _Quantiles(f"{kind}({column})", column, wanted, candidates, interval)


def _names(by: str | Iterable[str]) -> tuple[str, ...]:
    return (by,) if isinstance(by, str) else tuple(by)


def _by(keys: Sequence[str]) -> str:
    return f" by {', '.join(keys)}" if keys else ""


def _few(groups: Groups) -> Groups:
    if len(groups) > _MOST_CELLS:
        raise InvalidValue("groups", len(groups), f"at most {_MOST_CELLS} numbers in one answer")
    return groups


def _cells(rows: Rows, keys: Sequence[Category]) -> Integers:
    """The group of each row, in the order of all combinations; −1 where a category has another value."""
    cells, known = np.zeros(rows.length, dtype=np.int64), np.ones(rows.length, dtype=np.bool_)
    for key in keys:
        codes = rows.codes[key.name]
        cells, known = cells * len(key.values) + codes, known & (codes >= 0)
    return np.where(known, cells, -1)
