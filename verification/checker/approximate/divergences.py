"""Pure losses and hockey-stick divergences of releases, after sampling.

Legend: q is the rate, e the loss before sampling. With M = (1 - q)Q + qP, for eps >= 0

    remove  sup M - e^eps Q = q·delta(e),                    e^eps = 1 + q(e^e - 1);
    add     sup Q - e^eps M = q·e^(eps - e)·delta(e),        e^-eps = 1 - q + q·e^-e, and 0 where e^-eps <= 1 - q,

because M - e^eps Q = q(P - e^e Q) in the first case and Q - e^eps M = q·e^(eps - e)(Q - e^e P) in the second; the
pairs of the families here are the same in both directions. For a pure loss e both give Theorem 6.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Final

from mpmath import libmp

from .. import intervals
from ..intervals import NOTHING, ONE, ZERO, Arithmetic, Interval, Mpf, at_most, floor_in_units, magnitude
from ..verdict import Refused
from .factors import (
    ALLOCATED,
    BOUNDED_RANGE,
    EXCHANGED,
    FINITE,
    GAUSSIAN,
    LAPLACE,
    PURE,
    REMOVE,
    SHUFFLED,
    SYMMETRISED,
    TRUNCATED,
    TWO_RECORDS,
    WITH_PURE_LOSS,
    Factor,
)
from .finite import exchanged_loss, growth_of_opposites, outcomes

_UNIT: Final = Interval(ONE, ONE)
_FARTHEST: Final = 32
"""Beyond, Mills' ratio is taken from its first terms."""


def pure_loss(factors: Sequence[Factor], direction: str, arithmetic: Arithmetic) -> Interval:
    """Enclose the sum of the pure losses in a direction."""
    total = NOTHING
    for factor in factors:
        if factor.family == EXCHANGED:
            spent = exchanged_loss(factor, arithmetic)
        elif (factor.base if factor.family == ALLOCATED else factor.family) in (*WITH_PURE_LOSS, SHUFFLED):
            spent = _amplified(factor, direction, arithmetic)
        elif factor.family in (SYMMETRISED, TRUNCATED) and factor.base in (LAPLACE, PURE, TWO_RECORDS):
            # of two records; of samples cut down more than either case loses
            doubled = factor.family == TRUNCATED or factor.base == TWO_RECORDS
            two = factor._replace(parameter=2 * factor.parameter) if doubled else factor
            spent = _amplified(two, REMOVE, arithmetic)
        else:
            raise Refused(f"the family {factor.family} has no pure loss")
        total = arithmetic.add(total, arithmetic.multiply(arithmetic.rational(Fraction(factor.samples)), spent))
    return total


def _amplified(factor: Factor, direction: str, arithmetic: Arithmetic) -> Interval:
    """Enclose the pure loss of the releases on one sample."""
    loss, rate = arithmetic.rational(factor.parameter * factor.together), arithmetic.rational(factor.rate)
    if direction == REMOVE:
        return arithmetic.log1p(arithmetic.multiply(rate, arithmetic.expm1(loss)))
    return arithmetic.negate(arithmetic.log1p(arithmetic.multiply(rate, arithmetic.expm1(arithmetic.negate(loss)))))


def delta_of_one(factors: Sequence[Factor], epsilon: Fraction, direction: str, arithmetic: Arithmetic) -> Interval:
    """Enclose the delta of the one release that the factors amount to: any, or Gaussian ones without sampling.

    Releases of Gaussian noise without sampling, or on one sample, are one with the root of the summed squares of
    their shifts.
    """
    if not factors:
        return NOTHING
    if all(factor.family == GAUSSIAN and not factor.sampled for factor in factors):
        square = sum((f.parameter**2 * f.together * f.samples for f in factors), Fraction(0))
        return _gaussian(arithmetic.sqrt(arithmetic.rational(square)), arithmetic.rational(epsilon), arithmetic)
    only = factors[0]
    if only.family == SYMMETRISED and only.samples == 1:  # of several the remove direction is not that of both orders
        only, direction = only._replace(family=only.base), REMOVE
    if len(factors) == 1 and only.family == PURE and only.together == 1:
        return _responses(only, only.samples, arithmetic.rational(epsilon), direction, arithmetic)
    if len(factors) > 1 or only.samples > 1 or (only.together > 1 and only.family not in (GAUSSIAN, PURE)):
        raise Refused("this method is for one release, equal randomised responses, or Gaussian noise on one sample")
    return _sampled(only, epsilon, direction, arithmetic)


def _sampled(factor: Factor, epsilon: Fraction, direction: str, arithmetic: Arithmetic) -> Interval:
    """Enclose the delta of one release on a sample."""
    level, rate = arithmetic.rational(epsilon), arithmetic.rational(factor.rate)
    if factor.family == EXCHANGED and factor.base == LAPLACE:
        grown = arithmetic.divide(growth_of_opposites(factor, arithmetic), rate)
        before = arithmetic.log1p(arithmetic.multiply(arithmetic.expm1(level), grown))
        two = factor._replace(family=LAPLACE, parameter=2 * factor.parameter)
        return arithmetic.multiply(rate, _delta(two, before, arithmetic))
    if factor.family in FINITE:
        return _summed(factor, level, direction, arithmetic)
    if not factor.sampled:
        return _delta(factor, level, arithmetic)
    if direction == REMOVE:
        before = arithmetic.log1p(arithmetic.divide(arithmetic.expm1(level), rate))
        return arithmetic.multiply(rate, _delta(factor, before, arithmetic))
    spent = arithmetic.divide(arithmetic.negate(arithmetic.expm1(arithmetic.negate(level))), rate)
    if at_most(ONE, spent.lo):
        return NOTHING
    if at_most(ONE, spent.hi):
        raise Refused("epsilon lies too close to the largest loss of a sample to tell them apart")
    before = arithmetic.negate(arithmetic.log1p(arithmetic.negate(spent)))
    shrunk = arithmetic.exp(arithmetic.subtract(level, before))
    return arithmetic.multiply(arithmetic.multiply(rate, shrunk), _delta(factor, before, arithmetic))


def _summed(factor: Factor, epsilon: Interval, direction: str, arithmetic: Arithmetic) -> Interval:
    """Enclose the delta of one release, summed over its outcomes: Q(M/Q - e^eps)+, or Q(1 - e^eps·M/Q)+ for add."""
    total = NOTHING
    for mass, loss in outcomes(factor, 0, arithmetic):
        if direction == REMOVE:
            told = arithmetic.subtract(arithmetic.exp(loss), arithmetic.exp(epsilon))
        else:
            told = arithmetic.negate(arithmetic.expm1(arithmetic.add(epsilon, loss)))
        total = arithmetic.add(total, arithmetic.multiply(mass, arithmetic.maximum(told, NOTHING)))
    return total


def _delta(factor: Factor, epsilon: Interval, arithmetic: Arithmetic) -> Interval:
    """Enclose the delta of one release about a record that is drawn, at an epsilon of at least 0."""
    parameter = arithmetic.rational(factor.parameter)
    if factor.family == GAUSSIAN:
        square = arithmetic.rational(factor.parameter**2 * factor.together)
        return _gaussian(arithmetic.sqrt(square), epsilon, arithmetic)
    if factor.family == LAPLACE:
        half = arithmetic.multiply(arithmetic.subtract(epsilon, parameter), arithmetic.rational(Fraction(1, 2)))
        return arithmetic.maximum(arithmetic.negate(arithmetic.expm1(half)), NOTHING)
    if factor.family == BOUNDED_RANGE:
        return _in_an_interval(parameter, epsilon, arithmetic)
    if factor.family == PURE:
        return _responses(factor._replace(rate=Fraction(1)), factor.together, epsilon, REMOVE, arithmetic)
    raise Refused(f"the family {factor.family} has no delta of its own")


def _in_an_interval(length: Interval, epsilon: Interval, arithmetic: Arithmetic) -> Interval:
    """Enclose the largest delta of losses in an interval of this length, (1 - e^((eps - e)/2))²/(1 - e^-e)."""
    half = arithmetic.multiply(arithmetic.subtract(epsilon, length), arithmetic.rational(Fraction(1, 2)))
    told = arithmetic.maximum(arithmetic.negate(arithmetic.expm1(half)), NOTHING)
    within = arithmetic.negate(arithmetic.expm1(arithmetic.negate(length)))
    return arithmetic.divide(arithmetic.multiply(told, told), within)


def _responses(factor: Factor, times: int, epsilon: Interval, direction: str, arithmetic: Arithmetic) -> Interval:
    """Enclose the delta of equal randomised responses, each on a sample: a sum over how often the truth came out."""
    rate, parameter = arithmetic.rational(factor.rate), arithmetic.rational(factor.parameter)
    chances, losses = [], []
    for sign in (parameter, arithmetic.negate(parameter)):
        loss = arithmetic.log1p(arithmetic.multiply(rate, arithmetic.expm1(sign)))
        absent = arithmetic.divide(_UNIT, arithmetic.add(_UNIT, arithmetic.exp(sign)))
        remove = direction == REMOVE
        chances.append(arithmetic.multiply(absent, arithmetic.exp(loss)) if remove else absent)
        losses.append(loss if remove else arithmetic.negate(loss))
    odds = arithmetic.divide(chances[1], chances[0])
    weight = arithmetic.power(chances[0], Fraction(times))
    apart = arithmetic.subtract(losses[1], losses[0])
    first = arithmetic.multiply(arithmetic.rational(Fraction(times)), losses[0])
    total = NOTHING
    for j in range(times + 1):
        spent = arithmetic.add(first, arithmetic.multiply(arithmetic.rational(Fraction(j)), apart))
        told = arithmetic.negate(arithmetic.expm1(arithmetic.subtract(epsilon, spent)))
        total = arithmetic.add(total, arithmetic.multiply(weight, arithmetic.maximum(told, NOTHING)))
        weight = arithmetic.multiply(weight, arithmetic.multiply(odds, arithmetic.rational(Fraction(times - j, j + 1))))
    return total


def _gaussian(shift: Interval, epsilon: Interval, arithmetic: Arithmetic) -> Interval:
    """Enclose Phi(s/2 - eps/s) - e^eps·Phi(-s/2 - eps/s) (Balle, Wang 2018, Theorem 8); 0 for s = 0."""
    if at_most(shift.hi, ZERO):
        return NOTHING
    half = arithmetic.multiply(shift, arithmetic.rational(Fraction(1, 2)))
    ratio = arithmetic.divide(epsilon, shift)
    above = normal_cdf(arithmetic.subtract(half, ratio), arithmetic)
    below = normal_cdf(arithmetic.negate(arithmetic.add(half, ratio)), arithmetic)
    return arithmetic.maximum(arithmetic.subtract(above, arithmetic.multiply(arithmetic.exp(epsilon), below)), NOTHING)


def normal_cdf(x: Interval, arithmetic: Arithmetic) -> Interval:
    """Enclose the standard normal distribution function, relatively sharp on both sides."""
    return Interval(_cdf(x.lo, arithmetic).lo, _cdf(x.hi, arithmetic).hi)


def _cdf(x: Mpf, arithmetic: Arithmetic) -> Interval:
    """Enclose it at a point: 1/2 ± phi(x)·sum of x^(2n+1)/(1·3···(2n+1)), whose terms are positive."""
    size: Mpf = libmp.mpf_abs(x)
    if not x[1]:
        return arithmetic.rational(Fraction(1, 2)) if x == ZERO else (_UNIT if x == intervals.INFINITY else NOTHING)
    if not at_most(size, libmp.from_int(_FARTHEST)):
        tail = _far_tail(size, arithmetic)
        return tail if x[0] else arithmetic.subtract(_UNIT, tail)
    point = Interval(size, size)
    spared = floor_in_units(arithmetic.multiply(point, point).hi, 0)  # bits that cancel: at most x²/(2·log 2)
    wanted = arithmetic.precision + spared
    fine = Arithmetic(wanted + 32)
    square = fine.multiply(point, point)
    term = total = point
    odd = 1
    while magnitude(term.hi) >= -wanted:
        odd += 2
        term = fine.divide(fine.multiply(term, square), fine.rational(Fraction(odd)))
        total = fine.add(total, term)
    # while x² > n + 1 a term x^(2n+1)/(1·3···(2n+1)) is at least 0.9: here each is below half of the one before
    total = fine.add(total, Interval(ZERO, term.hi))
    part = fine.multiply(normal_density(point, fine), total)
    half = fine.rational(Fraction(1, 2))
    value = fine.subtract(half, part) if x[0] else fine.add(half, part)
    return arithmetic.add(value, NOTHING)


def _far_tail(size: Mpf, arithmetic: Arithmetic) -> Interval:
    """Enclose the tail beyond a large x: phi(x)/x·(1 - 1/x²) to phi(x)/x."""
    point = Interval(size, size)
    upper = arithmetic.divide(normal_density(point, arithmetic), point)
    short = arithmetic.subtract(_UNIT, arithmetic.divide(_UNIT, arithmetic.multiply(point, point)))
    return Interval(arithmetic.multiply(upper, short).lo, upper.hi)


def normal_density(x: Interval, arithmetic: Arithmetic) -> Interval:
    """Enclose the normal density e^(-x²/2)/sqrt(2·pi)."""
    exponent = arithmetic.multiply(arithmetic.power(x, Fraction(2)), arithmetic.rational(Fraction(-1, 2)))
    circle = arithmetic.multiply(arithmetic.rational(Fraction(2)), pi(arithmetic.precision))
    return arithmetic.divide(arithmetic.exp(exponent), arithmetic.sqrt(circle))


@cache
def pi(precision: int) -> Interval:
    """Enclose pi at a precision in bits."""
    arithmetic = Arithmetic(precision)
    low, high = (arithmetic.rational(end) for end in pi_between(precision))
    return Interval(low.lo, high.hi)


def pi_between(terms: int) -> tuple[Fraction, Fraction]:
    """Give two numbers around pi = 2·(1 + 1/3·(1 + 2/5·(1 + 3/7·(…)))), less than 2^(1 - terms) apart.

    What stands in the innermost bracket lies between 1 and 2, as each factor k/(2k + 1) is below 1/2.
    """
    low, high = (_pi_with(innermost, terms) for innermost in (1, 2))
    return low, high


def _pi_with(innermost: int, terms: int) -> Fraction:
    above, below = innermost, 1
    for k in range(terms, 0, -1):
        above, below = (2 * k + 1) * below + k * above, (2 * k + 1) * below
    return Fraction(2 * above, below)
