"""Experiments on frequencies: laws, curves against independent expressions, findings, files of counts."""

from __future__ import annotations

import csv
import json
import math
import stat
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from certdp.accounting.keyed.reporting import KeyTable, Ppswor
from certdp.accounting.keyed.stability_histograms import Threshold
from certdp.accounting.units import Delta, Epsilon
from certdp.commands.app import app
from certdp.experiments import pws_errors, pws_fractions, pws_order, pws_probabilities
from certdp.experiments.key_frequencies import KeyFrequencies
from certdp.experiments.pws_curves import Setting
from certdp.experiments.pws_order import kendall, kendall_of_sample

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
    monkeypatch.setattr(pws_order, "KEYS", 300)
    monkeypatch.setattr(pws_order, "THRESHOLDS", (None, Fraction(1, 100)))


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


# Order


def pairwise(counts: list[int], scores: list[float]) -> list[int]:
    """1 for each pair of unequal counts that scores order alike, −1 where they do otherwise, 0 for a tie."""
    pairs = combinations(zip(counts, scores, strict=True), 2)
    return [int(np.sign(one[0] - two[0]) * np.sign(one[1] - two[1])) for one, two in pairs if one[0] != two[0]]


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=2, max_size=9))
def test_kendall_is_the_mean_over_pairs(keys: list[tuple[int, int]]) -> None:
    counts, scores = [one for one, _ in keys], [float(score) for _, score in keys]
    assume(len(set(counts)) > 1)
    assert kendall(np.array(counts), np.array(scores)) == pytest.approx(np.mean(pairwise(counts, scores)), abs=1e-12)


@given(st.lists(st.tuples(st.integers(1, 3), st.fractions(0, 1, max_denominator=8)), min_size=2, max_size=3))
def test_kendall_of_a_sample_is_its_mean_over_all_samples(groups: list[tuple[int, Fraction]]) -> None:
    """Each key is in the sample or not, independently; one that is not scores 0."""
    counts = [frequency for frequency, (keys, _) in enumerate(groups, 1) for _ in range(keys)]
    rates = [rate for keys, rate in groups for _ in range(keys)]
    expected = Fraction(0)
    for kept in product((False, True), repeat=len(counts)):
        chance = math.prod(rate if here else 1 - rate for rate, here in zip(rates, kept, strict=True))
        order = pairwise(counts, [count * here for count, here in zip(counts, kept, strict=True)])
        expected += chance * Fraction(sum(order), len(order))
    found = kendall_of_sample(np.array([float(rate) for _, rate in groups]), np.array([float(k) for k, _ in groups]))
    assert found == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.slow
def test_releases_are_what_was_expected_of_them(counts: Path, tmp_path: Path) -> None:
    """Order and sum within six standard errors, or a twentieth; what a sample states lacks what `counted` tells."""
    found = run("pws-order", "--data", counts, "--repetitions", 4, "--output", tmp_path / "out")
    assert "not for publication" in found["notice"]
    assert [row["tau"] for row in found["rows"]] == [None, 0.01]
    for row in found["rows"]:
        assert row["kendall_found"] == pytest.approx(row["kendall"], abs=0.05)
        assert row["sum_found"] == pytest.approx(row["sum_bias"], abs=6 * row["sum_deviation"] / 2)
        assert row["sum_bias"] < row["sum_stated_bias"] - 0.1
        assert row["counted_at_1"] < 0.2 < 0.9 < row["counted_at_512"]
        assert row["kendall"] <= row["kendall_not_private"] <= 1
        assert row["rank_of_1"] == pytest.approx(1, abs=1)
    assert found["rows"][0]["kendall_not_private"] == 1
    assert (tmp_path / "out/pws-order.png").read_bytes().startswith(b"\x89PNG")


def test_keys_of_one_frequency_have_no_order(tmp_path: Path) -> None:
    path = tmp_path / "same.tsv"
    path.write_text("a\t3\nb\t3\n", encoding="utf-8")
    error = run("pws-order", "--data", path)["error"]
    assert (error["parameter"], error["admissible"]) == ("data", "keys of at least two frequencies")


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
        (("pws-order", "--size", 3), "size"),
        (("pws-order", "--data", "absent.tsv"), "data"),
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
