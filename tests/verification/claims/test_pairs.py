"""The claims of dominating pairs hold, and each of them finds a witness against a wrong law."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import (
    Composed,
    DiscreteGaussianPair,
    FinitePair,
    GaussianPair,
    LaplacePair,
    RandomisedResponsePair,
    SampledGaussian,
    discrete_laplace,
    finite,
    randomised_response,
    response,
)
from certdp.plugins.contract import Expectation
from certdp.verification.claims import pairs as claims
from certdp.verification.claims.finite import law
from certdp.verification.oracles import pairs as oracles
from certdp.verification.running.results import Outcome
from certdp.verification.running.runner import run
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


def larger(original: Callable[..., Enclosure]) -> Callable[..., Enclosure]:
    return lambda *given: original(*given) * Fraction(1001, 1000) + Fraction(1, 10**6)


def smaller(original: Callable[..., Enclosure]) -> Callable[..., Enclosure]:
    return lambda *given: original(*given) * Fraction(999, 1000)


LAWS: list[tuple[str, Any, str]] = [
    ("pairs/finite", FinitePair, "_delta"),
    ("pairs/finite", FinitePair, "_pure"),
    ("pairs/finite", FinitePair, "_renyi"),
    ("pairs/finite-with-zeros", FinitePair, "_delta"),
    ("pairs/composition", FinitePair, "_delta"),
    ("pairs/composition", FinitePair, "_renyi"),
    ("pairs/randomised-response", RandomisedResponsePair, "_delta"),
    ("pairs/randomised-response", response, "renyi"),
    ("pairs/optimal-composition", randomised_response, "_delta_at"),
    ("pairs/discrete-laplace", discrete_laplace, "_delta_at"),
    ("pairs/discrete-laplace", discrete_laplace, "_log_moment"),
    ("pairs/discrete-laplace-zcdp", discrete_laplace, "_divergence"),
    ("pairs/laplace", LaplacePair, "_delta"),
    ("pairs/laplace", LaplacePair, "_renyi"),
    ("pairs/gaussian", GaussianPair, "_delta"),
    ("pairs/sampled-gaussian", SampledGaussian, "_delta"),
    ("pairs/discrete-gaussian", DiscreteGaussianPair, "_delta"),
    ("pairs/discrete-gaussian", DiscreteGaussianPair, "_renyi"),
]


@pytest.mark.parametrize("wrong", [larger, smaller])
@pytest.mark.parametrize(("claim", "home", "name"), LAWS)
def test_a_slightly_wrong_law_is_told(
    claim: str, home: Any, name: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, name, wrong(getattr(home, name)))
    result = check(BY_ID[claim], 30, 0)
    assert not result.passed
    assert result.finding is not None
    assert not result.finding.holds


def test_a_pair_that_does_not_dominate_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    halved = RandomisedResponsePair._delta
    monkeypatch.setattr(discrete_laplace, "_delta_at", smaller(discrete_laplace._delta_at))
    monkeypatch.setattr(RandomisedResponsePair, "_delta", lambda *given: halved(*given) * Fraction(1, 2))
    for claim in ("pairs/discrete-laplace-dimensions", "pairs/randomised-response-dominates"):
        assert check(BY_ID[claim], 100, 0).outcome is Outcome.FAILS


def test_laplace_noise_in_two_dimensions_needs_the_whole_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "_continuous_pair", lambda case, steps: LaplacePair(Enclosure.of("0.01")))
    assert check(BY_ID["pairs/laplace-dimensions"], 60, 0).outcome is Outcome.FAILS


def test_forgotten_parts_and_counts_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(claims, "compose_pairs", lambda parts: Composed(tuple(parts)[:1]))
        assert check(BY_ID["pairs/composition"], 100, 0).outcome is Outcome.FAILS
    monkeypatch.setattr(finite, "_counts", lambda total, kinds: [(total, *[0] * (kinds - 1))])
    (result,) = run([BY_ID["pairs/composition"]], examples=60).results
    assert not result.passed


def test_the_negative_control_has_a_witness() -> None:
    (control,) = [claim for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED]
    result = check(BY_ID[control.id], 60, 0)
    assert result.passed
    assert result.witness is not None


def test_the_oracles_tables_are_laws() -> None:
    for stay in (Fraction(1, 3), Fraction(9, 10)):
        for steps in (1, 4):
            for tables in (claims.discrete_laplace(stay, steps), claims.laplace_cells(stay, steps)):
                for table in tables:
                    assert law(table) == table


def test_the_numerical_oracles_know_reference_values() -> None:
    assert abs(oracles.laplace_delta(Fraction(1), Fraction(0)) - Fraction("0.39346934028736657640")) < Fraction(
        1, 10**18
    )
    assert abs(oracles.gaussian_delta(Fraction(1), Fraction(1)) - Fraction("0.12693673750664394580")) < Fraction(
        1, 10**18
    )
    removed = oracles.twice_sampled_laplace_delta(1.0, 0.5, 0.5, remove=True)
    added = oracles.twice_sampled_laplace_delta(1.0, 0.5, 0.2, remove=False)
    assert (round(removed, 4), round(added, 4)) == (0.1017, 0.1848)
