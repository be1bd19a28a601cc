"""Tables of private rows, which answer queries under one account."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, final

from attrs import evolve, field, frozen

from ..accounting.display import Displayed
from ..accounting.errors import InvalidType, InvalidValue, known_keywords
from ..accounting.exact import Number, python_int
from ..accounting.guarantees import Guarantee, require
from ..accounting.provenance import Private
from ..accounting.relations import RECORD, Unit, User
from ..accounting.units import Delta, Epsilon
from ..ledger import Ledger
from ..plugins.contract import Coins, KnowsAdmissible
from ..plugins.contract.coins import release_coins
from ..runs.plan import Plan
from ..runs.sampled import SampledRun
from ..samplers.full import Full
from .account import Account
from .bounds import BoundsSearch
from .columns import Category, Column, Condition, Declared
from .kinds import Query, number_column
from .results import Results
from .rows import Rows
from .sources import rows_of

_CONFIDENCE = 0.95
_MOST_CONFIDENCE = 1.0 - 2.0**-40


@final
@frozen(kw_only=True, eq=False, repr=False)
class Table(Displayed):
    """Private rows of which some columns may be asked about; made by `table`.

    Attributes:
        columns: what may be asked about, by name.
        account: what all answers may cost, and what they have; views of the table share it.
        conditions: which rows are meant, in words; none for all.
        searches: the releases in which bounds of columns were found, by name.
    """

    columns: Mapping[str, Declared]
    account: Account
    conditions: tuple[str, ...] = ()
    searches: Mapping[str, Results] = field(factory=dict)
    _rows: Private[Rows] = field(alias="rows")

    @known_keywords
    def release(
        self,
        *queries: Query,
        epsilon: Epsilon | Number | None = None,
        confidence: float = _CONFIDENCE,
        coins: Coins | None = None,
    ) -> Results:
        """Pay for queries, draw and release the answers. Queries get equal shares.

        Args:
            queries: such as mean("age").
            epsilon: what they may cost together, at the δ of the account; by default all that is left.
            confidence: of the intervals, in (0, 1 − 2^-40].
            coins: the operating system's unless given; answers with seeded coins are not private.

        Raises:
            BudgetExceeded: where the account does not cover it; nothing was spent.
            InvalidType, InvalidValue: for queries about columns that are not there, and other arguments that are
                inadmissible; nothing was spent.
        """
        _require_queries(queries)
        if not 0 < confidence <= _MOST_CONFIDENCE:
            raise InvalidValue("confidence", confidence, "a number in (0, 1 − 2^-40]")
        share = self.account.share(epsilon).split(len(queries))
        parts = [query.parts(self.columns, share, self.account.contributions, confidence) for query in queries]
        rows = self._rows.reveal().bounded(self.account.contributions)
        listed = [(part, part.sample(rows)) for of_one in parts for part in of_one]
        used = release_coins(coins)
        plan = Plan([self._run(part.mechanism) for part, _ in listed])
        for part, sample in listed:
            if isinstance(part.mechanism, KnowsAdmissible):
                part.mechanism.require(sample)
        cost = self.account.pay(plan, used)
        released = iter([part.result(part.mechanism.release(sample, used), confidence) for part, sample in listed])
        joined = [query.joined([next(released) for _ in of_one]) for query, of_one in zip(queries, parts, strict=True)]
        return Results(results={result.name: result for result in joined}, cost=cost, plan=plan, coins=used)

    def where(self, condition: Condition) -> Table:
        """A view of the rows that meet a condition. It costs nothing: who meets it is decided row by row.

        Raises:
            InvalidType, InvalidValue: for anything else than a condition, and one about columns that are not there.
        """
        require(
            "condition", condition, Condition, 'Write Column("age", 0, 120).at_least(18), or join such ones by &, |, ~'
        )
        for name in sorted(condition.columns - {*self.columns}):
            raise InvalidValue("condition", name, f"about columns of the table: {', '.join(self.columns)}")
        rows = self._rows.map(lambda found: found.where(condition.holds(found)))
        return evolve(self, rows=rows, conditions=(*self.conditions, str(condition)))

    def select(self, *names: str) -> Table:
        """A view of some columns, about which alone it can be asked.

        Raises:
            InvalidValue: for a column that is not there.
        """
        for name in names:
            if name not in self.columns:
                raise InvalidValue("column", name, f"one of {', '.join(self.columns)}")
        return evolve(self, columns={name: self.columns[name] for name in names})

    @known_keywords
    def with_bounds(self, name: str, *, epsilon: Epsilon | Number, coins: Coins | None = None) -> Table:
        """A view in which a column has bounds that are found privately, and paid for.

        Noisy counts of numbers between powers of two are released. The bounds are the ends of the outermost counts that
        stand out of the noise, where noise alone makes one stand out 1 time in 20 at most: a few numbers far out may
        be cut off.

        Args:
            name: of a column of numbers.
            epsilon: what the search may cost, at the δ of the account.
            coins: as for `release`.

        Raises:
            BudgetExceeded, InvalidType, InvalidValue: as `release`; nothing was spent.
            NoBounds: where no count stands out; it was paid for.
        """
        column = number_column(self.columns, name)
        search = BoundsSearch(column)
        results = self.release(search, epsilon=epsilon, confidence=search.confidence, coins=coins)
        low, high = search.bounds(results[search.name])
        columns = {**self.columns, name: Column(name, low, high)}
        return evolve(self, columns=columns, searches={**self.searches, name: results})

    @property
    def guarantee(self) -> Guarantee[Any, Any, Any]:
        """What all answers cost together, those to come included: the budget."""
        return self.account.guarantee

    def cells(self) -> Iterator[tuple[str, str]]:
        """Columns, rows that are meant, unit and account. Nothing of it is private."""
        yield "columns", ", ".join(map(_described, self.columns.values()))
        yield "rows", " and ".join(self.conditions) or "all"
        yield "unit", str(self.account.unit.name)
        yield "account", str(self.account)

    def __str__(self) -> str:
        return "; ".join(f"{name}: {text}" for name, text in self.cells())

    def _run(self, mechanism: Any) -> SampledRun[Any]:
        return SampledRun(mechanism=mechanism, sampler=Full(), domain=self.account.domain)


@known_keywords
def table(
    data: Any,
    columns: Iterable[Declared],
    *,
    epsilon: Epsilon | Number | None = None,
    delta: Delta | Number = 0,
    user: str | None = None,
    rows_per_user: int | None = None,
    account: Account | None = None,
    ledger: Ledger | None = None,
) -> Table:
    """Private rows, and the account that all answers about them are paid from.

    Args:
        data: a data frame of pandas or polars (lazy or not), an Arrow table, a mapping of columns, a list of rows that
            are mappings, the path of a file (.csv, .csv.xz, .parquet), or a database cursor that has executed a query.
            Only declared columns are read.
        columns: what may be asked about, with what is public of it.
        epsilon: the budget's ε, above 0: all answers together are (ε, δ)-DP.
        delta: the budget's δ. At 0 noise is discrete Laplace; above it noise is normal, which is less of it where many
            queries are asked.
        user: name of the column that says whose row it is. The guarantee then protects users, all rows of each, not
            single rows.
        rows_per_user: how many rows of a user are used at most, the first ones of those that are asked about; needed
            with `user`. Noise grows with it.
        account: instead of a budget, the account of another table of the same people, `other.account`.
        ledger: what holds the account, so that other processes pay from it too: one that was made with this budget,
            `Ledger.create(…, Account.of(epsilon, delta, unit).filter, data=…)`.

    Guarantees:
        Everything that is ever answered about the table and its views is (ε, δ)-DP under adding or removing one unit:
        a row, or a user with all rows. What a row counts for depends on that row alone. An entry that is missing, or is
        no number in a column of numbers, adds nothing; a value that is not among the public ones belongs to no group.

    Raises:
        InvalidType, InvalidValue: for data that cannot be read, columns that are missing, and a budget that is none.
    """
    declared = _declared(columns)
    if account is None:
        if epsilon is None:
            raise InvalidValue("epsilon", None, "a budget", "State what all answers may cost: epsilon=1")
        account = Account.of(epsilon, delta, _unit(user, rows_per_user))
        if ledger is not None:
            account = account.kept_in(ledger)
    elif ledger is not None:
        raise InvalidValue("ledger", repr(ledger), "none, where there is an account", "The account has its own")
    elif epsilon is not None or delta != 0:
        raise InvalidValue("epsilon", str(epsilon), "none, where there is an account", "The account has a budget")
    elif account.unit != _unit(user, rows_per_user):
        raise InvalidValue("account", account.unit, "one for the same unit", "State user and rows_per_user as there")
    rows = rows_of(data, declared, user)
    return Table(columns=declared, account=account, rows=Private(rows))


def _declared(columns: Iterable[Declared]) -> dict[str, Declared]:
    listed = [columns] if isinstance(columns, Column | Category) else list(columns)
    for column in listed:
        if not isinstance(column, Column | Category):
            raise InvalidType("columns", column, "Column(name, low, high) or Category(name, values)")
    found = {column.name: column for column in listed}
    if not found or len(found) < len(listed):
        raise InvalidValue("columns", [column.name for column in listed], "at least one column, each once")
    return found


def _unit(user: str | None, rows: int | None) -> Unit:
    if user is None:
        if rows is not None:
            raise InvalidValue(
                "rows_per_user", rows, "nothing, where no column says whose row it is", "Name it: user=…"
            )
        return RECORD
    if rows is None:
        remedy = "Choose it beforehand; noise grows with it, and what a user has beyond it is left out"
        raise InvalidValue("rows_per_user", None, "a whole number ≥ 1", remedy)
    return User(contributions=python_int(rows))


def _require_queries(queries: Sequence[Query]) -> None:
    if not queries:
        raise InvalidValue("queries", "none", "at least one", 'Ask table.release(count(), mean("age"))')
    for query in queries:
        require("query", query, Query, 'Write count(), mean("age") …')
    names = [query.name for query in queries]
    if len({*names}) < len(names):
        raise InvalidValue("queries", names, "each query once")


def _described(column: Declared) -> str:
    match column:
        case Column(low=None):
            return column.name
        case Column():
            return f"{column.name} [{float(column.low or 0):g}, {float(column.high or 0):g}]"
        case Category():
            return f"{column.name} ({len(column.values)} values)"
