"""Proven bounds for millions of records: ψ of Theorem 6, norms, and elementary functions on NumPy arrays.

The loops are compiled (`certdp.accounting._kernels`) and loaded at the first call; importing this module
loads no compiler. Inputs are taken as the binary64 numbers they are. Results depend on nothing but the
inputs: not on memory order, chunks, threads or the platform's libm. The proofs are in `docs/soundness.md`,
section "Bulk kernels"; they assume IEEE 754 arithmetic in its default state (rounding to nearest, subnormals
kept), and each call raises `CertdpError` where another library has changed that state.

>>> import numpy as np
>>> from certdp.accounting.norms import Norm
>>> norms(np.array([[3.0, 4.0], [0.0, 0.0]]), Norm.L2)
array([5., 0.])
>>> psi_remove([1.0, np.inf, 2.0], [0.0, 0.0, 1.0])
array([0., 0., 2.])
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from .._kernels import elementary, theorem_6
from .._kernels import norms as kernels
from ..errors import InvalidType, InvalidValue
from ..exact import Floats
from ..norms import Norm
from ..private import InvalidData, Private
from .exact_floats import exact_floats, first_of, require_each
from .parts import common_shape, flat, part, shared

UNIT = Fraction(1, 2**53)
"""The unit roundoff u of binary64."""
ELEMENTARY_RELATIVE_ERROR = 6 * UNIT
"""`exp`, `expm1`, `log` and `log1p` differ from the true value by at most this factor of it …"""
ELEMENTARY_ABSOLUTE_ERROR = Fraction(1, 2**1074)
"""… plus this much, which matters only where `exp` is subnormal."""
PSI_RELATIVE_ERROR = 40 * UNIT
"""`psi_remove` and `psi_add` exceed ψ by at most this factor of it …"""
PSI_ABSOLUTE_ERROR = Fraction(1, 2**1071)
"""… plus this much, which matters only where ψ is subnormal or nearly so."""
NORM_ABSOLUTE_ERROR = Fraction(1, 2**1074)
"""`norms` exceeds a norm by at most the factor `norm_relative_error` of it plus this much, which matters only where
the norm is subnormal."""
LONGEST_ROW = 2**20
"""The largest number of columns for which `norms` is proven."""

_KERNEL_ORDERS = {Norm.L1: 1, Norm.L2: 2, Norm.LINF: 0}  # those that the kernels sum without exp and log
_LARGEST_ORDER = Fraction(2**64)  # of more than 1; any larger one differs from it by less than 2^-60, relatively
_SHARE = 1 << 14  # elements worth a thread


def psi_remove(loss: ArrayLike, rate: ArrayLike, *, threads: int = 1) -> Floats:
    """Upper bounds of ψ = log(1 + q·(e^ε − 1)), Theorem 6 in the remove direction.

    Args:
        loss: ε of each record when it is drawn, in nats; ≥ 0, `inf` admitted.
        rate: q, the probability with which each record is drawn; in [0, 1]. Broadcast against `loss`.
        threads: how many threads share the work; the result is the same for any number.

    Returns:
        An array of the broadcast shape. Guarantees, for the exact binary64 ε and q: each value v has
        ψ ≤ v ≤ ψ·(1 + PSI_RELATIVE_ERROR) + PSI_ABSOLUTE_ERROR and v ≤ ε; v = 0 where q = 0 (also at ε = inf)
        or ε = 0; v = ε where q = 1; v = inf where ε = inf and q > 0.

    Raises:
        InvalidType: for anything but arrays of real numbers.
        InvalidValue: for NaN, ε < 0, q outside [0, 1], integers beyond 2^53, or shapes that do not broadcast.
    """
    return _psi(loss, rate, add=False, threads=threads)


def psi_add(loss: ArrayLike, rate: ArrayLike, *, threads: int = 1) -> Floats:
    """Upper bounds of ψ = −log(1 − q·(1 − e^−ε)), Theorem 6 in the add direction.

    Arguments, guarantees and errors are those of `psi_remove`, except that ε = inf with q < 1 gives a bound
    of the finite −log(1 − q).
    """
    return _psi(loss, rate, add=True, threads=threads)


def norm_relative_error(norm: Norm) -> Fraction:
    """The factor by which `norms` exceeds a norm at most: 3u for ℓ1, ℓ2 and ℓ∞, (18 + 232/p)u otherwise."""
    return (3 if norm in _KERNEL_ORDERS else 18 + 232 * norm.reciprocal) * UNIT


def norms(records: ArrayLike, norm: Norm, *, threads: int = 1) -> Floats:
    """Norms of the rows of a matrix, rounded up.

    Args:
        records: n × d, finite, d ≤ 2^20; any memory order.
        norm: which norm.
        threads: how many threads share the rows; the result is the same for any number.

    Returns:
        n values. Guarantees: each value v has ‖x‖ ≤ v ≤ ‖x‖·(1 + norm_relative_error(norm)) + NORM_ABSOLUTE_ERROR,
        and v = ‖x‖ for ℓ∞ and where at most one entry of x is not 0; v = inf where the upper bound exceeds the
        range.

    Raises:
        InvalidType: for anything but an array of real numbers, or a norm that is no `Norm`.
        InvalidValue: for a NaN or infinite entry, integers beyond 2^53, or another shape.
    """
    if not isinstance(norm, Norm):
        raise InvalidType("norm", norm, "a Norm", 'Use Norm.L1, Norm.L2, Norm.LINF or Norm("3/2").')
    rows = np.require(exact_floats("records", records), requirements=["A"])
    if rows.ndim != 2:
        raise InvalidValue("records", f"shape {rows.shape}", "an n × d matrix", "Give each record one row.")
    if rows.shape[1] > LONGEST_ROW:
        raise InvalidValue("records", f"{rows.shape[1]} columns", f"at most {LONGEST_ROW} columns")

    out = np.empty(rows.shape[0])
    common = _KERNEL_ORDERS.get(norm)
    order = float(min(_LARGEST_ORDER, 1 / norm.reciprocal)) if common is None else 0.0

    def run(start: int, stop: int) -> bool:
        if common is None:
            return kernels.power_norms(rows[start:stop], order, out[start:stop]) < 0
        return kernels.norms(rows[start:stop], common, out[start:stop]) < 0

    if not shared(run, len(out), max(1, _SHARE // max(1, rows.shape[1])), threads):
        row, column = first_of(~np.isfinite(rows))
        place, found = f"NaN or inf in row {row}, column {column}", Private(float(rows[row, column]))
        raise InvalidData("records", place, "finite entries", "Drop or repair that record.", found=found)
    return out


def exp(values: ArrayLike, *, threads: int = 1) -> Floats:
    """e^x within ELEMENTARY_RELATIVE_ERROR (plus ELEMENTARY_ABSOLUTE_ERROR); 0 and inf beyond the range.

    Raises:
        InvalidType: for anything but an array of real numbers.
        InvalidValue: for NaN, or integers beyond 2^53.
    """
    return _elementwise(elementary.exp_each, values, -np.inf, "numbers, infinities included", threads)


def expm1(values: ArrayLike, *, threads: int = 1) -> Floats:
    """e^x − 1 within ELEMENTARY_RELATIVE_ERROR, for tiny x too; inf beyond the range.

    Raises:
        InvalidType: for anything but an array of real numbers.
        InvalidValue: for NaN, or integers beyond 2^53.
    """
    return _elementwise(elementary.expm1_each, values, -np.inf, "numbers, infinities included", threads)


def log(values: ArrayLike, *, threads: int = 1) -> Floats:
    """log x within ELEMENTARY_RELATIVE_ERROR, for subnormal x too; -inf at 0, inf at inf.

    Raises:
        InvalidType: for anything but an array of real numbers.
        InvalidValue: for NaN, x < 0, or integers beyond 2^53.
    """
    return _elementwise(elementary.log_each, values, 0.0, "numbers ≥ 0", threads)


def log1p(values: ArrayLike, *, threads: int = 1) -> Floats:
    """log(1 + x) within ELEMENTARY_RELATIVE_ERROR, for tiny x too; -inf at −1, inf at inf.

    Raises:
        InvalidType: for anything but an array of real numbers.
        InvalidValue: for NaN, x < −1, or integers beyond 2^53.
    """
    return _elementwise(elementary.log1p_each, values, -1.0, "numbers ≥ −1", threads)


def _psi(loss: ArrayLike, rate: ArrayLike, *, add: bool, threads: int) -> Floats:
    losses, rates = exact_floats("loss", loss), exact_floats("rate", rate)
    shape = common_shape(rate=rates, loss=losses)

    out = np.empty(shape)
    results, e, q = out.reshape(-1), flat(losses, shape), flat(rates, shape)

    def run(start: int, stop: int) -> bool:
        return theorem_6.psi(part(e, start, stop), part(q, start, stop), add, results[start:stop])

    if not shared(run, out.size, _SHARE, threads):
        require_each("loss", losses, losses >= 0, "ε ≥ 0, inf included")
        require_each("rate", rates, (rates >= 0) & (rates <= 1), "probabilities in [0, 1]")
    return out


def _elementwise(
    kernel: Callable[[Floats, Floats], None], values: ArrayLike, least: float, admissible: str, threads: int
) -> Floats:
    array = exact_floats("values", values)
    require_each("values", array, array >= least, admissible)
    out = np.empty(array.shape)
    results, x = out.reshape(-1), flat(array, array.shape)

    def run(start: int, stop: int) -> bool:
        kernel(x[start:stop], results[start:stop])
        return True

    shared(run, out.size, _SHARE, threads)
    return out
