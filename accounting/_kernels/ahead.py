"""Kernels that were compiled when the package was built: their code for this processor, and calls of it.

The archive beside this module holds LLVM's bitcode of each kernel, which Numba has made, under a name that ends in a
digest of the kernels' sources and of the platform. LLVM turns it into machine code for this processor, which is kept on
disk. Numba is not loaded. What the archive lacks is left to it.
"""

from __future__ import annotations

import ctypes
import operator
import os
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from . import types

ARCHIVE = Path(__file__).with_name("ahead.zip")

_INTEGERS = {types.int64: range(-(2**63), 2**63), types.uint64: range(2**64)}
_C_TYPES: dict[str, Any] = {
    types.void: ctypes.c_void_p,  # where nothing is written
    types.boolean: ctypes.c_uint8,
    types.float64: ctypes.c_double,
    types.int64: ctypes.c_int64,
    types.uint64: ctypes.c_uint64,
}
SYMBOL = "certdp_kernel"
"""The name of the function in each piece of code."""


def _digest() -> str:
    """A digest of the sources in this folder, on which every kernel builds, and of what code is made for."""
    found = sha256(f"{sys.platform} {platform.machine()} {sys.byteorder}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


DIGEST = _digest()


def entry_name(kernel: types.Declaration) -> str:
    """The name of a kernel's code: it changes with the kernel's own file, too."""
    own = sha256(Path(kernel.source.__code__.co_filename).read_bytes()).hexdigest()[:16]
    return f"{kernel.name}-{own}-{DIGEST}"


def machine_code(kernel: types.Declaration) -> Callable[..., Any] | None:
    """What a kernel was compiled to ahead; None where it was not, not for this platform, or for a later LLVM."""
    archive = opened()
    name = entry_name(kernel)
    if archive is None or name not in archive.NameToInfo:
        return None
    try:
        return callable_from(kernel, archive.read(name))
    except RuntimeError:  # as LLVM says that it cannot read this
        return None


@cache
def opened() -> ZipFile | None:
    """The archive; None where there is none."""
    return ZipFile(ARCHIVE) if ARCHIVE.is_file() else None


def callable_from(kernel: types.Declaration, bitcode: bytes) -> Callable[..., Any]:
    """Make a function of a kernel's bitcode."""
    return _callable(kernel, *_loaded(kernel.name, bitcode))


@cache
def _target() -> tuple[Any, str, str]:
    """LLVM's binding; the name and the features of this processor."""
    import llvmlite.binding as llvm

    with suppress(RuntimeError):  # later versions need no such call, and refuse it
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _machine() -> Any:
    """A compiler for this processor. An engine owns the one that it is given, so each is given its own."""
    llvm, processor, features = _target()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=processor, features=features, opt=3, jit=True)


def _loaded(name: str, bitcode: bytes) -> tuple[int, object]:
    """The address of a function, and what has to live for as long as it is called."""
    llvm, processor, features = _target()
    origin = sha256(f"{processor} {features} {llvm.llvm_version_info} ".encode() + bitcode).hexdigest()[:32]
    code = _kept(f"{name}-{origin}.o", lambda: _machine().emit_object(llvm.parse_bitcode(bitcode)))
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(SYMBOL)
    if not address:
        raise RuntimeError(f"the code of {name} lacks its function")
    return address, engine


def _callable(kernel: types.Declaration, address: int, keep: object) -> Callable[..., Any]:
    """A function that calls the code as Numba's calling convention has it, once it has looked at the arguments."""
    flat: list[Any] = []
    readers: list[Callable[[Any], tuple[Any, ...]]] = []
    for argument in kernel.arguments:
        if isinstance(argument, types.Array):
            flat += [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
            flat += [ctypes.c_int64] * (2 * argument.dimensions)
            readers.append(_array_reader(kernel.name, argument))
        else:
            flat.append(_C_TYPES[argument])
            readers.append(_scalar_reader(argument))
    result = kernel.result
    several = isinstance(result, types.TupleOf)
    of, length = (result.entry, result.length) if isinstance(result, types.TupleOf) else (result, 1)
    returned: Any = _C_TYPES[of] * length
    code = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *flat)(address)

    def call(*arguments: Any) -> Any:
        if len(arguments) != len(readers):
            raise TypeError(f"{kernel.name} takes {len(readers)} arguments, not {len(arguments)}")
        values = returned()
        raised = ctypes.c_void_p()
        given = [part for read, argument in zip(readers, arguments, strict=True) for part in read(argument)]
        if code(ctypes.addressof(values), ctypes.addressof(raised), *given):
            raise MemoryError(f"{kernel.name} found no memory")
        if of == types.void:
            return None
        if several:
            return tuple(values)
        return bool(values[0]) if of == types.boolean else values[0]

    call.keep = keep  # type: ignore[attr-defined]
    return call


def _scalar_reader(of: str) -> Callable[[Any], tuple[Any, ...]]:
    if of == types.boolean:
        return lambda value: (bool(value),)
    if of == types.float64:
        return lambda value: (value,)  # ctypes refuses what is no number
    admissible = _INTEGERS[of]

    def read(value: Any) -> tuple[int]:
        number = operator.index(value)
        if number not in admissible:
            raise OverflowError(f"{number} is no {of}")
        return (number,)

    return read


def _array_reader(name: str, of: types.Array) -> Callable[[Any], tuple[Any, ...]]:
    dtype = np.dtype("bool" if of.of == types.boolean else of.of)

    def read(array: Any) -> tuple[Any, ...]:
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{name} takes {of}, not {type(array).__name__}")
        flags = array.flags
        if (
            array.dtype != dtype
            or array.ndim != of.dimensions
            or not (flags.c_contiguous or of.layout == "A")
            or not flags.aligned
            or not (flags.writeable or of.readonly)
        ):
            raise TypeError(f"{name} takes {of}, not {array.dtype} of shape {array.shape} and strides {array.strides}")
        data = array.__array_interface__["data"][0]
        return None, None, array.size, array.itemsize, data, *array.shape, *array.strides

    return read


def _kept(file: str, make: Callable[[], bytes]) -> bytes:
    """Machine code for this processor, from the disk if it is there; it is kept where a directory can be written to."""
    for folder in _folders():
        try:
            return (folder / file).read_bytes()
        except OSError:
            continue
    code = make()
    for folder in _folders():
        temporary = folder / f"{file}.{os.getpid()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(code)
            temporary.replace(folder / file)  # whole or not at all
        except OSError:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            continue
        break
    return code


def _folders() -> list[Path]:
    """Where code is kept: as Numba does, where it is told to, beside the sources, or with the user's caches."""
    if told := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(told)]
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "certdp")
    return [Path(__file__).parent / "__pycache__", *([user] if user.is_absolute() else [])]
