"""δ(ε) of one release whose law has single losses alone: sums of positive terms, with a bound of their rounding.

The proof is in `docs/soundness_allocation.md`, step 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..bulk import arrays as bulk
from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, probability
from ..errors import InvalidValue
from ..exact import Floats
from ..relations import Direction
from .cells import Law

_UNIT = 2.0**-53
_HALVINGS = 60
_FARTHEST = 1024.0
_CLOSE = 2.0**-40


def delta_of_one(above: Law, below: Law | None, epsilon: Enclosure) -> Enclosure:
    """Enclose δ(ε) of one release, of laws without a density and without sampling; without a law below from 0 on.

    Args:
        above: its loss in a direction, from above.
        below: from below, where that is known.
        epsilon: at least 0.
    """
    level = non_negative("epsilon", epsilon)
    upper = min(_delta(above, level.lower_float, up=True), 1.0)
    lower = 0.0 if below is None else _delta(below, level.upper_float, up=False)
    return Enclosure.between(lower, upper, precision=epsilon.precision)


def epsilon_of_one(above: Law, below: Law | None, delta: Enclosure) -> Enclosure:
    """Enclose the least ε ≥ 0 with δ(ε) ≤ δ, of laws as for `delta_of_one`.

    Raises:
        InvalidValue: where no ε is proven to suffice.
    """
    target = probability("delta", delta)
    least, most = target.lower_float, target.upper_float
    upper = _least(lambda epsilon: _delta(above, epsilon, up=True) <= least)
    if upper is None:
        raise InvalidValue("delta", delta, "a δ above the mass at infinite losses", "Choose a larger δ")
    lower = 0.0
    if below is not None and upper:
        under = below
        reached = _least(lambda epsilon: _delta(under, epsilon, up=False) <= most) or 0.0
        # right below the crossing δ is larger than allowed: that is looked at once more
        near = max(reached * (1.0 - _CLOSE), 0.0)
        lower = near if near and _delta(under, near, up=False) > most else 0.0
    return Enclosure.between(min(lower, upper), upper, precision=delta.precision)


def _least(holds: Callable[[float], bool]) -> float | None:
    """A number at which something holds that holds from some number on; the least but for rounding, or None."""
    if holds(0.0):
        return 0.0
    high = 1.0
    while not holds(high):
        high *= 2.0
        if high > _FARTHEST:
            return None
    low = high / 2.0 if high > 1.0 else 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if high - low <= _CLOSE / 4 * high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _delta(law: Law, epsilon: float, *, up: bool) -> float:
    """A bound of δ(ε), from above or from below."""
    atoms = law.atoms
    swapped = law.direction is Direction.ADD
    masses: Floats = atoms.absent if swapped else atoms.present
    losses: Floats = -(atoms.low if up else atoms.high) if swapped else (atoms.high if up else atoms.low)
    there = losses > epsilon
    total = float(np.sum(masses[there] * -bulk.expm1(epsilon - losses[there])))
    units = float(np.max(atoms.units, initial=0.0)) + int(np.count_nonzero(there)) + 32.0
    if up:
        return math.nextafter(total * (1.0 + units * _UNIT), math.inf)
    return max(math.nextafter(total * (1.0 - units * _UNIT), 0.0), 0.0)
