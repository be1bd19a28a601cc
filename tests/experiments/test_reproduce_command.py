"""Every experiment on small data: files whole, figures that follow from the seed, answers that hold together."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from typer.testing import CliRunner

from certdp.commands.app import app
from certdp.experiments import figure_2, trade_offs
from certdp.experiments.catalogue import EXPERIMENTS
from certdp.experiments.contenders import CONTENDERS, Contest, coins_at
from certdp.experiments.data_sets import DataSet
from certdp.mechanisms.lloyd import Split

DOCUMENT = Path(__file__).parents[2] / "docs/experiments.md"
ON_RECORDS = [name for name in EXPERIMENTS if name.startswith("is-")]
WITH_PICTURES = [name for name in ON_RECORDS if name.startswith("is-fig")]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clusters whose records differ in norm."""
    generator = np.random.default_rng(11)
    centres = generator.normal(size=(6, 3)) * 4
    records = centres[generator.integers(6, size=400)] + generator.normal(size=(400, 3)) / 2
    path = tmp_path_factory.mktemp("data") / "small.npy"
    np.save(path, records)
    return path


@pytest.fixture(autouse=True)
def _few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_2, "SCALES", (10.0, 300.0))
    monkeypatch.setattr(trade_offs, "EPSILONS", (100.0,))
    monkeypatch.setattr(trade_offs, "EPSILONS_AGAINST_SIZE", (3.0,))


def run(*arguments: object) -> Any:
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments), "--json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return json.loads(result.stdout)


def rows(path: Path) -> list[Mapping[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))


def arguments_for(name: str, table: Path) -> tuple[object, ...]:
    if name == "is-fig2":
        return ("--repetitions", 3)
    return ("--data", table, "--repetitions", 2, "--size", 30)


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_RECORDS)
def test_every_experiment_writes_its_files(name: str, table: Path, tmp_path: Path) -> None:
    arguments = arguments_for(name, table)
    files = [Path(file) for file in run(name, *arguments, "--output", tmp_path / "out")["files"]]
    assert sorted(files) == sorted((tmp_path / "out").iterdir())
    tables = [file for file in files if file.suffix == ".csv"]
    pictures = [file for file in files if file.suffix == ".png"]
    assert len(tables) + len(pictures) == len(files)
    assert len(pictures) == (name in WITH_PICTURES)
    assert tables
    assert all(rows(file) for file in tables)
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in pictures)
    if "--data" in arguments:  # what is computed from somebody's records is for the owner alone
        assert all(stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 for file in files)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["is-fig1", "is-fig2", "is-fig4"])
def test_results_follow_from_the_seed(name: str, table: Path, tmp_path: Path) -> None:
    for folder, seed in (("one", 1), ("again", 1), ("other", 2)):
        run(name, *arguments_for(name, table), "--seed", seed, "--output", tmp_path / folder)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()
        assert file.read_bytes() != (tmp_path / "other" / file.name).read_bytes()


@pytest.mark.slow
def test_costs_against_epsilon(table: Path, tmp_path: Path) -> None:
    found = run("is-fig3", *arguments_for("is-fig3", table), "--output", tmp_path)
    cells = rows(tmp_path / "is-fig3.csv")
    assert [(cell["sampler"], cell["epsilon"]) for cell in cells] == [
        *((name, "100.0") for name in CONTENDERS),
        *((name, "inf") for name in ("core", "unif")),
    ]
    for cell in cells:
        assert float(cell["epsilon_certified"]) <= float(cell["epsilon"])
        assert float(cell["expected_size"]) == pytest.approx(30, rel=1e-6)
        assert 0 < float(cell["cost_q25"]) <= float(cell["cost_median"]) <= float(cell["cost_q75"])
        # β_count = ∛(4dρ²)·β_sum
        if cell["epsilon"] != "inf":
            share = (4 * 3 * 0.225**2) ** (1 / 3)
            ratio = float(cell["noise_scale_count"]) / float(cell["noise_scale_sum"])
            assert ratio == pytest.approx(share, rel=1e-12)
    assert found["opt_against_unif"]["all"]["compared"] == 1
    assert "not for publication" in found["notice"]


def test_noise_costs() -> None:
    generator = np.random.default_rng(5)
    data = DataSet.of("cube", generator.uniform(-1, 1, size=(300, 2)))
    contest = Contest.on(data, Split.DERIVED)
    noisy = contest.run(contest.unif(1.0, 150), 5, (0,)).costs
    for exact in (contest.unif_without_noise(150), contest.core_without_noise(150)):
        assert contest.run(exact, 5, (0,)).costs.max() < noisy.min() < data.mean_squared_norm


@pytest.mark.parametrize("name", list(CONTENDERS))
@pytest.mark.parametrize("epsilon", [0.5, 1000.0])
def test_contenders_cost_what_they_should(name: str, epsilon: float) -> None:
    data = DataSet.of("normal", np.random.default_rng(2).normal(size=(200, 4)))
    contest = Contest.on(data, Split.PUBLISHED)
    contender = CONTENDERS[name](contest, epsilon, 20)
    bound = contender.on(contest.domain).pure().bound.epsilon
    assert epsilon * (1 - 1e-5) <= float(bound.upper) <= epsilon
    # no record loses more, by Theorem 6 with the probability and the weight of each
    drawn = contender.drawing.on(contest.domain).realise(contest.features)
    unit = contest.mechanism(contender.mechanism.scale_sum.value)  # type: ignore[attr-defined]
    for index in range(0, 200, 17):
        length = math.hypot(*data.records[index].tolist())
        loss = 10 * drawn.weight[index] * (1 / float(unit.count_scale) + length / float(unit.scale_sum.value))
        assert mpmath.log1p(drawn.probability[index] * mpmath.expm1(loss)) <= epsilon * (1 + 1e-9)


def test_coins_differ_from_place_to_place() -> None:
    drawn = {coins_at(*place).uniform(1)[0] for place in [(0, 0), (0, 1), (1, 0), (0, 0, 0), (0,), (1,)]}
    assert len(drawn) == 6


@pytest.mark.slow
def test_figure_2_compares_at_equal_sizes(tmp_path: Path) -> None:
    found = run("is-fig2", "--repetitions", 100, "--output", tmp_path)
    weights = rows(tmp_path / "is-fig2-weights.csv")
    for scale in {row["noise_scale"] for row in weights}:
        of_one = [row for row in weights if row["noise_scale"] == scale]
        assert len(of_one) == 1000
        for name in ("opt", "var", "unif"):
            assert math.fsum(1 / float(row[f"weight_{name}"]) for row in of_one) == pytest.approx(19, rel=1e-7)
    for row in rows(tmp_path / "is-fig2-errors.csv"):
        # the measured error is that of the variance of an unbiased estimate
        apart = abs(float(row["mse"]) - float(row["mse_expected"])) / float(row["mse_standard_error"])
        assert apart < 5
    for reading in found["readings"]:
        psi = reading["psi_max"]
        assert psi["opt"] < psi["var"] < psi["unif"]
        assert psi["opt"] == pytest.approx(reading["epsilon"], rel=1e-9)
        assert reading["weights_of_opt_against_variance_optimal"]["sampling_variance_ratio"] > 1


def test_table_1_prints_the_figures_of_the_file(table: Path) -> None:
    found = run("is-table1", "--data", table)
    assert (found["n"], found["d"]) == (390, 3)
    assert found["rows"] == [{"data": "small", **{key: found[key] for key in ("n", "d", "r", "mean_squared_norm")}}]
    assert found["files"] == []


@pytest.mark.slow
def test_without_data_stand_ins_are_named_so() -> None:
    found = run("is-table1")
    assert "synthetic" in found["source"]
    assert len(found["rows"]) == 8


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        (("is-fig9",), "experiment"),
        (("is-fig2", "--data", "some.npy"), "data"),
        (("is-fig3", "--transpose"), "transpose"),
        (("is-fig3", "--split", "even"), "split"),
        (("is-table1", "--output", "missing/folder"), "output"),
    ],
)
def test_refusals(arguments: tuple[str, ...], parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = run(*arguments)["error"]
    assert error["parameter"] == parameter
    assert all(error.values())
    assert not list(tmp_path.iterdir())


def test_sizes_beyond_the_data_are_refused(table: Path, tmp_path: Path) -> None:
    error = run("is-fig3", "--data", table, "--size", 5000, "--output", tmp_path / "out")["error"]
    assert error["parameter"] == "size"
    assert not (tmp_path / "out").exists()


def test_commands_of_the_document_exist() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert set(re.findall(r"certdp reproduce (\S+)", text)) <= set(EXPERIMENTS)
    assert set(re.findall(r"`((?:is|pws|dpis)-[a-z0-9-]+)`", text)) == set(EXPERIMENTS)
