"""The threshold of a sample of about K keys: τ = K/S, with S the total size of all keys, public or released privately.

Legend: w a frequency; f(w) = w^p its size, f(0) = 0; S = Σ f(w) over all keys; S̃ what is counted of it, in steps of a
lattice; M a public largest frequency, above which a frequency counts as M.

A threshold sample keeps Σ q(w) ≤ τ·S = K keys in expectation, and fewer are then reported. S is computed from the data:
it is public only where it was known before, and else has to be released. One element changes one frequency by one, and
S by at most the largest step sup f(i + 1) − f(i): 1 for p ≤ 1, where f is concave; for p > 1, where f is convex, the
last step M^p − (M − 1)^p, and no finite number without an M.

For whole p the sizes are whole and counted exactly. Otherwise a size is put on the lattice 2^−20·ℤ: f̃(i), the floor of
a lower bound of 2^20·f(i) whose error is below 1, lies above 2^20·f(i) − 2 and at most at 2^20·f(i). So a step of f̃ is
at most ⌊2^20·step⌋ + 2. The noise is discrete Laplace on the lattice: sum and noise are exact.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.derivation import SEEDED_COINS, Assumption, Theorem
from ..accounting.enclosures import Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidValue
from ..accounting.exact import Number, exact
from ..accounting.guarantees import Guarantee
from ..accounting.notions import Pure
from ..accounting.provenance import Declared, Released, declared_number
from ..accounting.relations import ADD_REMOVE, ELEMENT
from ..plugins.contract import Coins
from .frequencies import capped

_FINE = 20
_COUNT_BITS = 53
_GUARD = 32
_STEEPEST = 100
_LEAST_TOTAL = Fraction(1)
_NOISY_TOTAL = Theorem("law", "discrete Laplace noise on a lattice")


def _power(value: Number) -> Fraction:
    power = exact(value, parameter="power")
    if not 0 <= power <= _STEEPEST:
        raise InvalidValue("power", value, f"0 ≤ p ≤ {_STEEPEST}")
    return power


@final
@frozen(kw_only=True)
class TotalSize:
    """The total size S = Σ f(w) of all keys, f(w) = w^p, as a statistic that can be released.

    Args:
        power: p ≥ 0; 1 counts elements, 0 keys.
        largest: M ≥ 1, a public largest frequency; needed for p > 1.

    Raises:
        InvalidValue: for p > 1 without M: one element can then change S by any amount.
    """

    power: Fraction = field(default=Fraction(1), converter=_power)
    largest: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.largest is not None:
            if whole("largest", self.largest, 1) > 1 << _COUNT_BITS:
                raise InvalidValue("largest", self.largest, "at most 2^53, as counts are")
        elif self.power > 1:
            raise InvalidValue(
                "power",
                self.power,
                "p ≤ 1, without a public largest frequency",
                "One element can change the total size by any amount: state a largest frequency, above which "
                "frequencies count as that, or a public total",
            )

    @property
    def spacing(self) -> Fraction:
        """What one step of the lattice is worth: 1 for whole p, else 2^−20."""
        return Fraction(1, 1 << self._fine)

    @property
    def steps_per_element(self) -> int:
        """By how many steps of the lattice one element can move the total, at most."""
        if self.power <= 1:
            step = Enclosure.of(1)
        else:
            assert self.largest is not None
            step = self._size(self.largest) - self._size(self.largest - 1)
        if not self._fine:
            return floor(step.upper)
        return floor(step.upper * (1 << self._fine)) + 2

    def steps(self, counts: NDArray[np.uint64]) -> int:
        """The total size of keys with these frequencies, in steps of the lattice; computed from the data."""
        values, times = np.unique(capped(counts, self.largest), return_counts=True)
        return sum(
            self._floor(int(value)) * int(number) for value, number in zip(values.tolist(), times.tolist(), strict=True)
        )

    def released(self, steps: int, epsilon: Number, coins: Coins) -> Released[Fraction]:
        """The total with discrete Laplace noise, at least 1: what lies below is raised to 1, which costs nothing.

        Args:
            steps: the total of all keys, in steps of the lattice.
            epsilon: what the release may cost for one element, above 0.
            coins: of the operating system, where the release is to be private.

        Guarantees:
            The cost is pure ε for one element. Whatever the data, a number of at least 1 comes out.

        Raises:
            InvalidValue: for an ε that is not above 0.
        """
        spent = exact(epsilon, parameter="epsilon")
        if spent <= 0:
            raise InvalidValue("epsilon", epsilon, "ε > 0", "The total of the data cannot be released for nothing")
        moved = self.steps_per_element
        (noise,) = coins.discrete_laplace(moved / spent, 1)
        return Released(max(_LEAST_TOTAL, (steps + int(noise)) * self.spacing), self._cost(spent, moved, coins))

    def _cost(self, epsilon: Fraction, moved: int, coins: Coins) -> Guarantee[Any, Any, Any]:
        stated = [
            Assumption("power of the total size", str(self.power)),
            Assumption("steps of the lattice that one element moves", str(moved)),
            Assumption("epsilon of the total size", str(epsilon)),
        ]
        if self.largest is not None:
            stated.append(Assumption("frequencies above this count as it", str(self.largest)))
        if not coins.private:
            stated.append(SEEDED_COINS)
        return Guarantee(
            bound=Pure(Enclosure.of(epsilon)),
            relation=ADD_REMOVE,
            unit=ELEMENT,
            derivation=_NOISY_TOTAL.conclude(assumptions=stated),
        )

    @property
    def _fine(self) -> int:
        return 0 if self.power.denominator == 1 else _FINE

    def _floor(self, count: int) -> int:
        """f̃: the size of one key in steps of the lattice."""
        if not self._fine:
            return int(count ** int(self.power))
        return floor(self._size(count).lower * (1 << self._fine))

    def _size(self, count: int) -> Enclosure:
        """f, to an absolute error well below one step of the lattice."""
        precision = _FINE + _GUARD + _COUNT_BITS * (floor(self.power) + 1)
        return Enclosure.of(count, precision=precision).power(self.power)


def threshold_of_size(size: Number, total: Declared[Number]) -> Declared[Fraction]:
    """τ = K/S, with which a threshold sample has at most K keys in expectation.

    Args:
        size: K > 0, a public constant.
        total: S > 0: declared public, or released with what that cost, which the threshold then carries.

    Raises:
        InvalidValue: for a size or a total that is not above 0. As `declared_number` for another provenance.
    """
    wanted = exact(size, parameter="size")
    if wanted <= 0:
        raise InvalidValue("size", size, "a number > 0")
    known = declared_number(total, lambda number: number > 0, "a number > 0", parameter="total")
    if isinstance(known, Released) and known.within is not None:
        return known.map(lambda number: wanted / number, within=(wanted / known.within.high, wanted / known.within.low))
    return known.map(lambda number: wanted / number)
