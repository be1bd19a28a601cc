"""Rows one by one: whole numbers against exact fractions, sums against Python's, and that no row sees another."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from certdp.accounting.bulk.record_rows import WholeRows, cross_entropy, outer_sum, room, tanh
from certdp.accounting.errors import InvalidValue

ENTRIES = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e260, max_value=1e260)
ROWS = st.integers(1, 9).flatmap(lambda k: st.lists(st.lists(ENTRIES, min_size=k, max_size=k), min_size=1, max_size=5))


@given(ROWS, st.integers(1, 52), st.booleans())
def test_rows_are_cut_toward_zero_to_their_leading_bits(rows: Any, width: int, with_one: bool) -> None:
    found = WholeRows.of(np.array(rows), width, with_one=with_one)
    for row, whole, scale in zip(rows, found.whole.tolist(), found.scales.tolist(), strict=True):
        exact = [Fraction(entry) for entry in [*row, *([1.0] if with_one else [])]]
        largest = max(map(abs, exact))
        if largest < Fraction(1, 2**900):
            assert not any(whole)
            continue
        power = math.frexp(float(largest))[1]
        assert Fraction(scale) == Fraction(2) ** (power - width)
        assert [int(entry) for entry in whole] == [int(entry / Fraction(scale)) for entry in exact]  # int() cuts
        assert all(abs(entry) < 2**width for entry in whole)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 2.0**900, -1e300])
def test_a_row_that_is_no_number_or_too_long_has_no_scale(odd: float) -> None:
    found = WholeRows.of(np.array([[1.0, odd], [3.0, 0.5], [0.0, -0.0], [2.0**-901, 0.0]]), 8)
    assert np.isnan(found.scales[0])
    assert found.scales[1:].tolist() == [2.0**-6, 1.0, 1.0]
    assert found.whole.tolist() == [[0, 0], [192, 32], [0, 0], [0, 0]]


@given(st.integers(0, 2**32), st.integers(1, 200), st.integers(1, 70), st.integers(1, 40))
def test_products_are_exact_whatever_the_batch(seed: int, rows: int, columns: int, others: int) -> None:
    random = np.random.default_rng(seed)
    width = room(columns) // 2
    left = WholeRows.of(random.standard_normal((rows, columns)), width)
    right = WholeRows.of(random.standard_normal((others, columns)), room(columns) - width)
    found = left.times(right)
    whole = left.whole.astype(int).astype(object) @ right.whole.astype(int).astype(object).T
    scales = [[Fraction(a) * Fraction(b) for b in right.scales.tolist()] for a in left.scales.tolist()]
    assert [[Fraction(x) for x in row] for row in found.tolist()] == [
        [a * b for a, b in zip(*pair, strict=True)] for pair in zip(whole.tolist(), scales, strict=True)
    ]
    squares = [sum(int(x) ** 2 for x in row) for row in left.whole.tolist()]
    assert [Fraction(x) for x in left.lengths.tolist()] == [Fraction(math.sqrt(square)) for square in squares]


def test_products_that_could_be_inexact_are_refused() -> None:
    rows = WholeRows.of(np.ones((2, 5)), 26)
    with pytest.raises(InvalidValue, match="at most 50 bits"):
        rows.times(rows)
    with pytest.raises(InvalidValue, match="at most 50 bits"):
        _ = rows.lengths
    assert rows.times(WholeRows.of(np.ones((1, 5)), 24)).tolist() == [[5.0], [5.0]]
    for width in (0, 53):
        with pytest.raises(InvalidValue, match="width"):
            WholeRows.of(np.ones((1, 1)), width)


@given(st.integers(0, 2**32), st.integers(0, 60), st.integers(1, 33), st.sampled_from([1.0, 2.0**20, 2.0**33, 2.0**50]))
def test_sums_of_outer_products_are_those_of_python(seed: int, rows: int, bits: int, size: float) -> None:
    """In as many blocks as they take, and brought nearer to zero where a product could leave 53 bits."""
    random = np.random.default_rng(seed)
    left = np.trunc(random.standard_normal((rows, 3)) * size)
    right = WholeRows.of(random.standard_normal((rows, 4)), bits)
    most = 2 ** (53 - bits)
    expected = [[0] * 4 for _ in range(3)]
    for one, other in zip(left.tolist(), right.whole.tolist(), strict=True):
        for i, a in enumerate(one):
            for j, b in enumerate(other):
                expected[i][j] += max(-most, min(most, int(a))) * int(b)
    assert outer_sum(left, right).tolist() == expected


def test_blocks_end_before_a_sum_leaves_53_bits() -> None:
    """Two products of 53 bits whose sum is odd, which binary64 would round."""
    left, right = np.array([[2.0**33 - 1], [2.0**33 - 2]]), WholeRows(np.full((2, 1), 2.0**20 - 1), np.ones(2), 20)
    assert outer_sum(left, right).tolist() == [[(2**34 - 3) * (2**20 - 1)]]


def test_sums_are_those_of_their_rows() -> None:
    """Modulo 2^64, as post-processing may take them: a sum that wraps is that of wrapped sums."""
    left, right = np.full((3000, 1), 2.0**43), WholeRows.of(np.full((3000, 1), 0.75), 10)
    alone = outer_sum(left[:1], WholeRows(right.whole[:1], right.scales[:1], 10))
    assert outer_sum(left, right).tolist() == [[(int(alone[0, 0]) * 3000 + 2**63) % 2**64 - 2**63]]


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=40))
def test_the_hyperbolic_tangent_is_within_a_few_roundings(values: list[float]) -> None:
    found = tanh(np.array(values))
    with mp.workprec(200):
        for value, given_ in zip(values, found.tolist(), strict=True):
            exact = mp.tanh(mp.mpf(value))
            assert abs(given_ - exact) <= 12 * 2.0**-53 * abs(exact) + mp.mpf(2) ** -1074
    assert np.array_equal(found, [tanh(np.array([value]))[0] for value in values])
    assert np.isnan(tanh(np.array([math.nan]))[0])


@given(
    st.integers(2, 9).flatmap(
        lambda k: st.lists(st.lists(st.floats(-700, 700), min_size=k, max_size=k), min_size=1, max_size=6)
    ),
    st.integers(0, 8),
)
def test_cross_entropies_are_softmax_less_the_label(rows: Any, label: int) -> None:
    scores = np.array(rows)
    labels = np.full(len(scores), min(label, scores.shape[1] - 1))
    losses, derivatives = cross_entropy(scores, labels)
    assert scores.tolist() == rows
    for row, given_, loss, true in zip(rows, derivatives.tolist(), losses.tolist(), labels.tolist(), strict=True):
        with mp.workprec(200):
            grown = [mp.exp(mp.mpf(x) - max(row)) for x in row]
            shares = [x / mp.fsum(grown) for x in grown]
            shares[true] = -mp.fsum(x for c, x in enumerate(shares) if c != true)
            for x, y in zip(given_, shares, strict=True):
                assert abs(x - y) <= 1e-12 * abs(y) + mp.mpf(2) ** -1060  # the gaps are rounded: 1400 by 2^-53
            assert abs(loss - (mp.ln(mp.fsum(grown)) - mp.mpf(row[true]) + max(row))) <= 1e-12
    alone = [cross_entropy(scores[i : i + 1], labels[i : i + 1]) for i in range(len(scores))]
    assert np.array_equal(losses, [loss[0] for loss, _ in alone])
    assert np.array_equal(derivatives, np.concatenate([found for _, found in alone]))


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_scores_that_are_no_numbers_make_their_own_row_nan(odd: float) -> None:
    losses, derivatives = cross_entropy(np.array([[0.0, 0.0], [odd, 1.0]]), np.array([0, 1]))
    assert derivatives[0].tolist() == [-0.5, 0.5]
    assert np.isnan(derivatives[1]).all()
    assert np.isnan(losses[1])
