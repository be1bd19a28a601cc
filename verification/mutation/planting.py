"""Puts a mutant into the running library: the code of its functions and the values of its constants.

Every importer sees the mutant, because it is the function objects whose code is exchanged, and what functions remember
of earlier calls is forgotten. A constant's mutant reaches the constants of its module that are made of it; what else
was computed when a module was imported stays as it was, for which there is `anew`. Kernels compiled by Numba are
machine code and out of reach. What was planted is held against what is there to be run: a mutant that nobody could run
would look like one that nobody notices.
"""

from __future__ import annotations

import ast
import gc
import sys
import warnings
from collections.abc import Iterator
from functools import _lru_cache_wrapper, cache
from types import CodeType, FunctionType, ModuleType
from typing import TypeAlias

from .mutants import PACKAGE, Mutant, mutated, source_of

_IMPORTERS = (PACKAGE, "tests.")
Memory: TypeAlias = "_lru_cache_wrapper[object]"
"""A function that remembers what it returned."""


class CannotBeImported(Exception):
    """A constant has no value with the mutant: whoever imports its module notices."""


class CannotBePlanted(Exception):
    """A mutant whose code no loaded function would run, or of which one holds other variables than that code needs."""


def plant(mutant: Mutant) -> None:
    """Exchange the code of the mutant's module for that of the mutant, for the rest of this process.

    Raises:
        InvalidValue: where today's source has no such place.
        CannotBeImported: where the module could not be imported with the mutant.
        CannotBePlanted: where a loaded function cannot have the code that it would have with the mutant, or none is
            there to have it.
    """
    tree = mutated(mutant)
    planted = exchange(mutant.module, tree)
    module = sys.modules[f"{PACKAGE}.{mutant.module}"]
    if mutant.in_function:
        _hold_planted(mutant.module, planted)
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


def exchange(name: str, tree: ast.Module) -> CodeType:
    """Give all functions of a loaded module, named within the package, the code that a tree of its source has.

    Returns:
        The code of the module, that of its functions among its constants.

    Raises:
        CannotBePlanted: where that code captures other variables than the function holds, or could be that of two.
    """
    file = _loaded_file(name)
    compiled = quietly_compiled(tree, file)
    codes: dict[tuple[str, int], list[CodeType]] = {}
    for *_, code in _codes(compiled):
        codes.setdefault(_name(code), []).append(code)
    for function in _functions_of(file):
        named = codes.get(_name(function.__code__), ())
        if len(named) > 1:  # on one line, and which is which is not told
            raise CannotBePlanted(function.__qualname__)
        for code in named:
            if code.co_freevars != function.__code__.co_freevars:
                raise CannotBePlanted(code.co_qualname)
            function.__code__ = code
    return compiled


def quietly_compiled(tree: ast.Module, file: str) -> CodeType:
    """Compile a tree, whatever Python warns of: some faults are such that it warns, such as the call of a text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(tree, file, "exec")


def _hold_planted(name: str, planted: CodeType) -> None:
    """Refuse unless all code that is not the module's own is run by a loaded function, or made into one by it."""
    file = _loaded_file(name)
    right = {_alone(code) for *_, code in _codes(compile(source_of(name), file, "exec"))}
    running = {id(function.__code__) for function in _functions_of(file)}
    for within in _codes(planted):
        if _alone(within[-1]) not in right and not any(id(code) in running for code in within):
            raise CannotBePlanted(within[-1].co_qualname)


def _loaded_file(name: str) -> str:
    return sys.modules[f"{PACKAGE}.{name}"].__file__ or ""


def _functions_of(file: str) -> Iterator[FunctionType]:
    """The functions whose source is a file: those that there were at first, and those made since."""
    yield from loaded_functions().get(file, ())
    for each in gc.get_objects():  # without what is kept from the collector, in which those that there were are
        if isinstance(each, FunctionType) and each.__code__.co_filename == file:
            yield each


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


def _codes(code: CodeType, *around: CodeType) -> Iterator[tuple[CodeType, ...]]:
    """The code of each function, after those of the functions that it stands in."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield (*around, constant)
            yield from _codes(constant, *around, constant)


def _alone(code: CodeType) -> CodeType:
    """The code without that of the functions in it."""
    return code.replace(co_consts=tuple(each for each in code.co_consts if not isinstance(each, CodeType)))
