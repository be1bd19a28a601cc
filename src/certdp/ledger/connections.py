"""One connection for each thread of each process: none is used on both sides of a fork."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar, final


class Closes(Protocol):
    """A connection that can be closed."""

    def close(self) -> None:
        """End the connection."""
        ...


C = TypeVar("C", bound=Closes)

_OF_OTHERS: list[Any] = []
"""Connections of the process before a fork: here they are neither used nor closed, which would end them there."""


class _Held(Generic[C]):
    """A connection that is closed when it is forgotten by the process that opened it."""

    def __init__(self, connection: C) -> None:
        self.connection = connection
        self.end = weakref.finalize(self, _end, connection, os.getpid())  # before the connection's own finaliser


def _end(connection: Closes, process: int) -> None:
    if os.getpid() == process:
        connection.close()
    else:
        _OF_OTHERS.append(connection)


@final
class OwnConnections(Generic[C]):
    """Connections of the threads of this process, and of its forks, each opened when it is first needed.

    Args:
        connect: opens one; it holds nothing that holds these connections, which are closed when they are forgotten.
    """

    def __init__(self, connect: Callable[[], C]) -> None:
        self._connect = connect
        self._local = threading.local()

    def get(self) -> C:
        """The connection of this thread of this process; one of the process before a fork is left alone."""
        held = self._held
        if os.getpid() not in held:
            held[os.getpid()] = _Held(self._connect())
        return held[os.getpid()].connection

    def drop(self) -> None:
        """Close and forget the connection of this thread, which is of no use any more."""
        held = self._held.pop(os.getpid(), None)
        if held is not None:
            held.end()

    @property
    def _held(self) -> dict[int, _Held[C]]:
        held: dict[int, _Held[C]] = self._local.__dict__.setdefault("held", {})
        return held
