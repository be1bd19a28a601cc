"""A function or class is named by the field's word or a plain noun or verb, not by who tells whom.

Read from the syntax trees: no module is imported. Names of tests are sentences, and may have any word.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

REPOSITORY = Path(__file__).parents[1]
FOLDERS = (
    "accounting",
    "benchmarks",
    "docs",
    "examples",
    "mechanisms",
    "plugins",
    "samplers",
    "src/certdp",
    "tests",
    "verification",
)
WORDS = re.compile(
    "ask(ed|ing|s)?|foreseen|found|hear(d|s)?|look(ed|ing|s)?|notic(ed|es|ing)|said|say(ing|s)?|seen|shown|standing"
    "|tell(ing|s)?|thought|told"
)
"""Words about people who speak and listen; a name says what a thing is: `formatted`, `privacy_loss`, `lower_bound`."""


def named(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


def refused(name: str) -> bool:
    """Whether one of the words is a part of the name."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return not name.startswith("test_") and any(WORDS.fullmatch(part.lower()) for part in parts)


def constants(tree: ast.Module) -> list[str]:
    """What assignments at the top of a module name, once for each."""
    targets = [
        target
        for node in tree.body
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target] if valued(node) else [])
    ]
    return [target.id for target in targets if isinstance(target, ast.Name) and target.id != "_"]


def valued(node: ast.stmt) -> TypeGuard[ast.AnnAssign]:
    return isinstance(node, ast.AnnAssign) and node.value is not None


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_constant_is_given_another_value_below(folder: str) -> None:
    """Where two changes choose one name, what reads the first value gets the second, and nothing says so."""
    files = [path for path in sorted((REPOSITORY / folder).rglob("*.py")) if not path.is_symlink()]
    found = {path: constants(ast.parse(path.read_text("utf-8"))) for path in files}
    assert any(found.values())
    twice = {
        str(path.relative_to(REPOSITORY)): {n for n in names if names.count(n) > 1} for path, names in found.items()
    }
    assert {path: names for path, names in twice.items() if names} == {}


def test_a_constant_given_twice_is_found() -> None:
    names = constants(ast.parse("CELLS = 64\nMOST: int = 2\nFEW: int\nCELLS = 4096"))
    assert names == ["CELLS", "MOST", "CELLS"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_name_has_a_word_that_is_not_the_fields(folder: str) -> None:
    top = REPOSITORY / folder
    files = [path for path in sorted(top.rglob("*.py")) if not any(part.is_symlink() for part in path.parents)]
    assert files
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{node.lineno}: {node.name}"
        for path in files
        for node in named(ast.parse(path.read_text("utf-8")))
        if refused(node.name)
    ]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("name", ["_told", "Foreseen", "shown_found", "mostTelling", "_Asked", "LookUp", "says"])
def test_a_word_is_found_in_every_form_of_name(name: str) -> None:
    assert refused(name)


@pytest.mark.parametrize("name", ["task", "understanding", "essays", "outlook", "founder", "show", "stored"])
def test_a_word_within_another_is_none(name: str) -> None:
    assert not refused(name)
