"""Moments on vertical lines and their errors, against Arb's certified quadrature."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from flint import acb, arb, ctx

from certdp.accounting._kernels import loss_transforms
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.loss_distribution import transforms
from certdp.accounting.loss_distribution.transforms import (
    GaussianTransform,
    Line,
    Logarithms,
    NodeLine,
    SampledGaussianTransform,
    sampled_gaussian_transform,
)
from certdp.accounting.pairs import GaussianPair, LaplacePair, SampledGaussian
from certdp.accounting.relations import Direction
from tests.support.arb_moments import Moments, sampled_gaussian_moment, value_within_its_error
from tests.support.arb_numbers import arb_of

BITS = 160
DRAWS = 12


@frozen
class Case(Moments):
    """A sampled Gaussian, a line c + iy and a point on it."""

    rate: float
    shift: float
    direction: Direction
    tilt: float
    y: float

    @property
    def transform(self) -> SampledGaussianTransform:
        return SampledGaussianTransform(Enclosure.of(self.rate), Enclosure.of(self.shift), self.direction)

    def moment(self, y: float) -> acb:
        """M(c + iy)."""
        return sampled_gaussian_moment(self.rate, self.shift, self.direction, self.tilt, y)


def cases(stream: int, number: int = DRAWS) -> Iterator[Case]:
    """Random ones, with c and y as contours of many or few steps would choose them."""
    rng = np.random.default_rng([31, stream])
    for i in range(number):
        direction = list(Direction)[i % 2]
        rate, shift = 10 ** rng.uniform(-9, -0.01), 10 ** rng.uniform(-1.5, 0.7)
        tilt = 10 ** rng.uniform(-1, 1)
        spread = rate * math.sqrt(math.expm1(shift * shift))
        y = min(10 ** rng.uniform(-2, 1.3) / min(max(spread, 1e-3), 2.0), 3000 / shift)  # within reach of the nodes
        yield Case(float(rate), float(shift), direction, float(tilt), float(np.float32(y)))


def line_of(case: Case, *, steps: int = 1) -> Line:
    line = case.transform.on(case.tilt, reach=case.y, steps=steps)
    assert line is not None, case
    return line


def test_log_moments_are_enclosed_and_tight(stream: int) -> None:
    ctx.prec = BITS
    for case in cases(stream):
        found = line_of(case).log_moment
        assert found is not None
        true = case.moment(0.0).real.log()
        assert arb_of(found.lower) <= true, case
        assert true <= arb_of(found.upper), case
        assert found.width <= Fraction(10) ** -9 * found.upper + Fraction(10) ** -15, case


def test_logarithms_of_the_ratio_lie_within_their_errors(stream: int) -> None:
    """Each within its own; of few is that more than a billionth where the ratio is not small, as terms cancel there."""
    ctx.prec = BITS
    known = wide = 0
    for case in cases(stream):
        found = value_within_its_error(line_of(case), case, case.y)
        if found is not None:
            known += 1
            size, error = found
            wide += error >= 1e-9 * max(1.0, 1e-3 / math.exp(size))
    assert known >= DRAWS // 2
    assert wide <= DRAWS // 6


def test_powers_are_those_of_one_release(stream: int) -> None:
    """The same bound holds for n releases: n·error, at values of y that suit them."""
    ctx.prec = BITS
    for case in cases(stream, 6):
        times = 10**9
        reach = float(np.float32(case.y / math.sqrt(times)))
        line = case.transform.on(case.tilt, reach=reach, steps=times)
        assert line is not None
        values = Logarithms(reach, 1)
        line.add(times, values)
        true = case.ratio(reach, line.centre).log() * times
        assert abs(acb(arb(values.size[0]), arb(values.phase[0])) - true) <= arb(values.error[0]), case
        assert values.error[0] < 1e-6, case


def test_a_coarse_rule_still_knows_its_error(stream: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ctx.prec = BITS
    monkeypatch.setattr(transforms, "_NATS", 4.0)
    monkeypatch.setattr(transforms, "_MOST_HIDDEN", 0.2)
    beyond_rounding = 0
    for case in cases(stream):
        line = case.transform.on(case.tilt, reach=case.y, steps=1)
        if line is None:
            continue
        values = Logarithms(case.y, 1)
        line.add(1, values)
        if math.isinf(values.phase[0]):
            continue
        wrong = case.ratio(case.y, line.centre) / acb(arb(values.size[0]), arb(values.phase[0])).exp()
        assert abs(wrong.log()) <= arb(values.error[0]), case
        beyond_rounding += bool(abs(wrong.log()) > arb(1e-11))
    assert beyond_rounding  # else the rule's own error was not at stake


@pytest.mark.slow
def test_tails_bound_every_value_beyond(stream: int) -> None:
    ctx.prec = BITS
    rng = np.random.default_rng([32, stream])
    proven = 0
    for case in cases(stream):
        line = line_of(case)
        here = line.estimate(case.y)
        tail = line.tail(case.y, 0.9 * here)
        assert here - 1e-9 <= tail <= 0 or here < -20  # less than that is hardly known
        proven += tail < 0
        for y in case.y * 10 ** rng.uniform(0, 1, 3):
            assert abs(case.ratio(float(y), line.centre)).lower() <= arb(tail).exp(), (case, y)
    assert proven >= DRAWS // 2


def test_lifted_lines_bound_every_value_beyond(stream: int) -> None:
    """And prove most of what they are asked: log|φ| but for a quarter, where |φ| is small."""
    ctx.prec = BITS
    rng = np.random.default_rng([33, stream])
    small = near = 0
    for case in cases(stream, 8):
        line = line_of(case)
        assert isinstance(line, NodeLine)
        sizes = [abs(case.ratio(float(y), line.centre)) for y in case.y * np.array([1, *10 ** rng.uniform(0, 1, 3)])]
        if not sizes[0] > 1e-12:  # less is not known here
            continue
        level = max(-2 * float(sizes[0].log().mid()), 1e-6) ** 0.5
        bounds = [line.lifted(case.y, share * level) for share in (0.25, 0.4, 0.6, 0.8, 1.0)]
        assert all(size.lower() <= bound for size in sizes for bound in bounds), case
        small += level > 1
        near += level > 1 and min(bounds) ** 1.34 < sizes[0]
    assert near >= small // 2


def test_tails_of_oscillating_ratios(stream: int) -> None:
    """Rare large losses: |φ| falls, rises and falls again; the tail must bound the rise."""
    ctx.prec = BITS
    case = Case(0.01, 1.0, Direction.REMOVE, 8.069423910979742, 0.75)
    line = line_of(case)
    sizes = [abs(case.ratio(y, line.centre)) for y in (0.75, 1.45)]
    assert sizes[0] < sizes[1]
    assert arb(line.tail(0.75, 0.97 * line.estimate(0.75))).exp() >= sizes[1]


def test_gaussian_in_closed_form() -> None:
    ctx.prec = BITS
    transform = GaussianTransform(Enclosure.of("0.25"))
    line = transform.on(1.5, reach=8.0, steps=7)
    assert line is not None
    assert line.log_moment == Enclosure.of("0.46875")
    assert line.centre == Fraction(1, 2)
    values = Logarithms(0.5, 16)
    line.add(7, values)
    assert values.phase.tolist() == [0.0] * 16
    for k in range(16):
        assert abs(values.size[k] + 7 * 0.125 * ((k + 1) * 0.5) ** 2) <= values.error[k] < 1e-12
    assert -0.125 * 64 <= line.tail(8.0, -1.0) < -0.125 * 64 + 1e-10


def test_ends_bracket_parameters_that_no_float_holds() -> None:
    transform = sampled_gaussian_transform(Enclosure.of("0.01"), Enclosure.of("10/11"), Direction.REMOVE)
    assert transform.on(1.0, reach=1.0, steps=1) is None
    low, high = transform.ends
    moments = []
    for end in (low, high):
        line = end.on(1.0, reach=1.0, steps=1)
        assert line is not None
        assert line.log_moment is not None
        moments.append(line.log_moment)
    assert moments[0].lower < moments[1].upper
    assert low.ends == (low, low)


def test_degenerate_rates_and_shifts() -> None:
    one, none = Enclosure.of(1), Enclosure.of(0)
    for direction in Direction:
        assert sampled_gaussian_transform(none, one, direction).null
        assert sampled_gaussian_transform(one, none, direction).null
        assert sampled_gaussian_transform(one, Enclosure.of(2), direction) == GaussianTransform(Enclosure.of(4))
        low, high = sampled_gaussian_transform(Enclosure.between(0, 1), one, direction).ends
        assert low.null
        assert high == GaussianTransform(one)


def test_the_largest_loss_of_the_add_direction() -> None:
    add = sampled_gaussian_transform(Enclosure.of("1/4"), Enclosure.of(1), Direction.ADD).largest
    assert add is not None
    assert add.contains(-(Enclosure.of("3/4").log()))
    assert sampled_gaussian_transform(Enclosure.of("1/4"), Enclosure.of(1), Direction.REMOVE).largest is None
    assert GaussianTransform(Enclosure.of(1)).largest is None


def test_parameters_out_of_reach_give_no_line() -> None:
    for rate, shift in ((0.5, 1e4), (1e-295, 1.0), (0.5, 1e-120)):
        for direction in Direction:
            transform = SampledGaussianTransform(Enclosure.of(rate), Enclosure.of(shift), direction)
            assert transform.on(1.0, reach=1.0, steps=1) is None
            assert math.isnan(transform.estimate(1.0)[0])


def test_pairs_know_their_transforms() -> None:
    shift, rate = Enclosure.of(2), Enclosure.of("1/8")
    for direction in Direction:
        assert GaussianPair(shift).loss_transform(direction) == GaussianTransform(Enclosure.of(4))
        sampled = SampledGaussian(shift, rate).loss_transform(direction)
        assert sampled == SampledGaussianTransform(rate, shift, direction)
    assert LaplacePair(shift).loss_transform is None


def test_refusals() -> None:
    with pytest.raises(InvalidValue, match="rate"):
        sampled_gaussian_transform(Enclosure.of(2), Enclosure.of(1), Direction.ADD)
    with pytest.raises(InvalidValue, match="shift"):
        sampled_gaussian_transform(Enclosure.of("1/2"), Enclosure.of(-1), Direction.ADD)
    with pytest.raises(InvalidType, match="rate"):
        sampled_gaussian_transform(0.5, Enclosure.of(1), Direction.ADD)  # type: ignore[arg-type]


@pytest.mark.parametrize(("share", "admitted"), [(0.75, True), (1.25, False)])
def test_a_line_reaches_as_far_as_its_angles_are_known(
    share: float, admitted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach, rounding = 4.0, loss_transforms.rounding

    def farther(*arguments: Any) -> tuple[float, float, float]:
        nu, omega, _ = rounding(*arguments)
        return nu, omega, share * 2.0**29 / reach

    monkeypatch.setattr(loss_transforms, "rounding", farther)
    line = transforms._SampledLine.made(0.25, 1.0, 1.0, 2.0, reach=reach, nats=40.0, flat=True)
    assert (line is not None) is admitted
