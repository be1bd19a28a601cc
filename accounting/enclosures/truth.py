"""Three-valued answers of comparisons between enclosures."""

from __future__ import annotations

from enum import Enum
from typing import NoReturn

from ..errors import InvalidType


class Truth(Enum):
    """The answer to a question about enclosed numbers: proven, refuted, or undecided at this precision.

    Guarantees: `TRUE` and `FALSE` hold for every choice of numbers inside the enclosures asked about. There
    is no conversion to `bool`: write `answer is Truth.TRUE`, or let `decide` raise the precision.

    >>> Truth.TRUE.negated
    <Truth.FALSE: 'false'>
    """

    TRUE = "true"
    FALSE = "false"
    UNDECIDED = "undecided"

    @property
    def decided(self) -> bool:
        """Whether the question is answered: proven or refuted."""
        return self is not Truth.UNDECIDED

    @property
    def negated(self) -> Truth:
        """The answer to the opposite question."""
        return _NEGATED[self]

    def __bool__(self) -> NoReturn:
        """Refused, because an undecided answer would count as a decided one.

        Raises:
            InvalidType: always.
        """
        raise InvalidType(
            "truth",
            self,
            "a comparison with Truth.TRUE or Truth.FALSE",
            "Write `answer is Truth.TRUE`, or decide(question) to raise the precision until it is decided.",
        )


_NEGATED = {Truth.TRUE: Truth.FALSE, Truth.FALSE: Truth.TRUE, Truth.UNDECIDED: Truth.UNDECIDED}
