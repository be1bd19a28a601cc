"""What a signal that ends a command does: what is half done goes first, then the process dies of that same signal.

Python's own answer to SIGINT, an exception, may be lost wherever code catches too much, and its answer to SIGTERM
leaves temporary files behind. Here the handler itself takes half-done work away and ends the process, whatever it was
doing. Without `install`, as in a program that uses certdp as a library, signals are that program's own.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any, ClassVar, final

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_SHOW_CURSOR = b"\x1b[?25h"  # progress bars hide it


class _State:
    """What the handler looks at: this process's alone, for forked ones inherit the handler and own nothing."""

    owner = 0
    half_done: ClassVar[dict[int, Callable[[], None]]] = {}
    held = 0
    waiting: int | None = None
    stop: Stop | None = None


_numbers = count()


@final
class Stop:
    """Whether a signal has asked long work to stop where nothing is lost.

    Attributes:
        asked: the signal, None as long as there was none.
    """

    def __init__(self) -> None:
        self.asked: int | None = None


def install() -> None:
    """Answer SIGINT, SIGTERM and SIGHUP from here on, but for those that whoever started the process had it ignore."""
    _State.owner = os.getpid()
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _received)


@contextmanager
def undone_by(undo: Callable[[], None]) -> Iterator[None]:
    """Work that `undo` takes away if a signal ends the process before the context ends.

    Args:
        undo: called at any moment of the context; may raise OSError, which is as good as done.
    """
    number = next(_numbers)
    _State.half_done[number] = undo
    try:
        yield
    finally:
        _State.half_done.pop(number, None)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Short work that is done whole or not at all: signals wait until the context ends."""
    _State.held += 1
    try:
        yield
    finally:
        _State.held -= 1
        if not _State.held and _State.waiting is not None and os.getpid() == _State.owner:
            die_of(_State.waiting)


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """Long work that asks between its steps whether it should stop, after which the process dies of the signal.

    A second signal ends it at once.
    """
    before, stop = _State.stop, Stop()
    _State.stop = stop
    try:
        yield stop
    finally:
        _State.stop = before
        if stop.asked is not None:
            die_of(stop.asked)


def die_of(number: int) -> None:
    """Take half-done work away and end the process by the signal, so that whoever started it sees why."""
    for other in _SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    if os.getpid() == _State.owner:
        for undo in reversed(list(_State.half_done.values())):
            with suppress(OSError):
                undo()
        if _obeys_codes():
            with suppress(OSError):
                os.write(2, _SHOW_CURSOR)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    sys.exit(128 + number)  # where the system has no such end


def _obeys_codes() -> bool:
    """Whether errors go to a terminal that hides a cursor, and shows it again."""
    return os.environ.get("TERM", "dumb") != "dumb" and os.isatty(2)


def _received(number: int, _: Any) -> None:
    if os.getpid() == _State.owner:
        if _State.stop is not None and _State.stop.asked is None:  # first: asking breaks no held work
            _State.stop.asked = number
            return
        if _State.held:
            _State.waiting = number
            return
    die_of(number)
