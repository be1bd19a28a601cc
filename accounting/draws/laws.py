"""Symmetric laws of noise: the tail of the magnitude, and the expansion of its inverse at a probability.

The magnitude of noise of scale 1 exceeds x with probability T(x), and G is the inverse of T, which is decreasing:
where p is uniform on (0, 1), G(p) has the law of the magnitude.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from statistics import NormalDist
from typing import ClassVar, final

from attrs import frozen

from ..enclosures import Enclosure, normal_upper_quantile, pi, two_sided_normal_tail

DEGREE = 7
"""Of the polynomials that stand for G on a segment."""
_SMALLEST = 1e-300


@final
@frozen
class Expansion:
    """G near a probability c: G(c + t·w) for |t| ≤ 1 is Σ a_n·t^n over n ≤ 7, and a remainder.

    Attributes:
        coefficients: a_0 to a_7.
        remainder: a bound of the remainder's magnitude.
        slope: a bound of |w·G'| where |t| ≤ 1.
    """

    coefficients: tuple[Enclosure, ...]
    remainder: Enclosure
    slope: Enclosure


class Law(ABC):
    """A symmetric law of real-valued noise of scale 1."""

    name: ClassVar[str]
    """What the law is called, which is also the name of its table."""

    @abstractmethod
    def tail(self, x: Enclosure) -> Enclosure:
        """T(x) for x ≥ 0."""

    @abstractmethod
    def guess(self, p: float) -> float:
        """About G(p) for p in [0, 1]."""

    @abstractmethod
    def expansion(self, centre: Fraction, width: Fraction, precision: int) -> Expansion:
        """G from centre − width to centre + width, for 0 < width < centre ≤ 1 − width."""


@final
class Laplace(Law):
    """Density e^−|x|/2: T(x) = e^−x and G(p) = −ln p."""

    name: ClassVar[str] = "laplace"

    def tail(self, x: Enclosure) -> Enclosure:
        """Enclose the tail e^−x."""
        return (-x).exp()

    def guess(self, p: float) -> float:
        """About −ln p."""
        return -math.log(max(p, _SMALLEST))

    def expansion(self, centre: Fraction, width: Fraction, precision: int) -> Expansion:
        """−ln(c + t·w) = −ln c + Σ (−d)^n·t^n/n for d = w/c.

        The remainder is at most Σ_(n>7) d^n/n ≤ d^8/(8·(1 − d)), and the slope is d/(1 + d·t).
        """

        def of(number: Fraction) -> Enclosure:
            return Enclosure.of(number, precision=precision)

        d = width / centre
        rest = [of((-d) ** n / n) for n in range(1, DEGREE + 1)]
        order = DEGREE + 1
        return Expansion((-of(centre).log(), *rest), of(d**order / (order * (1 - d))), of(d / (1 - d)))


@final
class Gaussian(Law):
    """The standard normal density φ: T(x) = 2·(1 − Φ(x)).

    From G' = −1/(2·φ(G)) follows G'' = G·G'², and by induction the n-th derivative P_n(G)·G'^n with P_1 = 1 and
    P_(n+1) = P_n' + n·x·P_n: polynomials without a negative coefficient.
    """

    name: ClassVar[str] = "gaussian"

    def tail(self, x: Enclosure) -> Enclosure:
        """Enclose the tail 2·(1 − Φ(x))."""
        return two_sided_normal_tail(x)

    def guess(self, p: float) -> float:
        """About Φ^−1(1 − p/2)."""
        return -NormalDist().inv_cdf(max(p, _SMALLEST) / 2)

    def expansion(self, centre: Fraction, width: Fraction, precision: int) -> Expansion:
        """Taylor's, by the derivatives above.

        G and |G'| decrease in p and no P_n has a negative coefficient, so that every |n-th derivative| is largest at
        centre − width: there are the bounds of the remainder, w^8/8! times the eighth, and of the slope.
        """
        middle = self._terms(centre, width, precision)
        largest = self._terms(centre - width, width, precision)
        return Expansion(tuple(middle[: DEGREE + 1]), abs(largest[DEGREE + 1]), abs(largest[1]))

    def _terms(self, p: Fraction, width: Fraction, precision: int) -> list[Enclosure]:
        """w^n/n! times the n-th derivative of G at p, for n ≤ 8."""
        at = normal_upper_quantile(Enclosure.of(p / 2, precision=precision))
        slope = -(at.square() * Fraction(1, 2)).exp() * (pi(precision) * Fraction(1, 2)).sqrt() * width
        terms, power = [at], Enclosure.of(1, precision=precision)
        for n, polynomial in enumerate(_POLYNOMIALS, start=1):
            power = power * slope
            value = Enclosure.of(0, precision=precision)
            for coefficient in reversed(polynomial):
                value = value * at + coefficient
            terms.append(value * power * Fraction(1, math.factorial(n)))
        return terms


def _polynomials(count: int) -> list[list[int]]:
    """P_1 to P_count by their coefficients, from that of x^0 on."""
    found = [[1]]
    for n in range(1, count):
        last = found[-1]
        derivative = [*[k * c for k, c in enumerate(last)][1:], 0, 0]
        found.append([a + b for a, b in zip(derivative, [0, *(n * c for c in last)], strict=True)])
    return found


_POLYNOMIALS = _polynomials(DEGREE + 1)

LAPLACE = Laplace()
GAUSSIAN = Gaussian()
