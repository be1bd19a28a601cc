"""The normal tail on binary64 with proven relative errors: Mills' ratio R = Q/φ, its slope and the density.

Legend: φ is the normal density, Q its upper tail, R(x) = Q(x)/φ(x) = ∫₀^∞ e^(−xt − t²/2) dt = √(π/2)·erfcx(x/√2), and
G = −R′ = 1 − x·R. R and G are completely monotone: derivatives alternate in sign and shrink with x.

Up to 16 both are Taylor polynomials about the middle of intervals of length ¼, whose coefficients are computed here in
integers from R(0) = √(π/2) and R″ = x·R′ + R; beyond, asymptotic sums whose remainder is below the first term left out.
The proofs are in `docs/soundness_amplification_rows.md`, section "The normal tail". With u = 2^-53:

=========  ==============================  ==================================================
function   relative error (units of u)     where
=========  ==============================  ==================================================
mills      4                               x ≥ −1, inf included (where it is 0)
slope      6                               x ≥ −1 up to 10^150
bell       5 + 0.51·x²                     |x| ≤ 37.5
=========  ==============================  ==================================================
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from . import types
from .compile import READ, WRITE, Floats, fma, inlined, kernel
from .elementary import exp

MILLS_UNITS = 4
SLOPE_UNITS = 6
LEAST = -1.0
"""R and G are computed from here on."""
LAST_BELL = 37.5
"""The largest argument at which the density is a normal number."""

_SPLIT = 16.0  # the asymptotic sums begin
_PIECES = 68
_FIRST_MIDDLE = -0.875
_DEGREE = 14

_BITS = 500
_ROOT_HALF_PI = int(
    "1253314137315500251207882642405522626503493370304969158314961788171146827303920987473297919189028633"
    "058004986332601939822433161809063368090478927827983073965957"
)  # √(π/2)·10^159, to the last digit
_INVERSE_ROOT_2PI = 0.3989422804014327


def _coefficients(value: int, eighths: int, count: int) -> list[int]:
    """R⁽ⁿ⁾(c)/n! times 2^_BITS for c = eighths/8 and R(c) = value: (n + 1)·r_(n+1) = c·r_n + r_(n−1)."""
    found = [value, (eighths * value >> 3) - (1 << _BITS)]
    for n in range(1, count - 1):
        found.append(((eighths * found[n] >> 3) + found[n - 1]) // (n + 1))
    return found


def _moved(value: int, eighths: int, by: int) -> int:
    """R(c + by/8) from R(c), by the Taylor series."""
    return sum(r * by**n >> 3 * n for n, r in enumerate(_coefficients(value, eighths, 180)))


def _tables() -> tuple[Floats, Floats]:
    """Taylor coefficients of R and G about the middle of each piece, each rounded once."""
    start = (_ROOT_HALF_PI << _BITS) // 10**159
    middles = [2 * piece - 7 for piece in range(_PIECES)]  # in eighths, odd
    values = {1: _moved(start, 0, 1), -1: _moved(start, 0, -1)}
    for here, after in pairwise(range(1, max(middles) + 1, 2)):
        values[after] = _moved(values[here], here, 2)
    for here, after in pairwise(range(-1, min(middles) - 1, -2)):
        values[after] = _moved(values[here], here, -2)
    ratio, slope = np.empty((_PIECES, _DEGREE + 1)), np.empty((_PIECES, _DEGREE + 1))
    for piece, middle in enumerate(middles):
        found = _coefficients(values[middle], middle, _DEGREE + 2)
        for n in range(_DEGREE + 1):
            ratio[piece, n] = found[n] / 2**_BITS  # a quotient of integers is correctly rounded
            slope[piece, n] = -(n + 1) * found[n + 1] / 2**_BITS
    return ratio, slope


_MILLS, _SLOPE = _tables()


def _odd_products(count: int) -> Floats:
    """(−1)^k·(2k − 1)!! for k = 0, 1, …"""
    found = [1]
    for k in range(1, count):
        found.append(-found[-1] * (2 * k - 1))
    return np.array(found, dtype=np.float64)


_ODD = _odd_products(15)


@inlined
def _piece(x: float) -> int:
    return min(int(4.0 * (x + 1.0)), _PIECES - 1)


@inlined
def mills(x: float) -> float:
    """Compute the Mills ratio R(x) of the normal law, for x ≥ −1."""
    if x >= _SPLIT:
        z = 1.0 / (x * x)
        total: float = _ODD[11]
        for k in range(10, -1, -1):
            total = fma(z, total, _ODD[k])
        return total / x
    piece = _piece(x)
    t = x - (0.25 * piece + _FIRST_MIDDLE)
    total = _MILLS[piece, _DEGREE]
    for n in range(_DEGREE - 1, -1, -1):
        total = fma(t, total, _MILLS[piece, n])
    return total


@inlined
def slope(x: float) -> float:
    """G(x) = 1 − x·R(x) for x ≥ −1."""
    if x >= _SPLIT:
        z = 1.0 / (x * x)
        total: float = -_ODD[14]
        for k in range(13, 0, -1):
            total = fma(z, total, -_ODD[k])
        return z * total
    piece = _piece(x)
    t = x - (0.25 * piece + _FIRST_MIDDLE)
    total = _SLOPE[piece, _DEGREE]
    for n in range(_DEGREE - 1, -1, -1):
        total = fma(t, total, _SLOPE[piece, n])
    return total


@inlined
def bell(x: float) -> float:
    """Compute the density φ(x) of the standard normal law."""
    return _INVERSE_ROOT_2PI * exp(-0.5 * (x * x))


@kernel(types.void, READ, WRITE)
def mills_each(values: Floats, out: Floats) -> None:
    """out = R(values), for values ≥ −1."""
    for i in range(out.size):
        out[i] = mills(values[i])


@kernel(types.void, READ, WRITE)
def slope_each(values: Floats, out: Floats) -> None:
    """out = G(values), for values ≥ −1."""
    for i in range(out.size):
        out[i] = slope(values[i])


@kernel(types.void, READ, WRITE)
def bell_each(values: Floats, out: Floats) -> None:
    """Write the normal density φ(values) to `out`, entry by entry."""
    for i in range(out.size):
        out[i] = bell(values[i])
