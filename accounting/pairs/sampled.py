"""Poisson sampling of any pair."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, final

from attrs import frozen

from ..amplification import delta_after_sampling, psi, psi_add, renyi_after_sampling
from ..directions import Direction
from ..enclosures import Enclosure
from ..enclosures.arguments import probability
from ..enclosures.corners import between_low_and_high
from .estimates import sampled_estimate
from .pair import DeltaLaw, LossCells, Pair, PureLaw, RenyiEstimate, RenyiLaw, checked_pair
from .randomised_response import RandomisedResponsePair

if TYPE_CHECKING:
    from ..loss_distribution.cells import Cells


@final
@frozen
class Sampled(Pair):
    """((1 − q)Q + qP, Q): the record is seen with probability q. Each law has one amplification theorem.

    Attributes:
        base: the pair of the mechanism with the record drawn for certain.
        rate: q in [0, 1].

    Raises:
        InvalidValue: for a rate outside [0, 1]. InvalidType: for anything but a pair and an enclosure.
    """

    base: Pair
    rate: Enclosure

    def __attrs_post_init__(self) -> None:
        checked_pair("base", self.base)
        probability("rate", self.rate)

    @property
    def pure(self) -> PureLaw | None:
        """IS Theorem 6: log(1 + q(e^ε − 1)) for REMOVE, −log(1 − q(1 − e^−ε)) for ADD."""
        law = self.base.pure
        if law is None:
            return None

        def amplified(direction: Direction) -> Enclosure:
            return between_low_and_high(_PSI[direction], law(direction), self.rate)

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
        """Exact for REMOVE at integer orders; between them, and for ADD, a bound.

        ADD is at most REMOVE where the base is symmetric. Where there is a pure loss, neither exceeds randomised
        response with the amplified one.
        """
        law, response = self.base.renyi, self._response
        if law is None:
            if response is None:
                return None
            return lambda order, direction: response.renyi(order, direction).hull(0)

        def amplified(order: Fraction, direction: Direction) -> Enclosure:
            found = renyi_after_sampling(law, self.rate, order, direction)
            if direction is Direction.ADD and self.base.symmetric:
                found = found.intersection(renyi_after_sampling(law, self.rate, order, Direction.REMOVE).hull(0))
            return found if response is None else found.intersection(response.renyi(order, direction).hull(0))

        return amplified

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """The same bound in binary64, where the base has an estimate."""
        estimate, response = self.base.renyi_estimate, self._response
        if estimate is None:
            return None
        sampled = sampled_estimate(estimate, self.rate.upper_float, symmetric=self.base.symmetric)
        if response is None:
            return sampled
        limit = response.renyi_estimate
        return lambda order, direction: min(sampled(order, direction), limit(order, direction))

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """The smaller of the base's and that of randomised response with the amplified pure loss.

        Sampling is post-processing: what either law gives is replaced, with probability 1 − q, by a draw from Q.
        """
        response = self._response
        return _smallest(self.base.zero_concentrated, None if response is None else response.zero_concentrated)

    @property
    def gaussian(self) -> Enclosure | None:
        """The smaller of the base's and that of randomised response with the amplified pure loss."""
        response = self._response
        return _smallest(self.base.gaussian, None if response is None else response.gaussian)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """REMOVE alone, where the base is symmetric."""
        return (Direction.REMOVE,) if self.base.symmetric else tuple(Direction)

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """REMOVE: as δ' = q·δ(ε) there, it is the amplified ε of the base at δ'/q; ADD has no such form."""
        if direction is Direction.ADD:
            return super().smallest_epsilon(delta, direction)

        def at(rate: Fraction, level: Fraction) -> Enclosure | None:
            q = Enclosure.of(rate, precision=self.rate.precision)
            if level >= rate:
                return q - q
            own = self.base.smallest_epsilon(Enclosure.of(level / rate, precision=delta.precision), direction)
            return None if own is None else psi(own, q)

        least, most = at(self.rate.lower, delta.upper), at(self.rate.upper, delta.lower)
        return None if least is None or most is None else least.hull(most)

    @property
    def loss_cells(self) -> LossCells | None:
        """Those of the base, mixed."""
        law, rate = self.base.loss_cells, self.rate
        if law is None:
            return None

        def mixed(direction: Direction) -> Cells:
            return law(direction).sampled(rate)

        return mixed

    def sampled(self, rate: Enclosure) -> Pair:
        """Sampling a sample multiplies the rates."""
        return Sampled(self.base, self.rate * probability("rate", rate))

    @property
    def _response(self) -> RandomisedResponsePair | None:
        law = self.pure
        return None if law is None else RandomisedResponsePair(law(Direction.REMOVE).maximum(law(Direction.ADD)))


_PSI = {Direction.REMOVE: psi, Direction.ADD: psi_add}


def _smallest(*bounds: Enclosure | None) -> Enclosure | None:
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return None
    least, *others = known
    for other in others:
        least = least.minimum(other)
    return least
