"""With what probability q_i a sampler keeps a key of frequency i: q_0 = 0, and q does not fall.

Threshold sampling keeps a key where u ≤ τ·f(i): q_i = 1 - e^(-τ·f(i)) for exponential u (ppswor), and
q_i = min(1, τ·f(i)) for uniform u (pps). f(0) = 0, and f is listed or f(i) = i^p: then the steps f(i) - f(i - 1) do not
grow with i where p ≤ 1, and do not fall where p ≥ 1.
"""

from abc import ABC, abstractmethod
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import Any, Final

from .. import shapes
from ..budget import PRODUCT, SERIES, Budget
from ..intervals import INFINITY, NOTHING, ONE, ZERO, Arithmetic, Interval, Mpf, at_most
from ..norms import whole_root
from ..verdict import Refused

_CERTAIN: Final = Interval(ONE, ONE)
_LARGEST_EXACT: Final = 64


class Rates(ABC):
    """The rates of a scheme in one arithmetic.

    Attributes:
        last: the last frequency that has a rate; infinite where all have.
    """

    last: float = inf

    def __init__(self, arithmetic: Arithmetic, budget: Budget) -> None:
        """Fix the arithmetic, and what its operations are taken from."""
        self.arithmetic, self.budget = arithmetic, budget

    def _spend(self, weight: int) -> None:
        """Take what operations of this weight cost."""
        self.budget.operations(weight, self.arithmetic.precision)

    @abstractmethod
    def rate(self, frequency: int) -> Interval:
        """Enclose the rate q_i of a frequency i ≥ 0."""

    def left_out(self, frequency: int) -> Interval:
        """Enclose 1 - q_i for i ≥ 0."""
        return self.arithmetic.subtract(_CERTAIN, self.rate(frequency))

    @abstractmethod
    def rise(self, first: int, last: int | None) -> Mpf:
        """Bound q_i - q_(i-1) from above for first ≤ i ≤ last, or for all i ≥ first."""

    def fall(self, first: int, last: int | None, growth: Interval) -> Mpf:
        """Bound (1 - q_(i-1)) - G·(1 - q_i) from above for the same i, where G ≥ 1."""
        arithmetic = self.arithmetic
        above = self.rise(first, last)
        if last is None or above == INFINITY:
            return above
        least = arithmetic.multiply(arithmetic.subtract(growth, _CERTAIN), self.left_out(last))
        return arithmetic.subtract(Interval(above, above), least).hi


class EveryKey(Rates):
    """The scheme that keeps every key, q = 1."""

    def rate(self, frequency: int) -> Interval:
        """Give the rate of a frequency, 1 from the first on."""
        return _CERTAIN if frequency else NOTHING

    def rise(self, first: int, last: int | None) -> Mpf:
        """Give 1 for the first frequency, then 0."""
        return ONE if first <= 1 else ZERO


class ListedRates(Rates):
    """The scheme with rates q_1, ..., q_m written out."""

    def __init__(self, rates: list[str], arithmetic: Arithmetic, budget: Budget) -> None:
        """Read the rates that are listed."""
        super().__init__(arithmetic, budget)
        self._rates = [Fraction(0), *map(Fraction, rates)]
        self.last = len(rates)
        if not rates or any(one > other for one, other in pairwise(self._rates)):
            raise Refused("inputs.scheme.rates must hold at least one rate, and must not fall")
        if self._rates[-1] > 1:
            raise Refused("inputs.scheme.rates must lie within [0, 1]")

    def rate(self, frequency: int) -> Interval:
        """Enclose the rate listed for a frequency."""
        return self.arithmetic.rational(self._rates[frequency])

    def rise(self, first: int, last: int | None) -> Mpf:
        """Give the difference of one step; of several nothing is known."""
        if first != last:
            return INFINITY
        return self.arithmetic.rational(self._rates[first] - self._rates[first - 1]).hi


class Sizes(ABC):
    """The size f(i) of a frequency i, with f(0) = 0 and f not falling.

    Attributes:
        last: the last frequency that has a size; infinite where all have.
    """

    last: float = inf

    @abstractmethod
    def exact(self, frequency: int) -> Fraction | None:
        """Give f(i) where it is rational and short."""

    @abstractmethod
    def enclose(self, frequency: int, arithmetic: Arithmetic) -> Interval:
        """Enclose the size f(i) of a frequency i ≥ 1."""

    @abstractmethod
    def steepest(self, first: int, last: int | None) -> int | None:
        """Give the i from first to last with the largest f(i) - f(i - 1), where it is known."""


class Powers(Sizes):
    """The sizes f(i) = i^p."""

    def __init__(self, power: Fraction) -> None:
        """Read a power of at least 0."""
        self._power = power

    def exact(self, frequency: int) -> Fraction | None:
        """Give i^p where it is whole, and p has short terms."""
        over, under = self._power.numerator, self._power.denominator
        if not frequency:
            return Fraction(0)
        if max(over, under) > _LARGEST_EXACT:
            return None
        root = whole_root(frequency, under)
        return Fraction(root**over) if root**under == frequency else None

    def enclose(self, frequency: int, arithmetic: Arithmetic) -> Interval:
        """Enclose the size i^p of a frequency."""
        return arithmetic.power(arithmetic.rational(Fraction(frequency)), self._power)

    def steepest(self, first: int, last: int | None) -> int | None:
        """Give the first where p ≤ 1, else the last."""
        return first if self._power <= 1 else last


class ListedSizes(Sizes):
    """The sizes f(1), ..., f(m) written out."""

    def __init__(self, sizes: list[str]) -> None:
        """Read the sizes that are listed; refuse sizes that fall."""
        self._sizes = [Fraction(0), *map(Fraction, sizes)]
        self.last = len(sizes)
        if not sizes or any(one > other for one, other in pairwise(self._sizes)):
            raise Refused("inputs.scheme.sizes must hold at least one size, and must not fall")

    def exact(self, frequency: int) -> Fraction:
        """Give the size listed for a frequency."""
        return self._sizes[frequency]

    def enclose(self, frequency: int, arithmetic: Arithmetic) -> Interval:
        """Enclose the size listed for a frequency."""
        return arithmetic.rational(self._sizes[frequency])

    def steepest(self, first: int, last: int | None) -> int | None:
        """Give the only step of a range, where it has just one."""
        return first if first == last else None


class Threshold(Rates):
    """Threshold sampling by sizes f."""

    def __init__(self, threshold: Fraction, sizes: Sizes, arithmetic: Arithmetic, budget: Budget) -> None:
        """Read the threshold and the sizes; refuse a threshold that is not above 0."""
        super().__init__(arithmetic, budget)
        if threshold <= 0:
            raise Refused("inputs.scheme.threshold must be above 0")
        self.last = sizes.last
        self._threshold, self._sizes = threshold, sizes

    def _size(self, frequency: int) -> Interval:
        """Enclose the size of a frequency over the threshold, τ·f(i)."""
        self._spend(PRODUCT)
        size = self._sizes.exact(frequency)
        if size is not None:
            return self.arithmetic.rational(self._threshold * size)
        self._spend(2 * SERIES)
        return self.arithmetic.multiply(
            self.arithmetic.rational(self._threshold), self._sizes.enclose(frequency, self.arithmetic)
        )

    def _step(self, first: int, last: int | None) -> Mpf:
        """Bound τ·(f(i) - f(i - 1)) from above for first ≤ i ≤ last."""
        steepest = self._sizes.steepest(first, last)
        if steepest is None:
            return INFINITY
        self._spend(2 * PRODUCT)
        one, before = self._sizes.exact(steepest), self._sizes.exact(steepest - 1)
        if one is not None and before is not None:
            return self.arithmetic.rational(self._threshold * (one - before)).hi
        return self.arithmetic.subtract(self._size(steepest), self._size(steepest - 1)).hi


class Ppswor(Threshold):
    """The scheme of ppswor sampling, q_i = 1 - e^(-τ·f(i))."""

    def rate(self, frequency: int) -> Interval:
        """Enclose the rate 1 - e^(-τ·f(i)) of a frequency."""
        self._spend(SERIES)
        arithmetic = self.arithmetic
        return arithmetic.negate(arithmetic.expm1(arithmetic.negate(self._size(frequency))))

    def left_out(self, frequency: int) -> Interval:
        """Enclose e^(-τ·f(i)), relatively sharp."""
        self._spend(SERIES)
        return self.arithmetic.exp(self.arithmetic.negate(self._size(frequency)))

    def rise(self, first: int, last: int | None) -> Mpf:
        """Bound (1 - q_(i-1))·(1 - e^-s), s = τ·(f(i) - f(i - 1)); the first factor is largest at first."""
        self._spend(SERIES)
        arithmetic, step = self.arithmetic, self._step(first, last)
        kept = arithmetic.negate(arithmetic.expm1(arithmetic.negate(Interval(ZERO, step))))
        return arithmetic.multiply(self.left_out(first - 1), kept).hi

    def fall(self, first: int, last: int | None, growth: Interval) -> Mpf:
        """Bound (1 - q_(i-1))·(1 - G·e^-s) too: its first factor is largest at first, its second at the largest s."""
        self._spend(SERIES)
        arithmetic, step = self.arithmetic, self._step(first, last)
        shrunk = arithmetic.multiply(growth, arithmetic.exp(arithmetic.negate(Interval(step, step))))
        factor = arithmetic.maximum(arithmetic.subtract(_CERTAIN, shrunk), Interval(ZERO, ZERO))
        sharp = arithmetic.multiply(self.left_out(first - 1), factor).hi
        other = super().fall(first, last, growth)
        return sharp if at_most(sharp, other) else other


class Pps(Threshold):
    """The scheme of Poisson PPS sampling, q_i = min(1, τ·f(i))."""

    def rate(self, frequency: int) -> Interval:
        """Enclose the rate min(1, τ·f(i)) of a frequency."""
        return self.arithmetic.minimum(self._size(frequency), _CERTAIN)

    def rise(self, first: int, last: int | None) -> Mpf:
        """Bound the step of τ·f, and what is left up to 1 at first."""
        step, left = self._step(first, last), self.left_out(first - 1).hi
        return step if at_most(step, left) else left


_ALONE: Final = shapes.record(name=shapes.text)
_LISTED: Final = shapes.record(name=shapes.text, rates=shapes.sequence(shapes.not_negative))
_BY_POWER: Final = shapes.record(name=shapes.text, threshold=shapes.not_negative, power=shapes.not_negative)
_BY_SIZES: Final = shapes.record(
    name=shapes.text, threshold=shapes.not_negative, sizes=shapes.sequence(shapes.not_negative)
)
_THRESHOLDS: Final[dict[str, type[Threshold]]] = {"ppswor": Ppswor, "pps": Pps}


def read_rates(scheme: dict[str, Any], arithmetic: Arithmetic, budget: Budget | None = None) -> Rates:
    """Read a scheme, or refuse it; its rates are taken from the budget of one check unless one is shared."""
    budget = Budget() if budget is None else budget
    where = "inputs.scheme"
    name = scheme.get("name")
    if name == "every-key":
        _ALONE(scheme, where)
        return EveryKey(arithmetic, budget)
    if name == "listed-rates":
        _LISTED(scheme, where)
        return ListedRates(scheme["rates"], arithmetic, budget)
    if type(name) is not str or name not in _THRESHOLDS:
        raise Refused(f"{where}.name must be one of every-key, {', '.join(_THRESHOLDS)}, listed-rates")
    sizes: Sizes
    if "sizes" in scheme:
        _BY_SIZES(scheme, where)
        sizes = ListedSizes(scheme["sizes"])
    else:
        _BY_POWER(scheme, where)
        sizes = Powers(Fraction(scheme["power"]))
    return _THRESHOLDS[name](Fraction(scheme["threshold"]), sizes, arithmetic, budget)
