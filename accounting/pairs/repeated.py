"""Independent repetition of a pair."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from ..directions import Direction
from ..enclosures import Enclosure
from ..enclosures.arguments import whole
from .pair import DeltaLaw, Pair, PureLaw, RenyiEstimate, RenyiLaw, checked_pair


@final
@frozen
class Repeated(Pair):
    """(P, …, P) and (Q, …, Q): pure and Rényi losses add; δ(ε) follows from the distribution of the losses' sum.

    Attributes:
        base: the pair.
        times: how often; at least 1.

    Raises:
        InvalidValue: for times below 1. InvalidType: for anything but a pair and a whole number.
    """

    base: Pair
    times: int

    def __attrs_post_init__(self) -> None:
        checked_pair("base", self.base)
        whole("times", self.times, 1)

    @property
    def pure(self) -> PureLaw | None:
        """T·ε."""
        law, times = self.base.pure, self.times
        if law is None:
            return None

        def total(direction: Direction) -> Enclosure:
            return law(direction) * times

        return total

    @property
    def delta(self) -> DeltaLaw | None:
        """From the loss distribution of one, where it is known."""
        from .loss_distribution import composed_delta, follows

        releases = self.releases
        if not follows(releases):
            return None
        return lambda epsilon, direction: composed_delta(releases, epsilon, direction)

    @property
    def symmetric(self) -> bool:
        """Where the base is."""
        return self.base.symmetric

    @property
    def renyi(self) -> RenyiLaw | None:
        """T·τ(α)."""
        law, times = self.base.renyi, self.times
        if law is None:
            return None

        def total(order: Fraction, direction: Direction) -> Enclosure:
            return law(order, direction) * times

        return total

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """T times the base's."""
        estimate, times = self.base.renyi_estimate, self.times
        return None if estimate is None else lambda order, direction: estimate(order, direction) * times

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """T·ρ."""
        rho = self.base.zero_concentrated
        return None if rho is None else rho * self.times

    @property
    def gaussian(self) -> Enclosure | None:
        """√T·μ (Dong, Roth, Su 2022, Corollary 3.3)."""
        mu = self.base.gaussian
        return None if mu is None else (mu.square() * self.times).sqrt()

    @property
    def releases(self) -> tuple[tuple[Pair, int], ...]:
        """Those of the base, T times as often."""
        return tuple((one, count * self.times) for one, count in self.base.releases)

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """By the same distribution."""
        from .loss_distribution import composed_epsilon, follows

        return composed_epsilon(self.releases, delta, direction) if follows(self.releases) else None

    def repeated(self, times: int) -> Pair:
        """T·T' repetitions of the base."""
        return Repeated(self.base, self.times * whole("times", times, 1))
