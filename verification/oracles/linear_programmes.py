"""The exact maximum of a linear programme over rational numbers, with its proof by duality.

It knows nothing of the programme's meaning: the simplex method finds the maximum, and a dual solution, checked apart,
proves that nothing larger is feasible.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...accounting.errors import InvalidValue

Row = Sequence[Fraction]


def maximum(objective: Row, constraints: Sequence[tuple[Row, Fraction]]) -> Fraction:
    """max c·x over x ≥ 0 with a·x ≤ b for every constraint (a, b).

    Args:
        objective: c.
        constraints: each a row a and a limit b ≥ 0, so that 0 is feasible.

    Guarantees:
        The maximum, exactly: reached by a point that was checked to be feasible, and proven by multipliers y ≥ 0 with
        Σ y·a ≥ c and Σ y·b equal to it (weak duality).

    Raises:
        InvalidValue: for a limit below 0, and where the maximum is infinite.
    """
    if any(limit < 0 for _, limit in constraints):
        raise InvalidValue("constraints", "a limit below 0", "limits ≥ 0, so that 0 is feasible")
    point, multipliers = _simplex(objective, constraints)
    value = _product(objective, point)
    feasible = min(point) >= 0 and all(_product(row, point) <= limit for row, limit in constraints)
    columns = zip(*(row for row, _ in constraints), strict=True)
    covering = all(_product(multipliers, column) >= c for column, c in zip(columns, objective, strict=True))
    proven = min(multipliers) >= 0 and covering
    if not (feasible and proven and _product(multipliers, [limit for _, limit in constraints]) == value):
        raise AssertionError("the simplex method ended without a proof of its maximum")
    return value


def _product(first: Row, second: Row) -> Fraction:
    return sum((a * b for a, b in zip(first, second, strict=True)), Fraction(0))


def _simplex(objective: Row, constraints: Sequence[tuple[Row, Fraction]]) -> tuple[list[Fraction], list[Fraction]]:
    """A maximal point and its multipliers, by Bland's rule, which cannot cycle."""
    variables, slacks = len(objective), len(constraints)
    unit = [[Fraction(i == j) for j in range(slacks)] for i in range(slacks)]
    table = [[*map(Fraction, row), *unit[i], Fraction(limit)] for i, (row, limit) in enumerate(constraints)]
    costs = [*(Fraction(-c) for c in objective), *[Fraction(0)] * (slacks + 1)]
    basis = list(range(variables, variables + slacks))
    while improving := [j for j in range(variables + slacks) if costs[j] < 0]:
        entering = improving[0]
        rows = [i for i in range(slacks) if table[i][entering] > 0]
        if not rows:
            raise InvalidValue("objective", "unbounded", "an objective with a finite maximum")
        leaving = min(rows, key=lambda i: (table[i][-1] / table[i][entering], basis[i]))
        pivot = table[leaving][entering]
        table[leaving] = [entry / pivot for entry in table[leaving]]
        for row in (*table[:leaving], *table[leaving + 1 :], costs):
            if factor := row[entering]:
                row[:] = [a - factor * b for a, b in zip(row, table[leaving], strict=True)]
        basis[leaving] = entering
    point = [Fraction(0)] * (variables + slacks)
    for row, variable in zip(table, basis, strict=True):
        point[variable] = row[-1]
    return point[:variables], costs[variables:-1]
