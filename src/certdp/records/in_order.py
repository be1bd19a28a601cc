"""Work on items that come one after the other, shared among threads, with the results in the order of the items."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple

from ..accounting.enclosures.arguments import whole

_ENOUGH = 4  # more threads would wait for the one that reads

R = TypeVar("R")
Item = TypeVarTuple("Item")


def in_order(work: Callable[[*Item], R], items: Iterable[tuple[*Item]], *, threads: int) -> Generator[R, None, None]:
    """What `work` gives for each item.

    Args:
        work: what is computed of an item; it takes no part in what is computed of another.
        items: what it is given; they are taken by the thread that asks for results, a few ahead.
        threads: how many work, at least 1; that of the caller does for 1.

    Raises:
        InvalidValue: for no thread. What `work` and `items` raise, once no thread works any more.
    """
    count = whole("threads", threads, 1)
    if count == 1:
        for item in items:
            yield work(*item)
        return
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(count) as pool:
        for item in items:
            waiting.append(pool.submit(work, *item))
            if len(waiting) > count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def cores() -> int:
    """How many threads serve a pass over a file: the processor cores that this process may use, at most four."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _ENOUGH)
