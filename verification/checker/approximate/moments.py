"""Rényi divergences of releases after sampling, and what one of them says about delta.

Legend: A(a) = (a - 1)·tau(a), the logarithm of E_Q[(P/Q)^a]; it is convex in a, A(1) = 0, and adds over releases.

With M = (1 - q)Q + qP: remove, whole a: E_Q[(M/Q)^a] = sum over k of C(a, k)(1 - q)^(a-k) q^k e^A(k); between whole
orders a chord lies above, but of Gaussian noise the integral is known (`nodes`). Both directions, every a:
v^a and v^(1-a) are convex, so the moment is at most 1 - q + q·e^A(a). For a symmetric pair (an involution of the
outputs swaps P and Q) remove dominates add. For any pair add is E_Q[f(x)], f(x) = (1 + x)^(1-a),
with x = q(P/Q - 1) >= -q of mean 0 and E_Q[x^2] = q^2·c, c = e^A(2) - 1. The parabola through f at -q that touches f
at q·c is convex and nowhere below f, whose third derivative is negative, and it grows with c:
add is at most (1 - e^-A(2))(1 - q)^(1-a) + e^-A(2)·(1 + q·c)^(1-a).

Losses in an interval of length e. The pair in `finite` has A(a) = (a - 1)e + log((1 - e^((1-2a)e))/((2a-1)(1 - e^-e))).
Of any such pair K(x) = log E_Q[(P/Q)^x] has K(0) = K(1) = 0 and K'' at most e²/4, the variance of what lies within the
interval: A(a) <= a(a - 1)e²/8, which is smaller at low orders. The pairs themselves are not symmetric.

Conversion. Let r = P/Q and c, r1 > 0, r2^(a-1) = r1^(a-1) + 1/(ac), g = c(a - 1)(r2^a - r1^a). The function
c·(r^a - a·r1^(a-1)·r + (a - 1)·r1^a) is convex in r, touches 0 at r1 and r - g at r2, so it is at least (r - g)+; hence
delta(log g) = E_Q[(r - g)+] <= c·(e^A + (a - 1)·r1^a - a·r1^(a-1)). At r1 = 0 that is (e^A/a)·((a - 1)/(a·g))^(a-1).
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Final

from ..budget import Budget
from ..intervals import INFINITY, NOTHING, ONE, Arithmetic, Interval, upper_end
from ..verdict import Refused
from .batches import cases, drawn_for_certain
from .divergences import pure_loss
from .factors import (
    ALLOCATED,
    BOUNDED_RANGE,
    DISCRETE_GAUSSIAN,
    FINITE,
    GAUSSIAN,
    LAPLACE,
    MIXTURE,
    PURE,
    REMOVE,
    RENYI,
    SHUFFLED,
    SYMMETRIC,
    SYMMETRISED,
    TRUNCATED,
    WITH_PURE_LOSS,
    ZERO_CONCENTRATED,
    Factor,
)
from .finite import outcomes, outcomes_of
from .nodes import NODE, Tilt, grid_for, nodes_on, shift_of

LARGEST_ORDER: Final = 2**40
MOST_TERMS: Final = 40_000
"""Terms of a binomial sum. Beyond, the bound for every order must do."""
MOST_NODES: Final = 10_000
"""Nodes of integrals that one check may compute. Beyond, a chord must do."""
_TERM: Final[dict[str, int]] = {
    GAUSSIAN: 15_000,
    DISCRETE_GAUSSIAN: 15_000,
    ZERO_CONCENTRATED: 15_000,
    RENYI: 15_000,
    LAPLACE: 60_000,
    BOUNDED_RANGE: 60_000,
    PURE: 120_000,
}
_MOMENT: Final = 400_000
_OUTCOME: Final = 120_000
_UNIT: Final = Interval(ONE, ONE)


class Moments:
    """Log-moments of factors, within a budget."""

    def __init__(self, arithmetic: Arithmetic, budget: Budget | None = None) -> None:
        """Start with nothing computed, and with the budget of one check unless one is shared."""
        self.arithmetic = arithmetic
        self._budget = Budget() if budget is None else budget
        self._nodes_left = MOST_NODES
        self._known: dict[tuple[Factor, Fraction, str], Interval] = {}
        self._integrals: dict[tuple[Fraction, Fraction, Fraction], Interval] = {}

    def total(self, factors: Sequence[Factor], order: Fraction, direction: str) -> Interval:
        """Bound A of all factors in a direction; the upper end counts."""
        sum_of = NOTHING
        for factor in factors:
            key = factor, order, direction
            if key not in self._known:
                self._known[key] = self._samples(factor, order, direction)
            sum_of = self.arithmetic.add(sum_of, self._known[key])
        return sum_of

    def _samples(self, factor: Factor, order: Fraction, direction: str) -> Interval:
        arithmetic = self.arithmetic
        self._budget.spend(_MOMENT)
        samples = arithmetic.rational(Fraction(factor.samples))
        if factor.family == MIXTURE:
            raise Refused("moments of normal noise about several records are not known to the checker")
        if factor.family == TRUNCATED:
            return arithmetic.multiply(samples, self._mean_of_cases(factor, order, direction))
        if factor.family in (ALLOCATED, SHUFFLED, SYMMETRISED):
            return arithmetic.multiply(samples, self._drawn_for_certain(factor, order))
        if factor.family in FINITE:
            return arithmetic.multiply(samples, self._of_outcomes(factor, order, direction))
        if not factor.sampled:
            return arithmetic.multiply(samples, self._drawn(factor, order))
        if factor.family == PURE and factor.together == 1:
            return arithmetic.multiply(samples, self._response(factor, order, direction))
        rate = arithmetic.rational(factor.rate)
        grown = arithmetic.expm1(self._drawn(factor, order))
        most = arithmetic.log1p(arithmetic.multiply(rate, grown))
        if direction == REMOVE or factor.family in SYMMETRIC:
            limit = self._integral(factor, order) or self._chord(factor, order)
        else:
            limit = self._two_outcomes(factor, order)
        most = arithmetic.minimum(most, limit) if limit is not None else most
        if factor.family in WITH_PURE_LOSS:  # the pure loss after sampling says something as well
            most = arithmetic.minimum(most, self._of_pure_loss(factor, order))
        return arithmetic.multiply(samples, most)

    def _of_pure_loss(self, factor: Factor, order: Fraction) -> Interval:
        """Bound A of one sample by that of a randomised response."""
        arithmetic = self.arithmetic
        loss = pure_loss([factor._replace(samples=1)], REMOVE, arithmetic)
        if loss.hi == INFINITY:
            return Interval(NOTHING.lo, INFINITY)
        response = Factor(PURE, arithmetic.above(upper_end(loss)), Fraction(1), together=1, samples=1)
        return self._drawn(response, order)

    def _drawn_for_certain(self, factor: Factor, order: Fraction) -> Interval:
        """Bound A of one place of a batch by two records that are drawn for certain, or of shuffled answers."""
        most = self._drawn(drawn_for_certain(factor), order)
        if factor.base == GAUSSIAN:
            return most
        return self.arithmetic.minimum(most, self._of_pure_loss(factor, order))

    def _mean_of_cases(self, factor: Factor, order: Fraction, direction: str) -> Interval:
        """Bound A where it is told which case a release is in: its exponential is the mean of theirs."""
        arithmetic, total = self.arithmetic, NOTHING
        for chance, case in cases(factor._replace(samples=1), self._budget):
            grown = arithmetic.exp(self._samples(case, order, direction))
            total = arithmetic.add(total, arithmetic.multiply(chance, grown))
        return arithmetic.log(total)

    def _two_outcomes(self, factor: Factor, order: Fraction) -> Interval:
        """Bound A for add by that of the law with two outcomes that has the same A(2)."""
        arithmetic = self.arithmetic
        second, power = self._drawn(factor, Fraction(2)), arithmetic.rational(1 - order)
        rate, spread = arithmetic.rational(factor.rate), arithmetic.expm1(second)
        drawn = arithmetic.exp(arithmetic.negate(second))
        total = NOTHING
        for chance, ratio in (
            (arithmetic.subtract(_UNIT, drawn), arithmetic.negate(rate)),
            (drawn, arithmetic.multiply(rate, spread)),
        ):
            grown = arithmetic.expm1(arithmetic.multiply(power, arithmetic.log1p(ratio)))
            total = arithmetic.add(total, arithmetic.multiply(chance, grown))
        return arithmetic.log1p(arithmetic.maximum(total, NOTHING))

    def _drawn(self, factor: Factor, order: Fraction) -> Interval:
        """Enclose A of the releases on one sample about a record that is in it."""
        arithmetic, above, s = self.arithmetic, order - 1, factor.parameter
        if factor.family in (GAUSSIAN, DISCRETE_GAUSSIAN):  # of the latter a bound
            return arithmetic.rational(factor.together * order * above * s**2 / 2)
        if factor.family == ZERO_CONCENTRATED:
            return arithmetic.rational(factor.together * order * above * s)
        if factor.family == RENYI:
            return arithmetic.rational(factor.together * above * factor.tau(order))
        together = arithmetic.rational(Fraction(factor.together))
        if factor.family == LAPLACE:
            share = order / (2 * order - 1)
            towards = arithmetic.multiply(arithmetic.rational(share), arithmetic.expm1(arithmetic.rational(above * s)))
            away = arithmetic.multiply(
                arithmetic.rational(1 - share), arithmetic.expm1(arithmetic.rational(-order * s))
            )
            return arithmetic.multiply(together, arithmetic.log1p(arithmetic.add(towards, away)))
        if factor.family == BOUNDED_RANGE:
            return arithmetic.multiply(together, self._in_an_interval(s, order))
        if factor.family != PURE:
            raise Refused(f"moments of the family {factor.family} are not known to the checker")
        return arithmetic.multiply(together, self._response(factor._replace(rate=Fraction(1)), order, REMOVE))

    def _in_an_interval(self, length: Fraction, order: Fraction) -> Interval:
        """Bound A of losses in an interval of this length."""
        arithmetic, twice = self.arithmetic, 2 * order - 1
        whole, one = (arithmetic.expm1(arithmetic.rational(-length * times)) for times in (twice, Fraction(1)))
        ratio = arithmetic.divide(whole, arithmetic.multiply(arithmetic.rational(twice), one))
        of_pair = arithmetic.add(arithmetic.rational((order - 1) * length), arithmetic.log(ratio))
        of_range = arithmetic.rational(order * (order - 1) * length**2 / 8)
        return arithmetic.maximum(arithmetic.minimum(of_pair, of_range), NOTHING)

    def _response(self, factor: Factor, order: Fraction, direction: str) -> Interval:
        """Enclose A of one randomised response on a sample.

        That is the logarithm of the sum over both outputs of Q·(M/Q)^a, or of Q·(M/Q)^(1-a) for add.
        """
        arithmetic = self.arithmetic
        power = order if direction == REMOVE else 1 - order
        rate, loss = arithmetic.rational(factor.rate), arithmetic.rational(factor.parameter)
        total = NOTHING
        for sign in (loss, arithmetic.negate(loss)):
            mixed = arithmetic.log1p(arithmetic.multiply(rate, arithmetic.expm1(sign)))
            grown = arithmetic.expm1(arithmetic.multiply(arithmetic.rational(power), mixed))
            absent = arithmetic.divide(_UNIT, arithmetic.add(_UNIT, arithmetic.exp(sign)))
            total = arithmetic.add(total, arithmetic.multiply(absent, grown))
        return arithmetic.log1p(total)

    def _of_outcomes(self, factor: Factor, order: Fraction, direction: str) -> Interval:
        """Enclose A of one release on a sample from its outcomes: of Q·(M/Q)^a, or of Q·(M/Q)^(1-a) for add."""
        arithmetic, total = self.arithmetic, NOTHING
        self._budget.spend(_OUTCOME * outcomes_of(factor, 0))
        power = arithmetic.rational(order if direction == REMOVE else 1 - order)
        for mass, loss in outcomes(factor, 0, arithmetic):
            grown = arithmetic.expm1(arithmetic.multiply(power, loss))
            total = arithmetic.add(total, arithmetic.multiply(mass, grown))
        return arithmetic.log1p(total)

    def _integral(self, factor: Factor, order: Fraction) -> Interval | None:
        """Enclose A for remove of Gaussian noise between whole orders; None where that takes too long."""
        shift = shift_of(factor)
        if factor.family != GAUSSIAN or order.denominator == 1:
            return None
        key = shift, factor.rate, order
        if key not in self._integrals:
            tilt = Tilt(REMOVE, order - 1, Fraction(0))
            try:
                grid = grid_for(shift, tilt)
            except Refused:
                return None
            if grid.size > self._nodes_left:
                return None
            self._nodes_left -= grid.size
            self._budget.spend(NODE * grid.size)
            moment = nodes_on(grid, shift, factor.rate, tilt).moment
            self._integrals[key] = self.arithmetic.log(moment)
        return self._integrals[key]

    def _chord(self, factor: Factor, order: Fraction) -> Interval | None:
        """Bound A for remove by the binomial sums at whole orders; None beyond the budget."""
        below, above = floor(order), ceil(order)
        if below + above > MOST_TERMS:
            return None
        self._budget.spend(_TERM[factor.family] * (below + above))
        excesses = [self.arithmetic.expm1(self._drawn(factor, Fraction(k))) for k in range(2, above + 1)]
        high = self._binomial(factor.rate, excesses, above)
        if below == above:
            return high
        low, share = self._binomial(factor.rate, excesses, below), order - below
        arithmetic = self.arithmetic
        return arithmetic.add(
            arithmetic.multiply(arithmetic.rational(1 - share), low),
            arithmetic.multiply(arithmetic.rational(share), high),
        )

    def _binomial(self, rate: Fraction, excesses: list[Interval], order: int) -> Interval:
        """Enclose log(1 + sum over k >= 2 of C(a, k)(1 - q)^(a-k) q^k (e^A(k) - 1)): nothing cancels."""
        arithmetic = self.arithmetic
        weight = arithmetic.multiply(
            arithmetic.power(arithmetic.rational(1 - rate), Fraction(order - 2)),
            arithmetic.rational(Fraction(order * (order - 1), 2) * rate**2),
        )
        odds = arithmetic.rational(rate / (1 - rate))
        total = NOTHING
        for k in range(2, order + 1):
            total = arithmetic.add(total, arithmetic.multiply(weight, excesses[k - 2]))
            step = arithmetic.multiply(odds, arithmetic.rational(Fraction(order - k, k + 1)))
            weight = arithmetic.multiply(weight, step)
        return arithmetic.log1p(total)


def delta_at_order(
    moment: Interval, order: Fraction, ratio: Fraction | None, epsilon: Fraction, arithmetic: Arithmetic
) -> Interval:
    """Bound delta from A at an order: with r1 = 0, and with the r1 for which log(r2/r1) is `ratio` > 0, if stated."""
    above = order - 1
    steps = arithmetic.rational(above)
    odds = arithmetic.log(arithmetic.rational(above / order))
    level = arithmetic.rational(epsilon)
    exponent = arithmetic.add(moment, arithmetic.multiply(steps, arithmetic.subtract(odds, level)))
    least = arithmetic.divide(arithmetic.exp(exponent), arithmetic.rational(order))
    if ratio is None:
        return least
    grown_less = arithmetic.expm1(arithmetic.rational(above * ratio))
    grown_more = arithmetic.expm1(arithmetic.rational(order * ratio))
    # log r1, from g = r1·((a - 1)/a)·(e^(a·ratio) - 1)/(e^((a-1)·ratio) - 1)
    touching = arithmetic.add(
        arithmetic.subtract(level, odds), arithmetic.log(arithmetic.divide(grown_less, grown_more))
    )
    lower_power = arithmetic.exp(arithmetic.multiply(steps, touching))
    power = arithmetic.multiply(lower_power, arithmetic.exp(touching))
    mass = arithmetic.add(
        arithmetic.subtract(arithmetic.exp(moment), arithmetic.multiply(arithmetic.rational(order), lower_power)),
        arithmetic.multiply(steps, power),
    )
    scale = arithmetic.multiply(arithmetic.rational(order), arithmetic.multiply(lower_power, grown_less))
    return arithmetic.minimum(least, arithmetic.divide(mass, scale))
