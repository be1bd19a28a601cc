"""A fixed grid of numbers: what is solved once serves every record whose number lies in the same cell."""

from __future__ import annotations

import numpy as np

from ..exact import Floats

FRACTION_BITS = 52
"""Binary digits of a binary64 number after the first."""


def rounded_up(values: Floats, bits: int) -> Floats:
    """The least numbers with `bits` binary digits after the first that are not below: a fixed grid."""
    spare = FRACTION_BITS - bits
    whole = values.view(np.int64) + ((1 << spare) - 1)
    return np.asarray(((whole >> spare) << spare).view(np.float64))


def node_below(nodes: Floats, bits: int) -> Floats:
    """Numbers that every number above the node before is above."""
    return np.asarray((nodes.view(np.int64) - (1 << (FRACTION_BITS - bits))).view(np.float64))
