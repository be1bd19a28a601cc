"""What a ledger refuses; whichever of these is raised, what was committed before stays."""

from __future__ import annotations

from ..accounting.errors import InvalidValue


class SameRequest(InvalidValue):
    """An id that was used for something else; nothing was spent."""


class OutputLost(InvalidValue):
    """An id that was paid and begun, and has no output: it stays paid, and is never drawn again."""


class ReleasedBefore(InvalidValue):
    """An id whose output was handed in: nothing is drawn again, and the output is kept."""


class UsedBefore(InvalidValue):
    """Randomness that an earlier release has used up: nothing was spent, and nothing is drawn."""


class ReservationExpired(InvalidValue):
    """A reservation that was not begun in time: nothing is paid."""


class ClockSetBack(InvalidValue):
    """A clock that is behind the last entry; nothing was written."""


class LedgerUnavailable(InvalidValue):
    """A store that cannot be reached, locked, read or written now; what it committed stays."""


class LedgerDamaged(InvalidValue):
    """A store that is not as certdp left it: altered, cut off, or an older copy than its anchor."""


def lost(request: str) -> OutputLost:
    """The refusal to draw once more what was begun under an id."""
    return OutputLost(
        "request",
        request,
        "a request whose output was handed in",
        "It has none: whoever began it ended before, or is still drawing. It stays paid and is never drawn again; ask "
        "again later, or release under another id, which is paid for itself",
    )
