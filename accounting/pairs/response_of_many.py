"""Randomised response over many categories: what an answer tells about two of them."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from ..enclosures import Enclosure
from .finite import FinitePair


@final
@frozen
class ResponseOfMany:
    """The pair of randomised response over k categories, for its one ε.

    An answer is the one of two categories, the other one, or any of the rest.

    Attributes:
        categories: k, at least 2.
        uniform: γ, in (0, 1], the exact probability of an answer that is chosen uniformly; ε = log(1 + k(1 − γ)/γ).
    """

    categories: int
    uniform: Fraction

    def __call__(self, epsilon: Enclosure) -> FinitePair:
        """Return the pair; its tables are exact, and the ε only says how precisely it is asked."""
        chance = self.uniform / self.categories
        rest = (self.categories - 2) * chance
        kept = 1 - rest - chance
        return FinitePair((kept, chance, rest), (chance, kept, rest), precision=epsilon.precision)
