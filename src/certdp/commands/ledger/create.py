"""`certdp ledger create`: a new ledger with a budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from attrs import frozen

from ...accounting.errors import InvalidValue
from ...accounting.filters import (
    ApproximateFilter,
    Filter,
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    ZeroConcentratedFilter,
)
from ...accounting.norms import Norm
from ...accounting.notions import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated
from ...accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE, Unit, User
from ...ledger import Ledger
from ..answer import Answer
from ..answering import application
from ..domain import stated_domain
from ..options import whole_or_none
from ..page import Page
from .options import Anchor, By, StatedBound, Where, bound_as_json

_FILTERS: dict[type[Any], Any] = {
    Approximate: ApproximateFilter,
    GaussianDP: GaussianFilter,
    Pure: PureFilter,
    Renyi: RenyiFilter,
    ZeroConcentrated: ZeroConcentratedFilter,
}
_RELATIONS = {relation.name: relation for relation in (ADD_REMOVE, REPLACE)}
_UNITS: dict[str, Unit] = {unit.name: unit for unit in (RECORD, ELEMENT)}


@frozen(kw_only=True)
class Created(Answer):
    """A ledger that was made."""

    ledger: Ledger

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return {
            "ledger": self.ledger.place,
            "data": self.ledger.data,
            "budget": bound_as_json(self.ledger.rule.budget),
            "unit": self.ledger.rule.unit.name,
            "relation": self.ledger.rule.relation.name,
            "head": str(self.ledger.head),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        rule = self.ledger.rule
        page.bold(page.numbers.words(str(rule.budget)), f" for {self.ledger.data}", 0)
        page.print(f"unit {rule.unit.name}, relation {rule.relation.name}", 2)
        page.copy(f"ledger: {self.ledger.place}")


def create(
    where: Where,
    *,
    budget: StatedBound,
    data_set: Annotated[str, typer.Option(metavar="NAME", help="The data set that the budget protects.")],
    set_aside: Annotated[
        str | None,
        typer.Option(metavar="D", help="Part of δ for costs whose squares add up: many small ones then cost less."),
    ] = None,
    unit: Annotated[str, typer.Option(metavar="record|element|user", help="Whom it protects.")] = RECORD.name,
    contributions: Annotated[
        str | None, typer.Option(metavar="N", help="How many records or elements a user contributes at most.")
    ] = None,
    relation: Annotated[
        str, typer.Option(metavar="add-remove|replace", help="Against what change of the data.")
    ] = ADD_REMOVE.name,
    radius: Annotated[
        str | None, typer.Option(metavar="R", help="The public domain of all costs, where they depend on one: a ball.")
    ] = None,
    norm: Annotated[str | None, typer.Option(metavar="P", help="The norm of that domain.")] = None,
    dimension: Annotated[str | None, typer.Option(metavar="D", help="Its dimension, where a run states one.")] = None,
    anchor: Anchor = None,
    by: By = None,
) -> Created:
    """Make a ledger: a file that holds a budget, from which any number of processes pay."""
    bound = budget.bound()
    options: dict[str, Any] = {}
    if set_aside is not None:
        if not isinstance(bound, Approximate):
            raise InvalidValue("set-aside", set_aside, "nothing, without ε and δ", "Leave it out")
        options["set_aside"] = set_aside
    if relation not in _RELATIONS:
        raise InvalidValue("relation", relation, " or ".join(_RELATIONS))
    constants = {"radius": radius, "norm": norm, "dimension": dimension}
    rule: Filter[Any, Any, Any] = _FILTERS[type(bound)](
        bound,
        relation=_RELATIONS[relation],
        unit=_unit(unit, contributions),
        domain=stated_domain({name: text for name, text in constants.items() if text is not None}, _no_norm),
        **options,
    )
    return Created(ledger=Ledger.create(where, rule, data=data_set, anchor=anchor, by=by))


def _no_norm() -> Norm:
    raise InvalidValue("norm", None, "the norm of the domain", "State it: --norm 2")


def _unit(name: str, contributions: str | None) -> Unit:
    most = whole_or_none("contributions", contributions)
    if name == User.name:
        if most is None:
            raise InvalidValue("contributions", None, "how much a user contributes at most", "State --contributions N")
        return User(contributions=most)
    if most is not None:
        raise InvalidValue("contributions", most, "nothing, unless the unit is user", "Leave it out")
    if name not in _UNITS:
        raise InvalidValue("unit", name, " or ".join([*_UNITS, User.name]))
    return _UNITS[name]


command = application(create)
