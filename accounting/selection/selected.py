"""The best of a random number of runs: laws that bound what it loses, from the pair of one run.

Legend: as in `tilts`. A(y) = E[K]·a·Q(y) is the law of the selected output where one run's is Q, and A' likewise with
c and Q'. With the w_j and m_j of the lines below c,

    ∫ (A − γA')₊ ≤ E[K]·Σ_j w_j·∫ (Q − γ·m_j·Q')₊,    ∫ A^λ·A'^(1−λ) ≤ P(K = 0) + E[K]·M_λ·∫ Q^λ·Q'^(1−λ),

where M_λ is the largest a^λ·L(a)^(1−λ).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache, singledispatch
from typing import final

from attrs import frozen

from ..conversions import best_order_at_epsilon
from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, order_above_one
from ..errors import InvalidType, InvalidValue
from ..pairs import Pair, response
from ..pairs.laws import DeltaLaw, PureLaw, RenyiEstimate, RenyiLaw
from ..pairs.pair import checked_pair, larger_pure_loss
from ..pairs.smallest_epsilon import smallest_epsilon
from ..relations import Direction
from .repetitions import FixedRepetitions, Profile, RandomRepetitions, Repetitions
from .tilts import Tilts

_LINES = 16
_FAINT = 1 / 64
_START, _FARTHEST = 2.0**-6, 64.0  # how far beyond the first place others are looked for
_HALVINGS = 4
_PRECISION = 128
_EPSILON_BITS = 24
_LARGEST_EPSILON = 2**12


@final
@frozen
class Selected(Pair):
    """Some pair of which laws are known that bound the best of a random number of runs, in each direction.

    Whichever score decides which output is best: a function of outputs, in which those of equal score are told apart by
    chance, such as by which came first. How many runs there were must not be told.

    Attributes:
        base: dominates one run.
        repetitions: how many there are.

    Raises:
        InvalidType: for anything but a pair.

    Source: `docs/soundness_selection.md`; for the negative binomial and Poisson laws, Papernot, Steinke 2022, Theorems
    2 and 6, follow from it with larger constants.
    """

    base: Pair
    repetitions: RandomRepetitions

    def __attrs_post_init__(self) -> None:
        checked_pair("base", self.base)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """REMOVE alone, where both directions have the same laws."""
        return (Direction.REMOVE,) if self.base.symmetric else tuple(Direction)

    @property
    def pure(self) -> PureLaw | None:
        """The pure ε of one run, and the largest log(a/c): no smaller one holds for all runs with that pure ε."""
        law = self.base.pure
        if law is None or self._profile is None:
            return None

        def total(direction: Direction) -> Enclosure:
            return (law(direction) + self.tilts[direction].greatest).hull(0)

        return total

    @property
    def delta(self) -> DeltaLaw | None:
        """E[K]·Σ w_j·δ(ε + log m_j), as an upper bound; at most 1."""
        law = self._profile
        if law is None:
            return None

        def bound(epsilon: Enclosure, direction: Direction) -> Enclosure:
            non_negative("epsilon", epsilon)
            total = Enclosure.of(0, precision=epsilon.precision)
            for share, log_slope in self.tilts[direction].shares:
                total = total + _at(law, epsilon + log_slope, direction) * share
            return (total * self.repetitions.mean_at(epsilon.precision)).minimum(1).hull(0)

        return bound

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """From 0 to the smallest ε with which the law is at most δ, to 2^-22 of it: the law is a bound, and slow."""
        found = _smallest_epsilon(self, delta, direction)
        if found is None and self._profile is not None:
            raise InvalidValue("delta", delta, "a δ that the law reaches at some ε", "Choose a larger δ")
        return found

    @property
    def renyi(self) -> RenyiLaw | None:
        """log(P(K = 0) + E[K]·M_α·e^((α−1)τ))/(α − 1), as an upper bound; None where one run has no curve."""
        law = self.base.renyi
        if law is None or self._profile is None:
            return None

        def bound(order: Fraction, direction: Direction) -> Enclosure:
            above = order_above_one(order) - 1
            tau = law(order, direction)
            moment = self.repetitions.moment(order, self.tilts[direction], self._against(direction))
            excess = moment + self.repetitions.mean_at(tau.precision).log()
            none = self.repetitions.none_at(tau.precision)
            found = tau + (excess + (none * (-excess - tau * above).exp()).log1p()) / above
            if (pure := self._pure) is not None:
                found = found.minimum(response.renyi(pure, order))
            return found.maximum(0).hull(0)

        return bound

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """About the same in binary64, where one run has an estimate."""
        base = self.base.renyi_estimate
        if base is None or self._profile is None:
            return None
        mean = math.log(self.repetitions.mean_at(_PRECISION).upper_float)
        none = self.repetitions.none_at(_PRECISION).upper_float

        def estimate(order: float, direction: Direction) -> float:
            moment = self.tilts[direction].moment(Fraction(order)).upper_float + (order - 1) * base(order, direction)
            return (mean + moment + math.log1p(none * math.exp(-max(mean + moment, 0.0)))) / (order - 1)

        return estimate

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """What randomised response with the pure loss has."""
        pure = self._pure
        return None if pure is None else response.zero_concentrated(pure)

    @property
    def gaussian(self) -> Enclosure | None:
        """What randomised response with the pure loss has."""
        pure = self._pure
        return None if pure is None else response.gaussian(pure)

    @property
    def _pure(self) -> Enclosure | None:
        return larger_pure_loss(self.pure)

    @cached_property
    def _profile(self) -> DeltaLaw | None:
        """δ(ε) of one run: its own, or what its Rényi curve proves."""
        curve = self.base.renyi
        if self.base.delta is not None or curve is None:
            return self.base.delta
        return lambda epsilon, direction: best_order_at_epsilon(lambda order: curve(order, direction), epsilon).delta

    @cached_property
    def tilts(self) -> dict[Direction, Tilts]:
        """Lines below the tilts, in each direction."""
        remove = tilts_below(self._against(Direction.REMOVE), self.repetitions)
        add = remove if self.base.symmetric else tilts_below(self._against(Direction.ADD), self.repetitions)
        return {Direction.REMOVE: remove, Direction.ADD: add}

    def _against(self, direction: Direction) -> Profile:
        """δ(x) of the second law from the first, of one run."""
        law = self._profile
        assert law is not None
        return lambda x: law(x, direction.other)


@lru_cache(maxsize=64)
def _smallest_epsilon(pair: Selected, delta: Enclosure, direction: Direction) -> Enclosure | None:
    """Asked by several accountants, and slow; None also where the law is not proven to fall to δ."""
    law = pair.delta
    if law is None or law(Enclosure.of(_LARGEST_EPSILON), direction).upper > delta.lower:
        return None
    return smallest_epsilon(lambda epsilon: law(epsilon, direction), delta, precision=_EPSILON_BITS)


@singledispatch
def selected(repetitions: Repetitions, pair: Pair) -> Pair:
    """The pair of the best of so many runs, from a pair that dominates one of them.

    Raises:
        InvalidType: for what is no law of repetitions.
    """
    raise InvalidType("repetitions", repetitions, "a law of repetitions, such as PoissonRepetitions(mean=Public(10))")


@selected.register
def _(repetitions: FixedRepetitions, pair: Pair) -> Pair:
    """That of all of them: which one is best is post-processing."""
    return pair.repeated(int(repetitions.times.value))


@selected.register
def _(repetitions: RandomRepetitions, pair: Pair) -> Pair:
    return Selected(pair, repetitions)


def tilts_below(profile: Profile, repetitions: RandomRepetitions) -> Tilts:
    """Lines below the tilts of a selection.

    Args:
        profile: δ(x) of the second law from the first.
        repetitions: how many runs there are.
    """
    start, slope = repetitions.first(profile, _PRECISION)
    places = _places(profile, float(start), repetitions.level)
    deltas = [Enclosure.of(profile(Enclosure.of(x, precision=_PRECISION)).upper, precision=_PRECISION) for x in places]
    lines = [
        repetitions.line(x, delta, Fraction(steepness))
        for x, delta, steepness in zip(places, deltas, _steepnesses(places, deltas, repetitions), strict=True)
        if steepness > 0
    ]
    return Tilts(slope, tuple(line for line in lines if line is not None), _PRECISION, start)


def _places(profile: Profile, start: float, level: float) -> list[Fraction]:
    """Where lines are made: evenly from `start` to where δ(x) no longer matters."""

    def delta(x: float) -> float:
        return profile(Enclosure.of(x, precision=_PRECISION)).upper_float

    last = delta(start + _FARTHEST)  # of what tells for certain, which no x takes away

    def faint(x: float) -> bool:
        return delta(x) - last < _FAINT * level

    low, width = start, max(start, _START)
    while width < _FARTHEST and not faint(start + width):
        low, width = start + width, 2 * width
    high = start + min(width, _FARTHEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if faint(middle) else (middle, high)
    return [Fraction(start + (high - start) * step / _LINES) for step in range(1, _LINES + 1)]


def _steepnesses(places: list[Fraction], deltas: list[Enclosure], repetitions: RandomRepetitions) -> list[float]:
    """About where each s' ≤ e^x·s + δ is the least, between where it meets its neighbours; the slope of c there."""
    met = [
        (one.upper_float - other.upper_float) / (math.exp(float(y)) - math.exp(float(x)))
        for x, y, one, other in zip(places, places[1:], deltas, deltas[1:], strict=False)
    ]
    ends = [met[0], *met, 0.0] if met else [0.0, 0.0]
    return [
        repetitions.steepness(float(x), delta.upper_float, (left + right) / 2)
        for x, delta, left, right in zip(places, deltas, ends, ends[1:], strict=False)
    ]


def _at(law: DeltaLaw, epsilon: Enclosure, direction: Direction) -> Enclosure:
    """δ at the least of some ε, of either sign: (P − γQ)₊ = P − γQ + γ·(Q − P/γ)₊ where γ = e^ε < 1."""
    least = Enclosure.of(epsilon.lower, precision=epsilon.precision)
    if epsilon.lower >= 0:
        return law(least, direction)
    return law(-least, direction.other) * least.exp() - least.expm1()
