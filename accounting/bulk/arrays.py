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

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import CertdpError, InvalidType, InvalidValue
from ..exact import Floats
from ..norms import Norm
from ..private import InvalidData, Private

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
_LARGEST_INTEGER = 2**53
_SHARE = 1 << 14  # elements worth a thread
_PROBES = np.array([2.0**-1022, 2.0**-60])


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
    rows = np.require(_exact("records", records), requirements=["A"])
    if rows.ndim != 2:
        raise InvalidValue("records", f"shape {rows.shape}", "an n × d matrix", "Give each record one row.")
    if rows.shape[1] > LONGEST_ROW:
        raise InvalidValue("records", f"{rows.shape[1]} columns", f"at most {LONGEST_ROW} columns")

    from .._kernels import norms as kernels

    out = np.empty(rows.shape[0])
    common = _KERNEL_ORDERS.get(norm)
    order = float(min(_LARGEST_ORDER, 1 / norm.reciprocal)) if common is None else 0.0

    def run(start: int, stop: int) -> bool:
        if common is None:
            return kernels.power_norms(rows[start:stop], order, out[start:stop]) < 0
        return kernels.norms(rows[start:stop], common, out[start:stop]) < 0

    if not _shared(run, len(out), max(1, _SHARE // max(1, rows.shape[1])), threads):
        row, column = _first(~np.isfinite(rows))
        place, found = f"NaN or inf in row {row}, column {column}", Private(float(rows[row, column]))
        raise InvalidData("records", place, "finite entries", "Drop or repair that record.", found=found)
    return out


def exp(values: ArrayLike, *, threads: int = 1) -> Floats:
    """e^x within ELEMENTARY_RELATIVE_ERROR (plus ELEMENTARY_ABSOLUTE_ERROR); 0 and inf beyond the range.

    Raises:
        InvalidType: for anything but an array of real numbers.
        InvalidValue: for NaN, or integers beyond 2^53.
    """
    from .._kernels import elementary

    return _elementwise(elementary.exp_each, values, -np.inf, "numbers, infinities included", threads)


def expm1(values: ArrayLike, *, threads: int = 1) -> Floats:
    """e^x − 1 within ELEMENTARY_RELATIVE_ERROR, for tiny x too; inf beyond the range.

    Raises:
        InvalidType: for anything but an array of real numbers.
        InvalidValue: for NaN, or integers beyond 2^53.
    """
    from .._kernels import elementary

    return _elementwise(elementary.expm1_each, values, -np.inf, "numbers, infinities included", threads)


def log(values: ArrayLike, *, threads: int = 1) -> Floats:
    """log x within ELEMENTARY_RELATIVE_ERROR, for subnormal x too; -inf at 0, inf at inf.

    Raises:
        InvalidType: for anything but an array of real numbers.
        InvalidValue: for NaN, x < 0, or integers beyond 2^53.
    """
    from .._kernels import elementary

    return _elementwise(elementary.log_each, values, 0.0, "numbers ≥ 0", threads)


def log1p(values: ArrayLike, *, threads: int = 1) -> Floats:
    """log(1 + x) within ELEMENTARY_RELATIVE_ERROR, for tiny x too; -inf at −1, inf at inf.

    Raises:
        InvalidType: for anything but an array of real numbers.
        InvalidValue: for NaN, x < −1, or integers beyond 2^53.
    """
    from .._kernels import elementary

    return _elementwise(elementary.log1p_each, values, -1.0, "numbers ≥ −1", threads)


def _psi(loss: ArrayLike, rate: ArrayLike, *, add: bool, threads: int) -> Floats:
    losses, rates = _exact("loss", loss), _exact("rate", rate)
    try:
        shape = np.broadcast_shapes(losses.shape, rates.shape)
    except ValueError:
        shapes = f"shape {rates.shape}, and loss has {losses.shape}"
        remedy = "Give one rate per record, or one for all."
        raise InvalidValue("rate", shapes, "shapes that broadcast", remedy) from None

    from .._kernels import theorem_6

    out = np.empty(shape)
    flat, e, q = out.reshape(-1), _flat(losses, shape), _flat(rates, shape)

    def run(start: int, stop: int) -> bool:
        return theorem_6.psi(_part(e, start, stop), _part(q, start, stop), add, flat[start:stop])

    if not _shared(run, flat.size, _SHARE, threads):
        _require("loss", losses, losses >= 0, "ε ≥ 0, inf included")
        _require("rate", rates, (rates >= 0) & (rates <= 1), "probabilities in [0, 1]")
    return out


def _elementwise(
    kernel: Callable[[Floats, Floats], None], values: ArrayLike, least: float, admissible: str, threads: int
) -> Floats:
    array = _exact("values", values)
    _require("values", array, array >= least, admissible)
    out = np.empty(array.shape)
    flat, x = out.reshape(-1), _flat(array, array.shape)

    def run(start: int, stop: int) -> bool:
        kernel(x[start:stop], flat[start:stop])
        return True

    _shared(run, flat.size, _SHARE, threads)
    return out


def _exact(parameter: str, values: ArrayLike) -> Floats:
    """`values` as binary64, refused where that would round."""
    numbers = "an array of real numbers"
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidType(parameter, "a masked array", numbers, "Fill or drop the masked entries.")
    try:
        array = np.asarray(values)
    except ValueError:  # ragged
        raise InvalidType(parameter, "rows of several lengths", numbers) from None
    if array.dtype.kind not in "iuf":
        raise InvalidType(parameter, f"dtype {array.dtype}", numbers, "Convert it without rounding first.")
    if array.dtype.kind in "iu" and array.dtype.itemsize > 4:
        exact = (array <= _LARGEST_INTEGER) & (array >= -_LARGEST_INTEGER)
        _require(parameter, array, exact, "integers up to 2^53 in magnitude", "Larger ones would be rounded.")
    floats = array.astype(np.float64, copy=False)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        _require(parameter, array, (floats == array) | np.isnan(array), "numbers that binary64 holds exactly")
    return floats


def _require(
    parameter: str, array: NDArray[np.generic], valid: NDArray[np.bool_], admissible: str, remedy: str = ""
) -> None:
    if not np.all(valid):
        index = _first(~np.asarray(valid))
        if not index:  # one number for all, which the caller states
            raise InvalidValue(parameter, str(array[()]), admissible, remedy)
        place, found = f"another value at index {', '.join(map(str, index))}", Private(array[index].item())
        raise InvalidData(parameter, place, admissible, remedy, found=found)


def _first(condition: NDArray[np.bool_]) -> tuple[int, ...]:
    """The index of the first true entry, in C order."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(condition)), condition.shape))


def _flat(array: Floats, shape: Sequence[int]) -> Floats:
    """`array` broadcast to `shape` as a contiguous vector, or as one entry where it is constant."""
    if array.size != 1:
        array = np.broadcast_to(array, shape)
    return np.require(array, requirements=["C", "A"]).reshape(-1)


def _part(vector: Floats, start: int, stop: int) -> Floats:
    return vector if vector.size == 1 else vector[start:stop]


def _shared(run: Callable[[int, int], bool], size: int, share: int, threads: int) -> bool:
    """Whether `run` returns True on each part of range(size); parts of at least `share` go to threads."""
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise InvalidType("threads", threads, "an integer ≥ 1")
    if threads < 1:
        raise InvalidValue("threads", threads, "an integer ≥ 1")
    _require_default_arithmetic()
    if size == 0:
        return True
    parts = max(1, min(threads, size // share))
    if parts == 1:
        return run(0, size)
    ends = [size * k // parts for k in range(parts + 1)]
    with ThreadPoolExecutor(parts) as pool:
        return all(list(pool.map(run, ends[:-1], ends[1:])))


def _require_default_arithmetic() -> None:
    """Refuse to compute where subnormals are flushed to zero or rounding is directed: the proofs assume neither."""
    smallest, tiny = _PROBES.tolist()
    if smallest * 0.5 == 0.0 or 1.0 + tiny != 1.0 or 1.0 - tiny != 1.0:
        raise CertdpError(
            "this thread's floating-point state is not the IEEE 754 default (a library built with -ffast-math may "
            "have changed it); bounds computed in it would not be proven"
        )
