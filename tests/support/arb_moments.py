"""Moments of privacy losses in Arb, by its certified quadrature, and values along a line that are held against them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum, auto
from fractions import Fraction
from typing import Any, TypeAlias

from flint import acb, arb

from certdp.accounting.loss_distribution.transforms import Line, Logarithms
from certdp.accounting.relations import Direction
from tests.support.arb_numbers import arb_of


class Moments(ABC):
    """The moments of a loss on a line c + iy."""

    __slots__ = ()

    @abstractmethod
    def moment(self, y: float) -> acb:
        """M(c + iy)."""

    def ratio(self, y: float, centre: Fraction) -> acb:
        """M(c + iy)·e^(−iym)/M(c)."""
        turn = arb(y) * arb_of(centre)
        return self.moment(y) / self.moment(0.0) * acb(turn.cos(), -turn.sin())


def value_within_its_error(line: Line, of: Moments, y: float) -> tuple[float, float] | None:
    """Size and error of what a line gives at y, whose error holds; None where it bounds |φ| alone, as it then does."""
    values = Logarithms(y, 1)
    line.add(1, values)
    true, (size, phase, error) = of.ratio(y, line.centre), (values.size[0], values.phase[0], values.error[0])
    if math.isinf(phase):
        assert abs(true) <= arb(size + error).exp(), of
        return None
    assert abs((true / acb(arb(size), arb(phase)).exp()).log()) <= arb(error), of
    return float(size), float(error)


def sampled_gaussian_moment(rate: float, shift: float, direction: Direction, tilt: float, y: float) -> acb:
    """M(c + iy) of N(s, 1) against N(0, 1) on a sample, c > 0."""
    q, s, z = acb(rate), acb(shift), acb(arb(tilt), arb(y))
    power = z + 1 if direction is Direction.REMOVE else -z

    def integrand(x: acb, analytic: bool) -> acb:
        density = 1 - q + q * (s * (x - s / 2)).exp()
        return (density.log(analytic=analytic) * power - x * x / 2).exp()

    right = (tilt + 1) * shift if direction is Direction.REMOVE else 0.0
    left = 0.0 if direction is Direction.REMOVE else -tilt * shift
    ends = (-40.0 + left, 40.0 + right)
    integral: Any = acb.integral(integrand, *ends, rel_tol=arb(2) ** -100, eval_limit=10**6, depth_limit=10**4)
    return acb(integral / (2 * arb.pi()).sqrt())


class Changes(Enum):
    """Which loss mixtures A = Σ w_j·e^(c_j x − c_j²/2) of normal laws have: of A against 1, of 1 against A, …"""

    REMOVED = auto()
    ADDED = auto()
    REPLACED = auto()  # of A(x) against A(−x)
    SYMMETRISED = auto()  # losses above 0 of A against 1, and below 0 of 1 against A; the rest of the mass at 0


Weighted: TypeAlias = Sequence[tuple[Fraction | float, Fraction | float]]


def mixture_moment(mixture: Weighted, change: Changes, tilt: Fraction | float, y: float) -> acb:
    """M(c + iy) of a mixture of normal laws, of weights and centres, by the definition of each change."""
    z = acb(arb_of(tilt), arb(y))
    known = [(acb(arb_of(weight)), acb(arb_of(centre))) for weight, centre in mixture]
    farthest = float(max(centre for _, centre in mixture))
    left, right = -40.0, 40.0 + (2 * float(tilt) + 1) * farthest

    def log_ratio(x: acb, analytic: bool) -> acb:
        total = sum((weight * (centre * (x - centre / 2)).exp() for weight, centre in known), acb(0))
        return total.log(analytic=analytic)

    def integral(of: Callable[[acb, bool], acb], low: float, high: float) -> acb:
        value: Any = acb.integral(of, low, high, rel_tol=arb(2) ** -100, eval_limit=10**6, depth_limit=10**4)
        return acb(value / (2 * arb.pi()).sqrt())

    match change:
        case Changes.REMOVED:
            return integral(lambda x, exact: (log_ratio(x, exact) * (z + 1) - x * x / 2).exp(), left, right)
        case Changes.ADDED:
            least = left - float(tilt) * farthest
            return integral(lambda x, exact: (log_ratio(x, exact) * -z - x * x / 2).exp(), least, right)
        case Changes.REPLACED:
            return integral(
                lambda x, exact: (log_ratio(x, exact) * (z + 1) - log_ratio(-x, exact) * z - x * x / 2).exp(),
                left,
                right,
            )
        case Changes.SYMMETRISED:
            ((_, _), (_, shift)) = mixture

            def excess(x: acb, exact: bool) -> acb:
                loss, density = log_ratio(x, exact), (-x * x / 2).exp()
                return density * ((loss * (z + 1)).exp() + (loss * -z).exp() - 1 - loss.exp())

            return 1 + integral(excess, float(shift) / 2, right)
