"""Clusters: nearest centres and lattice sums against exact fractions, and that no record sees another."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.bulk.clusters import (
    LARGEST_STEPS,
    cluster_totals,
    lattice_spacing,
    nearest_centres,
    refuse_beyond_lattice,
    squared_distances,
)
from certdp.accounting.errors import InvalidType, InvalidValue

SHAPES = [(1, 1, 1), (130, 5, 3), (200, 64, 4), (150, 65, 9), (77, 131, 26)]  # rows, columns, clusters


def drawn(rows: int, columns: int, clusters: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(rows)
    records = generator.standard_normal((rows, columns))
    centres = generator.standard_normal((clusters, columns))
    return records, centres


@given(
    st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(0, 5)).flatmap(
        lambda shape: st.tuples(
            *(
                st.lists(st.lists(st.integers(-9, 9), min_size=shape[0], max_size=shape[0]), min_size=n, max_size=n)
                for n in shape[1:]
            )
        )
    )
)
def test_whole_numbers_have_the_first_of_their_nearest_centres(given_: tuple[Any, Any]) -> None:
    centres, records = given_
    distances = [[sum((a - b) ** 2 for a, b in zip(x, c, strict=True)) for c in centres] for x in records]
    found = nearest_centres(np.reshape(np.array(records, float), (-1, len(centres[0]))), np.array(centres, float))
    assert found.tolist() == [row.index(min(row)) for row in distances]


@pytest.mark.parametrize(("rows", "columns", "clusters"), SHAPES)
def test_real_numbers_have_a_nearest_centre_up_to_rounding(rows: int, columns: int, clusters: int) -> None:
    records, centres = drawn(rows, columns, clusters)
    distances = ((records[:, np.newaxis] - centres) ** 2).sum(axis=2)
    found = nearest_centres(records, centres)
    assert np.all(distances[np.arange(rows), found] <= distances.min(axis=1) * (1 + 1e-12))


@pytest.mark.parametrize(("rows", "columns", "clusters"), SHAPES)
def test_an_assignment_depends_on_the_record_and_the_centres_alone(rows: int, columns: int, clusters: int) -> None:
    """Centres that are one rounding apart: every other order of the additions would tell other records apart."""
    records, centres = drawn(rows, columns, clusters)
    centres = np.concatenate([centres, np.nextafter(centres, np.inf), np.nextafter(centres, -np.inf)])
    alone = np.array([nearest_centres(record[np.newaxis], centres)[0] for record in records])
    assert len(set(alone)) > 1 or clusters == 1
    for layout in (records, np.asfortranarray(records), np.repeat(records, 2, axis=0)[::2], records[::-1][::-1]):
        assert np.array_equal(nearest_centres(layout, centres), alone)
    assert np.array_equal(nearest_centres(records[rows // 3 :], centres), alone[rows // 3 :])
    many = np.tile(records, (1 + 400_000 // records.size, 1))
    for threads in (1, 2, 3):
        assert np.array_equal(nearest_centres(many, centres, threads=threads), np.resize(alone, len(many)))


def test_overflowing_products_still_give_a_centre() -> None:
    records = np.array([[1e308, -1e308], [1e308, 1e308], [0.0, 1.0]])
    found = nearest_centres(records, np.array([[1e308, 1e308], [1e10, -1e10], [0.0, 0.9]]))
    assert np.all((found >= 0) & (found < 3))
    assert found[2] == 2


def whole_numbers(records: Any, weights: Any, labels: Any, clusters: int, spacing: float) -> list[list[int]]:
    sums = [[0] * records.shape[1] for _ in range(clusters)]
    for x, w, label in zip(records.tolist(), weights.tolist(), labels.tolist(), strict=True):
        for j, entry in enumerate(x):
            steps = math.floor(Fraction(w) * abs(Fraction(entry)) / Fraction(spacing))
            sums[label][j] += -steps if entry < 0 else steps
    return sums


def as_floats(sums: list[list[int]], spacing: float) -> Any:
    return np.array([[float(entry * Fraction(spacing)) for entry in row] for row in sums])


FINITE = st.floats(-1e6, 1e6) | st.floats(-1e-3, 1e-3) | st.integers(-40, 40).map(lambda n: n / 8)


@given(
    st.lists(st.tuples(FINITE, FINITE, st.floats(1, 1e3), st.integers(0, 2)), max_size=8),
    st.integers(-20, -3).map(lambda n: 2.0**n),
)
def test_sums_are_those_of_products_rounded_toward_zero(rows: list[Any], spacing: float) -> None:
    records = np.array([row[:2] for row in rows]).reshape(-1, 2)
    weights = np.array([row[2] for row in rows])
    labels = np.array([row[3] for row in rows], dtype=np.int64)
    found = cluster_totals(records, weights, labels, 3, spacing)
    assert np.array_equal(found, as_floats(whole_numbers(records, weights, labels, 3, spacing), spacing))


def test_products_one_rounding_away_from_the_lattice() -> None:
    """The double product would round onto the lattice; the exact one lies above or below."""
    generator = np.random.default_rng(1)
    weights = generator.uniform(1, 9, 3000)
    multiples = generator.integers(1, 2**40, 3000).astype(np.float64)
    plainly = np.floor(weights * (multiples / weights))
    exactly = [math.floor(Fraction(w) * Fraction(m / w)) for w, m in zip(weights, multiples, strict=True)]
    assert np.count_nonzero(plainly != exactly) > 100  # so these cases tell a rounded product from an exact one
    for around in (multiples / weights, np.nextafter(multiples / weights, 0), np.nextafter(multiples / weights, 1e99)):
        records = around[:, np.newaxis]
        labels = np.arange(3000) % 2
        wanted = whole_numbers(records, weights, labels, 2, 1.0)
        assert np.array_equal(cluster_totals(records, weights, labels, 2, 1.0), as_floats(wanted, 1.0))


@pytest.mark.parametrize("rows", [2047, 2048, 2049, 9000])
def test_many_of_the_largest_entries_add_up_exactly(rows: int) -> None:
    generator = np.random.default_rng(rows)
    records = np.where(
        generator.random((rows, 3)) < 0.3, -LARGEST_STEPS, LARGEST_STEPS - 2.0 ** generator.integers(0, 9)
    )
    weights, labels = np.ones(rows), np.zeros(rows, dtype=np.int64)
    refuse_beyond_lattice(records, weights, 1.0)
    found = cluster_totals(records, weights, labels, 1, 1.0)
    wanted = whole_numbers(records, weights, labels, 1, 1.0)
    assert np.allclose(found, as_floats(wanted, 1.0), rtol=2.0**-51, atol=0)


def test_sums_do_not_depend_on_order_or_threads() -> None:
    generator = np.random.default_rng(3)
    records = generator.standard_normal((30_000, 7)) * 2.0 ** generator.integers(-30, 9, (30_000, 1))
    weights, labels = generator.uniform(1, 99, 30_000), generator.integers(0, 4, 30_000)
    spacing = lattice_spacing(Fraction(1, 10), Fraction(1))
    wanted = cluster_totals(records, weights, labels, 4, spacing)
    order = generator.permutation(30_000)
    for threads in (1, 2, 3):
        again = cluster_totals(records[order], weights[order], labels[order], 4, spacing, threads=threads)
        assert np.array_equal(again, wanted)
    plain = np.zeros((4, 7))
    np.add.at(plain, labels, records * weights[:, np.newaxis])
    assert np.allclose(wanted, plain, rtol=1e-9, atol=30_000 * spacing)


def test_the_spacing_is_the_least_power_of_two_that_is_fine_enough() -> None:
    for scale, extent in (
        (Fraction(1), Fraction(1)),
        (Fraction("0.003"), Fraction(7, 3)),
        (Fraction(1, 2**90), Fraction(9)),
    ):
        spacing = Fraction(lattice_spacing(scale, extent))
        wanted = max(scale / 2**28, extent / 2**38)
        assert spacing / 2 < wanted <= spacing
        assert math.log2(spacing).is_integer()


@pytest.mark.parametrize("scale", [Fraction(1, 10**200), Fraction(10**200)])
def test_scales_beyond_the_lattice_are_refused(scale: Fraction) -> None:
    with pytest.raises(InvalidValue, match="scale: got"):
        lattice_spacing(scale, scale)


@pytest.mark.parametrize(("record", "weight"), [(2.0**51, 1.0), (1.0, 2.0**51), (1e308, 1e308)])
def test_entries_beyond_the_lattice_are_refused(record: float, weight: float) -> None:
    refuse_beyond_lattice(np.array([[1.0, -3.0]]), np.array([5.0]), 1.0)
    with pytest.raises(InvalidValue, match="records: got a weighted record"):
        refuse_beyond_lattice(np.array([[0.0, 0.0], [0.0, -record]]), np.array([1.0, weight]), 1.0)


def test_distances_are_those_to_the_labelled_centre() -> None:
    records, centres = drawn(200, 5, 3)
    labels = np.arange(200) % 3
    wanted = ((records - centres[labels]) ** 2).sum(axis=1)
    for layout in (records, np.asfortranarray(records)):
        assert np.allclose(squared_distances(layout, centres, labels, threads=2), wanted, rtol=1e-14)


def test_bad_threads_are_refused() -> None:
    records, centres = drawn(10, 2, 2)
    with pytest.raises(InvalidValue, match="threads: got 0"):
        nearest_centres(records, centres, threads=0)
    with pytest.raises(InvalidType, match="threads: got True"):
        nearest_centres(records, centres, threads=True)
