"""`certdp ledger statement`: who paid what and when, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from ...durable.files import write_whole
from ...ledger import Ledger, LedgerStatement
from ...ledger.entries import format_time
from ...plots.ledgers import plot_statement
from ..answer import Answer, path_as_json
from ..answering import application
from ..options import Plot
from ..outputs import check_places
from ..page import Page
from .options import Where, bound_as_json, left_as_json


@frozen(kw_only=True)
class Stated(Answer):
    """A statement of a ledger.

    Attributes:
        statement: what it says.
        plot: where its picture was written, or None.
    """

    statement: LedgerStatement
    plot: Path | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        found = self.statement
        return {
            "data": found.data,
            "opened": format_time(found.opened),
            "opened_by": found.opened_by,
            "budget": bound_as_json(found.budget),
            "spent": bound_as_json(found.spent),
            "left": left_as_json(found.left),
            "share": found.share,
            "requests": [
                {
                    "request": row.request,
                    "time": format_time(row.time),
                    "by": row.by,
                    "state": row.state.value,
                    "cost": bound_as_json(row.cost),
                    "share": row.share,
                }
                for row in found.rows
            ],
            "plot": path_as_json(self.plot),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        found, words = self.statement, page.numbers.words
        page.bold(
            words(str(found.budget)), f" for {found.data}, opened {found.opened:%Y-%m-%d} by {found.opened_by}", 0
        )
        page.print(f"spent: {words(str(found.spent))}, {page.numbers.most(100 * found.share)} %", 2)
        page.print(f"left: {words(str(found.left))}", 2)
        page.table(
            ("request", "time (UTC)", "by", "state", "cost", "used, %"),
            [
                (
                    row.request,
                    f"{row.time:%Y-%m-%d %H:%M:%S}",
                    row.by,
                    row.state.value,
                    words(str(row.cost)),
                    page.numbers.most(100 * row.share),
                )
                for row in found.rows
            ],
        )
        page.files({"plot": self.plot})


def statement(where: Where, *, plot: Plot = None) -> Stated:
    """Say who paid what and when, and what is left; the plot is of the part of the budget that is used."""
    check_places(None, {"plot": plot})
    found = Ledger(where).statement()
    if plot is not None:
        write_whole(plot, plot_statement(found))
    return Stated(statement=found, plot=plot)


command = application(statement)
