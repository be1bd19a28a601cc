"""Sums of infinitely many terms that fall faster and faster."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ..enclosures import Enclosure, Truth


def with_falling_terms(total: Enclosure, term: Enclosure, steps: Iterable[tuple[Enclosure, Enclosure]]) -> Enclosure:
    """`total` and what follows `term`, until the rest is negligible beside the total.

    Args:
        total: above 0.
        term: the last size added, before its weight.
        steps: the ratio of each further size to the one before, and its weight in [0, 1]; ratios must not grow, so
            that sizes behind a ratio below 1 are at most a geometric series.
    """
    negligible = Fraction(1, 2**total.precision)
    for ratio, weight in steps:
        if ratio.less(1) is Truth.TRUE:
            rest = term * ratio / (1 - ratio)
            if rest.less(total * negligible) is Truth.TRUE:
                return total.hull(total + rest)
        term = term * ratio
        total = total + term * weight
    return total
