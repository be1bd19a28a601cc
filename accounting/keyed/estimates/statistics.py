"""g: public functions of frequency, non-decreasing with g(0) = 0 (PWS Equation 6)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...enclosures.arguments import whole
from ...errors import InvalidValue
from ...exact import Floats, Number, exact

Statistic: TypeAlias = Callable[[int], Number]
"""g: a public function of frequency, with g(0) = 0."""

Frequencies: TypeAlias = NDArray[np.int64]


class NamedStatistic(ABC):
    """A statistic that is known not to decrease, and is evaluated for many frequencies at once."""

    __slots__ = ()

    def __call__(self, frequency: int) -> Number:
        """g(i) for a whole number i ≥ 0."""
        return float(self.over(np.array([frequency], dtype=np.int64))[0])

    @abstractmethod
    def over(self, frequencies: Frequencies) -> Floats:
        """g of each frequency, whole numbers ≥ 0."""


@final
@frozen
class Count(NamedStatistic):
    """How many keys: 1 for every frequency from 1 on."""

    def over(self, frequencies: Frequencies) -> Floats:
        """1 where the frequency is not 0."""
        return (frequencies > 0).astype(np.float64)

    def __str__(self) -> str:
        return "number of keys"


@final
@frozen
class Total(NamedStatistic):
    """The sum of frequencies: g(i) = i."""

    def __call__(self, frequency: int) -> int:
        """Return g of a frequency exactly: the frequency itself."""
        return frequency

    def over(self, frequencies: Frequencies) -> Floats:
        """Return g of many frequencies in binary64: the frequencies themselves."""
        return frequencies.astype(np.float64)

    def __str__(self) -> str:
        return "sum of frequencies"


@final
@frozen
class Power(NamedStatistic):
    """The frequency moment g(i) = i^p; at p = 0 the number of keys.

    Args:
        power: p ≥ 0.

    Raises:
        InvalidValue: for p < 0, where g decreases; `over` also where i^p is beyond binary64.
    """

    power: Fraction = field(converter=exact)

    def __attrs_post_init__(self) -> None:
        if self.power < 0:
            raise InvalidValue("power", self.power, "p ≥ 0", "With p < 0 the statistic decreases")

    def over(self, frequencies: Frequencies) -> Floats:
        """Return g of many frequencies in binary64: i^p, and 0 at 0."""
        with np.errstate(over="ignore"):  # what overflows is refused
            values = np.power(frequencies.astype(np.float64), float(self.power))
        return _finite(np.where(frequencies > 0, values, 0.0))

    def __str__(self) -> str:
        return f"sum of frequencies to the power {self.power}"


@final
@frozen
class Cap(NamedStatistic):
    """The sum of frequencies, of each key at most a cap: g(i) = min(i, M).

    Args:
        largest: M ≥ 1.

    Raises:
        InvalidValue, InvalidType: for anything but a whole number ≥ 1.
    """

    largest: int = field()

    def __attrs_post_init__(self) -> None:
        whole("largest", self.largest, 1)

    def __call__(self, frequency: int) -> int:
        """Return g of a frequency exactly: min(i, M)."""
        return min(frequency, self.largest)

    def over(self, frequencies: Frequencies) -> Floats:
        """Return g of many frequencies in binary64: min(i, M)."""
        return np.minimum(frequencies, self.largest).astype(np.float64)

    def __str__(self) -> str:
        return f"sum of frequencies, each at most {self.largest}"


def sizes(statistic: Statistic, frequencies: Frequencies) -> Floats:
    """g of each frequency.

    Args:
        statistic: g; where it has no name, it is called once for each distinct frequency.
        frequencies: whole numbers ≥ 0, in any order.

    Raises:
        InvalidValue, InvalidType: where g(0) is not 0, where g decreases between two of the frequencies, and for values
            that are no numbers or beyond binary64.
    """
    match statistic:
        case NamedStatistic():
            return statistic.over(frequencies)
    distinct, places = np.unique(frequencies, return_inverse=True)
    values = exact_sizes(statistic, map(int, distinct))
    return _finite(np.array(list(map(_to_float, values)), dtype=np.float64))[places.reshape(frequencies.shape)]


def exact_sizes(statistic: Statistic, frequencies: Iterable[int]) -> list[Fraction]:
    """g of increasing frequencies, exactly; errors as for `sizes`."""
    origin = exact(statistic(0), parameter="statistic")
    if origin:
        raise InvalidValue("statistic", f"g(0) = {origin}", "g(0) = 0", "A key that does not occur adds nothing")
    found: list[Fraction] = []
    last, before = 0, origin
    for frequency in frequencies:
        value = exact(statistic(frequency), parameter="statistic")
        if value < before:
            raise InvalidValue(
                "statistic",
                f"g({frequency}) = {float(value)!r}",
                f"at least g({last}) = {float(before)!r}",
                "Estimates are for non-decreasing functions of frequency",
            )
        found.append(value)
        last, before = frequency, value
    return found


def _to_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _finite(values: Floats) -> Floats:
    if not np.isfinite(values).all():
        raise InvalidValue(
            "statistic", "a value beyond 1.8e308", "values that binary64 holds", "Divide g by a constant"
        )
    return values
