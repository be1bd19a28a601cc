"""Guarantees: a bound in a notion, for a unit of privacy, against a neighbouring relation, with its derivation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar, final

from attrs import field, frozen

from .derivation import CHOSEN, EX_POST, NUMBER_OF_RECORDS, Assumption, Derivation, Theorem
from .display import Displayed
from .enclosures import Truth
from .errors import InvalidType, InvalidValue
from .notions import Bound
from .private import Private
from .relations import ADD_REMOVE, Relation, Unit, require_same

B = TypeVar("B", bound=Bound)
R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)

_GROUP = Theorem("law", "group privacy")


def require(parameter: str, value: object, kind: type, remedy: str) -> None:
    """Raise InvalidType unless `value` is a `kind`."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        shown = type(value).__name__ if kind is Private else value  # what should be private is not shown
        raise InvalidType(parameter, shown, f"{article} {kind.__name__}", remedy)


def _derived(_: object, __: object, value: Any) -> None:
    require("derivation", value, Derivation, "Guarantees come from theorems: conclude one from its premises")


def _relation(_: object, __: object, value: Any) -> None:
    require("relation", value, Relation, "Use ADD_REMOVE, REPLACE or ZERO_OUT")


def _unit(_: object, __: object, value: Any) -> None:
    require("unit", value, Unit, "Use RECORD, ELEMENT or User(contributions=…)")


@final
@frozen(kw_only=True, repr=False)
class Guarantee(Displayed, Generic[B, R, U]):
    """A proven differential-privacy statement about a mechanism on its declared public domain.

    Attributes:
        bound: the loss, in one notion.
        relation: the change of the data that it protects against.
        unit: whom it protects.
        derivation: the theorem it follows from, with premises and assumptions.

    Raises:
        InvalidType: where a part has another type; there is no guarantee without a derivation.
    """

    bound: B
    relation: R = field(validator=_relation)
    unit: U = field(validator=_unit)
    derivation: Derivation = field(validator=_derived)

    def __attrs_post_init__(self) -> None:
        if not hasattr(type(self.bound), "notion"):
            raise InvalidType("bound", self.bound, "a bound of some notion, such as Pure(epsilon=…)")

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Every assumption that the guarantee rests on."""
        return self.derivation.assumptions

    def implies(self, bound: B) -> Truth:
        """Whether this guarantee entails `bound` (three-valued)."""
        _same_notion(self.bound, bound)
        return self.bound.notion.implies(self.bound, bound)

    def cells(self) -> Iterator[tuple[str, str]]:
        """Bound, unit, relation, theorem, and each assumption."""
        yield f"{self.bound.notion} DP", str(self.bound)
        yield from conditions(self.unit, self.relation, self.derivation)

    def __str__(self) -> str:
        return (
            f"{self.bound} ({self.bound.notion} DP, unit: {self.unit.name}, "
            f"relation: {self.relation.name}; {self.derivation})"
        )


def conditions(unit: Unit, relation: Relation, derivation: Derivation) -> Iterator[tuple[str, str]]:
    """Rows of a table: for whom a statement holds, by which theorem, and under which assumptions."""
    yield "unit", unit.name
    yield "relation", relation.name
    yield "theorem", str(derivation.theorem)
    for assumption in derivation.assumptions:
        yield "assuming", str(assumption)


def refuse_ex_post(parameter: str, cost: Guarantee[Any, Any, Any]) -> None:
    """Refuse what a run cost at released values as they came out, or beside an account that chose some of them.

    Raises:
        InvalidValue: for such a cost, and what was concluded from one.
    """
    refuse_counted_elsewhere(parameter, cost)
    if cost.derivation.rests_on(EX_POST):
        raise InvalidValue(
            parameter,
            f"what a run cost at released values: {cost.bound}",
            "a guarantee, which holds for every value that could have been released",
            "Declare the values' range, Released(value, cost, within=(low, high)); or pay through a filter",
        )


def refuse_counted_elsewhere(parameter: str, cost: Guarantee[Any, Any, Any], account: object = None) -> None:
    """Refuse what a run cost beside another account, which has counted what some of its parameters tell.

    Args:
        parameter: where the cost was given.
        cost: what is to be paid, or composed.
        account: what is to pay it; None where nothing of it was counted before.

    Raises:
        InvalidValue: for such a cost, what was concluded from one, and one that was copied or stored.
    """
    if cost.derivation.rests_on(CHOSEN) and (account is None or not cost.derivation.holds_beside(account)):
        raise InvalidValue(
            parameter,
            f"what was counted elsewhere: {cost.bound}",
            "a guarantee, which says all that a release costs",
            "Its account has the guarantee of everything that it paid for, what it chose included: run.guarantee",
        )


def _same_notion(first: Bound, second: Bound) -> None:
    if type(first) is not type(second):
        raise InvalidType("bound", second, f"a bound of {first.notion} DP", "Convert one notion into the other first")


def compose(first: Guarantee[B, R, U], *others: Guarantee[B, R, U]) -> Guarantee[B, R, U]:
    """The guarantee of releasing all results, each mechanism possibly chosen after seeing earlier results.

    Raises:
        InvalidType: for guarantees of different notions.
        InvalidValue: for guarantees with different relations or units, and for costs that are none.
    """
    everything = (first, *others)
    for position, other in enumerate(everything):
        require(f"guarantees[{position}]", other, Guarantee, "Compose guarantees only")
        refuse_ex_post(f"guarantees[{position}]", other)
        _same_notion(first.bound, other.bound)
        mine, theirs = (first.relation, first.unit), (other.relation, other.unit)
        require_same(f"guarantees[{position}]", theirs, mine, "in the first", "Convert to a common one first")
    notion = first.bound.notion
    return Guarantee(
        bound=notion.compose([guarantee.bound for guarantee in everything]),
        relation=first.relation,
        unit=first.unit,
        derivation=notion.composition_theorem.conclude(guarantee.derivation for guarantee in everything),
    )


def for_groups(guarantee: Guarantee[B, R, U], size: int) -> Guarantee[B, R, U]:
    """The guarantee for groups of `size` units: k neighbouring steps.

    Raises:
        InvalidValue: for a size that is no whole number ≥ 0, and for several records that are added or removed where
            the number of records is declared: it is then proven of one step from that number alone.
    """
    bound = guarantee.bound.notion.group(guarantee.bound, size)
    # where it is somebody's, it is named after whose it is: see `Derivation.about`
    sized = any(assumed.name.rpartition(": ")[2] == NUMBER_OF_RECORDS for assumed in guarantee.assumptions)
    if sized and guarantee.relation == ADD_REMOVE and size not in (0, 1):
        raise InvalidValue(
            "size",
            size,
            "1, for records that are added or removed where their number is declared",
            "Declare the largest number of records, at_most=true, or protect what replaces a record",
        )
    return Guarantee(
        bound=bound,
        relation=guarantee.relation,
        unit=guarantee.unit,
        derivation=_GROUP.conclude([guarantee.derivation], [Assumption("group size", str(size))]),
    )
