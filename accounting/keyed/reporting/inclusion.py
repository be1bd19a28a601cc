"""With what probability a sampler keeps a key of frequency i: non-decreasing q_1, q_2, … (PWS Section 3.1).

Threshold sampling (PWS Equation 1) keeps a key of frequency i where u ≤ τ·f(i), f ≥ 0 non-decreasing: that is
q_i = 1 − e^{−τ·f(i)} for u ~ Exp[1] (ppswor) and q_i = min(1, τ·f(i)) for u uniform on [0, 1] (Poisson PPS). f is a
power i^p, or listed.

Units. ⌊q_i·2^K⌋ is exact: rational numbers and roots are compared in integers, and 1 − e^{−x} is no binary number for
algebraic x > 0 (Lindemann), so that precision decides. Hence units do not fall as i grows, and those of fewer bits are
those of more bits cut off.

Stretches. A sanitiser of keys that reports all that is kept at frequency i may do so at the next one where, in units,

    (a) q_i − G·q_{i−1} ≤ Δ        (b) (1 − q_{i−1}) − G·(1 − q_i) ≤ Δ.

Both for units rounded down follow from the same for q as a real number with 1 more unit for each of the two roundings,
which is what `DyadicBudget.ample` asks of the rounded ones. For f(i) = i^p with p ≤ 1, real inequalities go on:

1. q is concave, so q_i − q_{i−1} falls and (a), q_i − q_{i−1} ≤ Δ + (G − 1)q_{i−1}, once true stays true.
2. ppswor: (1 − q_i)/(1 − q_{i−1}) = e^{−τ(f(i) − f(i−1))} grows, so (1 − q_{i−1})(1 − G·(1 − q_i)/(1 − q_{i−1})) falls
   while it is positive: (b) once true stays true. This is PWS Lemma 4.4, for every p ≤ 1.
3. PPS below q = 1: (b) is a bound on G·f(i) − f(i−1), whose derivative p(G·i^{p−1} − (i−1)^{p−1}) has the sign of
   G·(1 − 1/i)^{1−p} − 1: first negative, then positive. So (b) holds between any two frequencies at which it holds.
4. log q' is convex in i (for PPS (p − 1)·log i, for ppswor less τ·i^p besides): q'(i)/q'(i − 1) grows with i, so the
   curve of points (q_{i−1}, q_i) is convex, and all points of a stretch lie below the chord of its ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from math import floor, isqrt
from typing import NamedTuple, final

from attrs import field, frozen

from ...enclosures import Enclosure, Truth, decide
from ...enclosures.arguments import whole
from ...errors import InvalidValue, OutsideDomain
from ...exact import Number, exact
from ...units import Probability
from .budget import DyadicBudget
from .decay import SHORT, WIDEST, decayed

DRAWN_BITS = 256
"""A sampler draws q_i rounded down to so many bits: finer than the units of every table down to δ = 2^−140."""

_GUARD = 32
_FINER = 64
"""With so many more bits, one frequency in 2^50 needs the slow way."""


HIGHEST = 1 << 64
"""No key occurs more often."""


class Corner(NamedTuple):
    """A probability at one frequency and at the next, in units."""

    before: int
    after: int


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

    def units(self, frequency: int, bits: int) -> int:
        """⌊q_i·2^bits⌋, exactly; `frequency` ≥ 1.

        Raises:
            Undecided: where q_i is a whole number of units and no enclosure of `rate` is a point.
            OutsideDomain: beyond the last rate.
        """
        found = 0

        def known(precision: int) -> Truth:
            nonlocal found
            rate = self.rate(frequency, precision=precision)
            found, most = (floor(end * (1 << bits)) for end in (rate.lower, rate.upper))
            return Truth.TRUE if found == most else Truth.UNDECIDED

        start = bits + _GUARD
        decide(known, start=start, limit=16 * start)
        return found

    def drawn(self, frequency: int) -> int:
        """q_i as a sampler draws it, in units of 2^−256, rounded down; `frequency` ≥ 1."""
        return self.units(frequency, DRAWN_BITS)

    def most(self, bits: int) -> int:
        """An upper bound of the units of every frequency; where they reach it, they stay."""
        return 1 << bits

    def settled(self, bits: int) -> int | None:
        """The first frequency whose units are the most; None where none up to `last`, or to 2^64, has them."""
        most, end = self.most(bits), self.last or HIGHEST
        if self.units(end, bits) < most:
            return None
        return 1 if self.units(1, bits) == most else _last(1, end, lambda i: self.units(i, bits) < most) + 1

    def attached(self, budget: DyadicBudget, frequency: int) -> int | None:
        """The last frequency for which it is proven that keys are reported as often as they are kept.

        Args:
            budget: ε and δ.
            frequency: at which they are, and which is below `last`.

        Returns:
            At least `frequency`, which a scheme without a proof returns; None where it is proven for all that follow.
        """
        return frequency

    def corners(self, bits: int, first: int, last: int | None) -> tuple[Corner, ...]:
        """Corners that bound the units of neighbouring frequencies from `first` to `last`, or all from `first` on.

        Args:
            bits: of the units.
            first: the lower one of the first two frequencies.
            last: the higher one of the last two; None for a stretch without end.

        Returns:
            Every (units of i, units of i + 1) lies on or to the lower right of the line through them; none where that
            is not proven.
        """
        return ()


@final
@frozen
class EveryKey(Inclusion):
    """Every key is kept, q = 1: the private histogram without sampling."""

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        """Enclose the probability that a key is sampled: 1."""
        whole("frequency", frequency, 1)
        return Enclosure.of(1, precision=precision)

    def units(self, frequency: int, bits: int) -> int:
        """Return the probability that a key is sampled in units of 2^−bits: 2^bits."""
        whole("frequency", frequency, 1)
        return 1 << bits


def _listed(sizes: Iterable[Number] | None) -> tuple[Fraction, ...] | None:
    return None if sizes is None else tuple(exact(size, parameter="sizes") for size in sizes)


@frozen(kw_only=True)
class _Threshold(Inclusion):
    """Threshold sampling with f(i) = i^p, or with f(1), f(2), … listed.

    Args:
        threshold: τ > 0.
        power: p ≥ 0.
        sizes: f(1), …, f(m) ≥ 0, exact and non-decreasing, in place of a power; later frequencies have no rate.

    Raises:
        InvalidValue: outside these ranges, naming the first frequency at which q would fall; for both a list and a
            power; for NaN.
    """

    threshold: Fraction = field(converter=exact)
    power: Fraction = field(default=Fraction(1), converter=exact)
    sizes: tuple[Fraction, ...] | None = field(default=None, converter=_listed)

    def __attrs_post_init__(self) -> None:
        if self.threshold <= 0:
            raise InvalidValue("threshold", self.threshold, "τ > 0")
        if self.power < 0:
            raise InvalidValue("power", self.power, "p ≥ 0", "With p < 0, q_2 < q_1: PWS needs non-decreasing rates")
        if self.sizes is None:
            return
        if self.power != 1:
            raise InvalidValue("power", self.power, "no power beside a list of sizes")
        if not self.sizes:
            raise InvalidValue("sizes", (), "at least one size")
        if self.sizes[0] < 0:
            raise InvalidValue("sizes", str(self.sizes[0]), "f(1) ≥ 0")
        for frequency, (before, size) in enumerate(pairwise(self.sizes), start=2):
            if size < before:
                raise InvalidValue(
                    "sizes",
                    str(size),
                    f"f({frequency}) at least f({frequency - 1}) = {before}",
                    f"With less, q_{frequency} < q_{frequency - 1}: PWS needs non-decreasing rates",
                )

    @property
    def last(self) -> int | None:
        """The largest frequency with a size, where sizes are listed; else None."""
        return None if self.sizes is None else len(self.sizes)

    @property
    def _concave(self) -> bool:
        return self.sizes is None and self.power <= 1

    def _size(self, frequency: int, precision: int) -> Enclosure:
        """Enclose the size of a frequency in units of the threshold, τ·f(i)."""
        if self.sizes is not None:
            return Enclosure.of(self._listed(frequency) * self.threshold, precision=precision)
        base = Enclosure.of(whole("frequency", frequency, 1), precision=precision)
        return base.power(self.power) * self.threshold

    def _listed(self, frequency: int) -> Fraction:
        sizes = self.sizes or ()
        if whole("frequency", frequency, 1) > len(sizes):
            raise OutsideDomain(f"frequency {frequency}, beyond the {len(sizes)} sizes listed; list more of them.")
        return sizes[frequency - 1]

    def _beyond(self, frequency: int, most: int) -> bool:
        """Whether lengths in bits already show τ·f(i) ≥ `most`: a power may be too long to write out."""
        if self.sizes is not None:
            return False
        octaves = whole("frequency", frequency, 1).bit_length() - 1  # i ≥ 2^octaves
        needed = most.bit_length() + self.threshold.denominator.bit_length()  # τ ≥ 1/denominator
        return octaves * self.power >= needed

    def _scaled(self, frequency: int, bits: int) -> int:
        """Compute ⌊τ·f(i)·2^bits⌋ exactly."""
        if self.sizes is not None:
            size = self._listed(frequency) * self.threshold
            return (size.numerator << bits) // size.denominator
        top, bottom = self.threshold.numerator, self.threshold.denominator
        power, root = self.power.numerator, self.power.denominator
        base = whole("frequency", frequency, 1)
        raised: int = base**power
        if root == 1:
            return (top * raised << bits) // bottom
        if root == 2:  # ⌊√⌊x⌋⌋ = ⌊√x⌋
            return isqrt((top * top * raised << 2 * bits) // (bottom * bottom))
        enclosed = self._size(frequency, bits + base.bit_length() * (power // root + 1) + top.bit_length() + _GUARD)
        low, high = (floor(end * (1 << bits)) for end in (enclosed.lower, enclosed.upper))
        while low < high and (bottom * high) ** root > (top << bits) ** root * raised:
            high -= 1
        return high


@final
@frozen(kw_only=True)
class Ppswor(_Threshold):
    """Probability proportional to size without replacement, by threshold: q_i = 1 − e^{−τ·f(i)}."""

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        """Enclose the probability that a key is sampled: 1 − e^{−τ·f(i)}."""
        if self._beyond(frequency, precision):
            return Enclosure.between(1 - Fraction(1, 1 << precision), 1, precision=precision)
        return (-(-self._size(frequency, precision)).expm1()).minimum(1)

    def units(self, frequency: int, bits: int) -> int:
        """Return the probability in units of 2^−bits, rounded down exactly: ⌊(1 − e^{−τ·f(i)})·2^bits⌋."""
        if self._beyond(frequency, bits):  # e^{−τ·f(i)} < 2^−bits
            return (1 << bits) - 1
        wide = bits + _FINER
        if wide > WIDEST:
            return super().units(frequency, bits)
        size = self._scaled(frequency, wide)
        if not size:
            return super().units(frequency, bits)
        # in units e^{−τf} lies above left − 1, for what τ·f(i) has lost, and below left + SHORT
        left, certain = decayed(size, wide), 1 << wide
        low, high = certain - left - SHORT, min(certain - 1, certain - left)
        return high >> _FINER if low >> _FINER == high >> _FINER else super().units(frequency, bits)

    def most(self, bits: int) -> int:
        """2^bits − 1, as q_i < 1; where all frequencies are kept alike, their units."""
        return (1 << bits) - 1 if self.power else self.units(1, bits)

    def attached(self, budget: DyadicBudget, frequency: int) -> int | None:
        """Say how far keys are reported as often as they are kept: for ever, where it is so once by a margin, p ≤ 1."""
        if self._concave and _ample(self, budget, frequency + 1):
            return None
        return frequency

    def corners(self, bits: int, first: int, last: int | None) -> tuple[Corner, ...]:
        """The ends of the stretch, where p ≤ 1."""
        return _ends(self, bits, first, last) if self._concave else ()


@final
@frozen(kw_only=True)
class PoissonPps(_Threshold):
    """Poisson sampling with probability proportional to size: q_i = min(1, τ·f(i))."""

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        """Enclose the probability that a key is sampled: min(1, τ·f(i))."""
        if self._beyond(frequency, 1):
            return Enclosure.of(1, precision=precision)
        return self._size(frequency, precision).minimum(1)

    def units(self, frequency: int, bits: int) -> int:
        """Return the probability in units of 2^−bits, rounded down exactly: ⌊min(1, τ·f(i))·2^bits⌋."""
        return 1 << bits if self._beyond(frequency, 1) else min(1 << bits, self._scaled(frequency, bits))

    def most(self, bits: int) -> int:
        """2^bits; where all frequencies are kept alike, their units."""
        return 1 << bits if self.power else self.units(1, bits)

    def attached(self, budget: DyadicBudget, frequency: int) -> int | None:
        """Say how far keys are reported as often as they are kept, for p ≤ 1: to a limit, or till all are kept."""
        bits = budget.bits
        if not self._concave or self.units(frequency + 1, bits) == 1 << bits or not _ample(self, budget, frequency + 1):
            return frequency
        far = self._unsaturated(bits)
        if _ample(self, budget, far):
            return None if budget.reported(self.units(far, bits), 1 << bits) == self.units(far + 1, bits) else far
        return _last(frequency + 1, far, lambda i: _ample(self, budget, i))

    def corners(self, bits: int, first: int, last: int | None) -> tuple[Corner, ...]:
        """The ends of the stretch, where p ≤ 1, and the step to q = 1 if that belongs to it."""
        if not self._concave or not self.power:
            return ()
        far = self._unsaturated(bits)
        below = _ends(self, bits, first, far if last is None else min(far, last)) if first < far else ()
        if last is not None and last <= far:
            return below
        return (*below, Corner(self.units(far, bits), 1 << bits)) if below or first == far else ()

    def _unsaturated(self, bits: int) -> int:
        """The last frequency with q_i < 1, at least 1 and not above 2^64."""
        return _last(1, HIGHEST, lambda i: self.units(i, bits) < 1 << bits)


@final
@frozen
class ListedRates(Inclusion):
    """Sampling probabilities q_1, …, q_m of the frequencies 1 to m, written out.

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
        """The largest frequency with a listed probability, m."""
        return len(self.rates)

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        """Enclose the probability q_i listed for a frequency.

        Raises:
            OutsideDomain: beyond the last rate listed.
        """
        return Enclosure.of(self._listed(frequency), precision=precision)

    def units(self, frequency: int, bits: int) -> int:
        """Return the probability in units of 2^−bits, rounded down: ⌊q_i·2^bits⌋; OutsideDomain as for `rate`."""
        rate = self._listed(frequency)
        return (rate.numerator << bits) // rate.denominator

    def _listed(self, frequency: int) -> Fraction:
        if whole("frequency", frequency, 1) > len(self.rates):
            raise OutsideDomain(f"frequency {frequency}, beyond the {len(self.rates)} rates listed; list more of them.")
        return self.rates[frequency - 1].value


def _ample(inclusion: Inclusion, budget: DyadicBudget, frequency: int) -> bool:
    """Whether (a) and (b) hold at this frequency with room for rounding."""
    return budget.ample(*(inclusion.units(i, budget.bits) for i in (frequency - 1, frequency)))


def _ends(inclusion: Inclusion, bits: int, first: int, last: int | None) -> tuple[Corner, ...]:
    """The ends of a stretch on which the points (q_i, q_{i+1}) are a convex curve, moved to the upper left.

    A pair of units lies to the lower right of (q_i − 1 unit, q_{i+1}). These points are on a convex curve too, below
    the chord of its ends; and each end is to the lower right of its corner. Without an end the curve goes on to 1. What
    the chord has left of 0 units is cut off, where no pair lies.
    """
    start = Corner(inclusion.units(first, bits) - 1, inclusion.units(first + 1, bits) + 1)
    end = (
        Corner((1 << bits) - 1, 1 << bits)
        if last is None
        else Corner(inclusion.units(last - 1, bits) - 1, inclusion.units(last, bits) + 1)
    )
    if end.before < 0:
        return (Corner(0, end.after),)
    if start.before < 0:
        start = Corner(0, start.after - (start.after - end.after) // (end.before - start.before))
    return start, end


def _last(low: int, most: int, holds: Callable[[int], bool]) -> int:
    """The last whole number up to `most` at which `holds`, which does at `low`: by doubling, then by bisection."""
    high = low + 1
    while high <= most and holds(high):
        low, high = high, high + 2 * (high - low)
    if high > most:
        if holds(most):
            return most
        high = most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
