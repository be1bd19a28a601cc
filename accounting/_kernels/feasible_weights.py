"""The largest feasible weight of records with a linear loss ε = A·w, proven for the weight and rate in use.

Legend: c = e^ε* − 1, x = A·w, r = c/A. The constraint ψ ≤ ε* is Φ(x) ≤ r for Φ(x) = (e^x − 1)/x, whose logarithm h
increases, with 1/2 < h' < 1 and 0 < h'' ≤ 1/12. φ = Φ − 1, ρ = r − 1.

A rational guess and one Halley step bring x within 10^-7 of the root. The last step is taken short by a bound of all
that was rounded, so that its result is feasible without being evaluated again. Records near weight 1, where r is near
1, are solved for φ(x) = ρ; those with a tiny A or an x near the end of the range, by logarithms. The proof is in
`docs/soundness_feasible_weights.md`.
"""

from __future__ import annotations

import math

from . import types
from .compile import READ, WRITE, Floats, bits, fma, from_bits, inlined, kernel
from .elementary import expm1_between, log

INVALID = -1
"""What `linear` returns where some A is not a number ≥ 0, or is above the largest feasible one."""

_U = 2.0**-53
_BLOCK = 512  # an input and two outputs of this length fit in the first-level cache
_LEAST_X, _MOST_X = 2.0**-7, 690.0  # the vectorised pass is proven between these
_LEAST_A = 2.0**-300
_LARGEST_RESIDUAL = 2.0**-18
_TOLERANCE = 1e-12
_LARGEST_WEIGHT = 2.0**1022  # its reciprocal is normal
_LEAST_LOGARITHMIC_X = 150.0  # e^-150 is far below one rounding
_NEWTON_STEPS = 6

_ONE = 1023 << 52  # the bits of 1.0
_EXPONENT = 2047 << 52
_FRACTION = (1 << 52) - 1
_SQRT_HALF = 0x3FE6A09E667F3BCD  # the bits of √½ rounded up
_INTEGER = 0x4330 << 48  # the bits of 2^52
_INTEGER_BIAS = 2.0**52 + 1023.0

# 1/(n + 1)!: φ(x) = x·(1/2 + x/6 + …), cut after x^8 for x ≤ 2^-6
_F2, _F3, _F4, _F5, _F6, _F7, _F8, _F9 = (1.0 / math.factorial(n) for n in range(2, 10))


@inlined
def _about_log(v: float) -> float:
    """log v within 5·10^-3, for a normal v."""
    moved = bits(v) + (_ONE - _SQRT_HALF)
    j = from_bits(((moved & _EXPONENT) >> 52) | _INTEGER) - _INTEGER_BIAS
    f = from_bits((moved & _FRACTION) + _SQRT_HALF) - 1.0
    return fma(j, 0.6931471805599453, f * fma(f, fma(f, 0.2996, -0.4988), 0.9994))


@inlined
def _guess(ratio: float) -> float:
    """The root x of Φ(x) = ratio, within about 10^-2: log r + log(1 + log r) and a rational bump, fitted."""
    level = max(_about_log(ratio), 2.0**-10)
    top = level * level * fma(level, 2.33259602e-4, 1.30278304e-1)
    bottom = fma(level, fma(level, fma(level, 3.99280368e-2, 5.35210586e-1), 6.70213076e-1), 1.0)
    return level + _about_log(1.0 + level) + top / bottom


@inlined
def _towards_root(x: float, ratio: float) -> float:
    """A Halley step for h(x) = log ratio."""
    e = expm1_between(x)
    share = 1.0 / (e * x)
    inverse, reciprocal = x * share, e * share
    s = fma(ratio, x, -e) * inverse
    slope = 1.0 + inverse - reciprocal
    bend = reciprocal * reciprocal - inverse * (1.0 + inverse)
    step = s * fma(s, fma(s, fma(s, -0.25, 1.0 / 3.0), -0.5), 1.0) / slope
    return x + step * (1.0 - 0.5 * (step * bend / slope))


@inlined
def _phi(x: float) -> float:
    """φ(x) = (e^x − 1)/x − 1 within 2.1u, for 0 ≤ x ≤ 2^-6."""
    p = fma(x, _F9, _F8)
    p = fma(x, p, _F7)
    p = fma(x, p, _F6)
    p = fma(x, p, _F5)
    p = fma(x, p, _F4)
    p = fma(x, p, _F3)
    return x * fma(x, p, _F2)


@inlined
def _near_one(a: float, high: float, low: float, largest: float) -> tuple[float, float]:
    """Weight and gap where r is within 2^-7 of 1; NaN where none was found. The rate must be at most 1/weight."""
    rho = ((high - a) + low) / a  # the first difference is exact
    x = 2.0 * rho * (1.0 - (2.0 / 3.0) * rho)
    for _ in range(_NEWTON_STEPS):
        x += (rho - _phi(x)) / fma(x, fma(x, 0.125, 1.0 / 3.0), 0.5)
    w = max(x * (1.0 - 24.0 * _U) / a, 1.0)
    value = _phi(a * w)
    gap = max(rho - value, 0.0) / rho + 10.0 * _U
    if largest <= w:
        w, value, gap = largest, _phi(a * largest), 0.0
    good = (w == 1.0) | (value * (1.0 + 16.0 * _U) <= rho)
    return w if good else math.nan, gap


@inlined
def _rate_below(w: float) -> float:
    """The binary64 nearest to 1/w where it is not above that, else the next one below."""
    q = 1.0 / w
    return from_bits(bits(q) - 1) if fma(q, w, -1.0) > 0.0 else q  # the fma is exact


@inlined
def _by_logarithms(a: float, level: float, largest: float) -> tuple[float, float]:
    """Weight and gap where x is at least 150, from level ≤ log c; NaN where none was found."""
    log_a = log(a)
    target = level - log_a
    x = target + log(max(target, 1.0))
    margin = 8.0 * _U * (abs(log_a) + abs(level) + x)
    for _ in range(_NEWTON_STEPS):
        x -= (x - log(x) - (target - 2.0 * margin)) * x / (x - 1.0)
    reached = x - log(x)
    if not ((x >= _LEAST_LOGARITHMIC_X) & (reached <= target - margin)):
        return math.nan, 0.0
    w = x / a
    if w > min(largest, _LARGEST_WEIGHT):
        return min(largest, _LARGEST_WEIGHT), 0.0
    return max(w, 1.0), (target + margin - reached) / (0.99 * x) + 4.0 * _U


@inlined
def _rare(a: float, high: float, low: float, level: float, largest: float) -> tuple[float, float, float]:
    """Weight, rate and gap of one record with a > 0, outside the vectorised pass; NaN where no pass is proven."""
    if high < a * (1.0 + 2.0**-7):
        w, gap = _near_one(a, high, low, largest)
        return w, _rate_below(w), gap
    w, gap = _by_logarithms(a, level, largest)
    return w, 1.0 / w, gap


@kernel(types.int64, READ, *[types.float64] * 5, WRITE, WRITE)
def linear(
    unit_loss: Floats, high: float, low: float, level: float, top: float, largest: float, weight: Floats, rate: Floats
) -> int:
    """Write the weights and the rates to `weight` and `rate`.

    Args:
        unit_loss: A of each record.
        high: the binary64 nearest to c.
        low: high + low ≤ c, to twice the digits.
        level: log c, rounded down.
        top: the largest binary64 ≤ ε*.
        largest: the cap on weights, inf for none.
        weight: NaN where no pass is proven.
        rate: the binary64 nearest to 1/weight, or the next one below.

    Returns:
        the bits of the largest relative distance to a root, or INVALID.
    """
    worst = 0
    for start in range(0, weight.size, _BLOCK):
        losses = unit_loss[start : start + _BLOCK]
        weights, rates = weight[start : start + _BLOCK], rate[start : start + _BLOCK]
        rare = False
        for i in range(weights.size):  # vectorised: no branches, no calls
            a = losses[i]
            per_loss = 1.0 / a
            ratio = high * per_loss
            x = _towards_root(_guess(ratio), ratio)
            e = expm1_between(x)
            share = 1.0 / (e * x)
            inverse, reciprocal = x * share, e * share
            slope = 1.0 + inverse - reciprocal
            s = fma(ratio, x, -e) * inverse
            room = fma(3.1 * _U, x, 12.0 * _U) + 0.7 * (s * s)
            w = min(max((x + (s - room) / slope) * per_loss, 1.0), largest)
            gap = (room + 10.0 * _U) * (2.0 * reciprocal) + 4.0 * _U
            good = (a >= _LEAST_A) & (a <= top) & (x >= _LEAST_X) & (x <= _MOST_X)
            good &= (abs(s) <= _LARGEST_RESIDUAL) & (gap <= _TOLERANCE)
            weights[i] = w if good else math.nan
            rates[i] = 1.0 / w
            worst = max(worst, bits(gap) if good else 0)
            rare |= not good
        if not rare:
            continue
        for i in range(weights.size):
            if weights[i] == weights[i]:
                continue
            a = losses[i]
            if not ((a >= 0.0) & (a <= top)):
                return INVALID
            unbounded = (largest, 1.0 / largest, 0.0)
            weights[i], rates[i], gap = unbounded if a == 0.0 else _rare(a, high, low, level, largest)
            worst = max(worst, bits(gap))
    return worst
