"""The two directions of adding or removing a record; they are composed apart and the maximum is taken last."""

from __future__ import annotations

from enum import Enum


class Direction(Enum):
    """Which of two neighbouring data sets the first law of a divergence belongs to.

    REMOVE: the record is in the first data set only, divergences are of P (with it) from Q (without it).
    ADD: the record is in the second data set only, divergences are of Q from P.
    """

    REMOVE = "remove"
    ADD = "add"
