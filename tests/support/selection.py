"""The marks that cases get when they are collected: `soundness` where others stand for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping

import pytest

from .cases import covering, in_turn, owner_of, ranked

WHOLE = 8
"""Products of at most so many cases run whole."""


def axes(item: pytest.Function) -> Mapping[str, Hashable]:
    """The value of a case along each of its parameters: those that are named in one list are one."""
    params = dict(item.callspec.params)
    found: dict[str, Hashable] = {}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        values = [params.pop(name.strip(), None) for name in names]
        found[",".join(names)] = tuple(map(id, values))
    return found | {name: id(value) for name, value in params.items()}


def mark_the_rest(items: list[pytest.Item], rotation: int, turns: int) -> None:
    """Leaves to the soundness runs what every value is met without, repetitions beyond those kept, other turns."""
    tests: defaultdict[str, dict[str, pytest.Function]] = defaultdict(dict)
    whole: defaultdict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and not item.get_closest_marker("soundness"):
            if hasattr(item, "callspec"):
                tests[owner_of(item.nodeid)][item.nodeid] = item
            elif item.get_closest_marker("slow"):
                whole[_what_is_built_once(item)].append(item)
    for cases in tests.values():
        for name in cases.keys() - _kept(cases, rotation, turns):
            cases[name].add_marker(pytest.mark.soundness)
    for together in whole.keys() - in_turn(turns, whole, rotation):
        for item in whole[together]:
            item.add_marker(pytest.mark.soundness)


def _what_is_built_once(item: pytest.Function) -> str:
    """The group of tests that a slow test without cases takes its turn with, because they share what takes long."""
    group = item.get_closest_marker("xdist_group")
    return item.nodeid if group is None else str(group.args[0])


def _kept(cases: Mapping[str, pytest.Function], rotation: int, turns: int) -> set[str]:
    repeated = next(iter(cases.values())).get_closest_marker("repeated")
    if repeated is not None:
        return set(ranked(cases, rotation)[: repeated.args[0]])
    found = {name: axes(item) for name, item in cases.items()}
    whole = len(cases) <= WHOLE or max(map(len, found.values())) < 2
    slow = {name for name, item in cases.items() if item.get_closest_marker("slow") is not None}
    # what covers the values stays the same while the slow cases take turns
    kept = set(cases) if whole else covering(found, rotation // turns if slow else rotation)
    return (kept - slow) | in_turn(turns, kept & slow, rotation)


def mark_the_quick(items: list[pytest.Item]) -> None:
    """The first case of each test is quick, but for tests that are marked as slow and those of the soundness runs."""
    seen: set[str] = set()
    for item in items:
        if item.get_closest_marker("soundness") is None and item.get_closest_marker("slow") is None:
            if owner_of(item.nodeid) not in seen:
                item.add_marker(pytest.mark.quick)
            seen.add(owner_of(item.nodeid))
