"""Answers to queries: values with intervals, what noise was added, and what it all cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any, final

import numpy as np
from attrs import evolve, field, frozen

from ..accounting.display import Displayed, figure
from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats, Number
from ..accounting.guarantees import Guarantee
from ..accounting.units import Delta
from ..plugins.contract import Coins
from ..plugins.contract.coins import seeded_run
from ..runs.certificates import certificate
from ..runs.plan import Plan
from .account import rounded


@final
@frozen(kw_only=True, eq=False, repr=False)
class Result(Displayed):
    """The answer to one query. It was released: it may be published.

    Attributes:
        name: the query, such as mean(age).
        groups: a tuple of public values for each number of the answer, one empty tuple where there is one number.
        values: float64, the numbers.
        low: float64, lower ends of intervals.
        high: float64, upper ends.
        confidence: with which each interval, on its own, holds what would be told without noise of the numbers as they
            enter: held within their bounds, and what each adds to a sum rounded to a public unit, 2^-30 of the most
            that one adds or of the noise's scale. What the rows were sampled from it says nothing of.
        noise: what was added, in words.
    """

    name: str
    groups: tuple[tuple[Any, ...], ...]
    values: Floats
    low: Floats
    high: Floats
    confidence: float
    noise: str

    @classmethod
    def joined(cls, results: Sequence[Result]) -> Result:
        """Answers to one query as one."""
        (first, *_) = results
        return evolve(
            first,
            groups=tuple(group for result in results for group in result.groups),
            values=np.concatenate([result.values for result in results]),
            low=np.concatenate([result.low for result in results]),
            high=np.concatenate([result.high for result in results]),
        )

    @property
    def value(self) -> float:
        """The number of an answer that is one.

        Raises:
            InvalidValue: where there are several.
        """
        if len(self.values) != 1:
            raise InvalidValue("result", f"{len(self.values)} numbers", "one", "They are in `values`")
        return float(self.values[0])

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of an answer that is one number; raises as `value`."""
        _ = self.value
        return float(self.low[0]), float(self.high[0])

    def __float__(self) -> float:
        return self.value

    def rows(self) -> Iterator[dict[str, Any]]:
        """The answer as a table: pandas.DataFrame(result.rows())."""
        for group, value, low, high in zip(self.groups, self.values, self.low, self.high, strict=True):
            label = ", ".join(map(str, group))
            yield {"query": self.name, "group": label, "value": float(value), "low": float(low), "high": float(high)}

    def __str__(self) -> str:
        (first, *rest) = self.lines()
        return first if not rest else f"{first}, and {len(rest)} more"

    def cells(self) -> Iterator[tuple[str, str]]:
        """One line for each number, and the noise."""
        for line in self.lines():
            name, _, text = line.partition(" = ")
            yield name, text
        yield "noise", self.noise

    def lines(self) -> Iterator[str]:
        """One line for each number, with its interval; for a quantile with how far its rank may be off."""
        for row in self.rows():
            name = f"{row['query']} [{row['group']}]" if row["group"] else row["query"]
            likely = self.noise
            if not math.isnan(row["low"]):
                ends = f"{figure(row['low'], ROUND_FLOOR)} to {figure(row['high'], ROUND_CEILING)}"
                likely = f"{100 * self.confidence:.12g} %: {ends}"
            yield f"{name} = {figure(row['value'])} ({likely})"


@final
@frozen(kw_only=True, eq=False, repr=False)
class Results(Displayed, Mapping[str, Result]):
    """The answers of one request, by the names of the queries.

    Attributes:
        cost: what they cost together; the account of the table bounds all requests.
        plan: what was released.
        coins: the randomness that was used.
    """

    _results: Mapping[str, Result] = field(alias="results")
    cost: Guarantee[Any, Any, Any]
    plan: Plan[Any]
    coins: Coins

    def __getitem__(self, name: str) -> Result:
        if name not in self._results:
            raise InvalidValue("query", name, f"one of {', '.join(self._results)}")
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def rows(self) -> Iterator[dict[str, Any]]:
        """All answers as one table: pandas.DataFrame(results.rows())."""
        for result in self.values():
            yield from result.rows()

    def certificate(self, delta: Delta | Number = 0) -> bytes:
        """A publishable certificate of what this request costs about a unit of which all rows are one record.

        Raises:
            InvalidValue: for seeded coins, and for releases that no certificate states.
        """
        if not self.coins.private:
            raise seeded_run("certificate")
        return certificate(self.plan, self.plan.epsilon(delta)).content

    def __str__(self) -> str:
        return "\n".join(
            [*(line for result in self.values() for line in result.lines()), f"cost: {rounded(self.cost.bound)}"]
        )

    def cells(self) -> Iterator[tuple[str, str]]:
        """Every number of every answer, and the cost."""
        for result in self.values():
            yield from result.cells()
        yield "cost", rounded(self.cost.bound)
