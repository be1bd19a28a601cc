"""Few different releases that dominate many: parameters and rates are raised to those of others.

What a record loses grows with both, so a group of releases is dominated by as many at its largest parameter and rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

_FAR = 60.0


def groups(parameters: Sequence[float], rates: Sequence[float], times: Sequence[int], most: int) -> list[list[int]]:
    """Split releases of one family into at most so many groups of parameters and rates that are much alike.

    The group whose largest members exceed the others most is split where that leaves least.

    Args:
        parameters: of each release, at least 0.
        rates: the probability with which each draws the record.
        times: how many there are of each.
        most: at least 1.

    Returns:
        The places of the members of each group.
    """
    import numpy as np

    largest, drawn, many = np.asarray(parameters), np.asarray(rates), np.asarray(times, dtype=np.float64)
    values = (largest, drawn)
    own = cost(largest, drawn) * many

    def excess(places: Places) -> float:
        top = cost(largest[places].max(), drawn[places].max())
        return float(top * many[places].sum() - own[places].sum())

    done: list[list[int]] = []
    everything = np.arange(len(many))
    open_groups = [(-excess(everything), 0, everything)]
    number = 1
    while open_groups and len(done) + len(open_groups) < most:
        wasted, _, places = heappop(open_groups)
        if wasted >= 0 or len(places) == 1:
            done.append(places.tolist())
            continue
        for half in min((_split(places, by, values, many) for by in values), key=lambda cut: cut[0])[1]:
            heappush(open_groups, (-excess(half), number, half))
            number += 1
    return [*done, *(places.tolist() for _, _, places in open_groups)]


def cost(parameter: Floats | float, rate: Floats | float) -> Floats:
    """About what a release adds to the variance of the loss: the χ²-divergence of sampled Gaussian noise."""
    import numpy as np

    found: Floats = np.square(rate) * np.expm1(np.minimum(np.square(parameter), _FAR))
    return found


def _split(
    places: Places, by: Floats, values: tuple[Floats, Floats], many: Floats
) -> tuple[float, tuple[Places, Places]]:
    """The cut across one coordinate that leaves least, with what its two sides cost together."""
    import numpy as np

    ordered = places[np.argsort(by[places], kind="stable")]
    counted = np.cumsum(many[ordered])
    below = cost(*(np.maximum.accumulate(value[ordered]) for value in values))[:-1] * counted[:-1]
    tops = (np.maximum.accumulate(value[ordered][::-1])[::-1][1:] for value in values)
    together = below + cost(*tops) * (counted[-1] - counted[:-1])
    cut = int(np.argmin(together)) + 1
    return float(together[cut - 1]), (ordered[:cut], ordered[cut:])
