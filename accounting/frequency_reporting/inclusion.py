"""With what probability a sampler keeps a key of frequency i: non-decreasing q_1, q_2, … (PWS Section 3.1).

Threshold sampling (PWS Equation 1) keeps a key of frequency i where u ≤ τ·f(i): with f(i) = i^p that is
q_i = 1 − e^{−τ·i^p} for u ~ Exp[1] (ppswor) and q_i = min(1, τ·i^p) for u uniform on [0, 1] (Poisson PPS). Both are
non-decreasing exactly where p ≥ 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import final

from attrs import field, frozen

from ..arguments import whole
from ..enclosures import Enclosure
from ..errors import InvalidValue, OutsideDomain
from ..exact import exact
from ..units import Probability

DRAWN_BITS = 256
"""A sampler draws q_i rounded down to so many bits: finer than the units of every table down to δ = 2^−140."""

_GUARD = 32


class Inclusion(ABC):
    """q_i for i ≥ 1, non-decreasing; every key of frequency 0 is left out."""

    __slots__ = ()

    @property
    def last(self) -> int | None:
        """The last frequency that has a rate; None where all have."""
        return None

    @abstractmethod
    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        """q_i within [0, 1].

        Args:
            frequency: i ≥ 1.
            precision: bits of the ends.
        """

    def drawn(self, frequency: int) -> int:
        """q_i as a sampler draws it, in units of 2^−256, rounded down; `frequency` ≥ 1."""
        return floor(self.rate(frequency, precision=DRAWN_BITS + _GUARD).lower * (1 << DRAWN_BITS))


@final
@frozen
class EveryKey(Inclusion):
    """q ≡ 1: the private histogram."""

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        """1."""
        whole("frequency", frequency, 1)
        return Enclosure.of(1, precision=precision)


@frozen(kw_only=True)
class _Threshold(Inclusion):
    """Threshold sampling with f(i) = i^p.

    Args:
        threshold: τ > 0.
        power: p ≥ 0.

    Raises:
        InvalidValue: outside these ranges; for p < 0 the first frequency at which q falls is 2.
    """

    threshold: Fraction = field(converter=exact)
    power: Fraction = field(default=Fraction(1), converter=exact)

    def __attrs_post_init__(self) -> None:
        if self.threshold <= 0:
            raise InvalidValue("threshold", self.threshold, "τ > 0")
        if self.power < 0:
            raise InvalidValue("power", self.power, "p ≥ 0", "With p < 0, q_2 < q_1: PWS needs non-decreasing rates")

    def _size(self, frequency: int, precision: int) -> Enclosure:
        """τ·i^p."""
        base = Enclosure.of(whole("frequency", frequency, 1), precision=precision)
        return base.power(self.power) * self.threshold


@final
@frozen(kw_only=True)
class Ppswor(_Threshold):
    """Probability proportional to size without replacement, by threshold: q_i = 1 − e^{−τ·i^p}."""

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        """1 − e^{−τ·i^p}."""
        return (-(-self._size(frequency, precision)).expm1()).minimum(1)


@final
@frozen(kw_only=True)
class PoissonPps(_Threshold):
    """Poisson sampling with probability proportional to size: q_i = min(1, τ·i^p)."""

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        """min(1, τ·i^p)."""
        return self._size(frequency, precision).minimum(1)


@final
@frozen
class ListedRates(Inclusion):
    """q_1, …, q_m written out.

    Args:
        rates: exact probabilities, non-decreasing.

    Raises:
        InvalidValue: for none, and where one lies below the one before (the first such frequency is named).
    """

    rates: tuple[Probability, ...]

    def __attrs_post_init__(self) -> None:
        if not self.rates:
            raise InvalidValue("rates", (), "at least one rate")
        for frequency, (before, rate) in enumerate(pairwise(self.rates), start=2):
            if rate.value < before.value:
                raise InvalidValue(
                    "rates",
                    str(rate),
                    f"q_{frequency} at least q_{frequency - 1} = {before}",
                    "PWS needs non-decreasing rates",
                )

    @property
    def last(self) -> int:
        """m."""
        return len(self.rates)

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        """q_i.

        Raises:
            OutsideDomain: beyond the last rate listed.
        """
        if whole("frequency", frequency, 1) > len(self.rates):
            raise OutsideDomain(f"frequency {frequency}, beyond the {len(self.rates)} rates listed; list more of them.")
        return Enclosure.of(self.rates[frequency - 1].value, precision=precision)
