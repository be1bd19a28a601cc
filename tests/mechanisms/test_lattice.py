"""Sums on a lattice against exact fractions: never more than the data, never less than one step below."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting._kernels.exact_sums import ROWS
from certdp.accounting.errors import InvalidValue
from certdp.accounting.provenance import Public
from certdp.mechanisms import lattice
from certdp.mechanisms.lattice import _bracketed_counts, _sums_in_bulk, granularity, lattice_sum, on_lattice
from certdp.plugins.contract import WeightedSample
from tests.support.cases import examples

SPACINGS = (
    st.sampled_from([Fraction(1), Fraction(1, 100), Fraction(3), Fraction(1, 1024), Fraction(7, 3), Fraction(2**500)])
    | st.fractions(Fraction(1, 10**6), 10**6)
    | st.sampled_from([Fraction(1, 2**500), Fraction(10**20 + 1, 10**20), Fraction(2**60), Fraction(1, 3**40)])
)
NUMBERS = st.floats(-1e12, 1e12) | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
WEIGHTS = st.floats(1, 1e6) | st.integers(1, 8) | st.floats(1, allow_infinity=False, allow_nan=False)


def by_definition(sample: WeightedSample, spacing: Fraction) -> list[int]:
    return [
        sum(
            math.trunc(Fraction(float(w)) * Fraction(float(x)) / spacing)
            for w, x in zip(sample.weights, column, strict=True)
        )
        for column in sample.records.T
    ]


@examples(300)
@given(
    rows=st.lists(st.tuples(st.tuples(NUMBERS, NUMBERS), WEIGHTS), max_size=6),
    spacing=SPACINGS,
)
@example([((1.7e308, -1.7e308), 1e10)], Fraction(1, 2**500))
@example([((5e-324, -5e-324), 1.5)], Fraction(1, 2**500))
@example([((2.0**53, -(2.0**53) + 1), 1.0), ((2.0**53 - 1, 1.0), 1.0)], Fraction(1))
@example([((0.07, -0.29), 1.0), ((0.57, 1.1), 3.0)], Fraction(1, 100))
@example([((3.0, -3.0), 1.0), ((-0.0, 0.0), 2.0)], Fraction(3, 2))
def test_sums_are_those_of_the_definition(rows: list[tuple[tuple[float, float], float]], spacing: Fraction) -> None:
    records = np.array([row[0] for row in rows], dtype=np.float64).reshape(-1, 2)
    sample = WeightedSample(records, [row[1] for row in rows])
    assert lattice_sum(sample, spacing) == by_definition(sample, spacing)


@examples(300)
@given(steps=st.integers(-(10**9), 10**9), spacing=SPACINGS, ulps=st.integers(-2, 2), weight=WEIGHTS)
def test_numbers_beside_a_lattice_point(steps: int, spacing: Fraction, ulps: int, weight: float) -> None:
    value = float(steps * spacing / Fraction(float(weight)))
    for _ in range(abs(ulps)):
        value = float(np.nextafter(value, math.copysign(math.inf, ulps)))
    sample = WeightedSample([[value]], [weight])
    assert lattice_sum(sample, spacing) == by_definition(sample, spacing)


@given(
    record=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5),
    weight=st.floats(1, 1e6),
    spacing=st.fractions(Fraction(1, 1000), 1000),
)
def test_a_record_never_moves_the_sum_by_more_than_its_norm(
    record: list[float], weight: float, spacing: Fraction
) -> None:
    moved = [count * spacing for count in lattice_sum(WeightedSample([record], [weight]), spacing)]
    exact = [Fraction(weight) * Fraction(x) for x in record]
    assert sum(map(abs, moved)) <= sum(map(abs, exact))
    assert sum(x * x for x in moved) <= sum(x * x for x in exact)
    assert max(map(abs, moved)) <= max(map(abs, exact))
    assert all(abs(x) - spacing < abs(y) for x, y in zip(exact, moved, strict=True))
    assert all(x * y >= 0 for x, y in zip(exact, moved, strict=True))


def test_records_add_up_without_interaction() -> None:
    random = np.random.default_rng(5)
    records, weights = random.normal(size=(500, 3)) * 100, 1 + random.exponential(size=500)
    together = lattice_sum(WeightedSample(records, weights), Fraction(1, 7))
    parts = [lattice_sum(WeightedSample(records[k : k + 1], weights[k : k + 1]), Fraction(1, 7)) for k in range(500)]
    assert together == [sum(column) for column in zip(*parts, strict=True)]


@st.composite
def many_rows(draw: st.DrawFn) -> tuple[WeightedSample, Fraction]:
    """More rows than a block: ordinary ones, products beside whole numbers, whole ones, and in some blocks the ends."""
    columns, rows = draw(st.sampled_from([1, 2, 3, 7, 64, 65, 200])), draw(st.integers(0, 3 * ROWS // 2))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    spacing = Fraction(2) ** draw(st.integers(-60, 30) | st.sampled_from([-500, -450, 450, 500]))
    weights = random.choice([1.0, 3.0, 1.1, 1 / 0.3, 1e15], size=rows)
    whole = random.integers(-(2**30), 2**30, size=(rows, columns)) * float(spacing)
    beside = whole / weights[:, np.newaxis]
    records = np.where(random.random((rows, columns)) < 0.5, beside, whole)
    records = np.where(random.random((rows, columns)) < 0.2, np.nextafter(records, np.inf), records)
    for value in draw(st.lists(st.sampled_from([1e308, -1e308, 5e-324, -1e16, 2.0**53, -0.0, 1e-300]), max_size=3)):
        if rows:
            records[draw(st.integers(0, rows - 1)), -1] = value
    if rows and draw(st.booleans()):
        weights[-1] = 1e300
    return WeightedSample(records, weights), spacing


@examples(40)
@given(many=many_rows())
def test_a_kernel_adds_up_many_rows(many: tuple[WeightedSample, Fraction]) -> None:
    """Bit for bit what single rows give, whatever lies in the blocks."""
    sample, spacing = many
    few = [
        lattice_sum(WeightedSample(sample.records[k : k + 100], sample.weights[k : k + 100]), spacing)
        for k in range(0, len(sample), 100)
    ]
    nothing = [0] * sample.records.shape[1]
    assert _sums_in_bulk(sample, spacing) == [sum(column) for column in zip(nothing, *few, strict=True)]


def test_only_blocks_with_large_numbers_are_left_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """One in three here; where the lattice is no power of two no row is the kernel's."""
    records = np.random.default_rng(3).normal(size=(3 * ROWS, 100))
    records[ROWS + 1, 5] = 1e300
    sample, totals = WeightedSample(records, np.ones(len(records))), lattice._totals
    asked: list[int] = []

    def counted(weights: Any, block: Any, spacing: Fraction) -> list[int]:
        asked.append(len(weights))
        return totals(weights, block, spacing)

    monkeypatch.setattr(lattice, "_totals", counted)
    assert lattice_sum(sample, Fraction(1, 2**30))[5] > 10**300
    assert asked == [ROWS]
    lattice_sum(sample, Fraction(1, 7))
    assert sum(asked) > len(records)


def test_large_sums_do_not_overflow() -> None:
    rows = 5000
    sample = WeightedSample(np.full((rows, 2), [2.0**53 - 1, -(2.0**53 - 1)]), np.ones(rows))
    assert lattice_sum(sample, Fraction(1)) == [rows * (2**53 - 1), -rows * (2**53 - 1)]
    sample = WeightedSample(np.full((rows, 1), 1e300), np.ones(rows))
    assert lattice_sum(sample, Fraction(1)) == [rows * int(1e300)]


def test_lattice_points_are_rounded_once() -> None:
    assert on_lattice([3, -7, 0], Fraction(1, 10)).tolist() == [0.3, -0.7, 0]
    assert on_lattice([2**60 + 1], Fraction(1)).tolist() == [2.0**60]
    largest = sys.float_info.max
    assert on_lattice([2**600, -(2**600)], Fraction(2**500)).tolist() == [largest, -largest]


@pytest.mark.parametrize("value", [0, -1, Fraction(1, 2**501), 2**501, "fine", float("nan")])
def test_granularities_have_a_range(value: Any) -> None:
    with pytest.raises(InvalidValue, match=r"granularity: got|a number such as|a finite number"):
        granularity(Public(value))


def test_brackets_tell_almost_every_count() -> None:
    """Exact fractions are for what they leave: hardly any."""
    stream = np.random.default_rng(2)
    weights, magnitudes = stream.uniform(1, 50, 5000), stream.uniform(0, 1e6, 5000)
    found, told = _bracketed_counts(weights, magnitudes, Fraction(1, 3))
    assert np.count_nonzero(told) >= 4999
    for weight, magnitude, count in zip(weights[told], magnitudes[told], found[told], strict=True):
        assert count == math.floor(Fraction(weight) * Fraction(magnitude) * 3)


@pytest.mark.parametrize(("spacing", "below"), [(Fraction(1, 3), False), (Fraction(1, 10), True)])
def test_brackets_tell_no_count_wrongly_next_to_whole_numbers(spacing: Fraction, below: bool) -> None:
    """Quotients that binary64 rounds across a whole number, up or down, are left to exact fractions."""
    stream = np.random.default_rng(3)
    weights = stream.uniform(1, 50, 4000)
    near = stream.integers(1, 10**6, 4000) * float(spacing) / weights
    magnitudes = (near[:, np.newaxis] * (1 + np.arange(-2, 3) * 2.0**-52)).reshape(-1)
    weights = np.repeat(weights, 5)
    found, told = _bracketed_counts(weights, magnitudes, spacing)
    exact = [
        math.floor(Fraction(weight) * Fraction(magnitude) / spacing)
        for weight, magnitude in zip(weights.tolist(), magnitudes.tolist(), strict=True)
    ]
    rounded = np.floor(weights * magnitudes / float(spacing))
    assert np.count_nonzero(rounded < exact if below else rounded > exact) > 100  # one side alone would tell these
    assert all(not known or count == truth for known, count, truth in zip(told, found, exact, strict=True))
