"""Worst cases: every record of the domain is dominated by one of a few pairs, and some records reach them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure, norm_enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import (
    ORDER,
    Constant,
    Expression,
    Symbol,
    W,
    enclose,
    maximum,
    minimum,
    norm,
    substitute,
    variables,
)
from certdp.accounting.expressions.suprema import NoFiniteSupremum
from certdp.accounting.norms import Norm
from certdp.accounting.pairs import GaussianPair, LaplacePair
from certdp.accounting.provenance import Public
from certdp.accounting.relations import Direction
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.losses import GaussianLoss, LaplaceLoss, PureLoss, RenyiLoss, ZeroConcentratedLoss
from certdp.accounting.sampling.rate import ALWAYS, SamplingRate
from certdp.accounting.sampling.theorem_6 import realised
from certdp.accounting.sampling.worst_cases import WorstCases, case_on_axis, worst_cases
from tests.support.cases import examples

BITS = 96
NEAR = Fraction(1, 2**30)
SAME = Fraction(1, 2**80)


def ball(radius: str = "5", order: Norm = Norm.L2, dimension: int | None = 2) -> NormBall:
    return NormBall(norm=order, radius=Public(radius), dimension=dimension)


def proportional(slope: str, floor: str, order: int = 2) -> SamplingRate:
    return SamplingRate(minimum(1, maximum(floor, norm(order) * slope)), weighted=True)


RATES = [
    ALWAYS,
    SamplingRate(Constant(Fraction(1, 100)), weighted=False),
    SamplingRate(Constant(Fraction(1, 100)), weighted=True),
    proportional("0.3", "0.05"),
    # a rate that falls with the norm while the shift grows: no corner of the whole domain is reached
    SamplingRate(1 / (1 + norm(2)), weighted=False),
    # a rate in another norm than the loss: the larger it is for a record, the smaller the weight
    proportional("0.1", "0.01", order=1),
]
ALIGNED, OPPOSED = RATES[:4], RATES[4:]


def corners(cases: WorstCases) -> list[tuple[Fraction, Fraction]]:
    def shift(pair: object) -> Fraction:
        assert isinstance(pair, GaussianPair)
        return pair.shift.upper

    return [(shift(case.pair), case.rate.upper) for case in cases.bounding]


def value(root: Expression, record: tuple[Fraction, ...]) -> Enclosure:
    box = {
        v: norm_enclosure(record, Norm.of(v.index), precision=BITS)
        if v.symbol is Symbol.NORM
        else Enclosure.between(-1, 1, precision=BITS)
        for v in variables(root)
    }
    return enclose(root, box, precision=BITS)


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: str(rate.probability))
def test_every_record_is_dominated_by_a_corner(rate: SamplingRate) -> None:
    loss = GaussianLoss(W * norm(2) / 3)
    found = corners(worst_cases(loss, rate, ball()))
    used = realised(rate)
    shift_of = substitute(loss.shift, {W: used.weight})
    coordinates = st.fractions(-5, 5, max_denominator=64)

    @examples(60)
    @given(st.tuples(coordinates, coordinates).filter(lambda x: 0 < x[0] ** 2 + x[1] ** 2 <= 25))
    @example((Fraction(3), Fraction(4)))
    @example((Fraction(5), Fraction(0)))
    @example((Fraction(1, 6), Fraction(0)))
    def dominated(record: tuple[Fraction, ...]) -> None:
        shift, probability = value(shift_of, record).lower, value(used.probability, record).lower
        assert any(shift <= s and probability <= q for s, q in found)

    dominated()


def rounded_to(root: Expression, record: tuple[Fraction, ...], end: int) -> Enclosure:
    """The value at a record where every rounding has gone one way, as far as it may."""
    box = {
        v: norm_enclosure(record, Norm.of(v.index), precision=BITS)
        if v.symbol is Symbol.NORM
        else Enclosure.of(end, precision=BITS)
        for v in variables(root)
    }
    return enclose(root, box, precision=BITS)


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: str(rate.probability))
def test_corners_cover_rates_and_weights_that_are_rounded_either_way(rate: SamplingRate) -> None:
    """And what is told to be reached is reached however they are rounded; so it is with a few bits alone."""
    used = realised(rate)
    shift_of = substitute(W * norm(2) / 3, {W: used.weight})
    records = [(Fraction(k, 16), Fraction(0)) for k in range(1, 81)]
    both = [
        (rounded_to(shift_of, x, end).lower, min(rounded_to(used.probability, x, end).lower, Fraction(1)))
        for x in records
        for end in (-1, 1)
    ]
    largest = records[-1]
    ends = [tuple(rounded_to(root, largest, end).upper for root in (shift_of, used.probability)) for end in (-1, 1)]
    for precision in (24, 128):
        cases = worst_cases(GaussianLoss(W * norm(2) / 3), rate, ball(), precision=precision)
        found = corners(cases)
        assert all(any(shift <= s and q <= p for s, p in found) for shift, q in both)
        assert all(0 <= p <= 1 for _, p in found)
        assert not any(one != other and one[0] <= other[0] and one[1] <= other[1] for one in found for other in found)
        if rate not in ALIGNED or precision == 24:
            continue
        assert max(s for s, _ in found) <= max(shift for shift, _ in both) * (1 + NEAR)
        assert max(p for _, p in found) <= max(q for _, q in both) * (1 + NEAR)
        for case in cases.reached:
            assert isinstance(case.pair, GaussianPair)
            assert all(case.pair.shift.lower <= s and case.rate.lower <= q for s, q in ends)
            assert case.rate.upper <= 1


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: str(rate.probability))
def test_the_case_of_a_record_on_an_axis_is_around_both_ends_of_its_rounding(rate: SamplingRate) -> None:
    used, loss = realised(rate), W * norm(2) / 3
    for size in map(Fraction, ("1/8", "2", "5")):
        case = case_on_axis(GaussianLoss(loss), rate, size)
        assert case is not None
        assert isinstance(case.pair, GaussianPair)
        for wide, root in ((case.pair.shift, substitute(loss, {W: used.weight})), (case.rate, used.probability)):
            ends = [rounded_to(root, (size, Fraction(0)), end) for end in (-1, 1)]
            if wide is case.rate:
                ends = [end.minimum(1) for end in ends]
            least, most = min(end.lower for end in ends), max(end.upper for end in ends)
            assert least * (1 - SAME) <= wide.lower <= least * (1 + SAME)
            assert most * (1 - SAME) <= wide.upper <= most * (1 + SAME)
    assert case_on_axis(PureLoss(loss), rate, Fraction(1)) is None
    never = SamplingRate(Constant(Fraction(0)), weighted=True)
    rare = case_on_axis(GaussianLoss(loss), never, Fraction(1))
    assert rare is not None
    assert rare.rate == Enclosure.of(0)


def test_a_loss_without_a_parameter_is_read_at_its_upper_ends() -> None:
    """Every expression of a curve is its supremum over the domain, and the rate is the largest, at most 1."""
    rate = proportional("0.3", "0.05")
    (case,) = worst_cases(RenyiLoss(ORDER * W * norm(2) / 7), rate, ball()).bounding
    law, used = case.pair.renyi, realised(rate)
    assert law is not None
    root = substitute(ORDER * W * norm(2) / 7, {W: used.weight, ORDER: Constant(Fraction(3))})
    for k in range(1, 41):
        record = (Fraction(k, 8), Fraction(0))
        for end in (-1, 1):
            assert law(Fraction(3), Direction.REMOVE).upper >= rounded_to(root, record, end).lower
            assert case.rate.lower >= min(rounded_to(used.probability, record, end).lower, Fraction(1))
    assert case.rate.is_point
    assert case.rate.upper == 1


@pytest.mark.parametrize("rate", ALIGNED[1:3], ids=lambda rate: str(rate.weighted))
@pytest.mark.parametrize("precision", [24, 128])
def test_the_rate_beside_a_curve_is_its_upper_end(rate: SamplingRate, precision: int) -> None:
    (case,) = worst_cases(RenyiLoss(ORDER * norm(2) / 7), rate, ball(), precision=precision).bounding
    most = rounded_to(realised(rate).probability, (Fraction(5), Fraction(0)), 1).lower
    assert most <= case.rate.lower == case.rate.upper <= most * (1 + Fraction(1, 2**20))


def test_a_record_that_is_never_drawn_loses_nothing() -> None:
    never = SamplingRate(Constant(Fraction(0)), weighted=True)
    (case,) = worst_cases(GaussianLoss(W / 3), never, None).bounding
    assert case.rate.upper == 0


def test_the_domain_is_split_only_so_often() -> None:
    cases = worst_cases(GaussianLoss(W * norm(2) / 3), RATES[4], ball())
    assert 2 < len(cases.bounding) <= 49
    shifts = sorted(corners(cases))
    assert all(one[0] < other[0] and one[1] > other[1] for one, other in pairwise(shifts))


@pytest.mark.parametrize("rate", ALIGNED, ids=lambda rate: str(rate.probability))
def test_one_corner_is_enough_where_rate_and_shift_grow_together(rate: SamplingRate) -> None:
    cases = worst_cases(GaussianLoss(W * norm(2) / 3), rate, ball())
    ((shift, probability),) = corners(cases)
    (reached,) = cases.reached
    assert isinstance(reached.pair, GaussianPair)
    assert reached.pair.shift.lower >= shift * (1 - NEAR)
    assert reached.rate.lower >= probability * (1 - NEAR)


@pytest.mark.parametrize("rate", OPPOSED, ids=lambda rate: str(rate.probability))
def test_a_rate_that_falls_while_the_shift_grows_takes_several_corners(rate: SamplingRate) -> None:
    cases = worst_cases(GaussianLoss(W * norm(2) / 3), rate, ball())
    found = corners(cases)
    assert 1 < len(found) <= 64
    whole = max(s for s, _ in found), max(q for _, q in found)
    assert whole not in found, "finer than the corner of the whole domain"
    assert len(cases.reached) > 1


@pytest.mark.slow
@pytest.mark.parametrize("order", [Norm.L1, Norm.L2])
def test_laplace_pairs_are_reached_on_axes_alone(order: Norm) -> None:
    """Over d equal coordinates, ‖x‖₁ is d^½·‖x‖₂: such records reach the parameter, but not the pair."""
    cases = worst_cases(LaplaceLoss(W * norm(1)), proportional("0.3", "0.05"), ball("2", order, 9))
    most = Fraction(1, 3) * 10  # W·‖x‖₁ of a record on an axis
    assert cases.reached
    for case in cases.reached:
        assert isinstance(case.pair, LaplacePair)
        assert case.pair.shift.lower <= most
    assert max(case.pair.shift.upper for case in cases.bounding if isinstance(case.pair, LaplacePair)) > 2 * most


def test_a_loss_that_is_only_a_bound_is_reached_by_none() -> None:
    assert not worst_cases(PureLoss(W * norm(2)), RATES[3], ball()).reached
    assert not worst_cases(ZeroConcentratedLoss(W * norm(2)), RATES[3], ball()).reached


def test_without_sampling_nothing_is_widened() -> None:
    cases = worst_cases(LaplaceLoss(W * norm(1) / 4), ALWAYS, ball("5", Norm.L1, None))
    assert cases.bounding[0].rate == Enclosure.of(1)
    law = cases.bounding[0].pair.pure
    assert law is not None
    assert law(Direction.REMOVE) == Enclosure.of("1.25")


def test_what_depends_on_no_norm_needs_no_domain() -> None:
    cases = worst_cases(GaussianLoss(Constant(Fraction(1, 2))), RATES[1], None)
    assert corners(cases)[0][0] == Fraction(1, 2)
    weighted = worst_cases(PureLoss(W / 10), SamplingRate(Constant(Fraction(1, 8)), weighted=True), None)
    assert weighted.bounding[0].rate.is_point


def test_a_norm_without_a_domain_is_refused() -> None:
    for loss in (GaussianLoss(W * norm(2)), RenyiLoss(ORDER * W * norm(2))):
        with pytest.raises(InvalidValue, match="radius"):
            worst_cases(loss, ALWAYS, None)
    with pytest.raises(InvalidValue, match="radius"):
        worst_cases(GaussianLoss(Constant(Fraction(1))), proportional("0.3", "0.1"), None)


def test_a_weight_without_bound_is_refused() -> None:
    with pytest.raises(NoFiniteSupremum):
        worst_cases(GaussianLoss(W / 3), proportional("0.3", "0"), ball())


@pytest.mark.parametrize("rate", ALIGNED, ids=lambda rate: str(rate.probability))
def test_a_curve_is_bounded_order_by_order(rate: SamplingRate) -> None:
    """The curve of a Gaussian sum, declared as a curve, agrees with its pair."""
    shift = W * norm(2) / 3
    curve = worst_cases(RenyiLoss(ORDER * shift * shift / 2), rate, ball()).bounding[0]
    pair = worst_cases(GaussianLoss(shift), rate, ball()).bounding[0]
    for order in (Fraction(3, 2), Fraction(2), Fraction(17)):
        bound, exact = curve.pair.renyi, pair.pair.renyi
        assert bound is not None
        assert exact is not None
        mine, theirs = bound(order, Direction.REMOVE).upper, exact(order, Direction.REMOVE)
        assert theirs.lower <= mine <= theirs.upper * (1 + NEAR)
    assert curve.rate.upper <= pair.rate.upper * (1 + NEAR)
