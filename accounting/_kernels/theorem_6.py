"""ψ of Theorem 6 as an upper bound, elementwise: what a record loses when it is drawn with probability q.

remove: ψ = log(1 + q·(e^ε − 1)); add: ψ = −log(1 − q·(1 − e^−ε)).

With E = e^ε − 1, both are log(1 + y): y = q·E for remove and y = q·E / (1 + (1−q)·E) for add. Every term is
non-negative, so relative errors never grow. Each value is computed within 17u, u = 2^-53, and multiplied by
1 + 20u: the result is ≥ ψ and ≤ ψ·(1 + 40u) + 2^-1071. The minimum with ε, itself a bound, makes q = 1 exact.
The proof is in `docs/soundness.md`, section "Bulk kernels".
"""

from __future__ import annotations

import math

import numpy as np

from . import types
from .compile import READ, WRITE, Floats, bits, from_bits, inlined, kernel
from .elementary import exp, expm1_between, log, log1p_between

_MARGIN = 1.0 + 20.0 * 2.0**-53
_LARGEST = 700.0  # e^ε stays in range
_SMALLEST = 2.0**-960  # no product above it has lost bits to underflow
_BLOCK = 1024  # two inputs and an output of this length fit in the first-level cache


@inlined
def _above(value: float) -> float:
    """The next binary64 above a non-negative one."""
    return value if value == math.inf else from_bits(bits(value) + 1)


@inlined
def _odds(loss: float, rate: float, add: bool) -> float:
    """y with ψ = log(1 + y), for 0 ≤ loss ≤ 700."""
    e = expm1_between(loss)
    return rate * e / (1.0 + (1.0 - rate) * e) if add else rate * e


@inlined
def _tiny(y: float) -> float:
    """log(1 + y) ≤ y. y and its product each lose at most 2^-1075 to underflow: two steps up cover both."""
    return _above(_above(y * _MARGIN))


@inlined
def _remove_rare(loss: float, rate: float) -> float:
    """The remove direction where the common range ends: ε > 700, or ψ < 2^-960."""
    if loss <= _LARGEST:
        return _tiny(rate * _above(expm1_between(loss)))
    if loss <= 2.0 * _LARGEST:
        half = exp(0.5 * loss)
        y = rate * half * half  # q·half ≥ 2^-570: no underflow
        if y <= 2.0**1000:
            return log1p_between(y) * _MARGIN
    # log(1 + y) ≤ ε + log q + 2^-900, and ε + log q > 650.
    return (loss + log(rate)) * _MARGIN


@inlined
def _add_rare(loss: float, rate: float) -> float:
    """The add direction where the common range ends: ε > 700, or ψ < 2^-960."""
    if loss <= _LARGEST:
        e = _above(expm1_between(loss))
        return _tiny(rate * (e / (1.0 + (1.0 - rate) * e)))
    if rate == 1.0:
        return loss
    y = rate / (1.0 - rate)  # the limit for ε → ∞, from above
    return _tiny(y) if y < _SMALLEST else log1p_between(y) * _MARGIN


@inlined
def _is_valid(loss: float, rate: float) -> bool:
    return (loss >= 0.0) & (rate >= 0.0) & (rate <= 1.0)


@inlined
def _is_rare(loss: float, rate: float, y: float) -> bool:
    """Whether an element needs the second pass; those that are not valid do."""
    lost = (y < _SMALLEST) & (loss > 0.0) & (rate > 0.0)
    return lost | (loss > _LARGEST) | (not _is_valid(loss, rate))


@inlined
def _rare(loss: float, rate: float, add: bool) -> float:
    if (loss == 0.0) | (rate == 0.0):
        return 0.0
    return min(_add_rare(loss, rate) if add else _remove_rare(loss, rate), loss)


@kernel(types.boolean, READ, READ, types.boolean, WRITE)
def psi(loss: Floats, rate: Floats, add: bool, out: Floats) -> bool:
    """Write upper bounds of ψ to `out`; loss and rate have its length, or length 1.

    Returns False, with `out` meaningless, if some loss is not ≥ 0 or some rate is not in [0, 1].
    """
    one_loss = np.full(_BLOCK if loss.size == 1 else 0, loss[0])
    one_rate = np.full(_BLOCK if rate.size == 1 else 0, rate[0])
    for start in range(0, out.size, _BLOCK):
        part = out[start : start + _BLOCK]
        losses = one_loss if loss.size == 1 else loss[start : start + _BLOCK]
        rates = one_rate if rate.size == 1 else rate[start : start + _BLOCK]
        rare = False
        for i in range(part.size):  # vectorised: no branches, no calls
            y = _odds(losses[i], rates[i], add)
            part[i] = min(log1p_between(y) * _MARGIN, losses[i])
            rare |= _is_rare(losses[i], rates[i], y)
        if not rare:
            continue
        for i in range(part.size):
            if not _is_valid(losses[i], rates[i]):
                return False
            if _is_rare(losses[i], rates[i], _odds(losses[i], rates[i], add)):
                part[i] = _rare(losses[i], rates[i], add)
    return True
