"""Rows in blocks by compiled code, against the rows that Python's integers make, to the unit."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.errors import CertdpError
from certdp.accounting.keyed.reporting import (
    DyadicBudget,
    FrequencyRow,
    FrequencyTable,
    Inclusion,
    PoissonPps,
    Ppswor,
    blocks,
    excess,
    following,
    nothing_reported,
)
from certdp.accounting.keyed.reporting.blocks import RowBlock, RowBlocks
from certdp.accounting.units import Delta, Epsilon
from tests.support.cases import examples


def budget_of(epsilon: str | Fraction = "1", delta: str | Fraction = "1e-6", subdivision: int = 32) -> DyadicBudget:
    return DyadicBudget(epsilon=Epsilon(epsilon), delta=Delta(delta), subdivision=subdivision)


def rows_by_one(budget: DyadicBudget, kept: list[int]) -> list[FrequencyRow]:
    rows = [nothing_reported(budget)]
    for units in kept:
        rows.append(following(budget, rows[-1], units))
    return rows


@examples(200)
@given(
    epsilon=st.fractions(0, 3) | st.just(Fraction(0)) | st.fractions(0, Fraction(1, 50)),
    octaves=st.integers(0, 40),
    subdivision=st.integers(0, 60),
    rates=st.lists(st.fractions(0, 1) | st.just(Fraction(1)), min_size=1, max_size=40).map(sorted),
    cut=st.integers(0, 40),
)
@example(epsilon=Fraction(0), octaves=12, subdivision=0, rates=[Fraction(1)] * 40, cut=0)  # K = 64: one word exactly
@example(epsilon=Fraction(1, 2), octaves=40, subdivision=33, rates=[Fraction(i, 40) for i in range(1, 41)], cut=7)
@example(epsilon=Fraction(40), octaves=12, subdivision=4, rates=[Fraction(i, 9) for i in range(1, 10)], cut=2)
def test_rows_are_those_made_one_by_one(
    epsilon: Fraction, octaves: int, subdivision: int, rates: list[Fraction], cut: int
) -> None:
    budget = budget_of(epsilon, Fraction(2, 3) / (1 << octaves), subdivision)
    if not RowBlocks.fits(budget):
        return
    kept = [int(rate * budget.certain) for rate in rates][: RowBlocks(budget).last()]
    expected = rows_by_one(budget, kept)
    start = min(cut, len(kept) - 1)
    found: list[FrequencyRow] = []
    while start + len(found) < len(kept):
        row = found[-1] if found else expected[start]
        found += RowBlocks(budget).after(row, kept[start + len(found) :])
    assert found == expected[start + 1 :]


@pytest.mark.parametrize(
    ("epsilon", "delta", "subdivision", "inclusion"),
    [
        ("1", "1e-6", 32, Ppswor(threshold="0.01")),
        ("0.1", "1e-10", 32, PoissonPps(threshold="0.01")),
        ("0.5", "1e-9", 43, Ppswor(threshold="0.1")),  # K = 125
        ("4", "0.01", 5, PoissonPps(threshold="0.001")),  # K = 64
    ],
)
def test_many_rows_are_private_and_lead_as_their_sums(
    epsilon: str, delta: str, subdivision: int, inclusion: Inclusion
) -> None:
    budget = budget_of(epsilon, delta, subdivision)
    kept = [inclusion.units(i, budget.bits) for i in range(1, 700)]
    block = RowBlocks(budget).after(nothing_reported(budget), kept)
    assert isinstance(block, RowBlock)
    rows = list(block)
    assert list(block[3:]) == rows[3:]
    assert block[-1] == rows[-1]
    assert list(block[::2]) == rows[::2]
    for before, row in pairwise([nothing_reported(budget), *rows]):
        assert row == following(budget, before, row.kept)
        assert max(excess(budget, before, row)) <= budget.delta.value
    leads = block.leads().tolist()
    largest = (1 << 64) - 1
    for row in rows:
        edges = [*accumulate(run.mass for run in row.runs), budget.certain]
        expected = [min(edge >> budget.bits - 64, largest) for edge in edges]
        assert [leads.pop(0) for _ in expected] == expected
    assert not leads


def test_what_does_not_fit_is_not_tried() -> None:
    assert RowBlocks.fits(budget_of())
    assert not RowBlocks.fits(budget_of("1", "0.5", 0))  # K = 53
    assert not RowBlocks.fits(budget_of("1", "1e-6", 54))  # K = 126
    assert not RowBlocks.fits(budget_of("40", "1e-6", 32))  # G·2^K has 162 bits
    assert RowBlocks(budget_of("1", "0.01", 60)).last() == 4


def test_rows_that_are_not_private_are_refused() -> None:
    budget = budget_of("1", "1e-6", 0)
    kept = [budget.certain] * 30
    start = nothing_reported(budget)
    makers = RowBlocks(budget)
    words = makers._constants.copy()
    most = words[4:].reshape(-1)
    assert list(makers.after(start, kept)) == rows_by_one(budget, kept)[1:]
    makers._constants = words.copy()
    makers._constants[4:] = (most - (most > 0)).reshape(2, 2) // np.uint64(2)  # a little less than half of δ is allowed
    with pytest.raises(CertdpError, match="does not satisfy"):
        makers.after(start, kept)
    makers._constants = words.copy()
    makers._constants[2, 0] += np.uint64(1 << 10)  # Δ lies above δ
    with pytest.raises(CertdpError, match="does not satisfy"):
        makers.after(start, kept)


def test_a_walk_makes_the_same_rows_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    table = FrequencyTable(
        epsilon=Epsilon("0.5"), delta=Delta("1e-4"), inclusion=PoissonPps(threshold="0.002"), subdivision=32
    )
    asked = [1, 3, 130, 131, 200, 499, 500, 501, 530, 700, 900, 10**9]
    in_blocks, origins = list(table.at(asked)), list(table.origins(asked))
    assert table._cycle
    again = list(table.origins(asked))  # now that the cycle is known
    monkeypatch.setattr(blocks, "_MOST_BITS", 0)
    alone = FrequencyTable(
        epsilon=table.epsilon, delta=table.delta, inclusion=table.inclusion, subdivision=table.subdivision
    )
    assert list(alone.at(asked)) == in_blocks
    assert list(alone.origins(asked)) == origins == again
