"""Bounds, protections, derivations and guarantees as JSON, each with the way back.

Numbers are exact: an enclosure is the number it is known to hold, or its two ends, with its precision. What is restored
equals what was stored, so it composes, is refused and is shown alike.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attrs import fields

from ..derivation import Assumption, Derivation, Theorem
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..guarantees import Guarantee, require
from ..notions import Approximate, Bound, GaussianDP, Pure, Renyi, ZeroConcentrated
from ..relations import ELEMENT, RECORD, RELATIONS, Protection, Unit, User
from .reading import Json, canonical, entries, parsed, read_ratio, read_whole, require_written, written

FORMAT = "certdp-guarantee/1"

_BOUNDS: dict[str, Any] = {kind.notion.name: kind for kind in (Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated)}
_UNITS = {unit.name: unit for unit in (RECORD, ELEMENT)}


def guarantee_to_json(guarantee: Guarantee[Any, Any, Any]) -> str:
    """A guarantee as canonical JSON, with its whole derivation; equal guarantees have the same text.

    Raises:
        InvalidType: for anything but a guarantee.
        InvalidValue: for a number of more than 3,900 digits.
    """
    require("guarantee", guarantee, Guarantee, "Store a guarantee: a run's or a query's, or a filter's own")
    return canonical(
        {
            "format": FORMAT,
            "bound": bound_to_json(guarantee.bound),
            **protection_to_json(guarantee.relation, guarantee.unit),
            "derivation": derivation_to_json(guarantee.derivation),
        }
    )


def guarantee_from_json(text: str) -> Guarantee[Any, Any, Any]:
    """The guarantee that `guarantee_to_json` wrote.

    Raises:
        InvalidType, InvalidValue: for any other text.
    """
    stored = parsed(text, "guarantee")
    format_, bound, relation, unit, derivation = entries(
        "guarantee", stored, "format", "bound", "relation", "unit", "derivation"
    )
    if format_ != FORMAT:
        raise InvalidValue("format", format_, FORMAT, "Read it with the version of certdp that wrote it")
    stated_relation, stated_unit = protection_from_json(relation, unit)
    found: Guarantee[Any, Any, Any] = Guarantee(
        bound=read_bound(bound),
        relation=stated_relation,
        unit=stated_unit,
        derivation=derivation_from_json(derivation),
    )
    require_written("guarantee", text, guarantee_to_json(found))
    return found


def bound_to_json(bound: Bound) -> Json:
    """A bound by its notion and its numbers."""
    kind = _BOUNDS[bound.notion.name]
    numbers = {one.name: _number_to_json(getattr(bound, one.name)) for one in fields(kind)}
    return {"notion": bound.notion.name, **numbers}


def read_bound(value: Any) -> Any:
    """The bound that `bound_to_json` gave."""
    notion = value.get("notion") if isinstance(value, dict) else None
    kind = _BOUNDS.get(notion) if isinstance(notion, str) else None
    if kind is None:
        raise InvalidValue("notion", notion, " or ".join(_BOUNDS))
    names = [one.name for one in fields(kind)]
    _, *numbers = entries("bound", value, "notion", *names)
    return kind(**{name: _number_from_json(name, one) for name, one in zip(names, numbers, strict=True)})


def protection_to_json(relation: Any, unit: Unit) -> Json:
    """A relation by name; a unit by name, and how much a user contributes."""
    named: Json = {"name": unit.name}
    return {
        "relation": relation.name,
        "unit": {**named, "contributions": unit.contributions} if isinstance(unit, User) else named,
    }


def protection_from_json(relation: Any, unit: Any) -> Protection:
    """The relation and the unit that `protection_to_json` gave."""
    if relation not in RELATIONS:
        raise InvalidValue("relation", relation, " or ".join(RELATIONS))
    if isinstance(unit, dict) and unit.get("name") == User.name:
        _, contributions = entries("unit", unit, "name", "contributions")
        return RELATIONS[relation], User(contributions=read_whole("contributions", contributions))
    (name,) = entries("unit", unit, "name")
    if name not in _UNITS:
        raise InvalidValue("unit", name, " or ".join([*_UNITS, User.name]))
    return RELATIONS[relation], _UNITS[name]


def derivation_to_json(derivation: Derivation) -> Json:
    """A derivation: theorem, premises, assumptions."""
    return {
        "theorem": [derivation.theorem.source, derivation.theorem.statement],
        "premises": [derivation_to_json(premise) for premise in derivation.premises],
        "assumptions": [[one.name, one.value] for one in derivation.own_assumptions],
    }


def derivation_from_json(value: Any) -> Derivation:
    """The derivation that `derivation_to_json` gave."""
    theorem, premises, assumptions = entries("derivation", value, "theorem", "premises", "assumptions")
    return Theorem(*_texts("theorem", theorem)).conclude(
        [derivation_from_json(one) for one in _several("premises", premises)],
        [Assumption(*_texts("assumptions", one)) for one in _several("assumptions", assumptions)],
    )


def _several(parameter: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidValue(parameter, value, "a list")
    return value


def _texts(parameter: str, value: Any) -> tuple[str, str]:
    match value:
        case [str(first), str(second)]:
            return first, second
    raise InvalidValue(parameter, value, "two texts")


def _number_to_json(value: Enclosure | Fraction) -> Any:
    """An enclosure as what it holds and its precision, a fraction as its text."""
    if isinstance(value, Fraction):
        return written("number", value)
    known = value.number
    if known is None:
        held: Any = {"lower": written("number", value.lower), "upper": written("number", value.upper)}
    else:
        held = written("number", known)
    return {"precision": value.precision, "number": held}


def _number_from_json(name: str, value: Any) -> Enclosure | Fraction:
    if isinstance(value, str):
        return read_ratio(name, value)
    precision, held = entries(name, value, "precision", "number")
    bits = read_whole("precision", precision)
    if isinstance(held, str):
        return Enclosure.of(read_ratio(name, held), precision=bits)
    lower, upper = entries(name, held, "lower", "upper")
    ends = [read_ratio(name, end) for end in (lower, upper)]
    return Enclosure.between(*ends, precision=bits)
