"""Several records at once under Poisson sampling of Gaussian noise: added or removed, or replaced by others.

Legend: of a group of k records each is drawn with probability q and moves the output by s standard deviations at most.
A(z) = Σ_j C(k, j) q^j (1 − q)^(k−j) e^(jsz − j²s²/2) is the density of P = Σ_j C(k, j) q^j (1 − q)^(k−j) N(js, 1) over
that of N(0, 1). The pair (P, N(0, 1)) dominates the group's removal, and P with its mirror image the group's
replacement: the proofs are in `docs/soundness_replace.md`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil, comb, log
from typing import final

import numpy as np
from attrs import frozen

from ..enclosures import Enclosure, Truth
from ..enclosures.arguments import non_negative, probability, whole
from ..enclosures.corners import writable
from ..enclosures.monotone import sharp
from ..enclosures.normal import normal_cdf
from ..enclosures.roots import decreasing_root, increasing_root
from ..errors import InvalidValue, Undecided
from ..exact import Floats
from ..loss_distribution.cells import Cells
from ..loss_distribution.families import gaussian_group_cells
from ..loss_distribution.mixture_transforms import group_transform
from ..loss_distribution.transforms import Transform
from ..relations import Direction
from .laws import DeltaLaw, LossCells, LossTransform
from .pair import Pair, between

_FARTHEST_GUESS = 2**40
LARGEST_GROUP = 64
"""The largest group for which rounding errors of its cells are proven."""


def group_weights(rate: Fraction, size: int) -> list[Fraction]:
    """The probabilities that 0, 1, … of a group's records are drawn, exactly."""
    return [comb(size, j) * rate**j * (1 - rate) ** (size - j) for j in range(size + 1)]


@final
@frozen
class GaussianGroup(Pair):
    """P = Σ_j C(k, j) q^j (1 − q)^(k−j) N(js, 1), against N(0, 1) or against the mirror image of P.

    Attributes:
        shift: s, how far one record moves the output in standard deviations; at least 0.
        rate: q in [0, 1].
        size: k, from 1 to 64.
        mirrored: whether the group is replaced by another one; otherwise it is added or removed.

    Guarantees:
        The pair dominates the change of k records, each drawn with a probability of at most q and moving the output by
        at most s, whatever else is drawn. Replaced, it is symmetric, so that it dominates both orientations and may be
        composed whatever the releases choose. It is reached where the records move the output by exactly s, in one
        direction all, those that replace them in the opposite one.

    Raises:
        InvalidValue: outside these ranges. InvalidType: for anything but enclosures and a whole number.
    """

    shift: Enclosure
    rate: Enclosure
    size: int
    mirrored: bool

    def __attrs_post_init__(self) -> None:
        non_negative("shift", self.shift)
        probability("rate", self.rate)
        if whole("size", self.size, 1) > LARGEST_GROUP:
            raise InvalidValue("size", self.size, f"at most {LARGEST_GROUP} records")

    def down_to(self, lower: Pair) -> Pair | None:
        """The pair of shifts and rates from those of another one up to its own; see `Pair.down_to`."""
        match lower:
            case GaussianGroup(shift, rate, self.size, self.mirrored):
                moved, drawn = between(shift, self.shift), between(rate, self.rate)
                if moved is None or drawn is None:
                    return None
                return GaussianGroup(moved, drawn, self.size, self.mirrored)
            case _:
                return None

    @property
    def delta(self) -> DeltaLaw:
        """δ(ε), from the one output at which both laws weigh the same, e^ε times the second."""
        return self._delta

    @property
    def symmetric(self) -> bool:
        """Whether an involution swaps both laws: z → −z does, where the group is replaced."""
        return self.mirrored

    @property
    def zero_concentrated(self) -> Enclosure:
        """The ρ = μ²/2 of the unsampled pair, which dominates this one."""
        return self.gaussian.square() * Fraction(1, 2)

    @property
    def gaussian(self) -> Enclosure:
        """The μ of the unsampled pair: k·s, and twice that where the group is replaced."""
        return self.shift * (2 * self.size if self.mirrored else self.size)

    @property
    def loss_transform(self) -> LossTransform:
        """The moments of the privacy loss."""
        return self._transform

    def _transform(self, direction: Direction) -> Transform:
        swapped = direction is Direction.ADD and not self.mirrored
        return group_transform(self.shift, self.rate, self.size, mirrored=self.mirrored, swapped=swapped)

    @property
    def loss_cells(self) -> LossCells:
        """The privacy loss in cells."""
        return self._cells

    def _cells(self, direction: Direction) -> Cells:
        return gaussian_group_cells(self.shift, self.rate, self.size, direction, mirrored=self.mirrored)

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        level = non_negative("epsilon", epsilon)
        swapped = direction is Direction.ADD and not self.mirrored
        bits = max(self.shift.precision, self.rate.precision, level.precision)

        def at(shift: Fraction, rate: Fraction, asked: Fraction) -> Enclosure:
            law = _Law(shift, tuple(group_weights(rate, self.size)), self.mirrored, swapped)
            return sharp(lambda value: writable(law.delta(value).maximum(0)), asked, bits).minimum(1)

        low = at(self.shift.lower, self.rate.lower, level.upper)
        if self.shift.is_point and self.rate.is_point and level.is_point:
            return low
        return low.hull(at(self.shift.upper, self.rate.upper, level.lower))


@frozen
class _Law:
    """The hockey-stick divergence of one group in one direction.

    Attributes:
        shift: s. weights: of the numbers of records drawn. mirrored: as in the pair.
        swapped: whether N(0, 1) is the first law, of a group that is not replaced.
    """

    shift: Fraction
    weights: tuple[Fraction, ...]
    mirrored: bool
    swapped: bool

    def delta(self, epsilon: Enclosure) -> Enclosure:
        """δ(ε) at a point; the output z at which the densities cross is enclosed first, which is not below 0 unless
        the laws are swapped.
        """
        zero = Enclosure.of(0, precision=epsilon.precision)
        if not self.shift or self.weights[0] == 1:
            return zero
        factor = epsilon.exp()
        try:
            z = self._crossing(epsilon, factor)
        except Undecided:  # more bits tell
            return zero.hull(1)
        if z is None:
            return zero.hull((1 - factor * self.weights[0]).maximum(0))
        drawn = [(j * self.shift, weight) for j, weight in enumerate(self.weights) if weight]
        if self.swapped:
            return normal_cdf(z) - factor * sum((normal_cdf(z - c) * weight for c, weight in drawn), zero)
        first = sum((normal_cdf(c - z) * weight for c, weight in drawn), zero)
        if not self.mirrored:
            return first - factor * normal_cdf(-z)
        return first - factor * sum((normal_cdf(-z - c) * weight for c, weight in drawn), zero)

    def _crossing(self, epsilon: Enclosure, factor: Enclosure) -> Enclosure | None:
        """The z where the first density is e^ε times the second; None where none is told from the end of the range."""
        s, most = self.shift, len(self.weights) - 1
        if self.swapped:
            gap = (-epsilon).exp() - self.weights[0]
            if gap.greater(0) is not Truth.TRUE:
                return None
            # A ≤ a₀ + (1 − a₀)·e^(sz − s²/2) below 0, and A ≥ 1 at ks/2
            lowest = (gap / (1 - self.weights[0])).log() / s + s / 2
            low, high = min(lowest.lower, Fraction(0)) - 1, most * s / 2 + 1
            return decreasing_root(
                lambda z: 1 - factor * self._density(z, 1),
                low,
                high,
                precision=epsilon.precision,
                guess=self._about(-epsilon.lower, low, high),
            )
        if not epsilon.upper and self.mirrored:
            return epsilon  # by symmetry
        last = max(j for j, weight in enumerate(self.weights) if weight)
        top = (epsilon - Enclosure.of(self.weights[last], precision=epsilon.precision).log()) / (last * s)
        low, high = Fraction(0), Fraction(ceil(top.upper + last * s / 2) + 1)
        return increasing_root(
            lambda z: self._density(z, 1) - factor * (self._density(z, -1) if self.mirrored else 1),
            low,
            high,
            precision=epsilon.precision,
            guess=self._about(epsilon.lower, low, high),
        )

    def _about(self, level: Fraction, low: Fraction, high: Fraction) -> float | None:
        """About the z between low and high at which the logarithm of the densities' ratio is so much."""
        if max(abs(level), -low, high, (len(self.weights) * self.shift) ** 2) > _FARTHEST_GUESS:
            return None
        centres, logs = self._in_floats

        def ratio(z: float) -> float:
            first = np.logaddexp.reduce(logs + centres * z)
            return float(first - np.logaddexp.reduce(logs - centres * z) if self.mirrored else first)

        below, above, target = float(low), float(high), float(level)
        while below < (middle := (below + above) / 2) < above:
            below, above = (middle, above) if ratio(middle) < target else (below, middle)
        return above

    @cached_property
    def _in_floats(self) -> tuple[Floats, Floats]:
        """js, and log of the weight times e^(−j²s²/2), of each number that may be drawn."""
        drawn = [(j * self.shift, weight) for j, weight in enumerate(self.weights) if weight]
        logs = [log(weight.numerator) - log(weight.denominator) - float(c * c / 2) for c, weight in drawn]
        return np.array([float(c) for c, _ in drawn]), np.array(logs)

    def _density(self, z: Enclosure, sign: int) -> Enclosure:
        """A(z), or A(−z)."""
        zero = Enclosure.of(0, precision=z.precision)
        terms = ((j * self.shift, weight) for j, weight in enumerate(self.weights) if weight)
        return sum(((z * (sign * c) - c * c / 2).exp() * weight for c, weight in terms), zero)
