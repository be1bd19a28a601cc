"""Puts a mutant into the running library: the code of its functions and the values of its constants.

Every importer sees the mutant, because it is the function objects whose code is exchanged, and what functions remember
of earlier calls is forgotten. A constant's mutant reaches the constants of its module that are made of it; what else
was computed when a module was imported stays as it was, for which there is `anew`. Kernels compiled by Numba are
machine code and out of reach.
"""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from functools import _lru_cache_wrapper, cache
from types import CodeType, FunctionType, ModuleType
from typing import TypeAlias

from .mutants import PACKAGE, Mutant, mutated

_IMPORTERS = (PACKAGE, "tests.")
Memory: TypeAlias = "_lru_cache_wrapper[object]"
"""A function that remembers what it returned."""


class CannotBeImported(Exception):
    """A constant has no value with the mutant: whoever imports its module notices."""


class CannotBePlanted(Exception):
    """A function that is loaded holds other variables of the function around it than it would with the mutant."""


def plant(mutant: Mutant) -> None:
    """Exchange the code of the mutant's module for that of the mutant, for the rest of this process.

    Raises:
        InvalidValue: where today's source has no such place.
        CannotBeImported: where the module could not be imported with the mutant.
        CannotBePlanted: where a loaded function cannot have the code that it would have with the mutant.
    """
    tree = mutated(mutant)
    module = exchange(mutant.module, tree)
    changed: set[str] = set()
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value):
                pass
            case _:
                continue
        if name == mutant.place or any(isinstance(node, ast.Name) and node.id in changed for node in ast.walk(value)):
            _assign(module, name, value)
            changed.add(name)


def exchange(name: str, tree: ast.Module) -> ModuleType:
    """Give all functions of a loaded module, named within the package, the code that a tree of its source has.

    Raises:
        CannotBePlanted: where that code captures other variables than the function holds.
    """
    module = sys.modules[f"{PACKAGE}.{name}"]
    file = module.__file__ or ""
    codes = {_name(code): code for code in _codes(compile(tree, file, "exec"))}
    for function in loaded_functions().get(file, ()):
        code = codes.get(_name(function.__code__))
        if code is not None:
            if code.co_freevars != function.__code__.co_freevars:
                raise CannotBePlanted(code.co_qualname)
            function.__code__ = code
    return module


@cache
def loaded_functions() -> dict[str, list[FunctionType]]:
    """All functions that there were when this was first asked, by the file of their source."""
    found: dict[str, list[FunctionType]] = {}
    for function in gc.get_objects():
        if isinstance(function, FunctionType):
            found.setdefault(function.__code__.co_filename, []).append(function)
    return found


@cache
def memories(modules: frozenset[str]) -> tuple[Memory, ...]:
    """The functions of these modules, by full names, that remember what they returned; as of the first call."""
    found = (each for each in gc.get_objects() if isinstance(each, _lru_cache_wrapper))
    return tuple(each for each in found if each.__module__ in modules)


def _assign(module: ModuleType, name: str, value: ast.expr) -> None:
    """Give a constant its new value wherever it was imported by its name."""
    old = getattr(module, name)
    try:
        new = eval(compile(ast.Expression(value), module.__file__ or "", "eval"), vars(module))
    except Exception as problem:
        raise CannotBeImported(f"{type(problem).__name__}: {problem}") from problem
    for importer in list(sys.modules.values()):
        if getattr(importer, "__name__", "").startswith(_IMPORTERS) and vars(importer).get(name) is old:
            setattr(importer, name, new)


def _name(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
