"""Events that say what a release is known to keep, or how it selects, rather than its noise.

A lower end is that of a release which the event describes: whoever states less than that of the event claims more than
follows from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from math import floor, inf
from typing import Any, final

from attrs import field, frozen

from ..accounting.derivation import REAL_VALUED_NOISE, Assumption
from ..accounting.enclosures import Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidValue
from ..accounting.exact import exact, naming_rationals, rational
from ..accounting.pairs import FinitePair, GaussianPair, Pair, RandomisedResponsePair
from ..accounting.pairs.discrete_gaussian import DiscreteGaussianPair
from ..accounting.pairs.discrete_gaussian_vector import DiscreteGaussianVectorPair
from ..accounting.provenance import Public
from ..accounting.relations import ADD_REMOVE, Change
from ..accounting.selection import (
    FixedRepetitions,
    NegativeBinomialRepetitions,
    PoissonRepetitions,
    Repetitions,
    selected,
)
from .batch_events import EVENTS_OF_BATCHES
from .event_fields import CHILD, COUNT_OR_NONE, DOWNWARDS, REALS_UPWARDS, UPWARDS, UPWARDS_OR_INFINITE
from .events import EVERYTHING, NOTHING, RELEASES_AND_COMPOSITIONS, Event, an_event, composed, non_negative, within_one

_ROUNDING = Fraction(1, 10**9)
"""By how much probabilities in binary64 may miss a sum of 1."""


def _sensitivities(values: Any) -> tuple[Fraction, ...]:
    return tuple(exact(value, parameter="sensitivities") for value in values)


def _sampling_probs(values: Any) -> tuple[Fraction, ...]:
    return tuple(exact(value, parameter="sampling_probs") for value in values)


def _response(epsilon: Fraction | Enclosure) -> Pair:
    """The pair that dominates every ε-DP release, and is one."""
    loss = Enclosure.of(epsilon) if isinstance(epsilon, Fraction) else epsilon
    return RandomisedResponsePair(loss) if loss.upper else NOTHING


def _leak(chance: Fraction) -> Pair:
    """With this probability it is told which data set it is."""
    kept = 1 - chance
    return FinitePair((chance, kept, Fraction(0)), (Fraction(0), kept, chance)) if chance else NOTHING


@final
@frozen(field_transformer=naming_rationals)
class EpsilonDelta(Event):
    """Some release that is (ε, δ)-DP under the relation asked for.

    Attributes:
        epsilon: ε, at least 0.
        delta: δ, in [0, 1].
    """

    name = "EpsilonDeltaDpEvent"

    epsilon: Fraction = field(converter=rational, validator=non_negative, metadata={"content": UPWARDS})
    delta: Fraction = field(converter=rational, validator=within_one, metadata={"content": UPWARDS})

    def pair(self, relation: Change) -> Pair:
        """Randomised response, told with probability δ: all such arise from it (Kairouz, Oh, Viswanath 2015)."""
        return EVERYTHING if self.delta == 1 else composed([_leak(self.delta), _response(self.epsilon)])

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumption of the pair: the statement."""
        stated = f"{self.epsilon}, {self.delta}"
        return (Assumption("(ε, δ)-DP, under the relation asked for; of the worst such release", stated),)


@final
@frozen(field_transformer=naming_rationals)
class ExponentialMechanism(Event):
    """A choice among candidates, with probabilities ∝ e^{ε·quality/2} where a record moves a quality by at most 1.

    Attributes:
        epsilon: ε, at least 0.
    """

    name = "ExponentialMechanismDpEvent"

    epsilon: Fraction = field(converter=rational, validator=non_negative, metadata={"content": UPWARDS})

    def pair(self, relation: Change) -> Pair:
        """Randomised response of ε, which dominates it: it is ε-DP (McSherry, Talwar 2007, Theorem 6)."""
        return _response(self.epsilon)

    def reached(self, relation: Change) -> Pair | None:
        """Two candidates of qualities ±1/2 that change places: randomised response of ε/2."""
        return _response(self.epsilon / 2)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumption of the pair: the sensitivity of the qualities."""
        stated = "qualities move by at most the sensitivity that ε is stated for; of the worst such qualities"
        return (Assumption(stated, str(self.epsilon)),)


@final
@frozen(field_transformer=naming_rationals)
class PermuteAndFlip(Event):
    """A choice by permute-and-flip (McKenna, Sheldon 2020), where a record moves a quality by at most 1.

    Attributes:
        epsilon: ε, at least 0.
    """

    name = "PermuteAndFlipDpEvent"

    epsilon: Fraction = field(converter=rational, validator=non_negative, metadata={"content": UPWARDS})

    def pair(self, relation: Change) -> Pair:
        """Randomised response of ε, which dominates it: it is ε-DP (McKenna, Sheldon 2020, Theorem 1)."""
        return _response(self.epsilon)

    def reached(self, relation: Change) -> Pair | None:
        """Two candidates of qualities 0 and −1 that change places: the worse one is chosen with e^{−ε/2}/2."""
        if not self.epsilon:
            return NOTHING
        return _response(((Enclosure.of(self.epsilon) / 2).expm1() * 2).log1p())

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumption of the pair: the sensitivity of the qualities."""
        stated = "qualities move by at most the sensitivity that ε is stated for; of the worst such qualities"
        return (Assumption(stated, str(self.epsilon)),)


@final
@frozen(field_transformer=naming_rationals)
class DiscreteGaussian(Event):
    """A function of whole numbers with discrete Gaussian noise, P(x) ∝ e^{−|x|²/2σ²}.

    Attributes:
        sigma: σ, at least 0.
        sensitivity: the ℓ2 norm by which a record moves the function, at most; at least 0.
        dimension: of the function's values, at least 1; None where it is not known.
    """

    name = "DiscreteGaussianDpEvent"

    sigma: Fraction = field(converter=rational, validator=non_negative, metadata={"content": DOWNWARDS})
    sensitivity: Fraction = field(
        default=Fraction(1), converter=rational, validator=non_negative, metadata={"content": UPWARDS}
    )
    dimension: int | None = field(default=None, metadata={"content": COUNT_OR_NONE})

    def __attrs_post_init__(self) -> None:
        if self.dimension is not None:
            whole("dimension", self.dimension, 1)

    def pair(self, relation: Change) -> Pair:
        """Laws about two points of the lattice: of the integers, or of a vector no longer than the sensitivity.

        Raises:
            InvalidValue: under replace, where the sensitivity is not that of the function under the relation asked for.
        """
        if relation != ADD_REMOVE:
            remedy = "Its sensitivity is that of a function, under one relation: dp_accounting does not say which"
            raise InvalidValue("relation", relation.name, "ADD_REMOVE, for discrete Gaussian noise", remedy)
        if not floor(self.sensitivity**2):
            return NOTHING  # a whole vector that is shorter than 1 is 0
        if not self.sigma:
            return EVERYTHING
        if self.dimension == 1:
            return DiscreteGaussianPair(self.sigma**2, Enclosure.of(floor(self.sensitivity)))
        return DiscreteGaussianVectorPair(self.sigma**2, Enclosure.of(self.sensitivity), self.dimension)

    def reached(self, relation: Change) -> Pair | None:
        """A record that moves one coordinate alone, as far as whole numbers go."""
        found = self.pair(relation)
        if found in (NOTHING, EVERYTHING):
            return found
        return DiscreteGaussianPair(self.sigma**2, Enclosure.of(floor(self.sensitivity)))

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumption of the pair: the sensitivity."""
        return (Assumption("discrete Gaussian noise", f"{self.sigma} at ℓ2 sensitivity {self.sensitivity}"),)


@final
@frozen(field_transformer=naming_rationals)
class MixtureOfGaussians(Event):
    """N(0, σ²) without the record, and a mixture of normal laws about several shifts with it.

    Attributes:
        standard_deviation: σ, at least 0.
        sensitivities: the shifts; at least 0.
        sampling_probs: their probabilities, which make up 1 within 10⁻⁹: the rounding of binary64.
    """

    name = "MixtureOfGaussiansDpEvent"

    standard_deviation: Fraction = field(converter=rational, validator=non_negative, metadata={"content": DOWNWARDS})
    sensitivities: tuple[Fraction, ...] = field(converter=_sensitivities, metadata={"content": REALS_UPWARDS})
    sampling_probs: tuple[Fraction, ...] = field(converter=_sampling_probs, metadata={"content": REALS_UPWARDS})

    def __attrs_post_init__(self) -> None:
        if len(self.sensitivities) != len(self.sampling_probs):
            admissible = f"one probability for each of {len(self.sensitivities)} sensitivities"
            raise InvalidValue("sampling_probs", len(self.sampling_probs), admissible)
        for chance in self.sampling_probs:
            if not 0 <= chance <= 1:
                raise InvalidValue("sampling_probs", str(chance), "numbers in [0, 1]")
        for shift in self.sensitivities:
            if shift < 0:
                raise InvalidValue("sensitivities", str(shift), "numbers ≥ 0", "The mirrored law loses as much")
        total = sum(self.sampling_probs, Fraction(0))
        if not 1 - _ROUNDING <= total <= 1 + _ROUNDING:
            raise InvalidValue("sampling_probs", float(total), "numbers that make up 1")

    def pair(self, relation: Change) -> Pair:
        """A normal pair sampled at the probability of the one shift that is not 0.

        Raises:
            InvalidValue: under replace, and for several shifts.
        """
        return self._sampled(relation, max)

    def reached(self, relation: Change) -> Pair | None:
        """Return the normal pair sampled at the least probability that rounding leaves."""
        return self._sampled(relation, min)

    def _sampled(self, relation: Change, choice: Callable[[Fraction, Fraction], Fraction]) -> Pair:
        if relation != ADD_REMOVE:
            raise InvalidValue("relation", relation.name, "ADD_REMOVE, for a mixture: it is of one record's presence")
        chances = defaultdict[Fraction, Fraction](Fraction)
        for shift, chance in zip(self.sensitivities, self.sampling_probs, strict=True):
            chances[shift] += chance
        shifts = [shift for shift, chance in chances.items() if shift and chance]
        if len(shifts) > 1:
            remedy = "The pair of a mixture of several shifts is missing; it will come with certdp.pairs"
            raise InvalidValue("sensitivities", len(shifts), "one shift that is not 0", remedy)
        if not shifts:
            return NOTHING
        if not self.standard_deviation:
            return EVERYTHING
        rate = min(choice(chances[shifts[0]], 1 - chances[Fraction(0)]), Fraction(1))
        base = GaussianPair(Enclosure.of(shifts[0]) / self.standard_deviation)
        return base.sampled(Enclosure.of(rate))

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions of the pair: which mixture, and real-valued noise."""
        pairs = ", ".join(f"{c} with {p}" for c, p in zip(self.sensitivities, self.sampling_probs, strict=True))
        return Assumption(f"normal noise {self.standard_deviation} about a shift", pairs), REAL_VALUED_NOISE


def _shape(value: Any) -> Fraction | None:
    return None if value in (None, "inf", inf) else rational(value)


@final
@frozen(field_transformer=naming_rationals)
class RepeatAndSelect(Event):
    """An event that is repeated a random number of times, of which the best result alone is told.

    Attributes:
        event: what is repeated.
        mean: of the number of times: at least 1, above 0 for a Poisson number.
        shape: of its negative binomial law; above −1, or infinite (None here) for the Poisson law.
    """

    name = "RepeatAndSelectDpEvent"

    event: Event = field(validator=an_event, metadata={"content": CHILD})
    mean: Fraction = field(converter=rational, metadata={"content": UPWARDS})
    shape: Fraction | None = field(converter=_shape, metadata={"content": UPWARDS_OR_INFINITE})

    def __attrs_post_init__(self) -> None:
        _ = self._repetitions

    @property
    def _repetitions(self) -> Repetitions:
        mean = Public(self.mean)
        if self.shape is None:
            return PoissonRepetitions(mean=mean)
        if self.mean == 1:
            return FixedRepetitions(times=mean)
        return NegativeBinomialRepetitions(mean=mean, shape=Public(self.shape))

    def pair(self, relation: Change) -> Pair:
        """What bounds the best of so many results; δ is charged for every repetition."""
        once = self.event.pair(relation)
        return once if once in (NOTHING, EVERYTHING) else selected(self._repetitions, once)

    def reached(self, relation: Change) -> Pair | None:
        """Return None: no data sets are known to have all of the bound."""
        return self.event.reached(relation) if self.mean == 1 and self.shape is not None else None

    @property
    def inner(self) -> tuple[Event, ...]:
        """The event that is repeated."""
        return (self.event,)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """How often it is repeated, and the assumptions of the event."""
        return Assumption("the best of results, of which it is not told how many there are", str(self._repetitions)), *(
            self.event.assumptions
        )

    @property
    def releases(self) -> int:
        """How many results are told: those of one repetition."""
        return self.event.releases


EVENTS: tuple[type[Event], ...] = (
    *RELEASES_AND_COMPOSITIONS,
    *EVENTS_OF_BATCHES,
    EpsilonDelta,
    ExponentialMechanism,
    PermuteAndFlip,
    DiscreteGaussian,
    MixtureOfGaussians,
    RepeatAndSelect,
)
"""Every event that is understood."""
