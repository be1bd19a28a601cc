"""The exact simplex method against scipy's and on programmes with a known maximum."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from certdp.accounting.errors import InvalidValue
from certdp.verification.oracles import linear_programmes as oracles_linear_programmes
from certdp.verification.oracles.linear_programmes import maximum
from tests.support.cases import examples

_NUMBERS = st.fractions(-5, 5, max_denominator=4)


@st.composite
def programmes(draw: st.DrawFn) -> tuple[list[Fraction], list[tuple[list[Fraction], Fraction]]]:
    count = draw(st.integers(1, 4))
    rows = st.lists(_NUMBERS, min_size=count, max_size=count)
    constraints = draw(st.lists(st.tuples(rows, st.fractions(0, 5, max_denominator=4)), min_size=1, max_size=6))
    box = [([Fraction(i == j) for j in range(count)], Fraction(3)) for i in range(count)]
    return draw(rows), [*constraints, *box]


@given(programmes())
@examples(40)
def test_the_maximum_is_scipys(programme: tuple[list[Fraction], list[tuple[list[Fraction], Fraction]]]) -> None:
    objective, constraints = programme
    found = linprog(
        [-float(c) for c in objective],
        A_ub=np.array([[float(a) for a in row] for row, _ in constraints]),
        b_ub=[float(limit) for _, limit in constraints],
        method="highs",
    )
    assert found.status == 0
    assert float(maximum(objective, constraints)) == pytest.approx(-found.fun, abs=1e-7)


def test_a_known_maximum() -> None:
    one = Fraction(1)
    constraints = [([one, 2 * one], 4 * one), ([3 * one, one], 6 * one)]
    assert maximum([one, one], constraints) == Fraction(14, 5)


def test_what_it_refuses() -> None:
    one = Fraction(1)
    with pytest.raises(InvalidValue, match="limits ≥ 0"):
        maximum([one], [([one], -one)])
    with pytest.raises(InvalidValue, match="finite maximum"):
        maximum([one, one], [([one, -one], one)])


@pytest.mark.parametrize(
    "wrong",
    [
        ([Fraction(1)], [Fraction(1)]),  # feasible, but not the maximum
        ([Fraction(3)], [Fraction(3, 2)]),  # not feasible
        ([Fraction(2)], [Fraction(1, 2)]),  # multipliers that do not cover the objective
        ([Fraction(2)], [Fraction(-1)]),
    ],
)
def test_a_wrong_solution_is_not_believed(
    wrong: tuple[list[Fraction], list[Fraction]], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Fraction(1)
    assert maximum([one], [([one], 2 * one)]) == 2
    monkeypatch.setattr(oracles_linear_programmes, "_simplex", lambda *_: wrong)
    with pytest.raises(AssertionError, match="proof"):
        maximum([one], [([one], 2 * one)])
