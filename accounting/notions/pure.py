"""Pure differential privacy: ε-indistinguishability, its personalised form, and their laws.

IS Definition 1 (ε-indistinguishability), Definition 2 (ε-DP), Definition 4 (personalised DP).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

from attrs import field, frozen

from ..derivation import Theorem
from ..enclosures import Enclosure, Truth
from .notion import Notion
from .ranges import group_size, non_negative


@final
@frozen
class Pure:
    """The bound of pure ε-DP: output probabilities differ by a factor e^ε at most, in both directions.

    Attributes:
        epsilon: an enclosure; the guarantee holds with its upper end.
    """

    notion: ClassVar[Notion[Pure]]
    epsilon: Enclosure = field(validator=non_negative)

    def __str__(self) -> str:
        return f"ε ≤ {self.epsilon.upper_float!r}"


def _compose(bounds: Sequence[Pure]) -> Pure:
    total = PURE.nothing.epsilon
    for bound in bounds:
        total = total + bound.epsilon
    return Pure(total)


def _group(bound: Pure, size: int) -> Pure:
    return Pure(bound.epsilon * group_size(size))


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
