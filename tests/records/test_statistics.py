"""Individual losses for the owner: streams, files, pictures, and releases of figures of them."""

from __future__ import annotations

import stat
from collections import Counter
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.individual.filter import IndividualFilter
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Private, PrivateValue, Public, Released, publish
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.accounting.sampling.clipping import Outside
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.releases import ResampleEach
from certdp.accounting.units import Delta, Epsilon, Order
from certdp.data import Records
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.plots.records import plot_losses
from certdp.plugins.contract import Coins
from certdp.records.losses import record_losses
from certdp.records.statistics import (
    DEFAULT_GRID,
    LossHistogram,
    losses_file,
    release_count,
    release_quantile,
)
from certdp.runs.sampled import SampledRun
from certdp.samplers.importance import Importance

RUN = SampledRun(
    mechanism=GaussianSum(scale=Public("4")),
    sampler=Importance(rate=Public("0.2"), norm=Public("2"), floor=Public("0.02")),
    releases=ResampleEach(20),
    domain=NormBall(norm=Norm.L2, radius=Public("2"), dimension=3),
)
DELTA = Delta("1e-6")
GRID = Public((0.5, 1.0, 2.0, 4.0))


def data(rows: int = 90) -> Any:
    return np.random.default_rng(4).normal(size=(rows, 3)) * np.linspace(0.01, 2, rows)[:, None]


@pytest.mark.parametrize("outside", Outside)
def test_streams_give_what_memory_gives(outside: Outside, tmp_path: Path) -> None:
    records = data()
    expected = record_losses(RUN, records, outside, at=DELTA).reveal()
    inside = np.linalg.norm(records, axis=1) <= 2 if outside is Outside.DROP else np.ones(90, dtype=np.bool_)
    assert 0 < expected.outside < 90
    figures = []
    for rows in (1, 7, None):
        path = tmp_path / f"{rows}.csv"
        with losses_file(path) as into:
            summary = record_losses(RUN, Records.of(records), outside, at=DELTA, grid=GRID, into=into, rows=rows)
        header, *lines = path.read_text("ascii").splitlines()
        assert header == "record,private_epsilon"
        assert [int(line.split(",")[0]) for line in lines] == list(range(90))
        losses = np.array([float(line.split(",")[1]) for line in lines])
        assert losses.tobytes() == expected.values.tobytes()
        assert not losses[~inside].any()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        figures.append(summary.reveal())
        with pytest.raises(InvalidValue, match="losses that are held"):
            _ = figures[-1].values
        assert figures[-1].histogram.counts.tolist() == LossHistogram.of(losses, GRID).counts.tolist()
    assert {(f.records, f.outside, f.largest) for f in figures} == {(90, expected.outside, expected.largest)}
    assert {tuple(f.histogram.counts) for f in figures} == {tuple(figures[0].histogram.counts)}


def test_progress_and_faults_of_a_stream(tmp_path: Path) -> None:
    seen: list[int] = []
    record_losses(RUN, Records.of(data(10)), at=DELTA, rows=4, progress=seen.append)
    assert seen == [4, 8, 10]
    with pytest.raises(InvalidValue):
        record_losses(RUN, Records.of(np.ones((4, 2))), at=DELTA)
    path = tmp_path / "losses.csv"

    def interrupted() -> None:
        with losses_file(path) as into:
            into(np.array([1.0]))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not path.exists()
    with pytest.raises(InvalidValue, match="output"), losses_file(tmp_path / "losses.txt"):
        pass


def test_cells_of_a_histogram() -> None:
    found = LossHistogram.of([0.0, 0.5, 0.50001, 1.0, 4.0, 4.1, np.inf], GRID)
    assert found.counts.tolist() == [2, 2, 0, 1, 2]
    assert (found + found).counts.sum() == 14
    assert LossHistogram.of([]).counts.sum() == 0
    assert len(DEFAULT_GRID.value) == 65
    with pytest.raises(InvalidValue, match="same grid"):
        _ = found + LossHistogram.of([])


@pytest.mark.parametrize("grid", [(), (1.0, 1.0), (2.0, 1.0), (1.0, np.inf), (np.nan,)])
def test_grids(grid: tuple[float, ...]) -> None:
    with pytest.raises(InvalidValue, match="grid"):
        LossHistogram.of([1.0], Public(grid))
    with pytest.raises(InvalidType, match="grid"):
        LossHistogram.of([1.0], grid)  # type: ignore[arg-type]


def law(losses: list[float], level: Fraction, epsilon: Fraction) -> list[float]:
    """The distribution that `release_quantile` states, from the losses themselves."""
    most = max(level, 1 - level)
    scores = [abs(sum(loss <= g for loss in losses) - level * len(losses)) for g in GRID.value]
    weights = [exp(-float(epsilon * score / (2 * most))) for score in scores]
    return [w / sum(weights) for w in weights]


def private_histogram(losses: list[float]) -> Private[LossHistogram]:
    return Private(LossHistogram.of(losses, GRID))


@pytest.mark.slow
@pytest.mark.parametrize("level", ["1/2", "0.9", "0", "1"])
def test_quantiles_are_drawn_with_the_stated_law(level: str) -> None:
    losses, draws = [0.1, 0.6, 0.7, 1.5, 3.0, 3.5, 9.0, np.inf], 4000
    coins = Coins.seeded(5)
    histogram = private_histogram(losses)
    counts = Counter(release_quantile(histogram, level, Epsilon("1.5"), coins=coins).value for _ in range(draws))
    for g, share in zip(GRID.value, law(losses, Fraction(level), Fraction("1.5")), strict=True):
        assert abs(counts[g] / draws - share) < 4.5 * (share * (1 - share) / draws) ** 0.5 + 1e-9


def test_one_record_more_changes_the_law_of_a_quantile_by_the_cost_at_most() -> None:
    rng = np.random.default_rng(6)
    for _ in range(200):
        losses = rng.exponential(2, rng.integers(0, 9)).tolist()
        level, epsilon = Fraction(int(rng.integers(0, 11)), 10), Fraction("0.7")
        one, other = law(losses, level, epsilon), law([*losses, float(rng.exponential(2))], level, epsilon)
        ratios = [a / b for a, b in zip(one, other, strict=True)]
        assert max(*ratios, *(1 / r for r in ratios)) <= exp(0.7) * (1 + 1e-12)


def test_a_generous_quantile_is_the_quantile() -> None:
    losses = [0.7] * 40 + [3.0] * 60
    assert release_quantile(private_histogram(losses), "0.3", Epsilon(100), coins=Coins.seeded(1)).value in (1.0, 2.0)
    assert release_quantile(private_histogram(losses), "0.9", Epsilon(100), coins=Coins.seeded(1)).value == 4.0


def test_what_a_release_costs_travels_with_it() -> None:
    filter_ = IndividualFilter(Order(4), 1, 50)
    for released in (
        release_quantile(private_histogram([1.0]), "0.5", Epsilon("0.2")),
        release_count(filter_.active, Epsilon("0.2")),
    ):
        assert isinstance(released, Released)
        assert released.cost.bound.epsilon.upper >= Fraction("0.2")
        assert released.cost.bound.epsilon.upper_float == pytest.approx(0.2)
        assert (released.cost.relation, released.cost.unit) == (ADD_REMOVE, RECORD)
        assert publish(released) == released.value


def test_counts_are_noisy_around_the_count() -> None:
    active = Private(np.array([True] * 30 + [False] * 12))
    coins = Coins.seeded(3)
    found = np.array([release_count(active, Epsilon(1), coins=coins).value for _ in range(2000)])
    assert abs(found.mean() - 30) < 4.5 * (2 * exp(-1) / (1 - exp(-1)) ** 2 / 2000) ** 0.5
    assert 0.3 < np.mean(found == 30) < 0.6  # tanh(1/2) = 0.462


@pytest.mark.parametrize(
    ("level", "epsilon", "name"),
    [("1.1", Epsilon(1), "level"), ("-0.1", Epsilon(1), "level"), (0, Epsilon(0), "epsilon")],
)
def test_bad_releases(level: Any, epsilon: Epsilon, name: str) -> None:
    with pytest.raises(InvalidValue, match=name):
        release_quantile(private_histogram([1.0]), level, epsilon)


def test_types_of_releases() -> None:
    with pytest.raises(InvalidType, match="histogram"):
        release_quantile(LossHistogram.of([1.0], GRID), 0, Epsilon(1))  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="epsilon"):
        release_count(Private(np.ones(2, dtype=np.bool_)), Delta(1))  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="active"):
        release_count(np.ones(2, dtype=np.bool_), Epsilon(1))  # type: ignore[arg-type]


def test_nothing_private_is_published() -> None:
    for value in (record_losses(RUN, Records.of(data(5)), at=DELTA), IndividualFilter(Order(4), 1, 5).step(0.1, 0.1)):
        with pytest.raises(PrivateValue):
            publish(value)  # type: ignore[arg-type]


def test_a_picture_is_private() -> None:
    picture = plot_losses(Private(np.array([0.1, 0.5, 2.0, np.inf])))
    assert isinstance(picture, Private)
    assert picture.reveal().startswith(b"\x89PNG")
    with pytest.raises(InvalidType, match="losses"):
        plot_losses(np.ones(3))  # type: ignore[arg-type]
