"""Puts a mutant into the running library: the code of its functions and the values of its constants.

Every importer sees the mutant, because it is the function objects whose code is exchanged. What was computed from a
function when its module was imported stays as it was. Kernels compiled by Numba are machine code and out of reach.
"""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

from .mutants import PACKAGE, Mutant, mutated


def plant(mutant: Mutant) -> None:
    """Exchange the code of the mutant's module for that of the mutant, for the rest of this process.

    Raises:
        InvalidValue: where today's source has no such place.
    """
    module = sys.modules[f"{PACKAGE}.{mutant.module}"]
    tree = mutated(mutant)
    file = module.__file__ or ""
    codes = {_name(code): code for code in _codes(compile(tree, file, "exec"))}
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == file:
            code = codes.get(_name(function.__code__))
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                function.__code__ = code
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(name)], value=value) if name == mutant.place:
                _assign(module, name, value)
            case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value) if name == mutant.place:
                _assign(module, name, value)


def _assign(module: ModuleType, name: str, value: ast.expr) -> None:
    """Give a constant its new value wherever it was imported by its name."""
    old = getattr(module, name)
    new = eval(compile(ast.Expression(value), module.__file__ or "", "eval"), vars(module))
    for importer in list(sys.modules.values()):
        if getattr(importer, "__name__", "").startswith(PACKAGE) and vars(importer).get(name) is old:
            setattr(importer, name, new)


def _name(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
