"""Processes forked from this one, which take along what it has loaded and end when it ends, however it ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable
from multiprocessing.process import BaseProcess


def can_fork() -> bool:
    """Whether this system can fork."""
    return "fork" in multiprocessing.get_all_start_methods()


def forked(target: Callable[..., None], *arguments: object) -> BaseProcess:
    """A forked process that runs `target`, started."""
    process = multiprocessing.get_context("fork").Process(target=_alone, args=(target, arguments))
    with warnings.catch_warnings():  # newer Pythons warn of threads, but those of numeric libraries bear a fork
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    return process


def end_with_parent() -> None:
    """Have this process, and the group that it leads, end with the one that started it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _alone(target: Callable[..., None], arguments: tuple[object, ...]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # the parent's handlers are about the parent's work
            signal.signal(number, signal.SIG_DFL)
    end_with_parent()
    target(*arguments)
