"""Moments of the privacy loss of mixtures of normal laws: groups, replaced records, symmetrised samples.

Legend: as in `_kernels.mixture_moments` and `transforms`. The proofs are in `docs/soundness_mixtures.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias, final

import numpy as np
from attrs import frozen

from .._kernels import mixture_moments as kernels
from ..enclosures import Enclosure
from ..enclosures.normal import normal_cdf
from ..exact import Floats, exact
from .transforms import GaussianTransform, KnownTransform, Laws, Line, NodeLine, Transform, exact_point, lifted

Weights: TypeAlias = tuple[Fraction, ...]
"""Probabilities that 0, 1, … records are drawn."""
Mixture: TypeAlias = tuple[tuple[float, float], ...]
"""Weights, each within a unit of itself, and centres; the exact weights add up to 1."""

_NATS = 36.0  # what the rule hides on one panel, of all steps together, is near e^-36
_ROUGH_NATS = 25.0  # of estimates
_MOST_PANELS = 2048
_CELLS_PER_UNIT, _MOST_CELLS = 16, 4096
_MOST_HIDDEN = 1e-3
_LARGEST_TURN = 2.0**29
_SMALLEST_TILT, _LARGEST_TILT = 1e-100, 1e8
_SMALLEST_CENTRE = 1e-50
_NEXT_TO_NO_WEIGHT = Fraction(1, 10**250)
_NOTHING: Mixture = ((1.0, 0.0),)
_NEVER = GaussianTransform(exact_point(Fraction(0)))
_BITS = 128
_ROOT_2PI = 2.5066282746310002


@final
@frozen
class BetweenTransforms(Transform):
    """The transform of a pair of which a smaller and a larger one are known.

    Attributes:
        low: of a pair that this one dominates.
        high: of a pair that dominates it.
    """

    low: Transform
    high: Transform

    @property
    def ends(self) -> tuple[Transform, Transform]:
        """The smaller and the larger transform."""
        return self.low, self.high

    @property
    def null(self) -> bool:
        """Whether the loss is 0 for certain: where it is so of the larger pair."""
        return self.high.null

    @property
    def largest(self) -> Enclosure | None:
        """Bounds of the least upper bound of the loss, where that of the larger pair is finite."""
        most = self.high.largest
        least = None if most is None else self.low.largest
        return most if most is None or least is None else most.hull(least)

    def estimate(self, c: float) -> tuple[float, float, float]:
        """Estimate by the larger pair."""
        return self.high.estimate(c)

    def on(self, c: float, *, reach: float, steps: int) -> Line | None:
        """Return None: lines are those of the `ends`."""
        return None


@final
@frozen
class MixtureTransform(KnownTransform):
    """The moments of the loss of mixtures of normal laws with the same variance.

    Attributes:
        present, absent: the mixtures A and B, of centres from 0 on and down from 0.
        plus, minus: which terms there are: one on the whole line, where B is 1, or both from `start` ≥ 0 on.
        start: −inf for the whole line.
        rest: the probability of the loss 0 beside that.
        most: the least upper bound of the loss, where it is finite.
    """

    present: Mixture
    absent: Mixture
    plus: bool
    minus: bool
    start: float
    rest: Enclosure
    most: Enclosure | None

    @property
    def largest(self) -> Enclosure | None:
        """The least upper bound of the loss, where it is finite."""
        return self.most

    @property
    def entire(self) -> bool:
        """Whether the terms are one analytic integral over the whole line."""
        return not (self.plus and self.minus) or self.absent != _NOTHING

    @cached_property
    def laws(self) -> Laws:
        """Weights and centres of both mixtures, and which terms there are, for kernels."""
        (a, c), (b, d) = (np.array(mixture).T.copy() for mixture in (self.present, self.absent))
        return a, c, b, d, self.plus, self.minus

    def estimate(self, c: float) -> tuple[float, float, float]:
        """Estimate log M(c) and its first two derivatives by the rule on equal panels."""
        if not self._within(c):
            return math.nan, math.nan, math.nan
        low, high, scale = kernels.window(*self.laws, self.start, c, _ROUGH_NATS)
        return kernels.estimate(*self.laws, float(self.rest.midpoint), low, high, scale, c)

    def on(self, c: float, *, reach: float, steps: int) -> Line | None:
        """The line; None where too many panels would be needed."""
        if not self._within(c):
            return None
        return _MixtureLine.made(self, c, reach=reach, nats=_NATS + math.log(steps))

    def _within(self, c: float) -> bool:
        farthest = self.present[-1][1]
        return (
            _SMALLEST_TILT < c < _LARGEST_TILT and farthest > _SMALLEST_CENTRE and (c + 1) * farthest < kernels.FARTHEST
        )


@final
@frozen(eq=False, kw_only=True)
class _MixtureLine(NodeLine):
    """Nodes of Gauss's rule on panels, weights of E_c at them, and what they hide."""

    transform: MixtureTransform
    tilt: float
    scale: float
    low: float
    high: float
    atom: float
    slip: Floats
    relative: Floats

    @classmethod
    def made(cls, transform: MixtureTransform, tilt: float, *, reach: float, nats: float) -> _MixtureLine | None:
        laws = transform.laws
        low, high, scale = kernels.window(*laws, transform.start, tilt, nats)
        edges = np.empty(_MOST_PANELS + 1)
        count, missed = kernels.plan(*laws, low, high, tilt, reach, scale, nats, edges)
        if not (high < kernels.FARTHEST and -low < kernels.FARTHEST and missed < math.inf):
            return None
        panels = int(count)
        nodes = panels * kernels.NODES * (transform.plus + transform.minus) + 3
        loss, weight, slip, relative = (np.zeros(nodes) for _ in range(4))
        tails = kernels.fill(*laws, tilt, scale, edges, panels, loss, weight, slip, relative)
        if transform.rest.upper:
            share = transform.rest * (-Enclosure.of(exact(scale))).exp()
            weight[-2] = share.midpoint
            relative[-2] = float(share.width / share.lower) + 2.0**-51 if share.lower > 0 else math.inf
        total = math.fsum(weight)
        mean = float(weight @ loss) / total
        nu, omega, farthest = kernels.rounding(loss, weight, slip, relative, total, mean)
        hidden = (0.4 * missed + tails) / total * (1 + 2.0**-40)
        if not (hidden + omega < _MOST_HIDDEN and farthest * reach < _LARGEST_TURN):
            return None
        return cls(
            reach=reach,
            nats=nats,
            loss=loss,
            weight=weight,
            total=total,
            mean=mean,
            nu=nu,
            omega=omega + hidden,
            hidden=2 * hidden,
            transform=transform,
            tilt=tilt,
            scale=scale,
            low=low,
            high=float(edges[panels]),
            atom=float(weight[-2]) if transform.rest.upper else 0.0,
            slip=slip,
            relative=relative,
        )

    @property
    def log_moment(self) -> Enclosure:
        off = 1.1 * exact(self.omega) + Fraction(1, 2**50)
        near = Enclosure.of(exact(self.total)).log() + exact(self.scale)
        return Enclosure.between(near.lower - off, near.upper + off).maximum(0)

    def reaching(self, reach: float, nats: float) -> _MixtureLine | None:
        return _MixtureLine.made(self.transform, self.tilt, reach=reach, nats=nats)

    def rounding_about(self, centre: float) -> tuple[float, float]:
        nu, omega, _ = kernels.rounding(self.loss, self.weight, self.slip, self.relative, self.total, centre)
        return nu, omega + self.omega

    @cached_property
    def _sides(self) -> tuple[float, Floats, Floats]:
        cells = min(max(math.ceil((self.high - self.low) * _CELLS_PER_UNIT), 8), _MOST_CELLS)
        below, height = np.empty(cells), np.empty(cells)
        deviation = kernels.sides(
            *self.transform.laws,
            self.low,
            self.high,
            self.tilt,
            self.scale,
            self.mean,
            self.atom,
            self.total,
            self.omega,
            below,
            height,
        )
        return deviation, below, height

    def variation(self) -> tuple[Floats, Floats]:
        return self._sides[1:]

    @property
    def deviation(self) -> float:
        return self._sides[0]

    def lifted(self, y: float, height: float) -> float:
        if not self.transform.entire:
            return math.inf
        mass = self.total * (1.0 - self.omega) * _ROOT_2PI
        return lifted(self.transform.laws, self.low, self.high, self.tilt, self.scale, mass, y, height)


@lru_cache(maxsize=64)
def group_transform(shift: Enclosure, rate: Enclosure, size: int, *, mirrored: bool, swapped: bool) -> Transform:
    """The transform of P = Σ_j C(k, j) q^j (1 − q)^(k−j) N(js, 1) against N(0, 1) or its mirror image.

    Args:
        shift, rate, size: s, q and k ≥ 1.
        mirrored: whether the second law is the mirror image of P.
        swapped: whether N(0, 1) is the first law, and P the second; only where it is not.
    """

    def at(centre: float, chance: float, up: bool) -> Transform:
        q = exact(chance)
        weights = tuple(math.comb(size, j) * q**j * (1 - q) ** (size - j) for j in range(size + 1))
        mixture = _mixture(weights, centre, up=up)
        if mixture == _NOTHING:
            return _NEVER
        if mirrored:
            return _mirrored(mixture)
        none_drawn = mixture[0][0] if mixture[0][1] == 0.0 else 0.0
        most = -Enclosure.of(exact(none_drawn), precision=_BITS).log() if swapped and none_drawn else None
        nothing = Enclosure.of(0)
        if most is not None:  # the weight is within a unit
            most = Enclosure.between(most.lower - Fraction(1, 2**52), most.upper + Fraction(1, 2**52))
        return MixtureTransform(mixture, _NOTHING, not swapped, swapped, -math.inf, nothing, most)

    return _between(shift, rate, size, 2 * size if mirrored else size, at)


@lru_cache(maxsize=64)
def symmetrised_transform(rate: Enclosure, shift: Enclosure) -> Transform:
    """The transform of the symmetric pair with the REMOVE law of (1 − q)·N(0, 1) + q·N(s, 1) against N(0, 1).

    Args:
        rate: q in [0, 1].
        shift: s ≥ 0.
    """

    def at(centre: float, chance: float, up: bool) -> Transform:
        q, middle = exact(chance), centre / 2
        mixture = _mixture((1 - q, q), centre, up=up)
        if mixture == _NOTHING:
            return _NEVER
        kept = Enclosure.of(exact(mixture[0][0]))
        rest = kept * (normal_cdf(Enclosure.of(exact(middle), precision=_BITS)) * 2 - 1)
        return MixtureTransform(mixture, _NOTHING, True, True, middle, rest.maximum(0), None)

    return _between(shift, rate, 1, 1, at)


def _between(
    shift: Enclosure, rate: Enclosure, records: int, times: int, at: Callable[[float, float, bool], Transform]
) -> Transform:
    """The transforms at binary64 numbers below and above both parameters.

    Args:
        shift, rate: s ≥ 0 and q in [0, 1].
        records: multiples of s up to this one are to be exact.
        times: by how many times s the laws are apart that are not sampled.
        at: the transform at s > 0 and q strictly between 0 and 1, and whether it may be of a larger pair or of a
            smaller one.
    """

    def end(centre: float, chance: float, up: bool) -> Transform:
        if centre <= 0.0 or chance <= 0.0:
            return _NEVER
        if chance >= 1.0:
            return GaussianTransform(exact_point((times * exact(centre)) ** 2))
        return at(centre, chance, up)

    low = end(_short(shift.lower_float, records, up=False), rate.lower_float, False)
    high = end(_short(shift.upper_float, records, up=True), min(rate.upper_float, 1.0), True)
    return high if low == high else BetweenTransforms(low, high)


def _short(value: float, records: int, *, up: bool) -> float:
    """A number next to one, of which multiples up to this one are binary64 numbers."""
    if not 0.0 < value < math.inf:
        return value
    mantissa, exponent = math.frexp(value)
    bits = 53 - (records - 1).bit_length()
    scaled = math.ldexp(mantissa, bits)
    return math.ldexp(math.ceil(scaled) if up else math.floor(scaled), exponent - bits)


def _mixture(weights: Weights, shift: float, *, up: bool) -> Mixture:
    """Weights of multiples of the shift as binary64 numbers; those next to nothing go to more records, or to fewer."""
    kept = list(weights)
    order = range(len(kept)) if up else range(len(kept) - 1, -1, -1)
    for j in order:
        after = j + 1 if up else j - 1
        if 0 < kept[j] < _NEXT_TO_NO_WEIGHT and 0 <= after < len(kept):
            kept[after] += kept[j]
            kept[j] = Fraction(0)
    last = -1 if up else 0
    lacking = _NEXT_TO_NO_WEIGHT - kept[last]
    if 0 < kept[last] < _NEXT_TO_NO_WEIGHT:  # taken from what is farthest from it
        kept[last] += lacking
        farthest = max(range(len(kept)), key=lambda j: kept[j])
        kept[farthest] -= lacking
    return tuple((float(weight), j * shift) for j, weight in enumerate(kept) if weight)


def _mirrored(mixture: Mixture) -> Transform:
    """The transform of a mixture against its mirror image: both terms from 0 on."""
    mirror = tuple((weight, -centre) for weight, centre in mixture)
    return MixtureTransform(mixture, mirror, True, True, 0.0, Enclosure.of(0), None)
