"""Enclosures: closed intervals that provably hold an exact number."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar, NoReturn, TypeAlias, final

from ..errors import InvalidType, InvalidValue, OutsideDomain
from ..exact import Number, exact
from . import _ends as ends
from . import _series
from ._ends import DOWN, NEAREST, ONE, UP, ZERO, Raw
from ._powers import power_ends
from ._text import interval_text
from .truth import Truth

DEFAULT_PRECISION = 96
"""Bits kept in the ends of an enclosure where nothing else is asked for."""

_FEWEST_BITS, _MOST_BITS = 4, 1 << 20

_Operand: TypeAlias = "Enclosure | int | Fraction"


@final
class Enclosure:
    """A closed interval [lower, upper] that holds an exact number.

    Ends are binary numbers of at most `precision` bits with an unbounded exponent. Enclosures are immutable,
    hashable and share no state; `==` compares the ends as written and claims nothing about the numbers
    inside.

    Guarantees: if x lies in `a` and y in `b`, then f(x, y) lies in `a.f(b)`, for every operation and method
    here. The result has the larger precision of the operands; each of its ends is correctly rounded for + − ·
    /, `sqrt` and `square`, and within a few units of the last place otherwise. A number f(x) with at most
    `precision` bits that can be computed exactly is enclosed by a point.

    >>> Enclosure.of("0.1").log1p()
    Enclosure[0.095310179804324860043952123278, 0.095310179804324860043952123282]
    >>> (Enclosure.of(2).sqrt() * 3).upper_float
    4.242640687119286
    """

    __slots__ = ("_lower", "_number", "_precision", "_upper")
    __array_ufunc__: ClassVar[None] = None  # NumPy hands `float64 * enclosure` to __rmul__, which refuses it

    _lower: Raw
    _upper: Raw
    _precision: int
    _number: Fraction
    """Of an interval that `of` made: what was given."""

    def __init__(self) -> None:
        """Refuse a direct call: use `Enclosure.of` or `Enclosure.between`."""
        raise InvalidType("Enclosure", "a direct call", "Enclosure.of(value) or Enclosure.between(lower, upper)")

    @classmethod
    def of(cls, value: Number, *, precision: int = DEFAULT_PRECISION) -> Enclosure:
        """The tightest enclosure of `value`, read exactly: a point where `precision` bits represent it.

        Args:
            value: int, finite float, Fraction, or text such as "0.1" or "2/3".
            precision: bits of the ends, 4 to 2**20.

        Raises:
            InvalidValue: for NaN, infinities, unreadable text and an inadmissible precision.
            InvalidType: for other types.
        """
        number = exact(value)
        return _knowing(_of_exact(number, checked_precision(precision)), number)

    @classmethod
    def of_ratio(cls, numerator: int, denominator: int, *, precision: int = DEFAULT_PRECISION) -> Enclosure:
        """The tightest enclosure of numerator/denominator, without reducing the fraction first.

        Raises:
            InvalidValue: for a denominator below 1 and an inadmissible precision.
        """
        checked_precision(precision)
        if denominator < 1:
            raise InvalidValue("denominator", denominator, "an integer of at least 1")
        top, bottom = ends.whole(numerator), ends.whole(denominator)
        return _make(ends.divide(top, bottom, precision, DOWN), ends.divide(top, bottom, precision, UP), precision)

    @classmethod
    def between(cls, lower: Number, upper: Number, *, precision: int = DEFAULT_PRECISION) -> Enclosure:
        """The interval from `lower` to `upper`, rounded outward to `precision` bits.

        Raises:
            InvalidValue: for lower > upper, NaN, infinities, unreadable text and an inadmissible precision.
            InvalidType: for other types.
        """
        low, high = exact(lower, parameter="lower"), exact(upper, parameter="upper")
        if low > high:
            raise InvalidValue("lower", lower, f"a number of at most upper = {upper}", "Swap the two ends.")
        checked_precision(precision)
        return _make(ends.ratio(low, precision, DOWN), ends.ratio(high, precision, UP), precision)

    # Reading

    @property
    def lower(self) -> Fraction:
        """The lower end, exactly.

        Raises:
            OutsideDomain: where its binary exponent is beyond ±2**24.
        """
        return ends.fraction(self._lower)

    @property
    def upper(self) -> Fraction:
        """The upper end, exactly.

        Raises:
            OutsideDomain: where its binary exponent is beyond ±2**24.
        """
        return ends.fraction(self._upper)

    @property
    def number(self) -> Fraction | None:
        """The enclosed number itself, where it is known: that of a point, and the value that `of` was given.

        Raises:
            OutsideDomain: where the binary exponent of a point is beyond ±2**24.
        """
        return self.lower if self.is_point else getattr(self, "_number", None)

    @property
    def precision(self) -> int:
        """How many bits the ends are kept to."""
        return self._precision

    @property
    def lower_float(self) -> float:
        """The largest binary64 number that is at most `lower` (−inf below the finite ones)."""
        return ends.float_below(self._lower)

    @property
    def upper_float(self) -> float:
        """The smallest binary64 number that is at least `upper` (inf above the finite ones)."""
        return ends.float_above(self._upper)

    @property
    def width(self) -> Fraction:
        """upper − lower, exactly; OutsideDomain as for `lower`."""
        return self.upper - self.lower

    @property
    def relative_width(self) -> Fraction | None:
        """The width over the smallest magnitude inside; 0 for a point, None where others share it with 0.

        Raises:
            OutsideDomain: where the exponents of the ends are more than 2**24 apart.
        """
        if self.is_point:
            return Fraction(0)
        if self._holds_zero:
            return None
        unit = max(self._lower[2], self._upper[2])
        low, high = (ends.fraction(ends.shifted(end, -unit)) for end in (self._lower, self._upper))
        return (high - low) / min(abs(low), abs(high))

    @property
    def midpoint(self) -> Fraction:
        """A number of at most `precision` bits inside the enclosure: (lower + upper)/2 rounded to nearest.

        Raises:
            OutsideDomain: where its binary exponent is beyond ±2**24.
        """
        return ends.fraction(ends.shifted(ends.add(self._lower, self._upper, self._precision, NEAREST), -1))

    @property
    def is_point(self) -> bool:
        """Whether lower = upper: the number is known exactly."""
        return self._lower == self._upper

    def contains(self, value: Number | Enclosure) -> bool:
        """Whether the exact number, or every number of the other enclosure, lies inside.

        Raises:
            InvalidValue: for NaN, infinities and unreadable text.
            InvalidType: for other types.
        """
        low, high, other_low, other_high = self._aligned(value)
        return ends.order(low, other_low) <= 0 and ends.order(other_high, high) <= 0

    # Arithmetic

    def __neg__(self) -> Enclosure:
        """Return the enclosure of the negative, exactly."""
        return _make(ends.negative(self._upper), ends.negative(self._lower), self._precision)

    def __pos__(self) -> Enclosure:
        """Return the enclosure itself."""
        return self

    def __abs__(self) -> Enclosure:
        """Return the enclosure of the absolute value, exactly."""
        if not self._lower[0]:
            return self
        if self._upper[0]:
            return -self
        return _make(ZERO, ends.larger(ends.negative(self._lower), self._upper), self._precision)

    def __add__(self, other: _Operand) -> Enclosure:
        """The sum with an enclosure, int or Fraction."""
        term = self._operand(other)
        bits = max(self._precision, term._precision)
        return _make(ends.add(self._lower, term._lower, bits, DOWN), ends.add(self._upper, term._upper, bits, UP), bits)

    __radd__ = __add__

    def __sub__(self, other: _Operand) -> Enclosure:
        """The difference with an enclosure, int or Fraction."""
        return self + -self._operand(other)

    def __rsub__(self, other: _Operand) -> Enclosure:
        """The difference of an int or Fraction with this enclosure."""
        return self._operand(other) + -self

    def __mul__(self, other: _Operand) -> Enclosure:
        """The product with an enclosure, int or Fraction."""
        factor = self._operand(other)
        bits = max(self._precision, factor._precision)
        down, up = _corners(self, factor)
        return _make(ends.multiply(*down, bits, DOWN), ends.multiply(*up, bits, UP), bits)

    __rmul__ = __mul__

    def __truediv__(self, other: _Operand) -> Enclosure:
        """The quotient by an enclosure, int or Fraction.

        Raises:
            OutsideDomain: where the divisor holds 0.
        """
        divisor = self._operand(other)
        if divisor._holds_zero:
            raise OutsideDomain(f"division by {divisor}, which holds 0; raise the precision or treat 0 apart.")
        if divisor._upper[0]:
            return -self / -divisor
        bits = max(self._precision, divisor._precision)
        low_by = divisor._lower if self._lower[0] else divisor._upper
        high_by = divisor._upper if self._upper[0] else divisor._lower
        return _make(ends.divide(self._lower, low_by, bits, DOWN), ends.divide(self._upper, high_by, bits, UP), bits)

    def __rtruediv__(self, other: _Operand) -> Enclosure:
        """The quotient of an int or Fraction by this enclosure; OutsideDomain where this holds 0."""
        return self._operand(other) / self

    def exp(self) -> Enclosure:
        """Enclose the exponential e**x.

        Raises:
            OutsideDomain: where x reaches 2**62. For x ≤ −2**62 the lower end is 0.
        """
        return self._increasing(_series.exp)

    def expm1(self) -> Enclosure:
        """e**x − 1, relatively accurate near 0.

        Raises:
            OutsideDomain: where x reaches 2**62.
        """
        return self._increasing(_series.expm1)

    def log(self) -> Enclosure:
        """The natural logarithm, relatively accurate near 1.

        Raises:
            OutsideDomain: where the enclosure reaches 0.
        """
        return self._increasing(_series.log)

    def log1p(self) -> Enclosure:
        """ln(1 + x), relatively accurate near 0.

        Raises:
            OutsideDomain: where the enclosure reaches −1.
        """
        return self._increasing(_series.log1p)

    def sqrt(self) -> Enclosure:
        """The square root.

        Raises:
            OutsideDomain: where the enclosure reaches below 0.
        """
        if self._lower[0]:
            raise OutsideDomain(f"sqrt of {self}, which reaches below 0; intersect it with what is known first.")
        bits = self._precision
        return _make(ends.square_root(self._lower, bits, DOWN), ends.square_root(self._upper, bits, UP), bits)

    def square(self) -> Enclosure:
        """x², never below 0; tighter than x·x where the enclosure holds 0."""
        size, bits = abs(self), self._precision
        return _make(
            ends.multiply(size._lower, size._lower, bits, DOWN),
            ends.multiply(size._upper, size._upper, bits, UP),
            bits,
        )

    def power(self, exponent: Fraction | int) -> Enclosure:
        """x**exponent, with x**0 = 1; a point where the power of a point is exact and fits, as in 4**(1/2).

        Args:
            exponent: an integer for any base, a Fraction for bases of at least 0.

        Raises:
            InvalidType: for an exponent that is no int or Fraction.
            OutsideDomain: for a broken exponent where the base reaches below 0, a negative one where it holds 0, and
                where the result reaches e**(2**62) through a broken exponent.
        """
        match exponent:
            case int() | Fraction() if not isinstance(exponent, bool):
                order = Fraction(exponent)
            case _:
                raise InvalidType("exponent", exponent, "an int or a Fraction", "Write exact(exponent).")
        if order < 0 and self._holds_zero:
            raise OutsideDomain(f"power {order} of {self}, which holds 0; raise the precision or treat 0 apart.")
        if order.denominator != 1 and self._lower[0]:
            raise OutsideDomain(f"power {order} of {self}, which reaches below 0; only integer powers reach there.")
        if order == 0:
            return _make(ONE, ONE, self._precision)
        if order.numerator % 2 and self._lower[0]:
            return self._odd_power(order)
        base = abs(self)
        first, last = (base._lower, base._upper) if order > 0 else (base._upper, base._lower)
        low, high = power_ends(first, order, self._precision)
        return _make(low, high if base.is_point else power_ends(last, order, self._precision)[1], self._precision)

    def _odd_power(self, order: Fraction) -> Enclosure:
        """The power by an odd integer where the enclosure reaches below 0."""
        if self._upper[0] or self._upper == ZERO:
            return -(-self).power(order)
        low = ends.negative(power_ends(ends.negative(self._lower), order, self._precision)[1])
        return _make(low, power_ends(self._upper, order, self._precision)[1], self._precision)

    # Order and sets

    def minimum(self, other: _Operand) -> Enclosure:
        """Return the enclosure of the smaller of two enclosed numbers."""
        second = self._operand(other)
        return self._joined(second, ends.smaller(self._lower, second._lower), ends.smaller(self._upper, second._upper))

    def maximum(self, other: _Operand) -> Enclosure:
        """Return the enclosure of the larger of two enclosed numbers."""
        second = self._operand(other)
        return self._joined(second, ends.larger(self._lower, second._lower), ends.larger(self._upper, second._upper))

    def hull(self, other: _Operand) -> Enclosure:
        """Return the smallest interval that holds both enclosures."""
        second = self._operand(other)
        return self._joined(second, ends.smaller(self._lower, second._lower), ends.larger(self._upper, second._upper))

    def intersection(self, other: _Operand) -> Enclosure:
        """What both enclosures hold, for two enclosures of the same number.

        Raises:
            InvalidValue: where they are disjoint: they cannot enclose the same number.
        """
        second = self._operand(other)
        low, high = ends.larger(self._lower, second._lower), ends.smaller(self._upper, second._upper)
        if ends.order(low, high) > 0:
            raise InvalidValue(
                "other",
                second,
                f"an enclosure that meets {self}",
                "Disjoint enclosures hold different numbers: check where the two come from.",
            )
        return self._joined(second, low, high)

    def at(self, precision: int) -> Enclosure:
        """The enclosure rounded outward to `precision` bits.

        Raises:
            InvalidValue: for an inadmissible precision.
        """
        bits = checked_precision(precision)
        made = _make(ends.rounded(self._lower, bits, DOWN), ends.rounded(self._upper, bits, UP), bits)
        return _knowing(made, getattr(self, "_number", None))

    def widen(self, relative: Number) -> Enclosure:
        """The numbers x·(1 + t) for x inside and |t| ≤ relative: room for a known relative error.

        Raises:
            InvalidValue: for a relative error outside [0, 1].
            InvalidType: for other types.
        """
        error = exact(relative, parameter="relative")
        if not 0 <= error <= 1:
            raise InvalidValue("relative", relative, "a number between 0 and 1")
        return self * Enclosure.between(1 - error, 1 + error, precision=self._precision)

    def less(self, other: Enclosure | Number) -> Truth:
        """Whether the number is less than `other` (a float or text is read exactly)."""
        low, high, other_low, other_high = self._aligned(other)
        if ends.order(high, other_low) < 0:
            return Truth.TRUE
        return Truth.FALSE if ends.order(low, other_high) >= 0 else Truth.UNDECIDED

    def less_equal(self, other: Enclosure | Number) -> Truth:
        """Whether the number is at most `other`."""
        return self.greater(other).negated

    def greater(self, other: Enclosure | Number) -> Truth:
        """Whether the number is greater than `other`."""
        low, high, other_low, other_high = self._aligned(other)
        if ends.order(low, other_high) > 0:
            return Truth.TRUE
        return Truth.FALSE if ends.order(high, other_low) <= 0 else Truth.UNDECIDED

    def greater_equal(self, other: Enclosure | Number) -> Truth:
        """Whether the number is at least `other`."""
        return self.less(other).negated

    # Python's protocols

    def __eq__(self, other: object) -> bool:
        """Whether `other` is an enclosure with the same ends; no claim about the numbers inside."""
        match other:
            case Enclosure():
                return self._lower == other._lower and self._upper == other._upper
            case _:
                return NotImplemented

    def __hash__(self) -> int:
        """Return a hash of both ends."""
        return hash((self._lower, self._upper))

    def __lt__(self, other: object) -> NoReturn:
        """Refuse `<`, which has three answers here: use `less`."""
        raise _unordered("<", "less")

    def __le__(self, other: object) -> NoReturn:
        """Refuse `<=`, which has three answers here: use `less_equal`."""
        raise _unordered("<=", "less_equal")

    def __gt__(self, other: object) -> NoReturn:
        """Refuse `>`, which has three answers here: use `greater`."""
        raise _unordered(">", "greater")

    def __ge__(self, other: object) -> NoReturn:
        """Refuse `>=`, which has three answers here: use `greater_equal`."""
        raise _unordered(">=", "greater_equal")

    def __bool__(self) -> NoReturn:
        """Refused: whether an enclosed number is 0 may be undecided."""
        raise InvalidType("bool()", self, "a comparison", "Use less(0), greater(0) or contains(0).")

    def __float__(self) -> NoReturn:
        """Refused: a single float would drop the rounding direction."""
        raise InvalidType("float()", self, "a rounding direction", "Use lower_float or upper_float.")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse every assignment: enclosures are immutable."""
        raise InvalidType(name, value, "no assignment", "Enclosures are immutable: make a new one.")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse every deletion: enclosures are immutable."""
        raise InvalidType(name, "a deletion", "no deletion", "Enclosures are immutable: make a new one.")

    def __reduce__(self) -> tuple[Callable[..., Enclosure], tuple[Raw, Raw, int, Fraction | None]]:
        """Say how an enclosure is copied and pickled: by its ends, its precision, and the number where it is known."""
        return _restored, (self._lower, self._upper, self._precision, getattr(self, "_number", None))

    def __str__(self) -> str:
        """Decimal digits rounded outward, enough to see where the ends differ."""
        return interval_text(self._lower, self._upper)

    def __repr__(self) -> str:
        """The text of the interval, with the class's name."""
        return f"Enclosure{self}"

    # Shared steps

    @property
    def _holds_zero(self) -> bool:
        return bool(self._lower[0] or self._lower == ZERO) and not self._upper[0]

    def _operand(self, other: _Operand) -> Enclosure:
        """`other` as an enclosure, exact numbers at this precision."""
        match other:
            case Enclosure():
                return other
            case int() | Fraction() if not isinstance(other, bool):
                return _of_exact(other, self._precision)
        raise InvalidType(
            "operand",
            other,
            "an Enclosure, int or Fraction",
            "Write Enclosure.of(value) to read a float or text exactly.",
        )

    def _aligned(self, other: Enclosure | Number) -> tuple[Raw, Raw, Raw, Raw]:
        """The ends of both sides, multiplied by the denominator of an exact `other`: nothing is rounded."""
        match other:
            case Enclosure():
                return self._lower, self._upper, other._lower, other._upper
        number = exact(other, parameter="other")
        by, at = ends.whole(number.denominator), ends.whole(number.numerator)
        return ends.multiply(self._lower, by, 0, DOWN), ends.multiply(self._upper, by, 0, UP), at, at

    def _joined(self, other: Enclosure, lower: Raw, upper: Raw) -> Enclosure:
        return _make(lower, upper, max(self._precision, other._precision))

    def _increasing(self, function: Callable[[int, int, int], _series.Bracket]) -> Enclosure:
        """The image under an increasing function that brackets its value at one number."""
        bits = self._precision
        low, high, exponent = function(*ends.integers(self._lower), bits)
        lower = ends.scaled(low, exponent, bits, DOWN)
        if self._lower != self._upper:
            _, high, exponent = function(*ends.integers(self._upper), bits)
        return _make(lower, ends.scaled(high, exponent, bits, UP), bits)


_set = object.__setattr__


def _make(lower: Raw, upper: Raw, precision: int) -> Enclosure:
    """An enclosure from ends that are known to be ordered and within the precision."""
    made = object.__new__(Enclosure)
    _set(made, "_lower", lower)
    _set(made, "_upper", upper)
    _set(made, "_precision", precision)
    return made


def _knowing(made: Enclosure, number: Fraction | None) -> Enclosure:
    """The enclosure that was just made, with the number that it is known to hold; a point says it itself."""
    if number is not None and not made.is_point:
        _set(made, "_number", number)
    return made


def _restored(lower: Raw, upper: Raw, precision: int, number: Fraction | None) -> Enclosure:
    return _knowing(_make(lower, upper, precision), number)


def _of_exact(value: int | Fraction, precision: int) -> Enclosure:
    numerator, denominator = value.numerator, value.denominator
    if not denominator & (denominator - 1):
        exponent = 1 - denominator.bit_length()
        lower = ends.scaled(numerator, exponent, precision, DOWN)
        return _make(lower, ends.scaled(numerator, exponent, precision, UP), precision)
    top, bottom = ends.whole(numerator), ends.whole(denominator)
    return _make(ends.divide(top, bottom, precision, DOWN), ends.divide(top, bottom, precision, UP), precision)


def _corners(one: Enclosure, other: Enclosure) -> tuple[tuple[Raw, Raw], tuple[Raw, Raw]]:
    """The pairs of ends whose products are the least and the greatest, by the signs of the ends."""
    (low, high), (other_low, other_high) = (one._lower, one._upper), (other._lower, other._upper)
    if not low[0]:
        return (high if other_low[0] else low, other_low), (low if other_high[0] else high, other_high)
    if high[0]:
        return (high if other_high[0] else low, other_high), (low if other_low[0] else high, other_low)
    if not other_low[0]:
        return (low, other_high), (high, other_high)
    if other_high[0]:
        return (high, other_low), (low, other_low)
    down, up = ((low, other_high), (high, other_low)), ((low, other_low), (high, other_high))
    return down[_exceeds(*down)], up[not _exceeds(*up)]


def _exceeds(one: tuple[Raw, Raw], other: tuple[Raw, Raw]) -> bool:
    """Whether the product of `one` is greater than that of `other`; products are exact."""
    return ends.order(ends.multiply(*one, 0, DOWN), ends.multiply(*other, 0, DOWN)) > 0


def checked_precision(precision: int, parameter: str = "precision") -> int:
    """`precision` if it is admissible: 4 to 2**20 bits.

    Raises:
        InvalidType: for anything but an int.
        InvalidValue: outside that range.
    """
    match precision:
        case int() if not isinstance(precision, bool):
            if _FEWEST_BITS <= precision <= _MOST_BITS:
                return precision
            raise InvalidValue(parameter, precision, f"an integer from {_FEWEST_BITS} to {_MOST_BITS} (bits)")
    raise InvalidType(parameter, precision, f"an integer from {_FEWEST_BITS} to {_MOST_BITS} (bits)")


def _unordered(operator: str, method: str) -> InvalidType:
    return InvalidType(
        operator,
        "an enclosure",
        "a comparison with three outcomes",
        f"Use `{method}` and compare with Truth.TRUE, or decide(question) to raise the precision as needed.",
    )
