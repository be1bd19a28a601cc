"""The smallest ε that a law δ(ε) allows at a given δ, proven from both sides."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from ..display import rounded_down
from ..enclosures import DEFAULT_PRECISION, Enclosure, Truth
from ..enclosures.roots import decreasing_root
from ..errors import InvalidValue, OutsideDomain

_FINEST = Fraction(1, 2**60)
_FARTHEST = 2**60
_GROWTH = 8
_ROUGH_BITS = 5
_NUDGE = Fraction(1, 2**200)


def smallest_epsilon(
    law: Callable[[Enclosure], Enclosure],
    delta: Enclosure,
    *,
    precision: int = 48,
    guess: float | None = None,
) -> Enclosure:
    """Enclosure of inf{ε ≥ 0 : δ(ε) ≤ δ} for a non-increasing law.

    Args:
        law: encloses δ(ε) ≥ 0 at an enclosure ε ≥ 0; it may have jumps and be constant in parts. It is asked at points.
        delta: at least 0.
        precision: bits of the result where the law can tell such numbers apart.
        guess: a number near the result; right to half a float's digits it halves the evaluations.

    Guarantees: with the upper end the law is proven to be at most δ, for every δ inside. At the lower end it is proven
    to be above δ, or that end is 0. Relative width about 2**(2 − precision) where the law is that sharp; results below
    2**−60 are given as [0, 2**−60]. Smooth laws take 15 to 25 evaluations, about 10 with a guess; a law known roughly
    takes up to three times as many, because each end is then sought apart.

    Raises:
        InvalidValue: for a negative δ, and where no ε below 2**60 is proven to suffice (as at δ = 0 for laws that
        never reach it).

    >>> smallest_epsilon(lambda epsilon: (-epsilon).exp(), Enclosure.of("0.25"))
    Enclosure[1.3862943611198, 1.3862943611200]
    """
    if delta.lower < 0:
        raise InvalidValue("delta", delta, "an enclosure of a number ≥ 0")
    at = cache(lambda epsilon: law(Enclosure.of(epsilon)))  # the ends are asked again by each search
    zero = Enclosure.of(0)
    if at(Fraction(0)).less_equal(delta) is Truth.TRUE:
        return zero
    if at(_FINEST).less_equal(delta) is Truth.TRUE:
        return zero.hull(_FINEST)
    low, high = _bracket(at, delta)

    def root(excess: Callable[[Enclosure], Enclosure], lowest: Fraction, highest: Fraction) -> Enclosure:
        return decreasing_root(
            lambda epsilon: excess(at(epsilon.lower)),
            lowest,
            highest,
            precision=precision,
            guess=guess,
        ).at(DEFAULT_PRECISION)

    def at_upper(value: Enclosure) -> Enclosure:
        return _excess(Enclosure.of(value.upper), Enclosure.of(delta.lower))

    def at_lower(value: Enclosure) -> Enclosure:
        return _excess(Enclosure.of(value.lower), Enclosure.of(delta.upper))

    if low is None:
        return zero.hull(root(at_upper, Fraction(0), high).upper)
    found = root(lambda value: _excess(value, delta), low, high)
    if found.width <= max(found.upper / 2 ** (precision - _ROUGH_BITS), _FINEST):
        return found
    # the law, or δ, is known roughly: each end is then sought apart
    return root(at_lower, low, high).hull(root(at_upper, low, high))


def _bracket(law: Callable[[Fraction], Enclosure], delta: Enclosure) -> tuple[Fraction | None, Fraction]:
    """An ε at which the law is proven to be above δ, if one was met, and one at which it is proven not to be."""
    low = Fraction(0) if law(Fraction(0)).greater(delta) is Truth.TRUE else None
    high = Fraction(1)
    while high <= _FARTHEST:
        try:
            value = law(high)
        except OutsideDomain:  # beyond what the law can compute
            break
        if value.less_equal(delta) is Truth.TRUE:
            return low, high
        if value.greater(delta) is Truth.TRUE:
            low = high
        high *= _GROWTH
    raise InvalidValue(
        "delta",
        delta,
        "a δ that the law reaches at some ε",
        f"At no ε up to {rounded_down(high / _GROWTH, 3)} it is proven to be at most δ: choose a larger δ",
    )


def _excess(value: Enclosure, delta: Enclosure) -> Enclosure:
    """A number above 0 where the law is above δ, and below 0 where it is at most δ: equality is on the safe side.

    Logarithms make laws that fall like e^{−ε²} nearly straight; a part of δ is added to keep them finite.
    """
    if delta.lower > 0:
        least = delta.lower / 2**40
        excess = ((value.maximum(0) + least) / (delta + least)).log()
    else:
        excess = value - delta
    return excess.minimum(0) - _NUDGE if value.less_equal(delta) is Truth.TRUE else excess
