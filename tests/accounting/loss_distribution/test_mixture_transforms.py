"""Transforms of mixtures of normal laws: parameters and their ends."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

from certdp.accounting._kernels import mixture_moments as kernels
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution.inversion import epsilon_by_transforms
from certdp.accounting.loss_distribution.mixture_transforms import (
    BetweenTransforms,
    MixtureTransform,
    group_transform,
    symmetrised_transform,
)
from certdp.accounting.loss_distribution.transforms import GaussianTransform, NodeLine

DELTA = Enclosure.of("1e-5")


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


@pytest.mark.parametrize("size", [3, 5, 33, 64])
def test_multiples_of_a_shift_are_exact(size: int) -> None:
    """A shift of 53 digits is kept in fewer, on both sides of it, so that k records move the output by k of it."""
    shift = Enclosure.of(0.1)
    found = group_transform(shift, Enclosure.of(0.01), size, mirrored=False, swapped=False)
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
    for shift, rate in (("0", "0.25"), ("1", "0")):
        assert group_transform(Enclosure.of(shift), Enclosure.of(rate), 2, mirrored=True, swapped=False).null
        assert symmetrised_transform(Enclosure.of(rate), Enclosure.of(shift)).null


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


def test_an_atom_of_which_little_is_known_leaves_no_line() -> None:
    known = symmetrised_transform(Enclosure.of("0.25"), Enclosure.of(1)).ends[1]
    assert isinstance(known, MixtureTransform)
    assert known.on(1.0, reach=1.0, steps=1) is not None
    assert evolve(known, rest=Enclosure.between(0, "0.5")).on(1.0, reach=1.0, steps=1) is None


def test_what_the_rule_hides_is_relative_to_the_sum() -> None:
    transform = symmetrised_transform(Enclosure.of("0.25"), Enclosure.of(4)).ends[1]
    assert isinstance(transform, MixtureTransform)
    tilt = 0.25
    line = transform.on(tilt, reach=2.0, steps=1)
    assert isinstance(line, NodeLine)
    assert abs(line.total - 1) > 0.25
    low, high, scale = kernels.window(*transform.laws, transform.start, tilt, line.nats)
    edges = np.empty(200)
    count, missed = kernels.plan(*transform.laws, low, high, tilt, 2.0, scale, line.nats, edges)
    arrays = [np.zeros(line.nodes) for _ in range(4)]
    tails = kernels.fill(*transform.laws, tilt, scale, edges, int(count), *arrays)
    assert line.hidden == pytest.approx(2 * (0.4 * missed + tails) / line.total, rel=1e-9, abs=0)
