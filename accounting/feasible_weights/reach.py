"""What is proven about the weights up to the one that a record gets, and beyond."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..exact import Floats

Codes: TypeAlias = NDArray[np.uint8]
"""Per record, the place of its reach in `REACHES`."""


class Reach(Enum):
    """What is proven about the weights of a record: every one up to its own is feasible, and this beyond."""

    LARGEST = "no larger weight is feasible: e^ε is convex in the weight"
    FIRST_CROSSING = "every weight up to this one is feasible; a larger one beyond an infeasible stretch may be, too"
    CAPPED = "every weight up to the cap is feasible"
    NEVER_DRAWN = "every weight is feasible: the record loses nothing and is never drawn"


REACHES = tuple(Reach)


def codes_of(weights: Floats, reach: Reach, cap: float) -> Codes:
    """The codes of weights found by one method: `reach`, but for those that end at the cap and those without end."""
    codes = np.full(weights.shape, REACHES.index(reach), dtype=np.uint8)
    codes[weights >= cap] = REACHES.index(Reach.CAPPED)
    codes[np.isinf(weights)] = REACHES.index(Reach.NEVER_DRAWN)
    return codes


def counted(codes: Codes) -> Mapping[Reach, int]:
    """How many records have each reach; those that none has are left out."""
    counts = np.bincount(codes, minlength=len(REACHES)).tolist()
    return {reach: count for reach, count in zip(REACHES, counts, strict=True) if count}
