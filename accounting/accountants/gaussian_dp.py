"""Through Gaussian differential privacy."""

from __future__ import annotations

from typing import final

from attrs import frozen

from ..conversions import GAUSSIAN_TO_APPROXIMATE, delta_of_mu, epsilon_of_mu
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..notions import GAUSSIAN_DP as GAUSSIAN_NOTION
from .accountant import Accountant, Finding
from .worst_pairs import Bounds, WorstPairs, gaussian


@final
@frozen
class GaussianAccountant(Accountant):
    """The squares of μ add; the conversion of μ is exact."""

    name = "gdp"
    theorems = (GAUSSIAN_NOTION.composition_theorem, GAUSSIAN_TO_APPROXIMATE.theorem)

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """Bound ε at δ; None for δ = 0, unless μ is 0, where a pair has no μ, and for an ε beyond what is searched."""
        bound = pairs.worst(gaussian)
        try:
            return None if bound is None else self._finding(epsilon_of_mu(bound.enclosure, delta))
        except InvalidValue:  # another notion may still know one
            return None

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """Bound δ at ε; None where a pair has no μ."""
        bound = pairs.worst(gaussian)
        return None if bound is None else self._finding(delta_of_mu(bound.enclosure, epsilon))

    def _finding(self, value: Enclosure) -> Finding:
        return Finding(Bounds(value, two_sided=False), GAUSSIAN_NOTION, self.theorems, self)


GAUSSIAN_DP = GaussianAccountant()
