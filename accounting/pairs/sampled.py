"""Poisson sampling of any pair."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from ..amplification import delta_after_sampling, psi, psi_add, renyi_after_sampling
from ..directions import Direction
from ..enclosures import Enclosure
from ..enclosures.monotone import increasing
from .pair import DeltaLaw, Pair, PureLaw, RenyiLaw
from .randomised_response import RandomisedResponse


@final
@frozen
class Sampled(Pair):
    """((1 − q)Q + qP, Q): the record is seen with probability q. Each law has one amplification theorem.

    Attributes:
        base: the pair of the mechanism with the record drawn for certain.
        rate: q in [0, 1].
    """

    base: Pair
    rate: Enclosure

    @property
    def pure(self) -> PureLaw | None:
        """IS Theorem 6: log(1 + q(e^ε − 1)) for REMOVE, −log(1 − q(1 − e^−ε)) for ADD."""
        law = self.base.pure
        if law is None:
            return None

        def amplified(direction: Direction) -> Enclosure:
            amplify = psi if direction is Direction.REMOVE else psi_add
            return increasing(lambda rate: increasing(lambda e: amplify(e, rate), law(direction)), self.rate)

        return amplified

    @property
    def delta(self) -> DeltaLaw | None:
        """Exact, in both directions."""
        law = self.base.delta
        if law is None:
            return None

        def amplified(epsilon: Enclosure, direction: Direction) -> Enclosure:
            return delta_after_sampling(law, self.rate, epsilon, direction)

        return amplified

    @property
    def renyi(self) -> RenyiLaw | None:
        """Exact for REMOVE at integer orders; between them, and for ADD, a bound."""
        law = self.base.renyi
        if law is None:
            return None

        def amplified(order: Fraction, direction: Direction) -> Enclosure:
            return renyi_after_sampling(law, self.rate, order, direction)

        return amplified

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """That of randomised response with the amplified pure loss."""
        response = self._response()
        return None if response is None else response.zero_concentrated

    @property
    def gaussian(self) -> Enclosure | None:
        """That of randomised response with the amplified pure loss."""
        response = self._response()
        return None if response is None else response.gaussian

    def sampled(self, rate: Enclosure) -> Pair:
        """Sampling a sample multiplies the rates."""
        return Sampled(self.base, self.rate * rate)

    def _response(self) -> RandomisedResponse | None:
        law = self.pure
        return None if law is None else RandomisedResponse(law(Direction.REMOVE).maximum(law(Direction.ADD)))
