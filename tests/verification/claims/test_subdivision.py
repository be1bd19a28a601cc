"""Proofs by interval subdivision: what is true is proven, what is false never is, and what stays open is named."""

from __future__ import annotations

import importlib
import pkgutil
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import Constant, Expression, exp, expm1, log, maximum, minimum, select, sqrt
from certdp.plugins.contract import Claim
from certdp.verification import claims as built_in
from certdp.verification.claims.subdivision import prove, quantity
from tests.support.cases import examples

X, Y = quantity("x"), quantity("y")
UNIT = {X: (0, 1)}
SQUARE = {X: (0, 1), Y: (0, 1)}

MODULES = [importlib.import_module(f"{built_in.__name__}.{m.name}") for m in pkgutil.iter_modules(built_in.__path__)]
PROVEN: list[Claim] = [c for module in MODULES for c in getattr(module, "CLAIMS", ()) if c.prove is not None]


@pytest.mark.parametrize(
    "margin",
    [
        X - X**2 + Fraction(1, 10**6),
        exp(X) - 1 - X,  # touches 0 at an end, with slope 0
        exp(X) - 1 - X - X**2 / 2,
        X - log(1 + X),
        maximum(X, 1 - X) - Fraction(499, 1000),
        1 - minimum(X, 1 - X) - Fraction(1, 2),  # reaches 0 at the kink
        select(X, Constant(Fraction(1, 2)), 1 - X, X) - Fraction(1, 3),
        sqrt(1 + X) - 1 - X / 2 + X**2 / 8,
    ],
)
def test_true_inequalities_in_one_variable(margin: Expression) -> None:
    proof = prove("true", margin, UNIT)
    assert proof.holds, str(proof)
    assert proof.box == {"x": (Fraction(0), Fraction(1))}


@pytest.mark.parametrize("margin", [X * Y - X - Y + 1, exp(X * Y) - 1 - X * Y, X * expm1(Y) - Y * expm1(-X) * -1])
def test_true_inequalities_in_two_variables(margin: Expression) -> None:
    assert prove("true", margin, SQUARE).holds


@examples(60)
@given(st.fractions(-1, 2, max_denominator=40), st.fractions(-1, 1, max_denominator=40))
@example(Fraction(1, 2), Fraction(0))  # touches 0 inside: true, and not within reach
@example(Fraction(1, 3), Fraction(1, 10**6))  # false on a sliver alone
def test_what_is_proven_is_true(middle: Fraction, depth: Fraction) -> None:
    """(x − m)² − d on [0, 1] has its least value −d at m, or at the nearer end."""
    least = (min(max(middle, Fraction(0)), Fraction(1)) - middle) ** 2 - depth
    proof = prove("maybe", (X - middle) ** 2 - depth, UNIT, budget=200)
    assert not (proof.holds and least < 0)
    assert proof.holds or least <= 0


def test_a_false_inequality_names_a_cell_on_which_it_fails() -> None:
    proof = prove("false", Fraction(3, 4) - X, UNIT)
    assert not proof.holds
    assert proof.unproven is not None
    low, high = proof.unproven["x"]
    assert (low + high) / 2 > Fraction(3, 4)
    assert "not proven on x ∈ [" in str(proof)


def test_every_margin_is_proven() -> None:
    assert prove("both", [X + 1, 2 - X], UNIT).cells == 2
    assert not prove("one of them", [X + 1, X - 1], UNIT).holds


def test_a_jump_is_not_stepped_over() -> None:
    """Its slope is 1 on both sides, but it falls by 2 in the middle."""
    jumping = select(X, Constant(Fraction(1, 2)), X, X - 2)
    assert not prove("false", jumping, UNIT, budget=100).holds


def test_the_cells_are_limited() -> None:
    touching = (X - Y) ** 2 * exp(X)
    proof = prove("open", touching - Fraction(1, 10**9) * (X + Y) ** 0 + Fraction(1, 10**9), SQUARE, budget=20)
    assert proof.cells <= 20


def test_where_an_operation_leaves_its_domain_nothing_is_proven() -> None:
    proof = prove("log of 0", 1 - log(X), UNIT, budget=50)
    assert not proof.holds


@pytest.mark.parametrize("side", [(1, 0), (-1, 1)])
def test_unfit_boxes_are_refused(side: tuple[int, int]) -> None:
    with pytest.raises(InvalidValue, match="lower end ≤ upper end"):
        prove("nothing", X, {X: side})


@pytest.mark.slow
@pytest.mark.parametrize("claim", PROVEN, ids=lambda claim: claim.id)
def test_claims_are_proven_on_their_boxes(claim: Claim) -> None:
    assert claim.prove is not None
    proof = claim.prove()
    assert proof.holds, str(proof)
    assert all(low < high for low, high in proof.box.values())


def test_all_three_papers_have_proofs() -> None:
    sources = [claim.id.partition("/")[0] for claim in PROVEN]
    assert {source: sources.count(source) >= 2 for source in ("is", "pws", "dpis")} == dict.fromkeys(
        ("is", "pws", "dpis"), True
    )
    assert len(PROVEN) >= 12
