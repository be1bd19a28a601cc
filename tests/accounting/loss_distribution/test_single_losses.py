"""Where the search for the least number ends."""

from __future__ import annotations

import numpy as np

from certdp.accounting.loss_distribution.single_losses import _CLOSE, _least


def test_the_least_number_is_found_as_closely_as_promised() -> None:
    for wanted in np.random.default_rng(0).uniform(0.0, 100.0, 4000).tolist():
        found = _least(lambda epsilon: epsilon >= wanted)  # noqa: B023  # called at once
        assert found is not None
        assert wanted <= found
        assert found - wanted <= _CLOSE / 4 * found
    assert _least(lambda epsilon: True) == 0.0
    assert _least(lambda epsilon: False) is None
