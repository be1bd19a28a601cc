"""Kernels: loops that are compiled once, with IEEE semantics and no global lock.

A kernel and its building blocks are plain functions of their modules. `ahead` has the code of those that were compiled
when the package was built; the others are compiled at their first call, for which `machine` loads Numba.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from threading import Event, RLock, Timer
from typing import Any, TypeAlias, TypeVar, cast, final

import numpy as np
from numpy.typing import NDArray

from . import ahead, types
from .operations import BLOCKS, bits, fma, from_bits, high_product, high_word, leading_zeros

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
    "high_word",
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
"""The kernels that this process has asked Numba for, by dotted names."""
_ONE_AT_A_TIME = RLock()
PATIENCE = 0.5  # seconds before a wait is explained
EXPLAINED = Event()


def inlined(function: Function) -> Function:
    """Declare a building block: compiled with the kernels that call it, into which LLVM inlines it."""
    BLOCKS.add(function)
    return function


def kernel(result: types.Result, *arguments: types.Argument) -> Callable[[Function], Function]:
    """Declare a loop that is compiled for one signature, ahead or at its first call.

    Args:
        result: its type, of `types`.
        arguments: the types of its arguments.
    """

    def declared(function: Function) -> Function:
        return cast(Function, Kernel(types.Declaration(function, result, arguments)))

    return declared


@final
class Kernel:
    """A loop that is compiled.

    Attributes:
        declaration: its function, which plain Python can run, too, and its types.
        source: that function.
    """

    __module__: str
    __qualname__: str

    def __init__(self, declaration: types.Declaration) -> None:
        """Compile nothing yet."""
        update_wrapper(self, declaration.source)
        self.declaration, self.source = declaration, declaration.source
        self._machine_code: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop; threads that come while it is compiled wait."""
        code = self._machine_code
        return (self._compiled() if code is None else code)(*arguments)

    def __reduce__(self) -> str:
        """Pickled as functions are: by its name."""
        return self.__qualname__

    def _compiled(self) -> Callable[..., Any]:
        with _ONE_AT_A_TIME:
            if self._machine_code is None:
                self._machine_code = ahead.machine_code(self.declaration) or self._compiled_here()
            return self._machine_code

    def _compiled_here(self) -> Callable[..., Any]:
        with waiting_explained():
            from .._kernels.machine import machine_code

            COMPILED.append(self.declaration.name)
            return machine_code(self.declaration)


@contextmanager
def waiting_explained() -> Iterator[None]:
    """Tell who watches a terminal, once, what takes long."""
    explanation = Timer(PATIENCE, _explain)
    explanation.daemon = True
    if sys.stderr.isatty() and not EXPLAINED.is_set():
        explanation.start()
    try:
        yield
    finally:
        explanation.cancel()


def _explain() -> None:
    EXPLAINED.set()
    print("certdp prepares compiled loops; the first time takes longest", file=sys.stderr)
