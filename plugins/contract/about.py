"""What a plugin says about itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, final

from attrs import field, frozen

from ...accounting.derivation import Assumption, Derivation, Evidence, Theorem
from ...accounting.errors import InvalidType, InvalidValue
from ...accounting.relations import ADD_REMOVE, RECORD, Relation, Unit

CONTRACT_VERSION = 1
"""The version of the contract that this library speaks; a plugin states the one it was written for."""

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def _name(_: object, __: object, value: Any) -> None:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise InvalidValue("name", value, "lower-case words joined by hyphens, such as laplace-sum")


def _text(_: object, attribute: object, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise InvalidType(getattr(attribute, "name", "text"), value, "a non-empty string")


def _whole(_: object, __: object, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidType("contract", value, "a whole number")


def _is_unit(_: object, __: object, value: Any) -> None:
    if not isinstance(value, Unit):
        raise InvalidType("unit", value, "RECORD, ELEMENT or User(…)")


def _are_relations(_: object, __: object, value: Any) -> None:
    if not isinstance(value, tuple) or not value or not all(isinstance(r, Relation) for r in value):
        raise InvalidType("relations", value, "a non-empty tuple of relations, such as (ADD_REMOVE,)")


def _are_assumptions(_: object, __: object, value: Any) -> None:
    if not isinstance(value, tuple) or not all(isinstance(a, Assumption) for a in value):
        raise InvalidType("assumptions", value, "a tuple of Assumption(name, value)")


def _are_assumed_with(_: object, __: object, value: Any) -> None:
    pairs = isinstance(value, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)
    if not pairs or not all(isinstance(key, str) and isinstance(a, Assumption) for key, a in value):
        raise InvalidType("assumed_with", value, "a tuple of pairs of an option's name and an Assumption")


def _is_evidence(_: object, __: object, value: Any) -> None:
    if not isinstance(value, Evidence):
        raise InvalidType("evidence", value, "a member of Evidence: PROVED, CITED or HEURISTIC")


@final
@frozen(kw_only=True)
class About:
    """Identity and standing of a plugin; a class attribute `about` of every mechanism and sampler.

    Attributes:
        name: the name under which it is registered, as in its entry point.
        version: the plugin's own version.
        contract: the contract version it was written for.
        evidence: how well its declared loss or rate is supported; travels with every guarantee.
        citation: where that support is found.
        unit: unit of privacy of its records.
        relations: neighbouring relations it covers.
        assumptions: what its guarantee assumes beside its parameters, such as real-valued noise.
        assumed_with: what it assumes besides where an option is stated: pairs of the option's name and the assumption.
    """

    name: str = field(validator=_name)
    version: str = field(validator=_text)
    contract: int = field(validator=_whole)
    evidence: Evidence = field(validator=_is_evidence)
    citation: str = field(validator=_text)
    unit: Unit = field(default=RECORD, validator=_is_unit)
    relations: tuple[Relation, ...] = field(default=(ADD_REMOVE,), validator=_are_relations)
    assumptions: tuple[Assumption, ...] = field(default=(), validator=_are_assumptions)
    assumed_with: tuple[tuple[str, Assumption], ...] = field(default=(), validator=_are_assumed_with)

    def assumed(self, options: Mapping[str, str]) -> tuple[Assumption, ...]:
        """What the guarantee of a plugin with these options assumes beside them."""
        return (*self.assumptions, *(assumption for key, assumption in self.assumed_with if key in options))

    def require(self, role: str, unit: Unit, relation: Relation) -> None:
        """Refuse a plugin about another unit of privacy, or that does not cover a neighbouring relation.

        Raises:
            InvalidValue: for such a plugin, in this role.
        """
        if self.unit != unit:
            raise InvalidValue(role, self.name, f"a plugin whose unit is: {unit.name}")
        if relation not in self.relations:
            raise InvalidValue(role, self.name, f"a plugin that covers {relation.name}")

    def declaration(self, role: str, options: dict[str, str]) -> Derivation:
        """The premise that this plugin's declaration is: its evidence and its public constants.

        Raises:
            InvalidValue: for heuristic evidence, which never becomes certified.
        """
        if self.evidence is Evidence.HEURISTIC:
            raise InvalidValue(
                f"evidence of {role} {self.name}",
                self.evidence.value,
                "proved or cited",
                "A heuristic declaration supports no guarantee",
            )
        return Theorem("declaration", f"{self.name} {self.version}").conclude(
            assumptions=[
                Assumption(f"evidence of {role} {self.name}", self.evidence.value),
                *(Assumption(f"{role}.{key}", value) for key, value in options.items()),
                *self.assumed(options),
                *([Assumption("profile assumed", self.name)] if self.evidence is Evidence.CITED else []),
            ]
        )
