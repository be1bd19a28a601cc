"""Compositions of mixtures of normal laws by moments: δ of one release, lattices, normal pairs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution.inversion import delta_by_transforms, epsilon_by_transforms
from certdp.accounting.loss_distribution.lattice import epsilon_by_lattice
from certdp.accounting.pairs import GaussianGroup, GaussianPair, Pair, SampledGaussian, Symmetrised
from certdp.accounting.relations import Direction

DELTA = Enclosure.of("1e-5")


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


def test_a_dominating_normal_pair_stays_above() -> None:
    """Replacing k records of a sample is never worse than of the whole."""
    group = GaussianGroup(Enclosure.of("0.25"), Enclosure.of("0.5"), 2, mirrored=True)
    whole = GaussianPair(group.gaussian)
    found = epsilon_by_transforms([(group.loss_transform(Direction.REMOVE), 10)], DELTA)
    most = epsilon_by_transforms([(whole.loss_transform(Direction.REMOVE), 10)], DELTA)
    assert found is not None
    assert most is not None
    assert found.upper < most.lower
