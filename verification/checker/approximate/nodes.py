"""Moments of the privacy loss of Gaussian releases on a sample, by the trapezoid rule.

Legend: M(z) = E_P[e^(z·loss)] of one release, z = c + iy with c > 0, s the shift, q the rate, phi0 the density of
N(0, 1), N that of what follows. With B(x) = 1 - q + q·e^w, w = s(x - s/2), and g = z + 1 for remove, -z for add, M(z)
is the integral of f = phi0·B^g over x.

The trapezoid rule with step t errs by at most 2N/(e^(2pi·a/t) - 1) where the integral of |f(x + ib)| is at most N for
all |b| <= a (Trefethen, Weideman 2014, Theorem 5.1). With v = sb, |v| < pi: B(x + ib) = A + Ce^(iv), A, C > 0, is off
the negative axis, |arg B| <= |v|, and B(x)·cos(v/2) <= |B(x + ib)| <= B(x). So N = M(c)·e^(a²/2 + |y|sa), for add times
cos(sa/2)^-c. Nodes left out: B lies between 1 and e^w, so beyond the window f is at most phi0, or phi0·e^(wg) =
e^(g(g - 1)s²/2)·phi0(x - gs). M(c) >= 1 by Jensen's inequality.
"""

from fractions import Fraction
from math import isqrt
from typing import Final, NamedTuple

from ..intervals import NOTHING, ONE, Arithmetic, Interval
from ..verdict import Refused
from .divergences import normal_density, pi
from .factors import REMOVE, Factor

MOST_NODES: Final = 20_000
NODE: Final = 16_000
"""What evaluating one node takes from a budget."""
_FINE: Final = Arithmetic(256)
_UNIT: Final = Interval(ONE, ONE)
NATS: Final = 70
LEFT: Final = 12
"""Standard deviations to the side on which B^g is at most 1."""


class Tilt(NamedTuple):
    """Where moments are wanted: the direction, c, and the largest |y|."""

    direction: str
    real_part: Fraction
    end: Fraction

    @property
    def power(self) -> Fraction:
        """The real part of the power of B."""
        return self.real_part + 1 if self.direction == REMOVE else -self.real_part


class Grid(NamedTuple):
    """Nodes j·step for first <= j <= last, and how far the rule and the nodes left out may lead astray."""

    step: Fraction
    first: int
    last: int
    rule: Interval
    left_out: Interval

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return self.last - self.first + 1

    def moment(self, total: Interval) -> Interval:
        """Enclose M(c), from the sum over the nodes."""
        return moment_of(total, self.rule, self.left_out)


def moment_of(total: Interval, rule: Interval, left_out: Interval) -> Interval:
    """Enclose M(c), from the sum over the nodes: between total/(1 + rule) and (total + left_out)/(1 - rule)."""
    low = _FINE.divide(total, _FINE.add(_UNIT, rule))
    high = _FINE.divide(_FINE.add(total, left_out), _FINE.subtract(_UNIT, rule))
    return Interval(low.lo, high.hi)


class Nodes(NamedTuple):
    """What the integrand is made of at each node; `ratios` are those of B to its part q·e^w."""

    grid: Grid
    densities: list[Interval]
    powers: list[Interval]
    losses: list[Interval]
    ratios: list[Interval]
    masses: list[Interval]

    @property
    def moment(self) -> Interval:
        """Enclose M(c), what the nodes sum up to."""
        total = NOTHING
        for mass in self.masses:
            total = _FINE.add(total, mass)
        return self.grid.moment(total)


def shift_of(factor: Factor) -> Fraction:
    """Give the shift of all releases on one sample, rounded up."""
    if factor.together == 1:
        return factor.parameter
    return Fraction(isqrt(int(factor.parameter**2 * factor.together * 2**160)) + 1, 2**80)


def grid_for(shift: Fraction, tilt: Tilt) -> Grid:
    """Choose the nodes, and bound the errors against M(c) >= 1."""
    if shift > LEFT:
        raise Refused("the moments of so large a shift on a sample are not known to the checker")
    direction, c, high = tilt.direction, tilt.real_part, min(Fraction(8), Fraction(5, 2) / shift)
    turned = tilt.end * shift * high
    wanted = (NATS + high**2 / 2 + turned + (0 if direction == REMOVE else Fraction(8, 5) * c)) / (6 * high)
    fineness = int(wanted) + 1
    step = Fraction(1, fineness)
    g = c + 1 if direction == REMOVE else c
    grown = (g * (g - 1) if direction == REMOVE else g * (g + 1)) * shift**2 / 2
    spread = isqrt(int(2 * (NATS + grown))) + 2 + int(shift)
    far = int(g * shift) + spread
    if (far + LEFT) * fineness > MOST_NODES:
        raise Refused("the moments could not be verified within the work budget")
    first, last = (-LEFT, far) if direction == REMOVE else (-far, LEFT)
    size = _FINE.exp(_FINE.rational(high**2 / 2 + turned))
    if direction != REMOVE:
        # cos(u) >= 1 - u²/2 > 0 for the u = shift·high/2 <= 5/4
        cosine = _FINE.rational(1 - (shift * high / 2) ** 2 / 2)
        size = _FINE.divide(size, _FINE.power(cosine, c))
    reach = _FINE.multiply(_FINE.rational(2 * high / step), pi(256))
    rule = _FINE.divide(_FINE.multiply(_FINE.rational(Fraction(2)), size), _FINE.expm1(reach))
    beyond = _FINE.multiply(_FINE.exp(_FINE.rational(grown)), tail(far - g * shift, step))
    left_out = _FINE.add(beyond, _FINE.multiply(_FINE.rational(Fraction(2)), tail(Fraction(LEFT), step)))
    return Grid(step, first * fineness, last * fineness, rule, left_out)


def tail(start: Fraction, step: Fraction) -> Interval:
    """Bound the sum of step·phi0 over nodes from `start` > 0 on: phi0(start)·(step + 1/start)."""
    return _FINE.multiply(normal_density(_FINE.rational(start), _FINE), _FINE.rational(step + 1 / start))


def nodes_on(grid: Grid, shift: Fraction, rate: Fraction, tilt: Tilt) -> Nodes:
    """Evaluate at the nodes of a grid.

    From node to node q·e^w grows by e^(s·step), and phi0 falls by a factor that itself falls by e^(-step²); j steps
    widen them by about j² roundings, which is at most 2^30 of 2^-256.
    """
    times, exp, rational = _FINE.multiply, _FINE.exp, _FINE.rational
    kept, power, step = rational(1 - rate), rational(tilt.power), rational(grid.step)
    x = grid.first * grid.step
    drawn = times(rational(rate), exp(rational(shift * (x - shift / 2))))
    density = normal_density(rational(x), _FINE)
    growth, falling = exp(rational(shift * grid.step)), exp(rational(-(x + grid.step / 2) * grid.step))
    faster = exp(rational(-(grid.step**2)))
    nodes = Nodes(grid, [], [], [], [], [])
    for _ in range(grid.size):
        loss = _FINE.log(_FINE.add(kept, drawn))
        tilted = exp(times(power, loss))
        nodes.losses.append(loss)
        nodes.densities.append(density)
        nodes.powers.append(tilted)
        nodes.ratios.append(_FINE.add(_UNIT, _FINE.divide(kept, drawn)))
        nodes.masses.append(times(step, times(density, tilted)))
        drawn, density, falling = times(drawn, growth), times(density, falling), times(falling, faster)
    return nodes
