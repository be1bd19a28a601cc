"""Parameters of which a plugin wants exactly one: a declared None stands for the others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

from ...accounting.errors import InvalidValue
from ...accounting.exact import Number
from ...accounting.provenance import Declared, Public
from .parameters import positive, whole

Choice: TypeAlias = Declared[Fraction | None]
"""A declared exact number, or none."""

NOT_GIVEN: Choice = Public(None)
"""The default of a parameter that may be left out."""


def positive_if_given(value: Declared[Number] | Choice) -> Choice:
    """A declared number above 0, or a declared None."""
    match value:
        case Public(None):
            return NOT_GIVEN
    return positive(value)  # type: ignore[arg-type]  # a number from here on


def whole_if_given(value: Declared[Number] | Choice) -> Choice:
    """A declared whole number of at least 1, or a declared None."""
    match value:
        case Public(None):
            return NOT_GIVEN
    return whole(value)  # type: ignore[arg-type]  # a number from here on


def require_one(**choices: Declared[Any]) -> None:
    """Check that exactly one of some parameters is given.

    Raises:
        InvalidValue: where none or several are, with their names.
    """
    given = {name: choice.value for name, choice in choices.items() if choice.value is not None}
    if len(given) != 1:
        leave_out = f"Leave out {' or '.join(given)}"
        raise InvalidValue(
            " or ".join(choices),
            " and ".join(f"{name}={value}" for name, value in given.items()) or "none of them",
            "exactly one of them",
            leave_out if given else f"Give {' or '.join(f'{name}=Public(…)' for name in choices)}",
        )
