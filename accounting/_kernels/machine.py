"""Machine code of kernels, by Numba. Importing this module loads Numba and LLVM."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import FunctionType
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from . import operations
from .ahead import DIGEST, SYMBOL, entry_name
from .types import Declaration

# `numpy`: division follows IEEE instead of raising. Without fastmath LLVM neither reorders nor contracts.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False, "no_cfunc_wrapper": True}
_BLOCK_OPTIONS: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}  # Python never calls a block's machine code


def machine_code(kernel: Declaration) -> Callable[..., Any]:
    """What a kernel is compiled to, from Numba's cache on disk if it is there."""
    function, signature = _with_names(kernel.source), kernel.signature
    # numba names the cache file after the qualified name: a changed source never meets an old binary.
    function.__qualname__ += "_" + DIGEST
    try:
        compiled: Callable[..., Any] = njit(signature, cache=True, **_OPTIONS)(function)
    except (RuntimeError, OSError):  # "no locator available", or the disk is full
        compiled = njit(signature, **_OPTIONS)(function)
    return compiled


def bitcode(kernel: Declaration) -> bytes:
    """What a kernel is compiled to before a processor is chosen, in LLVM's form."""
    function = _with_names(kernel.source)
    compiled: Any
    (compiled,) = njit(kernel.signature, **_BLOCK_OPTIONS)(function).overloads.values()
    module = llvm.parse_assembly(compiled.library.get_llvm_str())
    module.link_in(llvm.parse_assembly(_MEMORY))
    module.verify()
    asked = {function.name for function in module.functions if function.is_declaration}
    if unknown := {name for name in asked if not name.startswith("llvm.")} - _FOUND_ANYWHERE:
        raise NotImplementedError(f"{kernel.name} calls {sorted(unknown)}, which may not be there elsewhere")
    module.get_function(compiled.fndesc.llvm_func_name).name = SYMBOL
    code: bytes = module.as_bitcode()
    return code


_FOUND_ANYWHERE = {"malloc", "free", "sqrt"}  # sqrt is correctly rounded, as IEEE 754 has it


def write_archive(path: Path, kernels: Iterable[Declaration]) -> None:
    """Compile kernels into an archive, as `ahead` reads it."""
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for kernel in kernels:
            archive.writestr(entry_name(kernel), bitcode(kernel))


# Arrays of kernels' own: a head that Numba's code reads (a count, and at 24 where entries begin), then the entries.
_MEMORY = """
declare ptr @malloc(i64)
declare void @free(ptr)

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %all = add i64 %size, 128
  %head = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %head, null
  br i1 %none, label %done, label %some
some:
  store i64 1, ptr %head
  %address = ptrtoint ptr %head to i64
  %room = add i64 %address, 127
  %entries = and i64 %room, -64
  %data = inttoptr i64 %entries to ptr
  %place = getelementptr i8, ptr %head, i64 24
  store ptr %data, ptr %place
  br label %done
done:
  ret ptr %head
}

define void @NRT_MemInfo_call_dtor(ptr %head) {
  call void @free(ptr %head)
  ret void
}
"""

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


def _high_word(context: Any, x: Any, y: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), code


_INTRINSICS: dict[object, object] = {
    operations.fma: intrinsic(_fma),
    operations.bits: intrinsic(_bits),
    operations.from_bits: intrinsic(_from_bits),
    operations.leading_zeros: intrinsic(_leading_zeros),
    operations.high_product: intrinsic(_high_product),
    operations.high_word: intrinsic(_high_word),
}
