"""Bias and error of estimates (PWS Section 7.1): of one key by its frequency, and of sums over given keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import fsum, sqrt
from typing import NamedTuple, final

import numpy as np
from attrs import frozen

from ...errors import InvalidValue
from ...exact import Floats, exact
from ..reporting import FrequencyRow
from .likelihood import Cells, Likelihood
from .linear import TokenEstimates
from .statistics import Frequencies, Statistic, sizes

_TOGETHER = 256


@final
@frozen(kw_only=True)
class Moments:
    """Error of the estimate of g for one key (PWS Section 7.1)."""

    expectation: float
    bias: float
    mean_squared_error: float
    variance: float


@final
@frozen(kw_only=True, eq=False)
class MomentCurve:
    """Error of the likeliest estimates of g for one key, by its frequency. Public: no data enter.

    Attributes:
        frequencies: whole numbers ≥ 1, increasing.
        sizes: g of each.
        reported: with what probability a key of that frequency is reported.
        bias: expectation of the estimate less g.
        variance: of the estimate.
    """

    frequencies: Frequencies
    sizes: Floats
    reported: Floats
    bias: Floats
    variance: Floats

    @property
    def mean_squared_error(self) -> Floats:
        """The mean squared error of the estimate, by frequency."""
        return self.variance + self.bias**2

    def worst_relative_bias(self, least: int = 1) -> float:
        """The largest |bias|/g over the frequencies of the curve from `least` on.

        Guarantees:
            The estimate of Σ L(x)·g(w) with L ≥ 0 over keys of such frequencies alone has a bias of at most this part
            of the sum: |Σ L·Bias| ≤ Σ L·g·max(|Bias|/g).

        Raises:
            InvalidValue: where no frequency of the curve has g > 0.
        """
        held = (self.frequencies >= least) & (self.sizes > 0)
        if not held.any():
            raise InvalidValue("least", least, f"at most {self.frequencies[-1]}, with g > 0")
        return float(np.max(np.abs(self.bias[held]) / self.sizes[held]))


@final
@frozen(kw_only=True)
class SumError:
    """Error of the estimate of Σ L(x)·g(w) over independent keys."""

    truth: float
    bias: float
    variance: float
    mean_squared_error: float
    normalised_root_mean_squared_error: float
    """Root mean squared error over the truth."""


class KeyGroup(NamedTuple):
    """A group of keys that share frequency and coefficient."""

    frequency: int
    coefficient: float
    keys: int


def moments(row: FrequencyRow, estimates: TokenEstimates, statistic: Statistic) -> Moments:
    """Expectation, bias, mean squared error and variance for a key of the row's frequency (PWS Section 7.1).

    Raises:
        OutsideDomain: where the row reports tokens without an estimate.
    """
    size, certain = float(exact(statistic(row.frequency))), 1 << row.bits
    pieces = [(units / certain, value) for units, value in estimates.pieces(row)]
    expectation = fsum(probability * value for probability, value in pieces)
    missed = row.unreported / certain
    deviations = (probability * (value - expectation) ** 2 for probability, value in pieces)
    # the central moment: MSE − bias² would cancel
    variance = fsum(chain(deviations, [missed * expectation**2]))
    bias = expectation - size
    squared = fsum(chain((probability * (value - size) ** 2 for probability, value in pieces), [missed * size**2]))
    return Moments(expectation=expectation, bias=bias, mean_squared_error=squared, variance=variance)


def moment_curve(
    read: Likelihood,
    statistic: Statistic,
    frequencies: Sequence[int] | Frequencies,
    laws: Iterable[Cells] | None = None,
) -> MomentCurve:
    """`moments` of the likeliest estimates at many frequencies.

    Args:
        read: the likelihoods of the tokens of all these frequencies.
        statistic: g.
        frequencies: whole numbers ≥ 1, increasing.
        laws: those that `read` has of these frequencies, where they are at hand.

    Raises:
        InvalidValue: for no frequency, and as `sizes`.
        OutsideDomain: for a frequency whose tokens were not read.
    """
    asked = np.array(frequencies, dtype=np.int64)
    if not asked.size or asked[0] < 1 or (np.diff(asked) <= 0).any():
        raise InvalidValue("frequencies", f"{asked.size} frequencies", "whole numbers ≥ 1, increasing, at least one")
    expectations, variances, missed = [], [], []
    for cells, values in _valued(read, statistic, read.laws(asked.tolist()) if laws is None else laws):
        expectation = float(cells.probabilities @ values)
        expectations.append(expectation)
        deviations = float(cells.probabilities @ (values - expectation) ** 2)
        variances.append(deviations + cells.unreported * expectation**2)
        missed.append(cells.unreported)
    true = sizes(statistic, asked)
    return MomentCurve(
        frequencies=asked,
        sizes=true,
        reported=1 - np.array(missed),
        bias=np.array(expectations) - true,
        variance=np.array(variances),
    )


def sum_error(keys: Iterable[KeyGroup], errors: Mapping[int, Moments], statistic: Statistic) -> SumError:
    """The error of Σ L(x)·a over keys that are sampled and sanitised independently (PWS Section 7.1).

    Args:
        keys: true frequencies and coefficients: the result is as private as they are.
        errors: moments of every frequency among them.
        statistic: g.

    Raises:
        InvalidValue: for a frequency without moments, and where the truth is 0: there is nothing to normalise by.
    """
    groups = list(keys)
    missing = [group.frequency for group in groups if group.frequency not in errors]
    if missing:
        raise InvalidValue("errors", missing[0], "moments for every frequency of the keys")
    truth = fsum(g.keys * g.coefficient * float(exact(statistic(g.frequency))) for g in groups)
    bias = fsum(g.keys * g.coefficient * errors[g.frequency].bias for g in groups)
    variance = fsum(g.keys * g.coefficient**2 * errors[g.frequency].variance for g in groups)
    return _sum_error(truth, bias, variance)


def sum_error_of(curve: MomentCurve, coefficients: Floats, squares: Floats) -> SumError:
    """`sum_error` for every frequency of a curve.

    Args:
        curve: the moments.
        coefficients: Σ L(x) over the keys of each frequency: the result is as private as they are.
        squares: Σ L(x)² over them.

    Raises:
        InvalidValue: where the truth is 0.
    """
    return _sum_error(fsum(coefficients * curve.sizes), fsum(coefficients * curve.bias), fsum(squares * curve.variance))


def _sum_error(truth: float, bias: float, variance: float) -> SumError:
    if not truth:
        raise InvalidValue("keys", truth, "keys whose true sum is not 0", "Read bias and variance per key instead")
    squared = variance + bias * bias
    return SumError(
        truth=truth,
        bias=bias,
        variance=variance,
        mean_squared_error=squared,
        normalised_root_mean_squared_error=sqrt(squared) / abs(truth),
    )


def _valued(read: Likelihood, statistic: Statistic, laws: Iterable[Cells]) -> Iterator[tuple[Cells, Floats]]:
    """Each law with the estimates of its tokens; g is evaluated for many laws at once."""
    held: list[Cells] = []
    for cells in laws:
        held.append(cells)
        if len(held) == _TOGETHER:
            yield from _values(read, statistic, held)
            held = []
    yield from _values(read, statistic, held)


def _values(read: Likelihood, statistic: Statistic, laws: Sequence[Cells]) -> Iterator[tuple[Cells, Floats]]:
    if laws:
        likeliest = np.concatenate([one.likeliest for one in laws])
        values = sizes(statistic, likeliest) / read.reported(likeliest)
        ends = np.cumsum([len(one.likeliest) for one in laws])[:-1]
        yield from zip(laws, np.split(values, ends), strict=True)
