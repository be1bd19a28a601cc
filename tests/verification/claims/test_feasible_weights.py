"""The claims of feasible weights hold, find a witness against wrong forms, and the misprints have their numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.expressions import W, log1p
from certdp.accounting.feasible_weights import FeasibleWeights, constrained_weight, largest_weights
from certdp.accounting.sampling.losses import PureLoss
from certdp.verification.claims import feasible_weights as claims
from certdp.verification.oracles import weights as oracles_weights
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


Solve = Callable[..., Any]


def scaled(factor: float) -> Solve:
    def solve(*arguments: Any, **options: Any) -> Any:
        found = constrained_weight(*arguments, **options)
        return evolve(found, weight=found.weight * factor)

    return solve


@pytest.mark.slow
@pytest.mark.parametrize(("claim", "factor"), [("is/problem-7", 1 + 1e-12), ("is/algorithm-1", 1 - 1e-12)])
def test_a_weight_off_by_little_is_found(claim: str, factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "constrained_weight", scaled(factor))
    assert check(BY_ID[claim], 12, 0).outcome is Outcome.FAILS


def shorter(*arguments: Any, **options: Any) -> Any:
    found = constrained_weight(*arguments, **options)
    end = None if found.bracket is None else (found.bracket - 1) / 2 + 1
    return evolve(found, bracket=end)


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["is/algorithm-1", "is/proposition-12"])
def test_a_bracket_that_is_too_short_is_found(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "constrained_weight", shorter)
    assert check(BY_ID[claim], 12, 0).outcome is Outcome.FAILS


def larger(*arguments: Any, **options: Any) -> Any:
    found = constrained_weight(*arguments, **options)
    return evolve(found, modulus=None if found.modulus is None else found.modulus * 2)


@pytest.mark.slow
def test_a_modulus_that_is_too_large_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "constrained_weight", larger)
    assert check(BY_ID["is/algorithm-1"], 12, 0).outcome is Outcome.FAILS


def of_the_data(losses: list[float], target: Fraction) -> FeasibleWeights:
    found = largest_weights(losses, target)
    return evolve(found, weight=np.full_like(found.weight, found.weight.min()))


def raised(losses: list[float], target: Fraction) -> FeasibleWeights:
    found = largest_weights(losses, target)
    return evolve(found, weight=np.nextafter(found.weight, np.inf) * (1 + 1e-12))


@pytest.mark.parametrize("wrong", [of_the_data, raised])
def test_theorem_10_is_told_from_wrong_weights(wrong: Solve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "largest_weights", wrong)
    assert check(BY_ID["is/theorem-10"], 12, 0).outcome is Outcome.FAILS


# The witnesses of the misprints


def modulus_as_printed(loss: float, steps: int) -> float:
    return steps**2 * loss * math.exp(steps * loss)


@pytest.mark.parametrize(
    ("loss", "steps", "end", "root"), [("0.1", 1, 30.1, 43.20709028861915), ("0.05", 10, 1.22, 4.22)]
)
def test_equation_4_as_printed_ends_the_bracket_before_the_root(loss: str, steps: int, end: float, root: float) -> None:
    a = Fraction(loss) * steps
    found = constrained_weight(PureLoss(a * W), {}, Fraction(1))
    assert found.root is not None
    assert found.bracket is not None
    assert math.isclose(found.weight, root, rel_tol=2e-3)
    mu = modulus_as_printed(float(Fraction(loss)), steps)
    factor = math.exp(a)
    share = (math.e - min(factor + mu / 2, float(a) * factor + 1)) / mu
    assert math.isclose(2 * share + 1, end, rel_tol=5e-3)  # with line 6 as printed, too
    assert 2 * (share + 1) < found.weight < found.bracket.upper


def test_line_6_as_printed_ends_the_bracket_before_the_root() -> None:
    target = Enclosure.of(5).log().lower  # just below log 5
    found = constrained_weight(PureLoss(log1p(W * W)), {}, target)
    assert found.bracket is not None
    assert math.isclose(found.weight, 4.0)
    assert math.isclose(found.bracket.upper_float, 4.0)  # 2((5 − 3)/2 + 1); as printed 2(5 − 3)/2 + 1 = 3


def test_line_7_as_printed_stays_at_weight_one() -> None:
    found = constrained_weight(PureLoss(Fraction("1.2") * W ** Fraction(1, 2)), {}, Fraction("1.2"))
    assert math.isclose(found.weight, 2.93, rel_tol=2e-3)


# The oracle


def test_scanning_finds_the_reference_value() -> None:
    case = {"a": Fraction("0.1"), "b": Fraction(0), "p": Fraction(1)}
    root = oracles_weights.largest_feasible("power", case, Fraction(1))
    assert root is not None
    assert math.isclose(root, 43.20709028861915, rel_tol=1e-15)
    assert oracles_weights.excess("power", case, Fraction(1), root * (1 + Fraction(1, 2**50))) > 0
    assert oracles_weights.excess("power", case, Fraction(1), root * (1 - Fraction(1, 2**50))) < 0


def test_scanning_knows_a_loss_that_never_breaks_the_target() -> None:
    case = {"a": Fraction("0.1"), "b": Fraction(0), "p": Fraction(1)}
    assert oracles_weights.largest_feasible("constant", case, Fraction(1)) is None


def test_curvature_by_differences() -> None:
    case = {"a": Fraction(1), "b": Fraction(0), "p": Fraction(2)}
    assert abs(oracles_weights.curvature("logarithmic", case, Fraction(3)) - 2) < Fraction(1, 2**60)
