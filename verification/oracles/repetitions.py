"""The best of a random number of draws, by its definition: every number of repetitions with its own probability.

Nothing here knows a generating function or a tilt: for each k the best of k draws is of a rank at most r with the
probability that all k are. Results are numerical evidence at 512 bits; what is left out is below `LEFT_OUT`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from .working_precision import context, fraction

_context = context(512)

LEFT_OUT = Fraction(1, 2**80)
"""The probability of all numbers of repetitions that are not looked at."""

_BISECTIONS = 600
_MOST = 20_000


def negative_binomial(mean: Fraction, shape: Fraction) -> list[Fraction]:
    """P(K = 0), P(K = 1), … of the truncated negative binomial law of this mean (above 1) and shape."""
    eta, wanted = _context.number(shape), _context.number(mean)

    def mean_at(stop: Any) -> Any:
        if not shape:
            return (1 / stop - 1) / -_context.log(stop)
        return eta * (1 - stop) / (stop * (1 - stop**eta))

    low, high = _context.mpf(2) ** -200, _context.mpf(1) - _context.mpf(2) ** -100
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_at(middle) > wanted else (low, middle)

    def weights() -> Iterator[Any]:
        yield _context.mpf(0)
        term = _context.mpf(1)
        for k in range(1, _MOST):
            yield term * (1 - low) ** k
            term = term * (k + eta) / (k + 1)

    total = -_context.log(low) if not shape else (low**-eta - 1) / eta
    return _until(weight / total for weight in weights())


def poisson(mean: Fraction) -> list[Fraction]:
    """P(K = 0), P(K = 1), … of the Poisson law."""

    def chances() -> Iterator[Any]:
        term = _context.exp(-_context.number(mean))
        for k in range(_MOST):
            yield term
            term = term * _context.number(mean) / (k + 1)

    return _until(chances())


def _until(chances: Iterator[Any]) -> list[Fraction]:
    """The chances, until all that follow are negligible."""
    found, rest = [], Fraction(1)
    for chance in chances:
        found.append(fraction(chance))
        rest -= found[-1]
        if rest < LEFT_OUT:
            return found
    raise AssertionError(f"{rest} is left out")


def selected(law: Sequence[Fraction], ranks: Sequence[int], chances: Sequence[Fraction]) -> list[Fraction]:
    """The law of the best output, and at last that of none: of equal ranks the one drawn first.

    Args:
        law: of one draw.
        ranks: of its outputs; the highest is the best.
        chances: P(K = k) for k = 0, 1, …
    """
    found = []
    for output, rank in enumerate(ranks):
        upto = sum((p for p, r in zip(law, ranks, strict=True) if r <= rank), Fraction(0))
        alike = sum((p for p, r in zip(law, ranks, strict=True) if r == rank), Fraction(0))
        share = law[output] / alike
        best, power, lower = Fraction(0), Fraction(1), Fraction(1)
        for chance in chances:
            best += chance * (power - lower)
            power, lower = _short(power * upto), _short(lower * (upto - alike))
        found.append(best * share)
    return [*found, chances[0]]


def with_number(
    law: Sequence[Fraction], ranks: Sequence[int], chances: Sequence[Fraction], most: int
) -> list[Fraction]:
    """The law of the best output and of how many draws there were, up to `most`, which must not be told."""
    return [
        chance * p
        for k, chance in enumerate(chances[: most + 1])
        for p in selected(law, ranks, [Fraction(0)] * k + [Fraction(1)])[:-1]
    ]


def _short(value: Fraction) -> Fraction:
    """The number, cut to 400 bits: powers of fractions grow long."""
    return Fraction(int(value * 2**400), 2**400)
