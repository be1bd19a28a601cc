"""Kernels: loops that are compiled at their first call, with IEEE semantics, no global lock and a cache on disk.

A kernel and its building blocks are plain functions of their modules. Numba and LLVM are loaded when one is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from types import FunctionType
from typing import Any, TypeAlias, TypeVar, cast, final

import numpy as np
from numpy.typing import NDArray

from . import types
from .operations import BLOCKS, bits, fma, from_bits, high_product, leading_zeros

__all__ = [
    "READ",
    "READ_ROWS",
    "WRITE",
    "Floats",
    "Kernel",
    "bits",
    "fma",
    "from_bits",
    "high_product",
    "inlined",
    "kernel",
    "leading_zeros",
]

Floats: TypeAlias = NDArray[np.float64]
Function = TypeVar("Function", bound=Callable[..., object])

READ = types.array(types.float64, 1, "C", readonly=True)
"""A contiguous vector that is only read; a writable one converts to it."""
WRITE = types.array(types.float64, 1, "C")
READ_ROWS = types.array(types.float64, 2, "A", readonly=True)
"""A matrix of any strides that is only read."""

COMPILED: list[str] = []
"""The kernels of this process that have machine code, by dotted names."""
_ONE_AT_A_TIME = RLock()


def inlined(function: Function) -> Function:
    """Declare a building block: compiled with the kernels that call it, into which LLVM inlines it."""
    BLOCKS.add(function)
    return function


def kernel(result: str, *arguments: str) -> Callable[[Function], Function]:
    """Declare a loop that is compiled for one signature at its first call, or read from the cache on disk.

    Where no cache directory is writable the kernel is compiled afresh in each process.

    Args:
        result: its type, of `types`.
        arguments: the types of its arguments.
    """
    signature = f"{result}({', '.join(arguments)})"

    def declared(function: Function) -> Function:
        return cast(Function, Kernel(cast(FunctionType, function), signature))

    return declared


@final
class Kernel:
    """A loop, compiled at its first call.

    Attributes:
        source: the function, which plain Python can run, too.
        signature: the types of what it takes and returns.
    """

    __module__: str
    __qualname__: str

    def __init__(self, source: FunctionType, signature: str) -> None:
        """Compile nothing yet."""
        update_wrapper(self, source)
        self.source, self.signature = source, signature
        self._machine_code: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop; threads that come while it is compiled wait."""
        code = self._machine_code
        return (self._compiled() if code is None else code)(*arguments)

    def __reduce__(self) -> str:
        """Pickled as functions are: by its name."""
        return self.__qualname__

    def _compiled(self) -> Callable[..., Any]:
        from .._kernels.machine import machine_code

        with _ONE_AT_A_TIME:
            if self._machine_code is None:
                self._machine_code = machine_code(self.source, self.signature)
                COMPILED.append(f"{self.__module__}.{self.__qualname__}")
            return self._machine_code
