"""Estimates that are linear in the tokens, on tables that can be solved by hand."""

from __future__ import annotations

from certdp.accounting.keyed.estimates import Total, unbiased
from certdp.accounting.keyed.reporting import FrequencyRow, Run


def row(frequency: int, *units: int) -> FrequencyRow:
    """Of eighths, so many for each token."""
    runs = tuple(Run(token, 1, own) for token, own in enumerate(units) if own)
    return FrequencyRow(frequency=frequency, bits=3, subdivision=0, kept=8, unreported=8 - sum(units), runs=runs)


def test_unbiased_estimates_solve_the_rows_one_after_the_other() -> None:
    found = unbiased([row(1, 2), row(2, 1, 4), row(3, 0, 3, 5)], Total())
    assert found.values == (8 / 2, (16 - 4) / 4, (24 - 3 * 3) / 5)
