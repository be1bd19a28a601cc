"""The smallest ε that a law δ(ε) allows at a given δ, proven from both sides."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..enclosures import DEFAULT_PRECISION, Enclosure, Truth
from ..enclosures.roots import decreasing_root
from ..errors import InvalidValue, OutsideDomain

_FINEST = Fraction(1, 2**60)
_FARTHEST = 2**60
_GROWTH = 8
_HALVINGS = 72
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
    2**−60 are given as [0, 2**−60]. Smooth laws take 15 to 25 evaluations, about 10 with a guess.

    Raises:
        InvalidValue: for a negative δ, and where no ε below 2**60 is proven to suffice (as at δ = 0 for laws that
        never reach it).

    >>> smallest_epsilon(lambda epsilon: (-epsilon).exp(), Enclosure.of("0.25"))
    Enclosure[1.3862943611198, 1.3862943611200]
    """
    if delta.lower < 0:
        raise InvalidValue("delta", delta, "an enclosure of a number ≥ 0")
    zero, finest = Enclosure.of(0, precision=DEFAULT_PRECISION), Enclosure.of(_FINEST)
    if law(zero).less_equal(delta) is Truth.TRUE:
        return zero
    if law(finest).less_equal(delta) is Truth.TRUE:
        return zero.hull(finest)
    low, high = _bracket(law, delta)
    if low is None:
        return Enclosure.between(0, _bisected(law, delta, high))
    return decreasing_root(
        lambda epsilon: _excess(law(epsilon.at(DEFAULT_PRECISION)), delta), low, high, precision=precision, guess=guess
    ).at(DEFAULT_PRECISION)


def _bracket(law: Callable[[Enclosure], Enclosure], delta: Enclosure) -> tuple[Fraction | None, Fraction]:
    """An ε at which the law is proven to be above δ, if one was met, and one at which it is proven not to be."""
    low = Fraction(0) if law(Enclosure.of(0)).greater(delta) is Truth.TRUE else None
    high = Fraction(1)
    while high <= _FARTHEST:
        try:
            value = law(Enclosure.of(high))
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
        f"At no ε up to {float(high / _GROWTH):.3g} it is proven to be at most δ: choose a larger δ",
    )


def _bisected(law: Callable[[Enclosure], Enclosure], delta: Enclosure, high: Fraction) -> Fraction:
    """An ε about as small as the law proves, where it proves no lower end."""
    low = Fraction(0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if law(Enclosure.of(middle)).less_equal(delta) is Truth.TRUE:
            high = middle
        else:
            low = middle
    return high


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
