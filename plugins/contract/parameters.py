"""Converters for the parameters of plugins: attrs fields that take declared values alone.

A parameter is a `Public` or `Released` value; what it holds is read exactly, from a number or from text, so the
command line and the library share one path. `named` makes their errors say which parameter is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from attrs import Attribute

from ...accounting.errors import InvalidType, InvalidValue
from ...accounting.exact import Number
from ...accounting.norms import Norm
from ...accounting.provenance import Declared, Public, Released, declared, declared_number
from ...accounting.units import Quantity

Real: TypeAlias = Declared[Fraction]
"""A declared exact number."""

Choice = TypeVar("Choice", bound=StrEnum)

_NAME = "parameter"
_TRUTH = {"true": True, "false": False}


def number(value: Declared[Number]) -> Real:
    """Read a declared number, of either sign."""
    return declared_number(value, lambda _: True, "a number", parameter=_NAME)


def positive(value: Declared[Number]) -> Real:
    """Read a declared number, which must be above 0."""
    return declared_number(value, lambda number: number > 0, "a number > 0", parameter=_NAME)


def non_negative(value: Declared[Number]) -> Real:
    """A declared number of at least 0."""
    return declared_number(value, lambda number: number >= 0, "a number ≥ 0", parameter=_NAME)


def probability(value: Declared[Number]) -> Real:
    """Read a declared number, which must be in [0, 1]."""
    return declared_number(value, lambda number: 0 <= number <= 1, "a probability: 0 ≤ q ≤ 1", parameter=_NAME)


def whole(value: Declared[Number]) -> Real:
    """Read a declared whole number of at least 1."""
    return declared_number(
        value, lambda number: number.denominator == 1 and number >= 1, "a whole number ≥ 1", parameter=_NAME
    )


def norm_order(value: Declared[Norm | Number]) -> Declared[Norm]:
    """A declared norm: a number ≥ 1, or inf."""
    return declared(value, Norm.of, parameter=_NAME)


def flag(value: Declared[bool | str]) -> Declared[bool]:
    """A declared truth value: True, False, "true" or "false"."""

    def read(choice: bool | str) -> bool:
        if isinstance(choice, bool):
            return choice
        if isinstance(choice, str) and choice.lower() in _TRUTH:
            return _TRUTH[choice.lower()]
        raise InvalidType(_NAME, choice, "true or false")

    return declared(value, read, parameter=_NAME)


def member(choices: type[Choice], name: str, parameter: str) -> Choice:
    """The one of several choices that has this name, or the choice itself.

    Raises:
        InvalidValue: for an unknown name. InvalidType: for other types than text.
    """
    if not isinstance(name, str):
        *others, last = (f"{choices.__name__}.{one.name}" for one in choices)
        raise InvalidType(parameter, name, f"{', '.join(others)} or {last}")
    try:
        return choices(name)
    except ValueError:
        raise InvalidValue(parameter, name, " or ".join(choices)) from None


def _without_unit(value: Any, parameter: str) -> Any:
    """`value`, where it declares a quantity with a unit: a declaration of its number."""
    if isinstance(value, Public) and isinstance(value.value, Quantity):
        return Public(value.number_for(parameter))
    if isinstance(value, Released) and isinstance(value.value, Quantity):
        return value.map(lambda quantity: quantity.number_for(parameter), within=value.within)
    return value


def require_public(**values: Declared[Any]) -> None:
    """Check that parameters are declared public.

    Raises:
        InvalidValue: for a released one, with its name.
    """
    for name, value in values.items():
        if not isinstance(value, Public):
            raise InvalidValue(name, value, "a Public value", "What it costs for every value it may take is not known")


def named(_: type, fields: list[Attribute[Any]]) -> list[Attribute[Any]]:
    """A field transformer for attrs: converters raise errors that name the field, and may be given units of its name.

    Use it as `@frozen(kw_only=True, field_transformer=named)`.
    """

    def naming(name: str, convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def converter(value: Any) -> Any:
            try:
                return convert(_without_unit(value, name))
            except InvalidValue as error:
                raise type(error)(name, error.value, error.admissible, error.remedy) from None

        return converter

    return [
        field.evolve(converter=naming(field.alias or field.name, field.converter))
        if callable(field.converter)
        else field
        for field in fields
    ]
