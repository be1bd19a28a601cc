# llvmlite has no types, and what is inferred of it is wrong.
# pyright: reportCallIssue=false, reportOptionalMemberAccess=false, reportAttributeAccessIssue=false
# pyright: reportArgumentType=false, reportReturnType=false
"""Values of the language of kernels: what they are in LLVM's language, and how one type becomes another."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from . import types
from .types import Array, Number, Tuple, Type

_I64, _I8, _I1, _F64 = ir.IntType(64), ir.IntType(8), ir.IntType(1), ir.DoubleType()
POINTER = ir.PointerType()
LOWERED = {types.float64: _F64, types.int64: _I64, types.uint64: _I64, types.uint8: _I8, types.boolean: _I1}
LOWERED[types.int8] = _I8
"""The types of numbers in LLVM's language."""


class NotInLanguage(Exception):
    """The source says something that kernels cannot say."""


class Value:
    """What an expression stands for: a type and what its parts are in LLVM's language."""

    __slots__ = ("kind", "parts")

    def __init__(self, kind: Type, *parts: ir.Value) -> None:
        self.kind, self.parts = kind, parts


def parts_of(kind: Type) -> list[ir.Type]:
    """The types of the parts of a value: of an array where it lies, its shape, and its strides in bytes."""
    match kind:
        case Number():
            return [LOWERED[kind]]
        case Array():
            return [POINTER] + [_I64] * (2 * kind.dimensions)
        case Tuple():
            return [part for item in kind.items for part in parts_of(item)]


def items_of(value: Value) -> list[Value]:
    """The values that lie side by side in a tuple."""
    assert isinstance(value.kind, Tuple)
    parts = list(value.parts)
    return [Value(item, *(parts.pop(0) for _ in parts_of(item))) for item in value.kind.items]


def side_by_side(values: Sequence[Value]) -> Value:
    """A tuple of the values."""
    return Value(Tuple(tuple(each.kind for each in values)), *(part for each in values for part in each.parts))


def unpacked(builder: ir.IRBuilder, kind: Type, packed: ir.Value) -> Value:
    """The value whose parts a structure holds."""
    return Value(kind, *(builder.extract_value(packed, at) for at in range(len(parts_of(kind)))))


def arithmetic(kind: Type) -> Number:
    """What arithmetic makes of a type: integers have 64 bits."""
    if not isinstance(kind, Number):
        raise NotInLanguage(f"arithmetic on {kind}")
    return {types.boolean: types.int64, types.uint8: types.uint64}.get(kind, kind)


def common(one: Type, other: Type) -> Type:
    """The type that both fit in; signed and unsigned integers have none."""
    if one == other:
        return one
    match one, other:
        case Tuple(), Tuple() if len(one.items) == len(other.items):
            return Tuple(tuple(map(common, one.items, other.items)))
        case Array(), Array() if (one.entry, one.dimensions) == (other.entry, other.dimensions):
            return Array(one.entry, one.dimensions, "C" if one.layout == other.layout == "C" else "A")
        case Number(), Number() if types.float64 in (one, other):
            return types.float64
        case Number(), Number() if {one, other} <= {types.boolean, types.int64}:
            return types.int64
        case Number(), Number() if {one, other} <= {types.uint8, types.uint64}:
            return types.uint64
    raise NotInLanguage(f"{one} and {other} together")


def converted(builder: ir.IRBuilder, value: Value, kind: Type) -> Value:
    """The value in another type: an integer as the nearest binary64, a binary64 cut to an integer, bits as they are."""
    was = value.kind
    if was == kind or (isinstance(was, Array) and isinstance(kind, Array)):
        return Value(kind, *value.parts)
    if isinstance(was, Tuple) and isinstance(kind, Tuple):
        return side_by_side(
            [converted(builder, item, into) for item, into in zip(items_of(value), kind.items, strict=True)]
        )
    if not (isinstance(was, Number) and isinstance(kind, Number) and kind in LOWERED):
        raise NotInLanguage(f"{was} as {kind}")
    part, into = value.parts[0], LOWERED[kind]
    if kind == types.float64:
        return Value(kind, (builder.sitofp if was == types.int64 else builder.uitofp)(part, into))
    if was == types.float64:
        if kind != types.int64:
            raise NotInLanguage(f"{was} as {kind}")
        return Value(kind, builder.fptosi(part, into))
    if into.width == part.type.width:
        return Value(kind, part)
    return Value(kind, builder.zext(part, into) if into.width > part.type.width else builder.trunc(part, into))
