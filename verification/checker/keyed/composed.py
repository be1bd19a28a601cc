"""Several releases of sampled keys: by what each of them keeps alone, or by the rows of each frequency.

Legend: T releases; a response says yes with the chance y about data with the element, x without it, and R(x, y) is the
divergence of T of them at eps, the larger of

    sum over j of C(T, j)·max(0, y^j·(1 - y)^(T - j) - e^eps·x^j·(1 - x)^(T - j)),  and of x and y changed about.

Where each tells the data instead with probability d, none of T does with (1 - d)^T, and

    delta(eps) = 1 - (1 - d)^T·(1 - R(x, y)) = R + (1 - R)·(1 - (1 - d)^T).                                          (1)

*By what each keeps.* Let it be within (log G, d) both ways, d = D/2^K. Its two laws are images, by one map, of those of
such a response with y = G/(1 + G) and x = 1/(1 + G) (Kairouz, Oh, Viswanath 2015; (1) at their epsilons is Theorem 3.3
there). That is at most what T·d says where R is 0, from eps = T·log G on. What releasing the sampler's constants costs
is added, as they are released before (basic composition).

*At each frequency.* A key has one frequency in all releases, so they are T independent draws with the chances of two
neighbouring rows, x = r_(i-1) and y = r_i, d = 0, and how many report the key tells all. delta(eps) is the largest of
all frequencies. Some stand for others: a response with x <= y has the curve through (0, 0), (x, y) and (1, 1), what P
can have of sets that have so much of Q. One with x > y has that of its complement. A response, telling or not, whose
curve is nowhere below that of another dominates it (Blackwell 1953), and so do T of one T of the other (Zhu, Dong, Wang
2022, Theorem 10).

1. Of points with one y, and x from x_1 to x_2, the first dominates all with x <= y and the last all with x >= y.
2. Let y <= g·x + d, 1 - x <= h·(1 - y) + d and x <= y + d, g and h at least 1. All such are dominated by a response
   that tells with d, and has x = (h - 1)/(gh - 1) and y = gx otherwise: its curve is the lower of both lines and 1, and
   concave. Where x > y the complement lies below it too: 1 - y <= (1 - x) + d, and 1 - (1 - x) <= y + d.
"""

from fractions import Fraction
from typing import Final

from ..budget import Budget
from ..intervals import NOTHING, ONE, Arithmetic, Interval, upper_end
from ..verdict import Refused
from .units import Units

_ARITHMETIC: Final = Arithmetic(192)
_CERTAIN: Final = Interval(ONE, ONE)
_RESPONSE: Final = 10_000


class Releases:
    """So many releases, and the claim that they are to be within."""

    def __init__(
        self, epsilon: Fraction, delta: Fraction, times: int, cost: tuple[Fraction, Fraction], budget: Budget
    ) -> None:
        """Take (epsilon, delta), less the cost of released constants; refuse what no proof can follow from."""
        if epsilon < cost[0]:
            raise Refused("the cost of released constants exceeds epsilon")
        if delta > 1:
            raise Refused("claim.delta is no probability")
        self._times, self._budget = times, budget
        self._left = delta - cost[1]
        self._factor = _ARITHMETIC.exp(_ARITHMETIC.rational(epsilon - cost[0]))
        self._before = 0, 0

    def within(self, absent: Interval, present: Interval, tells: Interval) -> bool:
        """Whether responses with these chances, x first, that tell the data with another are within the claim."""
        self._budget.spend(_RESPONSE * (self._times + 1))
        told = self._divergence(absent, present)
        silent = _ARITHMETIC.power(_complement(tells), Fraction(self._times))
        rest = _ARITHMETIC.multiply(_complement(told), _complement(silent))
        return upper_end(_ARITHMETIC.add(told, rest)) <= self._left

    def rows_within(self, before: int, after: int, certain: int) -> bool:
        """Whether two neighbouring rows in units are; without a sum where the last ones summed dominate them."""
        x, y = (before, after) if before <= after else (certain - before, certain - after)
        one, other = self._before
        if y * one <= other * x and (certain - x) * (certain - other) <= (certain - one) * (certain - y):
            return True
        self._before = x, y
        absent, present = (_ARITHMETIC.rational(Fraction(units, certain)) for units in (x, y))
        return self.within(absent, present, NOTHING)

    def _divergence(self, absent: Interval, present: Interval) -> Interval:
        """Enclose R."""
        laws = [
            (_powers(chance, self._times), _powers(_complement(chance), self._times)) for chance in (absent, present)
        ]
        up = down = NOTHING
        ways = _CERTAIN
        for j in range(self._times + 1):
            without, having = (_ARITHMETIC.multiply(yes[j], no[self._times - j]) for yes, no in laws)
            up = _ARITHMETIC.add(up, _ARITHMETIC.multiply(ways, self._beyond(having, without)))
            down = _ARITHMETIC.add(down, _ARITHMETIC.multiply(ways, self._beyond(without, having)))
            ways = _ARITHMETIC.multiply(ways, _ARITHMETIC.rational(Fraction(self._times - j, j + 1)))
        return _ARITHMETIC.minimum(_ARITHMETIC.maximum(up, down), _CERTAIN)  # no divergence is more

    def _beyond(self, one: Interval, other: Interval) -> Interval:
        excess = _ARITHMETIC.subtract(one, _ARITHMETIC.multiply(self._factor, other))
        return _ARITHMETIC.maximum(excess, NOTHING)


def prove_composed(releases: Releases, units: Units) -> None:
    """Prove that releases are within their claim by what each of them keeps, or refuse it."""
    odds = Fraction(units.growth, units.growth + units.certain)
    chances = (1 - odds, odds, Fraction(units.allowance, units.certain))
    if not releases.within(*map(_ARITHMETIC.rational, chances)):
        raise Refused("the releases composed, and the cost of released constants, exceed delta at epsilon")


def corner(steep: Interval, flat: Interval) -> tuple[Interval, Interval]:
    """Give x and y of the response at the corner of both lines, for slopes g, and 1/h, that are both known exactly."""
    if ONE in (steep.hi, flat.hi):
        return NOTHING, NOTHING  # nothing is lost but by telling
    more = _ARITHMETIC.subtract(flat, _CERTAIN)
    absent = _ARITHMETIC.divide(more, _ARITHMETIC.subtract(_ARITHMETIC.multiply(steep, flat), _CERTAIN))
    return absent, _ARITHMETIC.multiply(steep, absent)


def _complement(chance: Interval) -> Interval:
    return _ARITHMETIC.subtract(_CERTAIN, chance)


def _powers(chance: Interval, most: int) -> list[Interval]:
    found = [_CERTAIN]
    for _ in range(most):
        found.append(_ARITHMETIC.multiply(found[-1], chance))
    return found
