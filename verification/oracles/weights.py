"""Largest feasible weights by scanning and bisection at high precision, for the profiles of `oracles.FORMULAS`.

They share no code with the library: mpmath's own functions, sampled weights, no enclosure and no derivative. Numerical
evidence, not proof; the rounding error is far below every threshold stated.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from . import profiles as oracles
from .profiles import working
from .working_precision import fraction

_OCTAVES = 48
_PER_OCTAVE = 2
_HALVINGS = 200
_BITS = 384

CLOSE = Fraction(1, 2**60)
"""How near a root is known, relatively."""


def excess(family: str, parameters: Mapping[str, Any], target: Fraction, weight: Fraction) -> Fraction:
    """e^ε(w) − 1 − w·(e^ε* − 1), above 0 where weight w breaks the target, relative to the last term."""
    with working.workprec(_BITS):
        a, b, p = (working.number(parameters[name]) for name in "abp")
        w = working.number(weight)
        loss = oracles.FORMULAS[family](w, a, b, p)
        if loss > 2**20:
            return Fraction(2**20)  # clearly above
        allowed = w * (working.exp(working.number(target)) - 1)
        return fraction((working.exp(loss) - 1) / allowed - 1)


def largest_feasible(family: str, parameters: Mapping[str, Any], target: Fraction) -> Fraction | None:
    """The last feasible weight below 2^48, from far to near; None where the far end is feasible."""
    steps = [Fraction(2) ** (k // _PER_OCTAVE) * (1 + Fraction(k % _PER_OCTAVE, _PER_OCTAVE)) for k in _scan()]
    above: Fraction | None = None
    for weight in reversed(steps):
        if excess(family, parameters, target, weight) <= oracles.NEGLIGIBLE:
            return None if above is None else _between(family, parameters, target, weight, above)
        above = weight
    return Fraction(1)


def _scan() -> range:
    return range(_OCTAVES * _PER_OCTAVE + 1)


def _between(family: str, parameters: Mapping[str, Any], target: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Bisection; where `low` is 1 and feasible by equality, the root beyond it if there is one."""
    if low == 1:
        near = [1 + (high - 1) / 2**k for k in range(1, 60)]
        gaining = [w for w in near if excess(family, parameters, target, w) < -oracles.NEGLIGIBLE]
        if gaining:
            low = gaining[0]
        elif excess(family, parameters, target, low) >= -oracles.NEGLIGIBLE:
            return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if excess(family, parameters, target, middle) <= 0:
            low = middle
        else:
            high = middle
        if (high - low) * 2**70 < high:
            break
    return low


def curvature(family: str, parameters: Mapping[str, Any], weight: Fraction) -> Fraction:
    """The second derivative of e^ε at a weight, by a central difference; within 2^-60 of it, relatively."""
    a, b, p = (working.number(parameters[name]) for name in "abp")
    step = working.mpf(2) ** -100

    def factor(w: Any) -> Any:
        return working.exp(oracles.FORMULAS[family](w, a, b, p))

    w = working.number(weight)
    return fraction((factor(w + step) - 2 * factor(w) + factor(w - step)) / step**2)


def realised_excess(loss: Fraction, weight: Fraction, probability: Fraction, target: Fraction) -> Fraction:
    """q·(e^{A·w} − 1)/(e^ε* − 1) − 1 for numbers really drawn and applied: above 0 where they break the target."""
    exponent = working.number(loss) * working.number(weight)
    odds = working.number(probability) * (working.exp(exponent) - 1)
    return fraction(odds / (working.exp(working.number(target)) - 1) - 1)
