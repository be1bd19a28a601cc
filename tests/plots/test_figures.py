"""One figure is public or its owner's, never both: read from the syntax tree of everything that draws."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp.accounting.norms import Norm
from certdp.accounting.private import Private
from certdp.accounting.provenance import Public
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.releases import ResampleEach
from certdp.accounting.units import Delta, Epsilon
from certdp.dpis.pictures import NOISE_CURVES, plot_noise
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plots.canvas import curve_style
from certdp.plots.records import plot_losses
from certdp.plots.runs import CALIBRATION_PLACES, plot_accounting, plot_calibration, plot_profile
from certdp.runs.calibration import Budget, Continuous, calibrate
from certdp.runs.certificates import pure_claim
from certdp.runs.sampled import SampledRun
from certdp.samplers.full import Full
from certdp.samplers.poisson import Poisson

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


def drawn(monkeypatch: pytest.MonkeyPatch, picture: Callable[[], object]) -> Any:
    """The figure behind a picture."""
    figure = pytest.importorskip("matplotlib.figure").Figure
    figures: list[Any] = []
    usual = figure.savefig

    def savefig(self: Any, *arguments: Any, **options: Any) -> None:
        figures.append(self)
        usual(self, *arguments, **options)

    monkeypatch.setattr(figure, "savefig", savefig)
    picture()
    (only,) = figures
    return only


def training(noise_multiplier: Fraction = Fraction(1), steps: int = 10) -> SampledRun[Any]:
    return SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(noise_multiplier)),
        sampler=Poisson(rate=Public("0.1")),
        releases=ResampleEach(steps),
    )


def of_accounting() -> bytes:
    run = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(1)), sampler=Full(), releases=ResampleEach(10))
    return plot_accounting(run, run.epsilon(Delta("1e-5")))


def of_calibration() -> bytes:
    budget = Budget(epsilon=Epsilon(1), delta=Delta("1e-5"))
    return plot_calibration(training, calibrate(training, budget, Continuous()), budget, "noise_multiplier")


def of_a_profile() -> bytes:
    ball = NormBall(norm=Norm.L1, radius=Public(1))
    run = SampledRun(mechanism=LaplaceSum(scale=Public(1)), sampler=Poisson(rate=Public("0.1")), domain=ball)
    return plot_profile(pure_claim(run))


PICTURES: dict[str, Callable[[], bytes]] = {
    "accounting": of_accounting,
    "calibration": of_calibration,
    "profile": of_a_profile,
    "noise": lambda: plot_noise({method: [2.0, 1.5, 1.0] for method in NOISE_CURVES}, "noise"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_curves_can_be_told_apart_without_colour(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    figure = drawn(monkeypatch, PICTURES[name])
    for axes in figure.axes:
        named = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
        looks = [
            (str(line.get_linestyle()), str(line._unscaled_dash_pattern), str(line.get_marker())) for line in named
        ]
        assert len(set(looks)) == len(looks), (name, looks)
        if named:
            assert axes.get_xlabel()
            assert axes.get_ylabel()


def test_no_two_looks_are_alike_in_grey() -> None:
    looks = [curve_style(number) for number in range(8)]
    for part in ("color", "linestyle", "marker"):
        assert len({str(one[part]) for one in looks}) == len(looks)


@pytest.mark.slow
def test_a_calibration_shows_the_budget_kept_from_the_value_on(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(epsilon=Epsilon(1), delta=Delta("1e-5"))
    found = calibrate(training, budget, Continuous())
    calls: list[None] = []

    def advance() -> None:
        calls.append(None)

    figure = drawn(monkeypatch, lambda: plot_calibration(training, found, budget, "noise_multiplier", advance=advance))
    curve = figure.axes[0].lines[0]
    places, losses = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    assert len(places) == len(calls) == CALIBRATION_PLACES
    assert np.all(np.diff(places) > 0)
    assert np.all(np.diff(losses) < 0)
    assert np.all(losses[places >= float(found.value)] <= 1 * (1 + 1e-9))
    assert np.all(losses[places < float(found.value)] > 1)
