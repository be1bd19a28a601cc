"""Finite pairs: what releases tell apart with a few outcomes, or are dominated by.

Legend: an outcome has a mass Q without the record and w = log P/Q; e is the loss of a randomised response, s the shift
of Laplace noise, n the number of cells, q the rate.

Randomised responses. Of k answers j speak for the record: w = e(2j - k), and Q is binomial with 1/(1 + exp e).

Laplace noise. At an output y from 0 to s the log-ratio is 2y - s, beyond it -s and s. What lies between two ratios is
moved onto them so that its masses P and Q stay: that is a mean-preserving spread of P/Q under Q, so every divergence of
P and Q, and of their mixtures (1 - q)Q + qP with Q, grows (Blackwell 1953). From cells of width s/n, r = e^(s/n), the
lower end of the cell at y gets e^-y(r - 1)/(2(r + 1)) of Q, the upper 1/r of that. Together w = s(2j/n - 1) and
Q = te^(-js/n) with t = (r - 1)/(r + 1) for 0 < j < n; Q = (1 + t)/2 and e^-s(1 + t)/2 for j = 0 and n.

Discrete Laplace noise. With Q = te^(-u|y|) on the integers, t = (1 - e^-u)/(1 + e^-u), and P the same about k, these
are the laws themselves at s = ku and n = k: at y <= 0 and y >= k, w is -s and s, and Q is 1/(1 + e^-u) = (1 + t)/2 and
e^-s times that. At any threshold x, delta(g) is 1 - (e^(-u(k - x + 1)) + e^(g - ux))/(1 + e^-u), at most
1 - e^((g - s)/2)/cosh(u/2) by the inequality of the means: Laplace noise of the shift s + u²/4 >= s + 2·log cosh(u/2)
dominates it.

Responses over k categories. About two of these, an answer is the one, the other or any of the rest, with chances that
are as e^e, 1 and k - 2. At k = 2, and so for all, randomised response of e dominates.

Losses in an interval. If log P/Q lies within [t - e, t], spreading P/Q onto both ends, as above, leaves Q a chance of
(e^-t - e^-e)/(1 - e^-e) at e^t; P - e^g·Q of it is (1 + e^(g-e) - e^(t-e) - e^(g-t))/(1 - e^-e), largest at
t = (e + g)/2: delta(g) <= (1 - e^((g-e)/2))²/(1 - e^-e) for -e <= g <= e (Dong, Durfee, Rogers 2020). That is the curve
of Laplace noise of shift e whose output lies between 0 and e, and has no other atoms: d/dx of both, x = e^g, agree. So
this one pair bounds all; its cells are those above without the masses beyond, over tanh(e/2) in all.

Replaced records (`changes`). With e^-e <= L <= e^e, A lies between l = 1 - q(1 - e^-e) and h = 1 + q(e^e - 1). The law
on both with the mean 1 is above every law between them, and has h with probability r = 1/(1 + e^e). Turned round, h
meets l in r, l meets h in r and l meets l in the rest. With q = 1 these are two records that are drawn for certain; of
such a pair, sampled in its turn, w is 2e, 0 or -2e.

Replaced records, one release with Laplace noise. A rises in the output y ~ Laplace(0, 1), and turned round it is A at
-y, which is l = 1 - q(1 - e^-s) for y > 0. Let M be the ratio of Laplace(s, 1) to Laplace(-s, 1), and
c = q + (1 - q)e^s = le^s. There A(y)/l is 1 + (M - 1)q/c, and the density at y is e^s times that of Laplace(-s, 1). So
for g >= 1 the divergence is c·E(1 + (M - 1)q/c - g)+, that of noise of shift 2s at the rate q/c, c times: the outcomes
of M > 1 are those of the cells, which are so many that M = 1 is an end, with masses times c; those below are exchanged,
and the rest is at 0. There is a rest: E(M - 1)+ = 1 - e^-s stays in the spread, Q of M > 1 is at most e^-s/2, and
together they have q(1 - e^-s) + ce^-s = 1 at most.
"""

from fractions import Fraction
from math import comb
from typing import Final, NamedTuple

from ..intervals import NOTHING, ONE, Arithmetic, Interval
from ..verdict import Refused
from .factors import (
    BOUNDED_RANGE,
    DISCRETE_LAPLACE,
    EXCHANGED,
    LAPLACE,
    PURE,
    RESPONSE_OF_MANY,
    TWO_RECORDS,
    Factor,
)

MOST_CELLS: Final = 4096
_UNIT: Final = Interval(ONE, ONE)


class Outcome(NamedTuple):
    """Its mass without the record, and the loss on a sample: the logarithm of the ratio of the mass with it to that."""

    mass: Interval
    loss: Interval


def outcomes_of(factor: Factor, cells: int) -> int:
    """Count the outcomes of what a factor releases on one sample.

    Raises:
        Refused: for a family, or so many releases on one sample, that no finite pair is known for.
    """
    if factor.family == PURE and factor.together <= MOST_CELLS:
        return factor.together + 1
    if factor.family in (LAPLACE, BOUNDED_RANGE) and factor.together == 1 and cells:
        return cells + 1
    if _on_cells(factor, cells):
        return cells + 1
    if factor.family in (EXCHANGED, TWO_RECORDS):
        return 3
    if factor.family == RESPONSE_OF_MANY and factor.together == 1:
        return 3
    if factor.family == DISCRETE_LAPLACE and factor.together == 1 and factor.steps <= MOST_CELLS:
        return factor.steps + 1
    raise Refused(f"the loss distribution of {factor.family} releases on a sample is not known to the checker")


def outcomes(factor: Factor, cells: int, arithmetic: Arithmetic) -> list[Outcome]:
    """List the outcomes about a record that is in the data; those of a family that `outcomes_of` admits."""
    if factor.family == EXCHANGED:
        return _opposite(factor, cells, arithmetic) if _on_cells(factor, cells) else _exchanged(factor, arithmetic)
    if factor.family in (LAPLACE, BOUNDED_RANGE):
        drawn = _noise(factor, cells, arithmetic)
    else:
        drawn = _DRAWN[factor.family](factor, arithmetic)
    rate, found = arithmetic.rational(factor.rate), []
    for mass, log_ratio in drawn:
        loss = arithmetic.rational(log_ratio)
        if factor.sampled:
            loss = arithmetic.log1p(arithmetic.multiply(rate, arithmetic.expm1(loss)))
        found.append(Outcome(mass, loss))
    return found


def _responses(factor: Factor, arithmetic: Arithmetic) -> list[tuple[Interval, Fraction]]:
    loss, k = factor.parameter, factor.together
    against = arithmetic.divide(_UNIT, arithmetic.add(_UNIT, arithmetic.exp(arithmetic.rational(-loss))))
    none = arithmetic.power(against, Fraction(k))
    found = []
    for j in range(k + 1):
        ways = arithmetic.rational(Fraction(comb(k, j)))
        mass = arithmetic.multiply(ways, arithmetic.multiply(none, arithmetic.exp(arithmetic.rational(-j * loss))))
        found.append((mass, (2 * j - k) * loss))
    return found


def _of_many(factor: Factor, arithmetic: Arithmetic) -> list[tuple[Interval, Fraction]]:
    loss, rest = factor.parameter, arithmetic.rational(Fraction(factor.categories - 2))
    grown = arithmetic.exp(arithmetic.rational(loss))
    rare = arithmetic.divide(_UNIT, arithmetic.add(arithmetic.add(grown, _UNIT), rest))
    chances = rare, arithmetic.multiply(rest, rare), arithmetic.multiply(grown, rare)
    return [(mass, sign * loss) for mass, sign in zip(chances, (1, 0, -1), strict=True)]


def _two_records(factor: Factor, arithmetic: Arithmetic) -> list[tuple[Interval, Fraction]]:
    certain = _exchanged(factor._replace(rate=Fraction(1)), arithmetic)
    return [(mass, sign * factor.parameter) for (mass, _), sign in zip(certain, (2, 0, -2), strict=True)]


def _noise(factor: Factor, cells: int, arithmetic: Arithmetic) -> list[tuple[Interval, Fraction]]:
    shift = factor.parameter
    growth = arithmetic.expm1(arithmetic.rational(shift / cells))
    share = arithmetic.divide(growth, arithmetic.add(growth, arithmetic.rational(Fraction(2))))
    outer = arithmetic.multiply(arithmetic.add(_UNIT, share), arithmetic.rational(Fraction(1, 2)))
    if factor.family == BOUNDED_RANGE:
        within = arithmetic.negate(arithmetic.expm1(arithmetic.rational(-shift)))
        outer = arithmetic.divide(share, within)
        share = arithmetic.add(outer, outer)
    found = []
    for j in range(cells + 1):
        fallen = arithmetic.exp(arithmetic.rational(-shift * j / cells))
        mass = arithmetic.multiply(fallen, share if 0 < j < cells else outer)
        found.append((mass, shift * (2 * j - cells) / cells))
    return found


def _steps(factor: Factor, arithmetic: Arithmetic) -> list[tuple[Interval, Fraction]]:
    return _noise(factor, factor.steps, arithmetic)


_DRAWN: Final = {
    PURE: _responses,
    RESPONSE_OF_MANY: _of_many,
    DISCRETE_LAPLACE: _steps,
    TWO_RECORDS: _two_records,
}


def _exchanged(factor: Factor, arithmetic: Arithmetic) -> list[Outcome]:
    rate, loss = arithmetic.rational(factor.rate), arithmetic.rational(factor.parameter)
    fallen = arithmetic.negate(loss)
    high = arithmetic.add(_UNIT, arithmetic.multiply(rate, arithmetic.expm1(loss)))
    low = arithmetic.add(_UNIT, arithmetic.multiply(rate, arithmetic.expm1(fallen)))
    rare = arithmetic.divide(_UNIT, arithmetic.add(_UNIT, arithmetic.exp(loss)))
    # 1 - 2r is tanh(e/2)
    rest = arithmetic.divide(arithmetic.negate(arithmetic.expm1(fallen)), arithmetic.add(_UNIT, arithmetic.exp(fallen)))
    most = exchanged_loss(factor, arithmetic)
    return [
        Outcome(arithmetic.multiply(rare, low), most),
        Outcome(arithmetic.multiply(rest, low), NOTHING),
        Outcome(arithmetic.multiply(rare, high), arithmetic.negate(most)),
    ]


def _on_cells(factor: Factor, cells: int) -> bool:
    """Tell whether Laplace noise about a replaced record is spread: 0 is the end of a cell where they are even."""
    return factor.family == EXCHANGED and factor.base == LAPLACE and cells > 0 and cells % 2 == 0


def growth_of_opposites(factor: Factor, arithmetic: Arithmetic) -> Interval:
    """Enclose c of Laplace noise about a replaced record."""
    unseen = arithmetic.multiply(
        arithmetic.rational(1 - factor.rate), arithmetic.exp(arithmetic.rational(factor.parameter))
    )
    return arithmetic.add(arithmetic.rational(factor.rate), unseen)


def _opposite(factor: Factor, cells: int, arithmetic: Arithmetic) -> list[Outcome]:
    add, times = arithmetic.add, arithmetic.multiply
    grown = growth_of_opposites(factor, arithmetic)
    share = arithmetic.divide(arithmetic.rational(factor.rate), grown)
    two = Factor(LAPLACE, 2 * factor.parameter, Fraction(1), together=1, samples=1)
    found, kept = [], NOTHING
    for mass, log_ratio in _noise(two, cells, arithmetic)[cells // 2 + 1 :]:
        loss = arithmetic.log1p(times(share, arithmetic.expm1(arithmetic.rational(log_ratio))))
        without = times(grown, mass)
        with_record = times(without, arithmetic.exp(loss))
        found += [Outcome(without, loss), Outcome(with_record, arithmetic.negate(loss))]
        kept = add(kept, add(without, with_record))
    rest = arithmetic.maximum(arithmetic.subtract(_UNIT, kept), NOTHING)
    return [*found, Outcome(rest, NOTHING)]


def exchanged(factor: Factor) -> Factor:
    """Give what the releases on one sample lose about a record that another one replaces, by their pure loss.

    Where it is one release with Laplace noise that is told as the base.
    """
    base = LAPLACE if factor.family == LAPLACE and factor.together == 1 else ""
    return factor._replace(family=EXCHANGED, base=base, parameter=factor.parameter * factor.together, together=1)


def exchanged_loss(factor: Factor, arithmetic: Arithmetic) -> Interval:
    """Enclose the largest loss of a replaced record, log(h/l)."""
    rate, loss = arithmetic.rational(factor.rate), arithmetic.rational(factor.parameter)
    high, low = (
        arithmetic.log1p(arithmetic.multiply(rate, arithmetic.expm1(end))) for end in (loss, arithmetic.negate(loss))
    )
    return arithmetic.subtract(high, low)


def laplace(factor: Factor) -> Factor:
    """Give Laplace noise that dominates discrete noise; other factors as they are."""
    if factor.family != DISCRETE_LAPLACE or not factor.steps:
        return factor
    unit = factor.parameter / factor.steps
    return factor._replace(family=LAPLACE, parameter=factor.parameter + unit**2 / 4, steps=0)


def pure(factor: Factor) -> Factor:
    """Give the response over two categories that dominates a loss in an interval, many categories or discrete noise."""
    if factor.family not in (BOUNDED_RANGE, DISCRETE_LAPLACE, RESPONSE_OF_MANY):
        return factor
    return factor._replace(family=PURE, categories=0, steps=0)
