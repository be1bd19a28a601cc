"""Data sets of experiments: the preprocessing of IS Section 5 and the synthetic stand-ins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from certdp import InvalidValue, Private
from certdp.experiments.data_sets import APPENDIX, MAIN, DataSet, Published, preprocess


def test_preprocessing_follows_the_paper() -> None:
    # 40 records at distance 1, …, 40 from their mean, in opposite pairs; the 97.5 percentile lies between 39 and 40
    lengths = np.repeat(np.arange(1.0, 21.0), 2) * np.tile([1.0, -1.0], 20)
    records = np.column_stack([lengths + 5.0, np.full(40, -3.0)])
    private = preprocess(records, "pairs")
    assert isinstance(private, Private)
    assert "20" not in repr(private)
    kept = private.reveal()
    # both records of length 20 go: strictly below the percentile, which is 20
    assert kept.figures["n"] == 38
    assert kept.figures["d"] == 2
    assert kept.radius == pytest.approx(19.0, rel=1e-14)
    assert kept.mean_squared_norm == pytest.approx(sum(j * j for j in range(1, 20)) / 19, rel=1e-14)
    assert np.abs(kept.records.mean(axis=0)).max() < 1e-13


def test_the_radius_bounds_every_record() -> None:
    data = DataSet.of("some", np.random.default_rng(3).normal(size=(500, 7)))
    assert all(math.hypot(*row) <= data.radius for row in data.records.tolist())
    assert data.radius <= max(math.hypot(*row) for row in data.records.tolist()) * (1 + 1e-14)


@pytest.mark.parametrize("records", [np.zeros((5, 2)), np.ones((40, 3))])
def test_records_without_spread_are_refused(records: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
    with pytest.raises(InvalidValue, match="data"):
        preprocess(records, "flat")


@pytest.mark.parametrize("row", [*MAIN, *APPENDIX], ids=lambda row: row.name)
def test_stand_ins_have_the_published_figures(row: Published) -> None:
    data = row.stand_in(0)
    count, columns = data.records.shape
    assert columns == row.d
    assert count == pytest.approx(row.n / 10, abs=2)
    assert data.radius == pytest.approx(row.radius, rel=1e-12)
    assert data.mean_squared_norm == pytest.approx(row.mean_squared_norm, rel=20 / count)
    assert np.abs(data.records.mean(axis=0)).max() < 1e-9 * row.radius


def test_stand_ins_follow_from_their_seed() -> None:
    one, again, other = (MAIN[1].stand_in(seed).records for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
