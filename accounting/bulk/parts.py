"""How arrays are broadcast against one another, and shared among threads, so that no result depends on their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..errors import CertdpError, InvalidType, InvalidValue
from ..exact import Floats

_PROBES = np.array([2.0**-1022, 2.0**-60])


def common_shape(**arrays: Floats) -> tuple[int, ...]:
    """The shape that arrays have once they are broadcast against one another.

    Raises:
        InvalidValue: for shapes that do not fit; it names the first.
    """
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        remedy = "Give one number per record, or one for all."
        raise InvalidValue(next(iter(arrays)), shapes, "shapes that broadcast", remedy) from None


def each(kernel: Callable[..., None], share: int, threads: int, **inputs: Floats) -> Floats:
    """What a kernel gives for inputs that are broadcast against one another, in parts of at least `share` elements."""
    shape = common_shape(**inputs)
    out = np.empty(shape)
    results, vectors = out.ravel(), [flat(array, shape) for array in inputs.values()]

    def run(start: int, stop: int) -> bool:
        kernel(*(part(vector, start, stop) for vector in vectors), results[start:stop])
        return True

    shared(run, out.size, share, threads)
    return out


def flat(array: Floats, shape: Sequence[int]) -> Floats:
    """`array` broadcast to `shape` as a contiguous vector, or as one entry where it is constant."""
    if array.size != 1:
        array = np.broadcast_to(array, shape)
    return np.require(array, requirements=["C", "A"]).ravel()


def part(vector: Floats, start: int, stop: int) -> Floats:
    """Some entries of a vector from `flat`; the one entry of a constant one."""
    return vector if vector.size == 1 else vector[start:stop]


def shared(run: Callable[[int, int], bool], size: int, share: int, threads: int) -> bool:
    """Whether `run` returns True on each part of range(size); parts of at least `share` go to threads."""
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise InvalidType("threads", threads, "an integer ≥ 1")
    if threads < 1:
        raise InvalidValue("threads", threads, "an integer ≥ 1")
    require_default_arithmetic()
    if size == 0:
        return True
    parts = max(1, min(threads, size // share))
    if parts == 1:
        return run(0, size)
    ends = [size * k // parts for k in range(parts + 1)]
    with ThreadPoolExecutor(parts) as pool:
        return all(list(pool.map(run, ends[:-1], ends[1:])))


def require_default_arithmetic() -> None:
    """Refuse to compute where subnormals are flushed to zero or rounding is directed: the proofs assume neither."""
    smallest, tiny = _PROBES.tolist()
    if smallest * 0.5 == 0.0 or 1.0 + tiny != 1.0 or 1.0 - tiny != 1.0:
        raise CertdpError(
            "this thread's floating-point state is not the IEEE 754 default (a library built with -ffast-math may "
            "have changed it); bounds computed in it would not be proven"
        )
