"""Entries of the log, each of which states the digest of the one before: a chain that only grows."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import Enum
from typing import Any, Self, final

from attrs import frozen

from ..accounting.errors import InvalidValue
from ..accounting.stored import Json, canonical, parsed
from ..durable.files import digest_of

FORMAT = "certdp-ledger/1"
NOTHING_BEFORE = "sha256:" + 64 * "0"


class Event(Enum):
    """What an entry tells."""

    OPENED = "opened"
    RESERVED = "reserved"
    BEGUN = "begun"
    COMMITTED = "committed"
    EXPIRED = "expired"


@final
@frozen
class Entry:
    """One entry of the log.

    Attributes:
        number: 0 for the first.
        previous: the digest of the entry before.
        time: when it was written, by the clock of who wrote it.
        event: what it tells.
        content: the rest, in JSON's types.
    """

    number: int
    previous: str
    time: datetime
    event: Event
    content: Json

    @property
    def body(self) -> str:
        """The entry as canonical JSON."""
        return canonical(
            {
                **self.content,
                "number": self.number,
                "previous": self.previous,
                "time": format_time(self.time),
                "event": self.event.value,
            }
        )

    @property
    def digest(self) -> str:
        """What the next entry states, and an anchor keeps."""
        return digest_of(self.body.encode("ascii"))

    @classmethod
    def read(cls, body: str) -> Self:
        """The entry with this body.

        Raises:
            InvalidType, InvalidValue: for anything that is no body of an entry.
        """
        content = parsed(body, "entry")
        head = ("number", "previous", "time", "event")
        if not isinstance(content, dict) or not set(head) <= set(content):
            raise InvalidValue("entry", body, f"an object with {', '.join(head)}")
        number, previous, time, event = (content.pop(name) for name in head)
        made = cls(number, previous, _time(time), _event(event), content)
        if made.body != body:
            raise InvalidValue("entry", body, "what certdp writes for what it states")
        return made


def format_time(time: datetime) -> str:
    """A time as the log states it: UTC, to the microsecond."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _time(value: Any) -> datetime:
    try:
        return datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except (TypeError, ValueError):
        raise InvalidValue("time", value, "a time such as 2026-01-31T12:00:00.000000Z") from None


def read_time(value: Any) -> datetime:
    """The time that `format_time` gave.

    Raises:
        InvalidValue: for anything else.
    """
    return _time(value)


def _event(value: Any) -> Event:
    known = {event.value: event for event in Event}
    if not isinstance(value, str) or value not in known:
        raise InvalidValue("event", value, " or ".join(known))
    return known[value]
