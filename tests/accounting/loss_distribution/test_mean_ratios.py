"""Numbers next to a lattice point are not taken to lie on one side of it."""

from __future__ import annotations

import numpy as np
import pytest

from certdp.accounting.loss_distribution.mean_ratios import _table


@pytest.mark.parametrize("towards", [0.0, np.inf])
@pytest.mark.parametrize("spacing", [2.0**-12, 2.0**-6, 0.3])
def test_a_number_beside_a_lattice_point_has_it_inside_its_cell(towards: float, spacing: float) -> None:
    points = np.arange(1, 200)
    table = _table(np.nextafter(np.exp(points * spacing), towards), spacing, 0.0)
    assert np.all(table.steps == 2)
    assert np.all(table.cells + 1 == points)
    assert np.all((table.shares > 0) & (table.shares < 1))
