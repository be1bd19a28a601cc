"""DPIS Tables 3 to 8 on small data: every table, runs that go on where they stopped, files with labels."""

from __future__ import annotations

import csv
import io
import json
import math
import stat
import statistics
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from certdp.accounting.errors import InvalidValue
from certdp.commands.app import app
from certdp.data import Reading
from certdp.dpis import engine
from certdp.experiments import dpis_tables, networks, training_data, training_runs
from certdp.experiments.catalogue import EXPERIMENTS
from certdp.experiments.dpis_tables import RUNS
from certdp.experiments.results import written_into
from certdp.experiments.training_data import WORDS, read_training_data, stand_in
from certdp.experiments.training_runs import DPIS, METHODS, Adaptation, Ledger, Outcome, Setting, interval

TABLES = {  # the cells of a table at one ε
    "dpis-table3": [{"method": name} for name in ("dpis", "dp-sgd", "dp-sgd-decay", "dp-sgd-ts")],
    "dpis-table4": [{"external": "4.0", "quantile": "1.0"}, {"external": "", "quantile": ""}],
    "dpis-table5": [{"divider": value} for value in ("0.0", "0.6", "0.8", "1.0")],
    "dpis-table6": [{"multiplier": value} for value in ("3.0", "4.0", "5.0", "6.0")],
    "dpis-table7": [{"external": value, "quantile": "1.0"} for value in ("3.0", "4.0", "5.0", "6.0")],
    "dpis-table8": [{"external": "4.0", "quantile": value} for value in ("0.8", "0.9", "1.0", "1.1", "1.2")],
}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_data, "STAND_IN_RECORDS", 400)
    monkeypatch.setattr(training_data, "STAND_IN_CLASSES", 3)
    monkeypatch.setattr(networks, "RATES", (0.1,))
    monkeypatch.setattr(networks, "HIDDEN", 4)
    monkeypatch.setattr(training_runs, "EPOCHS", 2)


def run(name: str, *arguments: object) -> Any:
    result = CliRunner().invoke(app, ["reproduce", name, *map(str, arguments), "--json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return json.loads(result.stdout)


def rows(path: Path) -> list[Mapping[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tables, so that runs they share are made once."""
    return tmp_path_factory.mktemp("tables")


def test_the_tables_are_the_catalogue_s() -> None:
    of_small = [name for name in EXPERIMENTS if name.startswith("dpis-table") and not name.endswith(("cnn", "lstm"))]
    assert of_small == list(TABLES)


def test_the_first_records_are_trained_on_and_all_are_tested() -> None:
    data = stand_in(Reading(), 0)
    fewer = data.first(7)
    assert np.array_equal(fewer.train.features, data.train.features[:7])
    assert np.array_equal(fewer.train.labels, data.train.labels[:7])
    assert fewer.test is data.test
    assert fewer.digest != data.digest == data.first(10_000).digest


@pytest.mark.slow
def test_pairs_share_their_coins_and_are_told_run_by_run(tmp_path: Path) -> None:
    run("dpis-paired", "--epsilon", "4", "--repetitions", 3, "--output", tmp_path / "one")
    made = [row for row in rows(tmp_path / "one" / RUNS) if row["purpose"] == "result"]
    accuracies = {(row["method"], row["repetition"]): 100 * float(row["private_test_accuracy"]) for row in made}
    gains = [accuracies["dpis", number] - accuracies["dp-sgd", number] for number in "012"]
    half = 4.302653 * statistics.stdev(gains) / math.sqrt(3)  # Student's t for 2 degrees of freedom
    page = written_into("<!-- results: dpis-paired one -->\n<!-- end of results -->", tmp_path).splitlines()
    assert f"| DPIS over DP-SGD, run by run | not made | not made | {np.mean(gains):.2f} ± {half:.2f} |" in page
    ahead = sum(gain > 0 for gain in gains)
    assert f"| runs in which DPIS is ahead | 0 of 0 | 0 of 0 | {ahead} of 3 |" in page


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_every_table(name: str, folder: Path) -> None:
    found = run(name, "--epsilon", "8", "--repetitions", 2, "--output", folder)
    table = rows(folder / f"{name}.csv")
    assert [{key: row[key] for key in cell} for row, cell in zip(table, TABLES[name], strict=True)] == TABLES[name]
    made = rows(folder / RUNS)
    for row in table:
        assert (row["epsilon"], row["runs"]) == ("8.0", "2")
        assert 0 < float(row["epsilon_paid"]) <= 8
        same = ("method", "epsilon", "divider", "multiplier", "external", "quantile")
        behind = [
            float(run["private_test_accuracy"])
            for run in made
            if run["purpose"] == "result" and all(run[key] == row[key] for key in same)
        ]
        assert len(behind) == 2
        assert float(row["private_test_accuracy"]) == pytest.approx(sum(behind) / 2, rel=1e-12)
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "synthetic" in found["source"]


@pytest.mark.slow
def test_interrupted_tables_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: tuple[Any, ...] = ("dpis-table3", "--epsilon", "8", "--repetitions", 1, "--output", tmp_path)
    monkeypatch.setattr(dpis_tables, "METHODS", METHODS[2:])
    train, limit = engine.train, 3
    calls: list[int] = []

    def counted(*given: Any, **named: Any) -> Any:
        if len(calls) == limit:
            raise KeyboardInterrupt
        calls.append(1)
        return train(*given, **named)

    monkeypatch.setattr(training_runs, "train", counted)
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    assert result.exit_code != 0
    before = (tmp_path / RUNS).read_bytes()
    assert before.count(b"\n") == 1 + 3
    limit = 99
    run(*arguments)
    assert len(calls) == 4  # two methods, each once to tune and once to count
    assert (tmp_path / RUNS).read_bytes().startswith(before)
    run(*arguments)
    assert len(calls) == 4
    run(*arguments, "--seed", 1)
    assert len(calls) == 8  # other coins, and another stand-in


def test_a_file_of_pictures(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    labels = generator.integers(2, size=300)
    pictures = (generator.integers(0, 100, (300, 4, 4)) + 100 * labels[:, None, None]).astype(np.uint8)
    path = tmp_path / "digits.npz"
    np.savez(path, X_train=pictures[:200], y_train=labels[:200], X_test=pictures[200:], y_test=labels[200:])
    found = run(
        "dpis-table6",
        "--data",
        path,
        "--divide-by",
        255,
        "--epsilon",
        8,
        "--repetitions",
        1,
        "--output",
        tmp_path / "out",
    )
    assert found["n"] == 200
    assert "not for publication" in found["notice"]
    assert all(row["private_half_interval"] is None for row in found["rows"])
    assert all(stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 for file in (tmp_path / "out").iterdir())
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_words_become_features(tmp_path: Path) -> None:
    words = np.array([[1, 1, 3, 0], [WORDS, 2, 0, 0], [WORDS + 1, 5, 2, 2], [9, 9, 9, 9]], dtype=np.uint16)
    path = tmp_path / "reviews.npz"
    np.savez(path, X=words, label=[0, 1, 1, 0], is_test=[0, 0, 0, 1], vocab=np.array(["the"]))
    data = read_training_data(path, Reading())
    features, labels = data.train.rows(np.arange(3))
    expected = np.zeros((3, WORDS))
    expected[0, [0, 2]] = expected[1, [WORDS - 1, 1]] = expected[2, [4, 1]] = 0.5  # 1/√4
    np.testing.assert_allclose(features, expected, rtol=1e-15)
    np.testing.assert_array_equal(labels, [0, 1, 1])
    assert len(data.test) == 1


def test_tables_with_label_and_is_test(tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    path.write_text("a,label,is_test\n1.5,0,0\n2.5,1,0\n3.5,1,1\n", "utf-8")
    data = read_training_data(path, Reading(divide_by="2"))
    np.testing.assert_array_equal(data.train.rows(np.arange(2))[0], [[0.75], [1.25]])
    assert (len(data.test), data.classes) == (1, 2)
    assert data.digest != read_training_data(path, Reading()).digest


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a,kind,is_test\n1,0,0\n2,1,1\n", "with a, is_test, kind"),
        ("a,label,is_test\n1,0.5,0\n2,1,1\n", "row 0 of label"),
        ("a,label,is_test\n1,0,1\n2,1,1\n", "is_test, which is never 0"),
    ],
)
def test_errors_about_files_speak_of_the_file(text: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidValue) as caught:
        read_training_data(path, Reading())
    assert caught.value.parameter == "data"
    assert value in caught.value.formatted_value


def test_settings_share_a_learning_rate_by_method_and_epsilon() -> None:
    plain = Setting(epsilon=Fraction(1))
    adapting = Setting(epsilon=Fraction(1), adaptation=Adaptation())
    assert Setting(epsilon=Fraction(1), multiplier=Fraction(3), divider=Fraction(0)).tuned_as == plain
    assert Setting(epsilon=Fraction(1), adaptation=Adaptation(quantile=Fraction(2))).tuned_as == adapting
    others = [Setting(epsilon=Fraction(1), method=method).tuned_as for method in METHODS[1:]]
    assert len({plain, adapting, Setting(epsilon=Fraction(2)).tuned_as, *others}) == 6


def test_methods_differ_in_what_they_say_alone() -> None:
    plans = {method.name: Setting(epsilon=Fraction(1), method=method).plan(60_000) for method in METHODS}
    assert len({(plan.batch, plan.epochs, plan.steps_per_epoch, plan.size, plan.clip) for plan in plans.values()}) == 1
    assert plans["dpis"].batch.value == 512
    assert plans["dpis"].steps_per_epoch == 117
    assert plans["dp-sgd"] == plans["dp-sgd-ts"]
    assert plans["dp-sgd"].norm_sums is None
    assert plans["dp-sgd-decay"].schedule.factor(2) == Fraction(99, 100) ** 2
    assert METHODS[0] == DPIS


def test_intervals() -> None:
    mean, half = interval([0.25, 0.5, 0.75])
    assert mean == pytest.approx(0.5)
    assert half == pytest.approx(4.302652729911275 * 0.25 / math.sqrt(3), rel=1e-9)  # t of two degrees of freedom
    assert interval([0.5]) == (0.5, None)


def test_ledgers_keep_what_they_are_told(tmp_path: Path) -> None:
    outcome = Outcome(
        epsilon_paid=0.1,
        first_noise_multiplier=1 / 3,
        last_noise_multiplier=0.2,
        last_share=1.0,
        last_clip=1.0,
        private_train_accuracy=0.5,
        private_test_accuracy=0.4,
        seconds=2.0,
    )
    key = {"data": "x", "quantile": None, "rate": 0.1}
    Ledger(tmp_path / "runs.csv", secret=True).outcome(key, lambda: outcome)
    again = Ledger(tmp_path / "runs.csv", secret=True).outcome(key, lambda: pytest.fail("the run was made before"))
    assert again == outcome
    with pytest.raises(InvalidValue, match="as this version writes it"):
        Ledger(tmp_path / "runs.csv", secret=True).outcome({**key, "hidden": 32}, lambda: pytest.fail("not asked"))
    (tmp_path / "runs.csv").write_text("no,ledger\n1,2\n", "utf-8")
    with pytest.raises(InvalidValue):
        Ledger(tmp_path / "runs.csv", secret=True)


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        (("dpis-table3", "--size", 5), "size"),
        (("dpis-table3", "--split", "derived"), "split"),
        (("dpis-table3", "--epsilon", 0), "epsilon"),
        (("dpis-table3", "--divide-by", 2), "divide-by"),
        (("dpis-fig1", "--epsilon", 1), "epsilon"),
        (("is-table1", "--epsilon", 1), "epsilon"),
        (("pws-fig1", "--epsilon", 1), "epsilon"),
    ],
)
def test_refusals(arguments: tuple[str, ...], parameter: str) -> None:
    assert run(*arguments)["error"]["parameter"] == parameter


def test_stand_ins_follow_from_the_seed() -> None:
    assert stand_in(Reading(), 1).digest == stand_in(Reading(), 1).digest != stand_in(Reading(), 2).digest
