"""What is reported of keys alone: r_i units for a key of frequency i, proven for every frequency.

A table lists rows; between them, on a stretch, all that is kept is reported: q_i in units less at most m of them
(`MARGIN`), whichever way a program rounds. After the last row it goes on in one of three ways.

Listed rows are compared exactly. On a stretch from frequency a, with u = 2^-K, d = D·u and G ≥ 1,

1. r_i ≤ G·r_(i-1) + d follows from q_i - G·q_(i-1) ≤ d - G·m·u, where the left side is the rise q_i - q_(i-1) less
   (G - 1)·q_(i-1), which does not fall with i;
2. 1 - r_(i-1) ≤ G·(1 - r_i) + d follows from (1 - q_(i-1)) - G·(1 - q_i) ≤ d - m·u;
3. the other two follow: as q does not fall, 1 gives G·m·u - d ≤ (G - 1)·q_(i-1), and 2 m·u - d ≤ (G - 1)·(1 - q_i).

`Rates` bounds both left sides over many frequencies, for ppswor with p ≤ 1 and pps with p = 1 by their largest value,
and for the others by halves. For ppswor with p ≤ 1 both left sides, where positive, do not grow with i: what holds
from the first frequency on holds for ever (PWS Lemma 4.4). Where 1 - q is at most d it holds for every scheme.
Constant units satisfy all four, and are kept as q does not fall.

Where releases are composed at each frequency (`composed`), each two neighbouring rows are; a row after a stretch with
the least and the most that may be reported before it. Over frequencies of a stretch, i from a to b, its premises hold
with d the larger of 0 and what `Rates.fall` bounds at G = h, plus m·u, and

4. g = 1 + (rise + m·u)/(q_(a-1) - m·u), where that divisor is above 0: r_i ≤ q_(i-1) + rise, and
   r_(i-1) ≥ q_(i-1) - m·u, whose ratio falls with q; else g = 1 and d at least rise + m·u;
5. h the larger of (1 - q_(i-1))/(1 - q_i) at i = a and i = b, or any other number of at least 1;
6. r_(i-1) ≤ q_i ≤ r_i + m·u ≤ r_i + d.
"""

from fractions import Fraction
from typing import Any, Final

from mpmath import libmp

from .. import shapes
from ..budget import PRODUCT
from ..intervals import NOTHING, ONE, ZERO, Interval, at_most, floor_in_units
from ..verdict import Refused
from .composed import Releases, corner
from .rates import Rates
from .units import MARGIN, Units, a_whole_number

_REPORTED: Final = shapes.record(reported=shapes.sequence(a_whole_number))
_KEPT: Final = shapes.record(kept_through=shapes.integer(1, 2**53))
_CELL: Final = 8 * PRODUCT
_CERTAIN: Final = Interval(ONE, ONE)


def _segment(value: Any, where: str) -> None:
    shape = _KEPT if type(value) is dict and "kept_through" in value else _REPORTED
    shape(value, where)


TABLE: Final = shapes.record(segments=shapes.sequence(_segment), then=shapes.one_of("kept", "constant", "absent"))


def prove_keys(table: Any, rates: Rates, units: Units, releases: Releases | None = None) -> int | None:
    """Prove the table, and releases by it; the last frequency that it covers, or None where it covers all."""
    TABLE(table, "inputs.table")
    proof = _Proof(rates, units, releases)
    for segment in table["segments"]:
        if "kept_through" in segment:
            proof.stretch(segment["kept_through"])
        else:
            for text in segment["reported"]:
                proof.row(int(text))
    if table["then"] == "kept":
        proof.for_ever()
    return proof.frequency if table["then"] == "absent" else None


class _Proof:
    """Where a proof stands: the frequency, and from how many to how many units are reported there."""

    def __init__(self, rates: Rates, units: Units, releases: Releases | None = None) -> None:
        self.frequency = self._low = self._high = 0
        self._attached = True
        self._rates, self._units, self._releases = rates, units, releases
        arithmetic = rates.arithmetic
        self._growth = arithmetic.rational(Fraction(units.growth, units.certain))
        self._spent = arithmetic.rational(Fraction(units.growth - units.certain, units.certain))
        self._upward = arithmetic.rational(
            Fraction(units.scaled_allowance - MARGIN * units.growth, units.certain**2)
        ).lo
        self._downward = arithmetic.rational(Fraction(units.allowance - MARGIN, units.certain)).lo

    def row(self, reported: int) -> None:
        """Prove one row against the one before."""
        self._advance(self.frequency + 1)
        rate = self._rates.rate(self.frequency)
        if reported > floor_in_units(rate.lo, self._units.bits):
            raise Refused(f"more is reported of frequency {self.frequency} than is kept")
        if not self._units.admits(self._low, self._high, reported):
            raise Refused(
                f"(epsilon, delta) does not hold between frequencies {self.frequency - 1} and {self.frequency}"
            )
        if self._releases is not None and not all(
            self._releases.rows_within(before, reported, self._units.certain) for before in {self._low, self._high}
        ):
            raise Refused(
                f"the releases exceed delta at epsilon between frequencies {self.frequency - 1} and {self.frequency}"
            )
        self._low = self._high = reported
        self._attached = reported + MARGIN >= -floor_in_units(libmp.mpf_neg(rate.hi), self._units.bits)

    def stretch(self, last: int) -> None:
        """Prove that all kept keys may be reported up to a frequency."""
        first = self.frequency + 1
        self._kept_from(first)
        if last < first:
            raise Refused("the table's frequencies must increase")
        self._advance(last)
        open_cells = [(first, last)]
        while open_cells:
            low, high = open_cells.pop()
            if self._holds(low, high):
                continue
            if low == high:
                raise Refused(f"not all keys of frequency {low} can be proven to be reported")
            middle = (low + high) // 2
            open_cells += [(low, middle), (middle + 1, high)]
        rate = self._rates.rate(last)
        self._high = floor_in_units(rate.hi, self._units.bits)
        self._low = max(0, floor_in_units(rate.lo, self._units.bits) - MARGIN)
        self._attached = True

    def for_ever(self) -> None:
        """Prove that all kept keys may be reported from here on."""
        first = self.frequency + 1
        self._kept_from(first)
        if self._rates.last != float("inf") or not self._holds(first, None):
            raise Refused(f"not all keys from frequency {first} on can be proven to be reported")

    def _advance(self, frequency: int) -> None:
        if frequency > self._rates.last:
            raise Refused(f"frequency {frequency} has no rate")
        self.frequency = frequency

    def _kept_from(self, first: int) -> None:
        """Refuse unless all of the frequency before is reported, up to the margin."""
        if not self._attached:
            raise Refused(f"a stretch begins after frequency {first - 1}, of which not all is reported")

    def _holds(self, first: int, last: int | None) -> bool:
        """Whether the bounds of the rates prove both premises over these frequencies."""
        self._rates.budget.operations(_CELL, self._rates.arithmetic.precision)
        arithmetic, rates = self._rates.arithmetic, self._rates
        rise = rates.rise(first, last)
        before = arithmetic.multiply(self._spent, rates.rate(first - 1))
        upward = arithmetic.subtract(Interval(rise, rise), before).hi
        alone = at_most(upward, self._upward) and at_most(rates.fall(first, last, self._growth), self._downward)
        return alone and (self._releases is None or self._releases.within(*self._apart(first, last)))

    def _apart(self, first: int, last: int | None) -> tuple[Interval, Interval, Interval]:
        """Give a response that dominates those of these frequencies: x, y, and with what probability it tells."""
        self._rates.budget.operations(_CELL, self._rates.arithmetic.precision)
        arithmetic, rates = self._rates.arithmetic, self._rates
        margin = arithmetic.rational(Fraction(MARGIN, self._units.certain))
        tells = arithmetic.add(Interval(ZERO, rates.rise(first, last)), margin)
        steep = flat = _CERTAIN
        least = arithmetic.subtract(rates.rate(first - 1), margin)
        if not at_most(least.lo, ZERO):
            steep, tells = arithmetic.add(_CERTAIN, arithmetic.divide(tells, least)), margin
        for frequency in (first, last or first):
            left = rates.left_out(frequency)
            if not at_most(left.lo, ZERO):
                flat = arithmetic.maximum(flat, arithmetic.divide(rates.left_out(frequency - 1), left))
        steep, flat = (Interval(slope.hi, slope.hi) for slope in (steep, flat))
        fallen = arithmetic.maximum(Interval(ZERO, rates.fall(first, last, flat)), NOTHING)
        tells = arithmetic.minimum(arithmetic.maximum(tells, arithmetic.add(fallen, margin)), _CERTAIN)
        return (*corner(steep, flat), Interval(tells.hi, tells.hi))
