"""One release under one id of a ledger: paid before anything of it is drawn, and drawn by who paid it alone."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any, TypeAlias, final

from ..accounting.errors import InvalidType
from ..accounting.filters import BudgetExceeded
from ..accounting.guarantees import Guarantee
from ..plugins.contract import Coins
from ..plugins.contract.coins import seeded_run
from .errors import LedgerUnavailable, ReleasedBefore, lost
from .ledger import Ledger
from .requests import Output, Payment, RequestState


@final
class LedgerRequest:
    """A ledger, and the id under which one release is paid from it.

    Whatever takes a `ledger` takes one of these, too; a `Ledger` alone is paid under an id that is drawn. Copies and
    pickles name the ledger and the id, and have paid nothing: only who paid hands the output in.

    Args:
        ledger: what holds the budget.
        request: the id, which names this release alone.
        by: who pays; the user of the operating system unless given.
    """

    def __init__(self, ledger: Ledger, request: str, *, by: str | None = None) -> None:
        if not isinstance(ledger, Ledger):
            raise InvalidType("ledger", ledger, "a Ledger", "Open it: certdp.Ledger(…)")
        self.ledger = ledger
        self.request = request
        self.by = by
        self.refusal: BudgetExceeded | None = None
        """Why the budget did not cover the release; None unless that was found."""
        self._payment: Payment | None = None

    def pay(
        self,
        cost: Guarantee[Any, Any, Any],
        *,
        plan: str,
        coins: Coins,
        certificate: bytes | None = None,
        uses: Iterable[str] = (),
    ) -> None:
        """Pay for a release: it is drawn after this, and only where nothing is raised.

        Args:
            cost: the guarantee of what is released, given all earlier outputs.
            plan: digest of what is released.
            coins: what it is drawn with.
            certificate: the certificate of what is released, kept with its digest.
            uses: names of randomness that was drawn before and that the release uses up.

        Raises:
            InvalidValue: for seeded coins, with which nothing is released privately.
            ReleasedBefore: for an id whose output was handed in; `ledger.output(request)` has it.
            OutputLost: for an id that was paid before and has no output: it is never drawn again.
            BudgetExceeded, SameRequest, UsedBefore, ReservationExpired, ClockSetBack, LedgerUnavailable,
                LedgerDamaged: as `Ledger.pay`.
        """
        if not coins.private:
            raise seeded_run("ledger")
        try:
            found = self.ledger.pay(
                cost, request=self.request, plan=plan, certificate=certificate, by=self.by, uses=uses
            )
        except BudgetExceeded as refusal:
            self.refusal = refusal
            raise
        match found.state:
            case RequestState.BEGUN if found.new:
                self._payment = found
            case RequestState.COMMITTED:
                remedy = "Nothing is drawn: ledger.output(request) has what was handed in. Else choose another id"
                raise ReleasedBefore("request", self.request, "an id of which nothing was released", remedy)
            case _:
                raise lost(self.request)

    def hand_in(self, content: bytes) -> Output:
        """Keep the output of what was paid: a later call with the id finds it.

        Raises:
            OutputLost: where nothing was paid here.
            LedgerUnavailable, LedgerDamaged, ClockSetBack: with nothing written; it may be handed in again.
        """
        if self._payment is None:
            raise lost(self.request)
        try:
            return self.ledger.commit(self._payment, content)
        except LedgerUnavailable:  # once more, over another connection: nobody else can hand it in
            return self.ledger.commit(self._payment, content)

    @property
    def handed_in(self) -> bool:
        """Whether the id has an output."""
        return self.ledger.state(self.request) is RequestState.COMMITTED

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has paid nothing, and hands nothing in: that is for the one who paid."""
        return _unpaid, (self.ledger, self.request, self.by)

    def __repr__(self) -> str:
        return f"LedgerRequest({self.ledger!r}, {self.request!r})"


def _unpaid(ledger: Ledger, request: str, by: str | None) -> LedgerRequest:
    return LedgerRequest(ledger, request, by=by)


PaidFrom: TypeAlias = Ledger | LedgerRequest
"""What a release is paid from: a ledger, under an id of its own or one that is drawn."""


def request_of(paid_from: PaidFrom, kind: str) -> LedgerRequest:
    """The request under which one release is paid.

    Args:
        paid_from: a ledger, or a request of one.
        kind: what is released, which begins an id that is drawn.

    Raises:
        InvalidType: for anything else.
    """
    if isinstance(paid_from, LedgerRequest):
        return paid_from
    return LedgerRequest(paid_from, f"{kind} {secrets.token_hex(16)}")
