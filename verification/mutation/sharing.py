"""What tests of a file share, fixtures and remembered results: whoever uses them counts as executing their making.

Where a mutant is planted, a test may run alone, and makes them itself.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterator, Mapping
from typing import Any, final

import pytest
from attrs import define, field, frozen

from .planting import Memory
from .tracing import Probes, Touched, processor_seconds


@final
@frozen
class _Cost:
    """What one thing takes to make: seconds, and the statements that it executes."""

    seconds: float
    touched: Touched

    def __add__(self, other: _Cost) -> _Cost:
        touched = dict(self.touched)
        for module, lines in other.touched.items():
            touched[module] = touched.get(module, frozenset()) | lines
        return _Cost(self.seconds + other.seconds, touched)


_NOTHING = _Cost(0.0, {})


@final
@define(eq=False)
class Shared:
    """What the tests of a file share, as they are traced one after the other: a plugin of pytest.

    Attributes:
        probes: those that are planted.
        memories: functions of the tests that remember what they returned.
    """

    probes: Probes
    memories: tuple[Memory, ...]
    _made: dict[Hashable, _Cost] = field(factory=dict)
    _used: dict[str, set[Hashable]] = field(factory=dict)
    _asked: list[tuple[int, int]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._asked = self._questions()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        """Keep what a fixture executes that more than one test may use."""
        if fixturedef.scope == "function":
            return (yield)
        started = processor_seconds()
        made = yield
        self._made[fixturedef] = _Cost(processor_seconds() - started, self.probes.touched())
        return made

    def note(self, item: Any, seconds: float, touched: Touched) -> None:
        """Keep what a test took, if it was the first to ask for something that the tests remember."""
        before, self._asked = self._asked, self._questions()
        used = self._used.setdefault(item.nodeid, set(_fixtures(item)))
        for memory, (hits, misses), (hits_now, misses_now) in zip(self.memories, before, self._asked, strict=True):
            if misses_now > misses:
                self._made[memory] = self._made.get(memory, _NOTHING) + _Cost(seconds, touched)
            if hits_now > hits:
                used.add(memory)

    def with_what_it_uses(self, item: Any, seconds: float, touched: Touched) -> tuple[float, Touched]:
        """What a test takes and executes, alone."""
        cost = _Cost(seconds, touched)
        for used in self._used[item.nodeid]:
            cost = cost + self._made.get(used, _NOTHING)
        return cost.seconds, cost.touched

    def _questions(self) -> list[tuple[int, int]]:
        told = (memory.cache_info() for memory in self.memories)
        return [(info.hits, info.misses) for info in told]


def _fixtures(item: Any) -> Iterator[Hashable]:
    known: Mapping[str, Any] = item._fixtureinfo.name2fixturedefs
    for name in item.fixturenames:
        yield from known.get(name, ())
