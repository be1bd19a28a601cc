"""Which statements of the package a call executes: a guard that never executes a statement notices no mutant of it."""

from __future__ import annotations

import ast
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias, TypeVar, final

from attrs import frozen

from .mutants import PACKAGE, source_of
from .planting import exchange

Result = TypeVar("Result")
Touched: TypeAlias = Mapping[str, frozenset[int]]
"""Modules, by dotted names within the package, each with the lines on which statements began that were executed."""

_MARKS = "__statements_executed__"


@final
@frozen
class Probes:
    """Marks in all functions of some modules, for the rest of this process: one byte for each line.

    Attributes:
        marks: by module.
    """

    marks: Mapping[str, bytearray]

    @classmethod
    def plant(cls, modules: Iterable[str]) -> Probes:
        """Put them into those of the modules that are loaded."""
        marks = {}
        for name in modules:
            module = sys.modules.get(f"{PACKAGE}.{name}")
            if module is None:
                continue
            source = source_of(name)
            marks[name] = vars(module)[_MARKS] = bytearray(source.count("\n") + 2)
            exchange(name, ast.fix_missing_locations(_Probing().visit(ast.parse(source))))
        return cls(marks)

    def touching(self, call: Callable[[], Result]) -> tuple[Result, float, Touched]:
        """Make a call; its result, the processor time in seconds, and what it executed, in any thread."""
        with self.apart() as touched:
            started = processor_seconds()
            result = call()
            return result, processor_seconds() - started, touched()

    @contextmanager
    def apart(self) -> Iterator[Callable[[], Touched]]:
        """What is executed within this context counts as executed there alone; yields what tells it."""
        before = {name: bytes(marks) for name, marks in self.marks.items()}
        for marks in self.marks.values():
            marks[:] = bytes(len(marks))
        try:
            yield self._touched
        finally:
            for name, marks in self.marks.items():
                marks[:] = before[name]

    def _touched(self) -> Touched:
        return {
            name: frozenset(line for line, mark in enumerate(marks) if mark)
            for name, marks in self.marks.items()
            if any(marks)
        }


def processor_seconds() -> float:
    """Return the seconds of processor time, those of processes that this one has waited for included."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


class _Probing(ast.NodeTransformer):
    """Puts a mark before every statement of every function."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return _marked(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return _marked(node)


Node = TypeVar("Node", bound=ast.AST)


def _marked(node: Node) -> Node:
    for child in ast.iter_child_nodes(node):
        _marked(child)
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            value[:] = [part for statement in value for part in (_mark(statement), statement)]
    return node


def _mark(statement: ast.stmt) -> ast.stmt:
    place = ast.Subscript(ast.Name(_MARKS, ast.Load()), ast.Constant(statement.lineno), ast.Store())
    return ast.copy_location(ast.Assign([place], ast.Constant(1)), statement)
