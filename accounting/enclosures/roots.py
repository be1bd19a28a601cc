"""Proven roots of monotone functions that are given as functions of enclosures."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..errors import InvalidValue, OutsideDomain, Undecided
from ..exact import Number, exact
from .enclosure import DEFAULT_PRECISION, Enclosure, checked_precision
from .truth import Truth

_GUARD = 8
_GUESS_BITS = 46  # a guess is first trusted to this many bits, then to fewer
_WIDENING = 1 << 14
_QUARTER = Fraction(1, 4)


def increasing_root(
    function: Callable[[Enclosure], Enclosure],
    lower: Number,
    upper: Number,
    *,
    precision: int = DEFAULT_PRECISION,
    guess: float | None = None,
) -> Enclosure:
    """Enclosure of the root in [lower, upper] of a continuous, strictly increasing function.

    Args:
        function: encloses f(x) for an enclosure x; it is asked at points of `precision` + 8 bits.
        lower: where f is at most 0.
        upper: where f is at least 0; above `lower`.
        precision: bits of the result, which is a few units of the last place wide where `function` can tell
            such numbers apart, and a few times wider than what it can tell apart otherwise.
        guess: a number near the root; right to half a float's digits it halves the evaluations, wrong it costs four.

    Guarantees: f ≤ 0 is proven at the lower end and f ≥ 0 at the upper one (for a function that is continuous alone
    the result holds a root). Smooth functions take 15 to 25 evaluations, about 8 with a guess.

    Raises:
        OutsideDomain: where f is above 0 at `lower` or below 0 at `upper`.
        Undecided: where `function` does not prove the sign at one of them.
        InvalidValue: for lower ≥ upper, numbers that are not finite and an inadmissible precision.

    >>> increasing_root(lambda x: x.square() - 2, 1, 2)
    Enclosure[1.4142135623730950488016887241, 1.4142135623730950488016887243]
    """
    start = None if guess is None else exact(guess, parameter="guess")
    search = _Search(function, exact(lower, parameter="lower"), exact(upper, parameter="upper"), precision)
    if start is not None:
        search.try_guess(start)
    while not search.ended:
        search.step()
    return search.result()


def decreasing_root(
    function: Callable[[Enclosure], Enclosure],
    lower: Number,
    upper: Number,
    *,
    precision: int = DEFAULT_PRECISION,
    guess: float | None = None,
) -> Enclosure:
    """Enclosure of the root in [lower, upper] of a continuous, strictly decreasing function: see `increasing_root`."""
    return increasing_root(lambda x: -function(x), lower, upper, precision=precision, guess=guess)


class _Search:
    """A bracket [low, high] with f(low) ≤ 0 ≤ f(high) proven, and where to look next.

    The secant through the ends proposes a root c, and f is asked at c ± a share of the width. While that proves both
    signs the share is squared, so that the digits double; where it does not, the bracket is halved as well.
    """

    def __init__(
        self, function: Callable[[Enclosure], Enclosure], low: Fraction, high: Fraction, precision: int
    ) -> None:
        if low >= high:
            raise InvalidValue("lower", low, f"a number below upper = {high}", "Swap the two ends.")
        self.function = function
        self.precision = checked_precision(precision)
        self.low, self.high = low, high
        self.share = _QUARTER
        self.finest = Fraction(0)  # a distance below which `function` has failed to tell the root from its neighbours
        self.halve = False
        at_low, at_high = self.value(low), self.value(high)
        for end, value, wrong in ((low, at_low, at_low.greater(0)), (high, at_high, at_high.less(0))):
            _check_sign(end, value, wrong)
        self.at_low, self.at_high = at_low.midpoint, at_high.midpoint
        for end, value in ((low, at_low), (high, at_high)):
            if _is_zero(value):
                self.low = self.high = end
        if self.low < 0 < self.high:  # relative accuracy near 0 needs to know the side
            self.narrow(Fraction(0))

    @property
    def ended(self) -> bool:
        """Whether the bracket is as narrow as asked for, or as `function` can make it."""
        return self.high - self.low <= 4 * self.goal(self.low if abs(self.low) > abs(self.high) else self.high)

    def result(self) -> Enclosure:
        return Enclosure.between(self.low, self.high, precision=self.precision)

    def value(self, x: Fraction) -> Enclosure:
        return self.function(Enclosure.of(x, precision=self.precision + _GUARD))

    def goal(self, near: Fraction) -> Fraction:
        """The distance from the root that is worth proving."""
        return max(abs(near) / (1 << self.precision), self.finest)

    def narrow(self, x: Fraction) -> Truth:
        """Move an end to `x` if it is inside and its sign is proven; the answer is whether f(x) < 0."""
        if x <= self.low:
            return Truth.TRUE
        if x >= self.high:
            return Truth.FALSE
        value = self.value(x)
        if _is_zero(value):
            self.low = self.high = x
            return Truth.UNDECIDED
        if value.less(0) is Truth.TRUE:
            self.low, self.at_low = x, value.midpoint
            return Truth.TRUE
        if value.greater(0) is Truth.TRUE:
            self.high, self.at_high = x, value.midpoint
            return Truth.FALSE
        rise = (self.at_high - self.at_low) / (self.high - self.low)
        self.finest = max(2 * self.goal(x), value.width / rise)
        return Truth.UNDECIDED

    def surround(self, centre: Fraction, distance: Fraction) -> bool:
        """Whether the root is proven to be within `distance` of `centre`."""
        if self.narrow(self.rounded(centre - distance)) is not Truth.TRUE:
            return False
        return self.narrow(self.rounded(centre + distance)) is Truth.FALSE

    def rounded(self, x: Fraction) -> Fraction:
        return Enclosure.of(x, precision=self.precision + _GUARD).midpoint

    def try_guess(self, guess: Fraction) -> None:
        distance = abs(guess) / (1 << _GUESS_BITS)
        for _ in range(3):
            if self.ended or self.surround(guess, max(distance, self.goal(guess))):
                break
            distance *= _WIDENING
        if self.low < guess < self.high and guess:
            self.share = min(_QUARTER, 8 * (self.high - self.low) / abs(guess))  # the secant errs by the width squared

    def step(self) -> None:
        width = self.high - self.low
        if self.halve:
            self.narrow(self.rounded(self.low + width / 2))
            self.halve = False
            return
        secant = self.low - self.at_low * width / (self.at_high - self.at_low)
        distance = max(width * self.share, self.goal(secant))
        if self.surround(secant, distance):
            self.share = max(self.share**2, Fraction(1, 1 << self.precision))
        else:
            self.share = _QUARTER
            self.halve = 2 * (self.high - self.low) > width


def _is_zero(value: Enclosure) -> bool:
    return value.is_point and value.contains(0)


def _check_sign(end: Fraction, value: Enclosure, wrong: Truth) -> None:
    if wrong is Truth.TRUE:
        raise OutsideDomain(
            f"no sign change: the function is {value} at {end}. Give a lower end where it is at most 0 and an upper "
            "end where it is at least 0 (decreasing_root: the other way round)."
        )
    if not wrong.decided:
        raise Undecided(
            f"the sign of the function at {end} is not proven: it is {value}. Move this end away from the root, or "
            "compute the function with more bits."
        )
