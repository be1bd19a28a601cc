"""Rows of the amplification table for many records, from above: δ at ε, levels before sampling at δ, log-moments.

Legend: a record enters with probability q; its pair has the shift s (in standard deviations, or in scales of the
Laplace noise) and the hockey-stick divergence δ(L) at the level L. With E = e^ε − 1 and f = q for REMOVE, but
f = q − (1 − q)·E for ADD, the sampled pair has f·δ(log(1 + E/f)) (Balle, Barthe, Gaboardi 2018, Theorem 2).

The proofs are in `docs/soundness_amplification_rows.md`, whose step numbers stand beside the code.
"""

from __future__ import annotations

import math

from . import types
from .compile import READ, READ_ROWS, WRITE, Floats, inlined, kernel
from .elementary import exp, expm1, expm1_between, expm1mx, log, log1p
from .error_function import LAST_BELL, LEAST, bell, mills, slope

_U = 2.0**-53
_UP = 1.0 + 4.0 * _U
_DOWN = 1.0 - 4.0 * _U
_LEAST = 2.0**-1072  # more than one underflow can lose
_TINY = 2.0**-1070  # more than a few can
_LARGEST = 600.0  # e^600 and its products stay in range
_LOST = 1e-290  # more than underflow can take from a sum of the moments' terms
_PLAIN = 40.0  # e^u for e^u − 1 is an upper bound, and within 10^-17
_LN2 = math.log(2.0)
_LOG_ROOT_2PI = 0.9189385332046727

# Lobatto's rule with five nodes on [0, 1].
_INNER, _OUTER = 0.5 - 0.5 * math.sqrt(3.0 / 7.0), 0.5 + 0.5 * math.sqrt(3.0 / 7.0)
_END, _SIDE, _MIDDLE = 1.0 / 20.0, 49.0 / 180.0, 16.0 / 45.0


@inlined
def _stride(values: Floats) -> int:
    """The step from one record's entry to the next: 0 where one entry serves all."""
    return 1 if values.size > 1 else 0


@inlined
def _fall(a: float, s: float) -> float:
    """R(a) − R(a + s) from above, for a ≥ −1 and s > 0 (step 3)."""
    if s > 0.0625 * max(1.0, a):
        return (mills(a) * (1.0 + 6.0 * _U) - mills((a + s) * _UP) * (1.0 - 6.0 * _U)) * _UP
    total = _END * (slope(a) + slope(a + s)) + _MIDDLE * slope(a + 0.5 * s)
    total += _SIDE * (slope(a + _INNER * s) + slope(a + _OUTER * s))
    return s * total * (1.0 + 24.0 * _U)


@inlined
def _gaussian(level: float, s: float) -> float:
    """δ(L) of N(s, 1) and N(0, 1) from above, for L ≥ 0 and s > 0 (step 2)."""
    ratio = level / s
    if not ratio < 1e300:  # s < 10^9 then, and a > 10^299
        return _TINY
    a = ratio - 0.5 * s
    a -= 4.0 * _U * (ratio + abs(a))
    square = a * a
    if a > LAST_BELL:
        return 0.5 * exp(-0.5 * min(square, 1e6)) * (1.0 + 1e-12) + _TINY
    if a < LEAST:
        kept = mills(-a) + mills((a + s) * _UP)
        taken = 0.0 if a < -LAST_BELL else bell(a) * kept * (1.0 - (20.0 + square) * _U)
        return min((1.0 - taken) * _UP, 1.0)
    return min(bell(a) * _fall(a, s) * (1.0 + (12.0 + square) * _U) + _TINY, 1.0)


@inlined
def _laplace(level: float, s: float) -> float:
    """δ(L) of two Laplace distributions s apart, from above (step 4)."""
    left = (s - level) * _UP
    return -expm1(-0.5 * left) * (1.0 + 8.0 * _U) + _TINY if left > 0.0 else 0.0


@inlined
def _level(epsilon: float, excess: float, f: float) -> float:
    """log(1 + E/f) from below (step 1)."""
    y = excess / f
    if epsilon > _LARGEST:
        return (epsilon - log(f)) * (1.0 - 24.0 * _U)
    value = log1p(y) if y <= 2.0**1000 else log(excess) - log(f)
    return max(value * (1.0 - 24.0 * _U) - _LEAST, 0.0)


@inlined
def _delta(q: float, s: float, epsilon: float, add: bool, laplace: bool) -> float:
    if (q == 0.0) | (s == 0.0) | (epsilon == math.inf):
        return 0.0
    excess, f = expm1(epsilon), q
    if add and q < 1.0:
        f = min(q - (1.0 - q) * excess + 12.0 * _U * q + _LEAST, q)
        if not f > 0.0:
            return 0.0
    level = _level(epsilon, excess, f)
    value = _laplace(level, s) if laplace else _gaussian(level, s)
    return min(f * value * _UP + _TINY, f) if value > 0.0 else 0.0


@kernel(types.void, READ, READ, READ, types.boolean, types.boolean, WRITE)
def delta(rate: Floats, shift: Floats, epsilon: Floats, add: bool, laplace: bool, out: Floats) -> None:
    """δ from above; inputs have the length of `out`, or length 1."""
    one, two, three = _stride(rate), _stride(shift), _stride(epsilon)
    for i in range(out.size):
        out[i] = _delta(rate[one * i], shift[two * i], epsilon[three * i], add, laplace)


@inlined
def _log_delta(a: float, s: float) -> tuple[float, float]:
    """log δ of the Gaussian pair at the level s·(a + s/2), and minus its derivative in a; estimates."""
    if a < LEAST:
        density, after = bell(a), mills(a + s)
        value = 1.0 - density * (mills(-a) + after)
        return log(value), s * density * after / value
    fall = _fall(a, s)
    return log(fall) - 0.5 * a * a - _LOG_ROOT_2PI, s * mills(a + s) / fall


@inlined
def _gaussian_level(s: float, target: float, log_target: float) -> float:
    """A level with δ ≤ target, for 0 < target < 1 (step 6); `target` is used where it is above 2^-1000."""
    if target > 2.0**-1000 and _gaussian(0.0, s) <= target:
        return 0.0
    # Always: δ ≤ Q(a) ≤ e^(−a²/2)/2 for a ≥ 0.
    farthest = math.sqrt(max(0.0, -2.0 * (log_target + _LN2) + 32.0 * _U * (1.0 - log_target))) * _UP
    sure = s * (farthest + 0.5 * s) * (1.0 + 8.0 * _U) + _TINY
    if target <= 2.0**-1000 or not sure < 1e300:
        return sure
    a, least = farthest, -0.5 * s
    for _ in range(60):  # log δ is concave and falls: from the right, Newton's steps stay on the right
        value, steepness = _log_delta(a, s)
        step = (value - log_target) / steepness
        a = max(a + step, least)
        if not abs(step) > 1e-8 * (1.0 + abs(a)):
            break
    near = s * (a + 0.5 * s)
    room = _U * (16.0 * s * (abs(a) + 0.5 * s) + 128.0 * (1.0 + a * a) * s / max(_log_delta(a, s)[1], 1e-300))
    for _ in range(6):
        if _gaussian(near + room, s) <= target:
            return min(near + room, sure)
        room *= 4.0
    return sure


@kernel(types.void, READ, READ, READ, WRITE)
def gaussian_level(rate: Floats, shift: Floats, delta: Floats, out: Floats) -> None:
    """A level L ≥ 0 with q·δ(L) ≤ δ for the Gaussian pair; inputs have the length of `out`, or length 1."""
    one, two, three = _stride(rate), _stride(shift), _stride(delta)
    for i in range(out.size):
        q, s, d = rate[one * i], shift[two * i], delta[three * i]
        if (d >= q) | (s == 0.0):
            out[i] = 0.0
        elif d == 0.0:
            out[i] = math.inf
        else:
            target = d / q * _DOWN
            log_target = log(target) if target > 2.0**-1000 else log(d) - log(q)
            out[i] = _gaussian_level(s, target, log_target)


@inlined
def _pure_level(loss: float, removed: float, power: float) -> float:
    """loss + power·log(1 − removed), at least 0, from above; `removed` from below (step 5)."""
    if (removed >= 1.0) | (loss == 0.0):
        return 0.0
    if removed == 0.0:
        return loss
    left = loss + power * log1p(-removed) * (1.0 - 8.0 * _U)
    return max(left + 2.0 * _U * loss + _TINY, 0.0)


@kernel(types.void, READ, READ, READ, types.boolean, WRITE)
def pure_level(rate: Floats, loss: Floats, delta: Floats, laplace: bool, out: Floats) -> None:
    """A level with q·δ(L) ≤ δ for the Laplace pair, or for randomised response; lengths as above."""
    one, two, three = _stride(rate), _stride(loss), _stride(delta)
    for i in range(out.size):
        q, e, d = rate[one * i], loss[two * i], delta[three * i]
        if d >= q:
            out[i] = 0.0
        else:
            part = d / q * _DOWN
            if laplace:
                out[i] = _pure_level(e, part, 2.0)
            else:
                out[i] = _pure_level(e, part * (1.0 + exp(-e)) * (1.0 - 8.0 * _U), 1.0)


@inlined
def _log_with_margin(total: float, units: float) -> float:
    """log(1 + total) from above, where `total` ≥ 0 is within `units` of u (step 7)."""
    value = log1p(total)
    return value + (units * min(value, 1.0) + 8.0 * value) * _U + _TINY


@kernel(types.void, READ, types.float64, WRITE)
def laplace_moments(shift: Floats, order: float, out: Floats) -> None:
    """(α − 1)·τ(α) of the Laplace pair from above, at a whole α ≥ 2 (step 7)."""
    less, sum_of_both = order - 1.0, 2.0 * order - 1.0
    for i in range(out.size):
        s = shift[i]
        x = less * s
        if s == 0.0:
            out[i] = 0.0
        elif x <= _LARGEST:
            total = (order * expm1mx(x) + less * expm1mx(-(order * s))) / sum_of_both
            out[i] = _log_with_margin(total, 50.0 + 8.0 * x)
        else:
            out[i] = (x + log(order / sum_of_both)) * (1.0 + 8.0 * _U)


@kernel(types.void, READ, types.float64, WRITE)
def response_moments(loss: Floats, order: float, out: Floats) -> None:
    """(α − 1)·τ(α) of randomised response from above, at a whole α ≥ 2 (step 7)."""
    less = order - 1.0
    for i in range(out.size):
        e = loss[i]
        x = less * e
        rare = exp(-e)
        if e == 0.0:
            out[i] = 0.0
        elif x <= _LARGEST:
            total = (expm1mx(x) + rare * expm1mx(-x) - expm1(-e) * x) / (1.0 + rare)
            out[i] = _log_with_margin(total, 50.0 + 8.0 * x)
        else:
            out[i] = (x - log1p(rare)) * (1.0 + 8.0 * _U)


@inlined
def _sampled_moment(moments: Floats, binomials: Floats, q: float, order: int) -> float:
    """log(1 + Σ_k C(α, k)·(1 − q)^(α−k)·q^k·(e^(u_k) − 1)) from above, k = 2, …, α (step 8)."""
    last: float = moments[order - 2]
    if q == 0.0:
        return 0.0
    if q == 1.0:
        return last
    drawn, left_out = log(q), log1p(-q)
    top, largest = -math.inf, 0.0
    for k in range(2, order + 1):
        u = moments[k - 2]
        largest = max(largest, u)
        top = max(top, binomials[k - 2] + k * drawn + (order - k) * left_out + (u if u > _PLAIN else 0.0))
    if largest == 0.0:
        return 0.0
    if largest == math.inf:
        return math.inf
    total = slack = 0.0
    for k in range(2, order + 1):
        u = moments[k - 2]
        plain = u > _PLAIN
        power = binomials[k - 2] + k * drawn + (order - k) * left_out + (u if plain else 0.0)
        term = exp(power - top) * (1.0 if plain else expm1_between(u))
        total += term
        slack += term * (binomials[k - 2] - k * drawn - (order - k) * left_out + (u if plain else 0.0) + abs(top))
    total = total * (1.0 + (16.0 + order) * _U) + 16.0 * _U * slack + _LOST
    exponent = top + log(total)
    if exponent > _LARGEST:
        return exponent * (1.0 + 16.0 * _U)
    half = exp(0.5 * top)
    return log1p(half * total * half) * (1.0 + 20.0 * _U) + _LOST


@kernel(types.void, READ_ROWS, READ, READ, WRITE)
def sampled_moments(moments: Floats, binomials: Floats, rate: Floats, out: Floats) -> None:
    """The log-moment of each record; row i of `moments` holds u_k for k = 2, …, α, `rate` has one entry or all."""
    order = moments.shape[1] + 1
    for i in range(out.size):
        out[i] = _sampled_moment(moments[i], binomials, rate[_stride(rate) * i], order)
