"""What kernels are written with: the types of their arguments, the operations of the processor, and when they compile.

A kernel is compiled at its first call, for the processor at hand, and kept on disk where that is possible. It runs
without the interpreter's lock. `lowering` says what kernels may say, `native` how they become machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from . import types
from .native import compiled
from .types import READ, READ_ROWS, WRITE, Array, Intrinsic, Source, Tuple, Type

__all__ = [
    "READ",
    "READ_ROWS",
    "WRITE",
    "Array",
    "Floats",
    "Kernel",
    "Tuple",
    "bits",
    "fma",
    "from_bits",
    "high_product",
    "inlined",
    "kernel",
    "leading_zeros",
    "types",
]

Floats: TypeAlias = NDArray[np.float64]
Function = TypeVar("Function", bound=Callable[..., object])
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Kernel(Generic[Parameters, Result]):
    """A compiled loop, called like the function that it was written as."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._run: Callable[..., Any] | None = None

    def __call__(self, *arguments: Parameters.args, **none: Parameters.kwargs) -> Result:
        """Run the loop; it is compiled first where it was not.

        Raises:
            TypeError: an argument is not of its type.
        """
        if self._run is None:
            self._run = compiled(self.source)
        return cast(Result, self._run(*arguments))


def inlined(function: Function) -> Function:
    """Mark a building block: it is compiled with the kernels that call it."""
    return function


def kernel(result: Type, *arguments: Type) -> Callable[[Callable[Parameters, Result]], Kernel[Parameters, Result]]:
    """Compile a loop for one signature, when it is first called."""

    def made(function: Callable[Parameters, Result]) -> Kernel[Parameters, Result]:
        return Kernel(Source(cast(FunctionType, function), result, arguments))

    return made


fma = cast(Callable[[float, float, float], float], Intrinsic("fma", types.float64, (types.float64,) * 3))
"""x·y + z with one rounding, as IEEE 754 defines it."""
bits = cast(Callable[[float], int], Intrinsic("bits", types.int64, (types.float64,)))
"""The 64 bits of a binary64 as a signed integer."""
from_bits = cast(Callable[[int], float], Intrinsic("from_bits", types.float64, (types.int64,)))
"""The binary64 with the given 64 bits."""
leading_zeros = cast(Callable[[int], int], Intrinsic("leading_zeros", types.int64, (types.int64,)))
"""How many of the 64 bits of an integer are 0 before its first 1; 64 for 0."""
high_product = cast(Callable[[int, int], int], Intrinsic("high_product", types.int64, (types.int64, types.int64)))
"""⌊x·y/2^63⌋ of two signed 64-bit integers, not both −2^63."""
