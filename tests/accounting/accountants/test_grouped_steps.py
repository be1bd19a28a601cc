"""Groups of steps: each bounds its steps, and a cut is made where it tells most about the loss."""

from __future__ import annotations

import numpy as np
import pytest

from certdp.accounting.accountants.grouped_steps import Groups, Sizes, grouped
from certdp.accounting.errors import InvalidValue
from certdp.accounting.exact import Floats

Row = tuple[float, float, float]


def losing_their_product(rates: Floats, shifts: Floats) -> Floats:
    """log(e^τ − 1) of steps with τ = q·s."""
    loss = rates * shifts
    logarithms: Floats = loss + np.log(-np.expm1(-loss))
    return logarithms


def losing_alike(rates: Floats, shifts: Floats) -> Floats:
    return np.zeros(np.broadcast(rates, shifts).shape)


def split(rows: list[Row], most: int, sizes: Sizes = losing_their_product) -> Groups:
    rates, low, high = (np.array(column) for column in zip(*rows, strict=True))
    return grouped(rates, low, high, sizes, most=most)


def described(groups: Groups) -> set[tuple[tuple[float, float], tuple[float, float], int]]:
    """Rates, shifts and the number of steps, group by group."""
    rates = zip(groups.low_rate.tolist(), groups.high_rate.tolist(), strict=True)
    shifts = zip(groups.low_shift.tolist(), groups.high_shift.tolist(), strict=True)
    found = list(zip(rates, shifts, groups.times.tolist(), strict=True))
    assert len(set(found)) == len(found)
    return set(found)


def test_few_different_steps_are_kept_as_they_are() -> None:
    rows = [(0.5, 1.0, 2.0), (1.0, 1.0, 2.0), (0.5, 1.5, 2.0), (0.5, 1.0, 2.0)]
    kept = {((0.5, 0.5), (1.0, 2.0), 2), ((0.5, 0.5), (1.5, 2.0), 1), ((1.0, 1.0), (1.0, 2.0), 1)}
    assert described(split(rows, 3)) == kept
    assert described(split(rows, 10)) == kept


def test_one_group_reaches_from_the_least_to_the_largest() -> None:
    rows = [(0.5, 1.0, 1.5), (0.25, 3.0, 3.5), (1.0, 2.0, 2.5)]
    assert described(split(rows, 1)) == {((0.25, 1.0), (1.0, 3.5), 3)}


@pytest.mark.parametrize("most", [2, 3, 5, 8, 20])
def test_each_step_lies_in_its_group(most: int) -> None:
    """Beyond any corner: no more least corners of groups than steps, and no fewer greatest ones."""
    rng = np.random.default_rng(most)
    rates, shifts = rng.uniform(0.01, 1, 40), rng.uniform(0.1, 3, 40)
    high = shifts + 0.01
    groups = grouped(rates, shifts, high, losing_their_product, most=most)
    assert len(groups.times) == most
    assert groups.times.sum() == 40
    for rate in rates:
        for shift in (*shifts, *high):
            least = groups.times[(groups.low_rate >= rate) & (groups.low_shift >= shift)].sum()
            greatest = groups.times[(groups.high_rate >= rate) & (groups.high_shift >= shift)].sum()
            assert least <= np.count_nonzero((rates >= rate) & (shifts >= shift))
            assert greatest >= np.count_nonzero((rates >= rate) & (high >= shift))


@pytest.mark.parametrize(
    ("rates", "shifts", "expected"),
    [
        # halfway between the logarithms of 1/4 and 1/2 the step loses √½ of the most; between 10³ and 10⁴, √⅒ of it
        ((0.25, 0.5), (1e3, 1e4), {((0.25, 0.5), (1e3, 1e3), 2), ((0.25, 0.5), (1e4, 1e4), 2)}),
        ((0.1, 0.5), (1e3, 2e3), {((0.1, 0.1), (1e3, 2e3), 2), ((0.5, 0.5), (1e3, 2e3), 2)}),
    ],
)
def test_the_cut_that_lowers_the_loss_more(
    rates: tuple[float, float],
    shifts: tuple[float, float],
    expected: set[tuple[tuple[float, float], tuple[float, float], int]],
) -> None:
    assert described(split([(rate, shift, shift) for rate in rates for shift in shifts], 2)) == expected


def test_a_cut_halves_the_logarithms() -> None:
    rows = [(rate, 1e-3, 1e-3) for rate in (1 / 16, 1 / 3, 1.0)]  # cut at 1/4
    assert described(split(rows, 2)) == {((1 / 16, 1 / 16), (1e-3, 1e-3), 1), ((1 / 3, 1.0), (1e-3, 1e-3), 2)}


@pytest.mark.parametrize(
    ("times", "cut"),
    [
        (10, {(0.01, 0.01), (0.09, 0.09), (0.5, 1.0)}),  # 20 · 0.08 is more than 2 · 0.5
        (2, {(0.01, 0.09), (0.5, 0.5), (1.0, 1.0)}),  # 4 · 0.08 is less
    ],
)
def test_the_group_that_is_loosest_over_all_its_steps_is_cut(times: int, cut: set[tuple[float, float]]) -> None:
    rows = [(rate, 1.0, 1.0) for rate in (*[0.01] * times, *[0.09] * times, 0.5, 1.0)]
    assert {rates for rates, *_ in described(split(rows, 3))} == cut


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 6, 7])
def test_steps_are_told_apart_where_sizes_do_not(most: int) -> None:
    """Steps that differ in the lower bound of a shift alone stay together, however many groups there may be."""
    rows = [(0.25, low, 1.0) for low in (0.5, 0.6, 0.7)] + [(rate, 1.0, 1.0) for rate in (0.5, 0.75, 0.8, 0.9, 1.0)]
    found = described(split(rows, most, losing_alike))
    assert len(found) == min(most, 6)
    assert any(low == 0.25 and shifts == (0.5, 1.0) for (low, _), shifts, _ in found)


def test_at_least_one_group() -> None:
    with pytest.raises(InvalidValue, match="most"):
        split([(0.5, 1.0, 1.0)], 0)
