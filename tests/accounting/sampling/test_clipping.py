"""Clipping and dropping: what comes back lies in the domain exactly, record by record."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from certdp.accounting.bulk import arrays as bulk
from certdp.accounting.expressions import Symbol, Variable
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Public
from certdp.accounting.sampling.clipping import Outside, confine, hold, largest_radius
from certdp.accounting.sampling.domains import NormBall
from tests.support.arb_numbers import arb_of
from tests.support.cases import examples

TINY = 5e-324
HUGE = 1.7e308
NORMS = st.sampled_from([Norm.L1, Norm.L2, Norm.LINF, Norm(3), Norm("3/2"), Norm("1.25"), Norm(40)])
RADII = st.one_of(
    st.floats(TINY, HUGE),
    st.fractions(Fraction(1, 1000), 1000),
    st.sampled_from(["1e-400", "1e400", "0.1", "2/3", "5e-324", "1e-323", "2.3e-308"]),
)
MATRICES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 6)),
    elements=st.one_of(
        st.floats(allow_nan=False, allow_infinity=False), st.floats(-10, 10), st.sampled_from([0.0, TINY, -TINY, HUGE])
    ),
)


def ball(norm: Norm, radius: Any) -> NormBall:
    return NormBall(norm=norm, radius=Public(radius), dimension=None)


def within(row: Any, domain: NormBall, share: Fraction = Fraction(1)) -> bool:
    """Whether Σ(|x_j|/r)^p ≤ 1: exactly for whole p, in balls of 2,000 bits otherwise."""
    quotients = [abs(Fraction(float(x))) / (domain.radius.value * share) for x in row if x]
    order = domain.norm.order
    if order is None or len(quotients) < 2:
        return max(quotients, default=Fraction(0)) <= 1
    if order.denominator == 1:
        return sum((x**order.numerator for x in quotients), Fraction(0)) <= 1
    before, flint.ctx.prec = flint.ctx.prec, 2000
    try:
        total = sum((_power(x, order) for x in quotients), flint.arb(0))
        assert total <= 1 or total > 1, "the oracle needs more bits"
        return bool(total <= 1)
    finally:
        flint.ctx.prec = before


def _power(value: Fraction, order: Fraction) -> flint.arb:
    return arb_of(value) ** arb_of(order)


@pytest.mark.slow
@given(MATRICES, NORMS, RADII)
@example(np.full((1, 3), TINY), Norm.L1, "1e-323")  # a factor of 2/3 rounds back to the same subnormal numbers
@example(np.full((2, 2), HUGE), Norm.L1, 1e308)  # the norm overflows, the radius does not
@example(np.full((1, 4), HUGE), Norm.L2, "1e400")
@example(np.array([[HUGE, TINY]]), Norm.L1, "1e-400")
@example(np.full((1, 3), TINY), Norm("3/2"), "1e-323")
@example(np.full((1, 3), HUGE), Norm("3/2"), 1e308)
@example(np.array([[0.75, 0.0]]), Norm("3/2"), 0.75)
@examples(400)
def test_a_clipped_record_lies_in_the_domain_and_keeps_its_direction(
    records: np.ndarray[Any, np.dtype[np.float64]], norm: Norm, radius: Any
) -> None:
    domain = ball(norm, radius)
    before = records.copy()
    clipped, count = confine(records, domain, Outside.CLIP)
    assert np.array_equal(records, before)
    assert clipped.shape == records.shape
    moved = 0
    for row, result in zip(records, clipped, strict=True):
        assert within(result, domain)
        if np.array_equal(row, result):
            continue
        moved += 1
        # whoever was moved was outside, or within rounding of the border or of the largest number
        assert not within(row, domain, Fraction(1) - Fraction(1, 2**48)) or domain.radius.value > HUGE
        if largest_radius(domain) > 1e-290:
            largest = int(np.argmax(np.abs(row)))
            factor = Fraction(float(result[largest])) / Fraction(float(row[largest]))
            assert 0 < factor < 1
            underflow = Fraction(1, 2**1073) + abs(Fraction(float(result[largest]))) / 2**1000
            for x, y in zip(row, result, strict=True):
                exact = Fraction(float(x)) * factor
                assert abs(Fraction(float(y)) - exact) <= abs(exact) / 2**50 + underflow
            if domain.radius.value <= HUGE:
                assert not within(result, domain, Fraction(1) - Fraction(1, 2**40))
    assert count >= moved


@pytest.mark.slow
@given(MATRICES, NORMS, RADII)
def test_dropping_keeps_the_records_inside_unchanged_and_in_order(
    records: np.ndarray[Any, np.dtype[np.float64]], norm: Norm, radius: Any
) -> None:
    domain = ball(norm, radius)
    kept, count = confine(records, domain, Outside.DROP)
    assert len(kept) + count == len(records)
    _, clipped = confine(records, domain, Outside.CLIP)
    assert count == clipped
    position = 0
    for row in kept:
        assert within(row, domain)
        while not np.array_equal(records[position], row):
            position += 1
        position += 1
    assert position <= len(records)


@given(MATRICES, NORMS, RADII, st.sampled_from(list(Outside)))
def test_each_record_is_handled_by_itself(
    records: np.ndarray[Any, np.dtype[np.float64]], norm: Norm, radius: Any, outside: Outside
) -> None:
    domain = ball(norm, radius)
    together, count = confine(records, domain, outside)
    alone = [confine(records[i : i + 1], domain, outside) for i in range(len(records))]
    assert np.array_equal(together, np.concatenate([part for part, _ in alone]))
    assert count == sum(moved for _, moved in alone)


@pytest.mark.parametrize(
    ("radius", "expected"),
    [("0.1", 0.1 - 2**-56), (0.1, 0.1), ("1/3", 1 / 3), ("1e400", 1.7976931348623157e308), ("1e-400", 0.0)],
)
def test_the_largest_float_within_the_radius(radius: Any, expected: float) -> None:
    assert largest_radius(ball(Norm.L1, radius)) == expected


def test_a_record_inside_is_left_alone() -> None:
    records = np.array([[3.0, 4.0], [30.0, 40.0]])
    clipped, count = confine(records, ball(Norm.L2, 5), Outside.CLIP)
    assert count == 1
    assert clipped[0].tolist() == [3.0, 4.0]
    assert clipped[1] == pytest.approx([3.0, 4.0], rel=1e-12)
    unchanged, none = confine(records, ball(Norm.L2, 51), Outside.CLIP)
    assert none == 0
    assert unchanged is records


def test_without_a_domain_every_record_is_used_as_it_is() -> None:
    held = hold(np.array([[3.0, 1e300]]), None, Outside.CLIP, first=7)
    assert (held.outside, held.inside, held.features.first) == (0, None, 7)
    assert held.features.records.tolist() == [[3.0, 1e300]]


EVERY_NORM = [Norm.L1, Norm.L2, Norm.LINF, Norm("1.0001"), Norm("3/2"), Norm(3), Norm(40)]


@pytest.mark.parametrize("norm", EVERY_NORM, ids=str)
def test_the_share_of_the_radius_that_is_scaled_to(norm: Norm) -> None:
    """Neither the quotient and the two products that scale a record nor its norm, rounded up, lead out again."""
    clipped, _ = confine(np.array([[2.0]]), ball(norm, 1), Outside.CLIP)  # powers of two: nothing else is rounded
    share = Fraction(clipped.item())
    assert share * (1 + Fraction(1, 2**53)) ** 3 * (1 + bulk.norm_relative_error(norm)) <= 1
    assert share >= 1 - Fraction(1, 2**44)


@pytest.mark.parametrize("norm", EVERY_NORM[:3], ids=str)
def test_no_record_is_scaled_twice(norm: Norm) -> None:
    clipped, _ = confine(np.random.default_rng(0).normal(size=(200, 3)) * 100, ball(norm, 1), Outside.CLIP)
    assert bulk.norms(clipped, norm).min() > 1 - 2.0**-40


@pytest.mark.parametrize(
    ("record", "radius", "expected"),
    [
        ([HUGE, HUGE, 1e-3], 1, [0.5, 0.5, 0.0]),
        ([2.0**600, 2.0**600], 1, [0.5, 0.5]),
        ([2.0**-600, 2.0**-600], 2.0**-610, [2.0**-611, 2.0**-611]),
        ([HUGE], 1.5e308, [1.5e308]),
        ([2.0], TINY, [TINY]),
    ],
)
def test_the_ends_of_binary64(record: list[float], radius: float, expected: list[float]) -> None:
    clipped, count = confine(np.array([record]), ball(Norm.L1, radius), Outside.CLIP)
    assert count == 1
    assert clipped[0] == pytest.approx(expected, rel=1e-12, abs=1e-300)
    assert clipped[0, 0] > 0


@given(MATRICES, NORMS, RADII, st.sampled_from(list(Outside)))
def test_what_is_held_knows_its_norms_and_where_it_was(
    records: np.ndarray[Any, np.dtype[np.float64]], norm: Norm, radius: Any, outside: Outside
) -> None:
    domain = ball(norm, radius)
    held = hold(records, domain, outside, first=7)
    kept = held.features.records
    assert np.array_equal(held.features.norm(Variable(Symbol.NORM, norm.value)), bulk.norms(kept, norm))
    assert held.features.first == 7
    if held.inside is None:
        assert len(kept) == len(records)
    else:
        assert np.array_equal(kept, records[held.inside])
        assert held.outside == int((~held.inside).sum())
