"""Plugins whose parameters were released: what they declare for every value, and for the values that came out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import attrs

from ...accounting.provenance import Declared, Public, Released, as_it_came_out
from ...accounting.sampling.agreement import require_agreement, some_values
from ...accounting.sampling.every_value import ExPost, Substituted, for_every_value, is_open, is_used
from .options import declared_parameter

P = TypeVar("P")
_WORST = "worst end of a range"
T = TypeVar("T")


class Worst(Enum):
    """Which end of a range costs most, for every record, whatever the other parameters are; for `worst_at`."""

    LOWEST = "lowest"
    HIGHEST = "highest"


def worst_at(end: Worst) -> dict[str, Worst]:
    """Metadata for a field: what is lost at that end of a range dominates what is lost at every other value of it.

    For parameters that no expression of the loss contains, such as the scale of a discrete law; the author proves it.
    """
    return {_WORST: end}


def released_parameters(role: str, plugin: object) -> dict[str, Released[Any]]:
    """Return the released parameters of a plugin, by name."""
    return {name: value for name, value in _parameters(role, plugin) if isinstance(value, Released)}


def open_parameters(role: str, plugin: object) -> dict[str, Released[Any]]:
    """The released parameters for every value of which a guarantee has to hold, by name."""
    return {name: value for name, value in released_parameters(role, plugin).items() if is_open(value)}


def declared_for_every_value(role: str, plugin: P, declare: Callable[[P], T]) -> T:
    """What a plugin declares, whatever its released parameters came out as.

    Args:
        role: mechanism or sampler.
        plugin: whose loss, rate or inclusion is wanted.
        declare: reads it.

    Returns:
        What `declare` reads, with places in public ranges as variables.

    Raises:
        ExPost: where it depends on a released value without a range, or in a way that no expression states.
    """
    opened = open_parameters(role, plugin)
    if not opened:
        return declare(plugin)
    ends = {name: Public(end) for name, end in stated_ends(role, plugin).items()}
    stand_ins = {name: for_every_value(value, name) for name, value in opened.items()} | ends

    def declared_with(values: Mapping[str, Declared[Any]]) -> T:
        return declare(_changed(role, plugin, lambda value, name: values.get(name, value)))

    read = Substituted(opened)
    found = read(partial(declared_with, stand_ins))
    for name, stand_in in stand_ins.items():
        if is_used(stand_in):
            raise ExPost.about(name)
    free = {name: value for name, value in opened.items() if name not in ends}
    for values in some_values(free):
        others = {name: Public(value) for name, value in values.items()}
        require_agreement(found, read(partial(declared_with, others | ends)), values, free)
    return found


def stated_ends(role: str, plugin: object) -> dict[str, Fraction]:
    """The ends that cost most of the ranges of open parameters, where the plugin states which end that is."""
    found: dict[str, Fraction] = {}
    for field in attrs.fields(type(plugin)):  # type: ignore[arg-type]
        value, worst = declared_parameter(plugin, field.name), field.metadata.get(_WORST)
        if worst is not None and isinstance(value, Released) and is_open(value) and value.within is not None:
            end = value.within.low if worst is Worst.LOWEST else value.within.high
            found[f"{role}.{field.alias or field.name}"] = end
    return found


def with_values(role: str, plugin: P, values: Mapping[str, Any]) -> P:
    """Return the plugin as if some of its released parameters had come out as other values of their ranges."""

    def other(value: Declared[Any], name: str) -> Declared[Any]:
        if name not in values or not isinstance(value, Released):
            return value
        return Released(values[name], value.payment, within=value.within)

    return _changed(role, plugin, other)


def as_they_came_out(role: str, plugin: P) -> P:
    """Return the plugin with its released parameters as they came out; the plugin itself where it has none."""

    def taken(value: Declared[Any], _: str) -> Declared[Any]:
        return as_it_came_out(value) if isinstance(value, Released) else value

    return _changed(role, plugin, taken) if open_parameters(role, plugin) else plugin


def _parameters(role: str, plugin: object) -> Iterator[tuple[str, Declared[Any]]]:
    for field in attrs.fields(type(plugin)):  # type: ignore[arg-type]
        yield f"{role}.{field.alias or field.name}", declared_parameter(plugin, field.name)


def _changed(role: str, plugin: P, change: Callable[[Declared[Any], str], Declared[Any]]) -> P:
    """A plugin with other parameters; neither converters nor checks of its own run, which know numbers alone."""
    result = object.__new__(type(plugin))
    for field, (name, value) in zip(attrs.fields(type(plugin)), _parameters(role, plugin), strict=True):  # type: ignore[arg-type]
        object.__setattr__(result, field.name, change(value, name))
    return result
