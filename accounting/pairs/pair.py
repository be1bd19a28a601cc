"""What a dominating pair is, and how pairs are sampled and composed.

Legend: P is the law of an output with the record, Q without it; both directions are kept apart. A pair dominates
a mechanism where for every γ ≥ 0 the mechanism's hockey-stick divergences, of its outputs with and without any
record of the domain, are at most those of the pair (Zhu, Dong, Wang 2022, Definition 7). Every divergence that
obeys the data-processing inequality is then bounded by the pair's.

A law that does not follow from a pair is None, and typed so: asking a Gaussian pair for a pure ε is a type error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import final

from attrs import frozen

from ..amplification import delta_after_sampling, psi, psi_add, renyi_after_sampling
from ..enclosures import Enclosure
from ..enclosures.arguments import probability, whole
from ..enclosures.corners import between_low_and_high
from ..errors import InvalidType
from ..loss_distribution.cells import Cells
from ..loss_distribution.profile import Nearness
from ..relations import Direction
from . import response
from .estimates import sampled_estimate
from .laws import DeltaLaw, LossCells, LossTransform, PureLaw, RenyiEstimate, RenyiLaw
from .loss_distribution import ReleasesProfile, composed_delta, composed_epsilon, follows, is_enough
from .smallest_epsilon import smallest_epsilon


class Pair:
    """A dominating pair; this base class knows no law.

    Parameters of a pair are enclosures. A law encloses its value for every parameter within them: its upper end
    bounds the worst of these, its lower end the best. No law is ever negative or NaN; where a value is beyond what
    an enclosure can hold, a law raises OutsideDomain.
    """

    @property
    def pure(self) -> PureLaw | None:
        """The pure ε in each direction; None where it is infinite or not known."""
        return None

    @property
    def delta(self) -> DeltaLaw | None:
        """The hockey-stick divergence δ(ε), ε ≥ 0, in each direction; None where no law is known."""
        return None

    @property
    def renyi(self) -> RenyiLaw | None:
        """The Rényi divergence τ(α) at real orders α > 1, in each direction; None where no law is known."""
        return None

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """A quick estimate of the Rényi divergence, for pairs whose own law is slow."""
        return None

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """The smallest known ρ with τ(α) ≤ ρα for all α > 1 in both directions."""
        return None

    @property
    def gaussian(self) -> Enclosure | None:
        """The smallest known μ such that the pair is no easier to tell apart than N(0, 1) and N(μ, 1)."""
        return None

    @property
    def normal_shift(self) -> Enclosure | None:
        """The shift, where the pair is exactly N(shift, 1) and N(0, 1): such pairs compose to one."""
        return None

    @property
    def loss_transform(self) -> LossTransform | None:
        """The moments of the privacy loss, from which δ(ε) of many releases follows."""
        return None

    @property
    def loss_cells(self) -> LossCells | None:
        """The privacy loss cut in cells, from which δ(ε) of many releases follows."""
        return None

    @property
    def symmetric(self) -> bool:
        """Whether an involution of the outputs is known that swaps P and Q.

        After sampling such a pair, REMOVE dominates ADD for δ(ε), ε ≥ 0, and at every Rényi order
        (`docs/soundness_amplification_rows.md`, section "Directions").
        """
        return False

    @property
    def is_one_pair(self) -> bool:
        """Whether tests between two laws have the rates that follow from both directions together."""
        return True

    @property
    def settled_within(self) -> Fraction:
        """How near an upper end, relatively, is to be to what is lost, that no other notion is asked for a smaller."""
        return Fraction(1, 2**20)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Where the larger δ(ε), ε ≥ 0, and τ(α) are to be looked for: one, where the other is never above it."""
        return (Direction.REMOVE,) if self.symmetric else tuple(Direction)

    @property
    def factors(self) -> tuple[Pair, ...]:
        """The independent releases that the pair is composed of."""
        return (self,)

    @property
    def releases(self) -> tuple[tuple[Pair, int], ...]:
        """The independent releases that the pair is composed of, equal ones together with their number."""
        return ((self, 1),)

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """Enclosure of inf{ε ≥ 0 : δ(ε) ≤ δ}; None for a pair without a law δ(ε).

        Raises:
            InvalidValue: where the law is not proven to fall to δ.
        """
        law = self.delta
        return None if law is None else smallest_epsilon(lambda epsilon: law(epsilon, direction), delta)

    def is_enough(self, epsilon: Enclosure, delta: Enclosure, direction: Direction) -> bool:
        """Whether δ(ε) ≤ δ is proven at once, for all ε and δ inside: much sooner than δ(ε) is enclosed."""
        return False

    def profile(self, direction: Direction, nearness: Nearness) -> Callable[[Enclosure], Enclosure] | None:
        """δ(ε) in a direction, for many ε: as near as that, and sooner than `delta`, where there is such a way."""
        law = self.delta
        return None if law is None else lambda epsilon: law(epsilon, direction)

    def down_to(self, lower: Pair) -> Pair | None:
        """The pair of every parameter from those of another pair up to its own, which then asks about both at once.

        None for pairs of another kind, and for parameters that are not right below its own: its laws would be looser.
        """
        return self if lower == self else None

    def sampled(self, rate: Enclosure) -> Pair:
        """The pair of a mechanism that sees the record with probability `rate`: ((1 − q)Q + qP, Q).

        Args:
            rate: enclosure of q in [0, 1].
        """
        return self if always(rate) else Sampled(self, rate)

    def repeated(self, times: int) -> Pair:
        """The pair of `times` independent releases: (P, …, P) and (Q, …, Q).

        Args:
            times: at least 1.
        """
        return self if whole("times", times, 1) == 1 else Repeated(self, times)

    def replaced(self, by: Callable[[Pair], Pair]) -> Pair:
        """The pair with what it is sampled, repeated or composed from replaced; a pair of no such parts is one itself.

        Args:
            by: gives a pair that dominates the one it gets; then the result dominates this pair.
        """
        return by(self)


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
        """Hockey-stick divergence δ(ε) after sampling, exact in both directions; None where the base has none."""
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
        law, pure = self.base.renyi, self._amplified
        if law is None:
            if pure is None:
                return None
            return lambda order, direction: response.renyi(pure, order).hull(0)

        def amplified(order: Fraction, direction: Direction) -> Enclosure:
            found = renyi_after_sampling(law, self.rate, order, direction)
            if direction is Direction.ADD and self.base.symmetric:
                found = found.intersection(renyi_after_sampling(law, self.rate, order, Direction.REMOVE).hull(0))
            return found if pure is None else found.intersection(response.renyi(pure, order).hull(0))

        return amplified

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """A quick estimate of τ(α) after sampling: the bound in binary64, where the base has an estimate."""
        estimate, pure = self.base.renyi_estimate, self._amplified
        if estimate is None:
            return None
        sampled = sampled_estimate(estimate, self.rate.upper_float, symmetric=self.base.symmetric)
        if pure is None:
            return sampled
        limit = response.renyi_estimate(pure)
        return lambda order, direction: min(sampled(order, direction), limit(order, direction))

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """The smaller of the base's and that of randomised response with the amplified pure loss.

        Sampling is post-processing: what either law gives is replaced, with probability 1 − q, by a draw from Q.
        """
        amplified = self._amplified
        known = None if amplified is None else response.zero_concentrated(amplified)
        return smallest((self.base.zero_concentrated, known))

    @property
    def gaussian(self) -> Enclosure | None:
        """The smaller of the base's and that of randomised response with the amplified pure loss."""
        amplified = self._amplified
        return smallest((self.base.gaussian, None if amplified is None else response.gaussian(amplified)))

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
        """The privacy loss in cells: those of the base, mixed at rate q."""
        law, rate = self.base.loss_cells, self.rate
        if law is None:
            return None

        def mixed(direction: Direction) -> Cells:
            return law(direction).sampled(rate)

        return mixed

    def sampled(self, rate: Enclosure) -> Pair:
        """Return the pair of a sample of the sample: the rates multiply."""
        return Sampled(self.base, self.rate * probability("rate", rate))

    def replaced(self, by: Callable[[Pair], Pair]) -> Pair:
        """Return the sampled form of the base's replacement."""
        return self.base.replaced(by).sampled(self.rate)

    @property
    def _amplified(self) -> Enclosure | None:
        """The larger of both directions' amplified pure losses."""
        return larger_pure_loss(self.pure)


_PSI = {Direction.REMOVE: psi, Direction.ADD: psi_add}


def larger_pure_loss(law: PureLaw | None) -> Enclosure | None:
    """Return the larger pure loss of both directions; None where no law is known."""
    return None if law is None else law(Direction.REMOVE).maximum(law(Direction.ADD))


def between(lower: Enclosure, upper: Enclosure) -> Enclosure | None:
    """The numbers from one enclosure up to another, where the first is at most that and right below it."""
    if not upper.lower * (1 - _NEXT_TO) <= lower.lower <= lower.upper <= upper.upper:
        return None
    return Enclosure.between(min(lower.lower, upper.lower), upper.upper, precision=upper.precision)


_NEXT_TO = Fraction(1, 2**40)


def smallest(bounds: Iterable[Enclosure | None]) -> Enclosure | None:
    """The smallest of the bounds that are known; None where none is."""
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return None
    least, *others = known
    for other in others:
        least = least.minimum(other)
    return least


class IndependentReleases(Pair):
    """Several independent releases, about which the sum of their losses says all; base class."""

    @property
    def delta(self) -> DeltaLaw | None:
        """δ(ε) of all releases, from the distribution of the losses' sum; None where that of one is not known."""
        releases = self.releases
        if not follows(releases):
            return None
        return lambda epsilon, direction: composed_delta(releases, epsilon, direction)

    def profile(self, direction: Direction, nearness: Nearness) -> Callable[[Enclosure], Enclosure] | None:
        """δ(ε) in a direction at many ε: what was composed for one of them serves others."""
        return ReleasesProfile(self.releases, direction, nearness).delta if follows(self.releases) else None

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """Enclosure of the smallest ε at δ, from the distribution of the losses' sum where there is one."""
        return composed_epsilon(self.releases, delta, direction) if follows(self.releases) else None

    def is_enough(self, epsilon: Enclosure, delta: Enclosure, direction: Direction) -> bool:
        """Whether δ(ε) ≤ δ follows from the largest losses, or from one moment."""
        return is_enough(self.releases, epsilon, delta, direction)


@final
@frozen
class Repeated(IndependentReleases):
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
        """Pure ε of T releases: T·ε; None where the base has none."""
        law, times = self.base.pure, self.times
        if law is None:
            return None

        def total(direction: Direction) -> Enclosure:
            return law(direction) * times

        return total

    @property
    def symmetric(self) -> bool:
        """Whether the repetition is symmetric: where the base is."""
        return self.base.symmetric

    @property
    def renyi(self) -> RenyiLaw | None:
        """τ(α) of T releases: T·τ(α); None where the base has none."""
        law, times = self.base.renyi, self.times
        if law is None:
            return None

        def total(order: Fraction, direction: Direction) -> Enclosure:
            return law(order, direction) * times

        return total

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """A quick estimate of τ(α): T times that of the base."""
        estimate, times = self.base.renyi_estimate, self.times
        return None if estimate is None else lambda order, direction: estimate(order, direction) * times

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """ρ of T releases: T·ρ; None where the base has none."""
        rho = self.base.zero_concentrated
        return None if rho is None else rho * self.times

    @property
    def gaussian(self) -> Enclosure | None:
        """√T·μ (Dong, Roth, Su 2022, Corollary 3.3)."""
        mu = self.base.gaussian
        return None if mu is None else (mu.square() * self.times).sqrt()

    @property
    def releases(self) -> tuple[tuple[Pair, int], ...]:
        """The independent releases: those of the base, T times as often."""
        return tuple((one, count * self.times) for one, count in self.base.releases)

    def repeated(self, times: int) -> Pair:
        """Return the pair of T·T' releases of the base."""
        return Repeated(self.base, self.times * whole("times", times, 1))

    def down_to(self, lower: Pair) -> Pair | None:
        """Return the repetition of what the base is then."""
        match lower:
            case Repeated(base, self.times):
                found = self.base.down_to(base)
                return None if found is None else Repeated(found, self.times)
            case _:
                return None

    def replaced(self, by: Callable[[Pair], Pair]) -> Pair:
        """Return the repetition of the base's replacement."""
        return self.base.replaced(by).repeated(self.times)


def always(rate: Enclosure) -> bool:
    """Whether a rate is exactly 1: every record is seen, and a pair remains what it is.

    Raises:
        InvalidValue: outside [0, 1]. InvalidType: for anything but an enclosure.
    """
    return probability("rate", rate).lower == 1


def checked_pair(parameter: str, value: Pair) -> Pair:
    """`value` if it is a pair.

    Raises:
        InvalidType: for anything else.
    """
    match value:
        case Pair():
            return value
    raise InvalidType(parameter, value, "a dominating pair, such as LaplacePair(Enclosure.of(1))")
