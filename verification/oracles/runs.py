"""What several releases of a Gaussian sum lose about one record, from the laws of the outputs and nothing else.

Legend: the record is in a sample with probability q and then moves the output by s standard deviations, so that the
output is M = (1 − q)·N(0, 1) + q·N(s, 1) with the record and N(0, 1) without it.

The losses of fresh samples are put into cells of a grid, by the probability of each cell from normal distribution
functions, and convolved: with every loss at the lower end of its cell the sum has at most the true δ. NumPy, SciPy and
mpmath alone; numerical evidence, not proof.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .divergences import exponential, logarithm, normal_cdf, square_root
from .renyi import mixture_divergence

_Floats = NDArray[np.float64]

_CELLS_PER_UNIT = 512
_REACH = 16  # losses beyond count as this
_SPECTRAL_NOISE = 1e-12  # that rounding may add to a δ


def delta_of_run(rate: Fraction, shift: Fraction, samples: int, together: int, epsilon: Fraction) -> Fraction:
    """δ(ε) of a run, the larger of both directions; a little less for several samples.

    Args:
        rate: q in (0, 1].
        shift: s > 0 of one release.
        samples: how many fresh samples are drawn.
        together: how many releases there are on each.
        epsilon: ε ≥ 0.
    """
    moved = _together(shift, together)
    if samples == 1:
        return max(delta_of_sample(rate, moved, epsilon, remove=remove) for remove in (True, False))
    found = (_convolved(float(rate), float(moved), samples, float(epsilon), remove=remove) for remove in (True, False))
    return Fraction(max(0.0, *found))


def renyi_of_run(rate: Fraction, shift: Fraction, samples: int, together: int, order: Fraction) -> Fraction:
    """τ(α) of a run, the larger of both directions, integrated from the densities; arguments as `delta_of_run`."""
    moved = _together(shift, together)
    one = (mixture_divergence(rate, moved, Fraction(1), order, reversed_=reverse) for reverse in (False, True))
    return samples * max(one)


def delta_of_sample(rate: Fraction, shift: Fraction, epsilon: Fraction, *, remove: bool) -> Fraction:
    """δ(ε) of M from N(0, 1), or the other way round: beyond the output where their ratio is e^ε, or short of it."""
    level = exponential(epsilon if remove else -epsilon)
    inner = (level - 1 + rate) / rate
    if inner <= 0:  # the ratio never falls so low
        return Fraction(0)
    point = (logarithm(inner) + shift**2 / 2) / shift
    if remove:
        without = normal_cdf(-point)
        return (1 - rate) * without + rate * normal_cdf(shift - point) - level * without
    without = normal_cdf(point)
    sampled = (1 - rate) * without + rate * normal_cdf(point - shift)
    return without - sampled / level


def _together(shift: Fraction, together: int) -> Fraction:
    """The distance of the joint laws of releases on one sample: s in each of so many directions."""
    return shift if together == 1 else shift * square_root(Fraction(together))


def _convolved(rate: float, shift: float, samples: int, epsilon: float, *, remove: bool) -> float:
    """A lower bound of δ(ε) in one direction: each loss at the lower end of its cell, nothing below the grid."""
    edges = np.arange(-_REACH * _CELLS_PER_UNIT, _REACH * _CELLS_PER_UNIT + 1) / _CELLS_PER_UNIT
    masses = np.diff(_loss_at_most(rate, shift, edges, remove=remove), append=1.0)
    excess = np.maximum(1.0 - np.exp(epsilon - _sums(samples)), 0.0)
    return float(excess @ _power(masses, samples)) - _SPECTRAL_NOISE


def _loss_at_most(rate: float, shift: float, losses: _Floats, *, remove: bool) -> _Floats:
    """The probability, under the first law of the direction, that its log-ratio to the second is at most so much."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.expm1(losses if remove else -losses) / rate + 1.0  # e^{sx − s²/2} where the log-ratio is the loss
        place = np.where(ratio > 0.0, np.log(ratio) / shift + shift / 2, -np.inf)
    if remove:
        return np.asarray((1.0 - rate) * ndtr(place) + rate * ndtr(place - shift))
    return np.asarray(ndtr(-place))


def _sums(samples: int) -> _Floats:
    """The losses of the cells of the sum."""
    count = samples * 2 * _REACH * _CELLS_PER_UNIT + 1
    return np.arange(count) / _CELLS_PER_UNIT - samples * _REACH


def _power(masses: _Floats, samples: int) -> _Floats:
    from scipy.fft import irfft, next_fast_len, rfft

    count = samples * (len(masses) - 1) + 1
    length = next_fast_len(count, real=True)
    spectrum: Any = rfft(masses, length)
    return np.asarray(irfft(spectrum**samples, length)[:count])
