"""Members of enumerations for the API reference: each has an entry, with its value for a description."""

from __future__ import annotations

from ast import literal_eval
from typing import Any

from griffe import Attribute, Class, Docstring, Extension

_BASES = {"enum.Enum", "enum.IntEnum", "enum.StrEnum"}


class Enumerations(Extension):
    """Gives each member of an enumeration without a docstring its value as one."""

    def on_class_members(self, *, cls: Class, **_: Any) -> None:
        """Describe the members of an enumeration."""
        if _BASES.isdisjoint(getattr(base, "canonical_path", str(base)) for base in cls.bases):
            return
        for member in cls.members.values():
            if isinstance(member, Attribute) and member.value is not None and member.docstring is None:
                member.docstring = Docstring(f"{_in_words(str(member.value))}.", parent=member)


def _in_words(source: str) -> str:
    """The value in words where it is a text, as it is written otherwise."""
    try:
        value = literal_eval(source)
    except ValueError:
        value = None
    return value[:1].upper() + value[1:] if isinstance(value, str) and " " in value else f"`{source}`"
