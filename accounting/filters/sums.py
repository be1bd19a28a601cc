"""Filters whose costs are one number that adds up."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar, final

from ..conversions import (
    gaussian_to_approximate,
    pure_to_approximate,
    renyi_to_approximate,
    zero_concentrated_to_approximate,
)
from ..derivation import Theorem
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..guarantees import Guarantee
from ..notions import Approximate, Bound, GaussianDP, Pure, Renyi, ZeroConcentrated
from ..relations import Relation, Unit
from ..units import Delta, Order
from .filter import Filter, FixedRun, Totals
from .totals import PRECISION, Compared, Comparisons, Total

B = TypeVar("B", bound=Bound)
R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)


class SumFilter(Filter[B, R, U]):
    """A filter with one sum, which may not exceed the budget's own number."""

    @abstractmethod
    def _amount(self, bound: B) -> Enclosure:
        """Return the number of a bound that adds up."""

    @abstractmethod
    def approximate(self, delta: Delta) -> Guarantee[Approximate, R, U]:
        """The (ε, δ) guarantee that the budget entails."""

    def _amounts(self, bound: B) -> Totals:
        return (Total.of(self._amount(bound)),)

    @cached_property
    def _limit(self) -> Fraction:
        return self._amount(self.budget).upper

    def _compared(self, totals: Totals) -> Comparisons:
        return Comparisons((Compared(totals[0], self._limit),))

    def _remaining(self, totals: Totals) -> B:
        left = Compared(totals[0], self._limit).left
        return self._bound((Total(left, left),))


@final
class PureFilter(SumFilter[Pure, R, U]):
    """A privacy filter for pure DP: costs are admitted while Σ ε_t ≤ ε.

    Guarantees: ε-DP. On every path of outputs the ratio of its probabilities is a product of conditional ones, each at
    most e^{ε_t} (Rogers, Roth, Ullman, Vadhan 2016).
    """

    theorem = Theorem("Rogers, Roth, Ullman, Vadhan 2016", "filter by sums, pure costs")

    @staticmethod
    def _kind() -> type[Any]:
        return Pure

    def _amount(self, bound: Pure) -> Enclosure:
        return bound.epsilon

    def _bound(self, totals: Totals) -> Pure:
        return Pure(totals[0].enclosure)

    def cost_of(self, run: FixedRun) -> Guarantee[Pure, Any, Any]:
        """Return what a run costs in pure DP, its ε."""
        return run.pure()

    def approximate(self, delta: Delta) -> Guarantee[Approximate, R, U]:
        """Return the budget as an approximate guarantee: (ε, 0)-DP, whatever δ is."""
        return pure_to_approximate(self.guarantee)


@final
class ZeroConcentratedFilter(SumFilter[ZeroConcentrated, R, U]):
    """A privacy filter for zero-concentrated DP: costs are admitted while Σ ρ_t ≤ ρ.

    Guarantees: ρ-zCDP. At each order α the costs ρ_t·α have sums of at most ρα on every path, so the Rényi filter
    holds at every order at once (Feldman, Zrnic 2021).
    """

    theorem = Theorem("Feldman, Zrnic 2021", "Rényi filter, at every order at once")

    @staticmethod
    def _kind() -> type[Any]:
        return ZeroConcentrated

    def _amount(self, bound: ZeroConcentrated) -> Enclosure:
        return bound.rho

    def _bound(self, totals: Totals) -> ZeroConcentrated:
        return ZeroConcentrated(totals[0].enclosure)

    def cost_of(self, run: FixedRun) -> Guarantee[ZeroConcentrated, Any, Any]:
        """Return what a run costs in zero-concentrated DP, its ρ."""
        return run.zero_concentrated()

    def approximate(self, delta: Delta) -> Guarantee[Approximate, R, U]:
        """(ε, δ)-DP from ρ, which was fixed beforehand and holds at every order.

        Raises:
            InvalidValue: for δ = 0.
        """
        return zero_concentrated_to_approximate(self.guarantee, delta)


@final
class RenyiFilter(SumFilter[Renyi, R, U]):
    """Σ τ_t ≤ τ at one order α, which the budget fixes beforehand.

    Guarantees: (α, τ)-Rényi DP (Feldman, Zrnic 2021). Which other order would have been better for the costs that
    came says nothing: budgets at other orders were not kept.
    """

    theorem = Theorem("Feldman, Zrnic 2021", "Rényi filter")

    @staticmethod
    def _kind() -> type[Any]:
        return Renyi

    def _amount(self, bound: Renyi) -> Enclosure:
        if bound.order != self.budget.order and bound.tau.upper:
            raise InvalidValue(
                "order",
                str(bound.order),
                f"{self.budget.order}, the order that the budget fixes",
                "State the cost at that order",
            )
        return bound.tau

    def _bound(self, totals: Totals) -> Renyi:
        return Renyi(self.budget.order, totals[0].enclosure)

    def cost_of(self, run: FixedRun) -> Guarantee[Renyi, Any, Any]:
        """Return what a run costs: its τ at the order of the budget."""
        return run.renyi(Order(self.budget.order))

    def approximate(self, delta: Delta) -> Guarantee[Approximate, R, U]:
        """(ε, δ)-DP by the one order.

        Raises:
            InvalidValue: for δ = 0.
        """
        return renyi_to_approximate(self.guarantee, delta)


@final
class GaussianFilter(SumFilter[GaussianDP, R, U]):
    """A privacy filter for Gaussian DP: costs are admitted while Σ μ_t² ≤ μ².

    Guarantees: μ-GDP (Smith, Thakurta 2022). A μ_t-GDP mechanism is a random map of a Brownian motion over a stretch of
    time μ_t², which drifts with the record and does not without it; all stretches together last μ² at most.
    """

    theorem = Theorem("Smith, Thakurta 2022", "filter of Gaussian DP")

    @staticmethod
    def _kind() -> type[Any]:
        return GaussianDP

    def _amount(self, bound: GaussianDP) -> Enclosure:
        return bound.mu

    def _amounts(self, bound: GaussianDP) -> Totals:
        return (Total.of(bound.mu).squared,)

    @cached_property
    def _limit(self) -> Fraction:
        return self.budget.mu.upper**2

    def _bound(self, totals: Totals) -> GaussianDP:
        return GaussianDP(totals[0].enclosure.sqrt())

    def _remaining(self, totals: Totals) -> GaussianDP:
        left = super()._remaining(totals)
        return GaussianDP(Enclosure.of(left.mu.lower, precision=PRECISION))  # a root is rounded down

    def cost_of(self, run: FixedRun) -> Guarantee[GaussianDP, Any, Any]:
        """Return what a run costs in Gaussian DP, its μ."""
        return run.gaussian()

    def approximate(self, delta: Delta) -> Guarantee[Approximate, R, U]:
        """The exact (ε, δ) of μ.

        Raises:
            InvalidValue: for δ = 0 where μ > 0.
        """
        return gaussian_to_approximate(self.guarantee, delta)
