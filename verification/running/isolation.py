"""Work done in processes of its own, so that a piece that hangs or crashes harms none of the others.

A process serves one piece after the other and is forked once; where one is stopped or dies, another takes its place.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeAlias, TypeVar, final

from attrs import define, field, frozen

from ...accounting.errors import InvalidType, InvalidValue
from ...plugins.forks import forked

Piece = TypeVar("Piece")
Answer = TypeVar("Answer")

_TICK = 0.2
_KEPT_SECONDS = 5.0
_NOTHING = pickle.dumps(None)
_SECONDS = "a number of seconds above 0"
_UNLIMITED = "Leave it out for the limit there is by default"


@final
@frozen
class Finished(Generic[Answer]):
    """The answer of work that returned."""

    answer: Answer


@final
@frozen
class Overdue:
    """The piece took longer than it may, and was stopped.

    Attributes:
        seconds: how long it took.
        noted: what it noted last, None if nothing.
    """

    seconds: float
    noted: Any = None


@final
@frozen
class Crashed:
    """The process ended before the piece was done.

    Attributes:
        exit_code: how; by a signal where it is negative.
        seconds: how long the piece took.
        noted: what it noted last, None if nothing.
    """

    exit_code: int | None
    seconds: float
    noted: Any = None


Fate: TypeAlias = Finished[Answer] | Overdue | Crashed


Note: TypeAlias = Callable[[object], None]
"""Given to the work, which tells by it where it is; the last is known where the work never ends."""

Work: TypeAlias = Callable[[Piece, Note], Answer]


def admit_timeout(timeout: float | None) -> None:
    """Refuse what is no time limit.

    Raises:
        InvalidType: for what is no number. InvalidValue: for one that is not above 0, or infinite.
    """
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise InvalidType("timeout", timeout, _SECONDS, _UNLIMITED)
    if not 0 < timeout < math.inf:
        raise InvalidValue("timeout", timeout, _SECONDS, _UNLIMITED)


def isolated(
    pieces: Sequence[Piece],
    work: Work[Piece, Answer],
    *,
    jobs: int,
    seconds: float | None,
    tick: Callable[[Sequence[Piece]], None],
) -> Iterator[tuple[int, Fate[Answer]]]:
    """Do `work` on every piece, in `jobs` processes.

    Args:
        pieces: what to work on, started in this order.
        work: what to do; it handles its own exceptions, and what it returns or notes can be pickled.
        jobs: how many processes at a time.
        seconds: how long one piece may take.
        tick: told a few times a second what is being worked on.

    Yields:
        the index of a piece and what became of it, as each is done.

    Guarantees:
        No process outlives the iteration.
    """
    left = list(reversed(range(len(pieces))))
    workers: list[_Worker] = []
    told: tuple[float, list[int]] = (-_TICK, [])
    try:
        while left or workers:
            while left and len(workers) < jobs:
                workers.append(_Worker.started(pieces, work, [worker.connection for worker in workers]))
                workers[-1].give(left.pop())
            now, running = time.monotonic(), [worker.index for worker in workers]
            if now - told[0] >= _TICK or running != told[1]:
                told = now, running
                tick([pieces[index] for index in running])
            _wait(workers, seconds)
            for worker in list(workers):
                fate = worker.fate(seconds)
                if fate is None:
                    continue
                yield worker.index, fate
                if isinstance(fate, Finished) and left:
                    worker.give(left.pop())
                else:
                    workers.remove(worker)
                    worker.stop()
    finally:
        for worker in workers:
            worker.stop()


@define
class _Worker:
    process: BaseProcess
    connection: Connection
    index: int = -1
    since: float = field(factory=time.monotonic)
    noted: bytes = _NOTHING

    @classmethod
    def started(cls, pieces: Sequence[Piece], work: Work[Piece, Answer], others: Sequence[Connection]) -> _Worker:
        here, there = multiprocessing.Pipe()
        process = forked(_serve, pieces, work, there, [here, *others])
        there.close()
        return cls(process, here)

    def give(self, index: int) -> None:
        self.index, self.since, self.noted = index, time.monotonic(), _NOTHING
        with suppress(BrokenPipeError):  # it died between two pieces: its fate is told as this one's
            self.connection.send(index)

    def fate(self, seconds: float | None) -> Fate[Any] | None:
        taken = time.monotonic() - self.since
        try:
            while self.connection.poll():
                is_answer, content = self.connection.recv()
                if is_answer:
                    return Finished(pickle.loads(content))
                self.noted = content
        except (EOFError, OSError):
            return self._crashed(taken)
        if not self.process.is_alive():
            return self._crashed(taken)
        return Overdue(taken, pickle.loads(self.noted)) if seconds is not None and taken > seconds else None

    def _crashed(self, taken: float) -> Crashed:
        self.process.join(_KEPT_SECONDS)
        return Crashed(self.process.exitcode, taken, pickle.loads(self.noted))

    def stop(self) -> None:
        """End the process and whatever it started."""
        self.connection.close()
        if self.process.exitcode is None and self.process.pid is not None:
            with suppress(ProcessLookupError):  # it may have no group of its own yet
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
        self.process.join()
        self.process.close()


def _wait(workers: Sequence[_Worker], seconds: float | None) -> None:
    now = time.monotonic()
    patience = [_TICK, *(worker.since + seconds - now for worker in workers if seconds is not None)]
    watched = [end for worker in workers for end in (worker.connection, worker.process.sentinel)]
    wait(watched, timeout=max(0.0, min(patience)))


def _serve(
    pieces: Sequence[Piece], work: Work[Piece, Answer], connection: Connection, inherited: Sequence[Connection]
) -> None:
    os.setsid()  # an interruption from the keyboard goes to the parent alone, which stops this group
    os.dup2(2, 1)  # what a piece prints is no part of the command's output
    for other in inherited:  # else the end of the parent would go unnoticed
        other.close()

    def note(content: object) -> None:
        connection.send((False, pickle.dumps(content)))

    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the parent has ended, and nobody waits
        while True:
            connection.send((True, pickle.dumps(work(pieces[connection.recv()], note))))
