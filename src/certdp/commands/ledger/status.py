"""`certdp ledger status`: what is spent and left, and where a request stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from attrs import frozen

from ...accounting.filters import Remaining
from ...accounting.notions import Bound
from ...ledger import Ledger, RequestState
from ..answer import Answer
from ..answering import application
from ..page import Page
from .options import Anchor, Where, bound_as_json, left_as_json


@frozen(kw_only=True)
class Status(Answer):
    """Where a ledger stands.

    Attributes:
        ledger: which.
        spent: what is paid or reserved.
        left: about the largest cost that would still be admitted.
        number: how many costs are paid or reserved.
        head: the last entry of the log.
        request: an id that was asked about, or None.
        state: how far that has come; None where it was never used.
    """

    ledger: Ledger
    spent: Bound
    left: Remaining[Any]
    number: int
    head: str
    request: str | None
    state: RequestState | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        asked = {} if self.request is None else {"request": self.request, "state": self.state and self.state.value}
        return {
            "data": self.ledger.data,
            "budget": bound_as_json(self.ledger.rule.budget),
            "spent": bound_as_json(self.spent),
            "left": left_as_json(self.left),
            "number": self.number,
            "head": self.head,
            **asked,
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        words = page.numbers.words
        page.bold(words(str(self.ledger.rule.budget)), f" for {self.ledger.data}", 0)
        page.print(f"spent: {words(str(self.spent))}, in {self.number} payments", 2)
        page.print(f"left: {words(str(self.left))}", 2)
        if self.request is not None:
            page.print(f"request {self.request}: {'not used' if self.state is None else self.state.value}", 2)
        page.copy(f"head: {self.head}")


def status(
    where: Where,
    *,
    request: Annotated[str | None, typer.Option(metavar="ID", help="An id to ask about.")] = None,
    anchor: Anchor = None,
) -> Status:
    """Say what is spent and left; nothing is written."""
    ledger = Ledger(where, anchor=anchor)
    return Status(
        ledger=ledger,
        spent=ledger.spent,
        left=ledger.remaining(),
        number=ledger.number,
        head=str(ledger.head),
        request=request,
        state=None if request is None else ledger.state(request),
    )


command = application(status)
