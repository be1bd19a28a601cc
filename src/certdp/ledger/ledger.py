"""The ledger: payments that outlive a process, by the rule of a filter."""

from __future__ import annotations

import getpass
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, final

from ..accounting.derivation import Derivation
from ..accounting.enclosures import Truth
from ..accounting.errors import InvalidType, InvalidValue, known_keywords, require_callable
from ..accounting.filters import Filter, Remaining
from ..accounting.filters.spending import this_process
from ..accounting.filters.states import sums_to_json
from ..accounting.guarantees import Guarantee, refuse_counted_elsewhere, require
from ..accounting.notions import Bound
from ..accounting.stored import canonical, derivation_from_json
from ..durable.files import digest_of
from .anchors import Anchor
from .entries import FORMAT, NOTHING_BEFORE, Entry, Event, format_time
from .errors import LedgerDamaged, LedgerUnavailable, ReservationExpired, SameRequest, UsedBefore, lost
from .places import store_at
from .replay import Findings, compared, export_line, replayed
from .requests import Mode, Output, Payment, RequestState, Terms
from .schema import SINCE, TABLES, VERSION
from .statements import LedgerStatement
from .stores import Execute
from .turns import Row, Turn


def _now() -> datetime:
    return datetime.now(UTC)


@final
class Ledger:
    """A budget in a database, which any number of processes pay from.

    Args:
        where: the file of a ledger that exists, or the address of a database, `postgresql://…`.
        anchor: a file with the head of the log, kept elsewhere: it is compared before and rewritten after each payment.

    Guarantees:
        The costs of all that was begun stay provably within the budget, whichever processes, threads and forks pay, and
        wherever they are killed: the filter decides on exact sums inside of one transaction, which is on disk before
        anything is drawn. Under an id at most one output is drawn, and nothing that was begun is given back. The log
        grows alone, and each entry has the digest of the one before. Who can write to the database can put another log
        in its place: an anchor kept elsewhere tells.

    The tables of an older version are brought to this one when they are opened; the log stays as it is.

    Raises:
        InvalidValue: for a ledger that does not exist, or of a later version.
        LedgerDamaged, LedgerUnavailable: for one that cannot be read.
    """

    def __init__(self, where: Path | str, *, anchor: Path | None = None) -> None:
        self._store = store_at(where)
        self._anchor = None if anchor is None else Path(anchor).absolute()
        self._clock: Callable[[], datetime] = _now
        self._unanswered: dict[tuple[tuple[int, int], str], str] = {}  # by process and id, the word of who asked
        with self._store.reading() as execute:
            is_older = _version(execute) < VERSION
            opened = execute("SELECT body FROM ledger_entries WHERE number = 0")
        if is_older:
            with self._store.writing() as execute:
                _migrate(execute)
        if not opened:
            raise LedgerDamaged("ledger", self.place, "a log from its first entry on", "Restore the file")
        content = Entry.read(opened[0][0]).content
        self.rule: Filter[Any, Any, Any] = Filter.from_rule(content["rule"])
        """The filter that decides; it has paid nothing itself."""
        self.rule.share(self.rule.start)  # what it solves for is solved here, and not while others wait for their turn
        self.data: str = content["data"]
        """The data set that the budget protects."""

    @staticmethod
    @known_keywords
    def create(
        where: Path | str, rule: Filter[Any, Any, Any], *, data: str, anchor: Path | None = None, by: str | None = None
    ) -> Ledger:
        """Make a new ledger.

        Args:
            where: a file that does not exist yet, or the address of a database without a ledger.
            rule: a filter that has paid nothing.
            data: the name of the data set that it protects.
            anchor: as for `Ledger`.
            by: who makes it; the user of the operating system unless given.

        Raises:
            InvalidValue: for a filter that has paid, a name that is taken, a place that cannot be written.
        """
        require("rule", rule, Filter, "State the budget as a filter, such as PureFilter(Pure(…), …)")
        if rule.number:
            remedy = "What it has paid is on another account: make a filter for what is left, and use that alone"
            raise InvalidValue("rule", f"a filter with {rule.number} costs", "one that has paid nothing", remedy)
        content = {"format": FORMAT, "data": data, "rule": rule.rule(), "by": _user(by)}
        content["sums"] = sums_to_json(rule.start)
        first = Entry(number=0, previous=NOTHING_BEFORE, time=_now(), event=Event.OPENED, content=content)
        store_at(where).create(
            [
                *((table, ()) for table in TABLES),
                ("INSERT INTO ledger_version (one, version) VALUES (1, ?)", (VERSION,)),
                (
                    "INSERT INTO ledger_entries (number, body, digest) VALUES (?, ?, ?)",
                    (0, first.body, first.digest),
                ),
                (
                    "INSERT INTO ledger_account (one, sums, share, number, digest, time) VALUES (1, ?, 0, 0, ?, ?)",
                    (canonical(sums_to_json(rule.start)), first.digest, format_time(first.time)),
                ),
            ]
        )
        if anchor is not None:
            Anchor(0, first.digest).write(Path(anchor))
        return Ledger(where, anchor=anchor)

    # Paying

    def pay(
        self,
        cost: Guarantee[Any, Any, Any],
        *,
        request: str,
        plan: str | None = None,
        certificate: bytes | None = None,
        by: str | None = None,
        uses: Iterable[str] = (),
    ) -> Payment:
        """Pay for what is then drawn elsewhere, at most once: only where the answer is `new`.

        Args:
            cost: the guarantee of what is released, given all earlier outputs.
            request: an id that names this release alone; with it the call may be repeated.
            plan: a digest of what is released, for the log.
            certificate: the certificate of what is released, kept with its digest.
            by: who pays; the user of the operating system unless given.
            uses: names of randomness that was drawn before and that the release uses up, such as the draws of a
                threshold sample: no other request may use them.

        Raises:
            BudgetExceeded: unless all costs provably stay within the budget; nothing was spent.
            SameRequest: for an id that was used for something else.
            UsedBefore: for randomness that another request has used.
            ReservationExpired: for the id of a reservation that was not begun in time.
            LedgerUnavailable: where it may be paid and nobody was told, because the store or the anchor did not answer:
                the next call with that id, in this process, goes on where this one stopped.
            ClockSetBack, LedgerDamaged: with nothing written.
        """
        return self._paid(cost, request, Mode.PAY, RequestState.BEGUN, None, plan, certificate, by, uses)

    def reserve(
        self,
        cost: Guarantee[Any, Any, Any],
        *,
        request: str,
        expires: timedelta,
        plan: str | None = None,
        certificate: bytes | None = None,
        by: str | None = None,
        uses: Iterable[str] = (),
    ) -> Payment:
        """Set a cost aside, for `begin`; it is given back unless that happens in time.

        Args:
            cost, request, plan, certificate, by, uses: as for `pay`.
            expires: after how long, above 0.

        Raises:
            InvalidValue: for a time that is not above 0. Otherwise as `pay`.
        """
        if not isinstance(expires, timedelta):
            raise InvalidType("expires", expires, "a timedelta")
        if expires <= timedelta(0):
            raise InvalidValue("expires", str(expires), "a time above 0")
        return self._paid(cost, request, Mode.PAY, RequestState.RESERVED, expires, plan, certificate, by, uses)

    def begin(self, payment: Payment) -> Payment:
        """Begin what was reserved: from here on it is paid for good.

        Raises:
            ReservationExpired: where it was not begun in time; nothing is paid.
            SameRequest: for a reservation of somebody else.
            ClockSetBack, LedgerUnavailable, LedgerDamaged: with nothing written.
        """
        with self._writing() as turn:
            row = self._own_row(turn, payment)
            match row.state:
                case RequestState.EXPIRED:
                    raise _expired(payment.request)
                case RequestState.RESERVED:
                    entry = turn.move(payment.request, row, RequestState.BEGUN, {"attempt": row.attempt})
                    return _payment(payment.request, RequestState.BEGUN, entry, payment.attempt, new=True)
            return _payment(payment.request, row.state, turn.entry(row.entry), payment.attempt, new=False)

    def release(
        self,
        cost: Guarantee[Any, Any, Any],
        draw: Callable[[], bytes],
        *,
        request: str,
        plan: str | None = None,
        certificate: bytes | None = None,
        by: str | None = None,
        uses: Iterable[str] = (),
    ) -> Output:
        """Pay, then draw, then keep the output: every call with that id has the same bytes.

        Args:
            cost, request, plan, certificate, by, uses: as for `pay`.
            draw: gives the output; it is called once at most, after the payment is on disk.

        Raises:
            OutputLost: for an id that was begun and has no output; it stays paid, and is never drawn again. Another
                process may still be drawing it.
            InvalidType: where `draw` gives no bytes; the id stays paid.
            BudgetExceeded, SameRequest, UsedBefore, ClockSetBack, LedgerUnavailable, LedgerDamaged: as `pay`.
        """
        require_callable("draw", draw)
        payment = self._paid(cost, request, Mode.RELEASE, RequestState.BEGUN, None, plan, certificate, by, uses)
        if payment.new:
            content = draw()
            try:
                return self.commit(payment, content)
            except LedgerUnavailable:  # once more, over another connection: nobody else can hand it in
                return self.commit(payment, content)
        if payment.state is RequestState.COMMITTED:
            return self.output(request)
        raise lost(request)

    def commit(self, payment: Payment, content: bytes) -> Output:
        """Hand in the output of what was begun, by who began it.

        Raises:
            InvalidType: for anything but bytes.
            OutputLost: for what was not begun, or by somebody else.
            SameRequest: where another output was handed in.
            ClockSetBack, LedgerUnavailable, LedgerDamaged: with nothing written; ask again.
        """
        if not isinstance(content, bytes):
            raise InvalidType("draw", content, "bytes", "Encode the output; the request stays paid")
        with self._writing() as turn:
            row = self._own_row(turn, payment)
            digest = digest_of(content)
            if row.state is RequestState.BEGUN:
                turn.keep(content)
                turn.move(payment.request, row, RequestState.COMMITTED, {"output": digest})
                return Output(request=payment.request, content=content, digest=digest, new=True)
            if row.state is not RequestState.COMMITTED:
                raise lost(payment.request)
            if turn.entry(row.entry).content["output"] != digest:
                remedy = "One request has one output: what was handed in first is what was released"
                raise SameRequest("output", digest, "the output that was handed in first", remedy)
        return Output(request=payment.request, content=content, digest=digest, new=False)

    def output(self, request: str) -> Output:
        """The output that was handed in under an id.

        Raises:
            OutputLost: where there is none.
        """
        with self._reading() as turn:
            row = turn.request(request)
            if row is None or row.state is not RequestState.COMMITTED:
                raise lost(request)
            digest = turn.entry(row.entry).content["output"]
            return Output(request=request, content=turn.content(digest), digest=digest, new=False)

    # Looking

    @property
    def place(self) -> str:
        """Where the ledger is."""
        return self._store.place

    @property
    def head(self) -> Anchor:
        """The last entry of the log: what an anchor keeps."""
        with self._reading() as turn:
            return turn.head

    @property
    def number(self) -> int:
        """How many costs are paid or reserved."""
        with self._reading() as turn:
            return turn.sums.number

    @property
    def spent(self) -> Bound:
        """The sums of what is paid or reserved; no guarantee, because they depend on the outputs."""
        with self._reading() as turn:
            bound: Bound = self.rule.total(turn.sums)
            return bound

    def remaining(self) -> Remaining[Any]:
        """About the largest cost that would be admitted now, and never more; it prints rounded down."""
        with self._reading() as turn:
            return self.rule.left(turn.sums)

    def would_exceed(self, cost: Guarantee[Any, Any, Any]) -> Truth:
        """Whether what is paid and this cost exceed the budget now; what is undecided is refused.

        Raises:
            InvalidType, InvalidValue: for a cost in another notion, and with another relation, unit or domain.
        """
        require("cost", cost, Guarantee, "Ask about the guarantee of what is released")
        refuse_counted_elsewhere("cost", cost, self)
        with self._reading() as turn:
            return self.rule.exceeded(turn.sums_beside(cost), cost)

    def state(self, request: str) -> RequestState | None:
        """How far a request has come; None for one that was never asked for."""
        with self._reading() as turn:
            row = turn.request(request)
            return None if row is None else row.state

    def plan(self, request: str) -> str | None:
        """The digest of what was paid for under an id; None for one that was never asked for, or states none."""
        with self._reading() as turn:
            row = turn.request(request)
            stated: str | None = None if row is None else turn.entry(row.paid).content["plan"]
            return stated

    @property
    def guarantee(self) -> Guarantee[Any, Any, Any]:
        """The budget, as the guarantee of everything that is released under the ledger, with what it rests on."""
        premises: dict[Derivation, None] = {}
        for body, _ in self._log():
            cost = Entry.read(body).content.get("cost")
            if cost is not None:
                premises[derivation_from_json(cost["derivation"])] = None
        return self.rule.guarantee_of(premises)

    def statement(self) -> LedgerStatement:
        """What was spent, by whom, when, and what is left.

        Raises:
            LedgerDamaged: where the log is altered.
        """
        return LedgerStatement.of(replayed(self._log(), self.place))

    def export(self) -> Iterator[str]:
        """The log as lines of JSON, each an entry with its digest."""
        for body, digest in self._log():
            yield export_line(body, digest)

    def verify(self, anchor: Anchor | None = None) -> Findings:
        """Go through the whole log anew: every digest, every decision, and the tables that follow from it.

        Args:
            anchor: an entry that must be there; that of the ledger's anchor file is looked for as well.
        """
        anchors = [one for one in (anchor, None if self._anchor is None else Anchor.read(self._anchor)) if one]
        with self._store.reading() as execute:
            return compared(execute, self.place, anchors)

    def __repr__(self) -> str:
        return f"Ledger({self.place!r}, {self.data!r}, {self.rule.budget})"

    def __copy__(self) -> Ledger:
        """A ledger is shared: its copy is the same one."""
        return self

    def __deepcopy__(self, memo: object) -> Ledger:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """How a pickle opens the ledger again.

        Raises:
            InvalidValue: for an address with a password, which a pickle would hand on.
        """
        if self._store.secret:
            remedy = "Leave the password out of the address: PGPASSWORD or ~/.pgpass gives it; or open the ledger there"
            raise InvalidValue("ledger", self.place, "an address without a password, to be pickled", remedy)
        return _again, (self._store.address, self._anchor)

    # Shared steps

    def _paid(
        self,
        cost: Guarantee[Any, Any, Any],
        request: str,
        mode: Mode,
        state: RequestState,
        expires: timedelta | None,
        plan: str | None,
        certificate: bytes | None,
        by: str | None,
        uses: Iterable[str],
    ) -> Payment:
        kept = None if certificate is None else digest_of(certificate)
        terms = Terms(request=request, data=self.data, mode=mode, cost=cost, plan=plan, certificate=kept, uses=uses)
        refuse_counted_elsewhere("cost", cost, self)
        asked = this_process(), request
        attempt = self._unanswered.pop(asked, None) or secrets.token_hex(16)
        until = None if expires is None else self._clock() + expires
        try:
            enter = partial(self._entered, terms, attempt, state, until, certificate, by)
            return self._answered(enter, request, attempt)
        except (LedgerUnavailable, SameRequest, KeyboardInterrupt):
            self._unanswered[asked] = attempt  # nobody was told: the next call here may be
            raise

    def _answered(self, enter: Callable[[], Payment], request: str, attempt: str) -> Payment:
        """Enter a request, and look it up where the answer of the store was lost."""
        try:
            return enter()
        except LedgerUnavailable:
            with suppress(LedgerUnavailable), self._reading() as turn:  # was it committed, and the answer lost?
                row = turn.request(request)
                if row is not None and row.begun_by(attempt) and self._anchored(turn):
                    return _payment(request, row.state, turn.entry(row.entry), attempt, new=True)
            raise

    def _entered(
        self,
        terms: Terms,
        attempt: str,
        state: RequestState,
        expires: datetime | None,
        certificate: bytes | None,
        by: str | None,
    ) -> Payment:
        """Enter a request that is new; say how far another one has come."""
        request = terms.request
        with self._writing() as turn:
            row = turn.request(request)
            if row is None:
                used = turn.user_of(terms.uses)
                if used is not None:
                    raise _used_before(*used)
                sums = self.rule.after(turn.sums_beside(terms.cost), terms.cost)
                if certificate is not None:
                    turn.keep(certificate)
                entry = turn.enter(terms, attempt, state, _user(by), sums=sums, expires=expires)
                return _payment(request, state, entry, attempt, new=True)
            if row.terms != terms.digest:
                remedy = "Nothing was spent: an id stands for one release, at one cost. Choose another id"
                raise SameRequest("request", request, "an id that is free, or the terms it was first used with", remedy)
            if row.state is RequestState.EXPIRED:
                raise _expired(request)
            new = row.state is state and row.begun_by(attempt)
            return _payment(request, row.state, turn.entry(row.entry), attempt if new else "", new=new)

    def _own_row(self, turn: Turn, payment: Payment) -> Row:
        row = turn.request(payment.request)
        if row is None or not row.begun_by(payment.attempt):
            admissible = "the payment that the call gave which was new"
            remedy = "Only who paid begins, draws and hands in"
            raise SameRequest("payment", payment.request, admissible, remedy)
        return row

    @contextmanager
    def _writing(self) -> Iterator[Turn]:
        with self._store.writing() as execute:
            turn = Turn(execute, self.rule, self._clock(), self.place)
            kept = turn.head
            if self._anchor is not None:
                kept = Anchor.read(self._anchor)
                turn.check(kept)
            turn.check_clock()
            turn.expire()
            yield turn
        if turn.head != kept:
            self._anchored(turn)

    def _anchored(self, turn: Turn) -> bool:
        """Keep the head of the log in the anchor, if there is one.

        Raises:
            LedgerUnavailable: where it cannot be written; what was committed stays.
        """
        if self._anchor is not None:
            turn.head.write(self._anchor)
        return True

    @contextmanager
    def _reading(self) -> Iterator[Turn]:
        with self._store.reading() as execute:
            yield Turn(execute, self.rule, self._clock(), self.place)

    def _log(self) -> Iterator[tuple[str, str]]:
        with self._store.reading() as execute:
            yield from execute("SELECT body, digest FROM ledger_entries ORDER BY number")


def _version(execute: Execute) -> int:
    """The version of the tables.

    Raises:
        InvalidValue: for one that is not known.
    """
    versions = execute("SELECT version FROM ledger_version")
    found: int | None = versions[0][0] if len(versions) == 1 else None
    if found is None or (found != VERSION and found not in SINCE):
        remedy = "Use the version of certdp that wrote it, or a later one"
        raise InvalidValue("version", found, f"up to {VERSION}, the version of ledgers that is known", remedy)
    return found


def _migrate(execute: Execute) -> None:
    """Bring the tables of an older version to this one: another process may have done it meanwhile."""
    for version in range(_version(execute), VERSION):
        for statement in SINCE[version]:
            execute(statement)
    execute("UPDATE ledger_version SET version = ?", (VERSION,))


def _again(place: Path | str, anchor: Path | None) -> Ledger:
    return Ledger(place, anchor=anchor)


def _payment(request: str, state: RequestState, entry: Entry, attempt: str, *, new: bool) -> Payment:
    return Payment(request=request, state=state, new=new, entry=entry.number, time=entry.time, attempt=attempt)


def _user(by: str | None) -> str:
    """Who acts: the user of the operating system unless given; its number where it has no name."""
    if by is not None:
        if not isinstance(by, str):
            raise InvalidType("by", by, "text")
        return by
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        import os

        return f"user {os.getuid()}"


def _used_before(name: str, request: str) -> UsedBefore:
    remedy = (
        f"Nothing was spent: request {request} has used it, and what both cost together is not the sum of their costs"
    )
    return UsedBefore("uses", name, "randomness that no release has used", f"{remedy}. Draw anew")


def _expired(request: str) -> ReservationExpired:
    remedy = "Nothing is paid: reserve again, under another id"
    return ReservationExpired("request", request, "a reservation that is begun in time", remedy)
