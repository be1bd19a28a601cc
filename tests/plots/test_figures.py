"""One figure is public or its owner's, never both: read from the syntax tree of everything that draws."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from certdp.accounting.private import Private
from certdp.plots.records import plot_losses

FACE = Path(__file__).parents[2] / "src/certdp"
EXPERIMENTS = FACE / "experiments"  # a whole run there is its owner's where it has read a file


def drawing() -> dict[str, ast.Module]:
    """The modules that end figures."""
    found = {}
    for path in sorted(FACE.rglob("*.py")):
        inside = path.relative_to(FACE).parts
        linked = inside[0] in {"accounting", "mechanisms", "plugins", "samplers", "verification", "experiments"}
        text = "" if linked or path.name == "canvas.py" else path.read_text("utf-8")
        if "png" in text and {"png", "owners_png"} & _names(tree := ast.parse(text)):
            found["/".join(inside)] = tree
    return found


def _names(node: ast.AST) -> set[str]:
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return names | {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def complaints(tree: ast.Module) -> list[str]:
    """Functions that end a figure with the wrong mark for what they and the functions they call have seen."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}

    def names_reached(name: str, visited: frozenset[str] = frozenset()) -> set[str]:
        names = _names(functions[name])
        for other in names & set(functions) - visited - {name}:
            names |= names_reached(other, visited | {name})
        return names

    found = []
    for name, function in functions.items():
        here = _names(function)
        ends = here & {"png", "owners_png"}
        if not ends:
            continue
        private = bool(names_reached(name) & {"reveal", "Measurement", "Fit"})
        if ends != ({"owners_png"} if private else {"png"}):
            found.append(f"{name} ends with {sorted(ends)} and has {'' if private else 'not '}seen private values")
        returned = ast.unparse(function.returns) if function.returns else ""
        if (returned == "Private[bytes]") != private:
            found.append(f"{name} returns {returned}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("module", drawing())
def test_no_figure_mixes_public_and_private_panels(module: str) -> None:
    assert not complaints(drawing()[module])


@pytest.mark.slow
def test_the_figures_there_are() -> None:
    assert {"plots/runs.py", "plots/records.py", "dpis/pictures.py"} <= set(drawing())


@pytest.mark.parametrize(
    "text",
    [
        "def plot(claim, measured) -> bytes:\n    draw(measured.reveal())\n    return png(figure)",
        "def plot(history) -> bytes:\n    _rest(history)\n    return png(figure)\n"
        "def _rest(history):\n    draw(history.columns().reveal())",
        "def plot(history) -> bytes:\n    one = png(public)\n    return owners_png(two.reveal())",
        "def plot(claim, measured: Measurement) -> bytes:\n    return png(figure)",
        "def plot(claim) -> Private[bytes]:\n    return owners_png(figure)",
    ],
)
def test_mixed_figures_are_found(text: str) -> None:
    assert complaints(ast.parse(text))


def test_an_owners_figure_is_private_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure
    marks: list[str] = []
    monkeypatch.setattr(figure, "supxlabel", lambda self, text, **_: marks.append(text))
    picture = plot_losses(Private(np.array([0.1, 2.0])))
    assert isinstance(picture, Private)
    assert picture.reveal().startswith(b"\x89PNG")
    assert marks == ["private: for the data's owner, not for publication"]
