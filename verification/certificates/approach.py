"""Which numbers are tried for a certificate: ever nearer to the least that the independent checker proves.

A refusal tells what was proven instead. From that the least number is extrapolated, so that a few checks do where
halving would take twenty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeAlias, TypeVar, final

from attrs import frozen

SHARP = 1e-6
"""How far above a number that the checker refused the one certified lies at most, relatively."""

Proven = TypeVar("Proven")

_TINY = 2.0**-1000
_RUNGS = (2.0**-51, 2.0**-31, 1e-6, 1e-3, 1.0)
"""By how much more than the start is tried where nothing is known yet, relatively."""
_MORE = 2.0**-49
_NEAR = 2e-7
_TOO_CLOSE = 1e-12
_FAR = 700.0


class Refusal(NamedTuple):
    """A number that was tried, and the logarithm of what was proven over what was asked; above 0."""

    number: float
    excess: float


Guess: TypeAlias = Callable[[Sequence[Refusal]], float | None]
"""About the least number that is proven, from the refusals so far, or None where they do not tell."""


@final
class Approach:
    """The numbers at which a claim is tried, from a start to a limit.

    Guarantees: numbers grow until one is proven. If that is not the start, and fewer than `most` checks were made, the
    least one proven is within `SHARP` of one that was refused.

    Attributes:
        number: to be tried next; None where nothing is left to try.
    """

    number: float | None

    def __init__(self, start: float, guess: Guess, most: int, limit: float | None = None) -> None:
        """Begin at a start of at least 0, with so many checks at most; without a limit it is twice the start."""
        self.number, self._start, self._guess, self._left = start, max(start, _TINY), guess, most
        self._limit = 2 * self._start if limit is None else limit
        self._refusals: list[Refusal] = []
        self._proven: float | None = None
        self._guessed, self._cut = True, False

    def refused(self, excess: float) -> None:
        """Go on where the number was too small; `excess` is the logarithm of what was proven over what was asked."""
        assert self.number is not None
        self._refusals.append(Refusal(self.number, excess))
        self._go_on()

    def proven(self) -> None:
        """Go on where the number was proven: a smaller one may be."""
        assert self.number is not None
        self._proven = self.number
        self._go_on()

    def _go_on(self) -> None:
        self._left -= 1
        self.number = self._next() if self._left else None

    def _next(self) -> float | None:
        if not self._refusals:
            return None
        low, high = self._refusals[-1].number, self._proven
        if high is None:
            return self._above(low)
        if high <= low * (1 + SHARP):
            return None
        if self.number == high and self._guessed:
            self._guessed = False
            return high * (1 - 0.9 * SHARP)
        guessed = self._guess(self._refusals)
        if guessed is not None and low < guessed * (1 + _NEAR) < high * (1 - SHARP):
            self._guessed = True
            return guessed * (1 + _NEAR)
        # a guess that came out too high lies next to the least number: what is far below it is refused, and tells more
        share = 0.5 if guessed is None or self._cut else 0.125
        self._cut = share < 0.5
        return high - share * (high - low)

    def _above(self, low: float) -> float | None:
        """The next number where none was proven yet."""
        if low >= self._limit:
            return None
        guessed = self._guess(self._refusals)
        if guessed is not None and guessed > low:
            return min(max(guessed, self._start * (1 + _RUNGS[0])) * (1 + _MORE), self._limit)
        return next((rung for more in _RUNGS if (rung := self._start * (1 + more)) > low), None)


def proven_instead(refusals: Sequence[Refusal]) -> float:
    """The number that was proven instead, where it is what is asked for."""
    number, excess = refusals[-1]
    return number * math.exp(min(excess, _FAR))


def falling(slope: float | None) -> Guess:
    """Where δ reaches what is asked, as ε grows: log δ falls about evenly, at first by `slope` where that is known."""

    def guess(refusals: Sequence[Refusal]) -> float | None:
        number, excess = refusals[-1]
        fall = slope
        if len(refusals) > 1 and (before := refusals[-2]).number < number * (1 - _TOO_CLOSE):
            fall = (before.excess - excess) / (number - before.number)
        return number + excess / fall if fall is not None and math.isfinite(excess) and fall > 0 else None

    return guess


def excess_of(proven: Fraction, asked: Fraction) -> float:
    """The logarithm of what was proven over what was asked, at least 0; infinite where that is 0 or far too little."""
    if asked <= 0:
        return math.inf
    more = proven / asked - 1
    return math.log1p(float(more)) if more < 2**1000 else math.inf


class Unproven(NamedTuple):
    """What the checker says of a number, and by how much it is too small, as a `Refusal` has it; None where that is not
    all that is wrong.
    """

    reason: str
    excess: float | None


@final
@frozen
class Trial(Generic[Proven]):
    """A way to prove a claim.

    Attributes:
        approach: the numbers at which it is tried.
        attempt: what is proven at a number, or why nothing is.
    """

    approach: Approach
    attempt: Callable[[float], Proven | Unproven]

    def at_next(self) -> Proven | Unproven:
        """Try the next number, and go on."""
        assert self.approach.number is not None
        found = self.attempt(self.approach.number)
        if not isinstance(found, Unproven):
            self.approach.proven()
        elif found.excess is not None:
            self.approach.refused(found.excess)
        else:
            self.approach.number = None
        return found


def least(trials: Iterator[Trial[Proven]], answer: float) -> Proven | Unproven:
    """Try always the smallest number left, until one is proven, and then smaller ones that way; or why none is.

    The reason is the last one given. It comes with an excess where some number was only too small.

    Args:
        trials: the ways to prove it. Next to the answer the first that proves it will do: the others are not made.
        answer: what is to be certified, or a little more.
    """
    reason, excess = "", None
    waiting: list[tuple[float, int, Trial[Proven]]] = []
    numbered = enumerate(trials)
    while True:
        near = waiting and waiting[0][0] <= answer * (1 + 2 * SHARP)
        if not near and (further := next(numbered, None)) is not None:
            place, trial = further
        elif not waiting:
            return Unproven(reason, excess)
        else:
            _, place, trial = heappop(waiting)
            found = trial.at_next()
            if not isinstance(found, Unproven):
                return _smaller(trial, found)
            reason = found.reason or reason
            excess = excess if found.excess is None else found.excess
        if trial.approach.number is not None:
            heappush(waiting, (trial.approach.number, place, trial))


def _smaller(trial: Trial[Proven], found: Proven) -> Proven:
    """What is proven in the end, where so much is."""
    while trial.approach.number is not None:
        further = trial.at_next()
        if not isinstance(further, Unproven):
            found = further
    return found
