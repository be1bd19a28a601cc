"""Advanced composition, as Kairouz, Oh and Viswanath 2015 improved that of Dwork, Rothblum and Vadhan 2010.

Legend: release l is (ε_l, δ_l)-DP, E = Σ ε_l·(e^{ε_l} − 1)/(e^{ε_l} + 1) and S = Σ ε_l². For every δ' > 0 the run is
(ε', 1 − (1 − δ')·Π(1 − δ_l))-DP for ε' the least of

    Σ ε_l,   E + √(2S·log(e + √S/δ')),   E + √(2S·log(1/δ')).

Why: a release is dominated by randomised response with ε_l, unless with probability δ_l it tells everything. The loss L
of the responses has mean E and independent parts within ±ε_l, so P(L > E + t) ≤ e^{−t²/2S} (Hoeffding): the last form.
For the other, δ(E + t) = ∫ e^{−u}·P(L > E + t + u) du ≤ e^{−t²/2S}·∫ e^{−u(1 + t/S)} du = e^{−t²/2S}/(1 + t/S). With
e^{t²/2S} = e + √S/δ' this is δ'/((eδ' + √S)·(1 + t/S)), and t ≥ √(2S) makes that denominator at least √2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from attrs import evolve, frozen

from ..derivation import Theorem
from ..enclosures import Enclosure, Truth
from ..notions import APPROXIMATE
from ..pairs import RandomisedResponsePair
from .accountant import Accountant, Finding
from .basic import BASIC, EACH_RELEASE
from .splits import Share, Split, delta_at_best_scale, epsilon_at_best_scale, sum_of, total_epsilon
from .worst_pairs import Bounds, WorstPairs, largest

_ADVANCED = Theorem("Kairouz, Oh, Viswanath 2015", "Theorem 3.5")


@final
@frozen
class AdvancedAccountant(Accountant):
    """Advanced composition of the releases' pure losses, or of an (ε, δ) of each by its own pair; never above basic."""

    name = "advanced"
    theorems = (*BASIC.theorems, _ADVANCED)

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """Bound ε at δ; None where a release has neither a pure loss nor a δ(ε) that falls far enough."""
        basic = BASIC.epsilon(pairs, delta)
        if basic is None or delta.lower <= 0 or basic.upper <= 0:
            return None if basic is None else evolve(basic, accountant=self)
        level = Enclosure.of(delta.lower)
        found = [_epsilon(split, level) for split in map(Split.of, pairs.bounding)]
        return self._better(basic, found)

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """Bound δ at ε; None where a release has neither a pure loss nor a δ(ε)."""
        basic = BASIC.delta(pairs, epsilon)
        if basic is not None and basic.upper <= 0:
            return evolve(basic, accountant=self)
        return self._better(basic, [_delta(split, epsilon) for split in map(Split.of, pairs.bounding)])

    def _better(self, basic: Finding | None, found: Sequence[Enclosure | None]) -> Finding | None:
        known = [value for value in found if value is not None]
        if len(known) == len(found):
            most = largest(known)
            if basic is None or most.upper < basic.upper:
                return Finding(Bounds(most, two_sided=False), APPROXIMATE, (EACH_RELEASE, _ADVANCED), self)
        return None if basic is None else evolve(basic, accountant=self)


ADVANCED = AdvancedAccountant()


def _epsilon(split: Split | None, delta: Enclosure) -> Enclosure | None:
    return None if split is None else epsilon_at_best_scale(split, delta, advanced_epsilon, _about_epsilon)


def _delta(split: Split | None, epsilon: Enclosure) -> Enclosure | None:
    return None if split is None else delta_at_best_scale(split, epsilon, advanced_delta, _about_delta)


def advanced_epsilon(shares: Sequence[Share], delta: Enclosure) -> Enclosure:
    """The least of the three forms, at δ' in [0, 1)."""
    total = total_epsilon(shares)
    if delta.lower <= 0:
        return total
    mean, squares = _moments(shares)
    spread = squares.sqrt()
    e = Enclosure.of(1, precision=delta.precision).exp()
    for reach in (-delta.log(), (spread / delta + e).log()):
        total = total.minimum(mean + spread * (reach * 2).sqrt())
    return total


def advanced_delta(shares: Sequence[Share], epsilon: Enclosure) -> Enclosure:
    """The least δ' at which one of the three forms is at most ε'."""
    zero = Enclosure.of(0, precision=epsilon.precision)
    if total_epsilon(shares).less_equal(epsilon) is Truth.TRUE:
        return zero
    mean, squares = _moments(shares)
    room = (epsilon - mean).maximum(0)
    if squares.lower <= 0:
        return zero + 1
    falls = (-(room.square() / (squares * 2))).exp()
    rest = 1 - falls * Enclosure.of(1, precision=falls.precision).exp()
    return falls if rest.lower <= 0 else falls.minimum(squares.sqrt() * falls / rest)


def _moments(shares: Sequence[Share]) -> tuple[Enclosure, Enclosure]:
    """E and S; a single response has the mean loss ε·tanh(ε/2)."""
    mean = sum_of(RandomisedResponsePair(share.epsilon).zero_concentrated * share.times for share in shares)
    return mean, sum_of(share.epsilon.square() * share.times for share in shares)


def _about_epsilon(shares: Sequence[Share], delta: Enclosure) -> float:
    return advanced_epsilon(shares, delta).upper_float


def _about_delta(shares: Sequence[Share], epsilon: Enclosure) -> float:
    return advanced_delta(shares, epsilon).upper_float
