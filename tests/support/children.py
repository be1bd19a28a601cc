"""Forked processes, for tests of what they share."""

from __future__ import annotations

import os
from collections.abc import Callable


def in_child(body: Callable[[], None]) -> int:
    """Run something in a forked process, which ends with it."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        body()
        status = 0
    finally:
        os._exit(status)


def ended(child: int) -> int:
    """How a child ended: 0, or minus the number of a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
