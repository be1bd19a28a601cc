"""Many releases at once: what a mechanism may offer beside `release`, for audits and simulations."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from ...accounting.errors import InvalidValue
from ...accounting.exact import Floats
from .coins import Coins
from .mechanism import Mechanism, WeightedSample


@runtime_checkable
class ReleasesMany(Protocol):
    """A mechanism that makes many releases at once.

    Make `release` the case of one, so that what is audited is what is released.
    """

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Floats:
        """`count` independent releases on one sample: an array whose first axis counts them."""
        ...


def many_releases(mechanism: Mechanism, sample: WeightedSample, count: int, coins: Coins) -> Floats:
    """Independent releases of a mechanism on one sample, each as a row: at once where it can, else one after the other.

    Raises:
        InvalidValue: for releases of several shapes, and where the mechanism gives another number of them.
    """
    name = mechanism.about.name
    if isinstance(mechanism, ReleasesMany):
        outputs = np.asarray(mechanism.release_many(sample, count, coins), dtype=np.float64)
        if len(outputs) != count:
            raise InvalidValue("mechanism", name, f"{count} releases at once", f"It made {len(outputs)}: repair it")
    else:
        released = [np.asarray(mechanism.release(sample, coins), dtype=np.float64).reshape(-1) for _ in range(count)]
        if len({one.shape for one in released}) > 1:
            raise InvalidValue(
                "mechanism", name, "releases of one shape", "Pad them: an audit compares them entry by entry"
            )
        outputs = np.asarray(released)
    return outputs.reshape(count, -1) if count else np.empty((0, 0))
