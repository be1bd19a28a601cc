"""What PWS Section 8 compares, by frequency: the optimum, stability-based histograms, and samples without privacy.

All values are exact expressions, evaluated with enclosures and rounded to binary64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..accounting.enclosures import Enclosure
from ..accounting.exact import Floats
from ..accounting.keyed.estimates import MomentCurve, Total, inverse_probability_moments, likelihood, moment_curve
from ..accounting.keyed.key_sanitiser import KeyReporting
from ..accounting.keyed.reporting import EveryKey, FrequencyTable, Ppswor
from ..accounting.keyed.stability_histograms import NoSampling, PpsworOfReleased, StabilityHistogram, Threshold
from ..accounting.units import Delta, Epsilon

STYLES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "sampling": {"color": "black", "linestyle": "--", "label": "not private"},
        "pws": {"color": "#e0a000", "linestyle": "-", "label": "PWS"},
        "sbh": {"color": "#3b6fb6", "linestyle": "-.", "label": "SbH"},
        "sbh_tight": {"color": "#3b6fb6", "linestyle": ":", "label": "SbH, tight threshold"},
    }
)
"""How each is drawn."""

_BITS = 53
_MOMENT_BITS = 40

Frequencies = NDArray[np.int64]


@final
@frozen(kw_only=True)
class Setting:
    """Privacy parameters and sampling rate.

    Attributes:
        epsilon: ε.
        delta: δ.
        threshold: τ of ppswor with f(w) = w; None for no sampling.
    """

    epsilon: Fraction
    delta: Fraction
    threshold: Fraction | None = None

    @property
    def label(self) -> str:
        """The parameters in a few characters."""
        rate = "no sampling" if self.threshold is None else f"τ = {float(self.threshold):.3g}"
        return f"ε = {float(self.epsilon):g}, δ = {float(self.delta):g}, {rate}"

    @property
    def keys(self) -> KeyReporting:
        """The optimal key sanitiser without sampling."""
        return KeyReporting(epsilon=Epsilon(self.epsilon), delta=Delta(self.delta))

    @property
    def table(self) -> FrequencyTable:
        """The end-to-end probabilities of a frequency sanitiser, by PWS Algorithm 4."""
        inclusion = EveryKey() if self.threshold is None else Ppswor(threshold=self.threshold)
        return FrequencyTable(epsilon=Epsilon(self.epsilon), delta=Delta(self.delta), inclusion=inclusion)

    def histogram(self, threshold: Threshold) -> StabilityHistogram:
        """PWS Algorithm 6, sampled afterwards where there is sampling."""
        return StabilityHistogram(
            epsilon=Epsilon(self.epsilon),
            delta=Delta(self.delta),
            threshold=threshold,
            sampling=NoSampling() if self.threshold is None else PpsworOfReleased(threshold=self.threshold),
        )

    def probabilities(self, frequencies: Frequencies) -> dict[str, Floats]:
        """Return the probability that each method reports a key; the tight threshold is there for δ ≤ ½ alone."""
        found = {
            "sampling": self.sampled(frequencies),
            "pws": self.optimal(frequencies),
            "sbh": self.stable(frequencies, Threshold.PUBLISHED),
        }
        if 2 * self.delta <= 1:
            found["sbh_tight"] = self.stable(frequencies, Threshold.TIGHT)
        return found

    def sampled(self, frequencies: Frequencies) -> Floats:
        """Return the sampling probability q_i of each frequency."""
        if self.threshold is None:
            return np.ones(len(frequencies))
        inclusion = Ppswor(threshold=self.threshold)
        return _rising(lambda i: inclusion.rate(i, precision=_BITS), frequencies)

    def optimal(self, frequencies: Frequencies) -> Floats:
        """π_i: the optimum without sampling below the first frequency at which that exceeds q_i, then q_i.

        This is Algorithm 3's solution for ppswor with f(w) = w (PWS Lemma 4.4).
        """
        below = self._unsampled[np.minimum(frequencies, len(self._unsampled)) - 1]
        return np.where(frequencies < self.without_loss_from, below, self.sampled(frequencies))

    @cached_property
    def without_loss_from(self) -> int:
        """The first frequency from which on PWS reports as often as the sampler keeps."""
        beyond = np.flatnonzero(self._unsampled > self.sampled(np.arange(1, len(self._unsampled) + 1)))
        return int(beyond[0]) + 1 if len(beyond) else len(self._unsampled)

    @cached_property
    def _unsampled(self) -> Floats:
        """The optimum without sampling, up to the first frequency that is reported for certain."""
        return _rising(lambda i: self.keys.probability(i, precision=_BITS), np.arange(1, self.keys.certain_from + 1))

    def stable(self, frequencies: Frequencies, threshold: Threshold) -> Floats:
        """Return the reporting probability of the stability histogram, after sampling."""
        histogram = self.histogram(threshold)
        return _rising(lambda i: histogram.probability(i, precision=_BITS), frequencies)

    def moments(self, frequencies: Frequencies) -> dict[str, MomentCurve]:
        """Bias and variance of the estimates of its frequency for one key, by method."""
        return {
            "sampling": self._unbiased(frequencies),
            "pws": moment_curve(likelihood(self.table, int(frequencies[-1])), Total(), frequencies),
            "sbh": self.stable_moments(frequencies),
        }

    def stable_moments(self, frequencies: Frequencies) -> MomentCurve:
        """Return the moments of the estimate w*/q(w*) by the histogram with the published threshold."""
        histogram = self.histogram(Threshold.PUBLISHED)
        found = [histogram.moments(i, precision=_MOMENT_BITS) for i in frequencies.tolist()]
        return MomentCurve(
            frequencies=frequencies,
            sizes=frequencies.astype(np.float64),
            reported=self.stable(frequencies, Threshold.PUBLISHED),
            bias=np.array([_nearest(each.bias) for each in found]),
            variance=np.array([_nearest(each.variance) for each in found]),
        )

    def _unbiased(self, frequencies: Frequencies) -> MomentCurve:
        """Return the moments of the estimate w/q_w by the sample that is not private."""
        inclusion = self.table.inclusion
        errors = [inverse_probability_moments(inclusion, Total(), i) for i in frequencies.tolist()]
        return MomentCurve(
            frequencies=frequencies,
            sizes=frequencies.astype(np.float64),
            reported=self.sampled(frequencies),
            bias=np.zeros(len(frequencies)),
            variance=np.array([error.variance for error in errors]),
        )


def _nearest(value: Enclosure) -> float:
    return float(value.midpoint)


def _rising(probability: Callable[[int], Enclosure], frequencies: Frequencies) -> Floats:
    """Probabilities that do not fall with the frequency: from the first that rounds to 1 on they are 1."""
    found = np.ones(len(frequencies))
    for place, frequency in enumerate(frequencies.tolist()):
        found[place] = _nearest(probability(frequency))
        if found[place] == 1:
            break
    return found
