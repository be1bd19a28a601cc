"""Machine code of kernels: compiled by LLVM for the processor at hand, kept on disk, and called with NumPy arrays."""

from __future__ import annotations

import ctypes
import os
import struct
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import cache_from_source
from operator import index
from pathlib import Path
from threading import Lock
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from . import types
from .lowering import module_of
from .types import Array, Number, Source, Tuple, Type

_LOCK = Lock()
_ENGINES: list[llvm.ExecutionEngine] = []  # they own the code
_SCALARS = {types.float64: ctypes.c_double, types.int64: ctypes.c_int64, types.uint64: ctypes.c_uint64}
_SCALARS |= {types.boolean: ctypes.c_uint8, types.uint8: ctypes.c_uint8}
_FORMATS = {types.float64: "d", types.int64: "q", types.uint64: "Q", types.boolean: "?7x"}
_DIGEST = 32  # bytes, before the code in a file


def compiled(kernel: Source) -> Callable[..., Any]:
    """A function that calls the machine code of a kernel."""
    with _LOCK:
        places = _places(kernel)
        code = _kept(places)
        if code is None:
            code = _machine_code(kernel)
            _keep(places, code)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        _ENGINES.append(engine)
        return _calling(kernel, engine.get_function_address(kernel.name))


@cache
def _machine() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=3, reloc="default", codemodel="jitdefault", jit=True
    )


def _machine_code(kernel: Source) -> bytes:
    source = module_of(kernel)
    machine = _machine()
    source.triple, source.data_layout = machine.triple, str(machine.target_data)
    module = llvm.parse_assembly(str(source))
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


# On disk


@cache
def _sources() -> bytes:
    """A digest of everything that machine code depends on, beside the kernel's own module."""
    digest = sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    for word in (llvm.llvm_version_info, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()):
        digest.update(repr(word).encode())
    return digest.digest()


def _places(kernel: Source) -> list[Path]:
    """Where the machine code may lie: beside the byte code of its module, or in the user's own folder of caches."""
    own = Path(kernel.function.__code__.co_filename)
    file = f"{kernel.name}.{sha256(_sources() + own.read_bytes()).hexdigest()[:24]}.o"
    user = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    return [Path(cache_from_source(str(own))).with_name(file), Path(os.path.expanduser(user), "certdp", file)]


def _kept(places: list[Path]) -> bytes | None:
    """Machine code from an earlier process; None where there is none, or it is damaged."""
    for place in places:
        with suppress(OSError):
            found = place.read_bytes()
            if found[:_DIGEST] == sha256(found[_DIGEST:]).digest():
                return found[_DIGEST:]
    return None


def _keep(places: list[Path], code: bytes) -> None:
    """Write machine code for later processes, whole or not at all, to the first place that takes it, if any does."""
    for place in places:
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            handle, written = tempfile.mkstemp(dir=place.parent, prefix=place.name)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(sha256(code).digest() + code)
                os.replace(written, place)
            except BaseException:
                os.unlink(written)
                raise
            return


# Calls


def _calling(kernel: Source, address: int) -> Callable[..., Any]:
    forms = [_array(kind) if isinstance(kind, Array) else _number(kind) for kind in kernel.arguments]
    parts = [part for kind in kernel.arguments for part in _parts(kind)]
    native = ctypes.CFUNCTYPE(None, *parts, ctypes.c_void_p)(address)
    results = _results(kernel.result)
    room = ctypes.c_uint64 * max(len(results), 1)
    read = struct.Struct("=" + "".join(_FORMATS[each] for each in results)).unpack_from

    def call(*arguments: Any) -> Any:
        if len(arguments) != len(forms):
            raise TypeError(f"{kernel.name} takes {len(forms)} arguments, got {len(arguments)}")
        given: list[Any] = []
        for form, argument in zip(forms, arguments, strict=True):
            form(given, argument)
        made = room()
        native(*given, made)
        found = read(made)
        return found if isinstance(kernel.result, Tuple) and results else next(iter(found), None)

    return call


def _results(kind: Type) -> list[Number]:
    found = kind.items if isinstance(kind, Tuple) else (kind,)
    return [each for each in found if isinstance(each, Number)]


def _parts(kind: Type) -> list[type]:
    if isinstance(kind, Array):
        return [ctypes.c_void_p] + [ctypes.c_int64] * (2 * kind.dimensions)
    assert isinstance(kind, Number)
    return [_SCALARS[kind]]


def _number(kind: Type) -> Callable[[list[Any], Any], None]:
    if kind == types.float64:
        return lambda given, value: given.append(float(value))
    return lambda given, value: given.append(index(value) if type(value) is not np.bool_ else int(value))


def _array(kind: Array) -> Callable[[list[Any], Any], None]:
    dtype = np.dtype(kind.entry.name)

    def form(given: list[Any], value: Any) -> None:
        flags = value.flags if isinstance(value, np.ndarray) else None
        if (
            flags is None
            or value.dtype != dtype
            or value.ndim != kind.dimensions
            or not flags.aligned
            or (kind.layout == "C" and not flags.c_contiguous)
            or not (kind.readonly or flags.writeable)
        ):
            raise TypeError(f"a kernel takes {kind}, got {value!r:.80}")
        given.append(value.ctypes.data)
        given.extend(value.shape)
        given.extend(value.strides)

    return form
