"""The faults that are planted: each operator names one and makes it, node by node, in a syntax tree.

They are the slips that a formula suffers when it is copied from paper to code: a sign, a 1, a term, a factor, a square,
a direction, a branch, ε for δ, ≤ for <, a float for an enclosure; and those that a refusal suffers: a condition, a
check, a statement that is left out.
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
        ("any", "all"),
        ("_lower", "_upper"),
        ("_down", "_up"),
        ("binomial_lower_bound", "binomial_upper_bound"),
        ("lower_delta", "upper_delta"),
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
            if node.value > 0:
                yield ast.Constant(node.value - 1)


def _dropped_term(node: ast.AST, _: Scope) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(left, ast.Add(), right) if not (_is_text(left) or _is_text(right)):
            yield left
            if not (isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add)):
                yield right
        case ast.BinOp(left, ast.Sub(), _):
            yield left


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


_NEGATED = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def _flipped_comparison(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    match node, scope.parents.get(node):
        case ast.Compare(), ast.If(test=test) | ast.IfExp(test=test) if test is node:
            return  # the swapped branch is the same
        case ast.Compare(left, [comparison], [right]), _:
            yield ast.Compare(left, [_NEGATED[type(comparison)]()], [right])


def _dropped_condition(node: ast.AST, _: Scope) -> Iterator[ast.AST]:
    if isinstance(node, ast.BoolOp):
        for place in range(len(node.values)):
            rest = [*node.values[:place], *node.values[place + 1 :]]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def refuses(node: ast.AST) -> bool:
    """Whether a statement does nothing but raise under a condition."""
    return isinstance(node, ast.If) and not node.orelse and isinstance(node.body[0], ast.Raise)


def _calls_super(call: ast.Call) -> bool:
    """Whether it calls through `super()`: without it the code has no free variable, and cannot be exchanged."""
    return any(isinstance(node, ast.Name) and node.id == "super" for node in ast.walk(call))


def _dropped_check(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    match node:
        case ast.If() if refuses(node):
            yield ast.Pass()
        case ast.Raise() if not refuses(scope.parents[node]):
            yield ast.Pass()
        case ast.Expr(ast.Call() as call) if not _calls_super(call):
            yield ast.Pass()
        case ast.Call(ast.Name(), [ast.Constant(str()), value, *_], _) if not isinstance(
            scope.parents[node], ast.Raise | ast.Expr
        ):
            yield value  # a check that hands on what it was given: `whole("steps", steps, 1)`


_AS_FLOAT = "(lambda interval: type(interval).of(interval.upper_float, precision=interval.precision))"


def _float_for_enclosure(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Call | ast.BinOp) and scope.returns == "Enclosure":
        rounding = ast.parse(_AS_FLOAT, mode="eval").body
        yield ast.Return(ast.Call(rounding, [node.value], []))


OPERATORS = (
    Operator("sign", "+ for −, − for +, no minus", _sign),
    Operator("one more", "n + 1 or n − 1 for n", _one_more),
    Operator("dropped term", "a summand is left out", _dropped_term),
    Operator("dropped factor", "a factor or a divisor is left out", _dropped_factor),
    Operator("doubled factor", "a product is doubled", _doubled_factor),
    Operator("missing square", "no square, no root", _missing_square),
    Operator("swapped direction", "add for remove, lower for upper, minimum for maximum", _swapped_direction),
    Operator("swapped branch", "the other branch is taken", _swapped_branch),
    Operator("ε for δ", "one for the other where both are known", _epsilon_for_delta),
    Operator("loosened comparison", "≤ for <, < for ≤", _loosened_comparison),
    Operator(
        "flipped comparison", "≥ for <, ≠ for =, not in for in, where no branch hangs on it alone", _flipped_comparison
    ),
    Operator("dropped condition", "a part of an and, or of an or, is left out; or for and", _dropped_condition),
    Operator("dropped check", "a refusal, or a statement that only calls, is left out", _dropped_check),
    Operator("float for enclosure", "the float at the upper end, as if it were exact", _float_for_enclosure),
)


def faults(node: ast.AST, scope: Scope) -> Iterator[tuple[Operator, ast.AST]]:
    """What each operator makes of a node; copies, which share nothing with the tree."""
    for operator in OPERATORS:
        for fault in operator.mutate(node, scope):
            yield operator, deepcopy(fault)
