# llvmlite has no types, and what is inferred of it is wrong.
# pyright: reportCallIssue=false, reportOptionalMemberAccess=false, reportAttributeAccessIssue=false
# pyright: reportArgumentType=false, reportReturnType=false
"""From the source of a kernel to LLVM's language: a small part of Python over numbers, tuples and arrays.

A function is lowered once for each choice of types of its arguments; a variable has one type, which both an integer and
a binary64 make a binary64. Each operation of the source becomes one operation of IEEE 754 or of 64-bit integers, in the
order of the source: nothing is reordered, contracted or assumed. What is not in the language is refused when the kernel
is lowered.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, reduce
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir

from . import types
from .types import Array, Intrinsic, Number, Source, Tuple, Type
from .values import (
    LOWERED,
    POINTER,
    NotInLanguage,
    Value,
    arithmetic,
    common,
    converted,
    items_of,
    parts_of,
    side_by_side,
    unpacked,
)

Static: TypeAlias = Any
_DYNAMIC = object()
_I64, _I8, _I1, _F64 = ir.IntType(64), ir.IntType(8), ir.IntType(1), ir.DoubleType()
_STATIC: dict[type, Number] = {bool: types.boolean, np.bool_: types.boolean, int: types.int64, np.int64: types.int64}
_STATIC |= {float: types.float64, np.float64: types.float64, np.uint64: types.uint64, np.uint8: types.uint8}
_STATED = {"float": types.float64, "int": types.int64, "bool": types.boolean}
_STATED |= {"int64": types.int64, "uint64": types.uint64, "float64": types.float64}
_CASTS: dict[object, Number] = {float: types.float64, int: types.int64}
_CASTS |= {np.float64: types.float64, np.int64: types.int64, np.uint64: types.uint64, np.uint8: types.uint8}
_INTEGERS = {types.int64, types.uint64, types.uint8, types.boolean}
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_FLOATING = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_WHOLE = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.LShift: "shl"}
_WHOLE |= {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
_LIBRARY = {math.sqrt: "llvm.sqrt.f64", np.sqrt: "llvm.sqrt.f64", math.log: "llvm.log.f64"}
_LIBRARY |= {math.floor: "llvm.floor.f64", math.ceil: "llvm.ceil.f64"}
_LIBRARY |= {np.floor: "llvm.floor.f64", np.trunc: "llvm.trunc.f64"}


class _Wider(Exception):
    """A variable turned out to hold another type as well: its function is lowered again."""


def module_of(source: Source) -> ir.Module:
    """A module with one function of the kernel's name: of the parts of its arguments, and a place for its results."""
    module = ir.Module(source.name)
    inner, signature = _Module(module).lowered(source.function, source.arguments)
    given_as = [part for kind in source.arguments for part in parts_of(kind)]
    outer = [_I8 if part == _I1 else part for part in given_as]
    entry = ir.Function(module, ir.FunctionType(ir.VoidType(), [*outer, POINTER]), source.name)
    builder = ir.IRBuilder(entry.append_basic_block())
    pairs = zip(entry.args, given_as, strict=False)
    given = [builder.trunc(each, _I1) if part == _I1 else each for each, part in pairs]
    found = builder.call(inner, given)
    for at, value in enumerate(converted(builder, unpacked(builder, signature.result, found), source.result).parts):
        wide = builder.zext(value, _I64) if value.type == _I1 else value
        builder.store(wide, builder.gep(entry.args[-1], [_I64(at)], source_etype=wide.type))
    builder.ret_void()
    return module


@dataclass(frozen=True)
class Signature:
    """What a function takes and returns."""

    arguments: tuple[Type, ...]
    result: Type


@cache
def _tree(function: FunctionType) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _signature(function: FunctionType, arguments: Sequence[Type]) -> Signature:
    """Numbers are of the types that the source states; arrays are as they come."""
    tree = _tree(function)
    stated = (_stated(each.annotation) for each in tree.args.args)
    taken = tuple(given if kind is None else kind for given, kind in zip(arguments, stated, strict=True))
    result = _stated(tree.returns)
    if result is None:
        raise NotInLanguage(f"{function.__module__}.{function.__name__} returns {ast.unparse(tree.returns or tree)}")
    return Signature(taken, result)


def _stated(node: ast.expr | None) -> Type | None:
    match node:
        case ast.Constant(None):
            return types.void
        case ast.Name("float" | "int" | "bool" as name) | ast.Attribute(ast.Name("np"), name):
            return _STATED[name]
        case ast.Subscript(ast.Name("tuple"), ast.Tuple(nodes)):
            items = [_stated(each) for each in nodes]
            return Tuple(tuple(each for each in items if each is not None)) if None not in items else None
    return None


class _Module:
    """The functions of a module, each lowered once for its types."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self._found: dict[tuple[FunctionType, tuple[Type, ...]], ir.Function] = {}
        self._tried = 0

    def lowered(self, function: FunctionType, arguments: Sequence[Type]) -> tuple[ir.Function, Signature]:
        signature = _signature(function, arguments)
        key = (function, signature.arguments)
        if key not in self._found:
            kinds: dict[str, Type] = {}
            while key not in self._found:
                self._tried += 1
                with suppress(_Wider):
                    name = f"{function.__name__}.{self._tried}"
                    self._found[key] = _Function(self, function, signature, kinds).lowered(name)
        return self._found[key], signature

    def constant(self, array: np.ndarray) -> ir.GlobalVariable:
        name = f"table.{id(array)}"
        if name not in self.module.globals:
            made = ir.Constant(ir.ArrayType(_F64, array.size), [float(each) for each in array.ravel()])
            table = ir.GlobalVariable(self.module, made.type, name)
            table.initializer, table.global_constant, table.linkage = made, True, "internal"
        return self.module.globals[name]

    def external(self, name: str, result: ir.Type, arguments: Sequence[ir.Type]) -> ir.Function:
        if name not in self.module.globals:
            ir.Function(self.module, ir.FunctionType(result, arguments), name)
        return self.module.globals[name]


class _Function:
    """One function, for one choice of types; `kinds` are those of its variables as far as they are known."""

    def __init__(self, module: _Module, function: FunctionType, signature: Signature, kinds: dict[str, Type]) -> None:
        self.module, self.function, self.signature, self.kinds = module, function, signature, kinds
        self.tree = _tree(function)
        stored = (
            each for each in ast.walk(self.tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        )
        self.names = [each.arg for each in self.tree.args.args]
        self.local = {*self.names, *(each.id for each in stored)}
        self.places: dict[str, list[ir.Value]] = {}
        self.heap: list[ir.Value] = []
        self.loops: list[tuple[ir.Block, ir.Block]] = []

    def lowered(self, name: str) -> ir.Function:
        """The function; raises _Wider where too little was known of its variables."""
        parts = [part for kind in self.signature.arguments for part in parts_of(kind)]
        results = parts_of(self.signature.result)
        packed: ir.Value = ir.Constant(ir.LiteralStructType(results), ir.Undefined)
        made = ir.Function(self.module.module, ir.FunctionType(packed.type, parts), name)
        made.linkage = "internal"
        self.entry = ir.IRBuilder(made.append_basic_block("entry"))
        body = made.append_basic_block("body")
        self.exit = made.append_basic_block("exit")
        self.returned = [self._room(part) for part in results]
        self.builder = builder = ir.IRBuilder(body)
        given = list(made.args)
        try:
            for argument, kind in zip(self.names, self.signature.arguments, strict=True):
                self._assign_name(argument, Value(kind, *(given.pop(0) for _ in parts_of(kind))))
            self._statements(self.tree.body)
        except _Wider:
            del self.module.module.globals[name]
            raise
        if not builder.block.is_terminated:
            builder.branch(self.exit)
        self.entry.branch(body)
        builder.position_at_end(self.exit)
        for place in self.heap:
            self._call("free", ir.VoidType(), builder.load(place, typ=POINTER))
        for at, (place, part) in enumerate(zip(self.returned, results, strict=True)):
            packed = builder.insert_value(packed, builder.load(place, typ=part), at)
        builder.ret(packed)
        return made

    def _room(self, part: ir.Type) -> ir.Value:
        """A place for a part of a variable."""
        place = self.entry.alloca(part)
        place.type = POINTER  # llvmlite 0.45 makes it a pointer to that type, which LLVM does not know
        return place

    # Statements

    def _statements(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            if self.builder.block.is_terminated:
                return
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        builder = self.builder
        match node:
            case ast.Expr(ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value):
                self._value(value)
            case ast.Assign(targets, value):
                found = self._value(value)
                for target in targets:
                    self._assign(target, found)
            case ast.AnnAssign(target, _, value) if value is not None:
                self._assign(target, self._value(value))
            case ast.AugAssign(target, operator, value):
                loaded = ast.copy_location(_reading(target), target)
                self._assign(target, self._binary(operator, self._value(loaded), self._value(value)))
            case ast.Return(value):
                if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
                    found = self._as(self._value(value), self.signature.result)
                    for place, part in zip(self.returned, found.parts, strict=True):
                        builder.store(part, place)
                builder.branch(self.exit)
            case ast.If(test, body, other):
                self._branch(test, body, other)
            case ast.While(test, body):
                with self._loop() as done:
                    inside = builder.append_basic_block("while")
                    builder.cbranch(self._truth(test), inside, done)
                    builder.position_at_end(inside)
                    self._statements(body)
            case ast.For(target, ast.Call(ast.Name("range"), bounds), body):
                self._for(target, bounds, body)
            case ast.Break():
                builder.branch(self.loops[-1][1])
            case ast.Continue():
                builder.branch(self.loops[-1][0])
            case _:
                raise self._refused(node)

    def _branch(self, test: ast.expr, body: Sequence[ast.stmt], other: Sequence[ast.stmt]) -> None:
        builder = self.builder
        yes, no, after = (builder.append_basic_block(name) for name in ("yes", "no", "after"))
        builder.cbranch(self._truth(test), yes, no)
        for block, statements in ((yes, body), (no, other)):
            builder.position_at_end(block)
            self._statements(statements)
            if not builder.block.is_terminated:
                builder.branch(after)
        builder.position_at_end(after)

    @contextmanager
    def _loop(self) -> Iterator[ir.Block]:
        """A loop whose test is lowered first; the block is what follows it."""
        builder = self.builder
        again, done = builder.append_basic_block("again"), builder.append_basic_block("done")
        builder.branch(again)
        builder.position_at_end(again)
        self.loops.append((again, done))
        yield done
        self.loops.pop()
        if not builder.block.is_terminated:
            builder.branch(again)
        builder.position_at_end(done)

    def _for(self, target: ast.expr, bounds: Sequence[ast.expr], body: Sequence[ast.stmt]) -> None:
        builder = self.builder
        given = [self._as(self._value(each), types.int64).parts[0] for each in bounds]
        start, stop = (_I64(0), given[0]) if len(given) == 1 else given[:2]
        step = given[2] if len(given) > 2 else _I64(1)
        downwards = len(given) > 2 and isinstance(self._static(bounds[2]), int) and self._static(bounds[2]) < 0
        counter = self._room(_I64)
        builder.store(start, counter)
        ahead, inside, done = (builder.append_basic_block(name) for name in ("for", "inside", "done"))
        onwards = builder.append_basic_block("onwards")
        builder.branch(ahead)
        builder.position_at_end(ahead)
        at = builder.load(counter, typ=_I64)
        builder.cbranch(builder.icmp_signed(">" if downwards else "<", at, stop), inside, done)
        builder.position_at_end(inside)
        self._assign(target, Value(types.int64, at))
        self.loops.append((onwards, done))
        self._statements(body)
        self.loops.pop()
        if not builder.block.is_terminated:
            builder.branch(onwards)
        builder.position_at_end(onwards)
        builder.store(builder.add(builder.load(counter, typ=_I64), step, flags=["nsw"]), counter)
        builder.branch(ahead)
        builder.position_at_end(done)

    def _assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(name):
                self._assign_name(name, value)
            case ast.Tuple(targets):
                for each, item in zip(targets, items_of(value), strict=True):
                    self._assign(each, item)
            case ast.Subscript(array, index):
                place = self._selected(self._value(array), index)
                assert isinstance(place.kind, Array)
                self._fill(place, self._as(value, place.kind.entry).parts[0])
            case _:
                raise self._refused(target)

    def _assign_name(self, name: str, value: Value) -> None:
        self._widen(name, value.kind)
        kind = self.kinds[name]
        if name not in self.places:
            self.places[name] = [self._room(part) for part in parts_of(kind)]
        for place, part in zip(self.places[name], self._as(value, kind).parts, strict=True):
            self.builder.store(part, place)

    def _widen(self, name: str, kind: Type) -> None:
        known = self.kinds.get(name)
        wider = kind if known is None else common(known, kind)
        if wider != known:
            self.kinds[name] = wider
            if name in self.places:
                raise _Wider

    def _fill(self, place: Value, entry: ir.Value) -> None:
        """Write one entry everywhere in a part of an array."""
        assert isinstance(place.kind, Array)
        if not place.kind.dimensions:
            stored = self.builder.zext(entry, _I8) if entry.type == _I1 else entry
            self.builder.store(stored, place.parts[0])
            return
        length = place.parts[1]
        counter = self._room(_I64)
        self.builder.store(_I64(0), counter)
        with self._loop() as done:
            at = self.builder.load(counter, typ=_I64)
            inside = self.builder.append_basic_block("fill")
            self.builder.cbranch(self.builder.icmp_signed("<", at, length), inside, done)
            self.builder.position_at_end(inside)
            self._fill(self._entry_of(place, at), entry)
            self.builder.store(self.builder.add(at, _I64(1), flags=["nsw"]), counter)

    # Expressions

    def _static(self, node: ast.expr) -> Static:
        """What an expression without variables is, by Python's own rules, or _DYNAMIC."""
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name) if name not in self.local:
                scope = self.function.__globals__
                return scope[name] if name in scope else getattr(builtins, name)
            case ast.Attribute(value, name):
                base = self._static(value)
                return getattr(base, name) if isinstance(base, ModuleType) else _DYNAMIC
            case ast.UnaryOp(_, operand):
                return self._evaluated(node, operand)
            case ast.BinOp(left, _, right):
                return self._evaluated(node, left, right)
            case ast.Subscript(ast.Name() as value, index) if isinstance(self._static(value), tuple):
                return self._evaluated(node, index)
        return _DYNAMIC

    def _evaluated(self, node: ast.expr, *operands: ast.expr) -> Static:
        if any(type(self._static(each)) not in _STATIC for each in operands):
            return _DYNAMIC
        return eval(compile(ast.Expression(node), "<kernel>", "eval"), self.function.__globals__)

    def _value(self, node: ast.expr) -> Value:
        static = self._static(node)
        if type(static) in _STATIC:
            kind = _STATIC[type(static)]
            return Value(kind, ir.Constant(LOWERED[kind], static))
        if isinstance(static, np.ndarray) and static.dtype == np.float64 and static.flags.c_contiguous:
            return self._array(Array(types.float64, static.ndim, "C"), self.module.constant(static), static.shape)
        match node:
            case ast.Name(name) if name in self.local:
                known = self.kinds[name]
                places = zip(self.places[name], parts_of(known), strict=True)
                return Value(known, *(self.builder.load(place, typ=part) for place, part in places))
            case ast.Tuple(nodes):
                return side_by_side([self._value(each) for each in nodes])
            case ast.BinOp(left, operator, right):
                return self._binary(operator, self._value(left), self._value(right), power=self._static(right))
            case ast.UnaryOp(operator, operand):
                return self._unary(operator, self._value(operand), node)
            case ast.BoolOp(operator, nodes):
                return Value(types.boolean, self._shorted(isinstance(operator, ast.And), nodes))
            case ast.Compare(left, operators, others):
                found = [self._value(each) for each in (left, *others)]
                pairs = zip(operators, found, found[1:], strict=False)
                truths = [self._compared(operator, one, other) for operator, one, other in pairs]
                return Value(types.boolean, reduce(self.builder.and_, truths))
            case ast.IfExp(test, yes, no):
                return self._either(test, yes, no)
            case ast.Call(function, arguments):
                return self._called(node, self._static(function), arguments)
            case ast.Subscript(value, index):
                return self._indexed(self._value(value), index)
            case ast.Attribute(value, ("size" | "shape") as name):
                array = self._value(value)
                if not isinstance(array.kind, Array):
                    raise self._refused(node)
                shape = array.parts[1 : 1 + array.kind.dimensions]
                if name == "size":
                    return Value(types.int64, reduce(self.builder.mul, shape))
                return Value(Tuple((types.int64,) * len(shape)), *shape)
        raise self._refused(node)

    def _truth(self, node: ast.expr) -> ir.Value:
        value = self._value(node)
        if value.kind == types.boolean:
            return value.parts[0]
        return self._compared(ast.NotEq(), value, Value(types.int64, _I64(0)))

    def _as(self, value: Value, kind: Type) -> Value:
        return converted(self.builder, value, kind)

    def _binary(self, operator: ast.operator, left: Value, right: Value, power: Static = None) -> Value:
        builder = self.builder
        if isinstance(operator, ast.Pow) and type(power) is int and power >= 1:
            return self._power(left, power)
        kind = common(left.kind, right.kind)
        if isinstance(operator, ast.Div):
            kind = types.float64
        elif not (kind == types.boolean and isinstance(operator, ast.BitAnd | ast.BitOr | ast.BitXor)):
            kind = arithmetic(kind)
        a, b = self._as(left, kind).parts[0], self._as(right, kind).parts[0]
        operation = (_FLOATING if kind == types.float64 else _WHOLE).get(type(operator))
        if operation is not None:
            return Value(kind, getattr(builder, operation)(a, b))
        if isinstance(operator, ast.RShift) and kind != types.float64:
            return Value(kind, (builder.ashr if kind == types.int64 else builder.lshr)(a, b))
        if isinstance(operator, ast.FloorDiv | ast.Mod) and kind == types.int64:
            return Value(kind, self._divided(a, b, remainder=isinstance(operator, ast.Mod)))
        raise self._refused(operator)

    def _power(self, base: Value, power: int) -> Value:
        """The power by squaring, from the lowest bit on."""
        found, multiply = None, ast.Mult()
        while power:
            if power & 1:
                found = base if found is None else self._binary(multiply, found, base)
            power >>= 1
            base = self._binary(multiply, base, base) if power else base
        assert found is not None
        return found

    def _divided(self, a: ir.Value, b: ir.Value, *, remainder: bool) -> ir.Value:
        """The quotient rounded down, or its remainder; 0 by a divisor 0."""
        builder = self.builder
        none = builder.icmp_signed("==", b, _I64(0))
        safe = builder.select(none, _I64(1), b)
        left = builder.srem(a, safe)
        apart = builder.and_(
            builder.icmp_signed("!=", left, _I64(0)), builder.icmp_signed("<", builder.xor(left, safe), _I64(0))
        )
        if remainder:
            found = builder.select(apart, builder.add(left, safe), left)
        else:
            found = builder.sub(builder.sdiv(a, safe), builder.zext(apart, _I64))
        return builder.select(none, _I64(0), found)

    def _unary(self, operator: ast.unaryop, value: Value, node: ast.expr) -> Value:
        builder, kind = self.builder, value.kind
        if isinstance(operator, ast.Not) and kind == types.boolean:
            return Value(kind, builder.not_(value.parts[0]))
        if isinstance(operator, ast.USub):
            kind = arithmetic(kind)
            part = self._as(value, kind).parts[0]
            return Value(kind, builder.fneg(part) if kind == types.float64 else builder.neg(part))
        if isinstance(operator, ast.Invert) and kind == types.int64:
            return Value(kind, builder.not_(value.parts[0]))
        raise self._refused(node)

    def _compared(self, operator: ast.cmpop, left: Value, right: Value) -> ir.Value:
        kind, word = common(left.kind, right.kind), _COMPARED[type(operator)]
        a, b = self._as(left, kind).parts[0], self._as(right, kind).parts[0]
        if kind == types.float64:
            return (self.builder.fcmp_unordered if word == "!=" else self.builder.fcmp_ordered)(word, a, b)
        return (self.builder.icmp_signed if kind == types.int64 else self.builder.icmp_unsigned)(word, a, b)

    def _shorted(self, conjunction: bool, nodes: Sequence[ast.expr]) -> ir.Value:
        builder = self.builder
        done = builder.append_basic_block("known")
        known: list[tuple[ir.Value, ir.Block]] = []
        for node in nodes[:-1]:
            truth, onwards = self._truth(node), builder.append_basic_block("unknown")
            known.append((_I1(not conjunction), builder.block))
            builder.cbranch(truth, *((onwards, done) if conjunction else (done, onwards)))
            builder.position_at_end(onwards)
        known.append((self._truth(nodes[-1]), builder.block))
        builder.branch(done)
        builder.position_at_end(done)
        return self._joined(known)

    def _joined(self, found: Sequence[tuple[ir.Value, ir.Block]]) -> ir.Value:
        phi = self.builder.phi(found[0][0].type)
        for value, block in found:
            phi.add_incoming(value, block)
        return phi

    def _either(self, test: ast.expr, yes: ast.expr, no: ast.expr) -> Value:
        builder = self.builder
        blocks = [builder.append_basic_block(name) for name in ("yes", "no")]
        after = builder.append_basic_block("after")
        builder.cbranch(self._truth(test), *blocks)
        found: list[Value] = []
        ends: list[ir.Block] = []
        for block, node in zip(blocks, (yes, no), strict=True):
            builder.position_at_end(block)
            found.append(self._value(node))
            ends.append(builder.block)
        kind = common(found[0].kind, found[1].kind)
        for at, end in enumerate(ends):
            builder.position_at_end(end)
            found[at] = self._as(found[at], kind)
            builder.branch(after)
        builder.position_at_end(after)
        columns = zip(found[0].parts, found[1].parts, strict=True)
        return Value(kind, *(self._joined(list(zip(column, ends, strict=True))) for column in columns))

    def _called(self, node: ast.Call, function: Static, nodes: Sequence[ast.expr]) -> Value:
        if function in (np.empty, np.zeros, np.full):
            return self._allocated(function, node)
        given = [self._value(each) for each in nodes]
        builder = self.builder
        if isinstance(function, FunctionType):
            inner, signature = self.module.lowered(function, [each.kind for each in given])
            taken = map(self._as, given, signature.arguments)
            return unpacked(
                builder, signature.result, builder.call(inner, [part for each in taken for part in each.parts])
            )
        if isinstance(function, Intrinsic):
            return self._intrinsic(function, given)
        if function in _CASTS and len(given) == 1:
            return self._as(given[0], _CASTS[function])
        if function in (min, max):
            return reduce(lambda one, other: self._extreme("<" if function is min else ">", one, other), given)
        if function is len and isinstance(given[0].kind, Array):
            return Value(types.int64, given[0].parts[1])
        if function is abs and given[0].kind == types.float64:
            return Value(types.float64, self._call("llvm.fabs.f64", _F64, given[0].parts[0]))
        if function is abs and given[0].kind == types.int64:
            number = given[0].parts[0]
            negative = builder.icmp_signed("<", number, _I64(0))
            return Value(types.int64, builder.select(negative, builder.neg(number), number))
        if function in _LIBRARY:
            found = self._call(_LIBRARY[function], _F64, self._as(given[0], types.float64).parts[0])
            whole = function in (math.floor, math.ceil)
            return Value(types.int64, builder.fptosi(found, _I64)) if whole else Value(types.float64, found)
        raise self._refused(node)

    def _extreme(self, word: str, one: Value, other: Value) -> Value:
        """Like Python's: the first, unless the other is beyond it."""
        kind = common(one.kind, other.kind)
        a, b = self._as(one, kind).parts[0], self._as(other, kind).parts[0]
        builder = self.builder
        ordered = builder.icmp_signed if kind == types.int64 else builder.icmp_unsigned
        beyond = (builder.fcmp_ordered if kind == types.float64 else ordered)(word, b, a)
        return Value(kind, self.builder.select(beyond, b, a))

    def _intrinsic(self, intrinsic: Intrinsic, given: Sequence[Value]) -> Value:
        pairs = zip(given, intrinsic.arguments, strict=True)
        parts = [self._as(value, kind).parts[0] for value, kind in pairs]
        builder = self.builder
        match intrinsic.name:
            case "fma":
                made = self._call("llvm.fma.f64", _F64, *parts)
            case "bits":
                made = builder.bitcast(parts[0], _I64)
            case "from_bits":
                made = builder.bitcast(parts[0], _F64)
            case "leading_zeros":
                made = self._call("llvm.ctlz.i64", _I64, parts[0], _I1(0))
            case _:
                wide = ir.IntType(128)
                product = builder.mul(*(builder.sext(part, wide) for part in parts))
                made = builder.trunc(builder.ashr(product, wide(63)), _I64)
        return Value(intrinsic.result, made)

    def _call(self, name: str, result: ir.Type, *parts: ir.Value) -> ir.Value:
        return self.builder.call(self.module.external(name, result, [part.type for part in parts]), parts)

    # Arrays

    def _array(self, kind: Array, data: ir.Value, shape: Sequence[Any]) -> Value:
        """A new or constant array, its rows one after the other."""
        lengths = [each if isinstance(each, ir.Value) else _I64(each) for each in shape]
        strides: list[ir.Value] = [_I64(kind.entry.size)]
        for length in reversed(lengths[1:]):
            strides.insert(0, self.builder.mul(length, strides[0]))
        return Value(kind, data, *lengths, *strides)

    def _allocated(self, function: Static, node: ast.Call) -> Value:
        builder = self.builder
        entry = next(
            (_STATIC[self._static(each.value)] for each in node.keywords if each.arg == "dtype"), types.float64
        )
        size = node.args[0]
        nodes = size.elts if isinstance(size, ast.Tuple) else [size]
        shape = [self._as(self._value(each), types.int64).parts[0] for each in nodes]
        place = self._room(POINTER)
        self.entry.store(ir.Constant(POINTER, None), place)
        self.heap.append(place)
        self._call("free", ir.VoidType(), builder.load(place, typ=POINTER))  # of the last time, in a loop
        data = self._call("malloc", POINTER, reduce(builder.mul, shape, _I64(entry.size)))
        builder.store(data, place)
        made = self._array(Array(entry, len(shape), "C"), data, shape)
        if function is not np.empty:
            filled = Value(types.int64, _I64(0)) if function is np.zeros else self._value(node.args[1])
            self._fill(made, self._as(filled, entry).parts[0])
        return made

    def _indexed(self, value: Value, index: ast.expr) -> Value:
        if isinstance(value.kind, Tuple):
            static = self._static(index)
            if type(static) is not int:
                raise self._refused(index)
            return items_of(value)[static]
        place = self._selected(value, index)
        assert isinstance(place.kind, Array)
        if place.kind.dimensions:
            return place
        entry = place.kind.entry
        if entry == types.boolean:
            return Value(entry, self.builder.trunc(self.builder.load(place.parts[0], typ=_I8), _I1))
        return Value(entry, self.builder.load(place.parts[0], typ=LOWERED[entry]))

    def _selected(self, array: Value, index: ast.expr) -> Value:
        """The part of an array that an index chooses; where no dimension is left, the place of one entry."""
        if not isinstance(array.kind, Array):
            raise self._refused(index)
        nodes = index.elts if isinstance(index, ast.Tuple) else [index]
        kept: list[tuple[ir.Value, ir.Value]] = []
        rest = array
        for node in nodes:
            if isinstance(node, ast.Slice):
                rest, length, stride = self._sliced(rest, node)
                kept.append((length, stride))
            else:
                rest = self._entry_of(rest, self._wrapped(node, rest.parts[1]))
        assert isinstance(rest.kind, Array)
        left = rest.kind.dimensions
        lengths = [length for length, _ in kept] + list(rest.parts[1 : 1 + left])
        strides = [stride for _, stride in kept] + list(rest.parts[1 + left :])
        layout = "C" if array.kind.layout == "C" and len(lengths) <= 1 and isinstance(nodes[-1], ast.Slice) else "A"
        return Value(Array(rest.kind.entry, len(lengths), layout), rest.parts[0], *lengths, *strides)

    def _wrapped(self, node: ast.expr, length: ir.Value) -> ir.Value:
        """An index, from the end where it is negative, as in Python."""
        value, builder = self._value(node), self.builder
        if value.kind not in _INTEGERS:
            raise self._refused(node)
        at = self._as(value, types.int64).parts[0]
        if value.kind != types.int64 or (isinstance(at, ir.Constant) and at.constant >= 0):
            return at
        return builder.select(builder.icmp_signed("<", at, _I64(0)), builder.add(at, length), at)

    def _sliced(self, array: Value, node: ast.Slice) -> tuple[Value, ir.Value, ir.Value]:
        """The array from the start of a slice on without its first dimension, and the slice's length and stride."""
        assert isinstance(array.kind, Array)
        if node.step is not None:
            raise self._refused(node)
        builder, whole, stride = self.builder, array.parts[1], array.parts[1 + array.kind.dimensions]
        ends = [
            default if each is None else self._within(self._wrapped(each, whole), whole)
            for each, default in ((node.lower, _I64(0)), (node.upper, whole))
        ]
        length = builder.sub(ends[1], ends[0])
        return self._entry_of(array, ends[0]), self._within(length, whole), stride

    def _within(self, at: ir.Value, length: ir.Value) -> ir.Value:
        builder = self.builder
        at = builder.select(builder.icmp_signed("<", at, _I64(0)), _I64(0), at)
        return builder.select(builder.icmp_signed(">", at, length), length, at)

    def _entry_of(self, array: Value, at: ir.Value) -> Value:
        """The array of one dimension less at that place in the first."""
        kind, builder = array.kind, self.builder
        assert isinstance(kind, Array)
        n = kind.dimensions
        if kind.layout == "C" and n == 1:
            data = builder.gep(array.parts[0], [at], inbounds=True, source_etype=_stored(kind.entry))
        else:
            data = builder.gep(array.parts[0], [builder.mul(at, array.parts[1 + n])], inbounds=True, source_etype=_I8)
        return Value(Array(kind.entry, n - 1, kind.layout), data, *array.parts[2 : 1 + n], *array.parts[2 + n :])

    def _refused(self, node: ast.AST) -> NotInLanguage:
        written = ast.unparse(node) if isinstance(node, ast.expr | ast.stmt) else type(node).__name__
        return NotInLanguage(f"{self.function.__module__}.{self.function.__name__}: {written}")


def _stored(kind: Number) -> ir.Type:
    return _I8 if kind == types.boolean else LOWERED[kind]


def _reading(target: ast.expr) -> ast.expr:
    """The target of an assignment as an expression."""
    match target:
        case ast.Name(name):
            return ast.Name(name, ast.Load())
        case ast.Subscript(value, index):
            return ast.Subscript(value, index, ast.Load())
    return target
