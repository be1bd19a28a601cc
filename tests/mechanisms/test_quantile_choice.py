"""The choice of a quantile: its gaps by another definition, its exact law, and what the law proves of privacy."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from certdp import Public, QuantileChoice
from certdp.plugins.contract import Coins, PureLoss, W, WeightedSample, norm
from tests.support.cases import examples

quantiles = st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
shifts = st.sampled_from([Fraction(0), Fraction(-5, 2), Fraction(-1), Fraction(2), Fraction(7, 3)])
histograms = st.lists(st.integers(0, 4), min_size=2, max_size=4)


def choice(quantile: Fraction, scale: Fraction = Fraction(2), shift: Fraction = Fraction(0)) -> QuantileChoice:
    return QuantileChoice(quantile=Public(quantile), scale=Public(scale), shift=Public(shift))


def sample(counts: list[int]) -> WeightedSample:
    return WeightedSample(np.array([counts], dtype=np.float64), np.ones(1))


def misses(counts: list[int], quantile: Fraction, shift: Fraction = Fraction(0)) -> list[Fraction]:
    """By how much the ranks of each candidate's values, from the values before to those up to it, miss q·n + shift.

    Moved down, the rank may lie below all values: then the first candidate has it; moved up, the last one.
    """
    rank, found = quantile * sum(counts) + shift, []
    for place, count in enumerate(counts):
        before = sum(counts[:place])
        ends = [before, before + count]
        if not place and shift < 0:
            ends[0] = min(before, -(10**9))
        if place == len(counts) - 1 and shift > 0:
            ends[1] = 10**9
        found.append(max(Fraction(0), ends[0] - rank, rank - ends[1]))
    return found


def gaps_of(mechanism: QuantileChoice, counts: list[int]) -> list[Fraction]:
    gaps, unit = mechanism._gaps(counts)
    return [gap * unit for gap in gaps]


def law(gaps: list[Fraction], base: float) -> list[float]:
    """Permute-and-flip by its coins: given which are true, each candidate with a true coin is equally likely."""
    chances = [base ** float(gap - min(gaps)) for gap in gaps]
    found = [0.0] * len(gaps)
    for coins in product([False, True], repeat=len(gaps)):
        weight = float(np.prod([p if coin else 1 - p for coin, p in zip(coins, chances, strict=True)]))
        for place in np.flatnonzero(coins):
            found[place] += weight / sum(coins)
    return found


@examples(100)
@given(counts=histograms, quantile=quantiles, shift=shifts)
def test_gaps_are_how_far_ranks_are_off(counts: list[int], quantile: Fraction, shift: Fraction) -> None:
    found = gaps_of(choice(quantile, shift=shift), counts)
    assert found == misses(counts, quantile, shift)
    assert min(found) == 0  # some candidate always has the rank, moved or not


@examples(200)
@given(counts=histograms, quantile=quantiles, extra=st.integers(0, 3), shift=shifts)
def test_one_more_value_moves_no_probability_by_more_than_the_loss(
    counts: list[int], quantile: Fraction, extra: int, shift: Fraction
) -> None:
    """In e^(−1/scale) = 1/2: the pure loss is 2·max(q, 1 − q)·log 2."""
    more = list(counts)
    more[min(extra, len(counts) - 1)] += 1
    bound = 4.0 ** float(max(quantile, 1 - quantile)) * (1 + 1e-12)
    laws = [law(misses(found, quantile, shift), 0.5) for found in (counts, more)]
    for p, r in zip(*laws, strict=True):
        assert p <= bound * r
        assert r <= bound * p


def test_half_the_loss_would_be_too_little() -> None:
    """The control: without the factor 2 some probability moves by more."""
    p, r = (law(misses(counts, Fraction(1, 2)), 0.5) for counts in ([0, 0, 9], [0, 1, 9]))
    assert max(max(a / b, b / a) for a, b in zip(p, r, strict=True)) > 2.0**0.5 * 1.005


@pytest.mark.parametrize(("counts", "quantile"), [([1, 0, 2, 1], "1/2"), ([3, 0, 0], "1/4"), ([0, 0], "1/2")])
def test_choices_follow_the_exact_law(counts: list[int], quantile: str) -> None:
    mechanism, coins, times = choice(Fraction(quantile)), Coins.seeded(3), 4000
    drawn = [int(mechanism.release(sample(counts), coins)[0]) for _ in range(times)]
    expected = np.array(law(misses(counts, Fraction(quantile)), float(np.exp(-0.5)))) * times
    assert chisquare(np.bincount(drawn, minlength=len(counts)), expected).pvalue > 1e-9


@examples(100)
@given(counts=histograms, record=st.lists(st.integers(-3, 3), min_size=4, max_size=4), quantile=quantiles, shift=shifts)
def test_a_record_moves_every_gap_by_no_more_than_its_norm(
    counts: list[int], record: list[int], quantile: Fraction, shift: Fraction
) -> None:
    """Records of a general run: several values, of any sign."""
    moved = [count + change for count, change in zip(counts, record, strict=False)]
    mechanism = choice(quantile, shift=shift)
    most = max(quantile, 1 - quantile) * sum(map(abs, record[: len(counts)]))
    for one, other in zip(gaps_of(mechanism, counts), gaps_of(mechanism, moved), strict=True):
        assert abs(one - other) <= most


def test_quantiles_of_any_denominator_are_exact() -> None:
    mechanism = choice(Fraction("0.123456789012345678901"))
    assert mechanism.release(sample([2**50, 2**40]), Coins.seeded(1))[0] == 0


def test_the_loss_is_that_of_the_values_of_a_record() -> None:
    """A record with a value at each of two candidates costs twice what one value does."""
    loss = choice(Fraction(1, 4), Fraction(3)).loss
    assert loss == PureLoss(W * norm(1) * (2 * Fraction(3, 4) / 3))


def test_ranks_moved_up_leave_the_last_gap_open_above() -> None:
    """Its own count is left out, that of no other."""
    counts, shift = [5, 1, 2], Fraction(2)
    found = gaps_of(choice(Fraction(1, 10), shift=shift), counts)
    assert found == misses(counts, Fraction(1, 10), shift)
    assert found[-1] == 6 - (Fraction(8, 10) + 2)
