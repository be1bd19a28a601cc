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
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..exact import Number
from ..guarantees import Guarantee
from ..notions import Approximate
from ..pairs import RandomisedResponsePair
from ..relations import Relation, Unit
from ..sampling.domains import NormBall
from ..stored import Json, entries, read_ratio, written
from ..units import Delta
from .filter import Filter, FixedRun, Totals
from .totals import PRECISION, Compared, Comparisons, Total

R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)

_NEAR = 1e-13
_ROOM = 1 - 1e-12
_OPTIONS = ("set_aside", "at")
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

    def _options(self) -> Json:
        return {name: written(name, getattr(self, name).value) for name in _OPTIONS}

    @classmethod
    def _made(cls, budget: Any, common: dict[str, Any], options: object) -> ApproximateFilter[Any, Any]:
        aside, at = entries("options", options, *_OPTIONS)
        return cls(budget, **common, set_aside=read_ratio("set_aside", aside), at=read_ratio("at", at))

    @cached_property
    def most_rho(self) -> Enclosure:
        """The ρ of the second way, proven to entail (ε, δ'); 0 where δ' is."""
        return _most_rho(self.budget.epsilon.upper, self.set_aside.value)

    def _amounts(self, bound: Approximate) -> Totals:
        rho = RandomisedResponsePair(bound.epsilon).zero_concentrated
        return Total.of(bound.epsilon), Total.of(rho), Total.of(bound.delta)

    def _compared(self, totals: Totals) -> Comparisons:
        epsilon, rho, delta = totals
        return Comparisons(
            either=(Compared(epsilon, self.budget.epsilon.upper), Compared(rho, self.most_rho.lower)),
            also=(Compared(delta, self.budget.delta.upper - self.set_aside.value),),
        )

    def _bound(self, totals: Totals) -> Approximate:
        return Approximate(totals[0].enclosure, totals[2].enclosure)

    def _remaining(self, totals: Totals) -> Approximate:
        """The larger ε of the two ways, beside all that is left of δ''."""
        compared = self._compared(totals)
        by_sums, by_squares = compared.either
        epsilon = max(by_sums.left, _most_epsilon(by_squares.left))
        left = (Enclosure.of(one, precision=PRECISION) for one in (epsilon, compared.also[0].left))
        return Approximate(*left)

    def cost_of(self, run: FixedRun) -> Guarantee[Approximate, Any, Any]:
        """Return what a run costs: its smallest ε at the δ named `at`."""
        return run.epsilon(self.at).guarantee


@lru_cache(maxsize=64)
def _most_rho(epsilon: Fraction, delta: Fraction) -> Enclosure:
    """About the largest ρ whose ε at δ is at most `epsilon`: searched in floats, then proven."""
    if not epsilon or not delta:
        return Enclosure.of(0)
    from scipy.optimize import brentq

    level = Enclosure.of(delta)

    def excess(rho: float) -> float:
        return float(epsilon_of_rho(Enclosure.of(rho), level).epsilon.upper - epsilon)

    spread = -level.log().lower_float
    low = (float(epsilon) / (math.sqrt(spread + float(epsilon)) + math.sqrt(spread))) ** 2  # ρ + 2√(ρ·spread) = ε there
    if not low * _NEAR:  # below the floats' range: 0 is proven, and costs add up by the other way
        return Enclosure.of(0)
    high = 2 * low
    while excess(high) <= 0:
        low, high = high, 2 * high
    found: Any = brentq(excess, low * _ROOM, high, xtol=low * _NEAR)
    while excess(found) > 0:
        found *= _ROOM
    return Enclosure.of(found)


def _most_epsilon(rho: Fraction) -> Fraction:
    """About the largest ε whose ε·tanh(ε/2) is at most `rho`: searched in floats, then proven."""
    if not rho:
        return Fraction(0)

    def fits(epsilon: Fraction) -> bool:
        return RandomisedResponsePair(Enclosure.of(epsilon)).zero_concentrated.upper <= rho

    found = Fraction(math.sqrt(2 * rho)) if rho < 1 else Fraction(float(rho))  # ε·tanh(ε/2) ≤ min(ε²/2, ε): it fits
    if not found:  # below the floats' range, as above
        return Fraction(0)
    low, high = found, 2 * found + 2
    while not fits(low):
        low *= Fraction(_ROOM)
    while high - low > low * Fraction(_NEAR):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
