"""Discrete Gaussian noise compared with normal noise that is rounded to the lattice.

Legend: σ and distances in steps; D(y) is the probability of noise y ∈ ℤ^d of discrete Gaussian noise, C(y) that of
normal noise of standard deviation σ whose coordinates are rounded to the nearest integer; u is uniform on [−1/2, 1/2].

In one coordinate C(y)/D(y) = (1 + ξ)·E[e^{−(2yu + u²)/2σ²}], where 1 + ξ = Σ_x e^{−x²/2σ²} / σ√(2π) and, by Poisson's
formula, 0 ≤ ξ ≤ 4·e^{−19σ²} for σ² ≥ 8. By Jensen's inequality it is at least e^{−1/24σ²}; without the u² it is
(1 + ξ)·sinh(z)/z for z = y/2σ², at most (1 + ξ)·e^{y²/24σ⁴}. So for the noise of a whole run, n coordinates together,

    D ≤ e^a·C everywhere, a = n/24σ²;    C ≤ e^b·D where Σy² ≤ r²σ², b = r²/24σ² + nξ.

The record moves a release by a lattice vector, √s standard deviations altogether. Let the noise stay within Σy² ≤ v²σ²;
seen from the other centre Σy² ≤ (v + √s)²σ². Up to the outcomes where it does not, each law of outputs with noise D is
at most e^a times, and at least e^−b times, the same law with noise C, given what the run has released and drawn so far.
Rounded normal noise is post-processing of normal noise, so that

    δ_D(ε) ≤ e^a·δ_normal(ε − a − b) + e^a·P(Σy² > v²σ² under C),

in both directions, with sampling and with releases chosen by earlier ones. Rounding adds at most √n/2 to the length of
the noise, and P(χ²_n > nt) ≤ e^{−n(t − 1 − log t)/2} for t ≥ 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import singledispatch
from typing import final

from attrs import evolve, frozen

from ..enclosures import Enclosure
from .composed import Composed, compose_pairs
from .discrete_gaussian import WIDE_VARIANCE, DiscreteGaussianPair
from .discrete_gaussian_vector import DiscreteGaussianVectorPair
from .gaussian import GaussianPair
from .lattice_steps import lattice_steps
from .pair import Pair, Repeated, Sampled


@final
@frozen
class LatticeNoise:
    """All discrete Gaussian noise of one variance in a run.

    Attributes:
        variance: σ² in squared steps; at least 8.
        coordinates: how many coordinates are released, n.
        square: what the record moves them altogether, as a sum of squares in units of σ², s.
    """

    variance: Fraction
    coordinates: int
    square: Enclosure

    def repeated(self, times: int) -> LatticeNoise:
        """The noise of so many runs."""
        return evolve(self, coordinates=self.coordinates * times, square=self.square * times)

    @property
    def raised(self) -> Enclosure:
        """The logarithm of the factor by which it may be likelier than rounded normal noise: a."""
        return Enclosure.of(Fraction(self.coordinates) / (24 * self.variance), precision=self.square.precision)

    def lowered(self, spread: Fraction) -> Enclosure:
        """The logarithm of the factor by which rounded normal noise may be likelier where χ² stays below n·spread: b.

        Args:
            spread: t, at least 1.
        """
        number, bits = Fraction(self.coordinates), self.square.precision
        noise = Enclosure.of(number * spread, precision=bits).sqrt()
        rounding = Enclosure.of(number / (4 * self.variance), precision=bits).sqrt()
        reach = (noise + rounding + self.square.sqrt()).square() * (1 / (24 * self.variance))
        return reach + Enclosure.of(-19 * self.variance, precision=bits).exp() * (4 * number)

    def beyond(self, spread: Fraction) -> Enclosure:
        """A bound of the probability that χ² is above n·spread."""
        t = Enclosure.of(spread, precision=self.square.precision)
        return ((t - 1 - t.log()) * Fraction(-self.coordinates, 2)).exp()

    def spread_for(self, log_probability: float) -> Fraction:
        """A spread beyond which χ² has about the probability with that logarithm, or less."""
        needed, low, high = -2 * log_probability / self.coordinates, 1.0, 2.0
        while high - 1 - math.log(high) < needed:
            high *= 2
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if middle - 1 - math.log(middle) < needed else (low, middle)
        return Fraction(high)


@final
@frozen
class RoundedNormal:
    """A run whose discrete Gaussian noise is replaced by rounded normal noise.

    Attributes:
        pair: it dominates the run with that noise.
        noises: the discrete noise that was replaced, by variance.
    """

    pair: Pair
    noises: tuple[LatticeNoise, ...]


@singledispatch
def compared(pair: Pair) -> RoundedNormal:
    """Replace the discrete Gaussian noise of a run by normal noise: the run itself where there is none to replace."""
    return RoundedNormal(pair, ())


@compared.register
def _(pair: DiscreteGaussianPair) -> RoundedNormal:
    most = Enclosure.of(lattice_steps(pair.steps)[1], precision=pair.steps.precision)
    return _replaced(pair, pair.variance, most, 1)


@compared.register
def _(pair: DiscreteGaussianVectorPair) -> RoundedNormal:
    return _replaced(pair, pair.variance, pair.length, pair.dimension)


@compared.register
def _(pair: Sampled) -> RoundedNormal:
    inner = compared(pair.base)
    return evolve(inner, pair=inner.pair.sampled(pair.rate))


@compared.register
def _(pair: Repeated) -> RoundedNormal:
    inner = compared(pair.base)
    return RoundedNormal(inner.pair.repeated(pair.times), tuple(noise.repeated(pair.times) for noise in inner.noises))


@compared.register
def _(pair: Composed) -> RoundedNormal:
    parts = [compared(part) for part in pair.parts]
    return RoundedNormal(
        compose_pairs(part.pair for part in parts), _together(noise for part in parts for noise in part.noises)
    )


def _replaced(pair: Pair, variance: Fraction, steps: Enclosure, dimension: int | None) -> RoundedNormal:
    if dimension is None or variance < WIDE_VARIANCE:
        return RoundedNormal(pair, ())
    square = steps.square() * (1 / variance)
    return RoundedNormal(GaussianPair(square.sqrt()), (LatticeNoise(variance, dimension, square),))


def _together(noises: Iterable[LatticeNoise]) -> tuple[LatticeNoise, ...]:
    found: dict[Fraction, LatticeNoise] = {}
    for noise in noises:
        known = found.get(noise.variance)
        if known is not None:
            noise = evolve(noise, coordinates=known.coordinates + noise.coordinates, square=known.square + noise.square)
        found[noise.variance] = noise
    return tuple(found.values())
