"""What all tests share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

import pytest
from hypothesis import settings

# the same cases in every run, as slow as the machine may be
settings.register_profile("suite", derandomize=True, max_examples=40, deadline=None)
settings.load_profile("suite")

_FURTHER_STREAMS = 9

Result = TypeVar("Result")


@pytest.fixture(params=[0, *(pytest.param(n, marks=pytest.mark.soundness) for n in range(1, _FURTHER_STREAMS + 1))])
def stream(request: pytest.FixtureRequest) -> int:
    """Number of the random stream: a test of many draws runs on stream 0, and on more in the soundness runs."""
    number: int = request.param
    return number


@pytest.fixture(scope="session")
def counted() -> Callable[[Callable[[], Result]], tuple[Result, int]]:
    """What something returns and how many calls it makes, of functions in Python and in C: the same on a busy machine.

    Where work must be bounded, tests bound this number. They read no clock: speed is measured in benchmarks/.
    """

    def run(work: Callable[[], Result]) -> tuple[Result, int]:
        calls = 0

        def note(_: FrameType, event: str, __: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            result = work()
        finally:
            sys.setprofile(before)
        return result, calls

    return run
