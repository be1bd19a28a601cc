"""Experiments on frequencies: laws, curves against independent expressions, findings, files of counts."""

from __future__ import annotations

import csv
import json
import math
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from certdp.accounting.keyed.reporting import KeyTable, Ppswor
from certdp.accounting.keyed.stability_histograms import Threshold
from certdp.accounting.units import Delta, Epsilon
from certdp.commands.app import app
from certdp.experiments import pws_errors, pws_fractions, pws_probabilities
from certdp.experiments.key_frequencies import KeyFrequencies
from certdp.experiments.pws_curves import Setting

TENTH, THOUSANDTH = Fraction(1, 10), Fraction(1, 1000)


@pytest.fixture(autouse=True)
def _few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pws_probabilities, "_POINTS", 40)
    monkeypatch.setattr(pws_fractions, "KEYS", 300)
    monkeypatch.setattr(pws_fractions, "DELTA_STEPS", 1)
    monkeypatch.setattr(pws_fractions, "THRESHOLD_STEPS", 1)
    monkeypatch.setattr(pws_fractions, "FEWER_KEYS", (100,))
    monkeypatch.setattr(pws_fractions, "SUPPORTS", (200,))
    monkeypatch.setattr(pws_errors, "THRESHOLDS", (None, Fraction(1, 100)))
    monkeypatch.setattr(pws_errors, "SUM_THRESHOLDS", (None, Fraction(1, 100), Fraction(1, 1000)))
    monkeypatch.setattr(pws_errors, "FILE_THRESHOLDS", (None, Fraction(1, 100)))
    monkeypatch.setattr(pws_errors, "HIGHEST", 100)
    monkeypatch.setattr(pws_errors, "SELECTED", 100)


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "words.tsv"
    path.write_text("".join(f"word{rank}\t{max(1, 300 // rank)}\n" for rank in range(1, 400)), encoding="utf-8")
    return path


def run(*arguments: object) -> Any:
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments), "--json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return json.loads(result.stdout)


# Laws


def test_zipf_by_rank() -> None:
    """Of six keys at α = 1: 6, 3, 2, 1, 1, 1."""
    law = KeyFrequencies.zipf(1, 6)
    assert law.frequencies.tolist() == [1, 2, 3, 6]
    assert law.keys.tolist() == [3, 1, 1, 1]
    assert (len(law), law.elements) == (6, 14)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_zipf_rounds_exactly(exponent: float) -> None:
    """⌊(n/r)^α⌋ in whole numbers: 2α is whole, so that the floor is one of a square root."""
    keys = 1000
    exact = [math.isqrt(keys ** int(2 * exponent) // rank ** int(2 * exponent)) for rank in range(1, keys + 1)]
    law = KeyFrequencies.zipf(exponent, keys)
    assert np.repeat(law.frequencies, law.keys).tolist() == sorted(exact)


def test_the_other_reading_of_zipf() -> None:
    law = KeyFrequencies.zipf_of_frequencies(1, 4, scale=12)
    assert (law.frequencies.tolist(), law.keys.tolist()) == ([1, 2, 3, 4], [12, 6, 4, 3])


def test_keys_up_to_a_frequency() -> None:
    law = KeyFrequencies.zipf(1, 6).up_to(2)
    assert (len(law), law.elements) == (4, 5)
    assert law.share(np.array([1.0, 0.0])) == 0.75


# Curves


@pytest.mark.parametrize("threshold", [Fraction(1, 10), Fraction(1, 100), THOUSANDTH])
def test_the_optimum_is_that_of_the_table(threshold: Fraction) -> None:
    """Lemma 4.4 against Algorithm 3, step by step."""
    setting = Setting(epsilon=TENTH, delta=THOUSANDTH, threshold=threshold)
    frequencies = np.arange(1, 151)
    table = KeyTable(epsilon=Epsilon(TENTH), delta=Delta(THOUSANDTH), inclusion=Ppswor(threshold=threshold))
    exact = [float(row.probability) for row in table.at(range(1, 151))]
    assert setting.optimal(frequencies) == pytest.approx(exact, rel=1e-12)
    assert (setting.optimal(frequencies) <= setting.sampled(frequencies)).all()


@pytest.mark.slow
def test_curves_may_leave_frequencies_out() -> None:
    setting = Setting(epsilon=TENTH, delta=THOUSANDTH, threshold=Fraction(1, 100))
    some = np.array([1, 30, 39, 40, 90, 400])
    for values, every in zip(
        setting.probabilities(some).values(), setting.probabilities(np.arange(1, 401)).values(), strict=True
    ):
        assert values.tolist() == every[some - 1].tolist()


def test_methods_are_in_order() -> None:
    """No histogram reports more than PWS, which reports no more than the sample holds."""
    setting = Setting(epsilon=TENTH, delta=THOUSANDTH, threshold=Fraction(1, 100))
    found = setting.probabilities(np.arange(1, 200))
    assert (found["sbh"] < found["sbh_tight"]).all()
    assert (found["sbh_tight"] < found["pws"] * (1 + 1e-12)).all()
    assert (found["pws"] <= found["sampling"]).all()


def test_moments_of_the_histogram_against_simulated_releases() -> None:
    setting = Setting(epsilon=TENTH, delta=THOUSANDTH, threshold=Fraction(1, 100))
    curve = setting.stable_moments(np.array([60, 90]))
    least = float(setting.histogram(Threshold.PUBLISHED).least_reported().midpoint)
    generator, draws = np.random.default_rng(8), 400_000
    for place, frequency in enumerate((60, 90)):
        noisy = frequency + generator.laplace(scale=10, size=draws)
        rate = -np.expm1(-noisy / 100)
        kept = (noisy >= least) & (generator.random(draws) < rate)
        estimates = np.where(kept, noisy / rate, 0)
        error = estimates.std() / math.sqrt(draws)
        assert abs(estimates.mean() - frequency - curve.bias[place]) < 5 * error
        assert estimates.var() == pytest.approx(curve.variance[place], rel=0.05)
        assert kept.mean() == pytest.approx(curve.reported[place], abs=5e-3)


# Findings


@pytest.mark.slow
def test_what_figure_1_finds(tmp_path: Path) -> None:
    first, second = run("pws-fig1", "--output", tmp_path / "out")["rows"]
    assert (first["pws_without_loss_from"], first["unsampled_sbh_above_1_minus_delta_from"]) == (37, 87)
    assert second["pws_without_loss_from"] == 1705
    for row in (first, second):
        assert row["least_gain_up_to_crossover"] == pytest.approx(2)
        assert row["largest_gain_up_to_crossover"] < row["largest_gain_without_sampling_proven"]
    # near L the gain is above what is printed as its most
    assert second["largest_gain_up_to_crossover"] > second["largest_gain_without_sampling_printed"]


@pytest.mark.parametrize(("exponent", "printed"), [(0.5, 230), (1.0, 97), (2.0, 37)])
def test_the_gains_of_figure_4_are_those_without_sampling(exponent: float, printed: int) -> None:
    law = KeyFrequencies.zipf(exponent, 100_000)
    near = law.up_to(2000)
    rare = Setting(epsilon=TENTH, delta=THOUSANDTH).probabilities(near.frequencies)
    certain = len(law) - len(near)  # so frequent that both report them
    pws, sbh = (near.share(rare[name]) * len(near) + certain for name in ("pws", "sbh"))
    assert printed <= 100 * (pws / sbh - 1) < printed + 3


@pytest.mark.slow
def test_the_gain_falls_below_that_with_sampling() -> None:
    found = run("pws-fig4")
    whole = {row["keys"]: row["gain_percent"] for row in found["without_sampling"]}
    least = {row["keys"]: row["least_gain_percent"] for row in found["laws"]}
    assert least["Zipf[0.5]"] == pytest.approx(whole["Zipf[0.5]"])
    assert least["Zipf[2]"] < whole["Zipf[2]"] / 2
    assert found["notice"] == "exact expressions: no data and no coins"


@pytest.mark.slow
def test_sweet_spot_of_figure_5() -> None:
    found = run("pws-fig5")
    by_rate = {row["tau"]: row for row in found["sums"]}
    assert by_rate[0.001]["nrmse_pws"] < by_rate[None]["nrmse_pws"] < by_rate[None]["nrmse_sbh"]
    assert by_rate[0.001]["relative_bias_sbh"] == by_rate[None]["relative_bias_sbh"]
    for row in found["accurate_from"]:
        assert row["ratio"] > 1.5


@pytest.mark.slow
def test_variance_of_figure_6(tmp_path: Path) -> None:
    unsampled, sampled = run("pws-fig6", "--output", tmp_path / "out")["rows"]
    assert unsampled["largest_of_sampling"] == 0
    assert sampled["largest_of_sampling"] == pytest.approx(1 / -math.expm1(-0.01) - 1)
    with (tmp_path / "out/pws-fig6.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {(row["method"], row["tau"]) for row in rows} == {
        (method, tau) for method in ("sampling", "pws", "sbh") for tau in ("", "0.01")
    }
    assert all(float(row["variance"]) >= 0 for row in rows)


@pytest.mark.parametrize("name", ["pws-fig1", "pws-fig3"])
def test_figures_of_single_frequencies(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last setting alone: the picture and the CSV behind it."""
    kind = "UNSAMPLED" if name == "pws-fig1" else "SAMPLED"
    monkeypatch.setattr(pws_probabilities, kind, getattr(pws_probabilities, kind)[:1])
    picture, table = sorted(map(Path, run(name, "--output", tmp_path / "out")["files"]), reverse=True)
    assert picture.read_bytes().startswith(b"\x89PNG")
    with table.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            assert 0 < float(row["sbh"]) < float(row["sbh_tight"]) <= float(row["pws"]) <= float(row["sampling"])


# Files of counts


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pws-fig2", "pws-fig4", "pws-fig5"])
def test_counts_of_a_file(name: str, counts: Path, tmp_path: Path) -> None:
    found = run(name, "--data", counts, "--output", tmp_path / "out")
    assert "not for publication" in found["notice"]
    assert found["source"] == "the file given"
    assert all(stat.S_IMODE(Path(file).stat().st_mode) & 0o077 == 0 for file in found["files"])
    kinds = found["sums"] if name == "pws-fig5" else found["laws"]
    assert kinds[0]["keys"] == "words"
    assert kinds[0]["number_of_keys"] == 399


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        (("pws-fig1", "--data", "words.tsv"), "data"),
        (("pws-fig2", "--data", "absent.tsv"), "data"),
        (("pws-fig2", "--repetitions", 3), "repetitions"),
        (("pws-fig2", "--size", 3), "size"),
        (("pws-fig2", "--split", "derived"), "split"),
        (("pws-fig2", "--seed", 1), "seed"),
        (("pws-fig2", "--transpose"), "transpose"),
        (("pws-fig2", "--array", "X"), "array"),
        (("pws-fig2", "--divide-by", "2"), "divide-by"),
    ],
)
def test_refusals(arguments: tuple[str, ...], parameter: str, counts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(counts.parent)
    error = run(*arguments)["error"]
    assert error["parameter"] == parameter
    assert all(error.values())


def test_a_file_without_keys_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.tsv"
    empty.write_text("key\tcount\n", encoding="utf-8")
    assert run("pws-fig2", "--data", empty)["error"]["parameter"] == "data"
