"""Moments of mixtures of normal laws against Arb's certified quadrature."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from attrs import evolve, frozen
from flint import acb, arb, ctx

from certdp.accounting._kernels import mixture_moments as kernels
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution.mixture_transforms import (
    MixtureTransform,
    group_transform,
    symmetrised_transform,
)
from certdp.accounting.loss_distribution.transforms import Logarithms, NodeLine, Transform
from certdp.accounting.pairs.gaussian_group import group_weights
from tests.support.arb_moments import Changes, Moments, mixture_moment, value_within_its_error
from tests.support.arb_numbers import arb_of

BITS = 160
DRAWS = 16
DELTA = Enclosure.of("1e-5")


@frozen
class Case(Moments):
    """A group, or one record of a symmetrised sample, a line c + iy and a point on it; the shift has few digits."""

    change: Changes
    rate: float
    shift: float
    size: int
    tilt: float
    y: float

    @property
    def transform(self) -> MixtureTransform:
        rate, shift = Enclosure.of(self.rate), Enclosure.of(self.shift)
        found: Transform
        if self.change is Changes.SYMMETRISED:
            found = symmetrised_transform(rate, shift)
        else:
            mirrored, swapped = self.change is Changes.REPLACED, self.change is Changes.ADDED
            found = group_transform(shift, rate, self.size, mirrored=mirrored, swapped=swapped)
        assert isinstance(found, MixtureTransform), self
        return found

    def line(self, *, reach: float | None = None, steps: int = 1) -> NodeLine:
        found = self.transform.on(self.tilt, reach=self.y if reach is None else reach, steps=steps)
        assert isinstance(found, NodeLine), self
        return found

    def moment(self, y: float) -> acb:
        """M(c + iy)."""
        weights = group_weights(Fraction(self.rate), self.size)
        mixture = [(weight, j * self.shift) for j, weight in enumerate(weights)]
        return mixture_moment(mixture, self.change, self.tilt, y)


def cases(stream: int, number: int = DRAWS) -> Iterator[Case]:
    rng = np.random.default_rng([41, stream])
    for i in range(number):
        change = list(Changes)[i % 4]
        size = 1 if change is Changes.SYMMETRISED else int(rng.choice([1, 2, 3, 8]))
        shift = float(np.float32(10 ** rng.uniform(-1.3, 0.5)))
        tilt = float(10 ** rng.uniform(-1, 1)) / max(1.0, shift)
        y = float(np.float32(10 ** rng.uniform(-1, 1.3))) / max(1.0, size * shift)
        yield Case(change, float(10 ** rng.uniform(-5, -0.05)), shift, size, tilt, y)


def test_log_moments_are_enclosed_and_tight(stream: int) -> None:
    ctx.prec = BITS
    for case in cases(stream):
        found = case.line().log_moment
        assert found is not None
        true = case.moment(0.0).real.log()
        assert arb_of(found.lower) <= true <= arb_of(found.upper), case
        assert found.width <= Fraction(10) ** -11 * (1 + found.upper), case


def test_logarithms_of_the_ratio_lie_within_their_errors(stream: int) -> None:
    """And are tight: most errors are below a billionth."""
    ctx.prec = BITS
    narrow = 0
    for case in cases(stream):
        found = value_within_its_error(case.line(), case, case.y)
        narrow += found is not None and found[1] < 1e-9
    assert narrow >= DRAWS // 2


def test_lower_octaves_have_lines_of_their_own(stream: int) -> None:
    ctx.prec = BITS
    for case in cases(stream, 4):
        count = 130
        values = Logarithms(case.y / count, count)
        line = case.line(reach=case.y)
        line.add(1, values)
        for k in (0, 40, 64, 65, 129):
            true = case.ratio((k + 1) * values.step, line.centre)
            if values.phase[k] < math.inf:
                found = acb(arb(float(values.size[k])), arb(float(values.phase[k]))).exp()
                assert abs((true / found).log()) <= arb(float(values.error[k])), case


def test_powers_are_those_of_one_release(stream: int) -> None:
    ctx.prec = BITS
    for case in cases(stream, 4):
        times = 10**6
        reach = case.y / 1000
        line = case.line(reach=reach, steps=times)
        values = Logarithms(reach, 1)
        line.add(times, values)
        true = case.ratio(reach, line.centre).log() * times
        assert abs(acb(arb(float(values.size[0])), arb(float(values.phase[0]))) - true) <= arb(float(values.error[0]))
        assert values.error[0] < 1e-4, case


def test_tails_and_variations_hold_beyond(stream: int) -> None:
    ctx.prec = BITS
    proven = 0
    for case in cases(stream, 8):
        line = case.line()
        bound = line.tail(case.y, line.estimate(case.y) / 2)
        assert bound <= 0
        proven += bound < 0
        below, height = line.variation()
        for further in (1.0, 1.3, 2.9, 11.0, 47.0):
            y = case.y * further
            size = abs(case.ratio(y, line.centre))
            assert size <= arb(bound).exp() * (1 + arb(2) ** -80), case
            assert size <= float(np.min(below + height / y)) * (1 + 1e-12), case
    assert proven


def test_lifted_lines_bound_every_value_beyond_and_some_height_is_near(stream: int) -> None:
    """But where the terms end at a point, or meet at one: there the line cannot be lifted."""
    ctx.prec = BITS
    small = near = 0
    for drawn in cases(stream, 8):
        case = evolve(drawn, y=float(np.float32(3 / drawn.line().deviation)))
        line = case.line()
        size = abs(case.ratio(case.y, line.centre))
        level = max(-2 * float(size.log().mid()), 1e-6) ** 0.5
        bounds = [line.lifted(case.y, share * level) for share in (0.2, 0.5, 0.8, 1.0, 1e9)]
        if case.change is Changes.SYMMETRISED:
            assert bounds == [math.inf] * 5
            continue
        for further in (1.0, 1.3, 2.9):
            true = abs(case.ratio(case.y * further, line.centre)).lower()
            assert all(true <= bound for bound in bounds), case
        small += level > 1
        near += level > 1 and min(bounds) ** 1.4 < size
    assert near >= small // 2


def test_a_line_is_lifted_as_far_as_centres_let_it() -> None:
    """What is asked of a kernel's height is what a line asks: near half a turn of the farthest centre nothing holds."""
    case = Case(Changes.REMOVED, 0.3, 1.0, 1, 1.0, 4.0)
    line = case.line()
    highest = line.lifted(case.y, 1e9)
    assert line.lifted(case.y, 2.95) == highest
    assert highest > 1 > line.lifted(case.y, 1.0)


def test_variations_tell_far_out(stream: int) -> None:
    """A small part of what is left of |φ| far out is told at last, so that tails end somewhere."""
    for case in cases(stream):
        line = case.line()
        below, height = line.variation()
        spread = line.deviation
        assert float(np.min(below + height / (1e4 / spread))) < 0.9, case


def test_deviations_are_bounded_next_to_what_they_are(stream: int) -> None:
    ctx.prec = BITS
    for case in cases(stream, 8):
        line = case.line()
        step = 1e-3 / line.deviation
        values = case.ratio(step, line.centre)
        variance = float((-2 * abs(values).log() / arb(step) ** 2).mid())  # next to it, up to the fourth cumulant
        assert 0.99 * variance <= line.deviation**2 <= 2 * variance, case


def test_estimates_are_near_moments_and_their_derivatives(stream: int) -> None:
    ctx.prec = BITS
    for case in cases(stream, 8):
        here, near = case.transform.estimate(case.tilt), case.transform.estimate(case.tilt * (1 + 1e-4))
        assert abs(here[0] - float(case.moment(0.0).real.log().mid())) <= 1e-8 * (1 + here[0])
        step = case.tilt * 1e-4
        assert abs((near[1] - here[1]) / step - here[2]) <= 1e-2 * here[2]


def test_gauss_s_nodes_and_weights_are_right_to_their_units() -> None:
    ctx.prec = BITS
    unit = arb(2) ** -53
    nodes, weights = kernels.GAUSS_NODES, kernels.GAUSS_WEIGHTS
    for k, (node, weight) in enumerate(zip(nodes.tolist(), weights.tolist(), strict=True)):
        true_node, true_weight = arb.legendre_p_root(kernels.NODES, kernels.NODES - 1 - k, weight=True)
        assert abs(true_node - node) <= 4 * unit
        assert abs(true_weight / weight - 1) <= 80 * unit
