"""Interval arithmetic with proven outward rounding, at a precision given by the caller.

The ground are the correctly rounded sum, product and quotient of `mpmath.libmp`, and Python's integers.
exp and log are sums of positive terms in fixed point, each term rounded towards the wanted side:

* expm1(x) = Σ_{k≥1} x^k/k! for x < 1/16; after the term t_k ≤ 1 unit the rest is below t_k; then
  expm1(2x) = expm1(x)·(2 + expm1(x)), increasing in expm1(x), leads back to x < 1; e^x = 2^n·e^(x − n·log 2) beyond.
  Doubling doubles an error, e times over all steps at most: a series has one more bit for each.
* log1p(z) = 2·artanh(z/(2+z)) for 0 ≤ z ≤ 1, artanh(t) = Σ t^j/j over odd j; with t ≤ 1/3 the rest after
  the term t_j is below t_j/8; log v = 2·log √v first, until z is small, with one more bit for each root;
  log(m·2^k) = k·log 2 + log1p(m − 1) beyond.

Guarantee: an operation returns an interval that contains every value of the operation at those points of
its arguments where it is defined; the whole line where it is defined nowhere. Ends may be infinite, but a
lower end is never +inf and an upper end never -inf, and 0·inf is 0, because values are finite.
"""

import math
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple

from mpmath import libmp

Mpf = tuple[int, int, int, int]
"""Sign, odd mantissa, exponent of two, bits of the mantissa: mpmath's raw floating-point number."""
DOWN: Final = "f"
UP: Final = "c"
OPPOSITE: Final = {DOWN: UP, UP: DOWN}

ZERO: Final[Mpf] = libmp.fzero
ONE: Final[Mpf] = libmp.fone
TWO: Final[Mpf] = libmp.ftwo
INFINITY: Final[Mpf] = libmp.finf
MINUS_INFINITY: Final[Mpf] = libmp.fninf
MINUS_ONE: Final[Mpf] = libmp.fnone
_LARGEST_EXPONENT: Final[Mpf] = libmp.from_int(2**63)
_GUARD: Final = 16
"""Bits of a series beyond those wanted: for less than 2^8 terms and steps, each rounded by a few units."""
_FAR_GUARD: Final = 80
"""The same of e^x at a large x, from which n·log 2 is taken, an n of up to 65 bits."""


class Interval(NamedTuple):
    """All real numbers from lo to hi."""

    lo: Mpf
    hi: Mpf


LINE: Final = Interval(MINUS_INFINITY, INFINITY)
UNIT: Final = Interval(MINUS_ONE, ONE)
FRACTION: Final = Interval(ZERO, ONE)
NOTHING: Final = Interval(ZERO, ZERO)
FROM_ZERO: Final = Interval(ZERO, INFINITY)
FROM_ONE: Final = Interval(ONE, INFINITY)


def at_most(left: Mpf, right: Mpf) -> bool:
    """Decide left ≤ right exactly."""
    if left[0] != right[0]:
        return bool(left[0])
    return bool(libmp.mpf_le(left, right))


def exact(value: float) -> Mpf:
    """Give a binary64 (or integer) exactly."""
    result: Mpf = libmp.from_int(value) if isinstance(value, int) else libmp.from_float(value)
    return result


def upper_float(value: Fraction) -> float:
    """Give the least binary64 at or above a number of at least 0."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def magnitude(value: Mpf) -> float:
    """Give the k of 2^(k-1) ≤ |value| < 2^k."""
    if value[1]:
        return value[2] + value[3]
    return -math.inf if value == ZERO else math.inf


def floor_in_units(value: Mpf, point: int) -> int:
    """Give the largest whole number of 2^-point at or below a finite number."""
    sign, mantissa, exponent, _ = value
    if not mantissa and value != ZERO:
        raise ValueError("an infinite number has no whole part")
    shift = exponent + point
    signed = -mantissa if sign else mantissa
    return signed << max(shift, 0) >> max(-shift, 0)


def hull(*parts: Interval) -> Interval:
    """Give the smallest interval around all."""
    low, high = parts[0]
    for part in parts[1:]:
        low = low if at_most(low, part.lo) else part.lo
        high = high if at_most(part.hi, high) else part.hi
    return Interval(low, high)


def holds_zero(value: Interval) -> bool:
    """Whether 0 lies in the interval."""
    return at_most(value.lo, ZERO) and at_most(ZERO, value.hi)


def _shift_up(value: int, bits: int, up: bool) -> int:
    return -(-value >> bits) if up else value >> bits


def rational_of(end: Mpf) -> Fraction:
    """Give a finite end of an enclosure as a rational number."""
    return Fraction(*libmp.to_rational(end))


def upper_end(a: Interval) -> Fraction:
    """Give the upper end of a bounded enclosure as a rational number."""
    return rational_of(a.hi)


class Arithmetic:
    """Interval operations at one precision in bits; the names are those of expressions."""

    def __init__(self, precision: int) -> None:
        """Fix the precision of every operation, in bits."""
        self.precision = precision

    # Scalars, rounded towards one side.

    def _add(self, a: Mpf, b: Mpf, rounding: str) -> Mpf:
        # libmp's sum of far apart numbers is correctly rounded only if no mantissa exceeds the precision
        wide = max(self.precision, a[3], b[3])
        total: Mpf = libmp.mpf_add(a, b, wide, rounding)
        return total if wide == self.precision else self._round(total, rounding)

    def _round(self, a: Mpf, rounding: str) -> Mpf:
        result: Mpf = libmp.mpf_pos(a, self.precision, rounding)
        return result

    def _multiply(self, a: Mpf, b: Mpf, rounding: str) -> Mpf:
        if ZERO in (a, b):
            return ZERO
        result: Mpf = libmp.mpf_mul(a, b, self.precision, rounding)
        return result

    def _divide(self, a: Mpf, b: Mpf, rounding: str) -> Mpf:
        if not b[1]:  # by the infinity: inf/inf is anything, but beside it lies inf over the other end
            return ZERO
        result: Mpf = libmp.mpf_div(a, b, self.precision, rounding)
        return result

    def _sqrt(self, a: Mpf, rounding: str) -> Mpf:
        _, mantissa, exponent, _ = a
        if not mantissa:
            return a
        shift = 2 * self.precision | (exponent & 1)  # the root has as many bits as wanted at least
        root = math.isqrt(mantissa << shift)
        if rounding == UP and root * root != mantissa << shift:
            root += 1
        result: Mpf = libmp.from_man_exp(root, (exponent - shift) // 2, self.precision, rounding)
        return result

    def _expm1_positive(self, x: Mpf, rounding: str) -> Mpf:
        up, bits, size = rounding == UP, self.precision, magnitude(x)
        if not x[1]:
            return x
        if size > 64:
            return INFINITY if up else self._expm1_positive(_LARGEST_EXPONENT, DOWN)
        if size < -bits:  # x ≤ expm1(x) ≤ x + x² for x ≤ 1
            return self._add(x, self._multiply(x, x, UP), UP) if up else self._round(x, DOWN)
        if size > 0:
            return self._add(self._exp_from_one(x, rounding), MINUS_ONE, rounding)
        halvings = max(0, int(size) + self._reach)
        point = bits + halvings + _GUARD - int(size)
        value: Mpf = libmp.from_man_exp(_grown(_fixed(x, point, up), point, halvings, up), -point, bits, rounding)
        return value

    def _exp_from_one(self, x: Mpf, rounding: str) -> Mpf:
        up, point = rounding == UP, self._far_point
        units, log_2 = _fixed(x, point, up), self._far_log_2
        times = _fixed(x, point, False) // log_2[UP]
        grown = _grown(units - times * log_2[OPPOSITE[rounding]], point, self._reach, up)
        power: Mpf = libmp.from_man_exp((1 << point) + grown, times - point, self.precision, rounding)
        return power

    def _exp_positive(self, x: Mpf, rounding: str) -> Mpf:
        if 0 < magnitude(x) <= 64:
            return self._exp_from_one(x, rounding)
        return self._add(ONE, self._expm1_positive(x, rounding), rounding)

    @cached_property
    def _reach(self) -> int:
        """Series are summed at arguments of about so many bits below 1: a balance of terms and doublings."""
        return max(4, math.isqrt(self.precision) * 5 // 8)

    @cached_property
    def _far_point(self) -> int:
        return self.precision + _FAR_GUARD

    @cached_property
    def _far_log_2(self) -> dict[str, int]:
        low, high = Arithmetic(self._far_point)._log_2
        return {DOWN: _fixed(low, self._far_point, False), UP: _fixed(high, self._far_point, True)}

    def _log1p_positive(self, z: Mpf, rounding: str) -> Mpf:
        up, bits = rounding == UP, self.precision
        if not z[1]:
            return z
        if magnitude(z) < -bits:  # z - z² ≤ log1p(z) ≤ z
            square = self._multiply(z, z, UP)
            return self._round(z, UP) if up else self._add(z, libmp.mpf_neg(square), DOWN)
        if at_most(ONE, z):
            x = self._add(ONE, z, rounding)
            power = x[2] + x[3] - 1
            part = self._log1p_positive(self._add(libmp.mpf_shift(x, -power), MINUS_ONE, rounding), rounding)
            return self._add(self._multiply(libmp.from_int(power), self._log_2[up], rounding), part, rounding)
        roots = max(0, int(magnitude(z)) + self._reach // 2)  # a root takes as long as two terms
        point = bits + roots + _GUARD - int(magnitude(z))
        root = (1 << point) + _fixed(z, point, up)
        for _ in range(roots):
            root = math.isqrt(root << point) + up
        near: Mpf = libmp.from_man_exp(root - (1 << point), -point)
        taken: Mpf = libmp.mpf_shift(self._twice_artanh(near, rounding), roots)
        return taken

    @cached_property
    def _log_2(self) -> tuple[Mpf, Mpf]:
        return self._twice_artanh(ONE, DOWN), self._twice_artanh(ONE, UP)

    def _twice_artanh(self, z: Mpf, rounding: str) -> Mpf:
        up = rounding == UP
        t = self._divide(z, self._add(TWO, z, OPPOSITE[rounding]), rounding)
        point = self.precision + _GUARD - int(magnitude(t))
        first = _fixed(t, point, up)
        square = _shift_up(first * first, point, up)
        total = power = term = -first if up else first  # of what is negative floors are the larger in size
        j = 3
        while abs(term) > 1:
            power = power * square >> point
            term = power // j
            total += term
            j += 2
        total -= up
        result: Mpf = libmp.from_man_exp(abs(total), 1 - point, self.precision, rounding)
        return result

    def _expm1(self, x: Mpf, rounding: str) -> Mpf:
        if not x[0]:
            return self._expm1_positive(x, rounding)
        grown = self._expm1_positive(libmp.mpf_neg(x), OPPOSITE[rounding])
        if grown == INFINITY:
            return MINUS_ONE
        fallen = self._divide(grown, self._add(ONE, grown, rounding), OPPOSITE[rounding])
        negated: Mpf = libmp.mpf_neg(fallen)
        return negated

    def _exp(self, x: Mpf, rounding: str) -> Mpf:
        if not x[0]:
            return self._exp_positive(x, rounding)
        return self._divide(ONE, self._exp_positive(libmp.mpf_neg(x), OPPOSITE[rounding]), rounding)

    def _log1p(self, z: Mpf, rounding: str) -> Mpf:
        if at_most(z, MINUS_ONE):
            return MINUS_INFINITY
        if not z[0]:
            return self._log1p_positive(z, rounding)
        opposite = OPPOSITE[rounding]
        mirrored = self._divide(libmp.mpf_neg(z), self._add(ONE, z, rounding), opposite)
        negated: Mpf = libmp.mpf_neg(self._log1p_positive(mirrored, opposite))
        return negated

    def _log(self, x: Mpf, rounding: str) -> Mpf:
        if at_most(x, ZERO):
            return MINUS_INFINITY
        if at_most(ONE, x):
            return self._log1p_positive(self._add(x, MINUS_ONE, rounding), rounding)
        opposite = OPPOSITE[rounding]
        mirrored = self._divide(self._add(ONE, libmp.mpf_neg(x), opposite), x, opposite)
        negated: Mpf = libmp.mpf_neg(self._log1p_positive(mirrored, opposite))
        return negated

    def _whole_power(self, x: Mpf, exponent: int, rounding: str) -> Mpf:
        result, square = ONE, x  # x ≥ 0, exponent ≥ 1
        while exponent:
            if exponent & 1:
                result = self._multiply(result, square, rounding)
            exponent >>= 1
            if exponent:
                square = self._multiply(square, square, rounding)
        return result

    # Intervals.

    def rational(self, value: Fraction) -> Interval:
        """Enclose a rational number."""
        over, under = libmp.from_int(value.numerator), libmp.from_int(value.denominator)
        return Interval(self._divide(over, under, DOWN), self._divide(over, under, UP))

    def above(self, value: Fraction) -> Fraction:
        """Give the least number of this precision at or above a rational one."""
        return upper_end(self.rational(value))

    def add(self, a: Interval, b: Interval) -> Interval:
        """Enclose the sum a + b."""
        return Interval(self._add(a.lo, b.lo, DOWN), self._add(a.hi, b.hi, UP))

    def negate(self, a: Interval) -> Interval:
        """Give the negative -a exactly."""
        return Interval(libmp.mpf_neg(a.hi), libmp.mpf_neg(a.lo))

    def subtract(self, a: Interval, b: Interval) -> Interval:
        """Enclose the difference a - b."""
        return self.add(a, self.negate(b))

    def multiply(self, a: Interval, b: Interval) -> Interval:
        """Enclose the product a·b: the extremes lie at corners, which the sign of one factor tells."""
        if a.hi[0]:
            return self.negate(self.multiply(self.negate(a), b))
        if a.lo[0]:
            if b.lo[0] and not b.hi[0]:  # 0 is inside both
                return hull(*(Interval(self._multiply(x, y, DOWN), self._multiply(x, y, UP)) for x in a for y in b))
            return self.multiply(b, a)
        low, high = a.hi if b.lo[0] else a.lo, a.lo if b.hi[0] else a.hi
        return Interval(self._multiply(low, b.lo, DOWN), self._multiply(high, b.hi, UP))

    def divide(self, a: Interval, b: Interval) -> Interval:
        """Enclose a/b over the b other than 0."""
        if at_most(b.hi, ZERO):
            a, b = self.negate(a), self.negate(b)
        if b.lo[0] or b.hi == ZERO:
            return LINE
        if b.lo == ZERO:
            return self.multiply(a, Interval(self._divide(ONE, b.hi, DOWN), INFINITY))
        if at_most(ZERO, a.lo):
            return Interval(self._divide(a.lo, b.hi, DOWN), self._divide(a.hi, b.lo, UP))
        return hull(
            *(Interval(self._divide(x, y, DOWN), self._divide(x, y, UP)) for x in a for y in b),
        )

    def minimum(self, a: Interval, b: Interval) -> Interval:
        """Enclose the smaller of a and b."""
        return Interval(a.lo if at_most(a.lo, b.lo) else b.lo, a.hi if at_most(a.hi, b.hi) else b.hi)

    def maximum(self, a: Interval, b: Interval) -> Interval:
        """Enclose the larger of a and b."""
        return Interval(b.lo if at_most(a.lo, b.lo) else a.lo, b.hi if at_most(a.hi, b.hi) else a.hi)

    def select(self, a: Interval, b: Interval, x: Interval, y: Interval) -> Interval:
        """Enclose x where a ≤ b, and y elsewhere."""
        if at_most(a.hi, b.lo):
            return x
        return hull(x, y) if at_most(a.lo, b.hi) else y

    def exp(self, a: Interval) -> Interval:
        """Enclose the exponential e^a."""
        return Interval(self._exp(a.lo, DOWN), self._exp(a.hi, UP))

    def expm1(self, a: Interval) -> Interval:
        """Enclose e^a - 1, relatively sharp near 0."""
        return Interval(self._expm1(a.lo, DOWN), self._expm1(a.hi, UP))

    def log(self, a: Interval) -> Interval:
        """Enclose log a over the positive a."""
        return LINE if at_most(a.hi, ZERO) else Interval(self._log(a.lo, DOWN), self._log(a.hi, UP))

    def log1p(self, a: Interval) -> Interval:
        """Enclose log(1 + a) over a > -1, relatively sharp near 0."""
        return LINE if at_most(a.hi, MINUS_ONE) else Interval(self._log1p(a.lo, DOWN), self._log1p(a.hi, UP))

    def sqrt(self, a: Interval) -> Interval:
        """Enclose the square root over a ≥ 0."""
        if a.hi[0]:
            return LINE
        return Interval(self._sqrt(a.lo, DOWN) if at_most(ZERO, a.lo) else ZERO, self._sqrt(a.hi, UP))

    def power(self, a: Interval, exponent: Fraction) -> Interval:
        """Enclose a^exponent; over a ≥ 0 where the exponent is not whole."""
        if exponent < 0:
            return self.divide(Interval(ONE, ONE), self.power(a, -exponent))
        if exponent == 0:
            return Interval(ONE, ONE)
        if exponent.denominator != 1:
            positive = a if at_most(ZERO, a.lo) else Interval(ZERO, a.hi)
            if at_most(positive.hi, ZERO):
                return NOTHING if a.hi == ZERO else LINE
            return self.exp(self.multiply(self.rational(exponent), self.log(positive)))
        whole = exponent.numerator
        if at_most(ZERO, a.lo):
            return Interval(self._whole_power(a.lo, whole, DOWN), self._whole_power(a.hi, whole, UP))
        if at_most(a.hi, ZERO):
            mirrored = self.power(self.negate(a), exponent)
            return self.negate(mirrored) if whole % 2 else mirrored
        below, above = self._whole_power(libmp.mpf_neg(a.lo), whole, UP), self._whole_power(a.hi, whole, UP)
        if whole % 2:
            return Interval(libmp.mpf_neg(below), above)
        return Interval(ZERO, above if at_most(below, above) else below)


def _fixed(value: Mpf, point: int, up: bool) -> int:
    """Give value·2^point, value > 0, rounded to an integer."""
    shift = value[2] + point
    return _shift_up(value[1] << max(shift, 0), max(-shift, 0), up)


def _grown(x: int, point: int, halvings: int, up: bool) -> int:
    """Give e^x - 1 of a small x >= 0, both in units of 2^-point, from its series at x/2^halvings."""
    y = _shift_up(x, halvings, up)
    total = term = -y if up else y  # of what is negative floors are the larger in size
    k = 2
    while abs(term) > 1:
        term = (term * y >> point) // k
        total += term
        k += 1
    total -= up  # the rest of the series is below the last term, which is at most one unit
    two = 2 << point
    for _ in range(halvings):
        total = total * (two + abs(total)) >> point
    return abs(total)


OPERATIONS: Final[dict[str, Any]] = {
    name: getattr(Arithmetic, name)
    for name in (
        *("add", "subtract", "multiply", "divide", "minimum", "maximum", "select"),
        *("exp", "expm1", "log", "log1p", "sqrt", "power"),
    )
}
