"""Processes forked from this one, which take along what it has loaded."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable
from multiprocessing.process import BaseProcess


def can_fork() -> bool:
    """Whether this system can fork."""
    return "fork" in multiprocessing.get_all_start_methods()


def forked(target: Callable[..., None], *arguments: object) -> BaseProcess:
    """A forked process that runs `target`, started."""
    process = multiprocessing.get_context("fork").Process(target=target, args=arguments)
    with warnings.catch_warnings():  # newer Pythons warn of threads, but those of numeric libraries bear a fork
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    return process
