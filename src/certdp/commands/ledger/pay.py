"""`certdp ledger pay`: a cost under an id, at most once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from ...accounting.derivation import Theorem
from ...accounting.filters import BudgetExceeded
from ...accounting.guarantees import Guarantee
from ...ledger import Ledger, Payment
from ...ledger.entries import format_time
from ..answer import Answer
from ..answering import application
from ..output import FAILED
from ..page import Page
from ..sign import read_small
from .options import Anchor, By, StatedBound, Where, left_as_json

_STATED = Theorem("declaration", "cost stated by who pays")


@frozen(kw_only=True)
class Paid(Answer):
    """Whether a payment is new; whoever runs a script draws after exit code 0 alone.

    Attributes:
        ledger: what was paid from.
        request: the id.
        payment: what the ledger says; None where the budget does not cover the cost.
        refusal: why not, or None.
    """

    ledger: Ledger
    request: str
    payment: Payment | None
    refusal: BudgetExceeded | None = None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        found = self.payment
        return {
            "request": self.request,
            "new": found is not None and found.new,
            "state": None if found is None else found.state.value,
            "entry": None if found is None else found.entry,
            "time": None if found is None else format_time(found.time),
            "left": left_as_json(self.ledger.remaining()),
            "refused": None if self.refusal is None else str(self.refusal),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        if self.payment is None:
            page.bold("not paid", f": {self.refusal}", 0)
        else:
            page.bold("paid" if self.payment.new else "paid before", f": {self.payment}", 0)
        page.print(f"left: {page.numbers.words(str(self.ledger.remaining()))}", 2)

    @property
    def exit_code(self) -> int:
        """0 where the payment is new, 1 where the id was paid before or the budget does not cover it."""
        return 0 if self.payment is not None and self.payment.new else FAILED


def pay(
    where: Where,
    *,
    cost: StatedBound,
    request: Annotated[str, typer.Option(metavar="ID", help="An id that stands for one release alone.")],
    proof: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The certificate of what is released, kept with its digest.")
    ] = None,
    anchor: Anchor = None,
    by: By = None,
) -> Paid:
    """Pay for what is drawn after this, at most once: exit code 0 says draw, 1 says do not.

    The cost is that of a release whose guarantee has the ledger's unit and relation.
    """
    ledger = Ledger(where, anchor=anchor)
    rule = ledger.rule
    guarantee = Guarantee(
        bound=cost.bound(rule.budget), relation=rule.relation, unit=rule.unit, derivation=_STATED.conclude()
    )
    certificate = None if proof is None else read_small("proof", proof)
    try:
        found = ledger.pay(guarantee, request=request, certificate=certificate, by=by)
    except BudgetExceeded as refusal:
        return Paid(ledger=ledger, request=request, payment=None, refusal=refusal)
    return Paid(ledger=ledger, request=request, payment=found)


command = application(pay)
