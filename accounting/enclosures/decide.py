"""Deciding a comparison by raising the precision."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import InvalidValue, Undecided
from .enclosure import checked_precision
from .truth import Truth


def decide(question: Callable[[int], Truth], *, start: int = 96, limit: int = 3072) -> bool:
    """The answer to `question`, asked at doubling precision until it is decided.

    Args:
        question: takes a precision in bits, computes at that precision and compares.
        start: first precision.
        limit: last precision; at least `start`.

    Guarantees: the answer is one that `question` gave as TRUE or FALSE, never a guess.

    Raises:
        InvalidValue: for a precision that is not admissible, or start > limit.
        Undecided: where the precision `limit` does not decide (equal numbers never are, unless computed exactly).

    >>> from fractions import Fraction
    >>> from .enclosure import Enclosure
    >>> decide(lambda precision: Enclosure.of(2, precision=precision).log().less(Fraction(7, 10)))
    True
    """
    precision = checked_precision(start, "start")
    if checked_precision(limit, "limit") < start:
        raise InvalidValue("limit", limit, f"an integer of at least start = {start}")
    while not (answer := question(precision)).decided:
        if precision == limit:
            raise Undecided(
                f"the comparison is undecided at {limit} bits: the two sides may be equal. Raise `limit`, "
                "loosen the comparison by a margin, or compute the two sides exactly."
            )
        precision = min(2 * precision, limit)
    return answer is Truth.TRUE
