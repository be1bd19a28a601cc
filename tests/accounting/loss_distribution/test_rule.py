"""What the trapezoid rule hides, where the numbers that bound it are large."""

from __future__ import annotations

import math

import numpy as np
import pytest

from certdp.accounting._kernels import loss_transforms as kernels


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_bound_has_no_ceiling(sign: float) -> None:
    """Weights that are e^705 times as large hide e^705 times as much."""
    q, s, c, y = 0.1, 1.0, 3.0, 2.0
    h, first, count = kernels.plan(q, s, sign, c, y, 30.0, False)
    loss, weight = np.empty(int(count)), np.empty(int(count))
    scale, total, _ = kernels.fill(q, s, sign, c, h, first, loss, weight)
    hidden = kernels.rule(q, s, sign, c, y, h, first, scale, loss)
    assert 0 < hidden < 1e-10 * total
    grown = kernels.rule(q, s, sign, c, y, h, first, scale - 705.0, loss)
    assert math.log(grown) == pytest.approx(math.log(hidden) + 705.0, abs=1e-6)
