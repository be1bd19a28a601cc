"""What moves while a command works that cannot say how far it is: on stderr, at a terminal, and not beside JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from threading import Event, Thread
from time import monotonic

from .output import Terminal

PATIENCE = 2.0
"""Seconds after which something moves."""

_FRAME = 0.1
_ERASED = b"\r\x1b[K"


@contextmanager
def waiting(terminal: Terminal) -> Iterator[None]:
    """A line with the seconds that pass, once `PATIENCE` is over; nothing stays of it.

    It is written past all locks, because processes may be forked meanwhile.
    """
    if terminal.as_json or not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield
        return
    done, place = Event(), sys.stderr.fileno()

    def move() -> None:
        start = monotonic()
        if done.wait(PATIENCE):
            return
        for frame in cycle("|/-\\"):
            os.write(place, f"\r{frame} {monotonic() - start:.0f} s".encode("ascii"))
            if done.wait(_FRAME):
                break
        os.write(place, _ERASED)

    moving = Thread(target=move, daemon=True)
    moving.start()
    try:
        yield
    finally:
        done.set()
        moving.join()
