"""Which keys are reported, and with which token: drawn with exactly the units of a `Reporting`."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ..accounting.frequency_reporting import Reporting
from ..plugins.contract import Coins


@final
class Drawn(NamedTuple):
    """What was drawn for keys.

    Attributes:
        kept: whether each is reported.
        tokens: of those that are, in order; from 0 on.
    """

    kept: NDArray[np.bool_]
    tokens: NDArray[np.uint64]


def draw_reports(reporting: Reporting, counts: NDArray[np.uint64], coins: Coins) -> Drawn:
    """Sample and sanitise keys of these frequencies in one pass."""
    raise NotImplementedError


def sanitise_reports(reporting: Reporting, counts: NDArray[np.uint64], coins: Coins) -> Drawn:
    """Sanitise keys of these frequencies that were kept with exactly `reporting.inclusion.drawn` units of 2^−256."""
    raise NotImplementedError
