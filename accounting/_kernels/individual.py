"""Log-moments of the sampled Gaussian for many records, added to running totals: whole orders, and tables in the rate.

Legend: record i enters with probability q and then shifts a unit Gaussian by s; M = E[(1 + y)^α], Λ(α) = log M. With
E_k = e^(k(k−1)s²/2) − 1, at a whole order α

    M − 1 = Σ_k C(α, k)·(1 − q)^(α−k)·q^k·E_k,

the value at q of the polynomial with the Bernstein coefficients E_0, …, E_α. De Casteljau's scheme gives those of every
order up to the largest in one triangle of convex combinations of non-negative numbers.

The proofs are in `docs/soundness_individual.md`, whose step numbers stand beside the code. Totals are sums of upper
bounds, rounded to nearest: whoever reads them applies the margin of step 4.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import types
from .compile import READ, WRITE, Floats, bits, fma, from_bits, inlined, kernel
from .elementary import expm1_between, log, log1p, log1p_between
from .sampled_gaussian import _epsilon_tangents, _log_moment, _tangent

_U = 2.0**-53
_UP = 1.0 + 4.0 * _U
_LOST = 1e-290  # more than underflow can lose
_FARTHEST = 600.0  # e^600 and its products stay in range
_BLOCK = 32  # records side by side, for the processor's vector units
_TANGENTS = 600.0

Whole: TypeAlias = NDArray[np.int64]

WHOLE = types.array(types.int64, 1, "C", readonly=True)
ROWS = types.array(types.float64, 2, "C")
READ_TABLE = types.array(types.float64, 2, "C", readonly=True)


@inlined
def _stride(values: Floats) -> int:
    """The step from one record's entry to the next: 0 where one entry serves all."""
    return 1 if values.size > 1 else 0


@inlined
def _margin(order: int) -> float:
    """How many u the sum may lie below the truth (step 2)."""
    return 4.0 * order * order + 4.0 * order + 16.0


@kernel(types.void, READ, READ, WHOLE, WHOLE, types.float64, ROWS)
def add_whole(rate: Floats, shift: Floats, orders: Whole, columns: Whole, times: float, totals: Floats) -> None:
    """totals[i, columns[j]] += times·Λ(orders[j]) of record i, for whole orders that increase (steps 1 and 2).

    Args:
        rate: q of each record, or one for all.
        shift: s of each record, or one for all.
        orders: from 2 to the largest whole order, increasing.
        columns: where each order's totals are.
        times: how often, a whole number.
        totals: one row per record.
    """
    largest = orders[orders.size - 1]
    one, two = _stride(rate), _stride(shift)
    coefficients = np.empty((largest + 1, _BLOCK))
    found = np.empty((orders.size, _BLOCK))
    drawn, left_out, square = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    single, several = np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, totals.shape[0], _BLOCK):
        size = min(_BLOCK, totals.shape[0] - start)
        for b in range(_BLOCK):  # past the end: records that lose nothing
            q = rate[one * (start + b)] if b < size else 0.0
            s = shift[two * (start + b)] if b < size else 0.0
            q = 0.0 if s == 0.0 else q
            drawn[b] = q
            left_out[b] = 1.0 - q
            square[b] = s * s * _UP + _LOST if q > 0.0 else 0.0
        for b in range(_BLOCK):
            single[b] = expm1_between(min(square[b], _FARTHEST))
            several[b] = single[b]
            coefficients[0, b] = 0.0
            coefficients[1, b] = 0.0
            coefficients[2, b] = single[b]
        for k in range(3, largest + 1):
            reach = 0.5 * k * (k - 1)
            for b in range(_BLOCK):
                power = fma(several[b], single[b], several[b] + single[b])
                power = power if (k - 1) * square[b] <= _FARTHEST else 0.0
                last = coefficients[k - 1, b]
                last = fma(power, last, power + last)
                several[b] = power
                coefficients[k, b] = last if reach * square[b] <= _FARTHEST else 0.0
        next_order = 0
        for level in range(1, largest + 1):
            for k in range(largest + 1 - level):
                for b in range(_BLOCK):
                    coefficients[k, b] = fma(drawn[b], coefficients[k + 1, b], left_out[b] * coefficients[k, b])
            if level == orders[next_order]:
                grown = 1.0 + _margin(level) * _U
                for b in range(_BLOCK):
                    value = log1p_between(coefficients[0, b] * grown) * (1.0 + 8.0 * _U) + _LOST
                    found[next_order, b] = value if drawn[b] > 0.0 else 0.0
                next_order += 1
        for b in range(size):
            for j in range(orders.size):
                value = found[j, b]
                if 0.5 * orders[j] * (orders[j] - 1) * square[b] > _FARTHEST:  # not in the triangle
                    value = _log_moment(rate[one * (start + b)], shift[two * (start + b)], float(orders[j]))
                totals[start + b, columns[j]] = fma(times, value, totals[start + b, columns[j]])


@kernel(types.void, READ, READ, types.float64, types.int64, types.float64, ROWS)
def add_any(rate: Floats, shift: Floats, order: float, column: int, times: float, totals: Floats) -> None:
    """totals[i, column] += times·Λ(order) of record i, for any order above 1."""
    one, two = _stride(rate), _stride(shift)
    for i in range(totals.shape[0]):
        value = _log_moment(rate[one * i], shift[two * i], order)
        totals[i, column] = fma(times, value, totals[i, column])


@kernel(types.void, READ, READ_TABLE, READ_TABLE, types.int64, types.int64, types.float64, ROWS)
def add_from_table(
    rate: Floats, base: Floats, climb: Floats, digits: int, first: int, times: float, totals: Floats
) -> None:
    """totals[i, j] += times·(base + θ·climb) of the cell that holds q and the place θ of q in it (step 3).

    Args:
        rate: q of each record, or one for all; below the first cell it counts as that cell's lower end.
        base: bounds at the lower ends of the cells; the last row is for q = 1.
        climb: how much they grow over a cell.
        digits: binary digits of a rate that choose the cell, beside its exponent.
        first: the leading bits of the lower end of the first cell.
        times: how often, a whole number.
        totals: one row per record.
    """
    one = _stride(rate)
    below = 52 - digits
    mask, unit = (1 << below) - 1, 1.0 / float(1 << below)
    least = from_bits(first << below)
    for i in range(totals.shape[0]):
        q = rate[one * i]
        if q > 0.0:
            pattern = bits(max(q, least))
            cell = (pattern >> below) - first
            place = float(pattern & mask) * unit
            for j in range(totals.shape[1]):
                value = fma(place, climb[cell, j], base[cell, j])
                totals[i, j] = fma(times, value, totals[i, j])


@kernel(types.void, READ_TABLE, READ, types.float64, types.float64, WRITE)
def epsilon(totals: Floats, orders: Floats, grown: float, delta: float, out: Floats) -> None:
    """ε at 0 < δ < 1 from above: the least over the orders, the best of which tangents improve (step 5).

    Args:
        totals: sums of log-moments, one row per record.
        orders: α of each column.
        grown: what the sums are multiplied with (step 4).
        delta: δ.
        out: one ε per record.
    """
    nats = -log(delta)
    log_orders, log_ratios = np.empty(orders.size), np.empty(orders.size)
    for j in range(orders.size):
        log_orders[j] = log(orders[j])
        log_ratios[j] = log1p(1.0 / (orders[j] - 1.0))
    for i in range(out.size):
        best, at = math.inf, 0
        least = math.inf
        for j in range(orders.size):
            loss = totals[i, j] * grown
            least = min(least, loss)
            excess = 1.0 / (orders[j] - 1.0)
            value = (loss + nats - log_orders[j]) * excess - log_ratios[j]
            value += 20.0 * _U * ((loss + nats + log_orders[j]) * excess + log_ratios[j])
            if value < best:
                best, at = value, j
        loss = totals[i, at] * grown
        if loss <= _TANGENTS and best < math.inf:
            best = min(best, _epsilon_tangents(loss, orders[at], delta, _tangent(loss, orders[at], delta, False)))
        out[i] = 0.0 if least == 0.0 else max(best, 0.0)
