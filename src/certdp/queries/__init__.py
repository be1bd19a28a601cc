"""Queries about a table of private rows: counts, sums, means, variances, histograms, quantiles, of all or of groups.

>>> from certdp import queries as q
>>> people = q.table({"age": [31, 44, 59, 23]}, [q.Column("age", 0, 120)], epsilon=1)
>>> answers = people.release(q.count(), q.mean("age"))
>>> print(people.guarantee.bound)
(ε, δ) ≤ (1.0, 0.0)
"""

from .account import Account
from .bounds import NoBounds
from .columns import Category, Column, Condition
from .kinds import (
    Query,
    count,
    histogram,
    mean,
    median,
    quantiles,
    standard_deviation,
    sum,
    variance,
)
from .results import Result, Results
from .tables import Table, table

__all__ = [
    "Account",
    "Category",
    "Column",
    "Condition",
    "NoBounds",
    "Query",
    "Result",
    "Results",
    "Table",
    "count",
    "histogram",
    "mean",
    "median",
    "quantiles",
    "standard_deviation",
    "sum",
    "table",
    "variance",
]
