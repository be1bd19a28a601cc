"""ψ-PDP profiles: for every record, a proven bound on what the mechanism loses about it (IS Definition 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Generic, TypeVar, final

from attrs import evolve, field, frozen

from ..derivation import Assumption, Derivation, Theorem
from ..display import Displayed
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..expressions import Apply, Constant, Expression, Operation, Symbol, Variable, enclose, substitute, variables
from ..expressions.suprema import Supremum, supremum
from ..guarantees import Guarantee, compose, conditions, require
from ..notions import PURE, Pure
from ..provenance import Payment, named_costs
from ..relations import Relation, Unit, require_same
from .domains import NormBall

R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)

_SUPREMUM = Theorem("law", "supremum over a public domain")
_COMPOSITION = Theorem("law", "composition per record")
_EVERY_VALUE = Theorem("law", "supremum over every value of released parameters")
_TAKEN_APART = {Symbol.ROUNDING, Symbol.PLACE}
"""What a profile holds for every value of: each part of a composition has its own."""


def _derived(_: object, __: object, value: Any) -> None:
    require("derivation", value, Derivation, "Profiles come from theorems: conclude one from its premises")


@final
@frozen(kw_only=True, repr=False)
class PureProfile(Displayed, Generic[R, U]):
    """A pure ψ-PDP profile: a public function of a record, in both directions.

    Each direction is an expression in norms of the record, rounding variables and places of released parameters; it
    holds for every value of the latter two.

    Attributes:
        remove: ψ. Bounds the loss where x is in the first data set and not in the second, and in the other
            direction too: 1 + q(e^ε − 1) ≥ 1/(1 − q(1 − e^−ε)) for ε ≥ 0, so ψ is the maximum of both.
        add: the smaller bound where x is in the second data set and not in the first.
        relation: the change of the data.
        unit: whom it protects.
        derivation: the theorem it follows from.
        released_cost: pure ε spent on releasing constants that the mechanism used, contained in both directions.
        payments: the releases that it was spent on, each once.
    """

    remove: Expression
    add: Expression
    relation: R
    unit: U
    derivation: Derivation = field(validator=_derived)
    released_cost: Fraction = Fraction(0)
    payments: tuple[Payment, ...] = ()

    def __str__(self) -> str:
        return f"ψ per {self.unit.name}, relation: {self.relation.name}; {self.derivation}"

    def cells(self) -> Iterator[tuple[str, str]]:
        """The rows of a table: both directions as expressions, unit, relation, theorem, and each assumption."""
        yield "remove", str(self.remove)
        yield "add", str(self.add)
        yield from conditions(self.unit, self.relation, self.derivation)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Every assumption that the profile rests on."""
        return self.derivation.assumptions

    def at(self, norms: Mapping[Variable, Enclosure], *, precision: int = 128) -> Enclosure:
        """ψ of a record with these norms: an enclosure over every rounding, and every place of a released parameter.

        Raises:
            InvalidValue: where a norm that the profile uses is missing.
            OutsideDomain: where the profile is undefined, such as a weighted record with probability 0.
        """
        box = dict(norms)
        for variable in variables(self.remove):
            if variable.symbol in _TAKEN_APART:
                low = -1 if variable.symbol is Symbol.ROUNDING else 0
                box[variable] = Enclosure.between(low, 1, precision=precision)
        return enclose(self.remove, box, precision=precision)

    def supremum(self, domain: NormBall, *, precision: int = 128) -> tuple[Guarantee[Pure, R, U], Supremum]:
        """The ε-DP guarantee for all records of a public domain, and where the supremum is reached.

        Where the domain's radius was released, what that cost is part of the guarantee.

        Raises:
            NoFiniteSupremum: where the profile grows without bound on the domain.
            InvalidValue: where the domain lacks a dimension that the profile needs.
        """
        paid = within(self, domain)
        found = _supremum(paid.remove, domain.for_every_value, precision)
        guarantee = Guarantee(
            bound=Pure(found.enclosure.maximum(Enclosure.of(0))),
            relation=self.relation,
            unit=self.unit,
            derivation=_SUPREMUM.conclude([paid.derivation], domain.assumptions),
        )
        return guarantee, found


def _supremum(direction: Expression, domain: NormBall, precision: int) -> Supremum:
    value = _constant(direction)
    if value is not None:  # its own supremum: no search, and no slack for another program's search
        return Supremum(Enclosure.of(value, precision=precision), {}, 0)
    meaning, box = domain.box(variables(direction))
    root = substitute(direction, meaning)
    return _attained(root, domain, supremum(root, box, precision=precision))


def _constant(direction: Expression) -> Fraction | None:
    """The value of a constant, or of a constant and a cost."""
    match direction:
        case Constant(value):
            return value
        case Apply(Operation.ADD, (Constant(value), Constant(cost))):
            return value + cost
    return None


def _attained(root: Expression, domain: NormBall, found: Supremum) -> Supremum:
    """Return the supremum with a lower end that is reached within the domain itself, not only in its box."""
    if found.maximiser is None:
        return found
    point = domain.inside(found.maximiser)
    ratios = [v for v in point if v.symbol is Symbol.RATIO]
    joint = len(ratios) < 2  # two ratios of norms need not reach their ends in one record
    if not joint:
        # a record with a single non-zero coordinate has all norms equal
        point = {**point, **dict.fromkeys(ratios, Fraction(1))}
    elif point == found.maximiser:
        return found
    precision = found.enclosure.precision
    value = enclose(root, {v: Enclosure.of(x, precision=precision) for v, x in point.items()}, precision=precision)
    lower = min(value.lower, found.enclosure.upper)
    return Supremum(
        Enclosure.between(lower, found.enclosure.upper, precision=precision), point if joint else None, found.cells
    )


def compose_profiles(first: PureProfile[R, U], *others: PureProfile[R, U]) -> PureProfile[R, U]:
    """The profile of releasing all results: losses add per record, each direction apart.

    Raises:
        InvalidValue: for profiles with different relations or units.
    """
    everything = (first, *others)
    for position, other in enumerate(everything):
        require(f"profiles[{position}]", other, PureProfile, "Compose profiles only")
        require_same(
            f"profiles[{position}]", (other.relation, other.unit), (first.relation, first.unit), "in the first"
        )
    if not others:
        return first

    def renamed(index: int, direction: Expression) -> Expression:
        # every part gets its number, the first too: parts that are compositions themselves stay apart
        return substitute(
            direction,
            {v: Variable(v.symbol, f"{v.index}.{index}") for v in variables(direction) if v.symbol in _TAKEN_APART},
        )

    remove, add = renamed(0, first.remove), renamed(0, first.add)
    for index, other in enumerate(others, start=1):
        remove = remove + renamed(index, other.remove)
        add = add + renamed(index, other.add)
    return PureProfile(
        remove=remove,
        add=add,
        relation=first.relation,
        unit=first.unit,
        derivation=_COMPOSITION.conclude(profile.derivation for profile in everything),
    )


def plus_cost(profile: PureProfile[R, U], cost: Guarantee[Pure, R, U]) -> PureProfile[R, U]:
    """The profile of a mechanism whose parameters were released at this cost (adaptive composition).

    Raises:
        InvalidValue: where relation, unit or notion of the cost differ from the profile's.
    """
    require_same("cost", (cost.relation, cost.unit), (profile.relation, profile.unit), "in the profile")
    if cost.bound.notion is not PURE:
        raise InvalidValue("cost", cost.bound, "a bound of pure DP")
    spent = profile.released_cost + cost.bound.epsilon.upper
    return PureProfile(
        remove=_without_cost(profile.remove, profile.released_cost) + spent,
        add=_without_cost(profile.add, profile.released_cost) + spent,
        relation=profile.relation,
        unit=profile.unit,
        derivation=PURE.composition_theorem.conclude([profile.derivation, cost.derivation]),
        released_cost=spent,
        payments=profile.payments,
    )


def plus_payments(profile: PureProfile[R, U], payments: Iterable[Payment]) -> PureProfile[R, U]:
    """The profile of a mechanism whose parameters come from these releases: with the cost of each that is not paid yet.

    Raises:
        InvalidValue: as `plus_cost`.
    """
    due = [payment for payment in dict.fromkeys(payments) if payment not in profile.payments]
    if not due:
        return profile
    paid = plus_cost(profile, compose(*named_costs(due, first=len(profile.payments) + 1)))
    return evolve(paid, payments=(*profile.payments, *due))


def _without_cost(direction: Expression, cost: Fraction) -> Expression:
    return direction.arguments[0] if cost and isinstance(direction, Apply) else direction


def within(profile: PureProfile[R, U], domain: NormBall) -> PureProfile[R, U]:
    """The profile of a mechanism whose records are held within a domain: with the cost of a released radius."""
    return for_every_value(plus_payments(profile, domain.payments), domain.ranges_assumed)


def for_every_value(profile: PureProfile[R, U], ranges: Sequence[Assumption]) -> PureProfile[R, U]:
    """Return the profile as it holds for every value of some released parameters; `ranges` names them."""
    return evolve(profile, derivation=_EVERY_VALUE.conclude([profile.derivation], ranges)) if ranges else profile
