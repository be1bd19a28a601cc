"""Filters as text: canonical JSON from which a filter is restored that admits exactly what the first one would have."""

from __future__ import annotations

from typing import Any

from ..derivation import Derivation
from ..errors import InvalidValue
from ..norms import Norm
from ..provenance import Public
from ..sampling.domains import NormBall
from ..stored import (
    Json,
    bound_to_json,
    derivation_from_json,
    derivation_to_json,
    entries,
    protection_from_json,
    protection_to_json,
    read_bound,
    read_ratio,
    read_whole,
    written,
)
from .totals import Sums, Total

FORMAT = "certdp-filter/1"


def rule_to_json(rule: Any, options: Json) -> Json:
    """What a filter was made with: its budget, its protection, its domain, and the options of its kind."""
    return {
        "budget": bound_to_json(rule.budget),
        **protection_to_json(rule.relation, rule.unit),
        "domain": _domain_to_json(rule.domain),
        "options": options,
    }


def rule_from_json(value: Any) -> tuple[Any, dict[str, Any], Json]:
    """The budget, the arguments that every filter takes, and the options of its kind."""
    budget, relation, unit, domain, options = entries("rule", value, "budget", "relation", "unit", "domain", "options")
    stated_relation, stated_unit = protection_from_json(relation, unit)
    common = {"relation": stated_relation, "unit": stated_unit, "domain": _domain_from_json(domain)}
    return read_bound(budget), common, options


def sums_to_json(sums: Sums) -> Json:
    """Where an account stands, sums as exact fractions."""
    return {
        "number": sums.number,
        "totals": [[written("total", one.lower), written("total", one.upper)] for one in sums.totals],
    }


def sums_from_json(value: Any, size: int) -> Sums:
    """The sums that `sums_to_json` gave, of so many sums."""
    number, totals = entries("sums", value, "number", "totals")
    if not isinstance(totals, list) or len(totals) != size:
        raise InvalidValue("totals", totals, f"a list of {size}")
    return Sums(read_whole("number", number), tuple(map(_total, totals)))


def premises_to_json(premises: Any) -> list[Json]:
    """The derivations of what was paid."""
    return [derivation_to_json(one) for one in premises]


def premises_from_json(value: Any) -> list[Derivation]:
    """The derivations that `premises_to_json` gave."""
    return [derivation_from_json(one) for one in value]


def _total(value: Any) -> Total:
    match value:
        case [lower, upper]:
            found = Total(read_ratio("total", lower), read_ratio("total", upper))
            if 0 <= found.lower <= found.upper:
                return found
    raise InvalidValue("total", value, "two ratios from 0 on, the smaller one first")


def _domain_to_json(domain: NormBall | None) -> Json | None:
    if domain is None:
        return None
    if domain.payments:
        raise InvalidValue(
            "domain",
            f"a radius that was released: {domain}",
            "a radius declared before the data",
            "What was paid for it is part of this process alone: declare Public(…) where an account is to be stored",
        )
    radius = written("radius", domain.radius.value)
    return {"norm": domain.norm.value, "radius": radius, "dimension": domain.dimension}


def _domain_from_json(value: Any) -> NormBall | None:
    if value is None:
        return None
    norm, radius, dimension = entries("domain", value, "norm", "radius", "dimension")
    return NormBall(norm=Norm(norm), radius=Public(read_ratio("radius", radius)), dimension=dimension)
