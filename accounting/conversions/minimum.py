"""Where a function of one variable is least: Brent's search, in floats, which proves nothing.

Legend: the least value met is at `best`, the next at `second`, the one before at `third`; a minimum lies between `low`
and `high`. R. P. Brent 1973, Algorithms for Minimization without Derivatives, chapter 5; the order of operations is
SciPy's, so that places are the same, bit for bit, and SciPy need not be loaded.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_GOLDEN = 0.5 * (3.0 - math.sqrt(5.0))
_ROUNDING = math.sqrt(2.2e-16)


def least_place(
    function: Callable[[float], float], low: float, high: float, *, tolerance: float, evaluations: int
) -> float:
    """The place in [low, high] with the least value met; a local minimum at least.

    Args:
        function: its values are compared and subtracted, so they are finite.
        low, high: the ends, neither of which is tried.
        tolerance: about how far from the minimum the search may end.
        evaluations: how many places are tried at most; at least 2.
    """
    best = second = third = low + _GOLDEN * (high - low)
    value = second_value = third_value = function(best)
    step = before = 0.0
    for _ in range(1, evaluations):
        middle = 0.5 * (low + high)
        near = _ROUNDING * abs(best) + tolerance / 3.0
        if abs(best - middle) <= 2.0 * near - 0.5 * (high - low):
            break
        parabolic = False
        if abs(before) > near:  # the vertex of the parabola through the three places
            r = (best - second) * (value - third_value)
            q = (best - third) * (value - second_value)
            p = (best - third) * q - (best - second) * r
            q = 2.0 * (q - r)
            p, q = -p if q > 0.0 else p, abs(q)
            parabolic = abs(p) < abs(0.5 * q * before) and q * (low - best) < p < q * (high - best)
            before = step
            if parabolic:
                step = (p + 0.0) / q
                place = best + step
                if place - low < 2.0 * near or high - place < 2.0 * near:
                    step = near if middle >= best else -near
        if not parabolic:
            before = (low if best >= middle else high) - best
            step = _GOLDEN * before
        place = best + (1.0 if step >= 0.0 else -1.0) * max(abs(step), near)
        found = function(place)
        if found <= value:
            low, high = (best, high) if place >= best else (low, best)
            third, third_value, second, second_value = second, second_value, best, value
            best, value = place, found
        else:
            low, high = (place, high) if place < best else (low, place)
            if found <= second_value or second == best:
                third, third_value, second, second_value = second, second_value, place, found
            elif found <= third_value or third in (best, second):
                third, third_value = place, found
    return best
