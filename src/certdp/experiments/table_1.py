"""IS Table 1: n, d, r and x̃ of each data set after preprocessing."""

from __future__ import annotations

from .findings import Advance, Findings, Plan, Table


def run(plan: Plan, advance: Advance) -> Findings:
    """The figures of the data sets of the plan."""
    figures = {data.name: data.figures for data in plan.data}
    columns = ("data", "n", "d", "r", "mean_squared_norm")
    table = Table(columns, [(name, *row.values()) for name, row in figures.items()])
    advance(1.0)
    only = next(iter(figures.values())) if len(figures) == 1 else {}
    return Findings({**only, "rows": table.dictionaries}, {plan.name: table})
