"""Interpolated moments of very many different steps, against Arb's quadrature of each step and against small runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve, frozen
from flint import acb, arb, ctx

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.exact import Floats
from certdp.accounting.loss_distribution import interpolated_steps as module
from certdp.accounting.loss_distribution.interpolated_steps import InterpolatedTransform, _InterpolatedLine
from certdp.accounting.loss_distribution.inversion import delta_by_transforms, epsilon_by_transforms
from certdp.accounting.loss_distribution.step_boxes import Box, InterpolatedSteps, Kept, Tail, _binned, _matters
from certdp.accounting.loss_distribution.step_remainders import MOST_RATES, UNIT, Cells, Region, Remainder, lebesgue
from certdp.accounting.loss_distribution.transforms import Line, Logarithms, SampledGaussianTransform, Transform
from certdp.accounting.relations import Direction
from tests.support.arb_moments import sampled_gaussian_moment
from tests.support.arb_numbers import arb_of

BITS = 160
DRAWS = 8


@frozen(eq=False)
class Case:
    """Steps in one box, a line c + iy and a point on it."""

    rates: Floats
    shifts: Floats
    direction: Direction
    tilt: float
    y: float

    @property
    def order(self) -> float:
        return self.tilt + 1 if self.direction is Direction.REMOVE else -self.tilt

    def logarithm(self, rate: float, shift: float, y: float) -> acb:
        """F at c + iy."""
        return acb(sampled_gaussian_moment(rate, shift, self.direction, self.tilt, y).log())

    def sum_of_steps(self, y: float) -> acb:
        pairs = zip(self.rates.tolist(), self.shifts.tolist(), strict=True)
        return sum((self.logarithm(rate, shift, y) for rate, shift in pairs), acb(0))

    def sum_of_nodes(self, box: Box, y: float) -> acb:
        found = acb(0)
        for (j, k), weight in np.ndenumerate(box.weights):
            found += arb(float(weight)) * self.logarithm(float(box.rates[j]), float(box.shifts[k]), y)
        return found


def cases(stream: int, number: int = DRAWS, *, largest: float = 1.2) -> Iterator[Case]:
    rng = np.random.default_rng([41, stream])
    for i in range(number):
        size = 12
        rate, shift = 10 ** rng.uniform(-4, -2), 10 ** rng.uniform(-0.8, math.log10(largest))
        rates = rate * 10 ** rng.uniform(0, (0.1, 0.5)[i % 2], size)
        shifts = shift * 10 ** rng.uniform(0, (0.05, 0.2)[i % 2], size)
        tilt, y = float(10 ** rng.uniform(-1, 0.7)), float(np.float32(10 ** rng.uniform(-1, 0.8)))
        yield Case(rates, shifts, list(Direction)[i // 2 % 2], tilt, y)


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [(1, 1), (2, 2), (3, 4), (2, 5)])
def test_what_interpolation_hides_is_bounded(degrees: tuple[int, int]) -> None:
    """The bound holds; without it, the sum over nodes is wrong by more than rounding."""
    ctx.prec = BITS
    seen = []
    for case in cases(1, 2):
        box = Box.of(case.rates, case.shifts**2, degrees)
        for y in (0.0, case.y):
            missed = abs(case.sum_of_steps(y) - case.sum_of_nodes(box, y))
            bound = float(Remainder.of(box.region, case.order).at(np.array([y]), box.degrees)[0])
            assert missed < arb(bound)
            seen.append((float(arb(missed).mid()), bound))
    assert max(missed for missed, _ in seen) > 1e-12
    assert min(bound / missed for missed, bound in seen if missed > 1e-12) < 1e3  # and it is no idle one


def test_expectations_are_bounded_in_the_whole_region() -> None:
    """At corners and inside, against Arb's quadrature."""
    ctx.prec = BITS
    region = Region(0.002, 0.01, 0.25, 0.6, 1)
    for order in (4.5, 1.5, -3.0):
        found = Remainder.of(region, order)
        for rate in (0.002, 0.005, 0.01):
            for square in (0.25, 0.4, 0.6):
                for k in range(MOST_RATES + 1):
                    assert _mean(rate, square, order, k, 0) <= found.ratios[k]
                for m in range(0, found.shares.size, 3):
                    assert _mean(rate, square, order, 0, m) <= found.shares[m]
                assert _mean(rate, square, order - 2, 2, 0, over=0) <= found.second


def test_what_lies_beyond_the_cells_is_bounded() -> None:
    """Most of the mass, where cells end soon."""
    region, order = Region(0.002, 0.002, 0.6, 0.6, 1), 2.0
    whole = Cells.of(region, order, 2 * MOST_RATES)
    ends = whole.logarithms / whole.shift + whole.shift / 2
    count = int(np.searchsorted(ends, order * whole.shift + 0.1)) + 1
    cells = evolve(whole, last=float(ends[count - 1]), logarithms=whole.logarithms[:count], masses=whole.masses[:count])
    for k, found in enumerate(cells.ratios(MOST_RATES)):
        assert _mean(0.002, 0.6, order, k, 0) <= found
    for m, found in enumerate(cells.shares(MOST_RATES)):
        assert _mean(0.002, 0.6, order, 0, m) <= found


def test_the_constant_of_lebesgue_is_bounded() -> None:
    at = np.cos(np.linspace(0.0, math.pi, 20_001))
    for count in range(1, 13):
        nodes = np.cos((2 * np.arange(count) + 1) * math.pi / (2 * count))
        others = [np.delete(nodes, j) for j in range(count)]
        each = [np.prod([(at - x) / (nodes[j] - x) for x in others[j]], axis=0) for j in range(count)]
        most = float(np.max(np.sum(np.abs(each), axis=0))) if count > 1 else 1.0
        assert most * (1 - 1e-9) <= lebesgue(count) < 1.6 * most


def test_weights_of_one_step_are_rounded_too() -> None:
    """Within 200 units each, of |F|, on the exact interpolant of a step that is a node."""
    region = Region(0.004, 0.004, 0.49, 0.49, 1)
    hidden = float(Remainder.of(region, 2.0).at(np.zeros(1), (1, 1))[0])
    assert hidden >= 2 * 200 * UNIT * math.log1p(0.004**2 * math.expm1(0.49))


def _mean(rate: float, square: float, order: float, k: int, m: int, over: int = 1) -> float:
    """E[(|R − 1|/B^over)^k·(qR/B)^m·B^order] by a sum of many terms, less what its step may add."""
    x = np.linspace(-14.0, 14.0 + 8 * max(order, 1.0) * math.sqrt(square), 1 << 13)
    ratio = np.exp(math.sqrt(square) * x - square / 2)
    mixed = 1 - rate + rate * ratio
    values = (np.abs(ratio - 1) / mixed**over) ** k * (rate * ratio / mixed) ** m * mixed**order
    return float(np.sum(values * np.exp(-x * x / 2)) * (x[1] - x[0]) / math.sqrt(2 * math.pi)) * (1 - 1e-6)


def lined(case: Case, copies: int = 40) -> tuple[InterpolatedSteps, Line]:
    """Each step so often, in one box, and their line."""
    rates, shifts = np.tile(case.rates, copies), np.tile(case.shifts, copies)
    box = Box.of(rates, shifts**2, (4, 6))
    steps = InterpolatedSteps((box,), (Tail.of(rates, shifts),), rates.size)
    line = InterpolatedTransform(steps, case.direction).on(case.tilt, reach=4 * case.y, steps=1)
    assert line is not None
    return steps, line


def test_the_line_encloses_moments_and_ratios() -> None:
    ctx.prec = BITS
    for case in cases(2, largest=0.5):
        _, line = lined(case)
        start = case.sum_of_steps(0.0) * 40
        moment = line.log_moment
        assert moment is not None
        assert arb_of(moment.lower) <= start.real <= arb_of(moment.upper)
        here = Logarithms(case.y, 4)
        line.add(1, here)
        for at in (0, 3):
            y = (at + 1) * case.y
            true = case.sum_of_steps(y) * 40 - start - acb(0, 1) * arb(y) * arb_of(line.centre)
            known = math.isfinite(here.phase[at])
            if known:
                assert abs(true - acb(float(here.size[at]), float(here.phase[at]))) <= arb(float(here.error[at]) * 1.5)
            else:
                assert true.real <= arb(float(here.size[at] + here.error[at]))


@frozen(eq=False)
class Known(Line):
    """A node whose logarithms are the same everywhere."""

    size: float
    phase: float
    error: float

    @property
    def log_moment(self) -> Enclosure:
        return Enclosure.of(0)

    @property
    def centre(self) -> Fraction:
        return Fraction(0)

    @property
    def nodes(self) -> int:
        return 1

    def add(self, times: int, to: Logarithms) -> None:
        to.size += times * self.size
        to.phase += times * self.phase
        to.error += times * self.error

    def estimate(self, y: float) -> float:
        return 0.0

    def tail(self, y: float, wanted: float) -> float:
        return 0.0


def test_sums_hide_what_their_nodes_do_and_their_own_rounding() -> None:
    """The weights count in both, and so does what is in the sums already."""
    case = next(cases(2, 1, largest=0.5))
    _, line = lined(case)
    assert isinstance(line, _InterpolatedLine)
    weights, parts = (40.0, -3.0), (Known(-0.5, 0.25, 1e-3), Known(-0.25, 0.5, 2e-3))
    object.__setattr__(line, "parts", tuple(zip(weights, parts, strict=True)))
    before = Logarithms(case.y / 64, 3)
    line.add(1, before)
    assert before.phase == pytest.approx([40 * 0.25 - 3 * 0.5] * 3)
    assert before.size == pytest.approx([-40 * 0.5 + 3 * 0.25] * 3)
    assert np.all(before.error >= 40 * 1e-3 + 3 * 2e-3)
    for sums in ("size", "phase"):
        after = Logarithms(case.y / 64, 3)
        getattr(after, sums)[:] = 1e12
        line.add(1, after)
        assert np.all(after.error - before.error >= 1e12 * UNIT), sums


def test_tails_bound_the_ratio() -> None:
    ctx.prec = BITS
    for case in cases(3, largest=0.5):
        _, line = lined(case)
        start = case.sum_of_steps(0.0) * 40
        bound = line.tail(case.y, 0.9 * line.estimate(case.y))
        assert bound <= 0
        for y in (case.y, 1.7 * case.y, 3.9 * case.y):
            assert (case.sum_of_steps(y) * 40 - start).real <= arb(bound) + arb(2) ** -40


def test_a_part_of_each_step_has_the_law_of_another() -> None:
    """The density of a step's log-odds is at least κ times that of the other, pointwise."""
    rng = np.random.default_rng(5)
    for order in (3.0, 12.0, -2.0):
        rates, shifts = 0.01 * np.exp(rng.uniform(0, 0.2, 5)), 0.7 * np.exp(rng.uniform(0, 0.2, 5))
        w = np.linspace(-14.0, 6.0, 4001)

        def density(rate: float, shift: float, order: float = order, w: Floats = w) -> Floats:
            middle = math.log(rate / (1 - rate)) - shift**2 / 2
            found = np.exp(-((w - middle) ** 2) / (2 * shift**2)) * (1 + np.exp(w)) ** order
            return np.asarray(found / np.sum(found))

        alone = [Tail.of(rates[[i]], shifts[[i]]) for i in range(5)]
        for i, tail in enumerate(alone):
            share = tail.share_at(order)
            assert 0 < share < 1
            assert np.all(density(rates[i], shifts[i]) >= share * density(tail.rate, tail.shift) * (1 - 1e-6))
        assert Tail.of(rates, shifts).share > 0.2 * 5


def test_the_parts_of_several_steps_are_the_least_ratios_of_their_densities() -> None:
    """Of the log-odds before tilting, which are normal; on a grid, which finds least ratios a little too large."""
    rng = np.random.default_rng(6)
    w = np.linspace(-30.0, 20.0, 200_001)
    for spread in (0.3, 0.8, 1.6):
        rates, shifts = 0.01 * np.exp(rng.uniform(0, spread, 6)), 0.7 * np.exp(rng.uniform(0, spread / 8, 6))
        tail = Tail.of(rates, shifts)

        def logarithm(rate: float, shift: float) -> Floats:
            away = w - math.log(rate / (1 - rate)) + shift**2 / 2
            return np.asarray(-away * away / (2 * shift**2) - math.log(shift))

        other = logarithm(tail.rate, tail.shift)
        least = [math.exp(float(np.min(logarithm(*each) - other))) for each in zip(rates, shifts, strict=True)]
        assert 0.999 * sum(least) < tail.share <= sum(least)
    assert min(least) < 0.5 * max(least)  # their middles are apart


def test_what_loses_most_is_put_first() -> None:
    rates, shifts = np.array([1e-3, 1e-2, 1e-4, 1e-2]), np.array([0.3, 0.3, 0.3, 2.0])
    assert [one.tolist() for one in _binned(rates, shifts, (0.4, 0.2))] == [[3], [1], [0], [2]]


@pytest.mark.parametrize("direction", Direction)
def test_answers_are_those_of_the_steps_one_by_one(direction: Direction) -> None:
    """Few different steps, each repeated: the exact composition has an enclosure of its own."""
    rates, shifts = np.linspace(0.002, 0.004, 7), np.linspace(0.6, 0.3, 7)
    steps = InterpolatedSteps.of(np.repeat(rates, 3000), np.repeat(shifts, 3000), nodes=512)
    assert steps is not None
    known = [
        (SampledGaussianTransform(Enclosure.of(q, precision=53), Enclosure.of(s, precision=53), direction), 3000)
        for q, s in zip(rates.tolist(), shifts.tolist(), strict=True)
    ]
    own = [(InterpolatedTransform(steps, direction), 1)]
    delta, epsilon = Enclosure.of("1e-4"), Enclosure.of("0.3")
    for by, asked in ((epsilon_by_transforms, delta), (delta_by_transforms, epsilon)):
        exactly, found = by(known, asked), by(own, asked)
        assert exactly is not None
        assert found is not None
        assert found.lower <= exactly.upper
        assert exactly.lower <= found.upper
        assert found.width <= Fraction(1, 1000) * found.upper
        assert exactly.width < found.width  # else nothing was interpolated


@pytest.mark.parametrize(("least", "most"), [(1.0, 2.0), (0.8, 1.2)])
def test_rare_large_losses_are_told(least: float, most: float) -> None:
    """Of many equal steps in each place, whose exact composition has an enclosure of its own."""
    rates, shifts = np.linspace(0.001, 0.004, 9), 1 / np.linspace(least, most, 9)
    steps = InterpolatedSteps.of(np.repeat(rates, 1111), np.repeat(shifts, 1111), nodes=1024)
    assert steps is not None
    known = [
        (SampledGaussianTransform(Enclosure.of(q, precision=53), Enclosure.of(s, precision=53), Direction.REMOVE), 1111)
        for q, s in zip(rates.tolist(), shifts.tolist(), strict=True)
    ]
    delta = Enclosure.of("1e-6")
    exactly, found = (
        epsilon_by_transforms(parts, delta) for parts in (known, [(InterpolatedTransform(steps, Direction.REMOVE), 1)])
    )
    assert exactly is not None
    assert found is not None
    assert found.lower <= exactly.upper
    assert exactly.lower <= found.upper
    assert found.width <= Fraction(1, 1000) * found.upper


def composed(rates: Floats, shifts: Floats, times: int, direction: Direction) -> list[tuple[Transform, int]]:
    """Each step so often, one by one."""
    return [
        (SampledGaussianTransform(Enclosure.of(q, precision=53), Enclosure.of(s, precision=53), direction), times)
        for q, s in zip(rates.tolist(), shifts.tolist(), strict=True)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_steps_that_no_box_tells_are_kept(seed: int) -> None:
    """Those of large losses one by one, beside boxes of many small ones; their exact composition is another way."""
    rng = np.random.default_rng([43, seed])
    rates = 10 ** rng.uniform(-3, (-2.5, -2.0, -0.5)[seed], 12)
    shifts = rng.uniform(0.8, (1.2, 1.0, 2.0)[seed], 12)
    many = np.linspace(0.001, 0.004, 5), np.linspace(0.5, 0.25, 5)
    steps = InterpolatedSteps.of(
        np.concatenate([rates, np.repeat(many[0], 200)]), np.concatenate([shifts, np.repeat(many[1], 200)]), nodes=300
    )
    assert steps is not None
    assert steps.kept is not None
    assert steps.boxes
    assert steps.kept.times.sum() + sum(box.region.count for box in steps.boxes) == steps.count
    direction = Direction.REMOVE
    known = composed(rates, shifts, 1, direction) + composed(*many, 200, direction)
    delta = Enclosure.of("1e-5")
    exactly, found = (
        epsilon_by_transforms(parts, delta) for parts in (known, [(InterpolatedTransform(steps, direction), 1)])
    )
    assert exactly is not None
    assert found is not None
    assert found.lower <= exactly.upper
    assert exactly.lower <= found.upper
    assert found.width <= Fraction(1, 1000) * found.upper


def test_kept_steps_lie_between_their_shifts() -> None:
    """Steps at the lower ends lose less, those at the upper ends more; equal ones are counted."""
    rates, low = np.array([0.01, 0.02, 0.05]), np.array([0.5, 0.7, 0.9])
    high = low * 1.01  # as if shifts were that uncertain
    kept = Kept.of(*(np.tile(column, 10) for column in (rates, low, high)))
    assert kept.times.tolist() == [10, 10, 10]
    steps = InterpolatedSteps((), (Tail.of(np.tile(rates, 10), np.tile(high, 10)),), 30, kept)
    delta = Enclosure.of("1e-3")
    found = epsilon_by_transforms([(InterpolatedTransform(steps, Direction.REMOVE), 1)], delta)
    ends = [epsilon_by_transforms(composed(rates, shifts, 10, Direction.REMOVE), delta) for shifts in (low, high)]
    assert found is not None
    for end, bound in zip(ends, (found.lower, found.upper), strict=True):
        assert end is not None
        assert abs(bound - end.midpoint) <= Fraction(1, 10**5) * end.upper


def test_kept_steps_are_told_apart_by_what_is_known_of_them() -> None:
    """Steps next to each other whose |φ| alone is known leave the others' errors finite."""
    steps = InterpolatedSteps(
        (), (Tail.of(np.array([0.4]), np.array([3.0])),), 1, Kept.of(*np.array([[0.4], [3.0], [3.0]]))
    )
    line = InterpolatedTransform(steps, Direction.REMOVE).on(8.0, reach=64.0, steps=1)
    assert line is not None
    here = Logarithms(1.0, 64)
    line.add(1, here)
    assert np.all(np.isfinite(here.error))
    assert np.any(np.isinf(here.phase))
    assert np.any(np.isfinite(here.phase))


def test_one_step_out_of_range_is_enough_to_be_refused() -> None:
    rates, shifts = np.full(10_000, 1e-3), np.full(10_000, 0.3)
    assert InterpolatedSteps.of(rates, shifts, nodes=1024) is not None
    for column, other in ((rates, 0.6), (rates, 1e-10), (shifts, 6.0), (shifts, 9e-4)):
        kept, column[-1] = column[-1], other
        assert InterpolatedSteps.of(rates, shifts, nodes=1 << 20) is None, other
        column[-1] = kept


def test_how_far_moments_are_from_one() -> None:
    """At r = 2, E[B²] − 1 = q²·(e^t − 1); elsewhere against Arb."""
    ctx.prec = BITS
    region = Region(0.004, 0.004, 0.49, 0.49, 1)
    moved, by_rate, _ = Remainder.of(region, 2.0)._coefficients(np.zeros(1), 2, 2)
    true = 0.004**2 * math.expm1(0.49)
    assert true <= moved[0] < 1.2 * true
    slope = 2 * true / 0.004 / (1 - float(moved[0]))  # of log M, where |M| may be as small as 1 − |M − 1|
    assert slope <= by_rate[0] < 1.2 * slope
    for tilt, y, direction in ((3.0, 2.0, Direction.REMOVE), (6.0, 0.0, Direction.REMOVE), (5.0, 4.0, Direction.ADD)):
        order = tilt + 1 if direction is Direction.REMOVE else -tilt
        bound = Remainder.of(region, order)._coefficients(np.array([y]), 2, 2)[0][0]
        assert abs(sampled_gaussian_moment(0.004, 0.7, direction, tilt, y) - 1) <= arb(float(bound))


def test_where_moments_may_be_far_from_one_derivatives_allow_for_it() -> None:
    region = Region(0.05, 0.05, 1.0, 1.0, 1)
    moved, by_rate, _ = Remainder.of(region, 4.0)._coefficients(np.zeros(1), 3, 2)
    assert 0.03 < moved[0] < 0.25
    assert by_rate[0] * (1 - moved[0]) * 0.05 / 2 == pytest.approx(float(moved[0]), rel=1e-4)


def test_a_region_holds_squares_that_are_off_by_their_rounding() -> None:
    region = Region.around(np.array([0.1, 0.2]), np.array([0.3, 0.5]))
    off = 16 * 2.0**-53
    assert region.low_square <= 0.3 * (1 - off)
    assert region.high_square >= 0.5 * (1 + off)
    assert (region.low_rate, region.high_rate, region.count) == (0.1, 0.2, 2)


def test_as_many_nodes_are_enough_as_bring_the_bound_down() -> None:
    region = Region(0.002, 0.004, 0.2, 0.4, 1)
    remainder, y = Remainder.of(region, 3.0), np.array([0.0, 5.0])
    wanted = np.full(2, 1e-11)
    first, second = remainder.enough(y, wanted)
    assert first is not None
    assert second is not None
    assert first > 1 < second
    assert np.all(remainder.at(y, (first, second)) < 1.1 * wanted)
    assert np.any(remainder.at(y, (first - 1, second)) > wanted / 2)
    assert np.any(remainder.at(y, (first, second - 1)) > wanted / 6)
    assert remainder.enough(y, np.array([1.0, 1e-300])) == (None, None)
    assert Remainder.of(region, 60.0).enough(np.array([200.0]), np.ones(1)) == (None, None)


def test_cells_bound_every_mass() -> None:
    """The cells' masses add up to one and a little, and each is at least its own."""
    cells = Cells.of(Region(0.01, 0.01, 0.49, 0.49, 1), 3.0, 4)
    masses = np.exp(cells.masses)
    ends = cells.logarithms / cells.shift + cells.shift / 2
    assert 1 <= masses.sum() < 1.05
    for left, right, mass in zip(ends[:-1], ends[1:], masses[1:], strict=True):
        assert math.erf(right / math.sqrt(2)) - math.erf(left / math.sqrt(2)) <= 2 * mass * (1 + 1e-12) + 1e-15
    assert ends[0] < -10
    assert ends[-1] > 10


def test_no_more_nodes_are_taken_than_admitted() -> None:
    rates, shifts = np.linspace(1e-3, 4e-3, 3000), np.linspace(0.5, 0.2, 3000)
    steps = InterpolatedSteps.of(rates, shifts, nodes=1000)
    assert steps is not None
    used = sum(box.weights.size for box in steps.boxes)
    assert len(steps.nodes) == used
    assert steps.kept is None
    assert sum(box.region.count for box in steps.boxes) == steps.count == 3000
    again = InterpolatedSteps.of(rates, shifts, nodes=used)
    assert again is not None
    assert len(again.nodes) == used
    fewer = InterpolatedSteps.of(rates, shifts, nodes=used - 1)  # which promise less
    assert fewer is not None
    assert len(fewer.nodes) < used
    assert InterpolatedSteps.of(rates, shifts, nodes=len(fewer.nodes) - 1) is None
    for tail in steps.tails:
        assert tail.region.low_rate / 2 < tail.rate < 2 * tail.region.high_rate
        assert 0.5 < tail.shift**2 / tail.region.low_square < 1


def test_accuracy_is_asked_for_where_the_epsilon_of_a_small_delta_is_told() -> None:
    """Of equal Gaussian-like steps: c·m′ − m = 12, and the variance of all."""
    rates, shifts = np.full(10_000, 0.001), np.full(10_000, 0.3)
    tilt, variance = _matters(rates, shifts)
    total = 10_000 * 0.001**2 * math.expm1(0.09)
    assert tilt == pytest.approx(math.sqrt(2 * 12 / total), rel=0.1)
    assert variance == pytest.approx(total, rel=0.05)


def test_lines_on_which_the_logarithm_may_turn_are_not_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """|y|·|m| stays below a limit at every node, up to the reach: beyond it the principal logarithm may be another."""
    _, given_line = lined(next(cases(2, 1, largest=0.5)))
    assert isinstance(given_line, _InterpolatedLine)
    parts = given_line.parts
    assert parts is not None
    most = max(abs(float(line.centre)) for _, line in parts)
    assert most * given_line.reach < module._LARGEST_PHASE <= 2
    for limit, known in ((1.01, True), (0.99, False)):
        monkeypatch.setattr(module, "_LARGEST_PHASE", limit * most * given_line.reach)
        assert (evolve(given_line).parts is not None) is known


def test_a_tail_is_the_sum_of_what_its_bins_lose() -> None:
    for case in cases(3, largest=0.5):
        _, line = lined(case)
        assert isinstance(line, _InterpolatedLine)
        each = [factor * np.expm1(one.tail(case.y, 0.97 * one.estimate(case.y))) for factor, one in line.tails]
        assert line.tail(case.y, 10 * line.estimate(case.y)) == pytest.approx(
            sum(min(loss, 0.0) for loss in each), rel=1e-4
        )


def test_sums_of_tails_hide_their_own_rounding() -> None:
    """Far out, where what is in the sums already is as large and of the other sign."""
    _, known = lined(next(cases(2, 1, largest=0.5)))
    assert isinstance(known, _InterpolatedLine)
    line = evolve(known, tails=((1e6, Known(-50.0, 0.0, 0.0)),))
    object.__setattr__(line, "parts", None)
    here = Logarithms(1.0, 3)
    here.size[:] = 1e6
    line.add(1, here)
    assert np.all(np.abs(here.size) < 1e4)
    assert np.all(here.error >= 1e6 * UNIT)
    assert np.all(np.isinf(here.phase))
