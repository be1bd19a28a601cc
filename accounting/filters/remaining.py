"""What a budget still covers, which people read rounded down: what they read fits."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, final

from attrs import fields, frozen

from ..display import Displayed
from ..enclosures import Enclosure
from ..notions import Bound

B = TypeVar("B", bound=Bound)


@final
@frozen(repr=False)
class Remaining(Displayed, Generic[B]):
    """About the largest cost that a budget still covers, and never more.

    Attributes:
        bound: the cost, exactly: it fits as it is.
    """

    bound: B

    @property
    def rounded_down(self) -> B:
        """The cost with each number rounded down to binary64, as it may be typed."""
        kind: Any = type(self.bound)
        numbers = {one.name: getattr(self.bound, one.name) for one in fields(kind)}
        rounded: B = kind(**{name: _down(number) for name, number in numbers.items()})
        return rounded

    def __str__(self) -> str:
        return str(self.rounded_down)


def _down(number: Any) -> Any:
    """An enclosure rounded down; the order of a bound stays as it is."""
    return Enclosure.of(number.lower_float) if isinstance(number, Enclosure) else number
