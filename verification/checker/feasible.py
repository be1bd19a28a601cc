"""The probability that goes with the largest weight of a record, where its loss is A·w and ψ is to stay within ε*.

With c = e^ε* - 1, weight w and probability 1/w keep ψ = log(1 + (e^(A·w) - 1)/w) within ε* where
h(w) = e^(A·w) - 1 - c·w ≤ 0. h is convex and h(0) = 0, so for 0 < A ≤ ε* this holds from 0 to one root, which is at
least 1, and nowhere beyond. In y = A·w it reads A·(e^y - 1) ≤ c·y: floats find y, intervals prove on which side of
the root it lies. ψ grows with w, since (e^y - 1)/y grows with y.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from mpmath import libmp

from .intervals import ONE, TWO, ZERO, Arithmetic, Interval, Mpf, at_most, exact

LEAST_TARGET: Final = Fraction(1, 2**40)
MOST_TARGET: Final = Fraction(1024)
LARGEST_WEIGHT: Final = Fraction(2**1022)
"""The range of targets and the largest weight of the rule for drawing."""

_NEWTON_STEPS: Final = 60
_SMALL: Final = 0.1
_MARGINS: Final = (5e-14, 4e-12, 3e-10, 2e-8, 1e-6, 6e-5, 4e-3)
"""How far from a guess, relatively, its sides are tried."""


class Rule(NamedTuple):
    """Draw each record with the largest feasible weight, up to a cap."""

    target: Fraction
    largest: Fraction | None

    def probability(self, loss: Interval, arithmetic: Arithmetic) -> Interval:
        """Enclose the reciprocal of the largest weight for every loss A of the range that is at most the target.

        It is 0 for A = 0 where no cap is set: such a record is never drawn.
        """
        target = arithmetic.rational(self.target)
        odds = arithmetic.expm1(target)
        low, high = ZERO, ONE
        if not at_most(loss.lo, ZERO):
            a = loss.lo if at_most(loss.lo, target.lo) else target.lo
            low = arithmetic.divide(Interval(a, a), _root(a, odds, arithmetic)).lo
        if at_most(loss.hi, ZERO):
            high = ZERO
        elif at_most(loss.hi, target.lo):
            a = loss.hi
            quotient = arithmetic.divide(Interval(a, a), _root(a, odds, arithmetic))
            high = quotient.hi if at_most(quotient.hi, ONE) else ONE
        least = arithmetic.rational(1 / (self.largest or LARGEST_WEIGHT))
        if self.largest is None and low == ZERO:
            least = Interval(ZERO, ZERO if high == ZERO else least.hi)
        return arithmetic.maximum(Interval(low, high), least)

    def psi(self, loss: Interval, arithmetic: Arithmetic) -> Mpf:
        """Bound ψ for every loss A of the range and every weight that the rule admits."""
        target = arithmetic.rational(self.target).hi
        if self.largest is None:
            return ZERO if at_most(loss.hi, ZERO) else target
        cap = arithmetic.rational(self.largest)
        grown = arithmetic.expm1(arithmetic.multiply(loss, cap))
        capped = arithmetic.log1p(arithmetic.divide(grown, cap)).hi
        return capped if at_most(capped, target) else target


def _root(loss: Mpf, odds: Interval, arithmetic: Arithmetic) -> Interval:
    """Enclose the root y for a loss above 0 and at most the target.

    Whatever floats find, it lies between A, where w = 1, and 2·log(c/A), since (e^y - 1)/y ≥ e^(y/2).
    """
    a = Interval(loss, loss)
    ratio = arithmetic.log(arithmetic.divide(odds, a))

    def excess(y: Mpf) -> Interval:
        point = Interval(y, y)
        return arithmetic.subtract(arithmetic.multiply(a, arithmetic.expm1(point)), arithmetic.multiply(odds, point))

    guess = _solve(libmp.to_float(ratio.hi))
    low = next((y for y in _beside(guess, -1) if at_most(excess(y).hi, ZERO)), loss)
    bound = arithmetic.multiply(Interval(TWO, TWO), ratio).hi
    high = next((y for y in _beside(guess, 1) if at_most(ZERO, excess(y).lo)), bound)
    return Interval(low, high)


def _beside(guess: float, side: int) -> Iterator[Mpf]:
    """Give numbers above 0 on one side of a guess, the nearest first."""
    for margin in _MARGINS:
        if guess > 0:
            yield exact(guess * (1 + side * margin))


def _solve(ratio: float) -> float:
    """Give a y with log((e^y - 1)/y) near a number above 0: Newton's method from the right of a convex function."""
    y = 2 * ratio
    for _ in range(_NEWTON_STEPS):
        if y < _SMALL:
            value, slope = y / 2 + y**2 / 24 - y**4 / 2880, 1 / 2 + y / 12
        else:
            value, slope = y + math.log(-math.expm1(-y) / y), -1 / math.expm1(-y) - 1 / y
        before, y = y, y - (value - ratio) / slope
        if y >= before:
            break
    return y
