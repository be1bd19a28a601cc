# pyright: reportMissingImports=false
"""Norms are bounds from above, and sums are of the same vectors, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from certdp.dpis.torch.gradients_of_records import Dense, Gradients, Outer, TableRows

UNIT = Fraction(1, 2**53)
NUMBERS = st.floats(-4, 4, width=32)


def exact(values: torch.Tensor) -> np.ndarray[Any, Any]:
    return np.vectorize(Fraction, otypes=[object])(values.double().numpy())


def outer_products(inputs: torch.Tensor, deltas: torch.Tensor) -> np.ndarray[Any, Any]:
    """Σ_t δ_t·a_tᵀ of each record and group, exactly, (count, …)."""
    given, slopes = exact(inputs), exact(deltas)
    count, groups = given.shape[:2]
    return np.stack([np.stack([slopes[i, g].T @ given[i, g] for g in range(groups)]) for i in range(count)])


@given(st.data(), st.integers(1, 3), st.integers(1, 2), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3))
def test_the_norm_of_a_sum_of_products_is_a_bound_from_above(
    data: st.DataObject, count: int, groups: int, positions: int, columns: int, rows: int
) -> None:
    def drawn(size: int) -> torch.Tensor:
        shape = (count, groups, positions, size)
        entries = int(np.prod(shape))
        values = data.draw(st.lists(NUMBERS, min_size=entries, max_size=entries))
        return torch.tensor(values, dtype=torch.float32).reshape(shape)

    inputs, deltas = drawn(columns), drawn(rows)
    if positions > 1 and data.draw(st.booleans()):  # two positions that nearly cancel
        inputs[:, :, 1], deltas[:, :, 1] = inputs[:, :, 0], -deltas[:, :, 0] * (1 + 2.0**-20)
    outer = Outer(inputs, deltas, torch.Size([groups * rows, columns]))
    gradients = outer_products(inputs, deltas)
    entries = groups * rows * columns
    for found, gradient in zip(outer.squares().tolist(), gradients, strict=True):
        true = sum(entry**2 for entry in gradient.ravel())
        assert Fraction(found) >= true * (1 - (entries + 10) * UNIT)
        largest = groups * positions**2 * columns * rows * 2 * 4**4
        room = 8 * (columns + rows + positions**2 + entries + 10) * UNIT * (largest + 1)
        assert Fraction(found) <= true + room


def test_norms_of_sums_that_nearly_cancel_are_bounds_from_above() -> None:
    """The Gram form alone comes out too small for some of these, by more than its relative error."""
    torch.manual_seed(0)
    inputs, deltas = torch.randn(60, 1, 2, 3, dtype=torch.float32), torch.randn(60, 1, 2, 3, dtype=torch.float32)
    inputs[:, :, 1], deltas[:, :, 1] = inputs[:, :, 0], -deltas[:, :, 0] * (1 + 2.0**-20)
    found = Outer(inputs, deltas, torch.Size([3, 3])).squares().tolist()
    wide, slopes = inputs.double(), deltas.double()
    bare = ((wide @ wide.mT) * (slopes @ slopes.mT)).sum((1, 2, 3)).tolist()
    true = [sum(entry**2 for entry in row.ravel()) for row in outer_products(inputs, deltas)]
    assert all(Fraction(above) >= below for above, below in zip(found, true, strict=True))
    assert any(Fraction(above) < below * (1 - 19 * UNIT) for above, below in zip(bare, true, strict=True))


def test_gram_and_products_agree_where_factors_are_wide() -> None:
    torch.manual_seed(0)
    inputs, deltas = torch.randn(3, 2, 3, 40, dtype=torch.float32), torch.randn(3, 2, 3, 30, dtype=torch.float32)
    outer = Outer(inputs, deltas, torch.Size([60, 40]))
    assert outer.cheaper() is outer
    products = Dense((deltas.double().mT @ inputs.double()).reshape(3, 60, 40))
    torch.testing.assert_close(outer.squares(), products.squares(), rtol=1e-12, atol=0)
    weights = torch.tensor([0.5, 0.0, 2.0], dtype=torch.float64)
    torch.testing.assert_close(outer.weighted_sum(weights), products.weighted_sum(weights), rtol=1e-12, atol=1e-13)


def test_factors_of_53_bits_have_no_gram_form() -> None:
    wide = Outer(torch.ones(1, 1, 2, 9, dtype=torch.float64), torch.ones(1, 1, 2, 9), torch.Size([9, 9]))
    assert isinstance(wide.cheaper(), Dense)


@pytest.mark.parametrize("kind", ["dense", "outer", "rows"])
@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_a_record_of_weight_zero_adds_nothing_though_it_is_no_number(kind: str, odd: float) -> None:
    deltas = torch.tensor([[[odd, 1.0]], [[2.0, 3.0]]])
    kinds: dict[str, Gradients] = {
        "dense": Dense(deltas.squeeze(1)),
        "outer": Outer(torch.ones(2, 1, 1, 1), deltas.unsqueeze(1), torch.Size([2, 1])),
        "rows": TableRows(torch.tensor([[0], [0]]), deltas, torch.Size([1, 2])),
    }
    gradients = kinds[kind]
    assert not torch.isfinite(gradients.squares()[0])
    total = gradients.weighted_sum(torch.tensor([0.0, 0.5], dtype=torch.float64))
    assert total.flatten().tolist() == [1.0, 1.5]
    assert gradients.weighted_sum(torch.zeros(2, dtype=torch.float64)).flatten().tolist() == [0.0, 0.0]


def test_squares_do_not_vanish_by_underflow() -> None:
    tiny = torch.full((1, 4), 2.0**-540, dtype=torch.float64)
    assert Dense(tiny).squares().item() >= 4 * 2.0**-1080
    product_of = Outer(tiny.reshape(1, 1, 1, 4), torch.full((1, 1, 1, 1), 2.0**500), torch.Size([1, 4]))
    assert Fraction(product_of.squares().item()) >= 4 * Fraction(2) ** -80


@given(st.data(), st.integers(1, 4), st.integers(1, 5))
def test_rows_looked_up_twice_add_up(data: st.DataObject, count: int, positions: int) -> None:
    drawn = st.lists(st.integers(0, 2), min_size=count * positions, max_size=count * positions)
    rows = torch.tensor(data.draw(drawn)).reshape(count, positions)
    deltas = torch.arange(1.0, count * positions * 2 + 1).reshape(count, positions, 2)
    tables = torch.zeros(count, 3, 2, dtype=torch.float64)
    for record, position in product(range(count), range(positions)):
        tables[record, rows[record, position]] += deltas[record, position]
    found = TableRows(rows, deltas, torch.Size([3, 2]))
    weights = torch.arange(count, dtype=torch.float64)
    torch.testing.assert_close(found.dense(), tables, rtol=0, atol=0)
    torch.testing.assert_close(found.squares(), tables.square().sum((1, 2)), rtol=1e-15, atol=1e-300)
    expected = (weights.reshape(-1, 1, 1) * tables).sum(0)
    torch.testing.assert_close(found.weighted_sum(weights), expected, rtol=0, atol=0)
