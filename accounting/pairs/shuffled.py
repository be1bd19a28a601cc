"""Answers of a local randomiser that are shuffled: the pair of counts among clones.

Legend: each of n users gives one answer of an ε₀-DP randomiser, of which only the counts are seen; a is the answer of
the user whose value differs. Any other user's answer is, with probability γ, a clone: a draw of a or of its opposite,
each with probability ½. C is the number of clones, Bin(n − 1, γ); a is the truth with probability p = e^ε₀/(1 + e^ε₀).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise
from operator import mul
from typing import final

from attrs import frozen

from ..enclosures import Enclosure, Truth, binomial_tail
from ..enclosures.arguments import non_negative, probability, whole
from ..enclosures.corners import writable
from ..errors import InvalidValue
from ..loss_distribution.cells import Cells
from ..loss_distribution.families import interpolated_cells
from ..relations import Direction
from .laws import DeltaLaw, LossCells, PureLaw, RenyiEstimate, RenyiLaw
from .pair import Pair
from .randomised_response import RandomisedResponsePair
from .smallest_epsilon import smallest_epsilon

MOST_USERS = 1 << 40
_EACH = 2048
"""Up to so many likely numbers of clones are looked at one by one; of more, stretches."""
_STRETCHES = 64
_FAR = 14
"""Beyond so many standard deviations of their number, clones are one stretch."""
_BITS = 24
_FOLLOWED = 128
"""After so many steps, tails are computed anew, so that roundings do not add up."""


@final
@frozen
class ShuffledPair(Pair):
    """The number of answers that are a, among a clone of each kind: Bin(C, ½) plus the differing user's own.

    Attributes:
        local: ε₀, at least 0.
        users: n, from 1 to 2^40.
        clones: γ, in [0, 1].

    Guarantees:
        Dominates replacing one user's value, where every user runs the same ε₀-DP randomiser R and
        R(v) ≥ γ·(Q₀ + Q₁)/2 for every value v, Q₀ and Q₁ being the laws that R of the two values consists of
        (Feldman, McMillan, Talwar 2021, Theorem 3.2; `docs/soundness_shuffling.md`). More clones are post-processing
        of fewer, so its laws do not rise with γ or n.

    Raises:
        InvalidValue: outside these ranges. InvalidType: for anything but enclosures and a whole number.
    """

    local: Enclosure
    users: int
    clones: Enclosure

    def __attrs_post_init__(self) -> None:
        non_negative("local", self.local)
        probability("clones", self.clones)
        if whole("users", self.users, 1) > MOST_USERS:
            raise InvalidValue("users", self.users, f"a whole number from 1 to {MOST_USERS}")

    @property
    def pure(self) -> PureLaw:
        """The pure ε₀ of one answer: that no other is a clone is possible."""
        return self._response.pure

    @property
    def delta(self) -> DeltaLaw:
        """The mean over C of what is told apart among C clones: a mass and a tail of Bin(C, ½)."""
        return self._delta

    @property
    def symmetric(self) -> bool:
        """Whether an involution swaps both laws: swapping the two kinds of answers does."""
        return True

    @property
    def renyi(self) -> RenyiLaw:
        """At most that of the answer itself, from 0 on."""
        law = self._response.renyi
        return lambda order, direction: law(order, direction).hull(0)

    @property
    def renyi_estimate(self) -> RenyiEstimate:
        """A quick estimate of the bound of τ(α): that of randomised response."""
        return self._response.renyi_estimate

    @property
    def zero_concentrated(self) -> Enclosure:
        """ρ of the answer itself."""
        return self._response.zero_concentrated

    @property
    def gaussian(self) -> Enclosure:
        """μ of the answer itself in Gaussian DP."""
        return self._response.gaussian

    @property
    def loss_cells(self) -> LossCells:
        """The privacy loss in cells, from above: δ(ε) at some ε, joined by straight lines in e^ε."""
        return self._cells

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure:
        """Enclose the smallest ε at δ, to a few millionths."""
        if delta.lower <= 0:
            return self.local.hull(0) if delta.upper > 0 else self.local
        expected = [round((self.users - 1) * float(self.clones.midpoint))]
        about = smallest_epsilon(lambda level: next(_losses(self.local, level, expected)), delta, precision=_BITS)
        found = smallest_epsilon(
            lambda level: self._delta(level, direction), delta, precision=_BITS, guess=float(about.midpoint)
        )
        return found.minimum(self.local)

    @property
    def _response(self) -> RandomisedResponsePair:
        return RandomisedResponsePair(self.local)

    def _cells(self, direction: Direction) -> Cells:
        above = cache(self._above)  # both directions have the same curve
        return interpolated_cells(lambda epsilon, _: above(epsilon), direction)

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        above = self._above(non_negative("epsilon", epsilon))
        edges, _, more = self._stretches
        below = _mean(self.local.lower, epsilon.upper, [edge - 1 for edge in edges[1:]], more, above.precision)
        return below.hull(above.upper).maximum(0).minimum(1)

    def _above(self, epsilon: Enclosure) -> Enclosure:
        """From 0 to the upper end of δ(ε), which takes half the time of both ends."""
        edges, fewer, _ = self._stretches
        bits = max(self.local.precision, epsilon.precision)
        return _mean(self.local.upper, epsilon.lower, edges[:-1], fewer, bits).hull(0).maximum(0).minimum(1)

    @cached_property
    def _stretches(self) -> tuple[list[int], list[Enclosure], list[Enclosure]]:
        """Where stretches of numbers of clones begin, and the probability of each: for the fewest, and the most."""
        others, chance = self.users - 1, float(self.clones.midpoint)
        reach = math.ceil(_FAR * (math.sqrt(others * chance * (1 - chance)) + 1))
        first = max(0, round(others * chance) - reach)
        last = min(others + 1, first + 2 * reach)
        step = 1 if last - first <= _EACH else -(-(last - first) // _STRETCHES)
        edges = sorted({0, *range(first, last, step), others + 1})
        fewer = _masses(others, edges, self.clones.lower, self.clones.precision)
        point = self.clones.is_point
        return edges, fewer, fewer if point else _masses(others, edges, self.clones.upper, self.clones.precision)


def _masses(others: int, edges: Sequence[int], clones: Fraction, precision: int) -> list[Enclosure]:
    chance = Enclosure.of(clones, precision=precision)
    tails = [binomial_tail(others, edge, chance) for edge in edges]
    return [(above - below).maximum(0) for above, below in pairwise(tails)]


def _mean(
    local: Fraction, level: Fraction, numbers: Sequence[int], masses: Sequence[Enclosure], precision: int
) -> Enclosure:
    losses = _losses(Enclosure.of(local, precision=precision), Enclosure.of(level, precision=precision), numbers)
    return sum(map(mul, masses, losses), Enclosure.of(0, precision=precision))


def _losses(local: Enclosure, epsilon: Enclosure, numbers: Iterable[int]) -> Iterator[Enclosure]:
    """δ(ε) at each number C of clones, for single ε₀ and ε.

    The likelihood ratio rises with the number h of answers a of all C + 1: it exceeds e^ε where h exceeds (C + 1)·θ,
    θ = (e^(ε₀ + ε) − 1)/((e^ε₀ − 1)(e^ε + 1)). No other threshold gives more, so of two that rounding leaves,
    the larger result is that of the right one.
    """
    bits = local.precision
    if epsilon.less(local) is not Truth.TRUE:  # or they cannot be told apart: it is next to 0
        excess = (-(epsilon - local).expm1()).maximum(0).hull(0)
        yield from (excess for _ in numbers)
        return
    gain = epsilon.expm1()
    share = (local + epsilon).expm1() / (local.expm1() * (gain + 2))
    lead = epsilon.exp() * (local - epsilon).expm1() / (local.exp() + 1)
    tails = _FairTails(bits)

    def beyond(clones: int, threshold: int) -> Enclosure:
        tail, mass = tails.at(clones, threshold)
        return lead * mass - gain * tail

    for clones in numbers:
        threshold = share * (clones + 1)
        least, most = math.floor(threshold.lower), math.floor(threshold.upper)
        loss = beyond(clones, least)
        if most > least:
            loss = loss.maximum(beyond(clones, most))
        yield writable(loss.maximum(0))


class _FairTails:
    """P(X > t) and P(X = t) of X ~ Bin(c, ½): those next to the last ones follow from them, up to a few in a row."""

    def __init__(self, precision: int) -> None:
        self._half = Enclosure.of("1/2", precision=precision)
        self._at = (-1, -1)
        self._tail = self._mass = self._half
        self._followed = 0

    def at(self, clones: int, threshold: int) -> tuple[Enclosure, Enclosure]:
        """Both, for 0 ≤ t."""
        c, t = self._at
        near = c < clones <= c + 2 and t <= threshold <= t + 2 < c
        if (clones, threshold) != self._at and (not near or self._followed == _FOLLOWED):
            self._tail = binomial_tail(clones, threshold + 1, self._half)
            self._mass = binomial_tail(clones, threshold, self._half) - self._tail
            self._followed = 0
        elif near:
            self._followed += 1
            for number in range(c + 1, clones + 1):
                self._tail += self._mass * Fraction(1, 2)
                self._mass *= Fraction(number, 2 * (number - t))
            for successes in range(t + 1, threshold + 1):
                self._mass *= Fraction(clones - successes + 1, successes)
                self._tail -= self._mass
        self._at = clones, threshold
        return self._tail, self._mass
