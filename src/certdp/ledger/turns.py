"""One turn of a writer: what it reads of the account, and what it appends, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, final

from attrs import evolve, frozen

from ..accounting.derivation import ANY_COUNT, RecordCount
from ..accounting.filters import Filter
from ..accounting.filters.states import sums_from_json, sums_to_json
from ..accounting.filters.totals import Sums
from ..accounting.guarantees import Guarantee
from ..accounting.stored import Json, canonical, derivation_from_json
from ..durable.files import digest_of
from .anchors import Anchor
from .entries import Entry, Event, format_time, read_time
from .errors import ClockSetBack, LedgerDamaged
from .requests import NEXT, RequestState, Terms
from .stores import Execute

SKEW = timedelta(minutes=1)
"""How far the clocks of several writers may be apart."""


@final
@frozen
class Row:
    """Where a request stands.

    Attributes:
        state: how far it has come.
        terms: digest of what was asked for.
        attempt: digest of the word of who began it.
        paid: number of the entry that states its cost.
        entry: number of its last entry.
    """

    state: RequestState
    terms: str
    attempt: str
    paid: int
    entry: int

    def begun_by(self, attempt: str) -> bool:
        """Whether this is the word of who began it."""
        return self.attempt == _digest_of_word(attempt)


def _digest_of_word(attempt: str) -> str:
    return digest_of(attempt.encode("ascii"))


@final
class Turn:
    """A transaction on a ledger.

    Args:
        execute: runs its statements.
        rule: what the account admits.
        now: the time of everything that is written.
        place: where the ledger is.
    """

    def __init__(self, execute: Execute, rule: Filter[Any, Any, Any], now: datetime, place: str) -> None:
        self._execute = execute
        self._rule = rule
        self._now = now
        self._place = place
        account = execute("SELECT sums, number, digest, time FROM ledger_account")
        if len(account) != 1:
            raise self._damaged(f"{len(account)} accounts")
        sums, self._number, self._digest, self._time = account[0]
        self.sums: Sums = rule.read_sums(json.loads(sums))

    @property
    def head(self) -> Anchor:
        """The last entry of the log."""
        return Anchor(self._number, self._digest)

    def check_clock(self) -> None:
        """Refuse to write with a clock that is behind the last entry by more than clocks may be apart.

        Raises:
            ClockSetBack: in that case.
        """
        if self._now < read_time(self._time) - SKEW:
            raise ClockSetBack(
                "clock",
                format_time(self._now),
                f"a time from about {self._time} on, when the last entry was written",
                "Nothing was written: set the clock of this machine, or wait",
            )

    def check(self, anchor: Anchor) -> None:
        """Refuse a log in which an anchor is not found.

        Raises:
            LedgerDamaged: for an older copy, and for another log.
        """
        if anchor.number > self._number:
            raise LedgerDamaged(
                "ledger",
                self._place,
                f"a log that reaches its anchor, entry {anchor.number}",
                f"It ends with entry {self._number}: an older copy was restored. What was paid since is not in it: "
                "restore the newer file",
            )
        found = self._execute("SELECT digest FROM ledger_entries WHERE number = ?", (anchor.number,))
        if found != [(anchor.digest,)]:
            raise self._damaged(f"entry {anchor.number} is not that of the anchor: the log was written anew")

    def request(self, request: str) -> Row | None:
        """Where a request stands; None for one that was never asked for."""
        rows = self._execute(
            "SELECT state, terms, attempt, paid, entry FROM ledger_requests WHERE request = ?", (request,)
        )
        return None if not rows else Row(RequestState(rows[0][0]), *rows[0][1:])

    def entry(self, number: int) -> Entry:
        """The entry with this number.

        Raises:
            LedgerDamaged: where it is missing or altered.
        """
        rows = self._execute("SELECT body, digest FROM ledger_entries WHERE number = ?", (number,))
        if not rows or digest_of(rows[0][0].encode()) != rows[0][1]:
            raise self._damaged(f"entry {number} is missing or altered")
        return Entry.read(rows[0][0])

    def sums_beside(self, cost: Guarantee[Any, Any, Any]) -> Sums:
        """The sums to decide about a cost by: where it says how many records there are, with what all before say."""
        if cost.derivation.records == ANY_COUNT:
            return self.sums
        entered = (Entry.read(body).content for (body,) in self._execute("SELECT body FROM ledger_entries", ()))
        costs = (content["cost"] for content in entered if "cost" in content)
        records = RecordCount.common(derivation_from_json(one["derivation"]).records for one in costs)
        return evolve(self.sums, records=records)

    def user_of(self, names: Iterable[str]) -> tuple[str, str] | None:
        """The first of these names of randomness that a request has used up, and that request; None where none is."""
        for name in names:
            for (request,) in self._execute("SELECT request FROM ledger_uses WHERE name = ?", (name,)):
                return name, request
        return None

    def content(self, digest: str) -> bytes:
        """What is kept under a digest.

        Raises:
            LedgerDamaged: where it is missing or altered.
        """
        rows = self._execute("SELECT content FROM ledger_contents WHERE digest = ?", (digest,))
        if not rows or digest_of(bytes(rows[0][0])) != digest:
            raise self._damaged(f"the content with {digest} is missing or altered")
        return bytes(rows[0][0])

    def keep(self, content: bytes) -> str:
        """Keep a content, once, under its digest."""
        digest = digest_of(content)
        if not self._execute("SELECT 1 FROM ledger_contents WHERE digest = ?", (digest,)):
            self._execute("INSERT INTO ledger_contents (digest, content) VALUES (?, ?)", (digest, content))
        return digest

    def enter(
        self, terms: Terms, attempt: str, state: RequestState, by: str, *, sums: Sums, expires: datetime | None
    ) -> Entry:
        """Append what reserves or begins a request for the first time, and its cost.

        Args:
            terms: what is asked for.
            attempt: the word of who asks.
            state: reserved or begun.
            by: who asks.
            sums: the account with its cost.
            expires: until when a reservation can be begun; None for what is begun.
        """
        added = [total.minus(before) for total, before in zip(sums.totals, self.sums.totals, strict=True)]
        word = _digest_of_word(attempt)
        until = None if expires is None else format_time(expires)
        stated = {"by": by, "added": sums_to_json(Sums(1, tuple(added))), "attempt": word, "expires": until}
        entry = self._append(Event(state.value), {**terms.as_json, **stated}, sums)
        self._execute(
            "INSERT INTO ledger_requests (request, state, terms, attempt, paid, entry, expires) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (terms.request, state.value, terms.digest, word, entry.number, entry.number, until),
        )
        for name in terms.uses:
            self._execute("INSERT INTO ledger_uses (name, request) VALUES (?, ?)", (name, terms.request))
        return entry

    def move(self, request: str, row: Row, state: RequestState, stated: Json) -> Entry:
        """Append what brings a request to another state; an expired one gives back what it had set aside.

        Raises:
            LedgerDamaged: where it may not come there.
        """
        if state not in NEXT[row.state]:
            raise self._damaged(f"request {request} cannot go from {row.state.value} to {state.value}")
        first = self.entry(row.paid).content
        sums = self.sums
        if state is RequestState.EXPIRED:
            sums = without(sums, sums_from_json(first["added"], len(sums.totals)))
            self._execute("DELETE FROM ledger_uses WHERE request = ?", (request,))
        entry = self._append(Event(state.value), {**_named(first), **stated}, sums)
        self._execute(
            "UPDATE ledger_requests SET state = ?, entry = ? WHERE request = ?", (state.value, entry.number, request)
        )
        return entry

    def expire(self) -> None:
        """Take back what was reserved and not begun in time."""
        due = self._execute(
            "SELECT request FROM ledger_requests WHERE state = 'reserved' AND expires <= ? ORDER BY expires",
            (format_time(self._now),),
        )
        for (request,) in due:
            row = self.request(request)
            assert row is not None
            self.move(request, row, RequestState.EXPIRED, {})

    def _append(self, event: Event, content: Json, sums: Sums) -> Entry:
        entry = Entry(
            number=self._number + 1,
            previous=self._digest,
            time=self._now,
            event=event,
            content={**content, "sums": sums_to_json(sums)},
        )
        self._execute(
            "INSERT INTO ledger_entries (number, body, digest) VALUES (?, ?, ?)",
            (entry.number, entry.body, entry.digest),
        )
        self.sums, self._number, self._digest, self._time = sums, entry.number, entry.digest, format_time(self._now)
        self._execute(
            "UPDATE ledger_account SET sums = ?, share = ?, number = ?, digest = ?, time = ?",
            (canonical(sums_to_json(sums)), self._rule.share(sums), self._number, self._digest, self._time),
        )
        return entry

    def _damaged(self, what: str) -> LedgerDamaged:
        remedy = f"{what}. Look for what changed it (certdp ledger verify), and restore a copy that has its anchor"
        return LedgerDamaged("ledger", self._place, "a ledger as certdp left it", remedy)


def without(sums: Sums, added: Sums) -> Sums:
    """The sums without what was added to them."""
    totals = (total.minus(amount) for total, amount in zip(sums.totals, added.totals, strict=True))
    return Sums(sums.number - added.number, tuple(totals), sums.records)


def _named(first: Json) -> Json:
    """What every entry about a request names, from its first one."""
    names = ("request", "data", "mode", "relation", "unit", "plan", "certificate", "uses")
    return {name: first[name] for name in names if name in first}
