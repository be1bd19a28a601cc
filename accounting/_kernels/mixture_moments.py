"""Moments of the privacy loss of two mixtures of normal laws on a vertical line, by Gauss's rule on panels.

Legend: A = Σ a_j e^(c_j x − c_j²/2), c_j ≥ 0, and B = Σ b_j e^(d_j x − d_j²/2), d_j ≤ 0, are the densities of the two
laws over φ = N(0, 1); A rises and B falls, so that L = log A − log B rises. γ > 0 is the real part of z. There are two
terms, φ·A^(z + 1)·B^(−z) with the loss L (`plus`) and φ·B^(z + 1)·A^(−z) with the loss −L (`minus`). Either stands for
itself on the whole line, where B = 1, or both do from some start ≥ 0 on, an atom at the loss 0 beside them.
E_x weighs the centres of a mixture by its terms at x. Proofs are in `docs/soundness_mixtures.md`, whose step numbers
stand beside the code.
"""

from __future__ import annotations

import math

import numpy as np

from . import types
from .compile import READ, WRITE, Floats, inlined, kernel
from .elementary import exp, expm1, log, log1p
from .gauss import gauss_rule
from .loss_transforms import angle, sine_cosine

NODES = 16
GAUSS_NODES, GAUSS_WEIGHTS = gauss_rule(NODES)
FARTHEST = 2.0**11
"""The farthest edge."""

_TWO = types.tuple_of(types.float64, 2)
_THREE = types.tuple_of(types.float64, 3)
_MIXTURES = READ, READ, READ, READ

_U = 2.0**-53
_LARGEST = 700.0
_SMALLEST = 1e-270
_ROOM = 1.01  # covers the rounding of a bound
_MOST_RELATIVE = 2.0**-9
_NEARLY_ONE = 1.0 - 2.0**-20
_LOG_2 = 0.6931471805599454  # from above
_INVERSE_ROOT_2PI = 0.3989422804014327
_NARROWEST, _WIDEST = 2.0**-12, 8.0
_ELLIPSES = (2.0, 2.6, 3.6, 5.5)
_ROUGH_NODES, _ROUGH_WEIGHTS = gauss_rule(8)
_MOST_ROUGH = 4096


@inlined
def _top(centres: Floats, x: float) -> float:
    """The largest exponent of a mixture's terms at x, over φ."""
    top = -math.inf
    for j in range(centres.size):
        top = max(top, centres[j] * (x - 0.5 * centres[j]))
    return top


@inlined
def _mixture(weights: Floats, centres: Floats, x: float) -> tuple[float, float, float]:
    """The logarithm of a mixture's density at x over φ, what is hidden of it, and the mean centre (step 1)."""
    top = -math.inf
    lifted = moved = 0.0
    for j in range(weights.size):
        t = centres[j] * (x - 0.5 * centres[j])
        top = max(top, t)
        if t < 2.0:
            part = weights[j] * expm1(t)
            lifted += part
            moved += abs(part)
    n = 1.0 * weights.size
    total = mean = units = 0.0
    for j in range(weights.size):
        t = centres[j] * (x - 0.5 * centres[j])
        term = weights[j] * exp(max(t - top, -_LARGEST))
        total += term
        mean += term * centres[j]
        units += term * (3.0 * abs(t) + abs(t - top) + 8.0 + n)
    mean /= total
    if top < 1.0 and lifted > -0.5:
        value = log1p(lifted)
        return value, _U * (moved * (18.0 + n) / (1.0 + lifted) * _ROOM + 7.0 * abs(value)), mean
    rest = log(total)
    value = top + rest
    return value, _U * (units / total * _ROOM + 7.0 * abs(rest) + 2.0 * abs(value)), mean


@inlined
def _spread(weights: Floats, centres: Floats, x: float, mean: float, reach: float) -> tuple[float, float]:
    """E_x|J − m|^p·e^(|J − m|·reach) of the centres J about m, p = 2 and 3 (step 3)."""
    top = _top(centres, x)
    total = second = third = 0.0
    for j in range(weights.size):
        t = centres[j] * (x - 0.5 * centres[j]) - top
        far = abs(centres[j] - mean)
        total += weights[j] * exp(max(t, -_LARGEST))
        part = weights[j] * exp(max(min(t + far * reach, _LARGEST), -_LARGEST)) * far * far
        second += part
        third += part * far
    return second / total * _ROOM, third / total * _ROOM


@inlined
def _largest(centres: Floats) -> float:
    found = 0.0
    for j in range(centres.size):
        found = max(found, abs(centres[j]))
    return found


@inlined
def _height(tilt: float, raised: float, lowered: float, x: float) -> float:
    """The exponent of a term's weight at x, from the logarithms of the mixture that is raised and of the other one."""
    return tilt * (raised - lowered) + raised - 0.5 * x * x


@inlined
def _heights(a: Floats, c: Floats, b: Floats, d: Floats, plus: bool, minus: bool, tilt: float, x: float) -> float:
    """The largest exponent of a weight at x."""
    above, _, _ = _mixture(a, c, x)
    below, _, _ = _mixture(b, d, x)
    found = -math.inf
    if plus:
        found = _height(tilt, above, below, x)
    if minus:
        found = max(found, _height(tilt, below, above, x))
    return found


@inlined
def _falls_from(a: Floats, c: Floats, b: Floats, d: Floats, start: float, tilt: float) -> float:
    """A point from which on the first term falls by at least e^−6 per unit (step 4)."""
    _, _, pull = _mixture(b, d, max(start, 0.0))
    floor = tilt * abs(pull) + 6.0
    end = (tilt + 1.0) * _largest(c) + floor
    for _ in range(64):
        _, _, mean = _mixture(a, c, end)
        new = (tilt + 1.0) * mean + floor
        if not new < end - 1e-3:
            break
        end = new
    return end


@inlined
def _rises_to(a: Floats, c: Floats, tilt: float) -> float:
    """A point up to which the second term rises by at least e^6 per unit, where B = 1 (step 4)."""
    low, high = -tilt * _largest(c) - 6.0, -6.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        _, _, mean = _mixture(a, c, middle)
        if -tilt * mean - middle >= 6.0:
            low = middle
        else:
            high = middle
    return low


@kernel(_THREE, *_MIXTURES, types.boolean, types.boolean, types.float64, types.float64, types.float64)
def window(
    a: Floats, c: Floats, b: Floats, d: Floats, plus: bool, minus: bool, start: float, tilt: float, nats: float
) -> tuple[float, float, float]:
    """Ends of a window outside of which weights fall and are small, and about the largest exponent inside.

    Args:
        a, c, b, d: weights and centres of the two mixtures.
        plus, minus: which terms there are.
        start: where both begin; −inf where there is one, on the whole line.
        tilt: γ.
        nats: about e^−nats of the largest weight may lie outside.
    """
    whole = start == -math.inf
    low = (_rises_to(a, c, tilt) if minus else -7.0) if whole else start
    high = max(_falls_from(a, c, b, d, start, tilt) if plus else 7.0, low + 1.0)
    peak = -math.inf
    for i in range(129):
        x = low + i * (high - low) / 128.0
        peak = max(peak, _heights(a, c, b, d, plus, minus, tilt, x))
    while high < FARTHEST and _heights(a, c, b, d, plus, minus, tilt, high) > peak - nats:
        high += 0.5
    while whole and low > -FARTHEST and _heights(a, c, b, d, plus, minus, tilt, low) > peak - nats:
        low -= 0.5
    return low, high, peak


@kernel(_THREE, *_MIXTURES, types.boolean, types.boolean, *[types.float64] * 5)
def estimate(
    a: Floats,
    c: Floats,
    b: Floats,
    d: Floats,
    plus: bool,
    minus: bool,
    rest: float,
    low: float,
    high: float,
    scale: float,
    tilt: float,
) -> tuple[float, float, float]:
    """About log M(γ) and its first two derivatives; NaN where that takes too many panels."""
    width = 1.0
    for j in range(c.size):
        if c[j] > 0.0:
            width = min(width, 2.0 / c[j])
            break
    panels = math.ceil((high - low) / width)
    if not panels <= _MOST_ROUGH:
        return math.nan, math.nan, math.nan
    r = 0.5 * (high - low) / panels
    total = rest * exp(-scale)
    first = second = 0.0
    for k in range(panels):
        for i in range(8):
            x = low + r * (2 * k + 1 + _ROUGH_NODES[i])
            above, _, _ = _mixture(a, c, x)
            below, _, _ = _mixture(b, d, x)
            loss = above - below
            share = r * _ROUGH_WEIGHTS[i] * _INVERSE_ROOT_2PI
            if plus:
                weight = share * exp(max(_height(tilt, above, below, x) - scale, -_LARGEST))
                total += weight
                first += weight * loss
                second += weight * loss * loss
            if minus:
                weight = share * exp(max(_height(tilt, below, above, x) - scale, -_LARGEST))
                total += weight
                first -= weight * loss
                second += weight * loss * loss
    mean = first / total
    return scale + log(total), mean, max(second / total - mean * mean, 0.0)


@inlined
def _peak(value: float, slope: float, u: float, reach: float) -> float:
    """The largest value + slope·τ − (u + τ)²/2 for |τ| ≤ reach."""
    turn = abs(slope - u)
    rise = 0.5 * turn * turn if turn <= reach else turn * reach - 0.5 * reach * reach
    return value - 0.5 * u * u + rise


@inlined
def _term(tilt: float, left: float, right: float, other: float, pull: float, u: float, reach: float) -> float:
    """The largest exponent of a term on the real axis within `reach` of u (step 2).

    From the logarithms of the mixture that is raised at both ends, and that of the other one and its slope at u.
    """
    value = 0.5 * (tilt + 1.0) * (left + right) - tilt * other
    slope = 0.5 * (tilt + 1.0) * (right - left) / reach - tilt * pull
    return _peak(value, slope, u, reach)


@inlined
def _missed(
    a: Floats,
    c: Floats,
    b: Floats,
    d: Floats,
    plus: bool,
    minus: bool,
    tilt: float,
    y: float,
    u: float,
    r: float,
    ellipse: float,
) -> float:
    """The logarithm of a bound of what the rule hides of the terms on a panel (step 2); inf where nothing is known."""
    inverse = 1.0 / ellipse
    reach, b_height = 0.5 * r * (ellipse + inverse), 0.5 * r * (ellipse - inverse)
    above, _, mean = _mixture(a, c, u)
    below, _, other = _mixture(b, d, u)
    above_left, off_0, _ = _mixture(a, c, u - reach)
    above_right, off_1, _ = _mixture(a, c, u + reach)
    below_left, off_2, _ = _mixture(b, d, u - reach)
    below_right, off_3, _ = _mixture(b, d, u + reach)
    if (tilt + 1.0) * (off_0 + off_1 + off_2 + off_3) > _MOST_RELATIVE:
        return math.inf
    second, third = _spread(a, c, u, mean, reach)
    other_second, other_third = _spread(b, d, u, other, reach)
    square = b_height * b_height
    bent, other_bent = 0.5 * square * second, 0.5 * square * other_second
    if not (bent < 0.5 and other_bent < 0.5):
        return math.inf
    turn = abs(mean - other) * b_height
    turn += b_height * (reach * second + square * third / 6.0) / (1.0 - bent)
    turn += b_height * (reach * other_second + square * other_third / 6.0) / (1.0 - other_bent)
    top = -math.inf
    if plus:
        top = _term(tilt, above_left, above_right, below, other, u, reach) + 1.4 * tilt * other_bent
    if minus:
        top = max(top, _term(tilt, below_left, below_right, above, mean, u, reach) + 1.4 * tilt * bent)
    if plus and minus:
        top += _LOG_2
    grown = 0.5 * square + y * turn * _ROOM
    return top + grown + log(4.3 * r / (1.0 - inverse * inverse)) - 2.0 * NODES * log(ellipse)


@kernel(_TWO, *_MIXTURES, types.boolean, types.boolean, *[types.float64] * 6, WRITE)
def plan(
    a: Floats,
    c: Floats,
    b: Floats,
    d: Floats,
    plus: bool,
    minus: bool,
    low: float,
    high: float,
    tilt: float,
    y: float,
    scale: float,
    nats: float,
    edges: Floats,
) -> tuple[float, float]:
    """Edges of panels from `low` to `high`, their number, and what the rule hides of all values up to γ + iy.

    What is hidden is an integral over e^scale·√2π. It is infinite where the panels do not suffice.
    """
    edges[0] = low
    r, hidden = 0.5, 0.0
    count = 0
    while edges[count] < high:
        if count + 1 >= edges.size:
            return 1.0 * count, math.inf
        at = edges[count]
        while True:
            found = math.inf
            u = at + r
            for ellipse in _ELLIPSES:
                found = min(found, _missed(a, c, b, d, plus, minus, tilt, y, u, r, ellipse))
            if found - scale <= -nats:
                break
            r *= 0.7
            if r < _NARROWEST:
                return 1.0 * count, math.inf
        hidden += exp(found - scale) * _ROOM
        count += 1
        edges[count] = at + 2.0 * r
        r = min(1.3 * r, _WIDEST)
    return 1.0 * count, hidden


@inlined
def _one(
    tilt: float, raised: float, lowered: float, off: float, slip: float, x: float, r: float, scale: float
) -> tuple[float, float]:
    """The exponent of a weight, less the scale, and what is hidden of the weight, relatively (step 5)."""
    units = (
        4.0 * (tilt * abs(raised - lowered) + abs(raised)) + 4.0 * x * x + 12.0 * r * abs(x) + 2.0 * abs(scale) + 150.0
    )
    return _height(tilt, raised, lowered, x) - scale, tilt * slip + off + _U * units


@kernel(
    types.float64,
    *_MIXTURES,
    types.boolean,
    types.boolean,
    types.float64,
    types.float64,
    READ,
    types.int64,
    WRITE,
    WRITE,
    WRITE,
    WRITE,
)
def fill(
    a: Floats,
    c: Floats,
    b: Floats,
    d: Floats,
    plus: bool,
    minus: bool,
    tilt: float,
    scale: float,
    edges: Floats,
    panels: int,
    loss: Floats,
    weight: Floats,
    slip: Floats,
    relative: Floats,
) -> float:
    """Losses and weights of all nodes, from the second entry on, and what is hidden of either (step 5).

    Weights are those of the integral, over e^scale. Returns what the tails beyond both ends weigh at most (step 4).
    """
    j = 1
    for k in range(panels):
        u, r = 0.5 * (edges[k] + edges[k + 1]), 0.5 * (edges[k + 1] - edges[k])
        for i in range(NODES):
            x = u + r * GAUSS_NODES[i]
            above, off_above, mean = _mixture(a, c, x)
            below, off_below, other = _mixture(b, d, x)
            placed = _U * (2.0 * abs(x) + 10.0 * r)
            value = above - below
            error = off_above + off_below + (abs(mean) + abs(other)) * placed * _ROOM + _U * abs(value)
            share = r * GAUSS_WEIGHTS[i] * _INVERSE_ROOT_2PI
            if plus:
                height, hidden = _one(tilt, above, below, off_above + abs(mean) * placed, error, x, r, scale)
                loss[j], slip[j], relative[j] = value, error, hidden
                weight[j] = share * exp(max(height, -_LARGEST))
                j += 1
            if minus:
                height, hidden = _one(tilt, below, above, off_below + abs(other) * placed, error, x, r, scale)
                loss[j], slip[j], relative[j] = -value, error, hidden
                weight[j] = share * exp(max(height, -_LARGEST))
                j += 1
    both = plus and minus
    tails = (2.0 if both else 1.0) * exp(max(_heights(a, c, b, d, plus, minus, tilt, edges[panels]) - scale, -_LARGEST))
    if not both:
        tails += exp(max(_heights(a, c, b, d, plus, minus, tilt, edges[0]) - scale, -_LARGEST))
    return 0.2 * tails * _INVERSE_ROOT_2PI * _ROOM


@kernel(_THREE, READ, READ, READ, READ, types.float64, types.float64)
def rounding(
    loss: Floats, weight: Floats, slip: Floats, relative: Floats, total: float, centre: float
) -> tuple[float, float, float]:
    """What rounding can hide (step 5): ν of the ratio per unit of y, ω of the total relatively; the largest |ℓ − m|."""
    nu = omega = farthest = 0.0
    nodes = loss.size
    for j in range(1, nodes - 1):
        if relative[j] > _MOST_RELATIVE:
            return math.inf, math.inf, math.inf
        away = abs(loss[j] - centre)
        nu += weight[j] * (slip[j] + (relative[j] + (20.0 + 1.5 * nodes) * _U) * away)
        omega += weight[j] * relative[j]
        farthest = max(farthest, away)
    return nu / total * _ROOM, (omega / total + nodes * _U) * _ROOM, farthest


@inlined
def _least(tilt: float, left: float, right: float, other: float, pull: float, u: float, reach: float) -> float:
    """The least exponent of a term within `reach` of u (step 6).

    From the logarithms of the mixture that is lowered at both ends, and that of the raised one and its slope at u.
    """
    value = (tilt + 1.0) * other - 0.5 * tilt * (left + right)
    slope = (tilt + 1.0) * pull - 0.5 * tilt * (right - left) / reach
    low, high = u - reach, u + reach
    return value + min(-slope * reach - 0.5 * low * low, slope * reach - 0.5 * high * high)


@inlined
def _biased(weights: Floats, centres: Floats, x: float) -> float:
    """E_x[J²]/E_x|J|, which does not fall as the mixture's centres are weighed towards the larger ones."""
    top = _top(centres, x)
    first = second = 0.0
    for j in range(weights.size):
        term = weights[j] * exp(max(centres[j] * (x - 0.5 * centres[j]) - top, -_LARGEST)) * abs(centres[j])
        first += term
        second += term * abs(centres[j])
    return second / first if first > 0.0 else 0.0


@inlined
def _above(exponent: float) -> float:
    return exp(max(exponent, -_LARGEST)) * _ROOM


@inlined
def _below(exponent: float) -> float:
    return exp(exponent) / _ROOM if exponent > -_LARGEST else 0.0


@kernel(types.float64, *_MIXTURES, types.boolean, types.boolean, *[types.float64] * 8, WRITE, WRITE)
def sides(
    a: Floats,
    c: Floats,
    b: Floats,
    d: Floats,
    plus: bool,
    minus: bool,
    low: float,
    high: float,
    tilt: float,
    scale: float,
    centre: float,
    atom: float,
    total: float,
    omega: float,
    below: Floats,
    height: Floats,
) -> float:
    """Bounds b, v for each of equal cells with |φ(y)| ≤ b + v/|y|, from the densities of ±ℓ right of it (step 6).

    Returns:
        An upper bound of the standard deviation of ℓ about `centre`, and so of its own.
    """
    cells = below.size
    width = (high - low) / cells
    reach = 0.5 * width
    far = _largest(c) + _largest(d)
    mass = total * (1.0 - omega) / _INVERSE_ROOT_2PI
    most = total * (1.0 + omega) / _INVERSE_ROOT_2PI
    # beyond the right end
    x = high
    above_right, _, mean_right = _mixture(a, c, x)
    below_right, _, other_right = _mixture(b, d, x)
    end = _above(_height(tilt, above_right, below_right, x) - scale) if plus else 0.0
    end += _above(_height(tilt, below_right, above_right, x) - scale) if minus else 0.0
    away = abs(above_right - below_right) + abs(centre)
    beyond = end * (away * away / 5.0 + 2.0 * away * far / 25.0 + 2.0 * far * far / 125.0)
    varied = end * (1.0 + 0.2 * far) * _ROOM / mean_right if mean_right > _SMALLEST else math.inf
    square = beyond + atom / _INVERSE_ROOT_2PI * centre * centre
    kept = 0.0
    uppers = np.empty(cells)
    for k in range(cells - 1, -1, -1):
        x = low + k * width
        u = x + reach
        above_left, _, mean_left = _mixture(a, c, x)
        below_left, _, other_left = _mixture(b, d, x)
        above, _, mean = _mixture(a, c, u)
        under, _, other = _mixture(b, d, u)
        biased = max(_biased(a, c, x + width), _biased(b, d, x))
        rising = mean_left - other_right
        flat = _ROOM * _ROOM / rising if rising > _SMALLEST else math.inf
        lower = added = 0.0
        if plus:
            steepest = max(
                abs((tilt + 1.0) * mean_right - tilt * other_left - x),
                abs((tilt + 1.0) * mean_left - tilt * other_right - x - width),
            )
            upper = _above(_term(tilt, above_left, above_right, under, other, u, reach) - scale)
            lower += _below(_least(tilt, below_left, below_right, above, mean, u, reach) - scale)
            away = max(abs(above_left - below_left - centre), abs(above_right - below_right - centre)) * _ROOM
            added += width * upper
            square += width * upper * away * away
            varied += width * upper * (steepest + biased) * flat
        if minus:
            steepest = max(
                abs(tilt * mean_right - (tilt + 1.0) * other_left + x + width),
                abs(tilt * mean_left - (tilt + 1.0) * other_right + x),
            )
            upper = _above(_term(tilt, below_left, below_right, above, mean, u, reach) - scale)
            lower += _below(_least(tilt, above_left, above_right, under, other, u, reach) - scale)
            away = max(abs(above_left - below_left + centre), abs(above_right - below_right + centre)) * _ROOM
            added += width * upper
            square += width * upper * away * away
            varied += width * upper * (steepest + biased) * flat
        uppers[k] = added
        kept += width * lower
        height[k] = 2.0 * varied / mass * _ROOM
        below[k] = 1.0 - kept / most / _ROOM
        above_right, below_right, mean_right, other_right = above_left, below_left, mean_left, other_left
    left = atom / _INVERSE_ROOT_2PI * _ROOM
    if not (plus and minus):
        away = abs(above_right - below_right) + abs(centre)
        end = _above(_height(tilt, above_right, below_right, low) - scale) if plus else 0.0
        end += _above(_height(tilt, below_right, above_right, low) - scale) if minus else 0.0
        square += end * (away * away / 5.0 + 2.0 * away * far / 25.0 + 2.0 * far * far / 125.0)
        left += 0.2 * end
    for k in range(cells):
        below[k] = min(below[k], left / mass * _ROOM)
        left += uppers[k]
    return math.sqrt(square / mass) * _ROOM + _SMALLEST


@inlined
def _bent(weights: Floats, centres: Floats, x: float, mean: float, reach: float, lift: float, floor: float) -> float:
    """What −log|E e^(iJ·lift)| is at most within `reach` of x (step 7)."""
    second, _ = _spread(weights, centres, x, mean, reach)
    bent = 0.5 * lift * lift * second
    return min(1.4 * bent, floor) if bent < 0.5 else floor


@inlined
def _turn(weights: Floats, centres: Floats, x: float, sines: Floats, cosines: Floats) -> float:
    """The argument of a mixture above x, in magnitude, from below: of the sines and cosines of each centre (step 7)."""
    top = _top(centres, x)
    along = across = 0.0
    for j in range(weights.size):
        term = weights[j] * exp(max(centres[j] * (x - 0.5 * centres[j]) - top, -_LARGEST))
        along += term * cosines[j]
        across += term * abs(sines[j])
    return angle(across, along) * _NEARLY_ONE


@kernel(types.float64, *_MIXTURES, types.boolean, types.boolean, *[types.float64] * 7, types.int64)
def lifted(
    a: Floats,
    c: Floats,
    b: Floats,
    d: Floats,
    plus: bool,
    minus: bool,
    low: float,
    high: float,
    tilt: float,
    scale: float,
    mass: float,
    y: float,
    lift: float,
    cells: int,
) -> float:
    """Bound the integral of the terms for γ + iy, and any larger y, over that for γ, on the line lifted by so much.

    Args:
        a, c, b, d, plus, minus: as for `window`; both terms only where B is the mirror image of A, from 0 on.
        low, high: the ends of the window.
        tilt: γ.
        scale: what exponents are taken less.
        mass: the integral for γ over e^scale·√2π, from below.
        y: at least 0.
        lift: at least 0, its product with the farthest centre at most 15/16·π.
        cells: how many, at least 1.

    Returns:
        The bound; inf where the logarithms are not known well enough.
    """
    sines_a, cosines_a, sines_b, cosines_b = np.empty(c.size), np.empty(c.size), np.empty(d.size), np.empty(d.size)
    for j in range(c.size):
        sines_a[j], cosines_a[j] = sine_cosine(lift * c[j])
    for j in range(d.size):
        sines_b[j], cosines_b[j] = sine_cosine(lift * d[j])
    _, half_a = sine_cosine(0.5 * lift * _largest(c))
    _, half_b = sine_cosine(0.5 * lift * _largest(d))
    floor_a, floor_b = -log(half_a), -log(half_b)
    width = (high - low) / cells
    reach = 0.5 * width
    total = 0.0
    above_left, off_above, _ = _mixture(a, c, low)
    below_left, off_below, _ = _mixture(b, d, low)
    turn_left = _turn(a, c, low, sines_a, cosines_a)
    if not (plus and minus):
        end = _height(tilt, above_left, below_left, low) if plus else _height(tilt, below_left, above_left, low)
        total += 0.2 * _above(end + tilt * (floor_a + floor_b) - scale)
    for k in range(cells):
        x = low + (k + 1) * width
        u = x - reach
        above_right, off_above_right, _ = _mixture(a, c, x)
        below_right, off_below_right, _ = _mixture(b, d, x)
        above, off_above_here, mean = _mixture(a, c, u)
        below, off_below_here, other = _mixture(b, d, u)
        off = off_above + off_below + off_above_here + off_below_here + off_above_right + off_below_right
        if not (tilt + 1.0) * (off + 32.0 * _U) <= _MOST_RELATIVE:
            return math.inf
        lost = y * (turn_left + _turn(b, d, x, sines_b, cosines_b))
        if plus:
            top = _term(tilt, above_left, above_right, below, other, u, reach) - scale - lost
            total += width * _above(top + tilt * _bent(b, d, u, other, reach, lift, floor_b))
        if minus:
            top = _term(tilt, below_left, below_right, above, mean, u, reach) - scale - lost
            total += width * _above(top + tilt * _bent(a, c, u, mean, reach, lift, floor_a))
        above_left, below_left, off_above, off_below = above_right, below_right, off_above_right, off_below_right
        turn_left = _turn(a, c, x, sines_a, cosines_a)
    lost = y * turn_left
    if plus:
        total += 0.2 * _above(_height(tilt, above_left, below_left, high) - scale - lost + tilt * floor_b)
    if minus:
        total += 0.2 * _above(_height(tilt, below_left, above_left, high) - scale - lost + tilt * floor_a)
    return total * exp(0.5 * lift * lift) / mass * _ROOM
