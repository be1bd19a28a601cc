"""The house of certdp: which module may import which, read from the syntax tree and checked at run time."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

FACE = Path(__file__).parents[1] / "src/certdp"

FLOORS = (  # from the ground up; a module sees its own wing and the floors below
    ("certdp.accounting",),
    ("certdp.durable",),
    ("certdp.plugins", "certdp.plugins.contract"),
    ("certdp.mechanisms", "certdp.samplers"),
    ("certdp.plugins.registry", "certdp.plugins.probe", "certdp.plugins.forks"),
    ("certdp.verification",),
    ("certdp.plugins.conformance", "certdp.plugins.scaffold"),
    ("certdp",),
)
FLOOR_OF = {wing: floor for floor, wings in enumerate(FLOORS) for wing in wings}
STRANGERS = {"certdp.mechanisms", "certdp.samplers"}  # one floor, two wings without a door

CHECKER = "certdp.verification.checker"
MPMATH_MAY = ("certdp.accounting.enclosures", CHECKER, "certdp.verification.oracles")
TORCH_MAY = "certdp.dpis.torch"
HEAVY = {"hypothesis", "jinja2", "matplotlib", "mpmath", "numba", "pyarrow", "rich", "scipy", "sklearn", "typer"}
FOLDERS = {"accounting", "mechanisms", "plugins", "samplers", "verification"}
LINKS = {FACE / folder for folder in FOLDERS}


def wing_of(name: str) -> str:
    """The innermost wing of the house that the dotted name lies in."""
    while name and name not in FLOOR_OF:
        name = name.rpartition(".")[0]
    assert name, "no part of the house"
    return name


def within(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def imported(node: ast.AST, package: str) -> Iterator[str]:
    """Absolute dotted names that an import statement or call of a module in `package` reaches for."""
    match node:
        case ast.Call(
            ast.Name("import_module" | "__import__") | ast.Attribute(attr="import_module"), [ast.Constant(n)]
        ):
            yield str(n)
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom(level=0):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        case ast.ImportFrom():
            levels = package.split(".")
            above = levels[: max(0, len(levels) - node.level + 1)]
            base = ".".join(above + ([node.module] if node.module else []))
            yield from (f"{base}.{alias.name}" for alias in node.names)


def complaint(module: str, target: str, *, relative: bool) -> str | None:
    """What is wrong with `module` importing `target`, if anything."""
    top = target.partition(".")[0]
    if not relative:
        if top == "certdp" or top in FOLDERS:
            return "imports the library by an absolute name"
        if top == "mpmath" and not module.startswith(MPMATH_MAY):
            return "imports mpmath"
        if top == "numba" and "_kernels" not in module.split("."):
            return "imports numba"
        if top == "torch" and not within(module, TORCH_MAY):
            return "imports torch"
        if within(module, CHECKER) and top not in sys.stdlib_module_names | {"mpmath"}:
            return "is the checker and imports more than the standard library and mpmath"
        return None
    if not within(target, "certdp"):
        return "imports from outside certdp by a relative name"
    if within(module, CHECKER) and not within(target, CHECKER):
        return "is the checker and imports other parts of certdp"
    home, reached = wing_of(module), wing_of(target)
    if FLOOR_OF[reached] > FLOOR_OF[home]:
        return f"reaches up from {home} to {reached}"
    if {home, reached} == STRANGERS:
        return f"reaches across from {home} to {reached}"
    return None


def violations(source: str, module: str, *, is_package: bool = False) -> list[str]:
    package = module if is_package else module.rpartition(".")[0]
    return [
        f"{module}, line {node.lineno}: {wrong} ({target})"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)
        for target in imported(node, package)
        if (wrong := complaint(module, target, relative=isinstance(node, ast.ImportFrom) and node.level > 0))
    ]


def library() -> dict[str, Path]:
    """Every module of the library by its dotted name: all that lies below the face, through its links."""
    modules = {}
    for folder, _, files in os.walk(FACE, followlinks=True):
        for path in (Path(folder, name) for name in files if name.endswith(".py")):
            parts = ("certdp", *path.relative_to(FACE).with_suffix("").parts)
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def test_no_module_is_overlooked() -> None:
    """Against another way of counting: what a file search finds in the folders themselves."""
    root = FACE.parents[1]
    own = [path for path in FACE.rglob("*.py") if FACE / path.relative_to(FACE).parts[0] not in LINKS]
    linked = [path for folder in FOLDERS for path in (root / folder).rglob("*.py")]
    assert len(own) > 100
    assert {path.resolve() for path in library().values()} == {p.resolve() for p in own + linked}


def test_arrows_point_down_only() -> None:
    modules = library()
    assert set(map(wing_of, modules)) >= {"certdp", *(f"certdp.{folder}" for folder in FOLDERS)}
    found = [
        wrong
        for module, path in modules.items()
        for wrong in violations(path.read_text("utf-8"), module, is_package=path.stem == "__init__")
    ]
    assert not found, "\n".join(found)


def test_every_part_of_plugins_has_a_floor() -> None:
    parts = {".".join(name.split(".")[:3]) for name in library() if within(name, "certdp.plugins")}
    assert parts <= set(FLOOR_OF), f"place {parts - set(FLOOR_OF)} on a floor"


@pytest.mark.parametrize(
    ("module", "statement", "expected"),
    [
        ("certdp.accounting.units", "from ..plugins.contract import draw", "reaches up"),
        ("certdp.accounting.units", "from .. import verification", "reaches up"),
        ("certdp.accounting.units", "from .. import __version__", "reaches up"),
        ("certdp.accounting.notions.pure", "from ...mechanisms import count", "reaches up"),
        ("certdp.plugins.contract.draw", "from .. import registry", "reaches up"),
        ("certdp.plugins.registry", "def late():\n    from ..verification import claims", "reaches up"),
        ("certdp.verification.audit", "from ..plugins import scaffold", "reaches up"),
        ("certdp.mechanisms.count", "from ..samplers.full import Full", "reaches across"),
        ("certdp.samplers.full", "from .. import mechanisms", "reaches across"),
        ("certdp.samplers.full", "from ..plugins.registry import plugins", "reaches up"),
        ("certdp.samplers.full", "import certdp.accounting", "absolute name"),
        ("certdp.samplers.full", "from accounting.units import Epsilon", "absolute name"),
        ("certdp.samplers.full", "import os, mpmath", "mpmath"),
        ("certdp.verification.report", "from mpmath import iv", "mpmath"),
        ("certdp.mechanisms.count", "if 1:\n    import numba as nb", "numba"),
        ("certdp.accounting._kernels_of_old", "from numba import njit", "numba"),
        ("certdp.verification.checker", "import numpy as np", "is the checker"),
        ("certdp.verification.checker", "from ..accounting.exact import exact", "is the checker"),
        ("certdp.verification.checker.series", "from .. import claims", "is the checker"),
        ("certdp.accounting.units", "from ....elsewhere import thing", "outside certdp"),
        ("certdp.dpis.engine", "from certdp import dpis", "absolute name"),
        ("certdp.dpis.engine", "import torch", "imports torch"),
        ("certdp.commands.psi.text", "import mpmath", "mpmath"),
        ("certdp.weighted_sampling.release", "import_module('mpmath.libmp')", "mpmath"),
        ("certdp.data.chunks", "importlib.import_module('numba')", "numba"),
    ],
)
def test_the_scan_finds(module: str, statement: str, expected: str) -> None:
    (wrong,) = violations(statement, module)
    assert expected in wrong


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("certdp.accounting.enclosures", "from mpmath import iv"),
        ("certdp.accounting._kernels.psi", "from numba import njit"),
        ("certdp.verification.oracles.arb", "import mpmath"),
        ("certdp.verification.checker", "import json, mpmath\nfrom .checker import verdict"),
        ("certdp.mechanisms.count", "from ..plugins.contract import Mechanism\nfrom . import laplace_sum"),
        ("certdp.plugins.registry", "from ..accounting.errors import InvalidValue\nfrom . import contract"),
        ("certdp.verification.audit", "from ..samplers import full\nfrom ..plugins.registry import plugins"),
        ("certdp.__main__", "from .verification.claims import CLAIMS\nfrom . import mechanisms, samplers"),
    ],
)
def test_the_scan_allows(module: str, statement: str) -> None:
    assert violations(statement, module) == []


def test_the_scan_reads_a_package_as_its_own_parent() -> None:
    source = "from . import full"
    assert violations(source, "certdp.samplers", is_package=True) == []
    assert violations(source, "certdp.accounting.units", is_package=True) == []
    assert violations("from .. import samplers", "certdp.accounting", is_package=True)


def loaded_by(statement: str) -> set[str]:
    """Names of the modules in a fresh interpreter after `statement`."""
    run = [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"]
    return set(subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True).stdout.split())


@pytest.mark.parametrize("module", ["certdp", "certdp.accounting.errors"])
def test_import_is_light(module: str) -> None:
    loaded = loaded_by(f"import {module}")
    assert module in loaded
    assert not loaded & HEAVY


def test_the_probe_for_light_imports_sees_a_heavy_one() -> None:
    assert "mpmath" in loaded_by("import mpmath") & HEAVY


def test_the_checker_loads_nothing_else_of_the_library() -> None:
    loaded = {name for name in loaded_by(f"import {CHECKER}") if within(name, "certdp")}
    others = {name for name in loaded if not within(name, CHECKER)} - {"certdp", "certdp.verification"}
    assert CHECKER in loaded
    assert not others
