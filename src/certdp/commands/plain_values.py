"""What words need no check: names, paths and whole numbers are taken as they are, and Typer is asked about the rest.

Typer checks values with pydantic, whose import alone takes longer than most of what a command does. Where it would give
the same value, pydantic is not loaded; whatever it might refuse, it is asked about, and words the refusal.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

from typer.core import TyperCommand

_MOST_DIGITS = 18
_Taking = Callable[[str], object]


class _NotPlainError(Exception):
    """Typer is asked."""


class TakesPlainValues:
    """A command of Click, mixed into those of Typer."""

    callback: Any

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, which take what needs no check."""
        options: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        stated = signature(self.callback, eval_str=True).parameters
        for one in options:
            if "process_value" not in vars(one):
                annotation = stated[one.name].annotation if one.name in stated else None
                one.process_value = _processing(one, _taking(annotation))
        return options


class PlainCommand(TakesPlainValues, TyperCommand):
    """A command that asks Typer about those values alone that it may refuse."""


def _processing(option: Any, taking: _Taking) -> Callable[[Any, Any], Any]:
    """Click's `process_value` of an option: Typer's own where the value is not plain."""
    asked, several = option.process_value, option.multiple or option.nargs == -1

    def process(context: Any, value: Any) -> Any:
        try:
            taken = _taken(value, taking, several)
        except _NotPlainError:
            return asked(context, value)
        if option.required and taken in (None, (), []):
            return asked(context, value)
        return taken if option.callback is None else option.callback(context, option, taken)

    return process


def _taken(value: object, taking: _Taking, several: bool) -> object:
    match value:
        case None:
            return () if several else None
        case int() | float() if not several:
            return value  # a default
        case str() if not several:
            return taking(value)
        case list() | tuple() if several and all(isinstance(one, str) for one in value):
            return [taking(one) for one in value]
    raise _NotPlainError


def _taking(annotation: Any) -> _Taking:
    """How a word becomes a value."""
    kind, stated = get_args(annotation)[:2] if get_origin(annotation) is Annotated else (annotation, None)
    while inner := [one for one in get_args(kind) if one is not NoneType]:  # of a list, or None
        kind = inner[0]
    if kind is str:
        return str
    if kind is Path:
        return _path
    if kind is int:
        return _whole(stated)
    return _never_plain


def _never_plain(word: str) -> object:
    raise _NotPlainError


def _path(word: str) -> Path:
    try:
        os.stat(word)
    except OSError:
        return Path(word)  # whoever reads it says that it is not there
    except ValueError:
        raise _NotPlainError from None
    if not os.access(word, os.R_OK):
        raise _NotPlainError
    return Path(word)


def _whole(stated: Any) -> _Taking:
    """Whole numbers within the bounds that an option states."""

    def take(word: str) -> int:
        if not (word.isascii() and word.isdecimal() and len(word) <= _MOST_DIGITS):
            raise _NotPlainError
        number = int(word)
        if (stated.min is not None and number < stated.min) or (stated.max is not None and number > stated.max):
            raise _NotPlainError
        return number

    return take
