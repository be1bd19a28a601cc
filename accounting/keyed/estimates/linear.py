"""Estimates of linear statistics from the tokens of a sanitised sample (PWS Section 7.1)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import fsum
from typing import final

from attrs import frozen

from ...errors import InvalidValue, OutsideDomain
from ..reporting import FrequencyRow, Reporting
from .histories import histories
from .likelihood import likelihood
from .statistics import Statistic, exact_sizes


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
        """Return the estimate a_j of a token.

        Raises:
            OutsideDomain: beyond the tokens that have an estimate.
        """
        place = bisect_right(self.edges, token)
        if not 0 < place <= len(self.values):
            raise OutsideDomain(
                f"token {token}, outside {self.edges[0]} to {self.edges[-1] - 1}; estimate more tokens."
            )
        return self.values[place - 1]

    def pieces(self, row: FrequencyRow) -> Iterator[tuple[int, float]]:
        """(units, a_j) of every piece of the row's tokens on which the estimate is constant; errors as for `value`."""
        for run in row.runs:
            first = run.first
            while first < run.end:
                value = self.value(first)
                end = min(run.end, self.edges[bisect_right(self.edges, first)])
                yield (end - first) * run.units, value
                first = end


def maximum_likelihood(rows: Iterable[FrequencyRow], statistic: Statistic, highest: int) -> TokenEstimates:
    """a_j = g(h)/π_h at the frequency h that reports token j most often (PWS Equation 9), the least such h.

    Args:
        rows: rows 1, 2, … of one table; an endless iterator, or as many as the public bound on frequencies.
        statistic: g, checked at every frequency h that reports one of the tokens most often.
        highest: estimates are for the tokens of frequencies up to this one, the largest that is to be read.

    Guarantees:
        The maximum is over all frequencies, beyond `highest` too: rows are read until none of these tokens is reported
        any more, which then holds for every later frequency (a token of probability 0 stays at 0), or until they end.

    Raises:
        InvalidValue: where some of these tokens is never reported, and for a g with g(0) ≠ 0 or that decreases.
    """
    read = histories(rows, highest)
    return _estimates(read.edges, read.likeliest, lambda h: Fraction(read.reported[h - 1], 1 << read.bits), statistic)


def likeliest_estimates(reporting: Reporting, statistic: Statistic, highest: int) -> TokenEstimates:
    """`maximum_likelihood` of a sanitiser's rows; where it does not sample, without reading them.

    Args:
        reporting: what the sanitiser reports.
        statistic: g.
        highest: estimates are for the tokens of frequencies up to this one.

    Raises:
        InvalidValue: as `likelihood` and `maximum_likelihood`.
    """
    read = likelihood(reporting, highest)
    firsts, frequencies = zip(*read.pieces(highest), strict=True)
    return _estimates((*firsts, highest << reporting.budget.subdivision), frequencies, read.probability, statistic)


def _estimates(
    edges: Sequence[int], likeliest: Sequence[int], reported: Callable[[int], Fraction], statistic: Statistic
) -> TokenEstimates:
    """Return the estimate g(h)/π_h on every piece of tokens."""
    distinct = sorted(set(likeliest))
    sizes = exact_sizes(statistic, distinct)
    values = {h: float(size / reported(h)) for h, size in zip(distinct, sizes, strict=True)}
    return TokenEstimates(edges=tuple(edges), values=tuple(values[h] for h in likeliest))


def unbiased(rows: Sequence[FrequencyRow], statistic: Statistic) -> TokenEstimates:
    """The only a_j with Σ_j π_ij·a_j = g(i) for every i, where frequency i brings one token.

    Warning: do not use it for private samples without a look at `least` and at the variance. Some a_j are negative
    wherever reporting is optimal at q ≡ 1, and as a key of frequency 1 is reported with probability at most δ, its
    variance is at least g(1)²·(1/δ − 1) (PWS Section 7.1).

    Args:
        rows: rows 1, …, m of a table without subdivision; the estimates are unbiased for frequencies up to m.
        statistic: g.

    Raises:
        InvalidValue: for a subdivided table, where they are not unique, where a token of its own is never reported, and
            for a g with g(0) ≠ 0 or that decreases.
    """
    sizes = exact_sizes(statistic, [row.frequency for row in rows])
    values: list[Fraction] = []
    for row, size in zip(rows, sizes, strict=True):
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
        values.append((size * certain - known) / own)
    return TokenEstimates(edges=tuple(range(len(values) + 1)), values=tuple(map(float, values)))


def estimated_sum(reported: Iterable[tuple[float, int]], estimates: TokenEstimates) -> float:
    """ŝ = Σ L(x)·a_j over the reported keys (PWS Equation 8).

    Args:
        reported: the coefficient L(x) and the token of each reported key.
        estimates: a_j.

    Raises:
        OutsideDomain: for a token without an estimate.
    """
    return fsum(coefficient * estimates.value(token) for coefficient, token in reported)
