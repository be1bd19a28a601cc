"""What all tests share."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Generator
from functools import cache
from types import FrameType
from typing import TypeVar

import pytest
import typer.testing
from typer.main import get_command

from tests.support.cases import one_in, register_profiles
from tests.support.selection import mark_the_quick, mark_the_rest

register_profiles()

# shells have what runs behind ignore them, and so would every process that a test starts
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

# built once: the tree of all commands takes longer than most of them
typer.testing._get_command = cache(get_command)  # type: ignore[attr-defined]

_FURTHER_STREAMS = 10

Result = TypeVar("Result")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which cases and tests run where not all do."""
    parser.addoption("--rotation", type=int, default=0, help="a number that chooses which cases and tests run")
    parser.addoption("--turns", type=int, default=1, help="run one in so many slow tests, and cases of each")
    parser.addoption("--one-in", type=int, default=1, help="run one in so many of the tests that are selected")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects without looking for garbage: the cases of all tests are many objects, and stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()  # the scoring of mutants, which looks for functions among objects, takes it back
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Marks cases before they are selected by their marks, and takes a share of those that are."""
    rotation: int = config.option.rotation
    mark_the_rest(items, rotation, config.option.turns)
    mark_the_quick(items)
    yield
    kept = one_in(config.option.one_in, [item.nodeid for item in items], rotation)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in kept])
    items[:] = [item for item in items if item.nodeid in kept]


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
