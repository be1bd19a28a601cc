"""Laws of noisy choices, by their definitions: which output is told is summed over what coins and noise may be.

Exponents and gaps are exact numbers in units of the noise's scale. Results are enclosures at 128 bits: nothing is left
out, since what far noise adds lies between 0 and the chance of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import comb, prod

from ...accounting.enclosures import Enclosure

_PRECISION = 128
_FAR = 40
"""Scales of the noise beyond the scores from which on noise is far."""


def flipped(exponents: Sequence[Fraction]) -> list[Enclosure]:
    """The law of permute-and-flip: with its own coin true, a candidate is equally likely as each other such one."""
    crowds = {exponent: exponents.count(exponent) for exponent in set(exponents)}
    law = {exponent: _flipped_one(exponent, crowds) for exponent in crowds}
    return [law[exponent] for exponent in exponents]


def proportional(exponents: Sequence[Fraction]) -> list[Enclosure]:
    """The law in which output i has probability ∝ e^−exponents[i]."""
    shares = [(-_exactly(exponent)).exp() for exponent in exponents]
    total = sum(shares, _exactly(0))
    return [share / total for share in shares]


def largest_with_discrete_laplace(scores: Sequence[int], scale: Fraction) -> list[Enclosure]:
    """The law of the largest score with discrete Laplace noise of this scale, of equal ones each as likely.

    Args:
        scores: whole numbers.
        scale: of the noise; above 0.
    """
    noise = DiscreteLaplaceNoise(scale)
    reach = noise.reach(max(scores) - min(scores))
    law = {score: _largest_one(scores.index(score), scores, noise, reach) for score in set(scores)}
    return [law[score] for score in scores]


class NoNoise:
    """0, as what wrong mechanisms add."""

    def reach(self, span: int) -> int:
        """From where on noise is far: from 0 on."""
        return 0

    def exactly(self, number: int) -> Enclosure:
        """P(0 = number)."""
        return _exactly(int(number == 0))

    def at_most(self, number: int) -> Enclosure:
        """P(0 ≤ number)."""
        return _exactly(int(number >= 0))

    def at_least(self, number: int) -> Enclosure:
        """P(0 ≥ number)."""
        return _exactly(int(number <= 0))

    def beyond(self, number: int) -> Enclosure:
        """P(0 > number), for a number of at least 0."""
        return _exactly(0)


class DiscreteLaplaceNoise:
    """A whole number z with probability proportional to e^(−|z|/scale)."""

    def __init__(self, scale: Fraction) -> None:
        self._scale = scale
        self._one = 1 / (1 + (-_exactly(1 / scale)).exp())
        self.exactly = cache(self._exactly)
        self.at_most = cache(self._at_most)

    def reach(self, span: int) -> int:
        """From where on noise is far, for scores that differ by at most `span`."""
        return span + math.ceil(_FAR * self._scale)

    def _exactly(self, number: int) -> Enclosure:
        """P(z = number) = e^(−|number|/scale)·(1 − r)/(1 + r), r = e^(−1/scale)."""
        return self._power(abs(number)) * (2 * self._one - 1)

    def _at_most(self, number: int) -> Enclosure:
        """P(z ≤ number): r^−number/(1 + r) below 0, and 1 less that of the other side from 0 on."""
        return self._power(-number) * self._one if number < 0 else 1 - self._power(number + 1) * self._one

    def at_least(self, number: int) -> Enclosure:
        """P(z ≥ number)."""
        return self.at_most(-number)

    def beyond(self, number: int) -> Enclosure:
        """Something between 0 and P(z > number), for a number of at least 0."""
        return Enclosure.between(0, self.at_least(number + 1).upper, precision=_PRECISION)

    def _power(self, steps: int) -> Enclosure:
        return (-_exactly(steps / self._scale)).exp()


def first_above(
    told: Sequence[int],
    scores: Sequence[int],
    threshold: int,
    answers: int,
    noises: tuple[DiscreteLaplaceNoise | NoNoise, DiscreteLaplaceNoise | NoNoise],
) -> Enclosure:
    """P that of scores with noise these are the first that reach a threshold with noise.

    Args:
        told: their places, rising; fewer than `answers` where no further one does.
        scores: whole numbers.
        threshold: a whole number.
        answers: how many are told at most; the scores after the last one are not looked at.
        noises: of the threshold, drawn once, and of each score.
    """
    of_threshold, of_score = noises
    looked_at = scores if len(told) < answers else scores[: told[-1] + 1]
    below = [threshold - 1 - score for place, score in enumerate(looked_at) if place not in told]
    above = [threshold - scores[place] for place in told]

    def missed(own: int) -> Enclosure:
        return prod((of_score.at_most(own + gap) for gap in below), start=_exactly(1))

    def reached(own: int) -> Enclosure:
        return prod((of_score.at_least(own + gap) for gap in above), start=_exactly(1))

    reach = of_threshold.reach(max(map(abs, [*below, *above]), default=0) + 1)
    near = (of_threshold.exactly(own) * missed(own) * reached(own) for own in range(-reach, reach + 1))
    # the higher the threshold, the likelier a score misses it
    far = reached(reach + 1) + missed(-reach - 1)
    return sum(near, of_threshold.beyond(reach) * Enclosure.between(0, far.upper, precision=_PRECISION))


def _largest_one(place: int, scores: Sequence[int], noise: DiscreteLaplaceNoise, reach: int) -> Enclosure:
    """Σ_z P(z)·E[1/(1 + N)] for the number N of others that equal score + z, where none is above."""
    others = [score - scores[place] for column, score in enumerate(scores) if column != place]
    total = 2 * noise.beyond(reach)
    for own in range(-reach, reach + 1):
        ties = [noise.exactly(own)]
        for other in others:
            below, equal = noise.at_most(own - other - 1), noise.exactly(own - other)
            ties = [
                ties[0] * below,
                *(a * equal + b * below for a, b in pairwise(ties)),
                ties[-1] * equal,
            ]
        total += sum((chance / (1 + number) for number, chance in enumerate(ties[1:], 1)), ties[0])
    return total


def _flipped_one(own: Fraction, crowds: Mapping[Fraction, int]) -> Enclosure:
    """e^−own·E[1/(1 + N)] for the number N of true coins of the others."""
    numbers = [_exactly(1)]
    for exponent, size in crowds.items():
        heads = _binomial((-_exactly(exponent)).exp(), size - (exponent == own))
        long, short = sorted((numbers, heads), key=len, reverse=True)
        numbers = [_exactly(0)] * (len(long) + len(short) - 1)
        for there, q in enumerate(short):
            for here, p in enumerate(long):
                numbers[here + there] += p * q
    return (-_exactly(own)).exp() * sum((p / (1 + number) for number, p in enumerate(numbers)), _exactly(0))


def _binomial(chance: Enclosure, size: int) -> list[Enclosure]:
    """How likely each number of true coins is."""
    heads, tails = [_exactly(1)], [_exactly(1)]
    for _ in range(size):
        heads.append(heads[-1] * chance)
        tails.append(tails[-1] * (1 - chance))
    return [comb(size, k) * heads[k] * tails[size - k] for k in range(size + 1)]


def _exactly(number: Fraction | int) -> Enclosure:
    return Enclosure.of(number, precision=_PRECISION)
