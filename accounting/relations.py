"""For whom a guarantee speaks (unit of privacy) and against what change of the data (neighbouring relation)."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar, TypeAlias, final

from attrs import field, frozen

from .errors import InvalidType, InvalidValue
from .exact import python_int


class Direction(Enum):
    """Which of two neighbouring data sets the first law of a divergence belongs to.

    REMOVE: the record is in the first data set only, divergences are of P (with it) from Q (without it).
    ADD: the record is in the second data set only, divergences are of Q from P.
    """

    REMOVE = "remove"
    ADD = "add"

    @property
    def other(self) -> Direction:
        """The direction in which the two data sets are exchanged."""
        return Direction.ADD if self is Direction.REMOVE else Direction.REMOVE


@frozen
class Relation:
    """A neighbouring relation: base class of the relations."""

    name: ClassVar[str] = ""


@final
@frozen
class AddRemove(Relation):
    """One unit is present in one data set and absent from the other (IS Definition 2)."""

    name: ClassVar[str] = "add-remove"


@final
@frozen
class Replace(Relation):
    """One unit has another value in the other data set; the number of units is the same."""

    name: ClassVar[str] = "replace"


@final
@frozen
class ZeroOut(Relation):
    """One unit has a value in one data set and counts as nothing in the other, where its place stays taken."""

    name: ClassVar[str] = "zero-out"


@frozen
class Unit:
    """A unit of privacy: base class of the units."""

    name: ClassVar[str] = ""


@final
@frozen
class Record(Unit):
    """The unit of privacy is one record (row) of the data."""

    name: ClassVar[str] = "record"


@final
@frozen
class Element(Unit):
    """One occurrence of a key in keyed data: one unit of frequency."""

    name: ClassVar[str] = "element"


def _positive(_: User, __: object, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidType("contributions", value, "a whole number")
    if value < 1:
        raise InvalidValue("contributions", value, "at least 1")


@final
@frozen
class User(Unit):
    """One user, who contributes at most `contributions` records or elements."""

    name: ClassVar[str] = "user"
    contributions: int = field(converter=python_int, validator=_positive)


def contributions_of(unit: Unit) -> int | None:
    """How many records or elements a user contributes at most; None of other units."""
    match unit:
        case User(contributions):
            return contributions
    return None


ADD_REMOVE = AddRemove()
REPLACE = Replace()
ZERO_OUT = ZeroOut()
RECORD = Record()
ELEMENT = Element()


Change: TypeAlias = AddRemove | Replace | ZeroOut
"""A change of the data that a run may protect against."""

RELATIONS: dict[str, Change] = {relation.name: relation for relation in (ADD_REMOVE, REPLACE, ZERO_OUT)}
"""The relations by name."""

Protection: TypeAlias = tuple[Relation, Unit]
"""Against what change of the data, and for whom, something is stated."""


def require_same(parameter: str, found: Protection, wanted: Protection, whose: str, remedy: str = "") -> None:
    """Refuse a protection that is not the one that `whose` says in words; the error is about a part of `parameter`.

    Raises:
        InvalidValue: about parameter.relation or parameter.unit.
    """
    (relation, unit), (other, theirs) = found, wanted
    if relation != other:
        raise InvalidValue(f"{parameter}.relation", relation.name, f"{other.name}, as {whose}", remedy)
    if unit != theirs:
        raise InvalidValue(f"{parameter}.unit", unit, f"{theirs!r}, as {whose}", remedy)
