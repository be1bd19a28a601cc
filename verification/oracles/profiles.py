"""Numerical oracles at high precision: mpmath's own elementary functions on formulas written out here.

They share no code with the library: no expression tree, no enclosure, no derivative. Their results are numerical
evidence, not proof; the rounding error is far below every threshold stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from .working_precision import context, fraction

_BITS = 1024
_NEAREST = 200
"""The step h = 2^-200 from w = 1: its square is 2^-400, the rounding error near 2^-1000."""

NEGLIGIBLE = Fraction(1, 2**150)
"""Below this a slope is not told from 0: the second-order term of its difference quotient is near 2^-200."""

working = context(_BITS)
_ROUNDING = working.mpf(2) ** -900  # relative; far above the rounding of 1024 bits, far below any real difference

Parameters = Mapping[str, Fraction]

FORMULAS: Mapping[str, Callable[[Any, Any, Any, Any], Any]] = {
    "constant": lambda w, a, b, p: a,
    "power": lambda w, a, b, p: a * working.exp(p * working.log(w)),
    "root": lambda w, a, b, p: a * working.sqrt(w),
    "logarithmic": lambda w, a, b, p: working.log(1 + a * working.exp(p * working.log(w))),
    "decaying": lambda w, a, b, p: a + a * b / w,
    "capped": lambda w, a, b, p: a * min(w, b),
    "floored": lambda w, a, b, p: a * max(w, b),
    "quadratic": lambda w, a, b, p: a * w + a * b * w * w,
    "exponential": lambda w, a, b, p: a * (working.exp(b * w) - 1),
}
"""Profiles ε(w) with parameters a, b, p."""


def _sampled(family: str, parameters: Parameters) -> Callable[[Any], Any]:
    """ψ_{1/w} = log(1 + (e^{ε(w)} − 1)/w) as a function of w (IS Equation 1), by plain exp and log.

    The digits that cancel where ε is small are few beside the working precision.
    """
    a, b, p = (working.number(parameters[name]) for name in "abp")
    formula = FORMULAS[family]
    return lambda w: working.log(1 + (working.exp(formula(w, a, b, p)) - 1) / w)


def slopes_at_one(family: str, parameters: Parameters) -> tuple[Fraction, Fraction]:
    """dψ_{1/w}/dw at w = 1 from the left and from the right; they differ at a kink.

    The right one is the direction in which the sampling rate falls from 1: below 0, sampling a little less than
    everything loses less. Numerical, to within `NEGLIGIBLE` for parameters of ordinary size.
    """
    psi = _sampled(family, parameters)
    step = working.mpf(2) ** -_NEAREST
    here = psi(working.mpf(1))
    return fraction((here - psi(1 - step)) / step), fraction((psi(1 + step) - here) / step)


def gaining_weight(family: str, parameters: Parameters) -> Fraction | None:
    """A weight w = 1/q > 1 with ψ_q < ε(1), from far to near; None where none was found."""
    psi = _sampled(family, parameters)
    whole = psi(working.mpf(1))
    for exponent in range(6, -_NEAREST - 1, -1):
        excess = Fraction(2) ** exponent
        if psi(working.number(1 + excess)) < whole * (1 - _ROUNDING):
            return 1 + excess
    return None


def gaining_among(family: str, parameters: Parameters, weights: Iterable[Fraction]) -> Fraction | None:
    """A weight among `weights` with ψ_{1/w} < ε(1); None where there is none."""
    psi = _sampled(family, parameters)
    whole = psi(working.mpf(1))
    return next((w for w in weights if psi(working.number(w)) < whole * (1 - _ROUNDING)), None)
