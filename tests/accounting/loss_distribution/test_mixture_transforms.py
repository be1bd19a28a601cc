"""Moments of mixtures of normal laws against Arb's certified quadrature, δ of one release, and lattices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from attrs import frozen
from flint import acb, arb, ctx

from certdp.accounting._kernels import mixture_moments as kernels
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution.inversion import delta_by_transforms, epsilon_by_transforms
from certdp.accounting.loss_distribution.lattice import epsilon_by_lattice
from certdp.accounting.loss_distribution.mixture_transforms import (
    BetweenTransforms,
    MixtureTransform,
    group_transform,
    symmetrised_transform,
)
from certdp.accounting.loss_distribution.transforms import GaussianTransform, Logarithms, NodeLine, Transform
from certdp.accounting.pairs import GaussianGroup, GaussianPair, Pair, SampledGaussian, Symmetrised
from certdp.accounting.pairs.gaussian_group import group_weights
from certdp.accounting.relations import Direction
from tests.support.arb_moments import Changes, mixture_moment
from tests.support.arb_numbers import arb_of

BITS = 160
DRAWS = 16
DELTA = Enclosure.of("1e-5")


@frozen
class Case:
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

    def ratio(self, y: float, centre: Fraction) -> acb:
        """M(c + iy)·e^(−iym)/M(c)."""
        turn = arb(y) * arb_of(centre)
        return self.moment(y) / self.moment(0.0) * acb(turn.cos(), -turn.sin())


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
        line = case.line()
        values = Logarithms(case.y, 1)
        line.add(1, values)
        true = case.ratio(case.y, line.centre)
        size, phase, error = float(values.size[0]), float(values.phase[0]), float(values.error[0])
        if math.isinf(phase):
            assert abs(true) <= arb(size + error).exp(), case
            continue
        assert abs((true / acb(arb(size), arb(phase)).exp()).log()) <= arb(error), case
        narrow += error < 1e-9
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


@pytest.mark.parametrize(
    "pair",
    [
        GaussianGroup(Enclosure.of(1), Enclosure.of("0.1"), 3, mirrored=False),
        GaussianGroup(Enclosure.of("0.5"), Enclosure.of("0.3"), 1, mirrored=True),
        GaussianGroup(Enclosure.of(1), Enclosure.of("0.9"), 2, mirrored=True),
        Symmetrised(SampledGaussian(Enclosure.of(2), Enclosure.of("0.9"))),
    ],
    ids=["added", "replaced", "two replaced", "symmetrised"],
)
def test_one_release_has_its_curve(pair: Pair) -> None:
    """That where the densities cross: another way to the same δ. Nearly discrete losses of one release are not told."""
    told = 0
    for direction in Direction:
        transform, law = pair.loss_transform, pair.delta
        assert transform is not None
        assert law is not None
        for level in map(Enclosure.of, ("0", "0.01", "0.5", "2")):
            found, true = delta_by_transforms([(transform(direction), 1)], level), law(level, direction)
            if found is not None:
                told += 1
                assert found.lower <= true.upper, level
                assert true.lower <= found.upper, level
    assert told >= 4


@pytest.mark.parametrize(
    ("pair", "times"),
    [
        (GaussianGroup(Enclosure.of(1), Enclosure.of("0.01"), 1, mirrored=True), 300),
        (GaussianGroup(Enclosure.of(1), Enclosure.of("0.01"), 4, mirrored=False), 100),
        (GaussianGroup(Enclosure.of("0.5"), Enclosure.of("0.1"), 2, mirrored=True), 30),
    ],
    ids=["replaced", "four", "two replaced"],
)
def test_a_lattice_s_composition_holds_what_is_found_and_is_wider(pair: GaussianGroup, times: int) -> None:
    for direction in Direction:
        found = epsilon_by_transforms([(pair.loss_transform(direction), times)], DELTA)
        assert found is not None
        other = epsilon_by_lattice([(pair.loss_cells(direction), times)], DELTA)
        assert other.lower <= found.lower <= found.upper <= other.upper
        assert found.width <= Fraction(1, 10**8) * found.upper


def test_symmetrised_samples_lie_below_their_lattice_and_next_to_it() -> None:
    pair = Symmetrised(SampledGaussian(Enclosure.of(2), Enclosure.of("0.01")))
    assert pair.loss_transform is not None
    assert pair.loss_cells is not None
    found = epsilon_by_transforms([(pair.loss_transform(Direction.ADD), 300)], DELTA)
    assert found is not None
    other = epsilon_by_lattice([(pair.loss_cells(Direction.ADD), 300)], DELTA).upper
    assert found.upper <= other <= found.upper * Fraction(1001, 1000)
    assert found.width <= Fraction(1, 10**8) * found.upper


def test_parameters_that_are_enclosures_lie_between_their_ends() -> None:
    rate, shift = Enclosure.between("0.01", "0.011"), Enclosure.between(1, "1.1")
    wide = group_transform(shift, rate, 2, mirrored=True, swapped=False)
    assert isinstance(wide, BetweenTransforms)
    assert wide.on(1.0, reach=1.0, steps=1) is None
    found = epsilon_by_transforms([(wide, 100)], DELTA)
    assert found is not None
    ends = []
    for q, s in ((rate.lower, shift.lower), (rate.upper, shift.upper)):
        one = group_transform(Enclosure.of(s), Enclosure.of(q), 2, mirrored=True, swapped=False)
        value = epsilon_by_transforms([(one, 100)], DELTA)
        assert value is not None
        ends.append(value)
    slack = 1 + Fraction(1, 10**8)
    assert found.lower <= ends[0].upper < ends[1].lower <= found.upper
    assert found.upper <= ends[1].upper * slack
    assert ends[0].lower <= found.lower * slack


def test_multiples_of_a_shift_are_exact() -> None:
    """A shift of 53 digits is kept in fewer, on both sides of it, so that 64 records move the output by 64 of it."""
    shift = Enclosure.of(0.1)
    found = group_transform(shift, Enclosure.of(0.01), 64, mirrored=False, swapped=False)
    assert isinstance(found, BetweenTransforms)
    for end, above in ((found.low, False), (found.high, True)):
        assert isinstance(end, MixtureTransform)
        centres = [Fraction(centre) for _, centre in end.present]
        assert all(centre == j * centres[1] for j, centre in enumerate(centres))
        assert (centres[1] > shift.lower) is above
        assert abs(centres[1] / shift.lower - 1) < Fraction(1, 2**45)


def test_weights_next_to_nothing_go_to_more_records_above_and_to_fewer_below() -> None:
    rare = Enclosure.between(Fraction(1, 2**900), Fraction(1, 2**899))
    found = group_transform(Enclosure.of(1), rare, 2, mirrored=False, swapped=False)
    assert isinstance(found, BetweenTransforms)
    low, high = found.ends
    assert low.null
    assert isinstance(high, MixtureTransform)
    assert [centre for _, centre in high.present] == [0.0, 2.0]
    assert high.present[1][0] == float(Fraction(1, 10**250))
    near = Enclosure.between(1 - Fraction(1, 2**50), 1 - Fraction(1, 2**51))
    found = group_transform(Enclosure.of(1), near, 40, mirrored=False, swapped=True)
    low, high = found.ends
    assert isinstance(low, MixtureTransform)
    assert isinstance(high, MixtureTransform)
    assert low.present[0] == (float(Fraction(1, 10**250)), 0.0)
    assert high.present[0][1] > 0
    assert high.largest is None
    for mixture in (low.present, high.present):
        assert abs(math.fsum(weight for weight, _ in mixture) - 1) < 1e-15


def test_what_is_drawn_always_or_never() -> None:
    one = Enclosure.of(1)
    for mirrored, times in ((False, 3), (True, 6)):
        found = group_transform(Enclosure.of("0.5"), one, 3, mirrored=mirrored, swapped=False)
        assert isinstance(found, GaussianTransform)
        assert found.variance.lower == found.variance.upper == Fraction(times**2, 4)
    assert symmetrised_transform(one, Enclosure.of(2)).ends == GaussianTransform(Enclosure.of(4)).ends
    assert group_transform(Enclosure.of(0), one, 3, mirrored=True, swapped=False).null
    assert symmetrised_transform(Enclosure.of(0), one).null


def test_suprema_of_added_records() -> None:
    found = group_transform(Enclosure.of(1), Enclosure.of("0.25"), 3, mirrored=False, swapped=True).largest
    assert found is not None
    true = -Enclosure.of("0.75").log() * 3
    assert found.lower <= true.lower <= true.upper <= found.upper
    assert found.width < Fraction(1, 10**14)
    assert group_transform(Enclosure.of(1), Enclosure.of("0.25"), 3, mirrored=True, swapped=False).largest is None


def test_beyond_its_reach_there_is_no_line() -> None:
    far = group_transform(Enclosure.of(2048), Enclosure.of("0.25"), 1, mirrored=True, swapped=False)
    assert far.on(1.0, reach=1.0, steps=1) is None
    assert math.isnan(far.estimate(1.0)[0])
    near = group_transform(Enclosure.of(1), Enclosure.of("0.25"), 1, mirrored=True, swapped=False)
    assert near.on(1e4, reach=1.0, steps=1) is None
    assert near.on(1.0, reach=1e9, steps=1) is None


def test_gauss_s_nodes_and_weights_are_right_to_their_units() -> None:
    ctx.prec = BITS
    unit = arb(2) ** -53
    nodes, weights = kernels.GAUSS_NODES, kernels.GAUSS_WEIGHTS
    for k, (node, weight) in enumerate(zip(nodes.tolist(), weights.tolist(), strict=True)):
        true_node, true_weight = arb.legendre_p_root(kernels.NODES, kernels.NODES - 1 - k, weight=True)
        assert abs(true_node - node) <= 4 * unit
        assert abs(true_weight / weight - 1) <= 80 * unit


def test_a_dominating_normal_pair_stays_above() -> None:
    """Replacing k records of a sample is never worse than of the whole."""
    group = GaussianGroup(Enclosure.of("0.25"), Enclosure.of("0.5"), 2, mirrored=True)
    whole = GaussianPair(group.gaussian)
    found = epsilon_by_transforms([(group.loss_transform(Direction.REMOVE), 10)], DELTA)
    most = epsilon_by_transforms([(whole.loss_transform(Direction.REMOVE), 10)], DELTA)
    assert found is not None
    assert most is not None
    assert found.upper < most.lower
