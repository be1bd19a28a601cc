"""A pair of laws on any output space, by the divergences that its author can prove."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import final

from attrs import frozen

from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, order_above_one, probability
from ..errors import InvalidType, InvalidValue
from ..loss_distribution.cells import Cells
from ..loss_distribution.families import interpolated_cells
from ..relations import Direction
from . import response
from .laws import DeltaLaw, LossCells, PureLaw, RenyiLaw
from .pair import Pair, larger_pure_loss, smallest


@final
@frozen(eq=False, kw_only=True)
class DensityPair(Pair):
    """P and Q with densities of their own, for which a plugin brings enclosures; any of the laws may be left out.

    What the laws return is its author's responsibility, and certificates name it as an assumption. What can be seen
    from outside is checked at each call: an enclosure, of numbers ≥ 0, of a δ ≤ 1.

    Attributes:
        pure_law: ε per direction.
        delta_law: δ(ε) per direction.
        renyi_law: τ(α) per direction.
        rho: some ρ with τ(α) ≤ ρα for all α > 1 in both directions.
        mu: some μ such that N(0, 1) and N(μ, 1) are no harder to tell apart.

    Raises:
        InvalidValue: where nothing is given. InvalidType: for laws that cannot be called, and anything but an
            enclosure for ρ and μ.
    """

    pure_law: PureLaw | None = None
    delta_law: DeltaLaw | None = None
    renyi_law: RenyiLaw | None = None
    rho: Enclosure | None = None
    mu: Enclosure | None = None

    def __attrs_post_init__(self) -> None:
        laws = {"pure_law": self.pure_law, "delta_law": self.delta_law, "renyi_law": self.renyi_law}
        numbers = {"rho": self.rho, "mu": self.mu}
        for name, law in laws.items():
            if law is not None and not callable(law):
                raise InvalidType(name, law, "a function that returns an Enclosure")
        for name, number in numbers.items():
            if number is not None:
                non_negative(name, number)
        if all(given is None for given in (*laws.values(), *numbers.values())):
            raise InvalidValue("laws", "none", "at least one of pure_law, delta_law, renyi_law, rho and mu")

    @property
    def pure(self) -> PureLaw | None:
        """The pure ε in each direction, by the law that was given; None without one."""
        law = self.pure_law
        if law is None:
            return None

        def checked(direction: Direction) -> Enclosure:
            return non_negative("pure_law", law(direction))

        return checked

    @property
    def delta(self) -> DeltaLaw | None:
        """The hockey-stick divergence δ(ε), by the law that was given; None without one."""
        law = self.delta_law
        if law is None:
            return None

        def checked(epsilon: Enclosure, direction: Direction) -> Enclosure:
            return probability("delta_law", law(non_negative("epsilon", epsilon), direction))

        return checked

    @property
    def renyi(self) -> RenyiLaw | None:
        """The Rényi divergence τ(α), by the law that was given; None without one."""
        law = self.renyi_law
        if law is None:
            return None

        def checked(order: Fraction, direction: Direction) -> Enclosure:
            return non_negative("renyi_law", law(order_above_one(order), direction))

        return checked

    @property
    def loss_cells(self) -> LossCells | None:
        """The privacy loss in cells, from above, interpolated from δ(ε); None without that law."""
        return None if self.delta_law is None else self._cells

    def _cells(self, direction: Direction) -> Cells:
        return _interpolated(self, direction)

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """The ρ that was given, or what the given μ or the pure law prove, if smaller; None without ρ and μ."""
        given = smallest((self.rho, None if self.mu is None else self.mu.square() * Fraction(1, 2)))
        pure = None if given is None else larger_pure_loss(self.pure)
        return given if pure is None else smallest((given, response.zero_concentrated(pure)))

    @property
    def gaussian(self) -> Enclosure | None:
        """The μ of Gaussian DP that was given, or what the pure law proves, if smaller; None without μ."""
        pure = None if self.mu is None else larger_pure_loss(self.pure)
        return self.mu if pure is None else smallest((self.mu, response.gaussian(pure)))


@lru_cache(maxsize=64)
def _interpolated(pair: DensityPair, direction: Direction) -> Cells:
    law = pair.delta
    if law is None:
        raise InvalidType("pair", pair, "a pair with a δ(ε)")
    return interpolated_cells(law, direction)
