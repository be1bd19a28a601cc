"""The symmetric pair of a mechanism of which one curve δ(ε), ε ≥ 0, bounds both orders of its two laws."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from ..enclosures import Enclosure
from ..enclosures.arguments import order_above_one
from ..errors import InvalidValue
from ..loss_distribution.cells import Cells
from ..loss_distribution.combined import MixedLaw, SymmetrisedLaw
from ..loss_distribution.mixture_transforms import symmetrised_transform
from ..relations import Direction
from . import response
from .finite import FinitePair
from .gaussian import GaussianPair, SampledGaussian
from .laws import DeltaLaw, LossCells, LossTransform, PureLaw, RenyiEstimate, RenyiLaw
from .pair import Pair, Sampled, checked_pair, smallest


@final
@frozen
class Symmetrised(Pair):
    """The symmetric pair whose δ(ε), ε ≥ 0, is the REMOVE law of another pair.

    A symmetric curve is known from its part at ε ≥ 0. That it is the curve of a pair takes that the other pair's losses
    above 0 have a mass of at most 1 under both laws together, which holds after Poisson sampling of a symmetric pair
    (`docs/soundness_batches.md`, section "Symmetrised pairs"). The losses above 0 are those of the other pair, those
    below 0 the same with P and Q changed over, and what remains of the mass lies at 0.

    Attributes:
        base: the other pair: a symmetric pair after Poisson sampling.
        times: how many times the REMOVE law of the other pair, at least 1; where it is more, the masses are to be known
            to be at most 1 still (`docs/soundness_replace.md`, Laplace sums).
        dominating: a symmetric pair that dominates this one, for notions that follow from no δ(ε); unless given what
            the other pair says.

    Raises:
        InvalidValue: for another pair. InvalidType: for anything but pairs.
    """

    base: Pair
    times: Fraction = Fraction(1)
    dominating: Pair | None = None

    def __attrs_post_init__(self) -> None:
        checked_pair("base", self.base)
        if self.times < 1:
            raise InvalidValue("times", self.times, "a number ≥ 1")
        match self.base:
            case SampledGaussian():
                return
            case Sampled(inner) if inner.symmetric:
                return
        raise InvalidValue("base", self.base, "a symmetric pair after Poisson sampling")

    @property
    def pure(self) -> PureLaw | None:
        """The pure ε of REMOVE, in both directions; None where none is known."""
        if self.dominating is not None:
            return self.dominating.pure
        law = self.base.pure
        return None if law is None else lambda _: law(Direction.REMOVE)

    @property
    def delta(self) -> DeltaLaw | None:
        """δ(ε) of REMOVE, in both directions; None where it is not known."""
        law = self.base.delta
        return None if law is None else lambda epsilon, _: (law(epsilon, Direction.REMOVE) * self.times).minimum(1)

    @property
    def renyi(self) -> RenyiLaw | None:
        """τ(α) of a normal pair, or of randomised response, that dominates; None where none is known."""
        if self.dominating is not None:
            return self.dominating.renyi
        rho, law = self.zero_concentrated, self.pure
        if rho is None:
            return None

        def bound(order: Fraction, _: Direction) -> Enclosure:
            least = rho * order_above_one(order)
            return (least if law is None else least.minimum(response.renyi(law(Direction.REMOVE), order))).hull(0)

        return bound

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """A quick estimate of the bound of τ(α): ρα; None where no ρ is known."""
        if self.dominating is not None:
            return self.dominating.renyi_estimate
        rho = self.zero_concentrated
        return None if rho is None else lambda order, _: rho.upper_float * order

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """ρ = μ²/2, or that of randomised response, where it is smaller; None where neither is known."""
        if self.dominating is not None:
            return self.dominating.zero_concentrated
        mu, law = self.gaussian, self.pure
        known = None if law is None else response.zero_concentrated(law(Direction.REMOVE))
        return smallest((known, None if mu is None else mu.square() * Fraction(1, 2)))

    @property
    def gaussian(self) -> Enclosure | None:
        """The μ of the other pair: normal pairs are symmetric, so that theirs dominates both directions."""
        return self.base.gaussian if self.dominating is None else self.dominating.gaussian

    @property
    def loss_transform(self) -> LossTransform | None:
        """The moments of the privacy loss of a sampled normal pair; None for others."""
        match self.base:
            case SampledGaussian(shift, rate) if self.times == 1:
                transform = symmetrised_transform(rate, shift)
                return lambda _: transform
            case _:
                return None

    @property
    def loss_cells(self) -> LossCells | None:
        """The privacy loss in cells, from above; None where that of the other pair is not known."""
        law = self.base.loss_cells
        if law is None:
            return None
        times = self.times
        towards, back = (law(direction).above for direction in (Direction.REMOVE, Direction.ADD))
        if times > 1:  # not a probability, but masses above 0 stay below 1
            towards, back = (MixedLaw(((float(times), one),)) for one in (towards, back))
        cells = Cells(SymmetrisedLaw(towards, back), None)
        return lambda _: cells

    @property
    def symmetric(self) -> bool:
        """Whether an involution of the outputs swaps both laws: yes."""
        return True

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """Enclosure of the smallest ε at δ: that of REMOVE."""
        return self.base.smallest_epsilon(delta / self.times, Direction.REMOVE)


def symmetrised(pair: Pair) -> Pair:
    """The symmetric pair with the REMOVE law of `pair` at ε ≥ 0 in both directions; a symmetric pair is one itself.

    Args:
        pair: a symmetric pair, before or after Poisson sampling.

    Raises:
        InvalidValue: for another pair, and for tables of which there is none. InvalidType: for anything but pairs.
    """
    match checked_pair("pair", pair):
        case FinitePair() as table:
            return _symmetrised_table(table)
        case other:
            return other if other.symmetric else Symmetrised(other)


def _symmetrised_table(pair: FinitePair) -> FinitePair:
    above = [(p, q) for p, q in zip(pair.present, pair.absent, strict=True) if p > q]
    rest = 1 - sum((p + q for p, q in above), Fraction(0))
    if rest < 0:
        raise InvalidValue("pair", pair, "tables with outputs of P > Q whose probabilities are at most 1, P's and Q's")
    present, absent = zip((rest, rest), *above, *((q, p) for p, q in above), strict=True)
    mu = None if pair.dominating is None else pair.gaussian
    dominating = None if mu is None else GaussianPair(mu)  # symmetric itself
    return FinitePair(present, absent, precision=pair.precision, dominating=dominating)
