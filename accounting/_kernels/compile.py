"""How kernels are compiled: IEEE semantics, no global lock, cached on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Function = TypeVar("Function", bound=Callable[..., object])

READ = types.Array(types.float64, 1, "C", readonly=True)
"""A contiguous vector that is only read; a writable one converts to it."""
WRITE = types.Array(types.float64, 1, "C")
READ_ROWS = types.Array(types.float64, 2, "A", readonly=True)
"""A matrix of any strides that is only read."""

# `numpy`: division follows IEEE instead of raising. Without fastmath LLVM neither reorders nor contracts.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False}


def _source_digest() -> str:
    """A digest of every kernel source, because numba's cache watches only the caller's own file."""
    digest = sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


_DIGEST = _source_digest()


def inlined(function: Function) -> Function:
    """Compile a building block; LLVM inlines it into the kernels that call it."""
    return cast(Function, njit(**_OPTIONS)(function))


def kernel(result: types.Type, *arguments: types.Type) -> Callable[[Function], Function]:
    """Compile a loop for one signature at import, from the cache on disk if it is there.

    Where no cache directory is writable the kernel is compiled afresh in each process.
    """

    def compiled(function: Function) -> Function:
        # numba names the cache file after the qualified name: a changed source never meets an old binary.
        function.__qualname__ += "_" + _DIGEST
        signature = result(*arguments)
        try:
            dispatcher = njit(signature, cache=True, **_OPTIONS)(function)
        except (RuntimeError, OSError):  # "no locator available", or the disk is full
            dispatcher = njit(signature, **_OPTIONS)(function)
        return cast(Function, dispatcher)

    return compiled


def _fma(context: Any, x: Any, y: Any, z: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), code


def _bits(context: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), code


def _from_bits(context: Any, pattern: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), code


def _leading_zeros(context: Any, number: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), code


def _high_product(context: Any, x: Any, y: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.sext(argument, wide) for argument in arguments))
        return builder.trunc(builder.ashr(product, ir.Constant(wide, 63)), ir.IntType(64))

    return types.int64(types.int64, types.int64), code


fma = cast(Callable[[float, float, float], float], intrinsic(_fma))
"""x·y + z with one rounding, as IEEE 754 defines it."""
bits = cast(Callable[[float], int], intrinsic(_bits))
"""The 64 bits of a binary64 as a signed integer."""
from_bits = cast(Callable[[int], float], intrinsic(_from_bits))
"""The binary64 with the given 64 bits."""
leading_zeros = cast(Callable[[int], int], intrinsic(_leading_zeros))
"""How many of the 64 bits of an integer are 0 before its first 1; 64 for 0."""
high_product = cast(Callable[[int, int], int], intrinsic(_high_product))
"""⌊x·y/2^63⌋ of two signed 64-bit integers, not both −2^63."""
