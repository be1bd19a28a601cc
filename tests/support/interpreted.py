"""Kernels as plain Python: the same source, every operation rounded exactly once, and fma by rational arithmetic."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from certdp.accounting import _kernels
from certdp.accounting._kernels import compile as compiling

_NAME = "interpreted_kernels"


def _fma(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    (a, b), (c, d), (e, f) = x.as_integer_ratio(), y.as_integer_ratio(), z.as_integer_ratio()
    numerator, denominator = a * c * f + e * b * d, b * d * f  # a Fraction, without its greatest common divisors
    try:
        return numerator / denominator  # correctly rounded
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def _bits(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def _from_bits(pattern: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", int(pattern) % 2**64))[0])


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@contextmanager
def interpreted_kernels(*names: str) -> Iterator[dict[str, Any]]:
    """The modules of those names, executed without a compiler; each after those that it imports."""
    package, stub = ModuleType(_NAME), ModuleType(f"{_NAME}.compile")
    package.__path__ = []
    stub.__dict__.update({name: value for name, value in vars(compiling).items() if not name.startswith("__")})
    stub.__dict__.update(fma=_fma, bits=_bits, from_bits=_from_bits, inlined=_unchanged)
    stub.__dict__["kernel"] = lambda *signature: _unchanged
    modules: dict[str, Any] = {_NAME: package, stub.__name__: stub}
    sys.modules.update(modules)
    try:
        for name in names:
            module = ModuleType(f"{_NAME}.{name}")
            module.__package__ = _NAME
            sys.modules[module.__name__] = modules[module.__name__] = module
            path = Path(_kernels.__path__[0], f"{name}.py")
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
        yield {name: modules[f"{_NAME}.{name}"] for name in names}
    finally:
        for name in modules:
            sys.modules.pop(name, None)
