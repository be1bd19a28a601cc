"""Machine code of kernels, by Numba. Importing this module loads Numba and LLVM."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any

from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from . import operations

# `numpy`: division follows IEEE instead of raising. Without fastmath LLVM neither reorders nor contracts.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False, "no_cfunc_wrapper": True}
_BLOCK_OPTIONS: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}  # Python never calls a block's machine code


def _source_digest() -> str:
    """A digest of every kernel source, because numba's cache watches only the caller's own file."""
    digest = sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


_DIGEST = _source_digest()


def machine_code(source: FunctionType, signature: str) -> Callable[..., Any]:
    """What a kernel is compiled to, from the cache on disk if it is there."""
    function = _with_names(source)
    # numba names the cache file after the qualified name: a changed source never meets an old binary.
    function.__qualname__ += "_" + _DIGEST
    try:
        compiled: Callable[..., Any] = njit(signature, cache=True, **_OPTIONS)(function)
    except (RuntimeError, OSError):  # "no locator available", or the disk is full
        compiled = njit(signature, **_OPTIONS)(function)
    return compiled


_blocks: dict[object, object] = {}
_modules: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}


def _with_names(function: FunctionType) -> FunctionType:
    """The function, whose module's building blocks and operations are what Numba makes of them."""
    copy = FunctionType(function.__code__, _names(function.__globals__), function.__name__, function.__defaults__)
    copy.__module__, copy.__qualname__, copy.__doc__ = function.__module__, function.__qualname__, function.__doc__
    return copy


def _names(given: dict[str, Any]) -> dict[str, Any]:
    if id(given) not in _modules:
        names = dict(given)
        _modules[id(given)] = given, names  # which keeps the identity from being given away
        for name, value in given.items():
            if isinstance(value, FunctionType) and value in operations.BLOCKS:
                names[name] = _block(value)
            elif isinstance(value, FunctionType) and value in _INTRINSICS:
                names[name] = _INTRINSICS[value]
    return _modules[id(given)][1]


def _block(function: FunctionType) -> object:
    if function not in _blocks:
        _blocks[function] = njit(**_BLOCK_OPTIONS)(_with_names(function))
    return _blocks[function]


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


_INTRINSICS: dict[object, object] = {
    operations.fma: intrinsic(_fma),
    operations.bits: intrinsic(_bits),
    operations.from_bits: intrinsic(_from_bits),
    operations.leading_zeros: intrinsic(_leading_zeros),
    operations.high_product: intrinsic(_high_product),
}
