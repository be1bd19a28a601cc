"""Work that threads share: results in the order of the items, few items ahead, and an end to it when nobody asks."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import InvalidValue
from certdp.records.in_order import cores, in_order


@given(items=st.lists(st.integers(), max_size=30), threads=st.integers(1, 5))
def test_results_are_in_the_order_of_the_items(items: list[int], threads: int) -> None:
    found = in_order(lambda one, other: (one, -other), ((one, one) for one in items), threads=threads)
    assert list(found) == [(one, -one) for one in items]


def test_the_first_item_may_take_longest() -> None:
    others = threading.Barrier(3)

    def work(item: int) -> int:
        others.wait(60)  # three at once, or never
        return item

    assert list(in_order(work, ((item,) for item in range(6)), threads=3)) == list(range(6))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_few_items_are_taken_ahead(threads: int) -> None:
    taken: list[int] = []

    def items() -> Iterator[tuple[int]]:
        for item in range(100):
            taken.append(item)
            yield (item,)

    found = in_order(lambda item: item, items(), threads=threads)
    for done in range(3):
        assert next(found) == done
        assert len(taken) == (done + 1 if threads == 1 else done + threads + 1)


@pytest.mark.parametrize("threads", [1, 3])
def test_what_fails_is_raised_in_its_turn(threads: int) -> None:
    found = in_order(lambda item: 1 / item, ((item,) for item in (2, 1, 0, 1)), threads=threads)
    assert [next(found), next(found)] == [0.5, 1]
    with pytest.raises(ZeroDivisionError):
        next(found)


def test_nothing_is_worked_on_any_more_when_nobody_asks() -> None:
    working = threading.Semaphore(0)

    def work(item: int) -> int:
        working.release()
        return item

    found = in_order(work, ((item,) for item in range(100)), threads=2)
    next(found)
    found.close()
    begun = 0
    while working.acquire(blocking=False):
        begun += 1
    assert begun == 3
    threading.Event().wait(0.01)
    assert not working.acquire(blocking=False)


@pytest.mark.parametrize("threads", [0, -1, True, 1.5])
def test_other_numbers_of_threads_are_refused(threads: int) -> None:
    with pytest.raises(InvalidValue, match="threads"):
        next(in_order(lambda item: item, [(1,)], threads=threads))


@pytest.mark.parametrize(("usable", "expected"), [(1, 1), (3, 3), (64, 4)])
def test_as_many_threads_as_cores_that_the_process_may_use(
    monkeypatch: pytest.MonkeyPatch, usable: int, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(usable)) if process == 0 else {0}, False)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert cores() == expected
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: usable)
    assert cores() == expected
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1
