"""Answers of one local randomiser, shuffled: what they tell about a replaced record.

Legend: e is the pure loss of an answer, n the least number of records, R(v) the law of the answer for a value v, c the
share of clones; N = n - 1, C = Bin(N, c), B = Bin(C, 1/2), p = exp e/(1 + exp e), g = exp eps.

Clones. Let v become v'. Q0 = (e^e R(v) - R(v'))/(e^e - 1) and Q1, the same with v and v' exchanged, are laws as R is
e-DP, and R(v) = pQ0 + (1 - p)Q1, R(v') = (1 - p)Q0 + pQ1. Where R(u) >= c(Q0 + Q1)/2 for every value u, an answer is
with probability c a clone, a fair draw of Q0 or Q1. Shuffled answers follow, by one random map, from C and from how
many of the C clones and of the record's own answer are from Q0: B + Bernoulli(p) against B + Bernoulli(1 - p) given C
dominate (Feldman, McMillan, Talwar 2021, Theorem 3.2). Exchanging Q0 and Q1 exchanges both laws. Any e-DP R has
c = e^-e. Further records are clones more, or nothing: post-processing, so that delta does not grow with N, C or c.

Given C. With T(t) = P(B > t), m(t) = P(B = t) an event B + Bernoulli > t tells, beyond g times the other law,
m(t)(e^e - g)/(e^e + 1) - (g - 1)T(t). The likelihood ratio grows with the count and is g at (C + 1)x,
x = (g·e^e - 1)/((e^e - 1)(g + 1)) >= 1/2, so that the floor of that is the best t. C = 0 tells most.

Sums. In whole units of 2^-BITS, each rounded to its side. T and m are summed up from the middle of B for the first C,
and follow the steps C to C + 1, t to t + 1. Weights of C start with 1 and follow their ratios; divided by their sum,
which is that of less than all C, they are too large. Beyond the C looked at weights fall by ratios that fall as well:
those below count as no clone, those above as the last C.

On a line: delta at growths g from 1 on, connected by the largest convex function that exceeds none, is the curve of
the pair that has its bends at log g, the same exchanged at -log g, and the rest at 0; the last delta is at infinity.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import isqrt
from typing import Final, NamedTuple

from ..budget import Budget
from ..intervals import NOTHING, ONE, ZERO, Arithmetic, Interval, Mpf, at_most, floor_in_units, upper_end
from ..verdict import Refused
from .factors import Crowd, Factor
from .finite import MOST_CELLS, Outcome

BITS: Final = 256
_UNIT: Final = 1 << BITS
_FINE: Final = Arithmetic(320)
_ONE: Final = Interval(ONE, ONE)
_SHARE_BITS: Final = 128
_REACH: Final = 12
"""Standard deviations of the number of clones that are looked at one by one, to both sides."""
_MOST_STEPS: Final = 2**20
_LAW: Final = 200_000
_STEP: Final = 900
_TERM: Final = 120
NEGLIGIBLE: Final = Fraction(1, 2**96)
FIRST_REACH: Final = Fraction(1, 64)
_MOST_DOUBLINGS: Final = 28


class _Chances(NamedTuple):
    """At a number of clones and a threshold, in units: P(B = t) from both sides, and P(B > t) from below."""

    clones: int
    threshold: int
    least: int
    most: int
    beyond: int

    def at(self, clones: int, threshold: int) -> "_Chances":
        """Follow up to a number of clones and a threshold, neither of which falls."""
        c, t, least, most, beyond = self
        while c < clones:
            beyond += least >> 1
            least, most = least * (c + 1) // (2 * (c + 1 - t)), -(-most * (c + 1) // (2 * (c + 1 - t)))
            c += 1
        while t < threshold:
            least, most = least * (c - t) // (t + 1), -(-most * (c - t) // (t + 1))
            t += 1
            beyond = max(beyond - most, 0)
        return _Chances(c, t, least, most, beyond)


class _Event(NamedTuple):
    """What an event tells, in units: the most that the record's own answer leads by, what others take, and x."""

    lead: int
    gain: int
    least: int
    most: int

    def given(self, chances: _Chances) -> int:
        """Bound delta among so many clones, at the best of the thresholds that rounding leaves; in squared units."""
        found = self._at(chances)
        if ((chances.clones + 1) * self.most) >> BITS > chances.threshold:
            found = max(found, self._at(chances.at(chances.clones, chances.threshold + 1)))
        return found

    def _at(self, chances: _Chances) -> int:
        return max(self.lead * chances.most - self.gain * chances.beyond, 0)

    def threshold(self, clones: int) -> int:
        """Give the threshold among so many clones, or the one before."""
        return ((clones + 1) * self.least) >> BITS


def delta_of_shuffled(factor: Factor, epsilon: Interval, budget: Budget) -> Interval:
    """Bound delta(epsilon) of the answers of one order, the same in both directions; the upper end counts."""
    budget.spend(_price(factor))
    return Interval(ZERO, _delta_at(factor, _FINE.exp(epsilon)))


def _price(factor: Factor) -> int:
    """Give what delta at one epsilon takes from a budget.

    Raises:
        Refused: where there are too many likely numbers of clones.
    """
    assert factor.crowd is not None
    first, last = _likely(*_odds(factor.crowd))
    if last - first >= _MOST_STEPS:
        raise Refused(f"of so many records the number of clones takes more than {_MOST_STEPS} likely values")
    return _LAW + (last - first + 1) * _STEP + (10 * isqrt(first) + 10) * _TERM


def _odds(crowd: Crowd) -> tuple[int, int, int]:
    """Give the number of other records, and in whole units the chances that one is a clone, or none."""
    share = int(crowd.clones * 2**_SHARE_BITS)  # fewer clones tell more
    return crowd.users - 1, share, (1 << _SHARE_BITS) - share


def _delta_at(factor: Factor, growth: Interval) -> Mpf:
    """Bound delta at a growth of at least 1 from above."""
    assert factor.crowd is not None
    base = _FINE.exp(_FINE.rational(factor.parameter))
    if at_most(base.hi, growth.lo):
        return ZERO
    lead = _FINE.divide(_FINE.subtract(base, growth), _FINE.add(base, _ONE))
    if at_most(base.lo, growth.hi):
        return lead.hi
    gain = _FINE.subtract(growth, _ONE)
    odds = _FINE.divide(
        _FINE.subtract(_FINE.multiply(base, growth), _ONE),
        _FINE.multiply(_FINE.subtract(base, _ONE), _FINE.add(growth, _ONE)),
    )
    event = _Event(
        floor_in_units(lead.hi, BITS) + 1,
        floor_in_units(gain.lo, BITS),
        max(floor_in_units(odds.lo, BITS), _UNIT >> 1),
        floor_in_units(odds.hi, BITS) + 1,
    )
    return _FINE.rational(_mean(event, factor.crowd)).hi


def _mean(event: _Event, crowd: Crowd) -> Fraction:
    """Bound the mean over the number of clones from above."""
    others, share, rest = _odds(crowd)
    first, last = _likely(others, share, rest)
    chances = _from_the_middle(first, event.threshold(first))
    low = high = weight = _UNIT  # the weight of the first, too small and too large, and the sum of the former
    total = given = event.given(chances)
    total *= _UNIT
    for clones in range(first, last):
        low = low * (others - clones) * share // ((clones + 1) * rest)
        high = -(-high * (others - clones) * share // ((clones + 1) * rest))
        weight += low
        chances = chances.at(clones + 1, event.threshold(clones + 1))
        given = event.given(chances)
        total += high * given
    below = _geometric(first * rest, (others - first + 1) * share) * _UNIT * event.lead * _UNIT
    above = _geometric((others - last) * share, (last + 1) * rest) * high * given
    return (total + below + above) / (weight * _UNIT * _UNIT)


def _likely(others: int, share: int, rest: int) -> tuple[int, int]:
    """Give the first and last number of clones looked at."""
    if not rest:
        return others, others
    mean = others * share >> _SHARE_BITS
    reach = _REACH * (isqrt(others * share * rest >> (2 * _SHARE_BITS)) + 4)
    return max(0, mean - reach), min(others, mean + reach)


def _geometric(numerator: int, denominator: int) -> Fraction:
    """Add up the powers of a ratio below 1, from the first on."""
    return Fraction(numerator, denominator - numerator) if numerator else Fraction(0)


def _from_the_middle(clones: int, threshold: int) -> _Chances:
    """Sum up B from its middle on, where it is at least as likely as anywhere; the threshold lies there or above."""
    middle = (clones + 1) // 2
    least = most = _UNIT
    sum_least = sum_most = at_least = at_most_ = beyond = 0
    number = middle
    while number <= clones:
        sum_least, sum_most = sum_least + least, sum_most + most
        if number == threshold:
            at_least, at_most_ = least, most
        elif number > threshold:
            beyond += least
        if not least:
            break
        least, most = least * (clones - number) // (number + 1), -(-most * (clones - number) // (number + 1))
        number += 1
    if number <= clones:  # the rest are less than C masses, none above this one
        sum_most += most * clones
        if number < threshold:
            at_most_ = most
    twice = 0 if clones % 2 else _UNIT
    whole_least, whole_most = 2 * sum_least - twice, 2 * sum_most - twice
    return _Chances(
        clones,
        threshold,
        (at_least << BITS) // whole_most,
        -(-(at_most_ << BITS) // whole_least),
        (beyond << BITS) // whole_most,
    )


def shuffled_outcomes(factor: Factor, cells: int, budget: Budget) -> tuple[list[Outcome], Interval]:
    """List the outcomes of a pair that dominates the answers of one order, and bound what is at infinity beside.

    Raises:
        Refused: for no cells, or too many.
    """
    if not 1 <= cells <= MOST_CELLS:
        raise Refused(f"shuffled answers are stated in from 1 to {MOST_CELLS} cells")
    alone = factor._replace(samples=1)
    if (alone, cells) not in budget.paid:
        budget.spend(_price(alone) * (cells + 1 + _MOST_DOUBLINGS))
        budget.paid.add((alone, cells))
    return _outcomes(alone, cells)


@lru_cache(maxsize=8)
def _outcomes(factor: Factor, cells: int) -> tuple[list[Outcome], Interval]:
    reach = min(FIRST_REACH, factor.parameter)
    while reach < factor.parameter and _corner(factor, reach)[1] > NEGLIGIBLE:
        reach = min(2 * reach, factor.parameter)
    corners = _hull([_corner(factor, reach * j / cells) for j in range(cells + 1)])
    slopes = [(low[1] - high[1]) / (high[0] - low[0]) for low, high in pairwise(corners)]
    found, kept = [], Fraction(0)
    for (growth, _), before, after in zip(corners[1:], slopes, [*slopes[1:], Fraction(0)], strict=True):
        mass = before - after
        loss = _FINE.log(_FINE.rational(growth))
        found.append(Outcome(_FINE.rational(mass), loss))
        found.append(Outcome(_FINE.rational(mass * growth), _FINE.negate(loss)))
        kept += mass * (1 + growth)
    lost = corners[-1][1]
    if kept + lost > 1:
        raise Refused("shuffled answers in these cells add up to more than 1")
    return [*found, Outcome(_FINE.rational(1 - kept - lost), NOTHING)], _FINE.rational(lost)


def _corner(factor: Factor, loss: Fraction) -> tuple[Fraction, Fraction]:
    """Give a growth at about a loss, exactly, and an upper bound of delta there."""
    growth = upper_end(_FINE.exp(_FINE.rational(loss))) if loss else Fraction(1)
    found = _delta_at(factor, _FINE.rational(growth))
    return growth, upper_end(Interval(found, found))


def _hull(points: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Give the corners of the largest convex function that exceeds none of the points, which grow in their first."""
    kept: list[tuple[Fraction, Fraction]] = []
    for x, y in points:
        while len(kept) > 1 and (kept[-1][1] - kept[-2][1]) * (x - kept[-2][0]) >= (y - kept[-2][1]) * (
            kept[-1][0] - kept[-2][0]
        ):
            kept.pop()
        kept.append((x, y))
    return kept
