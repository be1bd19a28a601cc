"""Forked processes, for tests of what they share."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable


def in_child(body: Callable[[], object]) -> int:
    """Run something in a forked process, which ends with it; status 1 where it raised, which standard error tells."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        body()
        status = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def ended(child: int) -> int:
    """How a child ended: 0, or minus the number of a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
