"""Numbers next to a lattice point are not taken to lie on one side of it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.loss_distribution import mean_ratios
from certdp.accounting.loss_distribution.cells import NOTHING, Atoms, Cells, Law
from certdp.accounting.loss_distribution.families import gaussian_group_cells, laplace_cells, normal_cells
from certdp.accounting.loss_distribution.mean_ratios import Above, _table, mean_above, mean_below
from certdp.accounting.relations import Direction

ONE = Enclosure.of(1)


@pytest.mark.parametrize("towards", [0.0, np.inf])
@pytest.mark.parametrize("spacing", [2.0**-12, 2.0**-6, 0.3])
def test_a_number_beside_a_lattice_point_has_it_inside_its_cell(towards: float, spacing: float) -> None:
    points = np.arange(1, 200)
    table = _table(np.nextafter(np.exp(points * spacing), towards), spacing, 0.0)
    assert np.all(table.steps == 2)
    assert np.all(table.cells + 1 == points)
    assert np.all((table.shares > 0) & (table.shares < 1))


def above(cells: Cells) -> Law:
    assert isinstance(cells.above, Law)
    return cells.above


@pytest.mark.parametrize("terms", [1, 2, 7, 100])
@pytest.mark.parametrize("cells", [normal_cells, laplace_cells])
def test_no_mass_of_a_law_above_is_lost(cells: Callable[[Enclosure, Direction], Cells], terms: int) -> None:
    found = mean_above(above(cells(ONE, Direction.REMOVE)), terms)
    assert math.fsum(found.present) >= 1
    assert math.fsum(found.absent) >= 1


def test_a_law_above_that_lost_mass_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least loss was taken to be the greatest with another sign: that cell's part of the mean was dropped."""
    first = mean_ratios._first_above

    def lacking(law: Law, grid: mean_ratios._Grid) -> Above:
        found = first(law, grid)
        return evolve(found, masses=found.masses * (1 - 1e-3))

    monkeypatch.setattr(mean_ratios, "_first_above", lacking)
    with pytest.raises(InvalidValue, match="no mass is lost"):
        mean_above.__wrapped__(above(normal_cells(ONE, Direction.REMOVE)), 3)


@pytest.mark.parametrize("mean", [mean_above, mean_below])
def test_losses_that_are_not_known_to_the_last_digits_are_refused(mean: Callable[[Law, int], Atoms]) -> None:
    law = above(gaussian_group_cells(ONE, ONE / 2, 1, Direction.REMOVE, mirrored=False))
    with pytest.raises(InvalidValue, match="last digits"):
        mean(law, 2)


def test_more_points_than_memory_holds_are_refused() -> None:
    law = above(normal_cells(Enclosure.of("3e-8"), Direction.REMOVE))
    with pytest.raises(InvalidValue, match="lattice points"):
        mean_above(law, 4)


def test_the_mean_of_equal_laws_is_one() -> None:
    assert mean_below(NOTHING, 5) is NOTHING.atoms
