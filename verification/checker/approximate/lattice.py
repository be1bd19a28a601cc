"""Discrete Gaussian noise, compared with normal noise that is rounded to the lattice.

Legend: s the standard deviation parameter in steps of the lattice, D(y) the probability of noise y of discrete Gaussian
noise, C(y) that of normal noise whose coordinates are rounded, u uniform on [-1/2, 1/2]. In one coordinate

    C(y)/D(y) = (1 + x)·E[e^(-(2yu + u²)/2s²)],  1 + x = (sum over the integers of e^(-k²/2s²)) / (s·sqrt(2·pi)),

0 <= x <= 4·e^(-19s²) for s² >= 8 by Poisson's formula. It is at least e^(-1/24s²) by Jensen's inequality, and without
the u² at most (1 + x)·e^(y²/24s⁴), as sinh(z)/z <= e^(z²/6). So for n coordinates D <= e^a·C everywhere, a = n/24s²,
and C <= e^b·D where the squares of the noise add up to at most r²s², b = r²/24s² + nx.

The record moves the centres by m standard deviations, all releases together. Where the noise itself stays within v
standard deviations, that from the other centre stays within v + m. Given all that was released and drawn before, the
laws of outputs are therefore at most e^a and at least e^-b times those with noise C, which is post-processing of normal
noise: delta(eps) <= e^a·(delta_normal(eps - a - b) + P(beyond v under C)). Rounding moves the noise by at most
sqrt(n)/2 steps, and P(chi²_n > nt) <= e^(-n(t - 1 - log t)/2) for t >= 1.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from ..budget import Budget
from ..intervals import INFINITY, NOTHING, Arithmetic, Interval, Mpf, upper_end
from .factors import DISCRETE_GAUSSIAN, GAUSSIAN, Factor

LEAST_VARIANCE: Final = 8
"""In squared steps."""
_COMPARISON: Final = 400_000

_ARITHMETIC: Final = Arithmetic(192)
Delta = Callable[[Sequence[Factor], Fraction, str], Mpf]


class _Margin(NamedTuple):
    """Upper ends: the logarithm of the factor a, what is taken from epsilon, a + b, and the chance of going beyond."""

    raised: Interval
    shifted: Interval
    beyond: Interval


def compare(delta: Delta, factors: Sequence[Factor], epsilon: Fraction, direction: str, budget: Budget) -> Mpf:
    """Bound delta(epsilon) with normal noise in place of discrete Gaussian noise; infinity where that says nothing."""
    margin = _Margin(NOTHING, NOTHING, NOTHING)
    for factor in factors:
        if factor.family == DISCRETE_GAUSSIAN:
            budget.spend(_COMPARISON)
            found = _margin(factor)
            if found is None:
                return INFINITY
            margin = _Margin(*(_ARITHMETIC.add(a, b) for a, b in zip(margin, found, strict=True)))
    if margin.shifted == NOTHING:
        return delta(factors, epsilon, direction)
    level = epsilon - upper_end(margin.shifted)
    if level < 0:
        return INFINITY
    normal = [f._replace(family=GAUSSIAN, lattice=None) if f.family == DISCRETE_GAUSSIAN else f for f in factors]
    most = delta(normal, level, direction)
    if most == INFINITY:
        return INFINITY
    both = _ARITHMETIC.add(Interval(most, most), margin.beyond)
    return _ARITHMETIC.multiply(_ARITHMETIC.exp(margin.raised), both).hi


def _margin(factor: Factor) -> _Margin | None:
    lattice, releases = factor.lattice, factor.together * factor.samples
    if lattice is None or lattice.dimension is None or lattice.variance < LEAST_VARIANCE:
        return None
    number, per = Fraction(releases * lattice.dimension), 1 / (24 * lattice.variance)
    lengths = number * lattice.spread, number / (4 * lattice.variance), releases * factor.parameter**2
    reach = NOTHING
    for square in lengths:
        reach = _ARITHMETIC.add(reach, _ARITHMETIC.sqrt(_ARITHMETIC.rational(square)))
    raised = _ARITHMETIC.rational(number * per)
    lowered = _ARITHMETIC.add(
        _ARITHMETIC.multiply(_ARITHMETIC.multiply(reach, reach), _ARITHMETIC.rational(per)),
        _ARITHMETIC.multiply(
            _ARITHMETIC.rational(4 * number), _ARITHMETIC.exp(_ARITHMETIC.rational(-19 * lattice.variance))
        ),
    )
    spread = _ARITHMETIC.rational(lattice.spread)
    excess = _ARITHMETIC.subtract(_ARITHMETIC.rational(lattice.spread - 1), _ARITHMETIC.log(spread))
    beyond = _ARITHMETIC.exp(_ARITHMETIC.multiply(excess, _ARITHMETIC.rational(-number / 2)))
    return _Margin(raised, _ARITHMETIC.add(raised, lowered), beyond)
