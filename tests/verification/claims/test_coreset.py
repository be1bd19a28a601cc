"""The claims about coreset and variance-optimal sampling: as expected, and told from wrong forms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp.accounting.provenance import Private
from certdp.plugins.contract import Expectation
from certdp.verification.claims import coreset as claims
from certdp.verification.oracles import coresets as oracles_coresets
from certdp.verification.oracles import lightweight_coresets

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


def test_the_papers_own_run_refutes_the_printed_limit() -> None:
    kdd = {
        "n": Fraction(142_107),
        "spread": Fraction("7031359.55"),
        "radius": Fraction("8020.65"),
        "mixing": Fraction(1, 2),
    }
    claim = BY_ID["is/coreset-size-printed"]
    assert (claim.expectation, claim.erratum) == (Expectation.REJECTED, "IS-m-limit")
    finding = claim.examine(kdd)
    assert not finding.holds
    printed = kdd["n"] * kdd["spread"] / kdd["radius"] ** 2
    assert (int(printed), int(claims._limit(kdd))) == (15_532, 28_003)
    assert printed < 20_000 < claims._limit(kdd)  # the paper runs m = 20,000


def test_the_grid_is_refuted_by_a_maximum_inside() -> None:
    control = BY_ID["is/equation-5-grid"]
    assert (control.expectation, control.erratum) == (Expectation.REJECTED, "IS-Eq5")
    assert not control.examine(LOSS).holds
    assert control.examine({**LOSS, "mixing": Fraction(1)}).holds  # uniform: reached at ρ = r


LOSS = {
    "n": Fraction(1000),
    "spread": Fraction(1, 3),
    "radius": Fraction(1),
    "mixing": Fraction(1, 2),
    "share": Fraction(1, 100),
    "constant": Fraction(1, 100),
    "slope": Fraction(1, 10),
}
"""A loss whose largest value under coreset sampling lies inside the domain."""

DATA = {
    "values": (Fraction(1), Fraction(5), Fraction(-2), Fraction(12)),
    "centres": (Fraction(7, 2), Fraction(-30)),
    "offset": Fraction(3),
    "mixing": Fraction(1, 4),
    "share": Fraction(3, 4),
    "drawn": (0, 1, 1),
    "weights": (1, 3, 2, 5),
    "rates": (Fraction(1, 3), Fraction(1), Fraction(1, 12), Fraction(1, 2), Fraction(1, 6)),
    "scale": Fraction(1, 2),
}


def refuted(claim: str, case: dict[str, Any]) -> None:
    assert not BY_ID[claim].examine(case).holds


def low_grid(radius: float, a: float, t: float, b: float, s: float) -> float:
    return oracles_coresets.on_grid_of_equation_5(radius, a, t, b, s, 30)


WRONG: list[tuple[str, Any, str, Callable[..., Any]]] = [
    ("is/equation-5", oracles_coresets, "largest_of_equation_5", low_grid),
    ("is/coreset-size", claims, "_limit", lambda case: case["n"] * case["spread"] / case["radius"] ** 2),
    ("is/lightweight-distribution", oracles_coresets, "mean", lambda points: (Fraction(0),)),
    ("is/definition-14", lightweight_coresets, "coreset_error", lambda *_: Private(0.0)),
    ("is/theorem-15-sensitivity", lightweight_coresets, "sensitivity", lambda mixing: mixing),
    ("is/variance", claims, "weighted_sum_variance", lambda *_, scale: Private(np.array([float(scale) ** 2]))),
    (
        "is/variance-optimal",
        claims,
        "variance_optimal",
        lambda records, m: Private(np.minimum(1, abs(records[:, 0]) / abs(records).sum() * float(m))),
    ),
]


@pytest.mark.parametrize(("claim", "where", "name", "wrong"), WRONG, ids=[w[0] for w in WRONG])
def test_claims_are_told_from_wrong_forms(
    claim: str, where: Any, name: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = LOSS if claim in ("is/equation-5", "is/coreset-size") else DATA
    assert BY_ID[claim].examine(case).holds
    monkeypatch.setattr(where, name, wrong)
    refuted(claim, case)


def test_unbiasedness_needs_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    right = claims._rates
    monkeypatch.setattr(claims, "_rates", lambda case, points: [q / 2 for q in right(case, points)])
    refuted("is/coreset-unbiased", DATA)
