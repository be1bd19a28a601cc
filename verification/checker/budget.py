"""How much work one check may do, counted and not timed: the same on every machine.

A unit is some ten nanoseconds of a common processor. Whatever takes longer than reading the file spends, before it is
done, no less than it was measured to take at most. A number has at most 700 digits, and enters loops that are not
counted by it only as rounded to the precision at hand; so a price depends on the operation and the precision alone.
"""

from typing import Final

from .verdict import Refused

MOST_WORK: Final = 5_000_000_000
"""Of one check, without data: at most a minute."""
MOST_WORK_FOR_A_RECORD: Final = 20_000_000
"""With data, for each record."""
PER_BYTE: Final = 100
"""For reading a file."""

SUM: Final = 2
PRODUCT: Final = 3
SERIES: Final = 32
"""Weights of operations on intervals: comparing and adding; multiplying and dividing; exp, log, powers."""


class Budget:
    """Work that may still be done; what is refused once it is spent."""

    def __init__(self, work: int = MOST_WORK) -> None:
        """Start with all of the work still allowed."""
        self.left = work
        self.paid: set[object] = set()
        """What was paid and is kept, so that it costs nothing more."""

    def spend(self, work: int) -> None:
        """Take some of the work that is left, or refuse; nothing is ever given back."""
        if work < 0:
            raise ValueError(f"work: got {work}; admissible: at least 0")
        self.left -= work
        if self.left < 0:
            raise Refused("the check could not be finished within the work budget")

    def operations(self, weight: int, precision: int) -> None:
        """Take what operations of this total weight cost: alike at all low precisions, then as the precision's cube."""
        self.spend(weight * (512 + (precision**3 >> 19)))
