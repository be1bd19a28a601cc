"""A filter for (ε, δ): by sums, or by sums of squares with a part of δ set aside beforehand.

Legend: cost t is (ε_t, δ_t). A mechanism with that cost is, with probability 1 − δ_t, one that is ε_t-DP (Kairouz, Oh,
Viswanath 2015), which is ρ_t-zCDP for ρ_t = ε_t·tanh(ε_t/2) ≤ ε_t²/2. δ' is the part of δ set aside, δ'' = δ − δ'.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeVar, final

from ..conversions import epsilon_of_rho
from ..derivation import Theorem
from ..enclosures import Enclosure, Truth
from ..errors import InvalidValue
from ..exact import Number
from ..guarantees import Guarantee
from ..notions import Approximate
from ..pairs import RandomisedResponsePair
from ..relations import Relation, Unit
from ..sampling.domains import NormBall
from ..units import Delta
from .filter import Filter, FixedRun, Totals

R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)

_NEAR = 1e-13
_ROOM = 1 - 1e-12
NOTHING = Delta(0)


@final
class ApproximateFilter(Filter[Approximate, R, U]):
    """Σ δ_t ≤ δ'', and Σ ε_t ≤ ε or Σ ρ_t ≤ ρ, where ρ is the most that entails (ε, δ').

    Args:
        budget: (ε, δ).
        set_aside: δ', for the second way; at 0 there is only the first, and all of δ is for the costs.
        at: the δ at which the cost of a run of releases is read; at 0 the runs must be pure.
        relation, unit, domain: as for every filter.

    Guarantees:
        (ε, δ)-DP. With Σ ε_t² in place of 2·Σ ρ_t and Bun and Steinke's conversion, the second way is the filter of
        Whitehouse, Ramdas, Rogers, Wu 2023, Theorem 1: ε ≥ √(2·log(1/δ')·Σε_t²) + ½Σε_t². It is never smaller here.
        Which of the two ways covers a path may depend on the path: by the first no output loses more than ε, so it
        takes nothing of δ' (`docs/composition.md`).

    Raises:
        InvalidValue: for a δ' above δ or of 1.
    """

    theorem = Theorem("Whitehouse, Ramdas, Rogers, Wu 2023", "Theorem 1, or sums of ε and δ")

    def __init__(
        self,
        budget: Approximate,
        *,
        relation: R,
        unit: U,
        domain: NormBall | None = None,
        set_aside: Delta | Number = NOTHING,
        at: Delta | Number = NOTHING,
    ) -> None:
        super().__init__(budget, relation=relation, unit=unit, domain=domain)
        set_aside = Delta.of(set_aside, parameter="set_aside")
        at = Delta.of(at, parameter="at")
        if set_aside.value > budget.delta.upper or set_aside.value == 1:
            admissible = f"at most the δ of the budget, {budget.delta.upper_float!r}, and below 1"
            raise InvalidValue("set_aside", str(set_aside), admissible)
        self.set_aside = set_aside
        self.at = at

    @staticmethod
    def _kind() -> type[Any]:
        return Approximate

    @cached_property
    def most_rho(self) -> Enclosure:
        """The ρ of the second way, proven to entail (ε, δ'); 0 where δ' is."""
        return _most_rho(self.budget.epsilon.upper, self.set_aside.value)

    def _amounts(self, bound: Approximate) -> Totals:
        return bound.epsilon, RandomisedResponsePair(bound.epsilon).zero_concentrated, bound.delta

    def _exceeds(self, totals: Totals) -> Truth:
        epsilon, rho, delta = totals
        within = (
            epsilon.less_equal(self.budget.epsilon.upper),
            rho.less_equal(self.most_rho),
            delta.less_equal(self.budget.delta.upper - self.set_aside.value),
        )
        return _all(_any(*within[:2]), within[2]).negated

    def _bound(self, totals: Totals) -> Approximate:
        return Approximate(totals[0], totals[2])

    def cost_of(self, run: FixedRun) -> Guarantee[Approximate, Any, Any]:
        """Return what a run costs: its smallest ε at the δ named `at`."""
        return run.epsilon(self.at).guarantee


@lru_cache(maxsize=64)
def _most_rho(epsilon: Fraction, delta: Fraction) -> Enclosure:
    """About the largest ρ whose ε at δ is at most `epsilon`: searched in floats, then proven."""
    from scipy.optimize import brentq

    if not epsilon or not delta:
        return Enclosure.of(0)
    level = Enclosure.of(delta)

    def excess(rho: float) -> float:
        return float(epsilon_of_rho(Enclosure.of(rho), level).epsilon.upper - epsilon)

    spread = -level.log().lower_float
    low = (float(epsilon) / (math.sqrt(spread + float(epsilon)) + math.sqrt(spread))) ** 2  # ρ + 2√(ρ·spread) = ε there
    high = 2 * low
    while excess(high) <= 0:
        low, high = high, 2 * high
    found: Any = brentq(excess, low * _ROOM, high, xtol=low * _NEAR)
    while excess(found) > 0:
        found *= _ROOM
    return Enclosure.of(found)


def _all(*answers: Truth) -> Truth:
    if Truth.FALSE in answers:
        return Truth.FALSE
    return Truth.UNDECIDED if Truth.UNDECIDED in answers else Truth.TRUE


def _any(*answers: Truth) -> Truth:
    return _all(*(answer.negated for answer in answers)).negated
