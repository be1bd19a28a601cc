"""What releases lose in zero-concentrated and in Gaussian differential privacy.

Legend: s the parameter of a factor, e a pure loss, k the releases on one sample, q the rate.

Zero-concentrated: tau(a) <= rho·a for every order a > 1. Of Gaussian noise rho = s²/2. Of Laplace noise and of
randomised response (a - 1)·tau(a) is concave in (a - 1/2)², so rho is the slope at a = 1, the Kullback-Leibler
divergence: s + e^-s - 1 and e·tanh(e/2). Gaussian: the trade-off curve is at least that of N(mu, 1) and N(0, 1). Of
randomised response it is piecewise linear and convex, and meets that curve at its kink: Phi(mu/2) = 1/(1 + e^-e).
Whatever has a pure loss e is dominated by randomised response with e.

Of discrete Laplace noise k steps of u apart, b = e^-u, the same holds, and rho = u·(k - 2b(1 - b^k)/(1 - b²)). Up to a
factor e^((a - 1)·tau(a)) is U_k(c) - b·U_(k-2)(c) at c = cosh(u(a - 1/2)), with Chebyshev's polynomials: the
characteristic polynomial of a symmetric tridiagonal matrix. Its roots are real, lie as far on both sides, grow with b
in size, and are those of 2T_k at b = 1, so at most 1 in size. As a function of (a - 1/2)², entire of order 1/2, it has
no zeros but negative ones, and its logarithm is a sum of concave ones.

Of losses in an interval of length e rho = e²/8 (`moments`), and mu is that of the pure loss e.

Both are closed under post-processing, and a sample is one of a release that shows the record: it replaces it, with
probability 1 - q, by another draw. So what holds without sampling holds with it; where there is a pure loss, the pure
loss after sampling counts as well, log(1 + q(e^(ke) - 1)), which bounds both directions (Theorem 6). Of replaced
records the pure loss after sampling counts alone, of normal noise about several records what it is without sampling.
"""

from fractions import Fraction
from math import ceil
from typing import Final

from ..intervals import NOTHING, ONE, Arithmetic, Interval, at_most
from ..verdict import Refused
from .batches import drawn_for_certain
from .divergences import normal_cdf, pure_loss
from .factors import (
    BOUNDED_RANGE,
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE,
    EXCHANGED,
    GAUSSIAN,
    LAPLACE,
    MIXTURE,
    REMOVE,
    WITH_PURE_LOSS,
    ZERO_CONCENTRATED,
    Factor,
)

_QUANTILE: Final = 5_000_000
_PER_NAT: Final = 320_000
_LONGEST: Final = 512
"""What a quantile takes from a budget, more for a larger loss: the terms of a series, to 32 standard deviations."""
_UNIT: Final = Interval(ONE, ONE)
_HALVINGS: Final = 44
_SHORT: Final = Arithmetic(96)
_FIRST: Final = Fraction(1, 2**24)
_MOST_DOUBLINGS: Final = 40


def concentration(factor: Factor, arithmetic: Arithmetic) -> Interval:
    """Bound rho of a factor; the upper end counts."""
    amplified, factor = factor, drawn_for_certain(factor)
    s, releases = factor.parameter, factor.together * factor.samples
    if factor.family in (GAUSSIAN, DISCRETE_GAUSSIAN, MIXTURE):
        return arithmetic.rational((s * _reach(factor)) ** 2 * releases / 2)
    if factor.family == ZERO_CONCENTRATED:
        return arithmetic.rational(s * releases)
    if factor.family == EXCHANGED:
        one = _of_response(_amplified(factor, arithmetic), arithmetic)
        return arithmetic.multiply(arithmetic.rational(Fraction(factor.samples)), one)
    if factor.family not in WITH_PURE_LOSS:
        raise Refused(f"the family {factor.family} has no rho")
    one = _of_one(factor, arithmetic)
    most = arithmetic.multiply(arithmetic.rational(Fraction(factor.together)), one)
    if amplified.sampled:
        most = arithmetic.minimum(most, _of_response(_amplified(amplified, arithmetic), arithmetic))
    return arithmetic.multiply(arithmetic.rational(Fraction(factor.samples)), most)


def _of_one(factor: Factor, arithmetic: Arithmetic) -> Interval:
    """Bound rho of one release about a record that is drawn."""
    if factor.family == LAPLACE:
        return _of_laplace(factor.parameter, arithmetic)
    if factor.family == BOUNDED_RANGE:
        return arithmetic.rational(factor.parameter**2 / 8)
    if factor.family == DISCRETE_LAPLACE:
        return _of_steps(factor, arithmetic)
    return _of_response(arithmetic.rational(factor.parameter), arithmetic)


def price_of_square(factor: Factor) -> int:
    """Give what `gaussian_square` takes from a budget."""
    factor = drawn_for_certain(factor)
    if factor.family not in (*WITH_PURE_LOSS, EXCHANGED):
        return 0
    return 2 * (_QUANTILE + _PER_NAT * min(ceil(factor.parameter * factor.together), _LONGEST))


def gaussian_square(factor: Factor, arithmetic: Arithmetic) -> Interval:
    """Bound mu² of a factor; the upper end counts."""
    amplified, factor = factor, drawn_for_certain(factor)
    releases = factor.together * factor.samples
    if factor.family in (GAUSSIAN, MIXTURE):
        return arithmetic.rational((factor.parameter * _reach(factor)) ** 2 * releases)
    if factor.family == EXCHANGED:
        one = _square_of_response(_amplified(factor, arithmetic), arithmetic)
        return arithmetic.multiply(arithmetic.rational(Fraction(factor.samples)), one)
    if factor.family not in WITH_PURE_LOSS:
        raise Refused(f"the family {factor.family} has no mu")
    one = _square_of_response(arithmetic.rational(factor.parameter), arithmetic)
    most = arithmetic.multiply(arithmetic.rational(Fraction(factor.together)), one)
    if amplified.sampled:
        most = arithmetic.minimum(most, _square_of_response(_amplified(amplified, arithmetic), arithmetic))
    return arithmetic.multiply(arithmetic.rational(Fraction(factor.samples)), most)


def _reach(factor: Factor) -> int:
    """Count how many times as far as its parameter a factor moves an output."""
    return factor.change.reach if factor.family == MIXTURE else 1


def _amplified(factor: Factor, arithmetic: Arithmetic) -> Interval:
    """Enclose the pure loss of the releases on one sample, the larger of both directions."""
    return pure_loss([factor._replace(samples=1)], REMOVE, arithmetic)


def _of_laplace(shift: Fraction, arithmetic: Arithmetic) -> Interval:
    return arithmetic.add(arithmetic.rational(shift), arithmetic.expm1(arithmetic.rational(-shift)))


def _of_steps(factor: Factor, arithmetic: Arithmetic) -> Interval:
    fallen = arithmetic.rational(-factor.parameter / factor.steps)
    step, all_steps = arithmetic.expm1(fallen), arithmetic.expm1(arithmetic.rational(-factor.parameter))
    share = arithmetic.divide(arithmetic.exp(fallen), arithmetic.add(_UNIT, arithmetic.exp(fallen)))
    taken = arithmetic.multiply(arithmetic.divide(all_steps, step), arithmetic.add(share, share))
    return arithmetic.multiply(
        arithmetic.negate(fallen), arithmetic.subtract(arithmetic.rational(Fraction(factor.steps)), taken)
    )


def _of_response(loss: Interval, arithmetic: Arithmetic) -> Interval:
    fallen = arithmetic.negate(loss)
    share = arithmetic.divide(
        arithmetic.negate(arithmetic.expm1(fallen)), arithmetic.add(_UNIT, arithmetic.exp(fallen))
    )
    return arithmetic.multiply(loss, share)


def _square_of_response(loss: Interval, arithmetic: Arithmetic) -> Interval:
    """Bound mu² from above: the upper end of a number x with Phi(-x) <= 1/(1 + e^e) is found by halving."""
    rarer = arithmetic.divide(_UNIT, arithmetic.add(_UNIT, arithmetic.exp(loss))).lo

    def beyond(x: Fraction) -> bool:
        return at_most(normal_cdf(_SHORT.rational(-x), _SHORT).hi, rarer)

    high = _FIRST
    for _ in range(_MOST_DOUBLINGS):
        if beyond(high):
            break
        high *= 2
    else:
        raise Refused("mu of a pure loss could not be bounded")
    low = high / 2 if high > _FIRST else Fraction(0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    square = arithmetic.rational(4 * high**2)
    return Interval(NOTHING.lo, square.hi)
