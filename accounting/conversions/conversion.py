"""What a conversion between notions is, and how a guarantee carries its origin through one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, Generic, TypeVar, final

from attrs import frozen

from ..derivation import Assumption, Theorem
from ..guarantees import Guarantee
from ..notions import Bound, Notion
from ..relations import Relation, Unit

S = TypeVar("S", bound=Bound)
T = TypeVar("T", bound=Bound)
R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)


class Tightness(Enum):
    """Whether a smaller bound in the target notion would follow from the same bound in the source notion.

    ATTAINED: none would; some pair of laws (a limit of pairs, where stated) obeys the first and reaches the second.
    UPPER: the bound holds, and may be larger than needed.
    """

    ATTAINED = "attained"
    UPPER = "upper"


@final
@frozen
class Conversion(Generic[S, T]):
    """One theorem that turns bounds of one notion into bounds of another.

    Attributes:
        source: the notion converted from.
        target: the notion converted to.
        theorem: what it rests on.
        tightness: whether it is the best possible.
    """

    source: Notion[S]
    target: Notion[T]
    theorem: Theorem
    tightness: Tightness

    def conclude(
        self, guarantee: Guarantee[S, R, U], bound: T, assumptions: Iterable[Assumption] = ()
    ) -> Guarantee[T, R, U]:
        """The guarantee of `bound` by this theorem: relation, unit and derivation stay those of `guarantee`."""
        return Guarantee(
            bound=bound,
            relation=guarantee.relation,
            unit=guarantee.unit,
            derivation=self.theorem.conclude([guarantee.derivation], assumptions),
        )

    def __str__(self) -> str:
        return f"{self.source} → {self.target} ({self.theorem}, {self.tightness.value})"


AnyConversion = Conversion[Any, Any]
