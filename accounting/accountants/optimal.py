"""Optimal composition: what follows from an (ε, δ) of each release, and from nothing else.

Legend: release l is (ε_l, δ_l)-DP. It is dominated by randomised response with ε_l that with probability δ_l tells
everything, so the run is (ε', 1 − (1 − δ')·Π(1 − δ_l))-DP exactly where the composed responses have δ(ε') ≤ δ'. For
equal ε_l that is a sum of binomials (Kairouz, Oh, Viswanath 2015, Theorem 3.3). For different ones it is #P-complete to
compute (Murtagh, Vadhan 2016, Theorems 1.5 and 1.7): the losses of the responses are composed on a lattice, from above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol, final

from attrs import evolve, frozen

from ..derivation import Theorem
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..loss_distribution.cells import Cells
from ..loss_distribution.lattice import delta_by_lattice, epsilon_by_lattice
from ..notions import APPROXIMATE
from ..pairs import Pair, RandomisedResponsePair, compose_pairs
from ..relations import Direction
from .accountant import Accountant, Finding
from .advanced import ADVANCED
from .basic import EACH_RELEASE
from .splits import (
    Candidates,
    Share,
    Split,
    delta_at_best_scale,
    epsilon_at_best_scale,
    for_delta,
    for_epsilon,
    total_epsilon,
)
from .worst_pairs import Bounds, WorstPairs, largest

_EQUAL = Theorem("Kairouz, Oh, Viswanath 2015", "Theorem 3.3")
_DIFFERENT = Theorem("Murtagh, Vadhan 2016", "Theorem 1.5")
_MOST_TERMS, _CLOSE = 10_000, 1e-13
_HALVINGS = 40
_FEW_POINTS = 1 << 17


class _ByLattice(Protocol):
    def __call__(self, parts: Sequence[tuple[Cells, int]], at: Enclosure, /, *, points: int) -> Enclosure: ...


@final
@frozen
class OptimalAccountant(Accountant):
    """The smallest bound that the ε of each release proves: pure losses, or an (ε, δ) of each by its own pair."""

    name = "optimal"
    theorems = (*ADVANCED.theorems, _EQUAL, _DIFFERENT)

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """Bound ε at δ; None where a release has neither a pure loss nor a δ(ε) that falls far enough."""
        advanced = ADVANCED.epsilon(pairs, delta)
        if advanced is None or delta.lower <= 0 or advanced.upper <= 0:
            return None if advanced is None else evolve(advanced, accountant=self)
        level = Enclosure.of(delta.lower)
        found = [_epsilon(split, level) for split in map(Split.of, pairs.bounding)]
        return self._better(pairs, advanced, found)

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """Bound δ at ε; None where a release has neither a pure loss nor a δ(ε)."""
        advanced = ADVANCED.delta(pairs, epsilon)
        if advanced is None or advanced.upper <= 0:
            return None if advanced is None else evolve(advanced, accountant=self)
        found = [_delta(split, epsilon) for split in map(Split.of, pairs.bounding)]
        return self._better(pairs, advanced, found)

    def least_epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Fraction:
        """What a small lattice tells of the composed responses, where those of some pair are different ones."""
        advanced = ADVANCED.epsilon(pairs, delta)
        if advanced is None or delta.lower <= 0:
            return Fraction(0)
        level = Enclosure.of(delta.lower)
        splits = [split for pair in pairs.bounding if (split := Split.of(pair)) is not None]
        found = [_least(for_epsilon(split, level, _about_epsilon), epsilon_by_lattice) for split in splits]
        return min(advanced.upper, max(found, default=Fraction(0)))

    def least_delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Fraction:
        """What a small lattice tells of the composed responses, where those of some pair are different ones."""
        advanced = ADVANCED.delta(pairs, epsilon)
        if advanced is None:
            return Fraction(0)
        splits = [split for pair in pairs.bounding if (split := Split.of(pair)) is not None]
        found = [_least(for_delta(split, epsilon, _about_delta), delta_by_lattice) for split in splits]
        return min(advanced.upper, max(found, default=Fraction(0)))

    def _better(self, pairs: WorstPairs, advanced: Finding, found: Sequence[Enclosure | None]) -> Finding:
        known = [value for value in found if value is not None]
        if len(known) == len(found):
            most = largest(known)
            if most.upper < advanced.upper:
                kinds = max(len(pair.releases) for pair in pairs.bounding)
                theorems = (EACH_RELEASE, _EQUAL if kinds == 1 else _DIFFERENT)
                return Finding(Bounds(most, two_sided=False), APPROXIMATE, theorems, self)
        return evolve(advanced, accountant=self)


OPTIMAL = OptimalAccountant()


def _epsilon(split: Split | None, delta: Enclosure) -> Enclosure | None:
    return None if split is None else epsilon_at_best_scale(split, delta, optimal_epsilon, _about_epsilon)


def _delta(split: Split | None, epsilon: Enclosure) -> Enclosure | None:
    return None if split is None else delta_at_best_scale(split, epsilon, optimal_delta, _about_delta)


def _least(candidates: Candidates, by_lattice: _ByLattice) -> Fraction:
    """A number that no composition of the shares at one of the scales is below; 0 where none is found at once."""
    least = []
    for shares, at in candidates:
        responses = [(RandomisedResponsePair(share.epsilon), share.times) for share in shares]
        try:
            cells = [(pair.loss_cells(Direction.REMOVE), times) for pair, times in responses if pair.epsilon.upper]
            least.append(by_lattice(cells, at, points=_FEW_POINTS).lower if len(cells) > 1 else Fraction(0))
        except InvalidValue:
            return Fraction(0)
    return min(least, default=Fraction(0))


def optimal_epsilon(shares: Sequence[Share], delta: Enclosure) -> Enclosure:
    """The smallest ε' at δ' of the composed responses; their sum where those lose more than can be composed."""
    try:
        found = _responses(shares).smallest_epsilon(delta, Direction.REMOVE)
    except InvalidValue:
        return total_epsilon(shares)
    assert found is not None
    return found


def optimal_delta(shares: Sequence[Share], epsilon: Enclosure) -> Enclosure:
    """δ' at ε' of the composed responses."""
    law = _responses(shares).delta
    assert law is not None
    return law(epsilon, Direction.REMOVE)


def _responses(shares: Sequence[Share]) -> Pair:
    highest = [(Enclosure.of(share.epsilon.upper, precision=share.epsilon.precision), share.times) for share in shares]
    return compose_pairs(RandomisedResponsePair(epsilon).repeated(times) for epsilon, times in highest)


def _about_delta(shares: Sequence[Share], epsilon: Enclosure) -> float:
    """δ' of as many equal responses with the same sum of squares."""
    return _delta_of_equal(*_equal(shares), epsilon.upper_float)


def _about_epsilon(shares: Sequence[Share], delta: Enclosure) -> float:
    """ε' of as many equal responses with the same sum of squares."""
    own, times = _equal(shares)
    low, high = 0.0, own * times
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _delta_of_equal(own, times, middle) <= delta.upper_float:
            high = middle
        else:
            low = middle
    return high


def _equal(shares: Sequence[Share]) -> tuple[float, int]:
    times = sum(share.times for share in shares)
    return math.sqrt(sum(share.times * (own := share.epsilon.upper_float) * own for share in shares) / times), times


def _delta_of_equal(own: float, times: int, epsilon: float) -> float:
    if epsilon >= own * times:
        return 0.0
    before = math.ceil((epsilon / own + times) / 2) - 1
    if before >= times:
        return 0.0
    lies = math.exp(-own) / (1 + math.exp(-own))
    truth, lie = (_more_than(before, times, chance) for chance in (1 - lies, lies))
    return max(truth - math.exp(min(epsilon, 700.0)) * lie, 0.0)


def _more_than(least: int, times: int, chance: float) -> float:
    """The probability of more than so many of `times` successes, about.

    It is I_p(k + 1, n − k), the regularised incomplete beta function, by its continued fraction in Lentz's form. To
    import SciPy's takes a fifth of the time of an answer.
    """
    if not 0 < chance < 1:
        return chance
    a, b = least + 1.0, float(times - least)
    if chance > (a + 1) / (a + b + 2):  # where the fraction converges slowly
        return 1.0 - _more_than(times - least - 1, times, 1.0 - chance)
    lead = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(chance) + b * math.log1p(-chance)
    upper, lower = 1.0, 1.0 / (1.0 - (a + b) * chance / (a + 1.0))
    value = lower
    for m in range(1, _MOST_TERMS):
        for numerator in (
            m * (b - m) * chance / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * chance / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            lower = 1.0 / (1.0 + numerator * lower)
            upper = 1.0 + numerator / upper
            value *= lower * upper
        if abs(lower * upper - 1.0) < _CLOSE:
            break
    return math.exp(min(lead, math.log(a))) / a * value  # which it is at most, however large numbers round
