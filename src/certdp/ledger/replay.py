"""The log gone through anew: every digest, every decision of the rule, and what the other tables must hold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, final

from attrs import evolve, field, frozen

from ..accounting.display import Displayed
from ..accounting.errors import CertdpError, InvalidValue
from ..accounting.filters import Filter
from ..accounting.filters.states import sums_from_json, sums_to_json
from ..accounting.filters.totals import Sums
from ..accounting.guarantees import Guarantee
from ..accounting.notions import Bound
from ..accounting.stored import canonical, entries, guarantee_from_json
from ..durable.files import digest_of
from .anchors import Anchor
from .entries import FORMAT, NOTHING_BEFORE, Entry, Event, format_time, read_time
from .errors import LedgerDamaged
from .requests import NEXT, Mode, RequestState, Terms
from .stores import Execute
from .turns import SKEW, without

_OPENED = ("format", "data", "rule", "by", "sums")
_NAMED = ("request", "data", "mode", "relation", "unit", "plan", "certificate")
_ENTERED = (*_NAMED, "cost", "by", "added", "attempt", "expires", "sums")
_MOVED = {
    RequestState.BEGUN: (*_NAMED, "attempt", "sums"),
    RequestState.COMMITTED: (*_NAMED, "output", "sums"),
    RequestState.EXPIRED: (*_NAMED, "sums"),
}


@final
@frozen(kw_only=True)
class Request:
    """What the log says of a request.

    Attributes:
        terms: what was asked for.
        by: who asked.
        attempt: digest of the word of who began it.
        time: when it was asked for first.
        paid: number of the entry that states its cost.
        entry: number of its last entry.
        state: how far it has come.
        expires: until when it could be begun, as the log states it; None where it was begun at once.
        added: what it added to the sums.
        output: digest of its output, or None.
    """

    terms: Terms
    by: str
    attempt: str
    time: datetime
    paid: int
    entry: int
    state: RequestState
    expires: str | None
    added: Sums
    output: str | None = None

    @property
    def uses(self) -> tuple[str, ...]:
        """The names of the randomness that it has used up: none once it expired."""
        return () if self.state is RequestState.EXPIRED else self.terms.uses


@final
@frozen(kw_only=True)
class Replayed:
    """What a log amounts to.

    Attributes:
        rule: what the account admits.
        data: the data set.
        opened: when, and by whom.
        sums: what is paid or reserved.
        head: the last entry.
        time: when that was written.
        requests: by id, in the order they were asked for.
    """

    rule: Filter[Any, Any, Any]
    data: str
    opened: tuple[datetime, str]
    sums: Sums
    head: Anchor
    time: datetime
    requests: dict[str, Request] = field(repr=False)

    @property
    def spent(self) -> Bound:
        """The sums as a bound of the rule's notion."""
        bound: Bound = self.rule.total(self.sums)
        return bound


@final
@frozen(kw_only=True, repr=False)
class Findings(Displayed):
    """What was found in a ledger.

    Attributes:
        head: the last entry of the log as far as it is sound; None where its first entry is not.
        problems: what is wrong, in words; empty where all is as certdp left it.
    """

    head: Anchor | None
    problems: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        return "; ".join(self.problems) or f"sound up to its head, {self.head}"


def replayed(log: Iterable[tuple[str, str]], place: str, anchors: Sequence[Anchor] = ()) -> Replayed:
    """Go through a log, each entry a body and a digest.

    Raises:
        LedgerDamaged: at the first entry that certdp would not have written there; where an anchor is not found.
    """
    book: _Book | None = None
    awaited = {one.number: one for one in anchors}
    number = -1
    try:
        for number, (body, digest) in enumerate(log):
            if digest_of(body.encode()) != digest:
                raise InvalidValue("digest", digest, "that of the entry")
            entry = Entry.read(body)
            if book is None:
                book = _Book(entry)
            else:
                book.take(entry)
            anchor = awaited.pop(number, None)
            if anchor is not None and anchor.digest != digest:
                raise InvalidValue("digest", digest, f"that of the anchor, {anchor.digest}")
    except (CertdpError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise LedgerDamaged("ledger", place, "a log as certdp wrote it", f"Entry {number}: {error}") from error
    if book is None:
        raise LedgerDamaged("ledger", place, "a log with a first entry", "Restore the file")
    for missing in awaited.values():
        remedy = f"It ends with entry {number}, before the anchor's, {missing.number}: an older copy was restored"
        raise LedgerDamaged("ledger", place, "a log that reaches its anchor", remedy)
    return book.result


class _Book:
    """A log as far as it was read."""

    def __init__(self, first: Entry) -> None:
        if (first.number, first.previous, first.event) != (0, NOTHING_BEFORE, Event.OPENED):
            raise InvalidValue("entry", first.number, "the first entry, which opens a ledger")
        format_, data, rule, by, sums = entries("entry", first.content, *_OPENED)
        if format_ != FORMAT:
            raise InvalidValue("format", format_, FORMAT)
        self._rule = Filter.from_rule(rule)
        if self._rule.rule() != rule:
            raise InvalidValue("rule", rule, "what certdp writes for what it states")
        self._data = data
        self._opened = (first.time, by)
        self._sums = self._rule.start
        self._last = first
        self._requests: dict[str, Request] = {}
        self._used: set[str] = set()
        self._require_sums(sums)

    @property
    def result(self) -> Replayed:
        """What was read."""
        return Replayed(
            rule=self._rule,
            data=self._data,
            opened=self._opened,
            sums=self._sums,
            head=Anchor(self._last.number, self._last.digest),
            time=self._last.time,
            requests=self._requests,
        )

    def take(self, entry: Entry) -> None:
        """Read the next entry.

        Raises:
            CertdpError: where certdp would not have written it.
        """
        if (entry.number, entry.previous) != (self._last.number + 1, self._last.digest):
            raise InvalidValue("previous", entry.previous, f"the digest of entry {self._last.number}")
        if entry.time < self._last.time - SKEW:
            raise InvalidValue("time", format_time(entry.time), f"a time from {format_time(self._last.time)} on")
        state = RequestState(entry.event.value)
        name = entry.content["request"]
        known = self._requests.get(name)
        if state not in NEXT[None if known is None else known.state]:
            raise InvalidValue("event", entry.event.value, f"what may follow for request {name}")
        self._requests[name] = self._entered(entry, state) if known is None else self._moved(entry, state, known)
        self._require_sums(entry.content["sums"])
        self._last = entry

    def _entered(self, entry: Entry, state: RequestState) -> Request:
        names = (*_ENTERED, *_used_in(entry))
        values = dict(zip(names, entries("entry", entry.content, *names), strict=True))
        cost: Guarantee[Any, Any, Any] = guarantee_from_json(canonical(values["cost"]))
        terms = Terms(
            request=values["request"],
            data=self._data,
            mode=Mode(values["mode"]),
            cost=cost,
            plan=values["plan"],
            certificate=values["certificate"],
            uses=values.get("uses", ()),
        )
        _require_same("entry", {name: values[name] for name in (*_NAMED, *_used_in(entry))}, terms.named)
        if self._used.intersection(terms.uses):
            raise InvalidValue("uses", ", ".join(terms.uses), "what no request before has used")
        self._used.update(terms.uses)
        if (values["expires"] is None) is not (state is RequestState.BEGUN):
            raise InvalidValue("expires", values["expires"], "a time for a reservation, and none else")
        if values["expires"] is not None:
            read_time(values["expires"])
        sums = self._rule.after(self._sums, cost)
        added = sums_from_json(values["added"], len(sums.totals))
        if without(sums, added) != evolve(self._sums, records=sums.records):
            raise InvalidValue("added", values["added"], "what the cost adds")
        self._sums = sums
        return Request(
            terms=terms,
            by=values["by"],
            attempt=values["attempt"],
            time=entry.time,
            paid=entry.number,
            entry=entry.number,
            state=state,
            expires=values["expires"],
            added=added,
        )

    def _moved(self, entry: Entry, state: RequestState, known: Request) -> Request:
        names = (*_MOVED[state], *_used_in(entry))
        values = dict(zip(names, entries("entry", entry.content, *names), strict=True))
        _require_same("entry", {name: values[name] for name in (*_NAMED, *_used_in(entry))}, known.terms.named)
        if values.get("attempt", known.attempt) != known.attempt:
            raise InvalidValue("attempt", values["attempt"], "that of the reservation")
        if state is RequestState.EXPIRED:
            if known.expires is None or read_time(known.expires) > entry.time:
                raise InvalidValue("time", format_time(entry.time), f"a time from {known.expires} on")
            self._sums = without(self._sums, known.added)
            self._used.difference_update(known.terms.uses)
        return Request(
            terms=known.terms,
            by=known.by,
            attempt=known.attempt,
            time=known.time,
            paid=known.paid,
            entry=entry.number,
            state=state,
            expires=known.expires,
            added=known.added,
            output=values.get("output"),
        )

    def _require_sums(self, stated: Any) -> None:
        _require_same("sums", stated, sums_to_json(self._sums))


def _used_in(entry: Entry) -> tuple[str, ...]:
    """The field of what a request uses up, which is there where it uses something up."""
    return ("uses",) if "uses" in entry.content else ()


def _require_same(parameter: str, stated: Any, found: Any) -> None:
    if canonical(stated) != canonical(found):
        raise InvalidValue(parameter, canonical(stated), canonical(found))


def compared(execute: Execute, place: str, anchors: Sequence[Anchor] = ()) -> Findings:
    """Go through the log in a database, and compare the other tables with what it amounts to."""
    rows = execute("SELECT number, body, digest FROM ledger_entries ORDER BY number")
    try:
        if [row[0] for row in rows] != list(range(len(rows))):
            raise LedgerDamaged("ledger", place, "entries numbered from 0 on", "An entry is missing or has moved")
        book = replayed(((body, digest) for _, body, digest in rows), place, anchors)
    except LedgerDamaged as error:
        return Findings(head=None, problems=(f"{error.admissible}: {error.remedy}",))
    return Findings(head=book.head, problems=tuple(_differences(execute, book)))


def _differences(execute: Execute, book: Replayed) -> Iterator[str]:
    head = (canonical(sums_to_json(book.sums)), book.rule.share(book.sums), book.head.number, book.head.digest)
    if execute("SELECT one, sums, share, number, digest, time FROM ledger_account") != [
        (1, *head, format_time(book.time))
    ]:
        yield "the account is not what the log amounts to"
    stated = {
        row[0]: row[1:]
        for row in execute("SELECT request, state, terms, attempt, paid, entry, expires FROM ledger_requests")
    }
    wanted = {
        name: (one.state.value, one.terms.digest, one.attempt, one.paid, one.entry, one.expires)
        for name, one in book.requests.items()
    }
    for name in sorted({*stated, *wanted}, key=repr):
        if stated.get(name) != wanted.get(name):
            yield f"request {name!r} is not where the log says"
    used = dict(execute("SELECT name, request FROM ledger_uses"))
    if used != {name: request for request, one in book.requests.items() for name in one.uses}:
        yield "what is used up is not what the log says"
    needed = {one.output for one in book.requests.values()} | {one.terms.certificate for one in book.requests.values()}
    kept = set[Any]()
    for (digest,) in execute("SELECT digest FROM ledger_contents"):
        ((content,),) = execute("SELECT content FROM ledger_contents WHERE digest = ?", (digest,))
        kept.add(digest)
        if not isinstance(content, bytes | memoryview) or digest_of(bytes(content)) != digest:
            yield f"the content with digest {digest} is altered"
        elif digest not in needed:
            yield f"the content with digest {digest} is no output and no certificate of the log"
    for digest in sorted({one for one in needed if one is not None} - kept):
        yield f"the content with digest {digest} is missing"


def verify_export(path: Path, anchor: Anchor | None = None) -> Findings:
    """Go through a log that `Ledger.export` wrote.

    Raises:
        InvalidValue: for a file that cannot be read.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidValue("log", str(path), "a readable file", error.strerror or str(error)) from None
    try:
        book = replayed(_lines(text, str(path)), str(path), [] if anchor is None else [anchor])
    except LedgerDamaged as error:
        return Findings(head=None, problems=(f"{error.admissible}: {error.remedy}",))
    return Findings(head=book.head, problems=())


def _lines(text: bytes, place: str) -> Iterator[tuple[str, str]]:
    if not text.endswith(b"\n"):
        raise LedgerDamaged("ledger", place, "lines that end", "The last line is cut off")
    for number, line in enumerate(text[:-1].split(b"\n"), 1):
        found = _line(line)
        if found is None:
            raise LedgerDamaged("ledger", place, "a log as certdp wrote it", f"Line {number} is no entry")
        yield found


def _line(line: bytes) -> tuple[str, str] | None:
    """The body and the digest of a line; None for one that `export_line` does not give."""
    with suppress(ValueError, RecursionError, KeyError, TypeError):
        written = line.decode("ascii")
        stated = json.loads(written)
        body, digest = canonical(stated["entry"]), stated["digest"]
        if export_line(body, digest) == f"{written}\n":
            return body, digest
    return None


def export_line(body: str, digest: str) -> str:
    """One line of an exported log."""
    return f'{{"digest":"{digest}","entry":{body}}}\n'
