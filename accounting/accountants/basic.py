"""Basic composition: sums of ε and of δ."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from ..conversions import PURE_TO_APPROXIMATE
from ..derivation import Theorem
from ..enclosures import Enclosure, Truth
from ..notions import APPROXIMATE, PURE
from ..pairs import Pair
from .accountant import Accountant, Finding
from .splits import Split, smallest_scale, total_delta, total_epsilon
from .worst_pairs import Bounds, WorstPairs, largest, pure

_ROUNDED = 1 - Fraction(1, 2**60)  # room for the rounding of a sum

EACH_RELEASE = Theorem("law", "(ε, δ) of each release from its own pair")


@final
@frozen
class BasicAccountant(Accountant):
    """Sums of ε and of δ: pure losses, or an (ε, δ) of each release by its own pair, with δ shared out evenly."""

    name = "basic"
    theorems = (
        EACH_RELEASE,
        APPROXIMATE.composition_theorem,
        PURE.composition_theorem,
        PURE_TO_APPROXIMATE.theorem,
    )

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """Bound ε at δ; None where a release has neither a pure loss nor a δ(ε) that falls far enough."""
        if delta.lower >= 1:
            nothing = Enclosure.of(0, precision=delta.precision)
            return Finding(Bounds(nothing, two_sided=True), APPROXIMATE, self.theorems[1:2], self)
        bound = pairs.worst(pure)
        if delta.lower > 0:
            found = [_epsilon(pair, Enclosure.of(delta.lower)) for pair in pairs.bounding]
            known = [epsilon for epsilon in found if epsilon is not None]
            if len(known) == len(found):
                most = largest(known)
                if bound is None or most.upper < bound.enclosure.upper:
                    return Finding(Bounds(most, two_sided=False), APPROXIMATE, self.theorems[:2], self)
        if bound is None:
            return None
        if delta.upper == 0:
            return Finding(bound, PURE, self.theorems[2:3], self)
        return Finding(Bounds(bound.enclosure, two_sided=False), PURE, self.theorems[2:], self)

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """Bound δ at ε; None where a release has neither a pure loss nor a δ(ε)."""
        bound = pairs.worst(pure)
        if bound is not None and bound.enclosure.less_equal(epsilon) is Truth.TRUE:
            zero = Enclosure.of(0, precision=epsilon.precision)
            return Finding(Bounds(zero, two_sided=True), PURE, self.theorems[2:], self)
        found = [_delta(pair, epsilon) for pair in pairs.bounding]
        known = [delta for delta in found if delta is not None]
        if len(known) < len(found):
            return None
        return Finding(Bounds(largest(known), two_sided=False), APPROXIMATE, self.theorems[:2], self)


BASIC = BasicAccountant()


def _epsilon(pair: Pair, delta: Enclosure) -> Enclosure | None:
    split = Split.of(pair)
    if split is None:
        return None
    scale = smallest_scale(split, delta)
    return None if scale is None else total_epsilon(split.at(scale))


def _delta(pair: Pair, epsilon: Enclosure) -> Enclosure | None:
    split = Split.of(pair)
    if split is None or not split.scalable:
        return None
    shares = split.at(epsilon.lower / split.size * _ROUNDED)
    return total_delta(shares) if total_epsilon(shares).less_equal(epsilon) is Truth.TRUE else None
