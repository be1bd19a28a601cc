"""Stability-based histograms (PWS Algorithm 6), the baseline of PWS Section 8: exact probabilities and moments.

Legend: i ≥ 1 is the frequency of a key, w* = i + Laplace(1/ε) its sanitised frequency, T the threshold: the key is
reported, with w*, where w* ≥ T. f(x) = (ε/2)e^{−ε|x − i|} is the density of w*; M_j(s) = ∫_T^∞ f(x)·x^j·e^{−sx} dx.
Keys of frequency 0 are never reported.

Privacy. From frequency i ≥ 1 to the next the noise alone is ε-DP, and leaving out what is below T is post-processing.
From 0 to 1 the key becomes reported with φ_1 = Pr[1 + Laplace(1/ε) ≥ T], against never: this costs δ exactly where
φ_1 ≤ δ. For T ≥ 1, φ_1 = ½·e^{−ε(T − 1)}: at T = 1 + ln(1/δ)/ε (erratum PWS-A6) it is δ/2, and the least threshold is
1 + ln(1/(2δ))/ε, for δ ≤ ½. w* is real: a binary64 release has another law.

Sampled: w* is then sampled as though it were the frequency, with q(w*) = 1 − e^{−τw*} or min(1, τw*), and estimated by
w*/q(w*). The expectation of that is the one without sampling, whatever q.

1. M_j over the part x ≥ i, and where i > T over T ≤ x ≤ i, by integrating by parts j times: elementary.
2. ppswor's second moment is ∫ f(x)·x²/(1 − e^{−τx}). Divide K times: x²/(1 − e^{−y}) = Σ_{k<K} x²e^{−ky} +
   (x/τ)·e^{−Ky}·y/(1 − e^{−y}), with y = τx.
3. y/(1 − e^{−y}) = y/2 + (y/2)coth(y/2) and (y/2)coth(y/2) = 1 + Σ_{k≥1} 2t_k/(1 + t_k), t_k = (y/2πk)². Partial
   sums of 1/(1 + t) = 1 − t + t² − … lie on alternating sides of it for every t ≥ 0. So for every y ≥ 0 the series
   1 + Σ_m B_{2m}·y^{2m}/(2m)!, cut after the term n, errs by a number between 0 and the term n + 1.
4. That term, times e^{−Ky}, is at most 2ζ(2n + 2)·((2n + 2)/(2πeK))^{2n+2}: with K = n + 1 below 2^{−6n}.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from functools import cache
from math import comb, factorial
from typing import final

from attrs import field, frozen

from ..enclosures import DEFAULT_PRECISION, Enclosure, Truth, decide
from ..enclosures.arguments import whole
from ..errors import InvalidValue, Undecided
from ..exact import Number, exact
from ..units import Delta, Epsilon

MOMENT_PRECISION = 64
"""Bits of moments where nothing else is asked for."""

_GUARD = 32
_FURTHER = 8
_BITS_PER_TERM = 6


class Threshold(Enum):
    """A rule for the sanitised frequency from which on a key is reported."""

    PUBLISHED = "published"
    """1 + ln(1/δ)/ε (erratum PWS-A6)."""
    TIGHT = "tight"
    """1 + ln(1/(2δ))/ε for δ ≤ ½, the least that is (ε, δ)-DP."""

    @property
    def factor(self) -> int:
        """The factor c in the threshold 1 + ln(1/(cδ))/ε."""
        return 1 if self is Threshold.PUBLISHED else 2


def reporting_probability(
    epsilon: Enclosure, delta: Enclosure, frequency: int, threshold: Threshold = Threshold.PUBLISHED
) -> Enclosure:
    """φ_i = Pr[i + Laplace(1/ε) ≥ T], without sampling.

    Args:
        epsilon: enclosure of ε > 0.
        delta: enclosure of δ, above 0 and at most 1, or at most ½ for the tight threshold.
        frequency: i ≥ 0; 0 at frequency 0.
        threshold: T.

    Raises:
        InvalidValue, InvalidType: for a frequency that is no whole number ≥ 0.
        OutsideDomain: where δ reaches 0.
    """
    if not whole("frequency", frequency, 0):
        return Enclosure.of(0, precision=epsilon.precision)
    # ε(i − T); each half of the law counts where it is the one, the other is constant there
    margin = epsilon * (frequency - 1) + (threshold.factor * delta).log()
    return (margin.minimum(0).exp() - (-margin.maximum(0)).expm1()) / 2


@final
@frozen(kw_only=True)
class EnclosedMoments:
    """Error of the estimate of its frequency for one key (PWS Section 7.1), with g(i) = i."""

    expectation: Enclosure
    bias: Enclosure
    mean_squared_error: Enclosure
    variance: Enclosure


@final
@frozen(kw_only=True)
class Released:
    """The law of w* where it is reported: density f on x ≥ T.

    Attributes:
        epsilon: ε.
        frequency: i.
        least: T.
        beyond: whether i > T.
    """

    epsilon: Fraction
    frequency: int
    least: Enclosure
    beyond: bool

    def moments(self, most: int, decay: Fraction, start: Enclosure | None = None) -> list[Enclosure]:
        """∫ f(x)·x^j·e^{−decay·x} dx over x ≥ `start`, which is at least T and T by default, for j = 0, …, `most`."""
        begin = self.least if start is None else start
        if not self.beyond or begin.greater_equal(self.frequency) is Truth.TRUE:
            return self._falling(most, decay, begin)
        peak = Enclosure.of(self.frequency, precision=self.least.precision)
        below = begin.minimum(peak)  # where the two are not told apart, what is left out is added to the other part
        rising = self._rising(most, decay, below, peak)
        return [a + b for a, b in zip(rising, self._falling(most, decay, begin.maximum(peak)), strict=True)]

    def _falling(self, most: int, decay: Fraction, start: Enclosure) -> list[Enclosure]:
        """Enclose the moments over x ≥ `start` ≥ i, orders 0 to `most`."""
        rate = self.epsilon + decay
        edge = (-self.epsilon * (start - self.frequency) - decay * start).exp() * (self.epsilon / 2)
        found = [edge / rate]
        for j in range(1, most + 1):
            edge = edge * start
            found.append((edge + j * found[-1]) / rate)
        return found

    def _rising(self, most: int, decay: Fraction, start: Enclosure, end: Enclosure) -> list[Enclosure]:
        """Enclose the moments over `start` ≤ x ≤ `end` ≤ i, orders 0 to `most`."""
        rate = self.epsilon - decay
        low, high = (
            (-self.epsilon * (self.frequency - x) - decay * x).exp() * (self.epsilon / 2) for x in (start, end)
        )
        if not rate:  # the exponentials cancel
            return [high * (end.power(j + 1) - start.power(j + 1)) / (j + 1) for j in range(most + 1)]
        found = [(high - low) / rate]
        for j in range(1, most + 1):
            low, high = low * start, high * end
            found.append((high - low - j * found[-1]) / rate)
        return found


class RealSampling(ABC):
    """The probability q(w*) with which a reported key is kept for the sample, by its sanitised frequency."""

    __slots__ = ()

    @abstractmethod
    def kept(self, law: Released) -> Enclosure:
        """Enclose the probability that the key is reported and kept: ∫_T^∞ f(x)·q(x) dx."""

    @abstractmethod
    def squares(self, law: Released) -> Enclosure:
        """Enclose the second moment of the inverse-probability estimate: ∫_T^∞ f(x)·x²/q(x) dx."""


@final
@frozen
class NoSampling(RealSampling):
    """Every reported key is kept: q = 1."""

    def kept(self, law: Released) -> Enclosure:
        """Enclose the probability that the key is reported: M_0(0)."""
        return law.moments(0, Fraction(0))[0]

    def squares(self, law: Released) -> Enclosure:
        """Enclose the second moment of the reported frequency: M_2(0)."""
        return law.moments(2, Fraction(0))[2]


def _positive(threshold: Number) -> Fraction:
    value = exact(threshold, parameter="threshold")
    if value <= 0:
        raise InvalidValue("threshold", value, "τ > 0")
    return value


@final
@frozen(kw_only=True)
class PpsworOfReleased(RealSampling):
    """q(x) = 1 − e^{−τx}: `Ppswor` at real frequencies, with f(w) = w.

    Args:
        threshold: τ > 0.
    """

    threshold: Fraction = field(converter=_positive)

    def kept(self, law: Released) -> Enclosure:
        """Enclose the probability that the key is reported and kept: M_0(0) − M_0(τ)."""
        return law.moments(0, Fraction(0))[0] - law.moments(0, self.threshold)[0]

    def squares(self, law: Released) -> Enclosure:
        """Σ_{k<K} M_2(kτ) + (1/τ)(M_1 + (τ/2)M_2 + Σ_{m≤n} B_{2m}/(2m)!·τ^{2m}·M_{2m+1}) at Kτ, and step 3's error."""
        terms = law.least.precision // _BITS_PER_TERM + 1
        division = terms + 1
        whole_terms = sum(
            (law.moments(2, k * self.threshold)[2] for k in range(division)),
            Enclosure.of(0, precision=law.least.precision),
        )
        late = law.moments(2 * terms + 3, division * self.threshold)
        series = [_even_coefficient(m) * self.threshold ** (2 * m - 1) * late[2 * m + 1] for m in range(terms + 2)]
        *known, following = series
        return whole_terms + late[2] / 2 + sum(known, Enclosure.of(0)) + following.hull(0)


@final
@frozen(kw_only=True)
class PpsOfReleased(RealSampling):
    """q(x) = min(1, τx): `PoissonPps` at real frequencies, with f(w) = w.

    Args:
        threshold: τ > 0.
    """

    threshold: Fraction = field(converter=_positive)

    def kept(self, law: Released) -> Enclosure:
        """τ·∫ f(x)·x dx up to 1/τ, and ∫ f(x) dx from there on."""
        from_start, from_certain = self._parts(law)
        return (from_start[1] - from_certain[1]) * self.threshold + from_certain[0]

    def squares(self, law: Released) -> Enclosure:
        """(1/τ)·∫ f(x)·x dx up to 1/τ, and ∫ f(x)·x² dx from there on."""
        from_start, from_certain = self._parts(law)
        return (from_start[1] - from_certain[1]) / self.threshold + from_certain[2]

    def _parts(self, law: Released) -> tuple[list[Enclosure], list[Enclosure]]:
        """Moments over x ≥ T, and over those with τx ≥ 1 among them."""
        certain = law.least.maximum(Enclosure.of(1 / self.threshold, precision=law.least.precision))
        return law.moments(2, Fraction(0)), law.moments(2, Fraction(0), certain)


@final
@frozen(kw_only=True)
class StabilityHistogram:
    """PWS Algorithm 6, alone or with its result sampled: a baseline that is computed, not a mechanism that is run.

    Args:
        epsilon: ε > 0.
        delta: δ > 0; at most ½ for the tight threshold.
        threshold: T.
        sampling: what is done with the keys that the histogram reports.

    Raises:
        InvalidValue: outside these ranges.
    """

    epsilon: Epsilon
    delta: Delta
    threshold: Threshold = Threshold.PUBLISHED
    sampling: RealSampling = field(factory=NoSampling)

    def __attrs_post_init__(self) -> None:
        if not self.epsilon.value:
            raise InvalidValue("epsilon", 0, "ε > 0", "Laplace noise of scale 1/ε")
        most = Fraction(1, self.threshold.factor)
        if not 0 < self.delta.value <= most:
            raise InvalidValue("delta", str(self.delta), f"0 < δ ≤ {most}", "Otherwise T is below 1 or infinite")

    def least_reported(self, *, precision: int = DEFAULT_PRECISION) -> Enclosure:
        """Enclose the threshold T, at least 1, from which on frequencies are reported."""
        inverse = Enclosure.of(1 / (self.threshold.factor * self.delta.value), precision=precision)
        return 1 + inverse.log() / self.epsilon.value

    def probability(self, frequency: int, *, precision: int = DEFAULT_PRECISION) -> Enclosure:
        """The probability that a key is reported and sampled, relatively accurate to about `precision` bits.

        Args:
            frequency: i ≥ 0.
            precision: bits of the ends.

        Raises:
            InvalidValue, InvalidType: for a frequency that is no whole number ≥ 0.
            Undecided: where no admissible working precision reaches that accuracy.
        """
        if not whole("frequency", frequency, 0):
            return Enclosure.of(0, precision=precision)
        return self._accurate(frequency, self.sampling.kept, precision, lambda value: value)

    def moments(self, frequency: int, *, precision: int = MOMENT_PRECISION) -> EnclosedMoments:
        """Expectation, bias, mean squared error and variance of w*/q(w*), 0 for a key that is not in the sample.

        Args:
            frequency: i ≥ 1.
            precision: bits; expectation, mean squared error and variance are relatively accurate to about so many, the
                bias in comparison to i.

        Raises:
            InvalidValue, InvalidType: for a frequency that is no whole number ≥ 1.
            Undecided: where no admissible working precision reaches that accuracy.
        """
        whole("frequency", frequency, 1)
        expectation = self._accurate(frequency, _expectation, precision, lambda value: value)
        bias = self._accurate(frequency, lambda law: _expectation(law) - frequency, precision, lambda _: expectation)
        variance = self._accurate(
            frequency, lambda law: self.sampling.squares(law) - _expectation(law).square(), precision, lambda v: v
        )
        return EnclosedMoments(
            expectation=expectation, bias=bias, variance=variance, mean_squared_error=variance + bias.square()
        )

    def _law(self, frequency: int, precision: int) -> Released:
        # T is 1 or irrational, as ln of a rational number but 1 is: a whole number is told from it
        beyond = decide(lambda bits: self.least_reported(precision=bits).less(frequency))
        least = self.least_reported(precision=precision)
        return Released(epsilon=self.epsilon.value, frequency=frequency, least=least, beyond=beyond)

    def _accurate(
        self,
        frequency: int,
        function: Callable[[Released], Enclosure],
        precision: int,
        scale: Callable[[Enclosure], Enclosure],
    ) -> Enclosure:
        """The value of `function`, at whatever precision makes its width small against the `scale` of the value."""
        working = precision + _GUARD
        for _ in range(_FURTHER):
            value = function(self._law(frequency, working))
            size = abs(scale(value)).lower
            if size > 0 and value.width <= size / 2**precision:
                return value.at(precision)
            working *= 2
        raise Undecided(f"{working // 2} bits do not tell the value for {self} at frequency {frequency}.")


def _expectation(law: Released) -> Enclosure:
    return law.moments(1, Fraction(0))[1]


@cache
def _even_coefficient(index: int) -> Fraction:
    """Return the coefficient B_{2m}/(2m)! of the Bernoulli number, exactly."""
    return _bernoulli(2 * index) / factorial(2 * index)


@cache
def _bernoulli(index: int) -> Fraction:
    """B_m, with Σ_{k≤m} C(m + 1, k)·B_k = 0 for m ≥ 1."""
    if not index:
        return Fraction(1)
    return -sum((comb(index + 1, k) * _bernoulli(k) for k in range(index)), Fraction(0)) / (index + 1)
