"""What is wrong with a command line, reported like every other error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from typing import Any

import typer

from ..accounting.errors import InvalidValue

_errors: Any = import_module(typer.BadParameter.__module__)  # Click's own, or the copy of Click within Typer


@contextmanager
def refusing_usage(words: Sequence[str]) -> Iterator[None]:
    """Refuse a command line that cannot be read in words, or as JSON where JSON is wanted."""
    try:
        yield
    except _errors.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a command without words shows its help
            raise
        from .output import refuse

        refuse(_as_error(error, words), as_json="--json" in words)
    except (ArithmeticError, ValueError):
        extreme = _most_extreme(words)
        if extreme is None:
            raise
        from .output import refuse

        refuse(extreme, as_json="--json" in words)


_LEAST, _MOST = Fraction(1, 10**100), Fraction(10**100)


def _most_extreme(words: Sequence[str]) -> InvalidValue | None:
    """The stated number that lies furthest from 1, where floats, which guide the proofs, may not hold what follows."""
    from ..accounting.exact import exact

    found: tuple[Fraction, InvalidValue] | None = None
    for name, text in _values(words):
        try:
            size = abs(exact(text))
        except InvalidValue:
            continue
        if not size or _LEAST <= size <= _MOST:
            continue
        extent = max(size, 1 / size)
        if found is None or extent > found[0]:
            remedy = "Nothing is computed at such a size: choose a number nearer to 1"
            found = extent, InvalidValue(name, text, "0, or a size from 1e-100 to 1e100", remedy)
    return None if found is None else found[1]


def _values(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What the words state, by name: of options, and within `--option` and its like of keys."""
    for word, following in pairwise([*words, ""]):
        option, sign, value = word.partition("=")
        if option.startswith("--"):
            for part in (value if sign else following).split(","):
                key, inner, number = part.partition("=")
                yield (key, number) if inner else (option.lstrip("-"), part)


def _as_error(error: Any, words: Sequence[str]) -> InvalidValue:
    command = error.ctx.command_path if error.ctx is not None else "certdp"
    manual = f"`{command} --help` tells what it takes"
    match error:
        case _errors.MissingParameter():
            name = _name(error.param)
            return InvalidValue(name.lstrip("-"), "nothing", "a value", f"Give {name}; {manual}")
        case _errors.BadParameter():
            name = _name(error.param)
            admissible = error.message.removeprefix("Input should be ").partition(", unable")[0]
            return InvalidValue(name.lstrip("-"), _stated(error.param, words), admissible, f"Change {name}; {manual}")
        case _errors.BadOptionUsage():
            name = error.option_name
            return InvalidValue(name.lstrip("-"), "nothing", "one value", f"Give {name} a value; {manual}")
        case _errors.NoSuchOption():
            near = f"Did you mean {' or '.join(error.possibilities)}? " if error.possibilities else ""
            return InvalidValue("option", error.option_name, f"an option of `{command}`", f"{near}{manual}")
    said = " ".join(word for word in words if word != "--json")
    return InvalidValue("command", said, f"what `{command}` takes", f"{error.format_message()} {manual}")


def _name(parameter: Any) -> str:
    """An option with its dashes, or the name of an argument."""
    return str(max(parameter.opts, key=len))


def _stated(parameter: Any, words: Sequence[str]) -> str:
    """What the words give an option; all of it where it repeats."""
    given = []
    for word, following in pairwise([*words, ""]):
        name, sign, value = word.partition("=")
        if name in parameter.opts:
            given.append(value if sign else following)
    return ", ".join(given)
