"""Units of sampling rates: exact at every frequency, and what is proven of whole stretches of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import islice, pairwise
from math import floor

import flint
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue, OutsideDomain, Undecided
from certdp.accounting.keyed.reporting import DyadicBudget, Inclusion, KeyTable, PoissonPps, Ppswor
from certdp.accounting.keyed.reporting import inclusion as inclusions
from certdp.accounting.keyed.reporting.decay import SHORT, WIDEST, decayed
from certdp.accounting.units import Delta, Epsilon
from tests.support.arb_numbers import arb_of
from tests.support.cases import examples

THRESHOLDS = st.fractions(Fraction(1, 10**6), 2, max_denominator=10**6) | st.integers(1, 15).map(
    lambda k: Fraction(1, 10**k)
)
POWERS = st.sampled_from([Fraction(p) for p in ("0", "1/3", "1/2", "4/5", "1", "4/3", "3/2", "2", "3")])
FREQUENCIES = st.integers(1, 100) | st.integers(1, 2**53)


@given(st.integers(64, WIDEST), st.fractions(0, 1500, max_denominator=10**9), st.integers(0, 2**40))
@example(64, Fraction(0), 0)
@example(64, Fraction(30), 0)
@example(WIDEST, Fraction(1999), 2**40 - 1)
def test_the_exponential_is_short_by_little(bits: int, size: Fraction, low: int) -> None:
    units = floor(size * 2**bits) + low
    flint.ctx.prec = bits + 60
    try:
        missing = (-flint.arb(units) / flint.arb(2) ** bits).exp() * flint.arb(2) ** bits - decayed(units, bits)
        assert missing > -1e-6  # exact at 0, where the ball has a radius
        assert missing < SHORT
    finally:
        flint.ctx.prec = 53


@examples(200)
@given(st.sampled_from([Ppswor, PoissonPps]), THRESHOLDS, POWERS, FREQUENCIES, st.sampled_from([60, 114, 256]))
@example(PoissonPps, Fraction(1, 3), Fraction(1, 2), 9, 60)
@example(PoissonPps, Fraction(1, 4), Fraction(1, 3), 27, 60)
@example(Ppswor, Fraction(2), Fraction(1), 2**53, 256)
def test_units_are_exact(
    sampler: type[Ppswor | PoissonPps], threshold: Fraction, power: Fraction, frequency: int, bits: int
) -> None:
    inclusion = sampler(threshold=threshold, power=power)
    units = inclusion.units(frequency, bits)
    assert units == inclusion.drawn(frequency) >> 256 - bits
    assert units <= inclusion.most(bits)
    # units ≤ q·2^bits < units + 1, as a statement about τ·i^p
    flint.ctx.prec = 800
    try:
        top, bottom = power.numerator, power.denominator
        scaled = (threshold**bottom * frequency**top) * 2 ** (bits * bottom)  # (τ·i^p·2^bits)^bottom
        if sampler is PoissonPps:
            assert units**bottom <= scaled
            assert units == 2**bits or scaled < (units + 1) ** bottom
            return
        size = arb_of(threshold) * arb_of(Fraction(frequency)) ** arb_of(power)
        left = (-size).exp() * flint.arb(2) ** bits
        assert left < 2**bits - units
        assert left > 2**bits - units - 1
    finally:
        flint.ctx.prec = 53


@given(
    st.sampled_from([Ppswor, PoissonPps]),
    st.lists(st.fractions(0, 3, max_denominator=50), min_size=1, max_size=8).map(sorted),
    st.fractions(Fraction(1, 10), 1),
)
def test_listed_sizes(sampler: type[Ppswor | PoissonPps], sizes: list[Fraction], threshold: Fraction) -> None:
    """f(1), f(2), … take the place of a power, and end."""
    listed = sampler(threshold=threshold, sizes=sizes)
    assert listed.last == len(sizes)
    for frequency, size in enumerate(sizes, start=1):
        units = listed.units(frequency, 80)
        assert units == (sampler(threshold=threshold * size).units(1, 80) if size else 0)
        assert floor(listed.rate(frequency, precision=200).lower * 2**80) in {units, units - 1}
    with pytest.raises(OutsideDomain, match="beyond the"):
        listed.units(len(sizes) + 1, 80)
    powers = sampler(threshold=threshold, power=2)
    squares = sampler(threshold=threshold, sizes=[i * i for i in range(1, 9)])
    assert [squares.units(i, 90) for i in range(1, 9)] == [powers.units(i, 90) for i in range(1, 9)]


@pytest.mark.parametrize("sampler", [Ppswor, PoissonPps])
def test_bad_sizes(sampler: type[Ppswor | PoissonPps]) -> None:
    with pytest.raises(InvalidValue, match=r"f\(3\) at least f\(2\) = 2"):
        sampler(threshold=1, sizes=[1, 2, "1.5", 1])
    for sizes, match in (([], "at least one"), ([-1, 2], "≥ 0"), ([float("nan")], "finite"), (["x"], "number")):
        with pytest.raises(InvalidValue, match=match):
            sampler(threshold=1, sizes=sizes)
    with pytest.raises(InvalidValue, match="beside a list"):
        sampler(threshold=1, power=2, sizes=[1])


class Thirds(Inclusion):
    """A scheme of one's own, that says its rates and nothing else."""

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        return 1 - Enclosure.of(Fraction(1, 3 * frequency), precision=precision)


class Vague(Inclusion):
    """A rate that no precision tells from ½."""

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        return Enclosure.between(Fraction(1, 2) - Fraction(1, 2**precision), Fraction(1, 2), precision=2 * precision)


def test_units_follow_from_rates() -> None:
    assert [Thirds().units(i, 70) for i in range(1, 9)] == [2**70 * (3 * i - 1) // (3 * i) for i in range(1, 9)]
    assert Thirds().corners(70, 1, 8) == ()
    with pytest.raises(Undecided):
        Vague().units(1, 70)


BUDGETS = st.builds(
    lambda epsilon, delta: DyadicBudget(epsilon=Epsilon(epsilon), delta=Delta(delta)),
    st.fractions(0, 2, max_denominator=50),
    st.fractions(Fraction(1, 10**4), Fraction(1, 2), max_denominator=10**4) | st.just(Fraction(1, 10**9)),
)
CONCAVE = st.builds(
    lambda sampler, threshold, power: sampler(threshold=threshold, power=power),
    st.sampled_from([Ppswor, PoissonPps]),
    st.fractions(Fraction(1, 500), 1, max_denominator=1000),
    st.sampled_from([Fraction(p) for p in ("0", "1/3", "1/2", "9/10", "1")]),
)


@pytest.mark.slow
@examples(60)
@given(BUDGETS, CONCAVE, st.integers(1, 300))
@example(DyadicBudget(epsilon=Epsilon("0.5"), delta=Delta("0.001")), PoissonPps(threshold="0.01"), 5)
@example(DyadicBudget(epsilon=Epsilon("0.01"), delta=Delta("0.001")), PoissonPps(threshold="0.0035"), 5)
@example(DyadicBudget(epsilon=Epsilon("0.1"), delta=Delta("0.01")), PoissonPps(threshold="0.015"), 1)
@example(DyadicBudget(epsilon=Epsilon("0.1"), delta=Delta("0.01")), PoissonPps(threshold="0.015"), 50)
@example(DyadicBudget(epsilon=Epsilon("0.01"), delta=Delta("0.01")), PoissonPps(threshold="0.0105"), 1)
def test_what_is_attached_stays_attached(budget: DyadicBudget, inclusion: Inclusion, frequency: int) -> None:
    """All frequencies up to the one told, one by one, and some far away."""
    through = inclusion.attached(budget, frequency)
    assert through is None or through >= frequency
    end = 2**53 if through is None else through
    places = {frequency + step for step in (*range(1, 40), 100, 1000, 10**6)} | {end - step for step in range(20)}
    for later in sorted(places):
        if frequency < later <= end:
            before, kept = (inclusion.units(i, budget.bits) for i in (later - 1, later))
            assert budget.reported(before, kept) == kept


@examples(60)
@given(CONCAVE, st.sampled_from([60, 114]))
def test_where_units_settle(inclusion: Inclusion, bits: int) -> None:
    settled, most = inclusion.settled(bits), inclusion.most(bits)
    if settled is None:
        assert inclusion.units(2**64, bits) < most
        return
    assert inclusion.units(settled, bits) == inclusion.units(settled + 10**6, bits) == most
    assert settled == 1 or inclusion.units(settled - 1, bits) < most


@pytest.mark.parametrize("sampler", [Ppswor, PoissonPps])
@pytest.mark.parametrize("bits", [7, 10, 60])
def test_a_stretch_begins_and_ends_a_unit_to_the_upper_left(sampler: type[Ppswor | PoissonPps], bits: int) -> None:
    """A pair of rates lies anywhere within a unit of its units: its lowest q_i with its highest q_{i+1}."""
    inclusion = sampler(threshold="0.01")
    start, end = inclusion.corners(bits, 20, 40)
    assert start == (inclusion.units(20, bits) - 1, inclusion.units(21, bits) + 1)
    assert end == (inclusion.units(39, bits) - 1, inclusion.units(40, bits) + 1)
    if sampler is Ppswor:
        assert inclusion.corners(bits, 20, None) == (start, (2**bits - 1, 2**bits))
    else:
        assert inclusion.corners(bits, 20, None)[-1] == (inclusion.units(99, bits), 2**bits)  # 0.01·99 is the last < 1
        assert inclusion.corners(bits, 20, 99) == inclusion.corners(bits, 20, 100)[:-1]


@pytest.mark.parametrize("sampler", [Ppswor, PoissonPps])
@pytest.mark.parametrize("threshold", ["1e-30", "1e-18", "1/5000", "1/300"])
@pytest.mark.parametrize("last", [2, 40, 4000, 10**9, None])
def test_every_pair_of_a_stretch_lies_below_its_corners_where_units_are_0_too(
    sampler: type[Ppswor | PoissonPps], threshold: str, last: int | None
) -> None:
    inclusion, bits = sampler(threshold=threshold), 12
    found = inclusion.corners(bits, 1, last)
    assert found
    assert all(corner.before >= 0 for corner in found)
    highest = 2**62 if last is None else last - 1
    for i in {*range(1, min(highest, 3000) + 1), *(min(highest, 7**k) for k in range(23))}:
        pair = inclusion.units(i, bits), inclusion.units(i + 1, bits)
        inside = [
            (right.before - left.before) * (pair[1] - left.after)
            <= (right.after - left.after) * (pair[0] - left.before)
            for left, right in pairwise(found)
            if left.before <= pair[0] <= right.before
        ]
        right_of_all = pair[0] >= found[-1].before and pair[1] <= found[-1].after
        assert any(inside) or right_of_all, i


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [Ppswor, PoissonPps])
def test_the_comparisons_of_keys_end_at_every_threshold(
    sampler: type[Ppswor | PoissonPps], counted: Callable[..., tuple[int, int]]
) -> None:
    for threshold in ("1e-330", "1e-30", "1e-5"):
        table = KeyTable(epsilon=Epsilon(1), delta=Delta("1e-6"), inclusion=sampler(threshold=threshold))
        assert sum(1 for _ in islice(table.comparisons(), 2**17)) < 2**16 + 100


@given(
    st.sampled_from([Ppswor, PoissonPps]), THRESHOLDS, st.integers(1, 40), st.integers(1, 300), st.sampled_from([1, 20])
)
def test_sizes_that_are_not_written_out_are_beyond_what_they_are_compared_with(
    sampler: type[Ppswor | PoissonPps], threshold: Fraction, power: int, frequency: int, bits: int
) -> None:
    inclusion = sampler(threshold=threshold, power=power)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampler, "_beyond", lambda *_: False)
        size = threshold * frequency**power
        expected = inclusion.units(frequency, bits) if size < 2000 else 2**bits - (sampler is Ppswor)
    assert inclusion.units(frequency, bits) == expected
    assert inclusion.rate(frequency, precision=64).upper * 2**bits >= expected


@pytest.mark.parametrize("power", ["1e30", "1e308", "1e400"])
def test_powers_of_any_length_have_units(power: str) -> None:
    for sampler, most in ((Ppswor, 2**70 - 1), (PoissonPps, 2**70)):
        inclusion = sampler(threshold="0.1", power=power)
        assert inclusion.units(2, 70) == inclusion.units(2**53, 70) == most
        assert inclusion.units(1, 70) == sampler(threshold="0.1").units(1, 70)
        assert inclusion.rate(2, precision=60).upper == 1


@examples(150)
@given(THRESHOLDS, st.sampled_from([Fraction(p) for p in ("1/2", "1", "2")]), st.integers(1, 5000), st.integers(1, 6))
def test_units_are_exact_whatever_is_spared(threshold: Fraction, power: Fraction, frequency: int, finer: int) -> None:
    """With a few bits to spare the fast way has to give way to the slow one often, and never errs."""
    assume(threshold * frequency**2 < 500)  # beyond, 1 − q is too small for the slow way
    inclusion = Ppswor(threshold=threshold, power=power)
    expected = Inclusion.units(inclusion, frequency, 70)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inclusions, "_FINER", finer)
        assert inclusion.units(frequency, 70) == expected


@examples(150)
@given(BUDGETS, st.integers(1, 2**20), st.integers(0, 2**20))
def test_ample_leaves_room_for_the_rounding_of_both_rates(budget: DyadicBudget, before: int, more: int) -> None:
    """q_i − G·q_{i−1} ≤ Δ and (1 − q_{i−1}) − G·(1 − q_i) ≤ Δ, for rates a unit to the worse side."""
    growth, allowed = Fraction(budget.growth, budget.certain), budget.allowance
    scale = budget.certain >> 20
    for kept in {before * scale + more, floor(growth * (before * scale - 1)) + allowed - 1, more * scale}:
        if not 0 < kept < budget.certain:
            continue
        lowest, highest = before * scale - 1, kept + 1
        exact = (
            highest - growth * lowest <= allowed
            and budget.certain - lowest - growth * (budget.certain - highest) <= allowed
        )
        assert budget.ample(before * scale, kept) == exact


def test_stretches_end_where_they_should() -> None:
    budget = DyadicBudget(epsilon=Epsilon("0.01"), delta=Delta("0.001"))
    assert Ppswor(threshold="0.0015").attached(budget, 5000) is None
    # G·(1 − q_i) ≥ 1 − q_{i−1} − δ up to i with (G − 1)(1 − τ·i) + δ = τ
    pps = PoissonPps(threshold="0.0035")
    growth = Fraction(budget.growth, budget.certain)
    end = (1 - (Fraction("0.0025") / (growth - 1))) / Fraction("0.0035")
    first = next(i for i in range(1, 300) if pps.attached(budget, i) != i)
    assert pps.attached(budget, first) == floor(end)
    assert Ppswor(threshold="0.0015", power=2).attached(budget, 10) == 10


@examples(120)
@given(CONCAVE, st.integers(1, 300), st.integers(2, 60), st.booleans(), st.sampled_from([7, 10, 13, 60]))
def test_corners_bound_what_lies_between(
    inclusion: Inclusion, first: int, length: int, endless: bool, bits: int
) -> None:
    """With few bits the rounding of units is what decides."""
    last = first + length
    corners = inclusion.corners(bits, first, None if endless else last)
    assume(corners)
    for i in range(first, last):
        before, after = inclusion.units(i, bits), inclusion.units(i + 1, bits)
        assert before >= corners[0].before
        if before >= corners[-1].before:
            assert after <= corners[-1].after
            continue
        low, high = next((a, b) for a, b in pairwise(corners) if a.before <= before <= b.before)
        assert (after - low.after) * (high.before - low.before) <= (high.after - low.after) * (before - low.before)
