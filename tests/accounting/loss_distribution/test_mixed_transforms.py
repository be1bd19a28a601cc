"""Moments where public chance decides which law a release has, against Arb's certified quadrature."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from attrs import frozen
from flint import acb, arb, ctx

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution.inversion import delta_by_transforms, epsilon_by_transforms
from certdp.accounting.loss_distribution.lattice import epsilon_by_lattice
from certdp.accounting.loss_distribution.mixed_transforms import MixedTransform
from certdp.accounting.loss_distribution.transforms import (
    GaussianTransform,
    Line,
    Logarithms,
    SampledGaussianTransform,
    Transform,
    exact_point,
)
from certdp.accounting.pairs import GaussianPair, PublicChance, SampledGaussian
from certdp.accounting.relations import Direction
from tests.support.arb_moments import Moments, sampled_gaussian_moment, value_within_its_error
from tests.support.arb_numbers import arb_of

BITS = 160
DRAWS = 12
DELTA = Enclosure.of("1e-5")


@frozen
class Case(Moments):
    """Sampled Gaussians and their chances, a line c + iy and a point on it."""

    parts: tuple[tuple[Fraction, float, float], ...]
    direction: Direction
    tilt: float
    y: float

    @property
    def transform(self) -> MixedTransform:
        def part(rate: float, shift: float) -> Transform:
            if rate == 1:
                return GaussianTransform(exact_point(Fraction(shift) ** 2))
            return SampledGaussianTransform(Enclosure.of(rate), Enclosure.of(shift), self.direction)

        return MixedTransform(tuple((Enclosure.of(chance), part(rate, shift)) for chance, rate, shift in self.parts))

    def moment(self, y: float) -> acb:
        """M(c + iy)."""
        return sum((arb_of(chance) * self._moment(y, rate, shift) for chance, rate, shift in self.parts), acb(0))

    def _moment(self, y: float, rate: float, shift: float) -> acb:
        if rate == 1:
            z = acb(arb(self.tilt), arb(y))
            return acb((z * (z + 1) * acb(shift) ** 2 / 2).exp())
        return sampled_gaussian_moment(rate, shift, self.direction, self.tilt, y)


def cases(stream: int, number: int = DRAWS) -> Iterator[Case]:
    """Two or three random parts, one of them rare."""
    rng = np.random.default_rng([37, stream])
    for i in range(number):
        rare = Fraction(2) ** -int(rng.integers(1, 40))
        chances = (1 - rare, rare) if i % 3 else (1 - rare, rare / 4, rare * Fraction(3, 4))
        parts = [(chance, float(10 ** rng.uniform(-5, -0.01)), float(10 ** rng.uniform(-1, 0.4))) for chance in chances]
        if i % 4 == 0:
            parts[-1] = (chances[-1], 1.0, parts[-1][2])
        tilt, y = float(10 ** rng.uniform(-1, 0.8)), float(np.float32(10 ** rng.uniform(-2, 1.5)))
        yield Case(tuple(parts), list(Direction)[i % 2], tilt, y)


def line_of(case: Case, *, reach: float, steps: int = 1) -> Line:
    line = case.transform.on(case.tilt, reach=reach, steps=steps)
    assert line is not None, case
    return line


def test_log_moments_are_enclosed_and_tight(stream: int) -> None:
    ctx.prec = BITS
    for case in cases(stream):
        found = line_of(case, reach=case.y).log_moment
        assert found is not None
        true = case.moment(0.0).real.log()
        assert arb_of(found.lower) <= true <= arb_of(found.upper), case
        assert found.width <= Fraction(10) ** -9 * found.upper + Fraction(10) ** -15, case


def test_logarithms_of_the_ratio_lie_within_their_errors(stream: int) -> None:
    """And are tight: most errors are below a billionth."""
    ctx.prec = BITS
    narrow = 0
    for case in cases(stream):
        found = value_within_its_error(line_of(case, reach=case.y), case, case.y)
        narrow += found is not None and found[1] < 1e-9
    assert narrow >= DRAWS // 2


def test_a_part_of_unknown_phase_counts_with_its_bound(stream: int) -> None:
    """Where a rare part turns out of reach, the rest is known, and what it may hide is hidden."""
    ctx.prec = BITS
    for case in cases(stream, 6):
        first = (Fraction(1, 2), case.parts[0][1], case.parts[0][2])
        mixed = Case((first, (Fraction(1, 2), 1.0, 40.0)), Direction.REMOVE, 0.25, 0.5)
        line = line_of(mixed, reach=0.5)
        values = Logarithms(0.5, 1)
        line.add(1, values)
        true = mixed.ratio(0.5, line.centre)
        assert abs(true) <= arb(float(values.size[0] + values.error[0])).exp()


def test_tails_hold_beyond(stream: int) -> None:
    ctx.prec = BITS
    proven = 0
    for case in cases(stream, 6):
        line = line_of(case, reach=case.y)
        bound = line.tail(case.y, line.estimate(case.y) / 2)
        assert bound <= 0
        proven += bound < 0
        for further in (1.0, 1.3, 2.9, 11.0):
            assert abs(case.ratio(case.y * further, line.centre)) <= arb(bound).exp() * (1 + arb(2) ** -80), case
    assert proven


def test_powers_are_those_of_one_release(stream: int) -> None:
    ctx.prec = BITS
    for case in cases(stream, 4):
        times = 10**8
        reach = float(np.float32(case.y / 10**4))
        line = line_of(case, reach=reach, steps=times)
        values = Logarithms(reach, 1)
        line.add(times, values)
        true = case.ratio(reach, line.centre).log() * times
        assert abs(acb(arb(float(values.size[0])), arb(float(values.phase[0]))) - true) <= arb(float(values.error[0]))
        assert values.error[0] < 1e-5, case


def test_estimates_are_near_moments_and_their_derivatives(stream: int) -> None:
    ctx.prec = BITS
    for case in cases(stream, 6):
        here, near = case.transform.estimate(case.tilt), case.transform.estimate(case.tilt * (1 + 1e-5))
        assert abs(here[0] - float(case.moment(0.0).real.log().mid())) <= 1e-6 * max(abs(here[0]), 1e-6)
        step = case.tilt * 1e-5
        assert abs((near[0] - here[0]) / step - here[1]) <= 1e-3 * abs(here[1]) + 1e-3 * here[2]
        assert abs((near[1] - here[1]) / step - here[2]) <= 1e-2 * here[2]


def test_a_line_s_estimate_is_near_the_size_of_the_ratio(stream: int) -> None:
    ctx.prec = BITS
    for case in cases(stream, 6):
        line = line_of(case, reach=case.y)
        true = float(abs(case.ratio(case.y, line.centre)).log().mid())
        assert abs(line.estimate(case.y) - true) <= 1e-3 * abs(true) + 1e-12, case


def test_the_tail_of_a_single_part_is_its_own_rounded_up() -> None:
    part = GaussianTransform(Enclosure.of("0.25"))
    line = MixedTransform(((Enclosure.of(1), part),)).on(1.0, reach=8.0, steps=1)
    own = part.on(1.0, reach=8.0, steps=1)
    assert line is not None
    assert own is not None
    for y in (0.03125, 0.125, 0.5, 1.0, 2.5, 8.0):
        bound, known = line.tail(y, line.estimate(y) / 2), own.tail(y, own.estimate(y) / 2)
        assert known <= bound <= known * (1 - 1e-12)


def test_it_is_a_lattice_s_composition_and_far_narrower() -> None:
    """The lattice lays the same laws down in cells: another proof of the same number."""
    normal = GaussianPair(Enclosure.of(1))
    for times, parts in (
        (1000, ((Enclosure.of("0.75"), SampledGaussian(Enclosure.of(1), Enclosure.of("0.01"))),)),
        (40, ((Enclosure.of("0.75"), normal),)),
    ):
        pair = PublicChance((*parts, (Enclosure.of("0.25"), SampledGaussian(Enclosure.of(2), Enclosure.of("0.01")))))
        for direction in Direction:
            assert pair.loss_transform is not None
            assert pair.loss_cells is not None
            found = epsilon_by_transforms([(pair.loss_transform(direction), times)], DELTA)
            assert found is not None
            other = epsilon_by_lattice([(pair.loss_cells(direction), times)], DELTA)
            assert other.lower <= found.lower <= found.upper <= other.upper
            assert found.width <= Fraction(1, 10**9) * found.upper


def test_uncertain_chances_widen_what_is_found() -> None:
    sampled = SampledGaussianTransform(Enclosure.of("0.25"), Enclosure.of(1), Direction.REMOVE)
    known = MixedTransform(((Enclosure.of("0.5"), GaussianTransform(Enclosure.of(1))), (Enclosure.of("0.5"), sampled)))
    off = Enclosure.between(Fraction(1, 2) - Fraction(1, 2**30), Fraction(1, 2) + Fraction(1, 2**30))
    vague = MixedTransform(((off, GaussianTransform(Enclosure.of(1))), (off, sampled)))
    level = Enclosure.of(2)
    exact, found = delta_by_transforms([(known, 8)], level), delta_by_transforms([(vague, 8)], level)
    assert exact is not None
    assert found is not None
    assert found.lower <= exact.lower < exact.upper <= found.upper
    assert found.width > 100 * exact.width


def test_what_loses_nothing_is_null_and_suprema_are_the_largest() -> None:
    nothing = GaussianTransform(Enclosure.of(0))
    added = SampledGaussianTransform(Enclosure.of("0.25"), Enclosure.of(1), Direction.ADD)
    half = Enclosure.of("0.5")
    assert MixedTransform(((half, nothing), (half, nothing))).null
    mixed = MixedTransform(((half, nothing), (half, added)))
    assert not mixed.null
    assert mixed.largest == added.largest
    assert MixedTransform(((half, added), (half, GaussianTransform(Enclosure.of(1))))).largest is None
