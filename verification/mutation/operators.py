"""The faults that are planted: each operator names one and makes it, node by node, in a syntax tree.

They are the slips that a formula suffers when it is copied from paper to code: a sign, a 1, a factor, a square, a
direction, a branch, ε for δ, ≤ for <, a float for an enclosure.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import TypeAlias, final

from attrs import frozen


@final
@frozen
class Scope:
    """Where a node stands.

    Attributes:
        parents: of every node of the tree.
        names: the variables and parameters of the function.
        returns: the annotation of what the function returns, as text; empty where there is none.
    """

    parents: dict[ast.AST, ast.AST]
    names: frozenset[str]
    returns: str


Mutate: TypeAlias = Callable[[ast.AST, Scope], Iterator[ast.AST]]
"""What may stand in the place of a node."""


@final
@frozen
class Operator:
    """One kind of fault.

    Attributes:
        name: of the fault.
        says: what it does, in one line.
        mutate: the nodes that it puts in the place of one.
    """

    name: str
    says: str
    mutate: Mutate


_SWAPPED_NAMES = {
    one: other
    for pair in (
        ("add", "remove"),
        ("ADD", "REMOVE"),
        ("add_direction", "remove_direction"),
        ("lower", "upper"),
        ("lower_float", "upper_float"),
        ("min", "max"),
        ("minimum", "maximum"),
        ("floor", "ceil"),
    )
    for one, other in (pair, pair[::-1])
}
_SWAPPED_KEYWORDS = (("rising", "falling"), ("add", "remove"), ("lower", "upper"))
_PRODUCT = (ast.Mult, ast.Div)
_LARGEST_STEP = 64  # beyond it a whole number is a precision or a limit, not part of a formula


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_product(node: ast.AST | None) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, _PRODUCT)


def _sign(node: ast.AST, _: Scope) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(left, ast.Add(), right) if not (_is_text(left) or _is_text(right)):
            yield ast.BinOp(left, ast.Sub(), right)
        case ast.BinOp(left, ast.Sub(), right):
            yield ast.BinOp(left, ast.Add(), right)
        case ast.UnaryOp(ast.USub(), operand):
            yield operand


def _one_more(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    if not (isinstance(node, ast.Constant) and type(node.value) is int and node.value <= _LARGEST_STEP):
        return
    match scope.parents[node]:
        case ast.BinOp(op=ast.LShift() | ast.RShift()) | ast.keyword() | ast.Subscript() | ast.Slice():
            return  # limits, precisions and places in a tuple
        case ast.BinOp() | ast.Compare() | ast.Call() | ast.UnaryOp() | ast.Return():
            yield ast.Constant(node.value + 1)


def _dropped_factor(node: ast.AST, _: Scope) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(left, ast.Mult(), right):
            yield left
            if not _is_product(left):
                yield right
        case ast.BinOp(left, ast.Div(), _):
            yield left


def _doubled_factor(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    if _is_product(node) and not _is_product(scope.parents[node]):
        assert isinstance(node, ast.BinOp)
        yield ast.BinOp(ast.Constant(2), ast.Mult(), node)


def _missing_square(node: ast.AST, _: Scope) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(base, ast.Pow(), ast.Constant(2)):
            yield base
        case ast.Call(ast.Attribute(base, "square" | "sqrt"), []):
            yield base
        case ast.Call(ast.Name("sqrt"), [base]):
            yield base


def _swapped_direction(node: ast.AST, _: Scope) -> Iterator[ast.AST]:
    match node:
        case ast.Attribute(value, name) if name in _SWAPPED_NAMES:
            yield ast.Attribute(value, _SWAPPED_NAMES[name], ast.Load())
        case ast.Call(ast.Name(name), arguments, keywords) if name in _SWAPPED_NAMES:
            yield ast.Call(ast.Name(_SWAPPED_NAMES[name], ast.Load()), arguments, keywords)
    if isinstance(node, ast.Call):
        given = {keyword.arg: keyword for keyword in node.keywords}
        for one, other in _SWAPPED_KEYWORDS:
            if one in given and other in given:
                exchange = {one: other, other: one}
                swapped = [ast.keyword(exchange.get(k.arg or "", k.arg), k.value) for k in node.keywords]
                yield ast.Call(node.func, node.args, swapped)


def _swapped_branch(node: ast.AST, _: Scope) -> Iterator[ast.AST]:
    match node:
        case ast.IfExp(test, body, otherwise):
            yield ast.IfExp(test, otherwise, body)
        case ast.If(test, body, otherwise):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, otherwise)


def _epsilon_for_delta(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    exchange = {"epsilon": "delta", "delta": "epsilon"}
    match node:
        case ast.Name(name, ast.Load()) if name in exchange and exchange[name] in scope.names:
            yield ast.Name(exchange[name], ast.Load())


_LOOSENED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


def _loosened_comparison(node: ast.AST, _: Scope) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for place, comparison in enumerate(node.ops):
            other = _LOOSENED.get(type(comparison))
            if other is not None:
                yield ast.Compare(node.left, [*node.ops[:place], other(), *node.ops[place + 1 :]], node.comparators)


_AS_FLOAT = "(lambda interval: type(interval).of(interval.upper_float, precision=interval.precision))"


def _float_for_enclosure(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Call | ast.BinOp) and scope.returns == "Enclosure":
        rounding = ast.parse(_AS_FLOAT, mode="eval").body
        yield ast.Return(ast.Call(rounding, [node.value], []))


OPERATORS = (
    Operator("sign", "+ for −, − for +, no minus", _sign),
    Operator("one more", "n + 1 for n", _one_more),
    Operator("dropped factor", "a factor or a divisor is left out", _dropped_factor),
    Operator("doubled factor", "a product is doubled", _doubled_factor),
    Operator("missing square", "no square, no root", _missing_square),
    Operator("swapped direction", "add for remove, lower for upper, minimum for maximum", _swapped_direction),
    Operator("swapped branch", "the other branch is taken", _swapped_branch),
    Operator("ε for δ", "one for the other where both are known", _epsilon_for_delta),
    Operator("loosened comparison", "≤ for <, < for ≤", _loosened_comparison),
    Operator("float for enclosure", "the float at the upper end, as if it were exact", _float_for_enclosure),
)


def faults(node: ast.AST, scope: Scope) -> Iterator[tuple[Operator, ast.AST]]:
    """What each operator makes of a node; copies, which share nothing with the tree."""
    for operator in OPERATORS:
        for fault in operator.mutate(node, scope):
            yield operator, deepcopy(fault)
