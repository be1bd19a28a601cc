"""The options of a plugin: its declared parameters by name."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import attrs
from attrs import frozen

from ...accounting.errors import CertdpError, InvalidValue
from ...accounting.norms import Norm
from ...accounting.provenance import Payment, Public, Released


@frozen
class Option:
    """One parameter of a plugin.

    Attributes:
        name: as written on the command line and in calls.
        required: whether it has no default.
        help: one line.
    """

    name: str
    required: bool
    help: str


def options(plugin: type) -> list[Option]:
    """Return the parameters of a plugin class, with their defaults and help texts."""
    return [
        Option(field.alias or field.name, field.default is attrs.NOTHING, str(field.metadata.get("help", "")))
        for field in attrs.fields(plugin)
        if field.init
    ]


def build(plugin: type, role: str, values: Mapping[str, str]) -> Any:
    """The plugin with options given as text, each declared public.

    Raises:
        InvalidValue: for an unknown, missing or inadmissible option, by its name.
    """
    known = options(plugin)
    names = ", ".join(f"{option.name} ({option.help})" if option.help else option.name for option in known) or "none"
    for key in values:
        if key not in {option.name for option in known}:
            raise InvalidValue(f"{role}.{key}", values[key], f"the options of this {role}: {names}")
    missing = [option for option in known if option.required and option.name not in values]
    if missing:
        option = missing[0]
        raise InvalidValue(
            option.name, "nothing", option.help or "a value", f"The {role} needs it: --option {option.name}=…"
        )
    try:
        return plugin(**{key: Public(text) for key, text in values.items()})
    except CertdpError:
        raise
    except Exception as error:  # third-party converters may raise anything
        given = ", ".join(f"{key}={text}" for key, text in values.items()) or "no options"
        raise InvalidValue(
            role, given, f"options that this {role} can be built from", f"It raises {type(error).__name__}: {error}"
        ) from error


def _text(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case Norm():
            return value.value
        case Fraction() | str() | int():
            return str(value)
    return repr(value)


def stated(plugin: object) -> dict[str, str]:
    """The parameters of a plugin instance as exact text: its public constants; those not given are left out."""
    values = {
        field.alias or field.name: declared_parameter(plugin, field.name).value
        for field in attrs.fields(type(plugin))  # type: ignore[arg-type]
    }
    return {name: _text(value) for name, value in values.items() if value is not None}


def payments(*plugins: object) -> tuple[Payment, ...]:
    """What the private releases cost that the plugins' parameters come from, each release once."""
    values = [declared_parameter(plugin, field.name) for plugin in plugins for field in attrs.fields(type(plugin))]  # type: ignore[arg-type]
    return tuple(dict.fromkeys(value.payment for value in values if isinstance(value, Released)))


class UndeclaredParameter(CertdpError, TypeError):
    """The error for a plugin's parameter without provenance."""


def declared_parameter(plugin: object, name: str) -> Public[Any] | Released[Any]:
    """The parameter of a plugin in one of its fields.

    Raises:
        UndeclaredParameter: for a field without provenance.
    """
    value = getattr(plugin, name)
    if not isinstance(value, Public | Released):
        raise UndeclaredParameter(
            f"{type(plugin).__name__}.{name}: got {value!r}; admissible: Public or Released. Give the field a "
            "converter of plugins.contract, such as positive"
        )
    return value
