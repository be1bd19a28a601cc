"""Cells of two mixtures of normal laws whose density ratio rises, with proven rounding errors.

Legend: P = Σ a_j N(c_j, 1) with c_j ≥ 0 and Q = Σ b_j N(d_j, 1) with d_j ≤ 0. A and B are their densities over that of
N(0, 1): A rises and B falls, so that the loss log A − log B rises. S is the largest |centre|. The proofs are in
`docs/soundness_replace.md`, section "Cells of mixtures", whose steps are named in the code.
"""

from __future__ import annotations

import math

from . import types
from .compile import READ, WRITE, Floats, inlined, kernel
from .elementary import exp, expm1, log
from .error_function import bell
from .gauss import gauss_rule
from .lattice import EDGE

_U = 2.0**-53
_EIGHT_NODES, _EIGHT_WEIGHTS = gauss_rule(8)
_FOUR_NODES, _FOUR_WEIGHTS = gauss_rule(4)
_RATIO_EIGHT, _RATIO_FOUR = 16.0, 512.0
_MOST_TRIES = 80


@inlined
def _nearest(centres: Floats, z: float) -> int:
    """Index of a centre nearest to z."""
    found = 0
    for j in range(1, centres.size):
        if abs(z - centres[j]) < abs(z - centres[found]):
            found = j
    return found


@inlined
def _relative(centres: Floats, j: int, near: int, z: float) -> float:
    """φ(z − centre j) over φ(z − centre `near`), at most 1 for the nearest, step 1."""
    return exp((centres[j] - centres[near]) * (z - 0.5 * (centres[j] + centres[near])))


@inlined
def _sums(weights: Floats, centres: Floats, near: int, z: float) -> tuple[float, float]:
    """The density of a mixture at z over φ(z − centre `near`), and its derivative's part Σ |centre|·term."""
    total = moment = 0.0
    for j in range(centres.size):
        term = weights[j] * _relative(centres, j, near, z)
        total += term
        moment += abs(centres[j]) * term
    return total, moment


@inlined
def _loss(a: Floats, c: Floats, b: Floats, d: Floats, reach: float, z: float) -> tuple[float, float, float]:
    """log A − log B at z, its slope, and a bound of the error of the loss, step 2."""
    near_c, near_d = _nearest(c, z), _nearest(d, z)
    present, present_moment = _sums(a, c, near_c, z)
    absent, absent_moment = _sums(b, d, near_d, z)
    shift = (c[near_c] - d[near_d]) * (z - 0.5 * (c[near_c] + d[near_d]))
    above, below = log(present), log(absent)
    units = 64.0 + 2.0 * (c.size + d.size) + 32.0 * reach * (abs(z) + 2.0 * reach) + 10.0 * (abs(above) + abs(below))
    return above - below + shift, present_moment / present + absent_moment / absent, _U * units


@inlined
def _reach(c: Floats, d: Floats) -> float:
    """S, the largest distance of a centre from 0."""
    found = 0.0
    for j in range(c.size):
        found = max(found, c[j])
    for j in range(d.size):
        found = max(found, -d[j])
    return found


@inlined
def _coordinate(
    a: Floats, c: Floats, b: Floats, d: Floats, reach: float, loss: float, sign: float, low: float, high: float
) -> float:
    """A point of [low, high] whose loss is proven to be beyond `loss` on the side of `sign`, near it; else ±inf."""
    left, right = low, high
    z = min(max(0.0, low), high)
    step = 0.0
    for _ in range(_MOST_TRIES):
        value, slope, error = _loss(a, c, b, d, reach, z)
        off = value - loss
        if off > 0.0:
            right = z
        else:
            left = z
        step = max(8.0 * _U * (abs(z) + 1.0), 4.0 * error / slope if slope > 0.0 else 0.0)
        if abs(off) <= 2.0 * error or right - left <= 4.0 * _U * (abs(left) + abs(right)):
            break
        after = z - off / slope if slope > 0.0 else left
        z = after if left < after < right else 0.5 * (left + right)
    for _ in range(_MOST_TRIES):
        if z > high or z < low:
            break
        value, slope, error = _loss(a, c, b, d, reach, z)
        if sign * (value - loss) >= error:
            return z
        z += sign * step
        step *= 2.0
    return sign * math.inf


@kernel(types.void, READ, READ, READ, READ, READ, types.boolean, WRITE)
def mixture_coordinates(losses: Floats, a: Floats, c: Floats, b: Floats, d: Floats, up: bool, out: Floats) -> None:
    """out: rising points whose losses are at least (`up`), or at most, the rising ones given, step 3.

    They lie within EDGE of the outermost centres, or are −inf or inf where no such point is found.
    """
    reach = _reach(c, d)
    low, high = -reach - EDGE, reach + EDGE
    at_low, _, _ = _loss(a, c, b, d, reach, low)
    at_high, _, _ = _loss(a, c, b, d, reach, high)
    count = out.size
    before = -math.inf if up else math.inf
    for k in range(count):
        i = k if up else count - 1 - k
        loss = losses[i]
        if loss > at_high:
            found = math.inf
        elif loss < at_low:
            found = -math.inf
        else:
            least, most = (max(low, before), high) if up else (low, min(high, before))
            found = _coordinate(a, c, b, d, reach, loss, 1.0 if up else -1.0, least, most)
        out[i] = max(found, before) if up else min(found, before)
        before = out[i]


@inlined
def _gap(a: Floats, c: Floats, b: Floats, d: Floats, start: float, stop: float, apart: float) -> tuple[float, float]:
    """1 − r(stop)/r(start) and r(stop)/r(start) for r = B/A, as sums of positive terms, step 4."""
    low, high = start == -math.inf, stop == math.inf
    risen, stayed, total = 0.0, 1.0, 1.0
    if high:
        for j in range(c.size):
            if c[j] > 0.0:
                return 1.0, 0.0
    else:
        stayed = total = 0.0
        near = _nearest(c, stop)
        for j in range(c.size):
            term = a[j] * _relative(c, j, near, stop)
            total += term
            if c[j] == 0.0:
                stayed += term
            elif low:
                risen += term
            else:
                risen += term * -expm1(-c[j] * apart)
                stayed += term * exp(-c[j] * apart)
    fallen, kept, whole = 0.0, 1.0, 1.0
    if low:
        for j in range(d.size):
            if d[j] < 0.0:
                return 1.0, 0.0
    else:
        kept = whole = 0.0
        near = _nearest(d, start)
        for j in range(d.size):
            term = b[j] * _relative(d, j, near, start)
            whole += term
            if d[j] == 0.0:
                kept += term
            elif high:
                fallen += term
            else:
                fallen += term * -expm1(d[j] * apart)
                kept += term * exp(d[j] * apart)
    return risen / total + stayed / total * (fallen / whole), stayed / total * (kept / whole)


@kernel(types.void, READ, READ, READ, READ, READ, WRITE, WRITE, WRITE)
def mixture_cells(
    x: Floats, a: Floats, c: Floats, b: Floats, d: Floats, left: Floats, right: Floats, units: Floats
) -> None:
    """Masses of P on the cells (−∞, x₀], (x₀, x₁], …, (x_m, ∞), moved to their ends, step 5.

    x rises, within EDGE of the outermost centres. Each mass is off by its units, relatively, and by what lies beyond
    EDGE of the centres.
    """
    cells = x.size + 1
    reach = _reach(c, d)
    for k in range(cells):
        first, last = k == 0, k == cells - 1
        begin = -math.inf if first else x[k - 1]
        end = math.inf if last else x[k]
        start = -reach - EDGE if first else begin
        width = max((reach + EDGE if last else end) - start, 0.0)
        away = max(0.0 if first else abs(begin), 0.0 if last else abs(end)) + reach + 2.0
        whole, _ = _gap(a, c, b, d, begin, end, width)
        at_left = at_right = off_left = off_right = done = 0.0
        while done < width and whole > 0.0:
            here = start + done
            far = abs(here) + reach + 2.0
            after = min(width, done + 2.0 / (_RATIO_EIGHT * far))
            r = 0.5 * (after - done)
            few = _RATIO_FOUR * r * far <= 1.0
            to_left = to_right = 0.0
            for i in range(4 if few else 8):
                node = _FOUR_NODES[i] if few else _EIGHT_NODES[i]
                tau = done + r * (1.0 + node)
                rest = (width - after) + r * (1.0 - node)
                z = start + tau
                near = _nearest(c, z)
                if abs(z - c[near]) > EDGE:
                    continue
                density, _ = _sums(a, c, near, z)
                mass = r * (_FOUR_WEIGHTS[i] if few else _EIGHT_WEIGHTS[i]) * density * bell(z - c[near])
                risen, left_over = _gap(a, c, b, d, begin, z, tau)
                falling, _ = _gap(a, c, b, d, z, end, rest)
                to_right += mass * (risen / whole)
                to_left += mass * (left_over * (falling / whole))
            here_units = 300.0 + 12.0 * (c.size + d.size) + 80.0 * far * far + 60.0 * away * away
            at_left, at_right = at_left + to_left, at_right + to_right
            off_left, off_right = off_left + here_units * to_left, off_right + here_units * to_right
            done = after
        left[k], right[k] = at_left, at_right
        units[k] = max(off_left / at_left if at_left > 0.0 else 0.0, off_right / at_right if at_right > 0.0 else 0.0)
