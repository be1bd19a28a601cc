"""exp, expm1, log and log1p on binary64 with proven relative errors and no call into a libm.

Only +, −, ·, / and fma (each rounded once, to nearest) and integer operations on the bits are used, so
results are the same on every platform. The proofs are in `docs/soundness.md`, section "Bulk kernels".
With u = 2^-53:

=========  ==============================  ==================================================
function   relative error (units of u)     where
=========  ==============================  ==================================================
exp        3                               results ≥ 2^-1022; below, 2^-1074 absolute
expm1      6                               everywhere, tiny arguments included
log        6                               every x > 0, subnormal ones included
log1p      6                               every y > −1, tiny ones included
=========  ==============================  ==================================================
"""

from __future__ import annotations

import math

from . import types
from .compile import READ, WRITE, Floats, bits, fma, from_bits, inlined, kernel

EXP_UNITS = 3
EXPM1_UNITS = 6
LOG_UNITS = 6
LOG1P_UNITS = 6

# ln 2 = LN2_HIGH + LN2_LOW + d with |d| < 2^-110.
_LN2_HIGH = float.fromhex("0x1.62e42fefa39efp-1")
_LN2_LOW = float.fromhex("0x1.abc9e3b39803fp-56")
_INVERSE_LN2 = float.fromhex("0x1.71547652b82fep+0")

# x + _ROUND − _ROUND rounds |x| < 2^51 to an integer, which is then also in the low bits of x + _ROUND.
_ROUND = 1.5 * 2.0**52

_ONE = 1023 << 52  # the bits of 1.0
_EXPONENT = 2047 << 52
_FRACTION = (1 << 52) - 1
_SQRT_HALF = 0x3FE6A09E667F3BCD  # the bits of √½ rounded up
_INTEGER = 0x4330 << 48  # the bits of 2^52: or-ing n < 2^52 into them gives 2^52 + n
_INTEGER_BIAS = 2.0**52 + 1023.0

# Taylor coefficients 1/n! of expm1; the remainder after n = 14 is below 2^-61 of expm1(r) for |r| ≤ 0.3466.
_F3, _F4, _F5, _F6, _F7, _F8 = (1.0 / math.factorial(n) for n in range(3, 9))
_F9, _F10, _F11, _F12, _F13, _F14 = (1.0 / math.factorial(n) for n in range(9, 15))

# Taylor coefficients of (e^t − 1 − t)/t²; the remainder after t^13 is below 2^-56 of the sum for |t| ≤ ½.
_B0, _B1, _B2, _B3, _B4, _B5, _B6 = (1.0 / math.factorial(n) for n in range(2, 9))
_B7, _B8, _B9, _B10, _B11, _B12, _B13 = (1.0 / math.factorial(n) for n in range(9, 16))

# Coefficients 2/(2n+1) of 2·atanh; the remainder after n = 10 is below 2^-60 of the sum for |s| ≤ 0.1716.
_A1, _A2, _A3, _A4, _A5 = (2.0 / (2 * n + 1) for n in range(1, 6))
_A6, _A7, _A8, _A9, _A10 = (2.0 / (2 * n + 1) for n in range(6, 11))


@inlined
def _shifted(x: float) -> float:
    """_ROUND + k for the integer k next to x / ln 2."""
    return fma(x, _INVERSE_LN2, _ROUND)


@inlined
def _reduced_expm1(x: float, k: float) -> float:
    """expm1(x − k ln 2), for the k of `_shifted`: |x − k ln 2| ≤ 0.3466."""
    r = fma(-k, _LN2_LOW, fma(-k, _LN2_HIGH, x))
    q = fma(r, _F14, _F13)
    q = fma(r, q, _F12)
    q = fma(r, q, _F11)
    q = fma(r, q, _F10)
    q = fma(r, q, _F9)
    q = fma(r, q, _F8)
    q = fma(r, q, _F7)
    q = fma(r, q, _F6)
    q = fma(r, q, _F5)
    q = fma(r, q, _F4)
    q = fma(r, q, _F3)
    q = fma(r, q, 0.5)
    return fma(r * r, q, r)


@inlined
def expm1_between(x: float) -> float:
    """expm1 for |x| ≤ 700, branch-free. Outside it returns some number, NaN or infinity."""
    shifted = _shifted(x)
    p = _reduced_expm1(x, shifted - _ROUND)
    power = from_bits((bits(shifted) << 52) + _ONE)
    return fma(power, p, power - 1.0)


@inlined
def expm1mx(t: float) -> float:
    """e^t − 1 − t for t ≤ 700, within 30u (`docs/soundness_sampled_gaussian.md`, "The kernel", step 1)."""
    if abs(t) > 0.5:
        return expm1_between(max(t, -700.0)) - t
    p = fma(t, _B13, _B12)
    p = fma(t, p, _B11)
    p = fma(t, p, _B10)
    p = fma(t, p, _B9)
    p = fma(t, p, _B8)
    p = fma(t, p, _B7)
    p = fma(t, p, _B6)
    p = fma(t, p, _B5)
    p = fma(t, p, _B4)
    p = fma(t, p, _B3)
    p = fma(t, p, _B2)
    p = fma(t, p, _B1)
    return t * t * fma(t, p, _B0)


@inlined
def log_between(u: float, c: float, scale: float) -> float:
    """log((u + c)·2^-scale), branch-free, for 2^-1020 ≤ u ≤ 2^1020 and |c| ≤ 2^-51·u."""
    moved = bits(u) + (_ONE - _SQRT_HALF)
    field = moved & _EXPONENT  # (j + 1023)·2^52, where u = 2^j·m with √½ ≤ m < √2
    j = from_bits((field >> 52) | _INTEGER) - (_INTEGER_BIAS + scale)
    m = from_bits((moved & _FRACTION) + _SQRT_HALF)
    f = (m - 1.0) + c * from_bits(2 * _ONE - field)
    s = f / (2.0 + f)
    z = s * s
    p = fma(z, _A10, _A9)
    p = fma(z, p, _A8)
    p = fma(z, p, _A7)
    p = fma(z, p, _A6)
    p = fma(z, p, _A5)
    p = fma(z, p, _A4)
    p = fma(z, p, _A3)
    p = fma(z, p, _A2)
    p = fma(z, p, _A1)
    # log(1 + f) = 2s + s·z·p = f − s·(f − z·p), since f = 2s + s·f.
    low = fma(j, _LN2_LOW, -(s * fma(-z, p, f)))
    return fma(j, _LN2_HIGH, f + low)


@inlined
def log1p_between(y: float) -> float:
    """log(1 + y) for −1 < y ≤ 2^1020, branch-free."""
    u = 1.0 + y
    return log_between(u, y - (u - 1.0), 0.0)


@inlined
def exp(x: float) -> float:
    """e^x for every x; 0 and +inf where the result leaves the range."""
    x = min(max(x, -800.0), 800.0)
    shifted = _shifted(x)
    k = shifted - _ROUND
    # 2^k in two factors, both normal: only the last product can overflow or be subnormal.
    half = bits(0.5 * k + _ROUND)
    rest = bits(shifted) - half
    first = from_bits((half << 52) + _ONE)
    second = from_bits((rest << 52) + _ONE)
    return (1.0 + _reduced_expm1(x, k)) * first * second


@inlined
def expm1(x: float) -> float:
    """e^x − 1 for every x; −1 and +inf in the limits."""
    inside = expm1_between(min(max(x, -700.0), 700.0))
    return exp(x) if x > 700.0 else inside


@inlined
def log(x: float) -> float:
    """log x for every x ≥ 0; −inf at 0, +inf at +inf."""
    tiny = x < 2.0**-1000
    huge = x > 2.0**1000
    factor = 2.0**54 if tiny else (2.0**-54 if huge else 1.0)
    scale = 54.0 if tiny else (-54.0 if huge else 0.0)
    value = log_between(x * factor, 0.0, scale)
    value = math.inf if x == math.inf else value
    return -math.inf if x == 0.0 else value


@inlined
def log1p(y: float) -> float:
    """log(1 + y) for every y ≥ −1; −inf at −1, +inf at +inf."""
    huge = y > 2.0**1000
    u = 1.0 + y
    c = y - (u - 1.0)
    value = log_between(u * 2.0**-54 if huge else u, 0.0 if huge else c, -54.0 if huge else 0.0)
    value = math.inf if y == math.inf else value
    return -math.inf if y == -1.0 else value


@kernel(types.void, READ, WRITE)
def exp_each(values: Floats, out: Floats) -> None:
    """Write exp(values) to `out`, entry by entry."""
    for i in range(out.size):
        out[i] = exp(values[i])


@kernel(types.void, READ, WRITE)
def expm1_each(values: Floats, out: Floats) -> None:
    """Write exp(values) − 1 to `out`, entry by entry."""
    for i in range(out.size):
        out[i] = expm1(values[i])


@kernel(types.void, READ, WRITE)
def log_each(values: Floats, out: Floats) -> None:
    """out = log(values), for values ≥ 0."""
    for i in range(out.size):
        out[i] = log(values[i])


@kernel(types.void, READ, WRITE)
def log1p_each(values: Floats, out: Floats) -> None:
    """out = log1p(values), for values ≥ −1."""
    for i in range(out.size):
        out[i] = log1p(values[i])
