"""Privacy losses on a lattice: cells of known laws, masses at lattice points, and the sums of their compositions.

Legend: a cell lies between neighbouring lattice points; what lies in it is written as a mass at its left and one at its
right end, so that the mass under both laws is right. `units` are relative errors in units of u = 2^-53. A measure on
losses stands for the masses under the first law; one measure is above another where its hockey-stick divergence is, at
every ε. The proofs are in `docs/soundness_lattice.md`, whose steps are named in the code.
"""

from __future__ import annotations

import math

import numpy as np

from . import types
from .compile import READ, WRITE, Floats, fma, inlined, kernel
from .elementary import exp, expm1, log, log1p
from .error_function import bell
from .gauss import gauss_rule

_U = 2.0**-53
TINY = 2.0**-980
"""More than what lies beyond `EDGE`, and than what underflow takes away."""
EDGE = 37.0
"""Normal laws are cut this far from their centres."""

_EIGHT_NODES, _EIGHT_WEIGHTS = gauss_rule(8)
_FOUR_NODES, _FOUR_WEIGHTS = gauss_rule(4)
_RATIO_EIGHT, _RATIO_FOUR = 16.0, 512.0

_FAR = 40.0
_SMALL = 2.0**-57  # above e^-40


@inlined
def _directed(value: float, error: float, up: bool) -> float:
    """`value` moved by twice its error: the second half covers the rounding of the move."""
    return value + 2.0 * error if up else value - 2.0 * error


@inlined
def _mixed(loss: float, rate: float, up: bool) -> float:
    """A bound of log(1 − q + q·e^loss), step 1."""
    if rate == 1.0 or loss == math.inf:
        return loss
    if loss > 600.0:
        top = loss + log(rate)
        most = _SMALL if top > _FAR else exp(-top)
        error = 8.0 * _U * (loss + abs(log(rate)))
        return _directed(top + (most if up else 0.0), error, up)
    y = rate * expm1(loss)
    y = max(_directed(y, 8.0 * _U * abs(y), up), -1.0)
    value = log1p(y)
    return _directed(value, 8.0 * _U * abs(value), up)


@inlined
def _unmixed(loss: float, rate: float, up: bool) -> float:
    """A bound of the loss x with log(1 − q + q·e^x) = loss, −inf where there is none, step 1."""
    if rate == 1.0:
        return loss
    if loss > _FAR:
        value = loss - log(rate)
        return _directed(value if up else value - _SMALL, 8.0 * _U * (loss + abs(log(rate))), up)
    y = expm1(loss) / rate
    y = _directed(y, 9.0 * _U * abs(y), up)
    if y <= -1.0:
        return -math.inf
    value = log1p(y)
    return _directed(value, 8.0 * _U * abs(value), up)


@kernel(types.void, READ, types.float64, types.boolean, types.boolean, WRITE)
def mixed_each(losses: Floats, rate: float, swapped: bool, up: bool, out: Floats) -> None:
    """out: bounds of the losses after sampling; `swapped` turns the two laws round, and so the order of losses."""
    for i in range(out.size):
        out[i] = -_mixed(losses[i], rate, not up) if swapped else _mixed(losses[i], rate, up)


@kernel(types.void, types.float64, types.int64, types.float64, types.float64, types.boolean, types.boolean, WRITE)
def base_losses(offset: float, first: int, spacing: float, rate: float, swapped: bool, up: bool, out: Floats) -> None:
    """out: bounds of the losses before sampling that belong to the lattice points from `first` on.

    They do not fall in the order of `out`: with `swapped` that of the last point comes first. `up` is about the losses
    before sampling.
    """
    count = out.size
    for i in range(count):
        distance = spacing * (first + (count - 1 - i if swapped else i))
        point = offset + distance
        slack = 4.0 * _U * (abs(offset) + abs(distance))
        below, above = point - slack, point + slack
        if swapped:
            out[i] = _unmixed(-below if up else -above, rate, up)
        else:
            out[i] = _unmixed(above if up else below, rate, up)


@kernel(types.void, READ, types.float64, types.boolean, WRITE)
def gaussian_coordinates(losses: Floats, shift: float, up: bool, out: Floats) -> None:
    """out: bounds of the x at which N(shift, 1) against N(0, 1) has these losses, s·x − s²/2."""
    for i in range(out.size):
        ratio = losses[i] / shift
        far = abs(ratio) == math.inf
        out[i] = ratio if far else _directed(ratio + 0.5 * shift, 2.0 * _U * (abs(ratio) + shift), up)


@inlined
def _decay(exponent: float, less_one: float) -> float:
    """e^exponent for an exponent ≤ 0 of which expm1 is known."""
    return exp(exponent) if exponent < -0.5 else 1.0 + less_one


@inlined
def _units(z: float, x: float, shift: float, width: float) -> float:
    """The error of a mass whose farthest node is z from the centre, step 3."""
    return 60.0 + 10.0 * width + 4.0 * z * z + 8.0 * (abs(z) + 1.0) * (abs(x) + shift + 1.0)


@kernel(types.void, READ, types.float64, types.boolean, types.boolean, WRITE, WRITE, WRITE, WRITE, WRITE)
def gaussian_cells(
    x: Floats,
    shift: float,
    with_p: bool,
    with_q: bool,
    p_left: Floats,
    q_left: Floats,
    p_right: Floats,
    q_right: Floats,
    units: Floats,
) -> None:
    """Masses of P = N(shift, 1) and Q = N(0, 1) on the cells (−∞, x₀], (x₀, x₁], …, (x_m, ∞), moved to their ends.

    x rises, within [−EDGE, shift + EDGE]. Of a law that is not asked for, all masses are 0. Each mass is off by its
    units, relatively, and by what lies beyond EDGE of its centre.
    """
    cells = x.size + 1
    for k in range(cells):
        first, last = k == 0, k == cells - 1
        start = -EDGE if first else x[k - 1]
        d = max((shift + EDGE if last else x[k]) - start, 0.0)
        width = 0.0 if first or last else shift * d
        scale = -1.0 if first or last else 1.0 / expm1(-width)
        pl = ql = pr = qr = done = panels = 0.0
        pl_off = ql_off = pr_off = qr_off = 0.0
        while done < d:
            here = start + done
            to_p, to_q = here - shift, here
            near_p, near_q = with_p and abs(to_p) <= EDGE + 1.0, with_q and abs(to_q) <= EDGE + 1.0
            if not (near_p or near_q):  # between the two laws, or beside them
                edge = -EDGE if here < -EDGE else shift - EDGE
                after = d if here >= shift - EDGE else min(d, max(done + 0.5, edge - start))
                done = after
                continue
            far = max(abs(to_p) if near_p else 0.0, abs(to_q) if near_q else 0.0) + 1.0
            reach = 1.0 / (far + shift + 1.0)
            after = min(d, done + 2.0 * reach / _RATIO_EIGHT)
            panel = after - done
            r = 0.5 * panel
            few = reach >= _RATIO_FOUR * r
            pl_here = ql_here = pr_here = qr_here = 0.0
            for i in range(4 if few else 8):
                node = _FOUR_NODES[i] if few else _EIGHT_NODES[i]
                weight = r * (_FOUR_WEIGHTS[i] if few else _EIGHT_WEIGHTS[i])
                tau = done + r * (1.0 + node)
                rest = (d - after) + r * (1.0 - node)
                left = -1.0 if first else expm1(-shift * tau)
                right = -1.0 if last else expm1(-shift * rest)
                z = start + tau
                if with_p and abs(z - shift) <= EDGE:
                    mass = weight * bell(z - shift) * scale
                    pr_here += mass * left
                    pl_here += mass * right * (0.0 if first else _decay(-shift * tau, left))
                if with_q and abs(z) <= EDGE:
                    mass = weight * bell(z) * scale
                    ql_here += mass * right
                    qr_here += mass * left * (0.0 if last else _decay(-shift * rest, right))
            p_units = _units(abs(to_p) + panel, here, shift, width)
            q_units = _units(abs(to_q) + panel, here, shift, width)
            pl, pr, ql, qr = pl + pl_here, pr + pr_here, ql + ql_here, qr + qr_here
            pl_off, pr_off = pl_off + p_units * pl_here, pr_off + p_units * pr_here
            ql_off, qr_off = ql_off + q_units * ql_here, qr_off + q_units * qr_here
            done, panels = after, panels + 1.0
        p_left[k], q_left[k], p_right[k], q_right[k] = pl, ql, pr, qr
        units[k] = panels + max(  # each sum of positive terms rounds once a panel
            max(pl_off / pl if pl > 0.0 else 0.0, pr_off / pr if pr > 0.0 else 0.0),
            max(ql_off / ql if ql > 0.0 else 0.0, qr_off / qr if qr > 0.0 else 0.0),
        )


@kernel(types.void, READ, types.float64, WRITE, WRITE, WRITE, WRITE, WRITE)
def laplace_cells(
    losses: Floats, shift: float, p_left: Floats, q_left: Floats, p_right: Floats, q_right: Floats, units: Floats
) -> None:
    """The part with a density of Laplace(shift, 1) and Laplace(0, 1) on the cells between −shift, `losses`, shift.

    The masses at the ends t of a cell of width d are tanh(d/4)/2 times e^((t − shift)/2) under P and e^(−(t + shift)/2)
    under Q (step 4). `losses` rise within (−shift, shift).
    """
    cells = losses.size + 1
    for k in range(cells):
        start = -shift if k == 0 else losses[k - 1]
        stop = shift if k == cells - 1 else losses[k]
        w = exp(-0.5 * (stop - start))
        half = -0.5 * expm1(-0.5 * (stop - start)) / (1.0 + w)
        p_left[k] = half * exp(0.5 * (start - shift))
        q_left[k] = half * exp(-0.5 * (start + shift))
        p_right[k] = half * exp(0.5 * (stop - shift))
        q_right[k] = half * exp(-0.5 * (stop + shift))
        units[k] = 40.0 + 4.0 * shift


@inlined
def _split(point: float, after: float, mass: float) -> tuple[float, float]:
    """What of a mass goes to the lattice points `point` below it and `after` above it, step 5."""
    scale = mass / expm1(-(point + after))
    return expm1(-after) * exp(-point) * scale, expm1(-point) * scale


@kernel(types.void, READ, READ, READ, types.int64, types.float64, types.boolean, WRITE, WRITE, WRITE)
def deposit(
    losses: Floats,
    masses: Floats,
    mass_units: Floats,
    first: int,
    spacing: float,
    up: bool,
    left: Floats,
    right: Floats,
    units: Floats,
) -> None:
    """Add single losses to the cells around the lattice points `first`, `first` + 1, …, step 5.

    Cell i ends at the i-th point, the last is without end. The infinite end of a cell stands for the loss ±inf. With
    `up` a loss below the first point is moved there, without it is left out.
    """
    last = units.size - 1
    for i in range(losses.size):
        loss, mass = losses[i], masses[i]
        if mass == 0.0:
            continue
        top = fma(float(first + last - 1), spacing, -loss)
        if loss == math.inf or top <= 0.0:
            share = 0.0 if loss == math.inf else exp(top)
            rest = 1.0 if loss == math.inf else -expm1(top)
            left[last] += mass * share
            right[last] += mass * rest
            units[last] = max(units[last], mass_units[i] + 30.0 - (0.0 if loss == math.inf else top))
            continue
        if loss == -math.inf or fma(float(first), spacing, -loss) > 0.0:
            if up:
                right[0] += mass
                units[0] = max(units[0], mass_units[i] + 10.0)
            continue
        cell = min(max(int(loss / spacing) - first, 0), last - 2)
        while cell > 0 and fma(float(first + cell), spacing, -loss) > 0.0:
            cell -= 1
        while cell < last - 2 and fma(float(first + cell + 1), spacing, -loss) <= 0.0:
            cell += 1
        point = -fma(float(first + cell), spacing, -loss)
        after = fma(float(first + cell + 1), spacing, -loss)
        at_left, at_right = _split(max(point, 0.0), max(after, 0.0), mass)
        left[cell + 1] += at_left
        right[cell + 1] += at_right
        units[cell + 1] = max(units[cell + 1], mass_units[i] + 30.0)


@kernel(
    types.void,
    types.float64,
    types.float64,
    types.float64,
    types.int64,
    types.int64,
    types.float64,
    WRITE,
    WRITE,
    WRITE,
)
def deposit_in(
    loss: float,
    mass: float,
    mass_units: float,
    cell: int,
    first: int,
    spacing: float,
    left: Floats,
    right: Floats,
    units: Floats,
) -> None:
    """Add a single loss to the cell that it is known to lie in, not the first, whatever its bound says, step 5."""
    point = max(-fma(float(first + cell - 1), spacing, -loss), 0.0)
    after = max(fma(float(first + cell), spacing, -loss), 0.0)
    if cell == units.size - 1:
        at_left, at_right = mass * exp(-point), mass * -expm1(-point)
    else:
        at_left, at_right = _split(point, after, mass)
    left[cell] += at_left
    right[cell] += at_right
    units[cell] = max(units[cell], mass_units + 30.0)


@kernel(types.void, READ, READ, READ, WRITE)
def dominating(left: Floats, right: Floats, units: Floats, out: Floats) -> None:
    """out: masses of the lattice points, each at least what the cells on its two sides leave there, step 6."""
    for i in range(out.size):
        if units[i] + units[i + 1] == 0.0:  # nothing was ever put there
            out[i] = 0.0
            continue
        above = left[i + 1] * (1.0 + (units[i + 1] + 4.0) * _U)
        below = right[i] * (1.0 + (units[i] + 4.0) * _U)
        out[i] = (above + below + TINY) * (1.0 + 4.0 * _U)


@inlined
def _rest(share: float) -> float:
    """A number that 1 − share does not exceed."""
    return min(1.0 - share + 2.0 * _U, 1.0)


@kernel(types.void, READ, READ, READ, types.float64, WRITE, WRITE)
def dominated(left: Floats, right: Floats, units: Floats, spacing: float, keep: Floats, out: Floats) -> None:
    """out: masses of lattice points to which the cells can be merged, step 7; keep: what of a cell goes to its left.

    Merged into a point, what lies right of it makes up for what lies left of it. Cells are swept from both sides to
    the heaviest, so that what is carried along fades.
    """
    points = out.size
    growth = exp(spacing) * (1.0 + 20.0 * _U)
    heaviest = 1
    for i in range(1, points):
        if left[i] + right[i] > left[heaviest] + right[heaviest]:
            heaviest = i
    keep[0] = 0.0
    for i in range(1, heaviest + 1):
        before = 0.0 if i == 1 else 1.0 - keep[i - 1]
        lacking = (left[i - 1] * (1.0 + units[i - 1] * _U) + TINY) * growth
        extra = right[i] * (1.0 - (units[i] + 10.0) * _U)
        if i == 1:
            keep[i] = 0.0
        elif before * lacking <= extra:
            keep[i] = 0.0 if before == 0.0 else before * lacking / extra * (1.0 + 8.0 * _U)
        else:
            keep[i] = 1.0
            keep[i - 1] = _rest(extra / lacking * (1.0 - 8.0 * _U))
        keep[i] = min(keep[i], 1.0)
    found = keep[heaviest]
    keep[points] = 1.0
    for i in range(points, heaviest, -1):
        lacking = (left[i - 1] * (1.0 + units[i - 1] * _U) + TINY) * growth
        extra = keep[i] * right[i] * (1.0 - (units[i] + 10.0) * _U)
        share = 1.0 if lacking <= extra else extra / lacking * (1.0 - 8.0 * _U)
        keep[i - 1] = max(_rest(share), found if i - 1 == heaviest else 0.0)
    for i in range(points):
        here, there = left[i + 1] + right[i + 1], left[i] + right[i]
        mass = keep[i + 1] * here * (1.0 - (units[i + 1] + 8.0) * _U)
        if i:
            mass += (1.0 - keep[i]) * there * (1.0 - (units[i] + 8.0) * _U)
        out[i] = max(mass * (1.0 - 4.0 * _U) - TINY, 0.0)


@kernel(types.float64, READ, types.int64, types.float64, types.float64)
def tilted_sum(masses: Floats, first: int, tilt: float, log_scale: float) -> float:
    """An upper bound of Σ mass·e^(tilt·index − log_scale), step 8; inf where it leaves the range."""
    total = 0.0
    for i in range(masses.size):
        if masses[i] > 0.0:
            exponent = fma(tilt, float(first + i), -log_scale)
            total += masses[i] * exp(exponent) * (1.0 + (8.0 + 2.0 * abs(exponent)) * _U)
    return total * (1.0 + 2.0 * masses.size * _U) + TINY


@kernel(types.float64, READ, types.int64, types.float64, types.float64, types.boolean, WRITE)
def fold(masses: Floats, first: int, tilt: float, log_scale: float, up: bool, out: Floats) -> float:
    """out: mass·e^(tilt·index − log_scale) at index modulo its length, rounded up or down, step 8.

    Returns a bound of the sum.
    """
    length = out.size
    sign = 1.0 if up else -1.0
    around = 4.0 + 2.0 * (masses.size // length)
    out[:] = 0.0
    total = 0.0
    for i in range(masses.size):
        if masses[i] > 0.0:
            exponent = fma(tilt, float(first + i), -log_scale)
            units = 8.0 + around + 2.0 * abs(exponent)
            value = masses[i] * exp(exponent) * (1.0 + sign * units * _U)
            out[(first + i) % length] += value
            total += value
    return total * (1.0 + 2.0 * masses.size * _U) + TINY


@inlined
def _power(real: float, imaginary: float, times: int) -> tuple[float, float]:
    """The times-th power of a complex number, times ≥ 1; off by 3u·times at most, relatively."""
    found_real, found_imaginary = 1.0, 0.0
    started = False
    while True:
        if times & 1:
            if started:
                p = found_real * real - found_imaginary * imaginary
                found_imaginary = found_real * imaginary + found_imaginary * real
                found_real = p
            else:
                found_real, found_imaginary = real, imaginary
                started = True
        times >>= 1
        if times == 0:
            break
        p = real * real - imaginary * imaginary
        imaginary = 2.0 * (real * imaginary)
        real = p
    return found_real, found_imaginary


@inlined
def _real_power(value: float, times: int) -> float:
    """An upper bound of the times-th power of a number ≥ 0."""
    units = 1.0 + 2.0 * times * _U
    found = 1.0
    while times:
        if times & 1:
            found *= value
        times >>= 1
        value *= value if times else 1.0
    return found * units + TINY


@inlined
def _joined(
    own_real: float,
    own_imaginary: float,
    error: float,
    times: int,
    real: Floats,
    imaginary: Floats,
    at: int,
    off: Floats,
) -> float:
    """Multiply a power into what is there already, which `off` bounds the error of; returns a bound of its size."""
    size = (np.sqrt(own_real * own_real + own_imaginary * own_imaginary) + error) * (1.0 + 8.0 * _U)
    most = _real_power(size, times)
    error_of_power = times * most * (error / size + 4.0 * _U) * (1.0 + 16.0 * _U) + TINY
    power_real, power_imaginary = _power(own_real, own_imaginary, times)
    a, b = real[at], imaginary[at]
    before = np.sqrt(a * a + b * b) + off[at]
    real[at] = a * power_real - b * power_imaginary
    imaginary[at] = a * power_imaginary + b * power_real
    off[at] = (off[at] * most + before * (error_of_power + 4.0 * _U * most)) * (1.0 + 16.0 * _U) + TINY
    return most


@kernel(
    types.void,
    READ,
    READ,
    types.int64,
    types.float64,
    WRITE,
    WRITE,
    WRITE,
    WRITE,
    WRITE,
    WRITE,
)
def multiply_power(
    real: Floats,
    imaginary: Floats,
    times: int,
    error: float,
    above_real: Floats,
    above_imaginary: Floats,
    above_off: Floats,
    below_real: Floats,
    below_imaginary: Floats,
    below_off: Floats,
) -> None:
    """Multiply the powers of two spectra into products, step 9.

    real, imaginary: the transform of x + iy for two real sequences, in bit-reversed order, each value off by `error`.
    The products hold the frequencies at the positions p that are no greater than their mirror image, one after the
    other.
    """
    length = real.size
    at = 0
    block = 1
    for p in range(length):
        if p >= 2 * block:
            block *= 2
        mirror = 3 * block - 1 - p if p else 0
        if mirror < p:
            continue
        a, b, c, d = real[p], imaginary[p], real[mirror], imaginary[mirror]
        slack = error + 2.0 * _U * (abs(a) + abs(b) + abs(c) + abs(d)) + TINY
        _joined(0.5 * (a + c), 0.5 * (b - d), slack, times, above_real, above_imaginary, at, above_off)
        _joined(0.5 * (b + d), 0.5 * (c - a), slack, times, below_real, below_imaginary, at, below_off)
        at += 1


@kernel(types.float64, READ, READ, READ, READ, READ, READ, types.float64, WRITE, WRITE)
def pack(
    above_real: Floats,
    above_imaginary: Floats,
    above_off: Floats,
    below_real: Floats,
    below_imaginary: Floats,
    below_off: Floats,
    stage_error: float,
    real: Floats,
    imaginary: Floats,
) -> float:
    """real, imaginary: the transform of x + iy from the spectra of x and y, in bit-reversed order, step 9.

    Returns a bound of how far each entry of N·x and N·y is off after the inverse transform, whose outputs are off by
    `stage_error` times the sum of the magnitudes of what is put in.
    """
    length = real.size
    at = 0
    block = 1
    wrong = size = 0.0
    for p in range(length):
        if p >= 2 * block:
            block *= 2
        mirror = 3 * block - 1 - p if p else 0
        if mirror < p:
            continue
        a, b, c, d = above_real[at], above_imaginary[at], below_real[at], below_imaginary[at]
        real[p], imaginary[p] = a - d, b + c
        real[mirror], imaginary[mirror] = a + d, c - b
        if mirror == p:
            imaginary[p] = c
            real[p] = a
        wrong += 2.0 * (above_off[at] + below_off[at])
        size += 2.0 * (abs(a) + abs(b) + abs(c) + abs(d))
        at += 1
    return (wrong + (stage_error + 4.0 * _U) * size) * (1.0 + 4.0 * length * _U) + TINY


@kernel(types.void, READ, types.int64, types.int64, types.float64, types.float64, types.float64, WRITE)
def hockey_stick(
    masses: Floats, start: int, first: int, tilt: float, spacing: float, epsilon: float, out: Floats
) -> None:
    """Σ mass·e^(−tilt·(index − first))·(1 − e^(ε − index·spacing)) over the window from `first` on, step 10.

    masses: at index modulo their number, for the indices from `start` on. first: an index that is at least `start` and
    whose point is at least ε. out: the sum, a bound of its rounding error, the sum of what the
    masses are multiplied with, a bound of the factor at which it was cut off, and the largest factor.
    """
    length = masses.size
    total = size = weights = weighed = largest = 0.0
    cut = 0.0
    for j in range(first, start + length):
        exponent = tilt * float(j - first)
        if exponent > 60.0:
            cut = 2.0**-86
            break
        factor = exp(-exponent) * -expm1(-fma(float(j), spacing, -epsilon))
        value = masses[j % length] * factor
        total += value
        size += abs(value)
        weighed += exponent * abs(value)
        weights += factor
        largest = max(largest, factor)
    grown = 1.0 + 4.0 * length * _U
    out[0] = total
    out[1] = ((20.0 + 2.0 * length) * size + 4.0 * weighed) * _U * grown
    out[2] = weights * grown
    out[3] = cut
    out[4] = largest * grown
