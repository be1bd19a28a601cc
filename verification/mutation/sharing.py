"""What tests of a file share, fixtures and remembered results: whoever uses them counts as executing their making.

Where a mutant is planted, a test may run alone, and makes them itself; of two that use the same thing, the first does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, final

import pytest
from attrs import define, field, frozen

from .planting import Memory
from .tracing import Probes, Touched, processor_seconds


@final
@frozen
class Cost:
    """What a test takes and executes alone, with the making of all that it uses.

    Attributes:
        seconds: processor time.
        touched: the statements.
        shared: the part of the time that goes into each thing that others may use as well, by a name of it.
    """

    seconds: float
    touched: Touched
    shared: Mapping[str, float]


@final
@define
class _Making:
    """The making of one thing, or the run of a test: without the making of what it uses."""

    used: set[Hashable] = field(factory=set)
    elsewhere: float = 0.0  # seconds within it that went into the making of other things
    seconds: float = 0.0
    touched: Touched = field(factory=dict)


@final
@define(eq=False)
class Shared:
    """What the tests of a file share, as they are traced one after the other: a plugin of pytest.

    Attributes:
        probes: those that are planted.
    """

    probes: Probes
    _made: dict[Hashable, _Making] = field(factory=dict)
    _within: list[_Making] = field(factory=list)

    def watch(self, memories: Iterable[Memory], modules: Iterable[Any]) -> None:
        """Note the calls of functions that remember results, by standing in their place in these modules."""
        for memory in memories:
            watched = _Watched(memory, self)
            for module in modules:
                for name in [name for name, value in vars(module).items() if value is memory]:
                    setattr(module, name, watched)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        """Keep what a fixture executes that more than one test may use."""
        if fixturedef.scope == "function":
            return (yield)
        with self._making(fixturedef):
            return (yield)

    def run(self, item: Any, test: Callable[[], bool | None]) -> bool | None:
        """Run a test, and keep what that takes; whether it passes."""
        with self._making(item.nodeid) as making:
            making.used.update(_fixtures(item))
            return test()

    def call(self, memory: Memory, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> object:
        """What the function returns; what that takes is kept, the first time."""
        thing = memory, arguments, tuple(sorted(named.items()))
        if self._within:
            self._within[-1].used.add(thing)
        if thing in self._made:
            return memory(*arguments, **named)
        with self._making(thing):
            return memory(*arguments, **named)

    def cost(self, item: Any) -> Cost:
        """What a test that was run takes and executes, alone."""
        seconds, touched, shared = 0.0, dict[str, frozenset[int]](), dict[str, float]()
        for thing in self._with_all_used(item.nodeid):
            made = self._made[thing]
            seconds += made.seconds
            for module, lines in made.touched.items():
                touched[module] = touched.get(module, frozenset()) | lines
            if thing != item.nodeid:
                shared[_name(thing)] = shared.get(_name(thing), 0.0) + made.seconds
        return Cost(seconds, touched, shared)

    @contextmanager
    def _making(self, thing: Hashable) -> Iterator[_Making]:
        making, started = _Making(), processor_seconds()
        self._within.append(making)
        with self.probes.apart() as touched:
            try:
                yield making
            finally:
                self._within.pop()
                taken = processor_seconds() - started
                making.seconds, making.touched = taken - making.elsewhere, touched()
                self._made[thing] = making
                if self._within:
                    self._within[-1].elsewhere += taken

    def _with_all_used(self, thing: Hashable) -> Iterator[Hashable]:
        """The thing and all that was made to make it, each once."""
        seen, waiting = set[Hashable](), [thing]
        while waiting:
            one = waiting.pop()
            if one in self._made and one not in seen:
                seen.add(one)
                yield one
                waiting += self._made[one].used


@final
@frozen(eq=False)
class _Watched:
    """Stands for a function that remembers what it returned."""

    memory: Memory
    shared: Shared

    def __call__(self, *arguments: Any, **named: Any) -> object:
        return self.shared.call(self.memory, arguments, named)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "memory"), name)  # which a copy that is being made lacks


def _name(thing: Any) -> str:
    """Name what a function remembers by its arguments; a fixture names itself."""
    match thing:
        case [memory, arguments, named]:
            return f"{memory.__module__}.{memory.__qualname__}{arguments}{named}"
    return str(thing)


def _fixtures(item: Any) -> Iterator[Hashable]:
    known: Mapping[str, Any] = item._fixtureinfo.name2fixturedefs
    for name in item.fixturenames:
        yield from known.get(name, ())
