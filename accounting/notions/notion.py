"""What a notion of privacy is: a record of the laws that its bounds obey."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar, final

from attrs import field, frozen

from ..derivation import Theorem
from ..enclosures import Truth


class Bound(Protocol):
    """The loss that a guarantee states in one notion."""

    notion: ClassVar[Notion[Any]]


B = TypeVar("B", bound=Bound)


@final
@frozen
class Notion(Generic[B]):
    """The laws of a notion; each is a property test of the verification suite.

    Attributes:
        name: the name in certificates and messages.
        nothing: the bound of a mechanism that ignores its data; neutral in composition.
        compose: the bound of an adaptive sequence of mechanisms from the bounds of its members.
        group: the bound for a group of k units from the bound for one.
        implies: whether the first bound entails the second.
        composition_theorem: what `compose` rests on.
    """

    name: str
    nothing: B = field(eq=False)
    compose: Callable[[Sequence[B]], B]
    group: Callable[[B, int], B]
    implies: Callable[[B, B], Truth]
    composition_theorem: Theorem

    def __str__(self) -> str:
        return self.name
