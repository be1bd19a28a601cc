"""A statement of a ledger for people: what was spent, by whom, when, and what is left."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction
from typing import Any, final

from attrs import frozen

from ..accounting.display import Displayed, rounded_up
from ..accounting.filters import Remaining
from ..accounting.filters.totals import FULL, Sums
from ..accounting.notions import Bound
from .replay import Replayed
from .requests import RequestState


@final
@frozen(kw_only=True)
class StatementRow:
    """One request of a statement.

    Attributes:
        request: its id.
        time: when it was asked for.
        by: who asked.
        state: how far it has come; what is begun and not committed was drawn elsewhere, or is lost.
        cost: what it costs.
        share: the part of the budget that was used with it, from 0 to 1, rounded up to 2^-52 of it.
    """

    request: str
    time: datetime
    by: str
    state: RequestState
    cost: Bound
    share: float


@final
@frozen(kw_only=True, repr=False)
class LedgerStatement(Displayed):
    """What a ledger says to people.

    Attributes:
        data: the data set.
        opened: when.
        opened_by: by whom.
        budget: what all releases together may cost.
        spent: what is paid or reserved; no guarantee, because it depends on the outputs.
        left: about the largest cost that would still be admitted.
        share: the part of the budget that is used, from 0 to 1.
        rows: the requests, in the order they were asked for.
    """

    data: str
    opened: datetime
    opened_by: str
    budget: Bound
    spent: Bound
    left: Remaining[Any]
    share: float
    rows: tuple[StatementRow, ...]

    @classmethod
    def of(cls, book: Replayed) -> LedgerStatement:
        """The statement of a log."""
        return cls(
            data=book.data,
            opened=book.opened[0],
            opened_by=book.opened[1],
            budget=book.rule.budget,
            spent=book.spent,
            left=book.rule.left(book.sums),
            share=_part(book.rule.share(book.sums)),
            rows=tuple(_rows(book)),
        )

    def cells(self) -> Iterator[tuple[str, str]]:
        """The budget, what is spent and left, and each request."""
        yield "data", self.data
        yield "budget", str(self.budget)
        yield "spent", str(self.spent)
        yield "left", str(self.left)
        for row in self.rows:
            yield row.request, f"{row.cost} ({row.state.value}, {row.by}, {row.time:%Y-%m-%d %H:%M} UTC)"

    def __str__(self) -> str:
        used = f"{rounded_up(100 * Fraction(self.share), 4)} % of {self.budget} for {self.data}"
        return f"{used} in {len(self.rows)} requests; left: {self.left}"


def _rows(book: Replayed) -> Iterator[StatementRow]:
    """Each request, with the share that all before it and it use, as far as they stand now."""
    sums = book.rule.start
    for name, one in book.requests.items():
        if one.state is not RequestState.EXPIRED:
            totals = tuple(total.plus(added) for total, added in zip(sums.totals, one.added.totals, strict=True))
            sums = Sums(sums.number + 1, totals)
        yield StatementRow(
            request=name,
            time=one.time,
            by=one.by,
            state=one.state,
            cost=one.terms.cost.bound,
            share=_part(book.rule.share(sums)),
        )


def _part(share: int) -> float:
    """A share as a float, rounded up."""
    return -(-share >> 10) / (FULL >> 10)
