"""`certdp dpis plan`: what a training run needs, and errors that say what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from certdp.commands.app import app
from certdp.verification.oracles.renyi import mixture_divergence

ARGUMENTS = ["--records", "60000", "--batch", "512", "--epsilon", "4", "--delta", "1e-5"]


def planned(*more: object, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["dpis", "plan", *ARGUMENTS, *map(str, more), "--json"])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


@pytest.fixture
def falling(tmp_path: Path) -> Path:
    path = tmp_path / "sums.txt"
    path.write_text("60000\n48000\n36000\n\n30000\n", "utf-8")
    return path


@pytest.mark.slow
def test_noise_falls_with_the_norm_sums_and_below_that_of_dp_sgd(falling: Path) -> None:
    found = planned("--epochs", 4, "--size-noise", 1200, "--kc-trajectory", falling, "--divider", "0.5")
    assert found["steps_per_epoch"] == 117
    assert found["norm_sum_over_clip"] == [60000, 48000, 36000, 30000]
    assert sorted(found["dpis"], reverse=True) == found["dpis"]
    assert found["dpis"][0] == pytest.approx(found["dp_sgd"][0], rel=1e-3)
    assert found["dpis"][-1] < 0.7 * found["dp_sgd"][-1]
    assert found["accounting"] == "renyi"
    assert found["dp_sgd"] == found["dp_sgd_by"]["renyi"]
    assert found["dp_sgd_by"]["loss-distribution"][0] < found["dp_sgd"][0]
    assert found["epsilon"][0] is None
    assert found["epsilon"][1] <= 4
    assert found["delta"][1] <= 1e-5


@pytest.mark.slow
def test_the_costs_of_all_releases_add_up_to_what_the_order_allows(falling: Path) -> None:
    """The total τ, integrated from the densities by the rates and multipliers printed, is the whole budget."""
    from fractions import Fraction

    from certdp.accounting.conversions.renyi_moment import epsilon_at_order
    from certdp.accounting.enclosures import Enclosure

    found = planned("--epochs", 4, "--size-noise", 1200, "--norm-rate", "0.1", "--kc-trajectory", falling)
    order, total = Fraction(found["order"]), Fraction(0)
    kinds = [cost["release"] for cost in found["releases"]]
    assert kinds == ["size", "norm sum", *(f"steps of epoch {number}" for number in range(1, 5))]
    for cost in found["releases"]:
        rate, noise = Fraction(cost["rate"]), Fraction(cost["noise_multiplier"])
        tau = mixture_divergence(rate, 1 / noise, Fraction(1), order)
        assert cost["tau"][0] * (1 - 1e-9) <= tau <= cost["tau"][1] * (1 + 1e-9)
        total += cost["count"] * tau
    assert epsilon_at_order(order, Enclosure.of(total), Enclosure.of("1e-5")).upper_float == pytest.approx(4, rel=1e-4)


@pytest.mark.slow
def test_loss_distributions_keep_the_shift_and_a_text_says_by_whom() -> None:
    found = planned("--epochs", 2, "--largest-rate", "0.02")
    assert found["accounting"] == "loss-distribution"
    assert found["dp_sgd"] == found["dp_sgd_by"]["loss-distribution"]
    assert {cost["noise_multiplier"] for cost in found["releases"][1:]} == {found["releases"][1]["noise_multiplier"]}
    result = CliRunner().invoke(app, ["dpis", "plan", *ARGUMENTS, "--epochs", "2"])
    assert result.exit_code == 0
    assert "by Rényi accounting" in result.output
    assert "relation add-remove" in result.output
    assert "the number of records is public = 60000" in result.output


@pytest.mark.parametrize(
    ("more", "parameter"),
    [
        (["--batch", "60001"], "batch"),
        (["--batch", "0"], "batch"),
        (["--batch", "59900"], "batch"),
        (["--clip", "0"], "clip"),
        (["--divider", "1.5"], "divider"),
        (["--epsilon", "0"], "epsilon"),
        (["--delta", "0"], "delta"),
        (["--norm-noise", "0.1"], "budget"),
        (["--norm-noise", "0"], "norm-noise"),
        (["--norm-rate", "0"], "norm-rate"),
        (["--margin", "0"], "margin"),
        (["--size-noise", "0"], "size-noise"),
        (["--records", "-1"], "records"),
        (["--records", "0.5", "--batch", "0.1"], "records"),
        (["--largest-rate", "2"], "largest-rate"),
        (["--largest-rate", "0.008"], "largest-rate"),
        (["--largest-rate", "0.02", "--order", "5"], "order"),
        (["--largest-rate", "0.02", "--divider", "0.5"], "divider"),
        (["--plot", "/nowhere/at/all.png"], "plot"),
        (["--kc-trajectory", "no such file"], "kc-trajectory"),
    ],
)
def test_bad_input_is_named(more: list[str], parameter: str) -> None:
    error = planned("--epochs", 3, *more, code=2)["error"]
    assert error["parameter"] == parameter
    assert "Fraction" not in str(error)


def test_the_margin_bounds_the_norm_sums_from_below(tmp_path: Path) -> None:
    path = tmp_path / "sums.txt"
    path.write_text("60000\n640\n", "utf-8")
    found = planned("--epochs", 2, "--kc-trajectory", path, "--margin", "1/4")
    assert found["norm_sum_over_clip"] == [60000, 640]
    assert found["rate"][1] == 0.8
    error = planned("--epochs", 2, "--kc-trajectory", path, "--margin", "0.26", code=2)["error"]
    assert error["parameter"] == "kc-trajectory"


@pytest.mark.slow
def test_a_picture_of_the_noise_foreseen(falling: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its curves are the numbers of the answer."""
    axes = pytest.importorskip("matplotlib.axes")
    drawn: dict[str, list[float]] = {}
    plot = axes.Axes.plot

    def noted(self: Any, x: Any, y: Any, **how: Any) -> Any:
        assert list(x) == [1, 2, 3, 4]
        drawn[how["label"]] = list(y)
        return plot(self, x, y, **how)

    monkeypatch.setattr(axes.Axes, "plot", noted)
    found = planned("--epochs", 4, "--kc-trajectory", falling, "--plot", tmp_path / "noise.png")
    assert (tmp_path / "noise.png").read_bytes().startswith(b"\x89PNG")
    assert found["plot"] == str(tmp_path / "noise.png")
    assert drawn == {
        "DPIS": found["dpis"],
        "DP-SGD": found["dp_sgd"],
        "DP-SGD by its loss distribution": found["dp_sgd_by"]["loss-distribution"],
    }


@pytest.mark.parametrize("text", ["1\n2\n", "1\n2\n60001\n", "1\n0\n3\n", "a\nb\nc\n", ""])
def test_a_trajectory_needs_one_number_for_each_epoch(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sums.txt"
    path.write_text(text, "utf-8")
    assert planned("--epochs", 3, "--kc-trajectory", path, code=2)["error"]["parameter"] == "kc-trajectory"
