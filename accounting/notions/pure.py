"""Pure differential privacy: ε-indistinguishability, its personalised form, and their laws.

IS Definition 1 (ε-indistinguishability), Definition 2 (ε-DP), Definition 4 (personalised DP).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

from attrs import field, frozen

from ..derivation import Theorem
from ..enclosures import Enclosure, Truth
from ..errors import InvalidType, InvalidValue
from .notion import Notion


def _non_negative(_: Pure, __: object, value: Any) -> None:
    if not isinstance(value, Enclosure):
        raise InvalidType(
            "epsilon",
            value,
            "an Enclosure",
            "A float is an estimate; build Enclosure.of(value) from an exact number",
        )
    if value.lower < 0:
        raise InvalidValue("epsilon", value, "an enclosure of a number ≥ 0")


@final
@frozen
class Pure:
    """The bound of pure ε-DP: output probabilities differ by a factor e^ε at most, in both directions.

    Attributes:
        epsilon: an enclosure; the guarantee holds with its upper end.
    """

    notion: ClassVar[Notion[Pure]]
    epsilon: Enclosure = field(validator=_non_negative)

    def __str__(self) -> str:
        return f"ε ≤ {self.epsilon.upper_float!r}"


def _compose(bounds: Sequence[Pure]) -> Pure:
    total = PURE.nothing.epsilon
    for bound in bounds:
        total = total + bound.epsilon
    return Pure(total)


def _group(bound: Pure, size: int) -> Pure:
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise InvalidValue("size", size, "a whole number ≥ 0")
    return Pure(bound.epsilon * size)


def _implies(first: Pure, second: Pure) -> Truth:
    return first.epsilon.less_equal(second.epsilon)


PURE: Notion[Pure] = Notion(
    name="pure",
    nothing=Pure(Enclosure.of(0)),
    compose=_compose,
    group=_group,
    implies=_implies,
    composition_theorem=Theorem("law", "adaptive composition"),
)
Pure.notion = PURE
