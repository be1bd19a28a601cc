"""Where the tangents of `renyi_moment` touch best, in floats: whatever is chosen here, the bound made from it holds."""

from __future__ import annotations

import math
from collections.abc import Callable

# Logarithms of the values of (α − 1)·log(1/r₁) that are tried: below, r₁ is as good as 1, beyond, as good as 0. What
# matters is log(1/r₁) near r₁ = 1, and r₁^{α−1} near 0.
_PLACES = [2.0 * step for step in range(-21, 0)] + [math.log(1.5 * step) for step in range(1, 29)]
_NEWTON_STEPS = 40
_ENOUGH = 1e-15
_SERIES_BELOW = 1e-5
_REFINEMENTS = 36
_GOLDEN = (math.sqrt(5) - 1) / 2
_LARGE = 700.0  # e^700 is a binary64 number


def choose_touching(above: float, tau: float, log_delta: float) -> tuple[float, float]:
    """log(1/r₁) where log γ is about least for a given δ, and that log γ.

    Args:
        above: α − 1 > 0.
        tau: the Rényi bound.
        log_delta: log δ.
    """

    def log_gamma(size: float) -> float:
        down = size / above
        log_c = log_delta - _log_mass(above, above * tau, down)
        odds = size - math.log1p(above) - log_c
        apart = (odds + math.log1p(math.exp(-odds)) if odds > 0 else math.log1p(math.exp(odds))) / above
        return log_c + math.log(above) + (1 + above) * (apart - down) + _log_expm1(-(1 + above) * apart)

    size, least = _least(log_gamma)
    return size / above, least


def choose_ratio(above: float, tau: float, epsilon: float) -> tuple[float, float]:
    """log(r₂/r₁) where log δ is about least for a given ε, and that log δ.

    Args:
        above: α − 1 > 0.
        tau: the Rényi bound.
        epsilon: log γ.
    """

    def log_delta(size: float) -> float:
        down = size / above
        apart = _ratio(above, down + epsilon)
        return _log_mass(above, above * tau, down) + size - _log_expm1(above * apart) - math.log1p(above)

    size, least = _least(log_delta)
    return _ratio(above, size / above + epsilon), least


def _ratio(above: float, fall: float) -> float:
    """The log(r₂/r₁) = k for which log(γ/r₁) = k + log((1 − e^{−αk})/(1 − e^{−(α−1)k})·(α − 1)/α) is `fall`.

    That grows convexly from 0 with a slope from 1/2 to 1: Newton's method falls from 2·fall to the root.
    """
    order = 1 + above
    if order * fall < _SERIES_BELOW:
        return 2 * fall - (2 * order - 1) * fall * fall / 3
    apart = 2 * fall
    for _ in range(_NEWTON_STEPS):
        whole, part = -math.expm1(-order * apart), -math.expm1(-above * apart)
        error = apart + math.log(whole / part) - math.log1p(1 / above) - fall
        slope = (1 + above * math.exp(-above * apart) * math.expm1(-apart) / part) / whole
        step = error / max(slope, 0.5)
        apart -= step
        if not abs(step) > apart * _ENOUGH:
            break
    return apart


def _log_expm1(x: float) -> float:
    """Compute log|e^x − 1| in floats, without overflow."""
    return x + math.log1p(-math.exp(-x)) if x > 1 else math.log(abs(math.expm1(x)))


def _log_mass(above: float, moment: float, down: float) -> float:
    """log B; the series where its closed form would cancel."""
    size = above * down
    reach = max(abs(down), abs(size))
    if reach < 1e-3:
        order = 1 + above
        series = 1 - down / 3 * (2 * order - 1) + down * down / 12 * (3 * order * order - 3 * order + 1)
        touched = order * above * down * down / 2 * series
    else:
        touched = math.exp(-size) * above * math.expm1(-down) - math.expm1(-size)
    if moment > _LARGE:
        return moment
    return math.log(math.expm1(moment) + touched)


def _least(function: Callable[[float], float]) -> tuple[float, float]:
    """Where `function` is about least over the span of _PLACES, and its value: a scan, then golden sections."""

    def at(place: float) -> float:
        try:
            value = function(math.exp(place))
        except (ArithmeticError, ValueError):  # beyond what floats can say: no candidate
            return math.inf
        return math.inf if math.isnan(value) else value

    best = min(range(1, len(_PLACES) - 1), key=lambda index: at(_PLACES[index]))
    low, high = _PLACES[best - 1], _PLACES[best + 1]
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = at(left), at(right)
    for _ in range(_REFINEMENTS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = at(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = at(right)
    return (math.exp(left), at_left) if at_left <= at_right else (math.exp(right), at_right)
