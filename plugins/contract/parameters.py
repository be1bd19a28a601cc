"""Converters for the parameters of plugins: attrs fields that take declared values alone.

A parameter is a `Public` or `Released` value; what it holds is read exactly, from a number or from text, so the
command line and the library share one path.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from ...accounting.errors import InvalidType, InvalidValue
from ...accounting.exact import Number, exact
from ...accounting.norms import Norm
from ...accounting.provenance import Declared, declared

Real: TypeAlias = Declared[Fraction]
"""A declared exact number."""

_TRUTH = {"true": True, "false": False}


def positive(value: Declared[Number]) -> Real:
    """A declared number above 0."""

    def read(number: Number) -> Fraction:
        result = exact(number, parameter="parameter")
        if result <= 0:
            raise InvalidValue("parameter", number, "a number > 0")
        return result

    return declared(value, read, parameter="parameter")


def non_negative(value: Declared[Number]) -> Real:
    """A declared number of at least 0."""

    def read(number: Number) -> Fraction:
        result = exact(number, parameter="parameter")
        if result < 0:
            raise InvalidValue("parameter", number, "a number ≥ 0")
        return result

    return declared(value, read, parameter="parameter")


def probability(value: Declared[Number]) -> Real:
    """A declared number in [0, 1]."""

    def read(number: Number) -> Fraction:
        result = exact(number, parameter="parameter")
        if not 0 <= result <= 1:
            raise InvalidValue("parameter", number, "a probability: 0 ≤ q ≤ 1")
        return result

    return declared(value, read, parameter="parameter")


def norm_order(value: Declared[Norm | int | str]) -> Declared[Norm]:
    """A declared norm: 1, 2 or inf."""

    def read(order: Norm | int | str) -> Norm:
        if isinstance(order, Norm):
            return order
        try:
            return Norm(str(order))
        except ValueError:
            raise InvalidValue("parameter", order, "a norm: 1, 2 or inf") from None

    return declared(value, read, parameter="parameter")


def flag(value: Declared[bool | str]) -> Declared[bool]:
    """A declared truth value: True, False, "true" or "false"."""

    def read(choice: bool | str) -> bool:
        if isinstance(choice, bool):
            return choice
        if isinstance(choice, str) and choice.lower() in _TRUTH:
            return _TRUTH[choice.lower()]
        raise InvalidType("parameter", choice, "true or false")

    return declared(value, read, parameter="parameter")
