"""Moments of the privacy loss of the sampled Gaussian mechanism on a vertical line, and the contour sum, with errors.

With x normal, w = s·(x − s/2), B = 1 − q + q·e^w and L = log B, the loss is ℓ = σ·L: σ = 1 for the remove direction,
where x has the density φ·B, and σ = −1 for the add direction, where it has the density φ. With γ = c + 1 or −c,

    M(z) = E[e^(zℓ)],   M(c) = ∫ φ·B^γ,   φ_c(y) = e^(−i·y·m)·M(c + iy)/M(c) = 1 + E_c[e^(iy(ℓ − m)) − 1],

where E_c weighs x with φ·B^γ. Every integral is a trapezoid sum over the nodes k·h of a window; arrays hold one further
node on either side. What the rule, the cut tails and rounding can hide is returned beside each value. The proofs are in
`docs/soundness_loss_distribution.md`, whose step numbers stand beside the code.
"""

from __future__ import annotations

import math

import numpy as np

from . import types
from .compile import READ, WRITE, Floats, bits, fma, from_bits, inlined, kernel
from .elementary import exp, expm1, expm1mx, log, log1p
from .sampled_gaussian import _log_mixture, _share

MOST_NODES = 1 << 15
LAST_NODE = 1 << 29
"""k·h is exact up to this k."""

_TWO = types.tuple_of(types.float64, 2)
_THREE = types.tuple_of(types.float64, 3)

_U = 2.0**-53
_LARGEST = 700.0
_SMALLEST = 1e-270  # more than underflow can lose
_ROUND = 1.5 * 2.0**52
_INVERSE_ROOT_2PI = 0.3989422804014327
_STRIP = 15.0 / 16.0 * math.pi
_WIDEST = 60.0
_TWO_PI = 6.283185307179586
_BELOW_TWO_PI = 6.28318530717958
_COARSE = ~((1 << 29) - 1)  # keeps 23 bits of a fraction
_ROOM = 1.01  # covers the rounding of a bound
_MOST_RELATIVE = 2.0**-9
_PLAIN = 40.0
_DIRECT = 30.0  # peak exponent from which on moments are summed as they are
_ROUGH_NATS, _ROUGH_NODES = 25.0, 1 << 12  # of estimates
_SURE = 0.5  # phases known no better than that count as unknown

# π/2 = _QUARTER_HIGH + _QUARTER_LOW + d with |d| < 2^-108.
_QUARTER_HIGH = float.fromhex("0x1.921fb54442d18p+0")
_QUARTER_LOW = float.fromhex("0x1.1a62633145c07p-54")
_INVERSE_QUARTER = float.fromhex("0x1.45f306dc9c883p-1")
_TAN_EIGHTH = 0.41421356237309503

# Taylor coefficients; the remainders for |r| ≤ π/4 are below 2^-62.
_S3, _S5, _S7, _S9, _S11, _S13, _S15, _S17 = ((-1.0) ** (n // 2) / math.factorial(n) for n in range(3, 18, 2))
_C4, _C6, _C8, _C10, _C12, _C14, _C16, _C18 = ((-1.0) ** (n // 2) / math.factorial(n) for n in range(4, 19, 2))
_ARCTANGENT_TERMS = 23  # the remainder for |t| ≤ tan(π/8) is below 2^-63


@inlined
def sine_cosine(x: float) -> tuple[float, float]:
    """sin x and cos x for |x| ≤ 2^30, within 3u; sin x within 3u relatively where |x| ≤ π/4 (step 1)."""
    shifted = fma(x, _INVERSE_QUARTER, _ROUND)
    k = shifted - _ROUND
    r = fma(-k, _QUARTER_LOW, fma(-k, _QUARTER_HIGH, x))
    z = r * r
    p = fma(z, _S17, _S15)
    p = fma(z, p, _S13)
    p = fma(z, p, _S11)
    p = fma(z, p, _S9)
    p = fma(z, p, _S7)
    p = fma(z, p, _S5)
    p = fma(z, p, _S3)
    sine = fma(r * z, p, r)
    p = fma(z, _C18, _C16)
    p = fma(z, p, _C14)
    p = fma(z, p, _C12)
    p = fma(z, p, _C10)
    p = fma(z, p, _C8)
    p = fma(z, p, _C6)
    p = fma(z, p, _C4)
    p = fma(z, p, -0.5)
    cosine = fma(z, p, 1.0)
    quadrant = bits(shifted)
    odd = (quadrant & 1) == 1
    first, second = (cosine, sine) if odd else (sine, cosine)
    return (-first if (quadrant & 2) == 2 else first), (-second if ((quadrant + 1) & 2) == 2 else second)


@inlined
def _arctangent(t: float) -> float:
    """arctan t for 0 ≤ t ≤ 1, within 6u relatively (step 1)."""
    base = 0.0
    if t > _TAN_EIGHTH:
        t = (t - 1.0) / (t + 1.0)
        base = 0.5 * _QUARTER_HIGH
    z = t * t
    p = 0.0
    for i in range(_ARCTANGENT_TERMS, 0, -1):
        p = 1.0 / (2 * i + 1) - z * p
    return base + (t - t * z * p)


@inlined
def angle(y: float, x: float) -> float:
    """The argument of x + iy ≠ 0 in [−π, π], within 8u relatively (step 1)."""
    far, near = abs(x), abs(y)
    value = _QUARTER_HIGH - _arctangent(far / near) if near > far else _arctangent(near / far)
    if x < 0.0:
        value = 2.0 * _QUARTER_HIGH - value
    return -value if y < 0.0 else value


@kernel(types.void, READ, WRITE, WRITE)
def sine_cosine_each(values: Floats, sine: Floats, cosine: Floats) -> None:
    """Sines and cosines of values up to 2^30."""
    for i in range(sine.size):
        sine[i], cosine[i] = sine_cosine(values[i])


@kernel(types.void, READ, READ, WRITE)
def angle_each(y: Floats, x: Floats, out: Floats) -> None:
    """Write the arguments (angles) of the complex numbers x + iy to `out`."""
    for i in range(out.size):
        out[i] = angle(y[i], x[i])


@inlined
def _exponent(c: float, sign: float, loss: float) -> float:
    """γ·L, in which c + 1 is never rounded."""
    return c * loss + loss if sign > 0.0 else c * loss


@inlined
def _odds(x: float, q: float, s: float, log_q: float) -> float:
    """q·e^w/(1 − q), which does not fall in x."""
    return exp(min(s * (x - 0.5 * s) + log_q, _LARGEST)) / (1.0 - q)


@inlined
def _chain(reach: float, q: float, s: float, log_q: float, down_to: float) -> float:
    """A point beyond which γ·s·share(x) − x < −5, from above; no lower than needed for `down_to` (step 4)."""
    end = reach + 6.0
    for _ in range(64):
        new = reach * _share(end, q, s, log_q) + 6.0
        if new > end - 1e-3 or end <= down_to:
            break
        end = new
    return end


@inlined
def _turned(a: float, s: float, spread: float) -> float:
    """What a strip of half width a adds to the logarithm of a weight where B^γ turns, γ < 0 (step 3)."""
    turn = (0.5 * s * a) ** 2
    return 4.0 * spread * turn * (0.5 + 0.27 * turn)


@inlined
def _turning(a: float, s: float, spread: float) -> float:
    """The derivative of a²/2 + `_turned`, over a."""
    return 1.0 + spread * s * s * (1.0 + 0.27 * (s * a) ** 2)


@inlined
def _need(rest: float, s: float, spread: float, pull: float, widest: float) -> float:
    """About the least 2π/h at which a node of that weight hides no more than is asked for."""
    a = widest
    for _ in range(3):
        a = min(widest, math.sqrt(2.0 * rest / _turning(a, s, spread)))
    return pull + (rest + _turned(a, s, spread)) / a + 0.5 * a


@inlined
def _plan(q: float, s: float, sign: float, c: float, y: float, nats: float, flat: bool) -> tuple[float, float, float]:
    """Step, first node and number of nodes, two further ones included; estimates: they decide only how tight."""
    log_q = log(q)
    width = math.sqrt(2.0 * nats) + 2.0
    reach = (c + 1.0) * s
    if sign > 0.0:
        end = _chain(reach, q, s, log_q, 0.0)
        low, high = -width, max(reach * _share(end, q, s, log_q) + width, end + 1.0)
    else:
        left, right = -c * s, 0.0
        for _ in range(60):
            middle = 0.5 * (left + right)
            if -c * s * _share(middle, q, s, log_q) > middle:
                left = middle
            else:
                right = middle
        low, high = left - width, left + width
    low, high = min(low, -7.0), max(high, s + width if flat else 7.0)
    samples = int(min(2000.0, max(64.0, math.ceil(4.0 * (high - low)))))
    gap = (high - low) / samples
    peak = 0.0
    for i in range(samples + 1):
        x = low + i * gap
        peak = max(peak, _exponent(c, sign, sign * _log_mixture(s * (x - 0.5 * s), q, log_q)) - 0.5 * x * x)
    widest = min(_STRIP / s, _WIDEST)
    order = c + 1.0 if sign > 0.0 else c
    bent = 0.0 if sign > 0.0 else c
    h = 0.0
    for _ in range(2):
        need = 1.0
        for i in range(samples + 1):
            x = low + i * gap
            share = _share(x, q, s, log_q)
            height = _exponent(c, sign, sign * _log_mixture(s * (x - 0.5 * s), q, log_q)) - 0.5 * x * x - peak
            rest = nats + height + 2.0 + 0.5 * abs(sign * order * s * share - x) * h
            if rest > 0.0:
                pull = y * s * min(1.0, _odds(x, q, s, log_q))
                need = max(need, _need(rest, s, bent * min(0.25, share), pull, widest))
            other = max(log(1.0 + order * q) - 0.5 * x * x, log(order * q) - 0.5 * (x - s) ** 2)
            rest = nats + other - peak + 2.0 + 0.5 * abs(x) * h
            if flat and rest > 0.0:
                need = max(need, _need(rest, s, 0.0, 0.0, widest))
        h = _TWO_PI / need
    h = from_bits(bits(h) & _COARSE)
    first, last = math.floor(low / h) - 1.0, math.ceil(high / h) + 1.0
    return h, first, last - first + 1.0


@kernel(_THREE, *[types.float64] * 6, types.boolean)
def plan(q: float, s: float, sign: float, c: float, y: float, nats: float, flat: bool) -> tuple[float, float, float]:
    """Step, first node and number of nodes for values up to c + iy with about e^−nats hidden; estimates.

    With `flat` also for `log_moment`.
    """
    return _plan(q, s, sign, c, y, nats, flat)


@inlined
def _fill(
    q: float, s: float, sign: float, c: float, h: float, first: float, loss: Floats, weight: Floats
) -> tuple[float, float, float]:
    """Losses and weights e^(γL − x²/2 − scale) at the nodes; the scale, the weights' sum, the mean loss."""
    log_q = log(q)
    scale = -math.inf
    for j in range(loss.size):
        x = (first + j) * h
        loss[j] = sign * _log_mixture(s * (x - 0.5 * s), q, log_q)
        weight[j] = _exponent(c, sign, loss[j]) - 0.5 * (x * x)
        scale = max(scale, weight[j])
    total = mean = 0.0
    for j in range(loss.size):
        weight[j] = exp(max(weight[j] - scale, -_LARGEST))
        if 0 < j < loss.size - 1:
            total += weight[j]
            mean += weight[j] * loss[j]
    return scale, total, mean / total


@kernel(_THREE, *[types.float64] * 6, WRITE, WRITE)
def fill(
    q: float, s: float, sign: float, c: float, h: float, first: float, loss: Floats, weight: Floats
) -> tuple[float, float, float]:
    """Losses and weights e^(γL − x²/2 − scale) at the nodes; the scale, the weights' sum, about the mean loss."""
    return _fill(q, s, sign, c, h, first, loss, weight)


@inlined
def _loss_error(x: float, s: float, loss: float) -> float:
    """What rounding can hide of a loss (step 2)."""
    size, w = abs(loss), abs(s * (x - 0.5 * s))
    return _U * ((20.0 + 8.0 * w) * min(1.0, 2.0 * size) + 8.0 * size) + _SMALLEST


@inlined
def _weight_error(x: float, c: float, loss: float, error: float, scale: float) -> float:
    """What rounding can hide of a weight, relatively (step 2)."""
    powers = (c + 1.0) * abs(loss)
    return (c + 1.0) * error + _U * (4.0 * powers + 2.0 * x * x + 2.0 * abs(scale) + 6.0)


@inlined
def _cell(j: int, x: float, h: float, c: float, sign: float, scale: float, loss: Floats) -> float:
    """A bound of the weights over the cell of an inner node, from its neighbours (step 3)."""
    left, right = _exponent(c, sign, loss[j - 1]), _exponent(c, sign, loss[j + 1])
    if sign > 0.0:  # γL is convex: below the chord of the neighbours
        top = 0.5 * (left + right)
        slope = abs(0.5 * (right - left) - x * h)
    else:  # and concave: below the chords extended from either side
        top = _exponent(c, sign, loss[j])
        slope = max(abs(top - left - x * h), abs(right - top - x * h))
    return exp(max(top + 0.5 * slope - 0.5 * (x * x) - scale, -_LARGEST)) * _ROOM


@inlined
def _least(j: int, x: float, h: float, c: float, sign: float, scale: float, loss: Floats) -> float:
    """A lower bound of the weights over the cell of an inner node, from its neighbours (step 3)."""
    power = min(_exponent(c, sign, loss[j - 1]), _exponent(c, sign, loss[j + 1]))
    far = abs(x) + 0.5 * h
    value = power - 0.5 * far * far - scale
    return exp(value) / _ROOM if value > -_LARGEST else 0.0


@inlined
def _slopes(q: float, s: float, sign: float, c: float, low: float, high: float) -> bool:
    """Whether the weights fall outside [low, high] by at least e^−5 per unit (step 4)."""
    log_q = log(q)
    if low > -6.0 or high < 6.0:
        return False
    if sign > 0.0:
        return _chain((c + 1.0) * s, q, s, log_q, high) <= high
    return -low - c * s * _share(low, q, s, log_q) >= 6.0


@inlined
def _rule(
    q: float, s: float, sign: float, c: float, y: float, h: float, first: float, scale: float, loss: Floats, flat: bool
) -> float:
    """What the trapezoid rule and the cut tails can hide of a sum of weights times e^(iyℓ) (steps 3 and 4).

    With `flat` also of the sum of φ·(B^γ − 1 − γ(B − 1)), whose scale is 0.
    """
    log_q = log(q)
    last = loss.size - 2
    high = (first + last - 0.5) * h
    if not _slopes(q, s, sign, c, (first + 1.5) * h, high) or (flat and high < s + 6.0):
        return math.inf
    widest = min(_STRIP / s, _WIDEST)
    bent = 0.0 if sign > 0.0 else c
    order = c + 1.0
    total = cut = before = depth = 0.0
    for j in range(1, last + 1):
        x = (first + j) * h
        top = _cell(j, x, h, c, sign, scale, loss)
        if flat:
            near, other = max(abs(x) - 0.5 * h, 0.0), max(abs(x - s) - 0.5 * h, 0.0)
            top += (1.0 + order * q) * exp(max(-0.5 * near * near, -_LARGEST)) * _ROOM
            top += order * q * exp(max(-0.5 * other * other, -_LARGEST)) * _ROOM
        ahead = x + h
        pull = y * s * min(1.0, _odds(ahead, q, s, log_q) * _ROOM)
        spread = bent * min(0.25, _share(ahead, q, s, log_q) * _ROOM)
        a = widest
        for _ in range(3):
            a = min(widest, max(_TWO_PI / h - pull, 0.0) / _turning(a, s, spread))
        if a * _TWO_PI < h:
            a = 0.0
        here = top
        if a > 0.0:
            grown = 0.5 * a * a + pull * a + _turned(a, s, spread)
            here = top * exp(grown - _BELOW_TWO_PI * a / h) * _ROOM
            total += 2.0 * h * here / (1.0 - exp(-_BELOW_TWO_PI * a / h))
        else:
            total += 2.0 * h * here
        if j == 1 or j == last:
            total += 2.0 * a * max(top, here)
            cut += 0.2 * top
        if j > 1:
            total += 2.0 * abs(a - depth) * max(here, before)
        before, depth = here, a
    return (total + cut) / h * _ROOM + _SMALLEST


@kernel(types.float64, *[types.float64] * 8, READ)
def rule(
    q: float, s: float, sign: float, c: float, y: float, h: float, first: float, scale: float, loss: Floats
) -> float:
    """What the rule and the cut tails can hide of a sum of weights times e^(iuℓ), |u| ≤ y; inf if nothing is known."""
    return _rule(q, s, sign, c, y, h, first, scale, loss, False)


@kernel(_THREE, *[types.float64] * 6, READ, READ, types.float64)
def rounding(
    s: float, c: float, h: float, first: float, scale: float, total: float, loss: Floats, weight: Floats, centre: float
) -> tuple[float, float, float]:
    """What rounding can hide (step 5): ν of the ratio per unit of y, ω of the total relatively; the largest |ℓ − m|."""
    nu = omega = farthest = 0.0
    nodes = loss.size
    for j in range(nodes):
        x = (first + j) * h
        error = _loss_error(x, s, loss[j])
        relative = _weight_error(x, c, loss[j], error, scale)
        if relative > _MOST_RELATIVE:  # the bounds over cells would not hold
            return math.inf, math.inf, math.inf
        if 0 < j < nodes - 1:
            d = abs(loss[j] - centre)
            nu += weight[j] * (error + (relative + (20.0 + 1.5 * nodes) * _U) * d)
            omega += weight[j] * relative
            farthest = max(farthest, d)
    return nu / total * _ROOM, (omega / total + nodes * _U) * _ROOM, farthest


@inlined
def _ratio(y: float, total: float, loss: Floats, weight: Floats, centre: float) -> tuple[float, float]:
    """Real and imaginary part of φ_c(y) − 1, from sums in which nothing cancels."""
    real = imaginary = 0.0
    for j in range(1, loss.size - 1):
        sine, cosine = sine_cosine(0.5 * y * (loss[j] - centre))
        turned = weight[j] * sine
        real += turned * sine
        imaginary += turned * cosine
    return -2.0 * real / total, 2.0 * imaginary / total


@inlined
def _add_logarithm(
    times: float, a: float, b: float, hid: float, k: int, size: Floats, phase: Floats, error: Floats
) -> None:
    """Add n·log of 1 + a + ib, which is hid off at most (step 6)."""
    moved = abs(a) + abs(b)
    square = a * (2.0 + a) + b * b
    if moved < 0.5:
        r = 0.5 * log1p(square)
        slip = 8.0 * _U * moved / (1.0 + square)
    else:
        r = 0.5 * log((1.0 + a) * (1.0 + a) + b * b + _SMALLEST)
        slip = 8.0 * _U
    left = exp(r)
    if hid < 0.25 * left:
        t = angle(b, 1.0 + a)
        each = 1.2 * hid / left + slip + _U * (8.0 * abs(r) + 10.0 * abs(t))
        size[k] += times * r
        phase[k] += times * t
        error[k] += times * each * _ROOM
        error[k] += 2.0 * _U * (abs(size[k]) + abs(times * r) + abs(times * t))
        error[k] += 2.0 * _U * abs(phase[k]) if phase[k] < math.inf else 0.0
    else:
        r = min(log(1.1 * (left + hid)), 0.0)
        size[k] += times * r
        error[k] += 10.0 * _U * (abs(size[k]) + abs(times * r))
        phase[k] = math.inf


@kernel(types.void, *[types.float64] * 6, READ, READ, types.float64, types.int64, types.int64, WRITE, WRITE, WRITE)
def add_logarithms(
    times: float,
    step: float,
    nu: float,
    omega: float,
    hidden: float,
    total: float,
    loss: Floats,
    weight: Floats,
    centre: float,
    begin: int,
    end: int,
    size: Floats,
    phase: Floats,
    error: Floats,
) -> None:
    """Add n·log|φ_c(y)|, n·arg φ_c(y) and what is hidden of either, for y = (k + 1)·step, begin ≤ k < end (step 6).

    A phase is inf where only |φ_c(y)|^n ≤ e^(size + error) is known.
    """
    for k in range(begin, end):
        y = (k + 1) * step
        a, b = _ratio(y, total, loss, weight, centre)
        moved = abs(a) + abs(b)
        hid = (y * nu + hidden + moved * omega + 8.0 * _U * moved) * _ROOM
        _add_logarithm(times, a, b, hid, k, size, phase, error)


@kernel(types.void, *[types.float64] * 4, READ, READ, READ, WRITE, WRITE, WRITE)
def mix_in(
    weight: float,
    slack: float,
    offset: float,
    step: float,
    size: Floats,
    phase: Floats,
    error: Floats,
    real: Floats,
    imaginary: Floats,
    hidden: Floats,
) -> None:
    """Add w·(e^(iy·offset)·φ − 1) of a part and what is hidden of it, at y = (k + 1)·step.

    Args:
        weight, slack: w, and how far it is off at most.
        offset: m of the part less that of the mixture, within 2u relatively.
        step: distance of the values y.
        size, phase, error: log|φ| and arg φ of one release of the part, as `add_logarithms` leaves them.
        real, imaginary, hidden: sums over the parts.
    """
    for k in range(size.size):
        r, slip = size[k], error[k]
        if slip < 0.125 and phase[k] < math.inf:
            shift = (k + 1) * step * offset
            theta = phase[k] + shift
            sine, cosine = sine_cosine(0.5 * theta)
            left, shrunk = exp(r), expm1(r)
            a = shrunk * (1.0 - 2.0 * sine * sine) - 2.0 * sine * sine
            b = left * (2.0 * sine * cosine)
            moved = abs(a) + abs(b)
            off = 1.7 * slip * left + _U * (30.0 * (abs(shrunk) + abs(theta)) + 8.0 * (abs(phase[k]) + abs(shift)))
        else:
            a, b, moved = -1.0, 0.0, 1.0
            off = exp(r + slip) * _ROOM
        real[k] += weight * a
        imaginary[k] += weight * b
        hidden[k] += (weight * off + slack * (moved + off) + 4.0 * _U * weight * moved) * _ROOM
        hidden[k] += 2.0 * _U * (abs(real[k]) + abs(imaginary[k]))


@kernel(types.void, types.float64, READ, READ, READ, WRITE, WRITE, WRITE)
def add_logarithms_of(
    times: float, real: Floats, imaginary: Floats, hidden: Floats, size: Floats, phase: Floats, error: Floats
) -> None:
    """Add n·log|φ|, n·arg φ and what is hidden of either, for φ = 1 + real + i·imaginary within `hidden`."""
    for k in range(real.size):
        _add_logarithm(times, real[k], imaginary[k], hidden[k], k, size, phase, error)


@inlined
def _moment(q: float, s: float, sign: float, c: float, h: float, first: float, loss: Floats) -> tuple[float, float]:
    """Σ e^(−x²/2)·(B^γ − 1 − γ(B − 1)) over the inner nodes, and what rounding can hide of it (step 7)."""
    total = hidden = 0.0
    nodes = loss.size
    for j in range(1, nodes - 1):
        x = (first + j) * h
        ratio = sign * loss[j]
        weight = -0.5 * (x * x)
        t = c * loss[j]
        if sign > 0.0:
            if t > _PLAIN:
                value = exp(max(_exponent(c, sign, loss[j]) + weight, -_LARGEST))
                value += exp(max(ratio + weight, -_LARGEST)) * (c * expm1mx(-ratio) - 1.0 - t)
            else:
                value = exp(max(ratio + weight, -_LARGEST)) * (expm1mx(t) + c * expm1mx(-ratio))
        else:
            density = exp(max(weight, -_LARGEST))
            if ratio > _PLAIN:
                other = exp(max(ratio + weight, -_LARGEST)) - density * (1.0 + ratio)
            else:
                other = density * expm1mx(ratio)
            raised = exp(max(t + weight, -_LARGEST)) - density * (1.0 + t) if t > _PLAIN else density * expm1mx(t)
            value = raised + c * other
        w = abs(s * (x - 0.5 * s))
        units = (c + 2.0) * ((20.0 + 8.0 * w) * min(1.0, 2.0 * abs(ratio)) + 10.0 * abs(ratio))
        total += value
        hidden += value * (units + 8.0 * w + 2.0 * x * x + 124.0 + nodes) * _U
    return total, hidden


@inlined
def _log_moment(
    q: float,
    s: float,
    sign: float,
    c: float,
    h: float,
    first: float,
    scale: float,
    total: float,
    omega: float,
    loss: Floats,
) -> tuple[float, float]:
    """log M(c) and what is hidden of it (step 7)."""
    unit = h * _INVERSE_ROOT_2PI
    if scale > _DIRECT:
        value = log(total * unit)
        relative = omega + _rule(q, s, sign, c, 0.0, h, first, scale, loss, False) / total
        return scale + value, 1.1 * relative + 10.0 * _U * (scale + abs(value) + 1.0) if relative < 0.01 else math.inf
    found, hidden = _moment(q, s, sign, c, h, first, loss)
    missed = (hidden + _rule(q, s, sign, c, 0.0, h, first, 0.0, loss, True)) * unit * _ROOM
    found *= unit
    value = log1p(found)
    relative = missed / (1.0 + found)
    return value, 1.1 * relative + 10.0 * _U * value if relative < 0.01 else math.inf


@kernel(_TWO, *[types.float64] * 9, READ)
def log_moment(
    q: float,
    s: float,
    sign: float,
    c: float,
    h: float,
    first: float,
    scale: float,
    total: float,
    omega: float,
    loss: Floats,
) -> tuple[float, float]:
    """log M(c) and what is hidden of it; inf if nothing is known."""
    return _log_moment(q, s, sign, c, h, first, scale, total, omega, loss)


@kernel(_THREE, *[types.float64] * 4)
def estimate(q: float, s: float, sign: float, c: float) -> tuple[float, float, float]:
    """log M(c) and its first two derivatives, quickly; NaN where that takes too many nodes."""
    h, first, count = _plan(q, s, sign, c, 0.0, _ROUGH_NATS, True)
    if not 8.0 <= count <= _ROUGH_NODES:
        return math.nan, math.nan, math.nan
    loss, weight = np.empty(int(count)), np.empty(int(count))
    scale, total, mean = _fill(q, s, sign, c, h, first, loss, weight)
    spread = 0.0
    for j in range(1, loss.size - 1):
        spread += weight[j] * (loss[j] - mean) ** 2
    unit = h * _INVERSE_ROOT_2PI
    if scale > _DIRECT:
        return scale + log(total * unit), mean, spread / total
    found, _ = _moment(q, s, sign, c, h, first, loss)
    return log1p(found * unit), mean, spread / total


@kernel(types.float64, *[types.float64] * 8, READ, types.float64)
def deviation(
    s: float,
    sign: float,
    c: float,
    h: float,
    first: float,
    scale: float,
    total: float,
    omega: float,
    loss: Floats,
    centre: float,
) -> float:
    """An upper bound of the standard deviation of ℓ under E_c, by an upper sum over the cells (step 8)."""
    found = 0.0
    last = loss.size - 2
    for j in range(1, last + 1):
        x = (first + j) * h
        far = max(abs(loss[j - 1] - centre), abs(loss[j + 1] - centre))
        far += _loss_error(x - h, s, loss[j - 1]) + _loss_error(x + h, s, loss[j + 1])
        top = _cell(j, x, h, c, sign, scale, loss)
        found += h * top * far * far
        if j == 1 or j == last:
            found += top * (far * far / 5.0 + 2.0 * far * s / 25.0 + 2.0 * s * s / 125.0)
    return math.sqrt(found / (h * total * (1.0 - omega))) * _ROOM + _SMALLEST


@kernel(types.void, *[types.float64] * 9, READ, WRITE, WRITE)
def variation(
    q: float,
    s: float,
    sign: float,
    c: float,
    h: float,
    first: float,
    scale: float,
    total: float,
    omega: float,
    loss: Floats,
    below: Floats,
    height: Floats,
) -> None:
    """Bounds b, v at each node with |φ_c(y)| ≤ b + v/|y|, from the density of ℓ right of the node (step 9)."""
    log_q = log(q)
    nodes = loss.size
    mass = h * total * (1.0 - omega)
    # One mode where (γ + 1)·s·share cannot meet x + s twice, else two at most.
    order = c + 2.0 if sign > 0.0 else 1.0 - c
    modes = 1.0 if order * s * s < 3.9 else 2.0
    highest = right = 0.0
    for j in range(nodes - 2, 0, -1):
        x = (first + j) * h
        density = _cell(j, x, h, c, sign, scale, loss) / (s * _share(x - h, q, s, log_q))
        highest = max(highest, density * _ROOM)
        height[j] = 2.0 * modes * highest / mass * _ROOM
        right += h * _least(j, x, h, c, sign, scale, loss)
        below[j] = 1.0 - right / (h * total * (1.0 + omega)) / _ROOM
    left = 0.0
    for j in range(1, nodes - 1):
        top = _cell(j, (first + j) * h, h, c, sign, scale, loss)
        left += 0.2 * top if j == 1 else 0.0
        below[j] = min(below[j], left / mass * _ROOM)
        left += h * top
    below[0], height[0] = below[1], height[1]
    below[nodes - 1], height[nodes - 1] = 1.0, 0.0


@kernel(types.float64, *[types.float64] * 8, READ, READ, types.float64, types.int64)
def covered(
    start: float,
    stop: float,
    below_one: float,
    deviation: float,
    nu: float,
    omega: float,
    hidden: float,
    total: float,
    loss: Floats,
    weight: Floats,
    centre: float,
    most: int,
) -> float:
    """The y up to which |φ_c|² ≤ 1 − below_one is proven, from `start` on, by at most that many values (step 9)."""
    y = start
    for _ in range(most):
        if y >= stop:
            break
        a, b = _ratio(y, total, loss, weight, centre)
        moved = abs(a) + abs(b)
        hid = (y * nu + hidden + moved * omega + 8.0 * _U * moved) * _ROOM
        # 1 − |φ|² = −2a − a² − b², from below
        gap = -(a * (2.0 + a)) - b * b - 2.1 * hid - hid * hid - 8.0 * _U * moved
        gap = min(gap, 1.0)
        if not gap > below_one:
            break
        turn = (gap - below_one) / (math.sqrt((1.0 - below_one) * gap) + math.sqrt((1.0 - gap) * below_one))
        y += 0.99 * turn / deviation
    return y


@kernel(_THREE, *[types.float64] * 3, READ, READ, READ)
def contour_sum(
    c: float, step: float, offset: float, size: Floats, phase: Floats, error: Floats
) -> tuple[float, float, float]:
    """1 + 2·Re Σ e^(size + i(phase + y·offset))·c(c + 1)/((c + iy)(c + 1 + iy)), what is hidden, and the slope.

    Step 10. The slope is the derivative in the offset, an estimate.
    """
    total, hidden, slope = 1.0, 0.0, 0.0
    for k in range(size.size):
        y = (k + 1) * step
        p, r = y / c, y / (c + 1.0)
        norm = (1.0 + p * p) * (1.0 + r * r)
        scale = 2.0 * exp(size[k]) / norm
        turn = phase[k] + y * offset
        slip = error[k] + _U * (2.0 * abs(phase[k]) + 3.0 * abs(y * offset) + 30.0)
        if slip < _SURE and abs(turn) < 1e9:
            sine, cosine = sine_cosine(turn)
            along, across = 1.0 - p * r, p + r
            total += scale * (cosine * along + sine * across)
            slope += scale * y * (cosine * across - sine * along)
            hidden += scale * math.sqrt(norm) * (1.4 * slip + 8.0 * _U)
        else:
            hidden += 2.0 * exp(size[k] + error[k]) / math.sqrt(norm)
        hidden += _U * abs(total)
    return total, hidden * _ROOM, slope
