"""Estimates from sanitised samples: linear statistics Σ L(x)·g(w) and ordinal ones (PWS Sections 6 and 7).

Legend: π_ij the probability that a key of frequency i is reported with token j, π_i that it is reported at all, g a
non-decreasing function of frequency with g(0) = 0, L(x) the coefficient of key x, a_j what a reported token j adds to
the estimate; a key that is not reported adds 0.

Estimates are post-processing: nothing here enters a guarantee, and all numbers are binary64 estimates. They follow from
tables and public functions alone; what needs the true frequencies (errors of a sum, concordance of given keys) is
private to whoever holds the data.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import fsum, sqrt
from typing import NamedTuple, TypeAlias, final

from attrs import frozen

from .errors import InvalidValue, OutsideDomain
from .exact import Number, exact
from .frequency_reporting import FrequencyRow, Inclusion

Statistic: TypeAlias = Callable[[int], Number]
"""g: a public function of frequency, with g(0) = 0."""

_PRECISION = 64


@final
@frozen(kw_only=True)
class TokenEstimates:
    """a_j for every token from 0 on, constant between edges."""

    edges: tuple[int, ...]
    """The first tokens of the pieces, and the token after the last piece."""
    values: tuple[float, ...]
    """One per piece."""

    @property
    def least(self) -> float:
        """The smallest a_j: below 0 for most unbiased estimates."""
        return min(self.values)

    def value(self, token: int) -> float:
        """a_j.

        Raises:
            OutsideDomain: beyond the tokens that have an estimate.
        """
        place = bisect_right(self.edges, token)
        if not 0 < place <= len(self.values):
            raise OutsideDomain(
                f"token {token}, outside {self.edges[0]} to {self.edges[-1] - 1}; estimate more tokens."
            )
        return self.values[place - 1]


@final
@frozen(kw_only=True)
class Moments:
    """Error of the estimate of g for one key (PWS Section 7.1)."""

    expectation: float
    bias: float
    mean_squared_error: float
    variance: float


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
    """Keys that share frequency and coefficient."""

    frequency: int
    coefficient: float
    keys: int


def maximum_likelihood(rows: Iterable[FrequencyRow], statistic: Statistic, highest: int) -> TokenEstimates:
    """a_j = g(h)/π_h at the frequency h that reports token j most often (PWS Equation 9), the least such h.

    Args:
        rows: rows 1, 2, … of one table; an endless iterator, or as many as the public bound on frequencies.
        statistic: g.
        highest: estimates are for the tokens of frequencies up to this one, the largest that is to be read.

    Guarantees:
        The maximum is over all frequencies, beyond `highest` too: rows are read until none of these tokens is reported
        any more, which then holds for every later frequency (a token of probability 0 stays at 0), or until they end.

    Raises:
        InvalidValue: where some of these tokens is never reported.
    """
    read: list[FrequencyRow] = []
    for row in rows:
        read.append(row)
        if row.frequency > highest and (not row.runs or row.runs[0].first >= highest << row.subdivision):
            break
    if not read or len(read) < highest:
        raise InvalidValue("highest", highest, f"at most {len(read)}, the number of rows")
    end = highest << read[0].subdivision
    edges = sorted({0, end, *(e for row in read for run in row.runs for e in (run.first, run.end) if e < end)})
    place = {edge: index for index, edge in enumerate(edges)}
    best = [(0, 0, 1)] * (len(edges) - 1)  # (units, frequency, units reported in all)
    for row in read:
        reported = row.reported
        for run in row.runs:
            if run.first < end:
                for index in range(place[run.first], place[min(run.end, end)]):
                    if run.units > best[index][0]:
                        best[index] = (run.units, row.frequency, reported)
    for index, (units, _, _) in enumerate(best):
        if not units:
            raise InvalidValue("highest", highest, f"tokens below {edges[index]}", "The others are never reported")
    certain = 1 << read[0].bits
    values = tuple(float(exact(statistic(h)) * Fraction(certain, reported)) for _, h, reported in best)
    return TokenEstimates(edges=tuple(edges), values=values)


def unbiased(rows: Sequence[FrequencyRow], statistic: Statistic) -> TokenEstimates:
    """The only a_j with Σ_j π_ij·a_j = g(i) for every i, where frequency i brings one token.

    Warning: do not use it for private samples without a look at `least` and at the variance. Some a_j are negative
    wherever reporting is optimal at q ≡ 1, and as a key of frequency 1 is reported with probability at most δ, its
    variance is at least g(1)²·(1/δ − 1) (PWS Section 7.1).

    Args:
        rows: rows 1, …, m of a table without subdivision; the estimates are unbiased for frequencies up to m.
        statistic: g.

    Raises:
        InvalidValue: for a subdivided table, where they are not unique, and where a token of its own is never reported.
    """
    values: list[Fraction] = []
    for row in rows:
        if row.subdivision:
            raise InvalidValue("rows", f"2^{row.subdivision} tokens to a frequency", "one token to a frequency")
        certain = 1 << row.bits
        known = sum(
            (run.units * values[token] for run in row.runs for token in range(run.first, min(run.end, len(values)))),
            Fraction(0),
        )
        own = row.units_from(row.frequency - 1)
        if not own:
            raise InvalidValue("rows", row.frequency, "frequencies that have a token of their own")
        values.append((exact(statistic(row.frequency)) * certain - known) / own)
    return TokenEstimates(edges=tuple(range(len(values) + 1)), values=tuple(map(float, values)))


def inverse_probability(inclusion: Inclusion, statistic: Statistic, frequency: int) -> float:
    """g(i)/q_i: the unbiased, non-negative estimate from a sample that is not private (PWS Equation 7).

    Raises:
        InvalidValue: where q_i is not known to be above 0: no unbiased estimate exists.
    """
    rate = inclusion.rate(frequency, precision=_PRECISION)
    if not rate.lower:
        raise InvalidValue("frequency", frequency, "a frequency that is sampled with positive probability")
    return float(exact(statistic(frequency)) / rate.midpoint)


def inverse_probability_moments(inclusion: Inclusion, statistic: Statistic, frequency: int) -> Moments:
    """The moments of `inverse_probability`: bias 0, variance g(i)²·(1/q_i − 1)."""
    inverse_probability(inclusion, statistic, frequency)
    size, rate = exact(statistic(frequency)), inclusion.rate(frequency, precision=_PRECISION).midpoint
    variance = float(size * size * (1 - rate) / rate)
    return Moments(expectation=float(size), bias=0.0, mean_squared_error=variance, variance=variance)


def moments(row: FrequencyRow, estimates: TokenEstimates, statistic: Statistic) -> Moments:
    """Expectation, bias, mean squared error and variance for a key of the row's frequency (PWS Section 7.1).

    Raises:
        OutsideDomain: where the row reports tokens without an estimate.
    """
    size, certain = float(exact(statistic(row.frequency))), 1 << row.bits
    pieces = [(units / certain, value) for units, value in _pieces(row, estimates)]
    expectation = fsum(probability * value for probability, value in pieces)
    missed = row.unreported / certain
    deviations = (probability * (value - expectation) ** 2 for probability, value in pieces)
    # the central moment: MSE − bias² would cancel
    variance = fsum(chain(deviations, [missed * expectation**2]))
    bias = expectation - size
    squared = fsum(chain((probability * (value - size) ** 2 for probability, value in pieces), [missed * size**2]))
    return Moments(expectation=expectation, bias=bias, mean_squared_error=squared, variance=variance)


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
    if not truth:
        raise InvalidValue("keys", truth, "keys whose true sum is not 0", "Read bias and variance per key instead")
    bias = fsum(g.keys * g.coefficient * errors[g.frequency].bias for g in groups)
    variance = fsum(g.keys * g.coefficient**2 * errors[g.frequency].variance for g in groups)
    squared = variance + bias * bias
    return SumError(
        truth=truth,
        bias=bias,
        variance=variance,
        mean_squared_error=squared,
        normalised_root_mean_squared_error=sqrt(squared) / abs(truth),
    )


def estimated_sum(reported: Iterable[tuple[float, int]], estimates: TokenEstimates) -> float:
    """ŝ = Σ L(x)·a_j over the reported keys (PWS Equation 8).

    Args:
        reported: the coefficient L(x) and the token of each reported key.
        estimates: a_j.

    Raises:
        OutsideDomain: for a token without an estimate.
    """
    return fsum(coefficient * estimates.value(token) for coefficient, token in reported)


def concordance(lower: FrequencyRow, higher: FrequencyRow) -> Fraction:
    """The probability that two keys, drawn from these rows, are ordered as their frequencies are; ties count ½.

    "Not reported" lies below every token. Exact, for rows of one table.

    Raises:
        InvalidValue: where `lower` does not have the lower frequency, and for rows in different units.
    """
    if lower.frequency >= higher.frequency:
        raise InvalidValue("lower", lower.frequency, f"a frequency below {higher.frequency}")
    if (lower.bits, lower.subdivision) != (higher.bits, higher.subdivision):
        raise InvalidValue("higher", f"units of 2^-{higher.bits}", f"units of 2^-{lower.bits}, a row of the same table")
    twice = lower.unreported * (higher.unreported + 2 * higher.reported)
    edges = sorted({e for run in (*lower.runs, *higher.runs) for e in (run.first, run.end)})
    starts = {edge: index for index, edge in enumerate(edges)}
    masses = [[0] * len(edges), [0] * len(edges)]
    for held, row in zip(masses, (lower, higher), strict=True):
        for run in row.runs:
            for index in range(starts[run.first], starts[run.end]):
                held[index] = run.units * (edges[index + 1] - edges[index])
    above = higher.reported
    for low, high in zip(*masses, strict=True):
        above -= high
        twice += low * (high + 2 * above)
    return Fraction(twice, 1 << lower.bits + higher.bits + 1)


def expected_kendall(rows: Sequence[FrequencyRow], counts: Sequence[int]) -> float:
    """The expected Kendall τ between true and sanitised order, over the pairs of keys with different frequencies.

    A pair adds 1 where it is concordant, −1 where it is reversed and 0 where it is tied.

    Args:
        rows: one row per frequency, from the lowest to the highest.
        counts: how many keys have that frequency: the result is as private as they are.

    Raises:
        InvalidValue: for another number of counts, and where no two keys differ in frequency.
    """
    if len(rows) != len(counts):
        raise InvalidValue("counts", len(counts), f"{len(rows)}, one per row")
    pairs, agreed = 0, []
    for (low, few), (high, many) in combinations(zip(rows, counts, strict=True), 2):
        pairs += few * many
        agreed.append(few * many * float(2 * concordance(low, high) - 1))
    if not pairs:
        raise InvalidValue("counts", list(counts), "keys of at least two frequencies")
    return fsum(agreed) / pairs


def _pieces(row: FrequencyRow, estimates: TokenEstimates) -> Iterable[tuple[int, float]]:
    """(units, a_j) of every piece of the row's tokens on which the estimate is constant."""
    for run in row.runs:
        first = run.first
        while first < run.end:
            value = estimates.value(first)
            end = min(run.end, estimates.edges[bisect_right(estimates.edges, first)])
            yield (end - first) * run.units, value
            first = end
