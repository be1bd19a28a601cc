"""The mutants of a module: one fault each, in a function or in the value of a module's constant.

Annotations, decorators, default values, class bodies beside their methods, messages and what is raised are left as they
are. Refusals are not: their condition is mutated, and the whole of them is left out.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias, final

from attrs import frozen

from ...accounting.errors import InvalidValue
from .operators import Scope, faults, refuses

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)

PACKAGE = __name__.split(".", maxsplit=1)[0]


@final
@frozen
class Mutant:
    """One fault in one place.

    Attributes:
        module: dotted name within the package, such as "accounting.sampling.theorem_6".
        place: qualified name of the function, or name of the module's constant.
        operator: name of the fault.
        before: the statement as it stands, its first line where it has a body.
        after: the statement with the fault.
        occurrence: which of several equal ones in that place, from 1.
        line: of the statement in today's source.
        in_function: whether it stands in a function, not in the value of a constant.
    """

    module: str
    place: str
    operator: str
    before: str
    after: str
    occurrence: int
    line: int
    in_function: bool = True

    @property
    def key(self) -> tuple[str, str, str, str, str, int]:
        """What tells mutants apart, whatever line they are on."""
        return self.module, self.place, self.operator, self.before, self.after, self.occurrence

    @property
    def digest(self) -> str:
        """A digest of the key without the module's name: it orders mutants for a sample, wherever the module lies."""
        return hashlib.sha256(repr(self.key[1:]).encode()).hexdigest()

    def __str__(self) -> str:
        again = f" ({self.occurrence})" if self.occurrence > 1 else ""
        return f"{self.module}:{self.line} {self.place}, {self.operator}{again}: {self.before}  →  {self.after}"


@final
@frozen(eq=False)
class _Fault:
    """A node to put in the place of another one, within a statement."""

    statement: ast.stmt
    node: ast.AST
    parent: ast.AST
    replacement: ast.AST
    operator: str

    def plant(self) -> None:
        _replace(self.parent, self.node, ast.copy_location(self.replacement, self.node))
        ast.fix_missing_locations(self.parent)

    @property
    def after(self) -> str:
        """The statement with the fault, which is not there afterwards."""
        _replace(self.parent, self.node, self.replacement)
        planted = self.replacement if self.node is self.statement else self.statement
        text = _first_line(planted)
        _replace(self.parent, self.replacement, self.node)
        return text


@cache
def source_of(module: str) -> str:
    """The source of a module of the package.

    Raises:
        InvalidValue: for an unknown module.
    """
    return Path(file_of(module)).read_text("utf-8")


def file_of(module: str) -> str:
    """The file of a module of the package.

    Raises:
        InvalidValue: for an unknown module.
    """
    try:
        found = find_spec(f"{PACKAGE}.{module}")
    except ModuleNotFoundError:
        found = None
    if found is None or found.origin is None:
        raise InvalidValue("module", module, "a module of this package")
    return found.origin


@cache
def mutants_of(module: str) -> tuple[Mutant, ...]:
    """The mutants of a module, in the order of its source.

    Raises:
        InvalidValue: for an unknown module.
    """
    return tuple(mutant for mutant, _ in _planned(module, ast.parse(source_of(module))))


@cache
def can_be_mutated(module: str) -> bool:
    """Whether a module has any mutant: found without making them all.

    Raises:
        InvalidValue: for an unknown module.
    """
    return next(_planned(module, ast.parse(source_of(module))), None) is not None


def mutated(mutant: Mutant) -> ast.Module:
    """The syntax tree of the mutant's module with the fault in it.

    Raises:
        InvalidValue: where today's source has no such place.
    """
    tree = ast.parse(source_of(mutant.module))
    for found, fault in _planned(mutant.module, tree, mutant.place):
        if found.key == mutant.key:
            fault.plant()
            return tree
    raise InvalidValue("mutant", str(mutant), "a mutant of today's source")


def _planned(module: str, tree: ast.Module, only: str | None = None) -> Iterator[tuple[Mutant, _Fault]]:
    seen: Counter[tuple[str, ...]] = Counter()
    for owner, place in _places(tree):
        if only not in (None, place):
            continue
        told: dict[ast.stmt, str] = {}
        for fault in _faults(owner):
            before = told.get(fault.statement) or told.setdefault(fault.statement, _first_line(fault.statement))
            after = fault.after
            if before == after:
                continue
            same = (place, fault.operator, before, after)
            seen[same] += 1
            line, in_function = fault.statement.lineno, isinstance(owner, _FUNCTION)
            yield Mutant(module, place, fault.operator, before, after, seen[same], line, in_function), fault


def _places(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """Functions and methods, and constants of the module, by name."""
    for statement in tree.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield statement, name
            case ast.ClassDef(name=name, body=body):
                yield from ((method, f"{name}.{method.name}") for method in body if isinstance(method, _FUNCTION))
            case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name), value=ast.expr()):
                yield statement, name


def _faults(owner: ast.stmt) -> Iterator[_Fault]:
    parents = {child: parent for parent in ast.walk(owner) for child in ast.iter_child_nodes(parent)}
    bound = {node.arg for node in ast.walk(owner) if isinstance(node, ast.arg)}
    bound |= {node.id for node in ast.walk(owner) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for statement, node, around in _mutable(owner, owner, None):
        scope = Scope(parents, frozenset(bound), _returned(around))
        for operator, replacement in faults(node, scope):
            yield _Fault(statement, node, parents[node], replacement, operator.name)


def _mutable(
    node: ast.AST, statement: ast.stmt, around: _Function | None
) -> Iterator[tuple[ast.stmt, ast.AST, _Function | None]]:
    """The nodes that may be mutated, each with its statement and the function that it stands in."""
    within: list[ast.AST]
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            around, within = node, list(node.body)
        case ast.AnnAssign():
            within = [node.value] if node.value else []
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.ClassDef():
            return
        case ast.If(test=test) if refuses(node):
            within = [test]
        case _:
            within = list(ast.iter_child_nodes(node))
    for child in within:
        inner = child if isinstance(child, ast.stmt) else statement
        yield inner, child, around
        yield from _mutable(child, inner, around)


def _returned(around: _Function | None) -> str:
    return ast.unparse(around.returns) if around is not None and around.returns is not None else ""


def _replace(parent: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for field, value in ast.iter_fields(parent):
        if value is old:
            setattr(parent, field, new)
        elif isinstance(value, list):
            value[:] = [new if item is old else item for item in value]


def _first_line(statement: ast.AST) -> str:
    """The statement as text, without the statements in it."""
    match statement:
        case ast.If(test=test):
            return f"if {ast.unparse(test)}:"
        case ast.While(test=test):
            return f"while {ast.unparse(test)}:"
        case ast.For(target=target, iter=iterable):
            return f"for {ast.unparse(target)} in {ast.unparse(iterable)}:"
        case ast.With() | ast.Match() | ast.Try():
            return ast.unparse(statement).partition("\n")[0]
    return ast.unparse(statement)
