"""Constructors of attrs classes for the API reference: griffe reads syntax trees, in which they do not appear."""

from __future__ import annotations

from typing import Any

from griffe import Attribute, Class, Expr, ExprCall, Extension, Function, Parameter, ParameterKind, Parameters

_DECORATORS = {"attrs.frozen", "attrs.define", "attrs.mutable"}
_FIELDS = {"attrs.field", "attr.field"}


class AttrsConstructors(Extension):
    """Gives each attrs class the `__init__` that attrs writes."""

    def on_class_members(self, *, cls: Class, **_: Any) -> None:
        """Add the constructor of a decorated class that has none of its own."""
        decorators = [item.value for item in cls.decorators if isinstance(item.value, Expr)]
        marked = [value for value in decorators if value.canonical_path in _DECORATORS]
        if not marked or "__init__" in cls.members:
            return
        keyword_only = _argument(marked[0], "kw_only") == "True"
        parameters = [Parameter("self", kind=ParameterKind.positional_or_keyword)]
        for member in cls.members.values():
            if isinstance(member, Attribute) and (parameter := _parameter(member, keyword_only)) is not None:
                parameters.append(parameter)
        cls.set_member("__init__", Function("__init__", parameters=Parameters(*parameters), returns="None"))


def _parameter(member: Attribute, keyword_only: bool) -> Parameter | None:
    """What a field adds to the constructor; nothing for class variables, properties and computed fields."""
    if member.annotation is None or "property" in member.labels or "ClassVar" in str(member.annotation):
        return None
    if "class-attribute" in member.labels and "instance-attribute" not in member.labels:
        return None
    default = member.value
    if isinstance(default, ExprCall) and default.canonical_path in _FIELDS:
        if _argument(default, "init") == "False":
            return None
        factory, default = _argument(default, "factory"), _argument(default, "default")
        default = f"{factory}()" if factory else default
    kind = ParameterKind.keyword_only if keyword_only else ParameterKind.positional_or_keyword
    return Parameter(member.name.lstrip("_"), annotation=member.annotation, kind=kind, default=default)


def _argument(call: Expr, name: str) -> str | None:
    """The text of a keyword argument."""
    for argument in getattr(call, "arguments", ()):
        if getattr(argument, "name", None) == name:
            return str(argument.value)
    return None
