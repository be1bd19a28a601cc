"""A docstring says what its name is to someone who sees it alone, in `help()` or on the reference page.

Read from the syntax trees: no module is imported, those that need PyTorch among them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
FOLDERS = ("accounting", "mechanisms", "samplers", "plugins", "verification", "src/certdp")
MODULES = [
    file
    for folder in FOLDERS
    for file in sorted((REPOSITORY / folder).rglob("*.py"))
    if not any((REPOSITORY / folder / part).is_symlink() for part in file.relative_to(REPOSITORY / folder).parents)
]

LEAST_WORDS = 3
ANSWERS = re.compile(
    r"(as (given|stated|declared|usual|above|before|for one|json has it)|at most so many|by the same|itself|like|none"
    r"|for (programs|people)|nothing|no|of|on to|refused|see|that of|the [\w']+ own(?=\.)|the same|these|those|yes)\b",
    re.IGNORECASE,
)
"""How a docstring opens that answers a question put elsewhere."""
ASSERTS = re.compile(r"[=→≤≥≠]")
"""Words beside a formula: a name's own, or a verb, are enough where the formula states a relation."""


def complaint(docstring: str) -> str | None:
    """What keeps a docstring from being read alone, if anything."""
    first = docstring.strip().partition("\n\n")[0]
    words = re.findall(r"[A-Za-z]{3,}", first)
    if ANSWERS.match(first):
        return "opens with an answer to a question that only another text puts"
    if not words:
        return "names nothing in words"
    if len(first.split()) < LEAST_WORDS and not ASSERTS.search(first):
        return f"has fewer than {LEAST_WORDS} words and no formula with a relation"
    return None


def docstrings(tree: ast.AST, path: str = "") -> Iterator[tuple[str, str]]:
    """The names of a module's public classes and functions, methods included, with their docstrings."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            name = f"{path}{node.name}"
            text = ast.get_docstring(node)
            if text is not None:
                yield name, text
            if isinstance(node, ast.ClassDef):
                yield from docstrings(node, f"{name}.")


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_docstring_can_be_read_alone(folder: str) -> None:
    inside = [file for file in MODULES if file.is_relative_to(REPOSITORY / folder)]
    assert inside
    leaning = [
        f"{file.relative_to(REPOSITORY)}: {name}: {text.splitlines()[0]!r} {problem}"
        for file in inside
        for name, text in docstrings(ast.parse(file.read_text("utf-8")))
        if (problem := complaint(text)) is not None
    ]
    assert not leaning, "\n" + "\n".join(leaning)


LEANING = (
    "Itself.|As stated.|Yes.|None.|Σ ρ.|ε.|T·τ(α).|The parts' own.|Those of all parts.|Of each entry.|For programs.|1."
    "|q_i.|The same for people.|No rows.|ρ = μ²/2.|The page."
)
STANDING_ALONE = (
    "ρ of the composition: the sum of the parts' ρ.",
    "Convert μ-Gaussian DP to Rényi DP: τ(α) = αμ²/2.",
    "The pure ε in each direction; None where it is infinite.",
    "Return the negative, exactly.",
)


@pytest.mark.parametrize("docstring", LEANING.split("|"))
def test_a_docstring_that_leans_on_another_text_is_found(docstring: str) -> None:
    assert complaint(docstring) is not None


@pytest.mark.parametrize("docstring", STANDING_ALONE)
def test_a_docstring_that_says_what_its_name_is_passes(docstring: str) -> None:
    assert complaint(docstring) is None
