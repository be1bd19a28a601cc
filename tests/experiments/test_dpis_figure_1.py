"""DPIS Figure 1: the printed multipliers at ε = 4, files, and the options it has no use for."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from certdp.commands.app import app
from certdp.experiments import dpis_figure_1


def reproduced(*arguments: object, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["reproduce", "dpis-fig1", *map(str, arguments), "--json"])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


@pytest.mark.slow
def test_dp_sgd_has_the_printed_multiplier_and_dpis_falls_about_as_far() -> None:
    """ε = 4: 0.81 for DP-SGD, and DPIS from 0.81 to 0.42."""
    found = dpis_figure_1.multipliers("4", dpis_figure_1.falling(dpis_figure_1.EPOCHS))
    assert found["dp_sgd"] == pytest.approx([0.81] * 17, abs=0.005)
    assert found["dpis"][0] == pytest.approx(0.81, abs=0.005)
    assert found["dpis"][-1] == pytest.approx(0.42, abs=0.02)
    assert found["dp_sgd_decay"][-1] == pytest.approx(found["dp_sgd_decay"][0] * 0.99**16, rel=1e-3)
    drops = [before / after for before, after in zip(found["dpis"], found["dpis"][1:], strict=False)]
    assert drops.index(max(drops)) + 1 == 14  # a_E·E = 13.6: the fifteenth epoch is the first of the second phase


@pytest.mark.slow
def test_norm_sums_from_a_file_make_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dpis_figure_1, "EPSILONS", ("4",))
    sums = tmp_path / "sums.txt"
    sums.write_text("60000\n40000\n20000\n", "utf-8")
    found = reproduced("--data", sums, "--output", tmp_path / "out")
    assert found["epochs"] == 3
    (text, picture) = map(Path, found["files"])
    rows = list(csv.DictReader(io.StringIO(text.read_text("utf-8"))))
    assert [float(row["norm_sum_over_size_and_clip"]) for row in rows] == pytest.approx([1, 2 / 3, 1 / 3])
    (line,) = found["first_and_last_noise_multiplier"]
    assert line["dpis"] == [float(rows[0]["dpis"]), float(rows[-1]["dpis"])]
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("option", [["--seed", "3"], ["--repetitions", "2"], ["--data", "no such file"]])
def test_options_without_a_use_are_refused(option: list[str]) -> None:
    assert reproduced(*option, code=2)["error"]["parameter"] == option[0].removeprefix("--")
