"""One budget has one account: what holds spent budget is not copied, and is used by the process that made it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from itertools import count
from threading import RLock
from typing import Any, Concatenate, NoReturn, ParamSpec, Self, SupportsIndex, TypeVar

from ..errors import CertdpError, InvalidType, InvalidValue

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T", bound="SpendingState")

_forks = count(1)
_process = 0
"""Which fork of the first process this is, along its line: numbers of processes are given anew."""


def _forked() -> None:
    global _process
    _process = next(_forks)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def this_process() -> tuple[int, int]:
    """What tells this process from those that it was forked from, and from those forked from it."""
    return os.getpid(), _process


class SecondAccount(InvalidType):
    """An attempt to have two accounts of one budget, each of which could be spent; nothing was spent."""


class InterruptedChange(InvalidValue):
    """An account that was interrupted while a change was written down: a part may be missing, so nothing follows."""


class SpendingState:
    """Running sums of what was spent: the base class of all that holds them.

    Guarantees:
        What is written down under `_changing` is so as a whole, or whatever is done under `_own` is refused from there.
        Copying and pickling are refused, and public attributes are set once. In a process forked from the one that made
        it, what is done under `_own` is refused. Threads may share it: one of them at a time is under `_own`.
    """

    _made_in: tuple[int, int]
    _lock: RLock
    _half_changed = False

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Before any `__init__`, so that none can forget it."""
        made = super().__new__(cls)
        made._made_in = this_process()
        made._lock = RLock()
        return made

    @property
    def _of_this_process(self) -> bool:
        return self._made_in == this_process()

    @contextmanager
    def _own(self) -> Iterator[None]:
        """To spend, or to read what was spent.

        Raises:
            SecondAccount: in a process that was forked from the one that made this.
            InterruptedChange: after a change that was interrupted.
        """
        if not self._of_this_process:  # before the lock, which a thread of that process may have held
            raise SecondAccount(
                type(self).__name__,
                "its use in a forked process",
                "use by the threads of the process that made it",
                "Each process would spend the whole budget: pay in the first process, and let others compute",
            )
        with self._lock:
            if self._half_changed:
                raise InterruptedChange(
                    type(self).__name__,
                    "one that was interrupted while a change was written down",
                    "an account of which every change is whole",
                    "Count its budget as spent and begin anew, or go on from what was stored of it before",
                )
            yield

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """To write down a change, under `_own`: short, and after all that may take long or fail.

        A refusal by what is changed along with it has changed nothing, so neither has this one.
        """
        self._half_changed = True
        try:
            yield
        except CertdpError:
            self._half_changed = False
            raise
        self._half_changed = False

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and name in vars(self):
            raise InvalidType(name, value, "what it was made with", "Make another account, beside what this one paid")
        super().__setattr__(name, value)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise SecondAccount(
            type(self).__name__,
            "a copy or pickle",
            "one account, shared by reference",
            "A copy would spend the same budget again: make one account and hand it to all that spend; a run that goes "
            "on in another process does so from its checkpoints",
        )

    def __replace__(self, /, **_: Any) -> NoReturn:
        self.__reduce_ex__(0)


def owned(method: Callable[Concatenate[T, P], S]) -> Callable[Concatenate[T, P], S]:
    """Decorate a method so that it is done under `SpendingState._own` as a whole."""

    @wraps(method)
    def inner(self: T, /, *arguments: P.args, **options: P.kwargs) -> S:
        with self._own():
            return method(self, *arguments, **options)

    return inner
