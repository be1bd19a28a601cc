"""Which cases of a test run where there are too many for every run.

pytest meets every value of every parameter of every test, and each property on a share of its examples; the soundness
runs have all combinations and all examples. A rotation chooses others of the same number. `make test` has slow tests
take turns, and the cases of one: with three turns, any three in a row run each and meet every value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar
from zlib import crc32

from hypothesis import settings

ALL_EXAMPLES = 40
"""Examples of a property that names no number of its own, in the soundness runs."""

SHARE = 4
"""A run that is no soundness run has one in so many examples."""

FEWEST = 3
"""Examples that each property keeps."""

Key = TypeVar("Key", bound=Hashable)


def register_profiles() -> None:
    """The profiles `share` and `all` of property tests: the same examples in every run, however slow the machine."""
    for name, number in (("share", ALL_EXAMPLES // SHARE), ("all", ALL_EXAMPLES)):
        settings.register_profile(name, derandomize=True, max_examples=number, deadline=None)
    settings.load_profile("share")


def in_full() -> bool:
    """Whether this is a soundness run of properties: then they may draw what takes minutes, too."""
    return settings.default is not None and settings.default.max_examples >= ALL_EXAMPLES


def examples(number: int) -> settings:
    """The settings of a property with `number` examples in the soundness runs, and a share of them elsewhere."""
    share = settings.default.max_examples / ALL_EXAMPLES if settings.default is not None else 1
    return settings(max_examples=max(min(number, FEWEST), round(number * share)))


def draws(number: int) -> int:
    """How many random draws a test makes that makes `number` on each stream of the soundness runs."""
    return number if in_full() else number // SHARE


def ranked(names: Iterable[str], rotation: int) -> list[str]:
    """The names in an order that depends on nothing but themselves and the rotation."""
    return sorted(names, key=lambda name: (crc32(f"{rotation} {name}".encode()), name))


def covering(cases: Mapping[str, Mapping[Key, Hashable]], rotation: int) -> set[str]:
    """Cases, by name, that together have every value that any case has: few of them, chosen by the rotation."""
    order = ranked(cases, rotation)
    missing = {value for case in cases.values() for value in case.items()}
    chosen: set[str] = set()
    for gain in range(max((len(case) for case in cases.values()), default=0), 0, -1):
        for name in order:
            new = missing & set(cases[name].items())
            if len(new) >= gain:
                chosen.add(name)
                missing -= new
    return chosen


def in_turn(turns: int, names: Iterable[str], rotation: int) -> set[str]:
    """One in `turns` of the names, and at least one: so many rotations that follow each other have them all."""
    order = ranked(names, 0)
    return {name for place, name in enumerate(order) if (place + rotation) % min(turns, len(order)) == 0}


def owner_of(name: str) -> str:
    """The name of the test that a case belongs to."""
    return name.partition("[")[0]


def one_in(number: int, names: Iterable[str], rotation: int) -> set[str]:
    """The names of the cases of one in `number` of all tests, each test with all of its cases."""
    return {name for name in names if (crc32(owner_of(name).encode()) + rotation) % number == 0}
