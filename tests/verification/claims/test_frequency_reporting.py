"""The claims about frequency reporting hold, and find a witness against wrong tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import attrs
import pytest

from certdp.accounting.keyed import estimates as frequency_estimates
from certdp.accounting.keyed.reporting import DyadicBudget, FrequencyRow, Ppswor, Run, tables
from certdp.verification.claims import frequency_reporting as claims
from certdp.verification.oracles import sanitisers as oracles_sanitisers
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


Following = Callable[[DyadicBudget, FrequencyRow, int], FrequencyRow]


def changed(monkeypatch: pytest.MonkeyPatch, change: Callable[[FrequencyRow], FrequencyRow]) -> None:
    """Tables whose rows are changed after their proof."""
    honest = tables.FrequencyTable.rows
    monkeypatch.setattr(tables.FrequencyTable, "rows", lambda self: map(change, honest(self)))


def lowest_tokens(row: FrequencyRow) -> FrequencyRow:
    """As often reported, but with the lowest token alone."""
    tokens = 1 << row.subdivision
    runs = (Run(0, tokens, row.reported // tokens),) if row.reported >= tokens else ()
    return attrs.evolve(row, runs=runs, unreported=(1 << row.bits) - sum(run.mass for run in runs))


def unreported(row: FrequencyRow) -> FrequencyRow:
    return attrs.evolve(row, runs=(), unreported=1 << row.bits)


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        ("pws/algorithm-4", lowest_tokens),
        ("pws/algorithm-5", lowest_tokens),
        ("pws/theorem-5.1-property-1", unreported),
    ],
)
def test_other_rows_are_refuted(
    monkeypatch: pytest.MonkeyPatch, claim: str, change: Callable[[FrequencyRow], FrequencyRow]
) -> None:
    changed(monkeypatch, change)
    assert check(BY_ID[claim], 30, 0).outcome is Outcome.FAILS


def test_rows_that_are_not_private_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(row: FrequencyRow) -> FrequencyRow:
        if 2 * row.reported > 1 << row.bits:
            return row
        runs = tuple(Run(run.first, run.width, 2 * run.units) for run in row.runs)
        return attrs.evolve(row, runs=runs, unreported=(1 << row.bits) - 2 * row.reported)

    changed(monkeypatch, doubled)
    assert check(BY_ID["pws/theorem-5.1-property-2"], 30, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("pws/theorem-5.1-property-3", "algorithm_5"),
        ("pws/corollary-6.1", "algorithm_5"),
        ("pws/theorem-5.1-algorithm-4", "algorithm_4"),
    ],
)
def test_rows_that_separate_less_are_refuted(monkeypatch: pytest.MonkeyPatch, claim: str, name: str) -> None:
    """Rows for nine tenths of δ are private for δ, but not the best."""
    honest: Callable[..., Any] = getattr(oracles_sanitisers, name)

    def cautious(growth: Fraction, delta: Fraction, rates: Sequence[Fraction]) -> Any:
        return honest(growth, delta * Fraction(9, 10), rates)

    monkeypatch.setattr(claims, name, cautious)
    assert check(BY_ID[claim], 30, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize("method", ["rate", "units"])
def test_another_limit_is_refuted(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """ppswor with half the threshold, in what is optimal or in what is drawn."""
    honest: Callable[..., Any] = getattr(Ppswor, method)

    def halved(sampler: Ppswor, *arguments: Any, **precision: Any) -> Any:
        return honest(attrs.evolve(sampler, threshold=sampler.threshold / 2), *arguments, **precision)

    monkeypatch.setattr(Ppswor, method, halved)
    assert check(BY_ID["pws/lemma-4.4"], 30, 0).outcome is Outcome.FAILS


def test_estimates_that_stop_early_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = frequency_estimates.maximum_likelihood

    def early(rows: Any, statistic: Any, highest: int) -> Any:
        return honest([row for row, _ in zip(rows, range(highest), strict=False)], statistic, highest)

    monkeypatch.setattr(claims, "maximum_likelihood", early)
    assert check(BY_ID["pws/equation-9"], 30, 0).outcome is Outcome.FAILS


def test_moments_without_the_unreported_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = frequency_estimates.moments

    def reported_only(row: Any, estimates: Any, statistic: Any) -> Any:
        found = honest(row, estimates, statistic)
        missed = float(1 - row.probability) * row.frequency**2
        return attrs.evolve(found, mean_squared_error=found.mean_squared_error - missed)

    monkeypatch.setattr(claims, "moments", reported_only)
    assert check(BY_ID["pws/section-7.1-moments"], 30, 0).outcome is Outcome.FAILS


def test_ties_that_count_in_full_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = frequency_estimates.concordance
    monkeypatch.setattr(
        claims,
        "concordance",
        lambda low, high: honest(low, high) + low.unreported * high.unreported * Fraction(1, 2 << 2 * low.bits),
    )
    assert check(BY_ID["pws/section-6-concordance"], 30, 0).outcome is Outcome.FAILS


def test_a_witness_against_corollary_6_1_over_all_schemes() -> None:
    """e^ε = 3, δ = 0.19, q = (0.65, 0.8, 0.85): giving up half of π_2 − π_1 orders frequencies 1 and 3 better."""
    growth, delta, rates = Fraction(3), Fraction(19, 100), (Fraction(13, 20), Fraction(4, 5), Fraction(17, 20))
    least, most, _ = oracles_sanitisers.algorithm_3(growth, delta, rates)
    lazy = (rates[0], (least + most) / 2, rates[2])
    found = []
    for drawn in (rates, lazy):
        rows = oracles_sanitisers.algorithm_5(growth, delta, drawn)
        for one, other in pairwise(rows):
            assert oracles_sanitisers.divergence(growth, one, other) <= delta
            assert oracles_sanitisers.divergence(growth, other, one) <= delta
        found.append(oracles_sanitisers.order_probability(rows[0], rows[2]))
    assert [float(f) for f in found] == [pytest.approx(0.902728, abs=1e-6), pytest.approx(0.909075, abs=1e-6)]
