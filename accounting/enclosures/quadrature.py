"""Proven integrals of analytic functions that are given as functions of enclosures."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from ..errors import InvalidValue
from ..exact import Number, exact
from .constants import pi
from .enclosure import DEFAULT_PRECISION, Enclosure, checked_precision
from .roots import increasing_root
from .truth import Truth

_GUARD = 16
_STEP_BITS = 24
_EITHER_WAY = Enclosure.between(-1, 1)  # times a bound: the numbers that it bounds in magnitude
_NEWTON_STEPS = 6
_BITS_PER_DEGREE = 2  # an interval recurrence of degree n widens its argument by less than 4**n


def trapezoid_on_line(
    integrand: Callable[[Enclosure], Enclosure],
    *,
    half_width: Number,
    edge_norm: Enclosure,
    reach: Number,
    tail: Enclosure,
    centre: Number = 0,
    step: Number | None = None,
    precision: int = DEFAULT_PRECISION,
) -> Enclosure:
    """Enclosure of the integral of f over the real line, by the trapezoid rule.

    Args:
        integrand: encloses f(x) for an enclosure x; it is asked at 2·reach/step + 1 points or so.
        half_width: a > 0 such that f is analytic in the strip |Im z| < a and tends to 0 uniformly as |Re z| → ∞.
        edge_norm: a bound N on the integral of |f(x + i·b)| over real x, for every b in (−a, a).
        reach: f is evaluated at the points within this distance of `centre`, and a few further ones.
        tail: a bound on the integrals of g over both sides beyond that distance, where g ≥ |f| does not increase away
            from `centre`.
        centre: where the mass of f lies.
        step: distance of the points; `trapezoid_step` for `precision` bits beside `edge_norm` where it is left out.
        precision: bits of the arithmetic.

    Guarantees: with step h the rule errs by at most 2·N/(e**(2·π·a/h) − 1) (Trefethen and Weideman 2014, Theorem 5.1;
    shifting the points changes nothing), and the points left out add at most `tail`, because h·g at a point is below
    the integral of g over the step towards the centre. Both are added to the enclosure.

    Raises:
        InvalidValue: for a half width, reach or step that is not positive, and for bounds that may be negative.

    >>> bound = Enclosure.of(5)  # of e**(1/2) times the integral of e**(−x²/2)
    >>> trapezoid_on_line(
    ...     lambda x: (-x.square() / 2).exp(), half_width=1, edge_norm=bound, reach=12, tail=Enclosure.of("1e-30")
    ... )
    Enclosure[2.5066282746310005024157652847, 2.5066282746310005024157652849]
    """
    width, span = _positive("half_width", half_width), _positive("reach", reach)
    _check_bound("edge_norm", edge_norm)
    _check_bound("tail", tail)
    middle = exact(centre, parameter="centre")
    bits = checked_precision(precision) + _GUARD
    h = trapezoid_step(half_width, edge_norm, precision=precision) if step is None else _positive("step", step)
    count = -(-span // h)
    total = Enclosure.of(0, precision=bits)
    for j in range(-count, count + 1):
        total += integrand(Enclosure.of(middle + j * h, precision=bits))
    missed = 2 * edge_norm / (2 * pi(bits) * (width / h)).expm1() + tail
    return (total * h + missed * _EITHER_WAY).at(precision)


def trapezoid_step(half_width: Number, edge_norm: Enclosure, *, precision: int = DEFAULT_PRECISION) -> Fraction:
    """A binary step with which the trapezoid rule errs by less than 2**−precision, or thereabouts."""
    size = edge_norm.upper_float
    bits = precision + 2 + max(0.0, math.log2(size) if size > 0 else 0.0)
    longest = exact(half_width, parameter="half_width") * Fraction(2 * math.pi / (bits * math.log(2)))
    return Enclosure.of(longest, precision=_STEP_BITS).lower


def gauss_legendre(
    integrand: Callable[[Enclosure], Enclosure],
    lower: Number,
    upper: Number,
    *,
    ellipse: Number,
    bound: Enclosure,
    count: int | None = None,
    precision: int = DEFAULT_PRECISION,
) -> Enclosure:
    """Enclosure of the integral of f from `lower` to `upper`, by the rule of Gauss and Legendre.

    Args:
        integrand: encloses f(x) for an enclosure x; it is asked at `count` points.
        lower: where the integral starts.
        upper: where it ends, above `lower`.
        ellipse: ρ > 1. The Bernstein ellipse of [lower, upper] has these two foci, and semi-axes that add up to
            ρ·(upper − lower)/2; f must be analytic inside.
        bound: a bound M on |f| inside the ellipse.
        count: how many points; enough for `precision` bits beside M where it is left out. Up to about 200.
        precision: bits of the arithmetic.

    Guarantees: for the interval [−1, 1] the Chebyshev coefficients of f are at most 2·M·ρ**−k (Trefethen 2013,
    Theorem 8.1), so its Chebyshev series up to degree 2n − 1 errs by at most 2·M·ρ**(1−2n)/(ρ − 1). The rule with n
    points integrates that polynomial exactly, and its positive weights add up to 2, as the length of the interval does:
    it errs by at most 8·M·ρ**(1−2n)/(ρ − 1), which is added to the enclosure.

    Raises:
        InvalidValue: for lower ≥ upper, ρ ≤ 1, a bound that may be negative and a count below 1.

    >>> gauss_legendre(lambda x: 1 / x, 1, 2, ellipse=4, bound=Enclosure.of(3))
    Enclosure[0.69314718055994530941723212144, 0.69314718055994530941723212148]
    """
    start, end = exact(lower, parameter="lower"), exact(upper, parameter="upper")
    if start >= end:
        raise InvalidValue("lower", start, f"a number below upper = {end}", "Swap the two ends.")
    rho = exact(ellipse, parameter="ellipse")
    if rho <= 1:
        raise InvalidValue("ellipse", ellipse, "a number above 1: the interval itself is the ellipse 1")
    _check_bound("bound", bound)
    checked_precision(precision)
    points = _enough_points(rho, bound, precision) if count is None else count
    if points < 1:
        raise InvalidValue("count", points, "an integer of at least 1")
    bits = precision + _GUARD
    middle, half = (start + end) / 2, (end - start) / 2
    total = Enclosure.of(0, precision=bits)
    for node, weight in _rule(points, bits):
        total += weight * integrand(middle + half * node)
    missed = 8 * bound * Enclosure.of(rho, precision=bits).power(1 - 2 * points) / (rho - 1)
    return ((total + missed * _EITHER_WAY) * half).at(precision)


def _enough_points(rho: Fraction, bound: Enclosure, precision: int) -> int:
    size = max(1.0, bound.upper_float)
    return math.ceil((precision + 4 + math.log2(size) - math.log2(rho - 1)) / (2 * math.log2(rho)) + 0.5)


@lru_cache(maxsize=32)
def _rule(count: int, precision: int) -> tuple[tuple[Enclosure, Enclosure], ...]:
    """The nodes, the roots of the Legendre polynomial, and the weights 2·(1 − x²)/(n·P_(n−1)(x))².

    Every positive root is proven by a change of sign between two points beside it; with their negatives and, for odd
    counts, 0 these are `count` roots in disjoint intervals: all there are.
    """
    fine = precision + _BITS_PER_DEGREE * count + _GUARD
    positive = [_float_root(count, i) for i in range(count // 2)]
    centre = Fraction(0) if count % 2 else -positive[-1]
    marks = [exact(mark) for mark in (*positive, centre)]
    above, rule = Fraction(1), []
    for i, guess in enumerate(positive):
        below = (marks[i] + marks[i + 1]) / 2
        sign = -1 if i % 2 else 1  # P_n ends at P_n(1) = 1, so it rises through its last root, falls through the next
        node = _root_between(count, sign, below, above, fine, guess)
        weight = _weight(count, node)
        rule += [(node.at(precision), weight.at(precision)), (-node.at(precision), weight.at(precision))]
        above = below
    if count % 2:
        origin = Enclosure.of(0, precision=fine)
        rule.append((origin.at(precision), _weight(count, origin).at(precision)))
    return tuple(rule)


def _root_between(count: int, sign: int, below: Fraction, above: Fraction, precision: int, guess: float) -> Enclosure:
    return increasing_root(lambda x: sign * _legendre(count, x)[0], below, above, precision=precision, guess=guess)


def _weight(count: int, node: Enclosure) -> Enclosure:
    return 2 * (1 - node.square()) / (count * _legendre(count, node)[1]).square()


def _legendre(degree: int, x: Enclosure) -> tuple[Enclosure, Enclosure]:
    """P_n(x) and P_(n−1)(x) for n ≥ 1, with the bits that the recurrence loses to widening added."""
    wide = x.at(x.precision + _BITS_PER_DEGREE * degree)
    before, value = Enclosure.of(1, precision=wide.precision), wide
    for k in range(1, degree):
        before, value = value, ((2 * k + 1) * wide * value - k * before) / (k + 1)
    return value, before


def _float_root(degree: int, index: int) -> float:
    """The index-th root of P_n from above, in floats."""
    x = math.cos(math.pi * (index + 0.75) / (degree + 0.5))
    for _ in range(_NEWTON_STEPS):
        before, value = 1.0, x
        for k in range(1, degree):
            before, value = value, ((2 * k + 1) * x * value - k * before) / (k + 1)
        x -= value * (x * x - 1) / (degree * (x * value - before))
    return x


def _positive(parameter: str, number: Number) -> Fraction:
    value = exact(number, parameter=parameter)
    if value <= 0:
        raise InvalidValue(parameter, number, "a number above 0")
    return value


def _check_bound(parameter: str, bound: Enclosure) -> None:
    if bound.greater_equal(0) is not Truth.TRUE:
        raise InvalidValue(parameter, bound, "an enclosure of a number that is proven not to be negative")
