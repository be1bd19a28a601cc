"""Whole units of probability: what two neighbouring rows of a keyed release may differ by.

Legend: K bits, C = 2^K units are certain, N the growth with G = N/C ≥ 1, D the allowance in units. Two rows differ
within (log G, D/C) where Σ max(0, a - G·b) ≤ D over the outcomes, in units a of the one and b of the other, both ways.
"""

import re
from typing import Any, Final, NamedTuple

from ..verdict import Refused

LONGEST_SUBDIVISION: Final = 64
MARGIN: Final = 2
"""Units by which what is reported of a kept key may lie below the rate: roundings of a drawn rate take less."""
_WHOLE: Final = re.compile(r"0|[1-9][0-9]{0,699}")
_MOST_BITS: Final = 1100


def a_whole_number(value: Any, where: str) -> None:
    """Accept a whole number of at least 0 as text without leading zeros, at most 700 digits."""
    if type(value) is not str or not _WHOLE.fullmatch(value):
        raise Refused(f"{where} must be a whole number of at least 0, as text of at most 700 digits")


class Units(NamedTuple):
    """Privacy in whole units: K bits, growth N and allowance D."""

    bits: int
    growth: int
    allowance: int

    @classmethod
    def of(cls, inputs: dict[str, Any]) -> "Units":
        """Read them from inputs of the right shape, or refuse them."""
        units = cls(inputs["bits"], int(inputs["growth"]), int(inputs["allowance"]))
        if not 1 <= units.bits <= _MOST_BITS:
            raise Refused(f"inputs.bits must be within [1, {_MOST_BITS}]")
        if units.growth < units.certain:
            raise Refused("inputs.growth must be at least 2^bits, a factor of 1")
        if units.allowance > units.certain:
            raise Refused("inputs.allowance must be at most 2^bits, a probability of 1")
        return units

    @property
    def certain(self) -> int:
        """The probability 1 in units of 2^-K."""
        return 1 << self.bits

    @property
    def scaled_allowance(self) -> int:
        """The allowance D in units of 2^-2K."""
        return self.allowance << self.bits

    def beyond(self, one: int, other: int) -> int:
        """max(0, one - G·other) in units of 2^-2K."""
        return max(0, (one << self.bits) - self.growth * other)

    def apart(self, one: int, other: int) -> tuple[int, int]:
        """Give what `beyond` gives, both ways."""
        return self.beyond(one, other), self.beyond(other, one)

    def grown(self, units: int) -> int:
        """The largest whole number of at most G·units."""
        return self.growth * units >> self.bits

    def shrunk(self, units: int) -> int:
        """The least whole number whose product with G is at least `units`."""
        return -(-(units << self.bits) // self.growth)

    def admits(self, low: int, high: int, reported: int) -> bool:
        """Whether a key reported with any of low..high units may have a neighbour reported with so many.

        Both outcomes, reported and not, are compared both ways.
        """
        certain, other = self.certain, self.certain - reported
        excess = (
            self.beyond(reported, low),
            self.beyond(high, reported),
            self.beyond(certain - low, other),
            self.beyond(other, certain - high),
        )
        return max(excess) <= self.scaled_allowance
