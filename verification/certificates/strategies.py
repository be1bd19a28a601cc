"""Strategies of correlated noise as certificates state them: exact entries, and who takes part."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np
from attrs import frozen

from ...accounting.exact import ratio_text
from ...accounting.sampling.strategies import (
    PARTICIPATION,
    STRATEGY,
    CyclicPoisson,
    MatrixStrategy,
    Participation,
    Schema,
    Strategy,
    ToeplitzStrategy,
    TreeStrategy,
)
from .writing import Json


@final
@frozen(eq=False, kw_only=True)
class StatedStrategy:
    """A strategy matrix, and in which steps a record may take part.

    Attributes:
        strategy: the matrix C.
        participation: the steps of a record.
    """

    strategy: Strategy
    participation: Schema

    def as_json(self) -> Json:
        """Return it as a certificate holds it, every entry exactly."""
        return {**self._form(), "participation": self._participation()}

    @property
    def assumed(self) -> tuple[tuple[str, str], ...]:
        """Which matrix correlates the noise, and what is assumed of a record's steps, by name."""
        return (STRATEGY, str(self.strategy)), (PARTICIPATION, str(self.participation))

    def _form(self) -> Json:
        match self.strategy:
            case TreeStrategy():
                return {"form": "tree"}
            case ToeplitzStrategy(coefficients=coefficients):
                return {"form": "toeplitz", "coefficients": _texts(coefficients[: self.strategy.bands].tolist())}
            case strategy:
                rows = [row.tolist() for step in range(strategy.steps) for row in strategy.ending(step)]
                return {"form": "rows", "rows": list(map(_texts, rows))}

    def _participation(self) -> Json:
        match self.participation:
            case Participation(times=times, apart=apart):
                return {"times": times, "apart": apart}
            case CyclicPoisson(groups=groups, rate=rate):
                return {"groups": groups, "rate": ratio_text(rate)}


def _texts(numbers: Iterable[float]) -> list[str]:
    return [ratio_text(Fraction(number)) for number in numbers]


class Moved(NamedTuple):
    """By what a strategy multiplies the shift of one release, how often, and the rate; see `checker.approximate`."""

    times_the_shift: float
    samples: int
    rate: float


def moved(stated: Json, steps: int) -> Moved:
    """What the checker derives from a strategy over so many steps as a certificate holds it; about that, in floats."""
    return _moved(json.dumps(stated), steps)


@lru_cache(maxsize=16)
def _moved(text: str, steps: int) -> Moved:
    stated = json.loads(text)
    strategy, taken = _read(stated, steps), stated["participation"]
    if "groups" in taken:
        longest = max(norm.upper_float for norm in strategy.column_norms())
        return Moved(longest, -(-steps // taken["groups"]), float(Fraction(taken["rate"])))
    return Moved(strategy.sensitivity(Participation(**taken)).upper_float, 1, 1.0)


def _read(stated: Json, steps: int) -> Strategy:
    if stated["form"] == "tree":
        return TreeStrategy(steps)
    if stated["form"] == "toeplitz":
        return ToeplitzStrategy([float(Fraction(text)) for text in stated["coefficients"]], steps)
    matrix = np.zeros((steps, steps))
    for step, row in enumerate(stated["rows"], 1):
        matrix[step - 1, step - len(row) : step] = [float(Fraction(text)) for text in row]
    return MatrixStrategy(matrix)
