"""The library's draw: inclusion, weights, order, and refusals that name the row."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from scipy import stats

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Public
from certdp.plugins.contract import Coins, WeightedSample, as_records, draw
from certdp.samplers.full import Full
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson

RUNS = 20_000


def test_each_record_is_drawn_with_its_probability_and_weighted_by_its_inverse() -> None:
    sizes = np.array([0.0, 0.05, 0.3, 1.0, 2.5])
    sampler = Importance(rate=Public("0.4"), norm=Public(Norm.L1), floor=Public("0.1"))
    q = np.minimum(1, np.maximum(0.1, 0.4 * sizes))
    records = np.repeat(sizes, RUNS)[:, None]
    sample = draw(sampler, records, Coins.seeded(2))
    for size, rate in zip(sizes, q, strict=True):
        chosen = sample.records[:, 0] == size
        low, high = stats.binom.ppf([1e-7, 1 - 1e-7], RUNS, rate)
        assert low <= chosen.sum() <= high
        assert sample.weights[chosen] == pytest.approx(1 / rate, rel=1e-14)


@pytest.mark.slow
def test_draws_are_independent() -> None:
    records = np.full((2, 1), 0.5)
    coins = Coins.seeded(8)
    sampler = Importance(rate=Public(1))
    counts = np.bincount([len(draw(sampler, records, coins)) for _ in range(2000)], minlength=3)
    assert stats.chisquare(counts, [500, 1000, 500]).pvalue > 1e-4


def test_order_and_content_of_the_data_are_kept() -> None:
    records = np.random.default_rng(1).normal(size=(500, 3))
    sample = draw(Importance(rate=Public("0.2"), norm=Public(2)), records, Coins.seeded(5))
    positions = [int(np.flatnonzero((records == row).all(axis=1))[0]) for row in sample.records]
    assert positions == sorted(positions)
    assert 0 < len(sample) < 500
    assert len(sample) == len(sample.weights)
    again = draw(Importance(rate=Public("0.2"), norm=Public(2)), np.asfortranarray(records), Coins.seeded(5))
    assert np.array_equal(again.records, sample.records)
    assert np.array_equal(again.weights, sample.weights)


def test_poisson_is_unweighted_unless_told() -> None:
    records = np.ones((1000, 1))
    plain = draw(Poisson(rate=Public(0.25)), records, Coins.seeded(1))
    assert set(plain.weights.tolist()) == {1.0}
    weighted = draw(Poisson(rate=Public(0.25), weighted=Public(True)), records, Coins.seeded(1))
    assert set(weighted.weights.tolist()) == {4.0}
    assert len(weighted) == len(plain)


def test_extremes() -> None:
    records = np.arange(12.0).reshape(4, 3)
    assert np.array_equal(draw(Full(), records).records, records)
    assert draw(Full(), records).weights.tolist() == [1] * 4
    assert len(draw(Poisson(rate=Public(0)), records)) == 0
    assert draw(Poisson(rate=Public(0)), records).records.shape == (0, 3)
    assert len(draw(Importance(rate=Public(1)), np.zeros((5, 2)))) == 0
    assert draw(Importance(rate=Public(1)), np.empty((0, 2))).records.shape == (0, 2)


def test_without_coins_the_operating_system_draws() -> None:
    records = np.ones((2000, 1))
    first, second = (draw(Poisson(rate=Public(0.5)), records + np.arange(2000)[:, None]) for _ in range(2))
    assert not np.array_equal(first.records, second.records)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([[1.0, 2.0], [3.0, np.nan], [np.inf, 0.0]], "records: got NaN or inf in row 1; admissible: finite numbers"),
        ([1.0, 2.0], r"records: got an array of shape \(2,\); admissible: a matrix: one record per row"),
        ([], r"records: got an array of shape \(0,\)"),
        (3.0, r"records: got an array of shape \(\)"),
        (np.zeros((2, 2, 2)), r"records: got an array of shape \(2, 2, 2\)"),
    ],
)
def test_bad_records_are_refused_before_anything_is_drawn(records: Any, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        draw(Full(), records)


@pytest.mark.parametrize(
    "records",
    [
        [["a", "b"]],
        [["1", "2"]],
        [[1.0], [1.0, 2.0]],
        [[None, 1.0]],
        [[1j]],
        np.ma.array([[1.0, 2.0]], mask=[[True, False]]),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(records: Any) -> None:
    with pytest.raises(InvalidType, match=r"records: got .*; admissible: an array of real numbers"):
        as_records(records)


class Relation:
    """What has no array, but streams: as a relation of DuckDB."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getitem__(self, place: int) -> Any:
        raise TypeError("a relation is indexed by names")

    def __arrow_c_stream__(self, schema: object = None) -> Any:
        return self._table.__arrow_c_stream__(schema)


def test_arrow_streams_are_records(monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    relation: Any = Relation(pyarrow.table({"x": [1, 2, 3], "y": [0.5, 0.25, -1]}))
    assert as_records(relation).tolist() == [[1, 0.5], [2, 0.25], [3, -1]]
    with pytest.raises(InvalidType, match="an array of real numbers"):
        as_records(Relation(pyarrow.table({"x": ["a"]})))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidValue, match="certdp\\[parquet\\]"):
        as_records(relation)


def test_numbers_that_binary64_would_round_are_refused() -> None:
    assert as_records([[2**53, -(2**53)]]).tolist() == [[2.0**53, -(2.0**53)]]
    assert as_records(np.array([[True, False]])).tolist() == [[1, 0]]
    with pytest.raises(InvalidValue, match="integers up to 2\\^53"):
        as_records([[2**53 + 1]])
    with pytest.raises(InvalidValue, match="numbers that binary64 holds"):
        as_records(np.array([[1]], dtype=np.longdouble) / 3)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"weights: got shape \(1,\); admissible: one weight per record: shape \(2,\)"),
        ([[1.0], [1.0]], r"weights: got shape \(2, 1\)"),
        ([1.0, 0.5], "weights: got a value below 1, NaN or inf; admissible: finite weights ≥ 1"),
        ([1.0, np.nan], "finite weights ≥ 1"),
        ([1.0, np.inf], "finite weights ≥ 1"),
    ],
)
def test_weighted_samples_are_validated(weights: Any, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        WeightedSample([[1.0], [2.0]], weights)


@pytest.mark.parametrize(
    ("records", "remedy"),
    [
        ([1.0, 2.0], r"reshape\(-1, 1\) where each number is a record"),
        (np.zeros((2, 2, 2)), r"reshape\(len\(array\), -1\)"),
    ],
)
def test_what_is_no_matrix_is_met_with_how_to_make_it_one(records: Any, remedy: str) -> None:
    with pytest.raises(InvalidValue, match=remedy):
        as_records(records)
