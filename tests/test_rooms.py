"""The rooms of the house: which folder of a floor may import which, no circles, nothing imported late without need."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from .test_layering import FACE, imported, library, within

Rooms = tuple[tuple[str, ...], ...]

ROOMS: dict[str, Rooms] = {  # from the ground up; a room sees the floors below, not its neighbours
    "certdp.accounting": (
        ("_kernels", "display", "errors"),
        ("derivation", "exact", "private"),
        ("norms", "relations", "units"),
        ("enclosures",),
        ("amplification", "bulk", "draws", "expressions", "notions"),
        ("guarantees", "loss_distribution"),
        ("pairs", "provenance"),
        ("conversions", "keyed", "sampling", "stored"),
        ("accountants", "feasible_weights", "filters", "selection"),
        ("dpis", "individual"),
    ),
    "certdp": (
        ("accounting",),
        ("durable",),  # what lies between here and the face has its floors in test_layering
        ("data", "ledger"),
        ("runs",),
        ("clustering", "interoperation", "records"),
        ("plots",),
        ("dpis", "queries", "weighted_sampling"),
        ("audits", "engines", "experiments"),
        (  # names
            *("accountants", "conversions", "filters", "guarantees", "individual", "notions", "pairs", "parts"),
            *("correlated_noise", "risks", "sampling", "selection"),
        ),
        ("commands", "testing"),
        ("__main__",),
    ),
    "certdp.verification": (
        ("audit", "checker", "oracles", "running"),
        ("certificates", "claims", "errata", "mutation", "planted"),
        ("reports",),
    ),
}
OTHERS = {"mechanisms", "plugins", "samplers", "verification"}  # of certdp: floors of test_layering

LOOSE = {"certdp.accounting": 10, "certdp": 2, "certdp.verification": 0}  # modules beside the rooms, at most

LATE = {  # modules that import others of certdp inside functions, and why
    "certdp.__main__": "Signals are answered before anything that takes time to import.",
    "certdp.commands": "A command loads what an option asks for, and an error what it takes to tell it.",
    "certdp.experiments.networks": "The models of PyTorch import it, and it is an extra.",
    "certdp.verification.mutation.killing": "It needs pytest, which is there where tests are.",
    "certdp.testing.plugin": "pytest loads it in every session of whoever has certdp.",
}


def _targets(tree: ast.AST, package: str, modules: Mapping[str, Path]) -> set[str]:
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            for name in imported(node, package):
                found.add(name if name in modules else name.rpartition(".")[0])
    return found


@cache
def arrows() -> dict[str, set[str]]:
    """Which modules each module imports, anywhere in it."""
    modules = library()
    return {
        module: _targets(
            ast.parse(path.read_text("utf-8")),
            module if path.stem == "__init__" else module.rpartition(".")[0],
            modules,
        )
        for module, path in modules.items()
    }


def rooms_within(folder: str, graph: Mapping[str, Iterable[str]]) -> dict[str, dict[str, tuple[str, str]]]:
    """Which children of a folder see which others, each with one import that shows it."""

    def child(module: str) -> str | None:
        inside = module.removeprefix(f"{folder}.") if within(module, folder) and module != folder else ""
        return inside.partition(".")[0] or None

    found: dict[str, dict[str, tuple[str, str]]] = {}
    for module, targets in graph.items():
        if own := child(module):
            seen = found.setdefault(own, {})
            for target in targets:
                other = child(target)
                if other and other != own:
                    seen.setdefault(other, (module, target))
    return found


def circles(graph: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """A circle through each node that lies on one, and is not below a circle that was found."""
    done, path = set[str](), list[str]()

    def follow(node: str) -> Iterator[list[str]]:
        if node in path:
            yield [*path[path.index(node) :], node]
        elif node not in done:
            path.append(node)
            for other in sorted(graph.get(node, ())):
                yield from follow(other)
            path.pop()
            done.add(node)

    for node in sorted(graph):
        yield from follow(node)


def complaints(folder: str, floors: Rooms, graph: Mapping[str, Iterable[str]]) -> list[str]:
    """The arrows between rooms that do not point to a floor below."""
    floor_of = {room: floor for floor, rooms in enumerate(floors) for room in rooms}
    return [
        f"{module} imports {target}: {room} is not above {other}"
        for room, seen in rooms_within(folder, graph).items()
        for other, (module, target) in seen.items()
        if room in floor_of and other in floor_of and floor_of[other] >= floor_of[room]
    ]


@pytest.mark.parametrize("folder", ROOMS)
def test_a_room_sees_the_floors_below_alone(folder: str) -> None:
    assert not complaints(folder, ROOMS[folder], arrows())


@pytest.mark.parametrize("folder", ROOMS)
def test_every_room_has_a_floor(folder: str) -> None:
    named = {room for rooms in ROOMS[folder] for room in rooms}
    there = set(rooms_within(folder, arrows())) - (OTHERS if folder == "certdp" else set())
    assert named == there


@pytest.mark.parametrize("folder", LOOSE)
def test_few_modules_lie_loose(folder: str) -> None:
    beside = FACE.joinpath(*folder.split(".")[1:])
    loose = {path.stem for path in beside.glob("*.py")} - {"__init__", "__main__"}
    assert len(loose) <= LOOSE[folder], f"find rooms for some of {sorted(loose)}"


def test_no_modules_import_each_other() -> None:
    assert not list(circles(arrows()))


def test_no_folders_import_each_other() -> None:
    """At every level; the top folders have the floors of test_layering, where plugins lies on three."""
    folders = {module.rpartition(".")[0] for module in arrows()} - {"", "certdp"}
    assert len(folders) > 30
    assert not [circle for folder in sorted(folders) for circle in circles(rooms_within(folder, arrows()))]


def late(source: str) -> list[int]:
    """Lines of functions that import other modules of certdp; the compiler may be loaded where a kernel is compiled."""
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return sorted(
        {
            node.lineno
            for function in functions
            for node in ast.walk(function)
            if isinstance(node, ast.ImportFrom) and node.level and not (node.module or "").endswith("_kernels.machine")
        }
    )


def test_modules_of_certdp_are_imported_where_they_can_be_seen() -> None:
    found = {
        module: lines
        for module, path in library().items()
        if not any(within(module, one) for one in LATE) and (lines := late(path.read_text("utf-8")))
    }
    assert not found


def test_every_excuse_is_needed() -> None:
    for excused in LATE:
        assert any(late(path.read_text("utf-8")) for module, path in library().items() if within(module, excused))


def test_circles_are_found() -> None:
    assert list(circles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]})) == [["a", "b", "c", "a"]]
    assert list(circles({"a": ["b", "c"], "b": ["c"], "c": []})) == []


def test_arrows_upwards_and_across_are_found() -> None:
    graph = {"f.low.a": {"f.high.b"}, "f.high.b": {"f.beside.c"}, "f.beside.c": {"f.low.a"}}
    (up, across) = complaints("f", (("low",), ("high", "beside")), graph)
    assert "low is not above high" in up
    assert "high is not above beside" in across


def test_late_imports_are_found() -> None:
    assert late("def f():\n    from .other import thing") == [2]
    assert late("def f():\n    from ._kernels import fft") == [2]
    assert late("from .other import thing\ndef f():\n    import scipy\n    from .._kernels.machine import code") == []
