"""Enclosures of the Rényi divergences of the sampled Gaussian mechanism, for every real order above 1.

Legend: Q = N(0, 1), P = N(s, 1) with s = sensitivity/standard deviation, q the sampling rate, M = (1 − q)·Q + q·P.
With x normal, w = s·(x − s/2) and y = q·(e^w − 1), the density of M against Q at x is 1 + y, and E[y] = 0. With

    γ = α (remove)   or   γ = 1 − α (add),   Λ = log E[(1 + y)^γ],   τ = Λ/(α − 1),

remove: τ = D_α(M‖Q), add: τ = D_α(Q‖M). Both are computed from E[(1 + y)^γ] − 1 = E[(1 + y)^γ − 1 − γ·y], whose
integrand is non-negative (Bernoulli), so that tiny divergences keep their relative accuracy: by a binomial sum at
integer orders of the remove direction, else by the trapezoid rule with a proven remainder. The proofs are in
`docs/soundness_sampled_gaussian.md`; the numbers of their steps stand beside the code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from attrs import evolve, frozen

from ..enclosures import Enclosure, Truth, log_normal_cdf, pi
from ..enclosures.arguments import non_negative, order_above_one, probability

_SMALLEST_SHIFT, _LARGEST_SHIFT = 1e-300, 2.0**20
_LARGEST_ORDER = 2**40
_MOST_NODES = 8000
_MOST_BITS = 1 << 12  # where differences in nodes would need more, as at rates below 10^-500 or so, no rule is tried
_CLOSE = 12  # bits by which a remainder that is left out lies below the precision
_FAR = 40  # e^(−x²/2) matters no more at −_FAR where the peak lies beyond it
_GUARD = 40
_LOG2 = math.log(2.0)
_STRIP = 15 / 16  # of the distance to the branch points
_TERMS_PER_NODE = 2  # a term of the binomial sum costs about half a node


def sampled_gaussian_renyi(rate: Enclosure, shift: Enclosure, order: Fraction, *, precision: int = 128) -> Enclosure:
    """τ(α) = D_α(M‖Q): the record is in the first data set only. It dominates the add direction for every α > 1.

    Args:
        rate: q in [0, 1].
        shift: s ≥ 0, in standard deviations.
        order: α > 1, any rational number.
        precision: bits worked with.

    Guarantees: encloses τ for every q and s inside (τ grows with both). Exactly 0 at q = 0 or s = 0, exactly
    α·s²/2 at q = 1. For points q and s the relative width is usually near 2^(8 − precision), tiny τ included;
    it is larger, and the enclosure still proven, where s exceeds a few hundred or α·s 10^9.

    Raises:
        InvalidType: for other types.
        InvalidValue: for a rate that reaches outside [0, 1], a shift that reaches below 0, an order of at most
            1, or an inadmissible precision.
    """
    alpha = order_above_one(order)
    return _between_ends(rate, shift, precision, lambda q, s: _divergence(q, s, alpha, alpha, precision))


def sampled_gaussian_renyi_add(
    rate: Enclosure, shift: Enclosure, order: Fraction, *, precision: int = 128
) -> Enclosure:
    """τ(α) = D_α(Q‖M): the record is in the second data set only.

    Arguments, errors and guarantees are those of `sampled_gaussian_renyi`; the enclosure is wide already where
    s·√α exceeds a few hundred.
    """
    alpha = order_above_one(order)
    return _between_ends(rate, shift, precision, lambda q, s: _divergence(q, s, alpha, 1 - alpha, precision))


def _between_ends(
    rate: Enclosure, shift: Enclosure, precision: int, divergence: Callable[[Enclosure, Enclosure], Enclosure]
) -> Enclosure:
    """The hull of the divergence at the lower and at the upper ends: it grows with both arguments (step 1)."""
    q, s = probability("rate", rate), non_negative("shift", shift)
    low = divergence(_point(q.lower, q), _point(s.lower, s)).at(precision)
    if q.is_point and s.is_point:
        return low
    return low.hull(divergence(_point(q.upper, q), _point(s.upper, s)).at(precision))


def _point(end: Fraction, of: Enclosure) -> Enclosure:
    return Enclosure.of(end, precision=of.precision)  # exact: an end has at most that many bits


def _divergence(q: Enclosure, s: Enclosure, order: Fraction, gamma: Fraction, precision: int) -> Enclosure:
    work = max(precision, q.precision, s.precision) + _GUARD
    if q == Enclosure.of(0, precision=4) or s == Enclosure.of(0, precision=4):
        return Enclosure.of(0, precision=precision)
    if q == Enclosure.of(1, precision=4):
        return s.at(work).square() * (order / 2)
    return _log_moment(_Moment(gamma, q.at(work), s.at(work), precision + _CLOSE), precision) / (order - 1)


@frozen
class _Moment:
    """E[(1 + y)^γ] for points 0 < q < 1 and s > 0; enclosures have the precision of q and s.

    `close` is the number of bits to which a node is enclosed where y is tiny.
    """

    gamma: Fraction
    rate: Enclosure
    shift: Enclosure
    close: int

    @property
    def precision(self) -> int:
        return self.rate.precision

    def at(self, precision: int) -> _Moment:
        return evolve(self, rate=self.rate.at(precision), shift=self.shift.at(precision))

    def node(self, x: Fraction) -> Enclosure:
        return Enclosure.of(x, precision=self.precision)

    def excess(self, x: Fraction) -> Enclosure:
        """Enclose the excess of the likelihood ratio, y = q·(e^w − 1)."""
        return self.rate * (self.shift * (self.node(x) - self.shift / 2)).expm1()

    def weight(self, x: Fraction) -> Enclosure:
        """Enclose the normal density without its constant, e^(−x²/2)."""
        return (-self.node(x).square() / 2).exp()

    def integrand(self, x: Fraction) -> Enclosure:
        """e^(−x²/2)·((1 + y)^γ − 1 − γ·y); for a tiny y by its leading term, from which nothing is subtracted."""
        y = self.excess(x)
        reach = abs(y) * (abs(self.gamma - 2) + 1)
        if reach.less(Fraction(1, 1 << self.close)) is Truth.TRUE:
            near = (-reach * 2).hull(reach * 2) + 1
            return self.weight(x) * y.square() * (self.gamma * (self.gamma - 1) / 2) * near
        return self.power(x, y) - self.weight(x) * (y * self.gamma + 1)

    def power(self, x: Fraction, y: Enclosure) -> Enclosure:
        """Enclose the integrand e^(−x²/2)·(1 + y)^γ."""
        return (y.log1p() * self.gamma - self.node(x).square() / 2).exp()

    def pull(self, x: Fraction) -> Enclosure:
        """γ·s·q·e^w/(1 + y): the logarithm of `power` has the derivative pull − x."""
        return (1 - (1 - self.rate) / (self.excess(x) + 1)) * self.shift * self.gamma


@frozen
class _Estimate:
    """The same moment in binary64, for planning only."""

    gamma: float
    rate: float
    log_rate: float
    shift: float

    def mixed(self, x: float) -> float:
        """Estimate the logarithm of the likelihood ratio, log(1 + y)."""
        v = self.shift * (x - self.shift / 2) + self.log_rate
        return v if v > 700 else math.log1p(math.exp(v) - self.rate)

    def pull(self, x: float) -> float:
        v = self.shift * (x - self.shift / 2) + self.log_rate
        return self.gamma * self.shift / (1 + (1 - self.rate) * math.exp(min(-v, 700)))

    def height(self, x: float) -> float:
        """Estimate the logarithm of the integrand e^(−x²/2)·(1 + y)^γ."""
        return self.gamma * self.mixed(x) - x * x / 2

    @property
    def log_excess(self) -> float:
        """About the logarithm of the moment less 1, where that is small."""
        spread = (
            math.log(math.expm1(min(self.shift * self.shift, 1))) if self.shift > 1e-150 else 2 * math.log(self.shift)
        )
        return min(0.0, math.log(self.gamma * (self.gamma - 1) / 2) + 2 * self.log_rate + spread)


@frozen
class _Plan:
    """Nodes k·step for k in each window, and the half width of the strip on which the rule's remainder is bounded.

    `falling` and `rising` are points from which the slopes outside the windows are bounded (step 5).
    """

    step: Fraction
    strip: Fraction
    windows: tuple[tuple[int, int], ...]
    falling: tuple[Fraction, ...] = ()
    rising: tuple[Fraction, ...] = ()

    @property
    def nodes(self) -> int:
        return sum(last - first + 1 for first, last in self.windows)

    @property
    def left(self) -> Fraction:
        return self.windows[0][0] * self.step

    @property
    def right(self) -> Fraction:
        return self.windows[-1][1] * self.step


def _log_moment(moment: _Moment, precision: int) -> Enclosure:
    plain = _plain(moment)
    if (width := plain.relative_width) is not None and width.numerator << precision <= width.denominator:
        return plain
    shift, order = moment.shift.upper_float, max(moment.gamma, 1 - moment.gamma)
    if shift > _LARGEST_SHIFT or shift < _SMALLEST_SHIFT or order > _LARGEST_ORDER:
        return plain
    log_rate = moment.rate.log().upper_float
    rate = min(moment.rate.upper_float, 1 - 2.0**-53)
    estimate = _Estimate(float(moment.gamma), rate, log_rate, shift)
    plan = _plan(estimate, precision * _LOG2 + 6)
    if moment.gamma.denominator == 1 and 1 < moment.gamma <= _TERMS_PER_NODE * plan.nodes:
        return _binomial_sum(moment).log1p().intersection(plain)
    if plan.nodes > _MOST_NODES:
        plan = _coarser(estimate, plan)
    spare = -(1 - moment.rate).log().lower_float - estimate.log_excess
    largest = abs(estimate.gamma) * (1 + abs(log_rate) + shift * float(max(-plan.left, plan.right)))
    work = moment.precision + int((spare + 3 * math.log(2 + largest)) / _LOG2) + 1
    if work > _MOST_BITS:
        return _from_whole_orders(moment).intersection(plain)
    # where y is no longer tiny a difference loses no more than this, however small q is
    lost = 2 * (moment.close + math.log2(3 + order)) - math.log2(estimate.gamma * (estimate.gamma - 1) / 2)
    work = min(
        work,
        moment.precision + int(max(lost, 0.0) + (spare + estimate.log_excess + 3 * math.log(2 + largest)) / _LOG2) + 1,
    )
    found = _trapezoid(moment.at(work), plan)
    return plain if found is None else found.log1p().intersection(plain)


def _plain(moment: _Moment) -> Enclosure:
    """Λ between bounds that need no sum (step 2)."""
    q, s, gamma = moment.rate, moment.shift, moment.gamma
    full = s.square() * (gamma * (gamma - 1) / 2)  # Λ at q = 1
    nothing = Enclosure.of(0, precision=q.precision)
    if gamma < 0:
        mixed = (q * full.expm1()).log1p() if full.less(1 << 60) is Truth.TRUE else full
        lower = nothing
        for x in _steep_points(q, s, gamma):
            y = q * (s * (x - s / 2)).expm1()
            lower = lower.maximum(log_normal_cdf(x) + y.log1p() * gamma)
        return lower.hull(mixed.minimum(full).minimum((1 - q).log() * gamma))
    growth = s.square() * ((gamma - 1) / 2)
    upper = (q * growth.expm1()).log1p() * gamma if growth.less(1 << 60) is Truth.TRUE else full
    without, with_it = (1 - q).log() * gamma, (q.log() + growth) * gamma
    lower = without.maximum(with_it) + (-abs(without - with_it)).exp().log1p()
    return lower.maximum(nothing).hull(upper.minimum(full))


def _steep_points(q: Enclosure, s: Enclosure, gamma: Fraction) -> tuple[Enclosure, ...]:
    """Points x at which log Φ(x) + γ·log(1 + y), a lower bound of Λ for γ < 0, is near its greatest value."""
    odds = (1 - q).log() - q.log()
    leads = (40.0, math.log(min(2 - gamma, Fraction(_LARGEST_ORDER))))
    return tuple(s / 2 + (odds - Fraction(lead)) / s for lead in leads)


def _binomial_sum(moment: _Moment) -> Enclosure:
    """E[(1 + y)^α] − 1 = Σ_{k≥2} C(α, k)·(1 − q)^(α−k)·q^k·(e^(k(k−1)s²/2) − 1), for an integer α = γ (step 3)."""
    order, q = moment.gamma.numerator, moment.rate
    odds, half_square = q / (1 - q), moment.shift.square() / 2
    share = (1 - q).power(order - 2) * q.square() * (order * (order - 1) // 2)
    total = Enclosure.of(0, precision=moment.precision)
    for k in range(2, order + 1):
        total = total + share * (half_square * (k * (k - 1))).expm1()
        share = share * odds * Fraction(order - k, k + 1)
    return total


def _from_whole_orders(moment: _Moment) -> Enclosure:
    """Λ from τ at the whole orders next to α, between which it lies, for the direction that dominates (step 7)."""
    order = max(moment.gamma, 1 - moment.gamma)

    def at(whole: int) -> Enclosure:
        return _binomial_sum(evolve(moment, gamma=Fraction(whole))).log1p() * ((order - 1) / (whole - 1))

    above, below = math.ceil(order), math.floor(order)
    if above > _MOST_NODES:
        return _plain(moment)
    upper = at(above)
    return upper.hull(at(below) if moment.gamma > 0 and below > 1 else 0)


def _trapezoid(moment: _Moment, plan: _Plan) -> Enclosure | None:
    """E[(1 + y)^γ] − 1 by the trapezoid rule with its remainder and its tails; None where these are not bounded."""
    error = _relative_error(moment, plan)
    tails = _remove_tails(moment, plan) if moment.gamma > 0 else _add_tails(moment, plan)
    if error.less(Fraction(1, 4)) is not Truth.TRUE or tails is None:
        return None
    total = Enclosure.of(0, precision=moment.precision)
    for first, last in plan.windows:
        for k in range(first, last + 1):
            total = total + moment.integrand(k * plan.step)
    total = total.maximum(0)
    unit = (pi(moment.precision) * 2).sqrt()
    return total.hull(total + tails) * plan.step / (error * Fraction(-1) + 1).hull(error + 1) / unit


def _relative_error(moment: _Moment, plan: _Plan) -> Enclosure:
    """The largest relative error of the trapezoid sum (step 4)."""
    gamma, s, a = moment.gamma, moment.shift, moment.node(plan.strip)
    angle = (s * a).square() / 4
    if gamma >= 2:
        spread = a.square() * 2
        turn = angle * 0
    else:
        bend = Fraction(1, 2) if gamma > 0 else Fraction(3, 2) - gamma
        spread = (s * a).square() * Fraction(66, 5) / s.minimum(1 / bend).square()
        turn = (angle / 2 + angle.square() * Fraction(27, 100)) * (2 - gamma)
    norm = (a.square() / 2 + turn).exp() * (spread + 1)
    return norm * 2 / (pi(moment.precision) * 2 * plan.strip / plan.step).expm1()


def _remove_tails(moment: _Moment, plan: _Plan) -> Enclosure | None:
    """A bound of the integrand's sum over the nodes outside the windows, remove direction (step 5)."""
    order, q, s, h = moment.gamma, moment.rate, moment.shift, plan.step
    right = plan.right
    reach = s * order
    slopes = [plan.falling[0] - reach]
    slopes += [moment.node(low) - moment.pull(high) for high, low in pairwise(plan.falling)]
    slopes += [moment.node(right) - moment.pull(plan.falling[-1]), moment.node(right)]
    if any(slope.greater(4) is not Truth.TRUE for slope in slopes):
        return None

    def bound(x: Fraction) -> Enclosure:
        return moment.power(x, moment.excess(x)) + moment.weight(x) * q * order

    far = bound(right) / _geometric(moment.node(4 * h))
    left = -plan.left
    if plan.left > 0:
        x1 = plan.left
        climbs = [moment.pull(low) - high for low, high in pairwise((Fraction(0), *plan.rising, x1))]
        if any(climb.greater(0) is not Truth.TRUE for climb in climbs):
            return None
        left = Fraction(math.ceil(_FAR / h)) * h
        far = far + moment.power(x1, moment.excess(x1)) * (int((x1 + left) / h) + 1)
        far = far + (moment.node(Fraction(3) / h) + 1) * q * order  # the sum of all e^(−x²/2) is below 1 + 3/h
    if left < 4:
        return None
    most = (order - 1) * max(Fraction(1), order / 2)
    edge = moment.excess(-left).square() * moment.weight(left) * most
    far = far + edge / _geometric(moment.node(h * (left - 2 / left)))
    for (_, last), (first, _) in pairwise(plan.windows):
        x1, x2 = last * h, first * h
        falls = (moment.pull(x1) - x1).less(0) is Truth.TRUE
        if not falls or (moment.pull(x2) - x2).greater(0) is not Truth.TRUE:
            return None
        far = far + bound(x1).maximum(bound(x2)) * (first - last)
    return far.maximum(0)


def _add_tails(moment: _Moment, plan: _Plan) -> Enclosure | None:
    """The same in the add direction (step 6)."""
    q, s, h, beta = moment.rate, moment.shift, plan.step, -moment.gamma
    left_slope = moment.pull(plan.left) - plan.left
    right_slope = plan.right - s
    if any(slope.greater(4) is not Truth.TRUE for slope in (left_slope, right_slope)) or plan.left > 0:
        return None
    far = moment.power(plan.left, moment.excess(plan.left)) / _geometric(moment.node(4 * h))
    shifted = (-right_slope.square() / 2).exp()
    far = far + shifted * q * beta / _geometric(moment.node(4 * h))
    for (_, last), (first, _) in pairwise(plan.windows):
        x1 = last * h
        if (moment.pull(x1) - x1).greater(0) is not Truth.FALSE or first > 0:
            return None
        far = far + moment.power(x1, moment.excess(x1)) * (first - last)
    return far


def _geometric(exponent: Enclosure) -> Enclosure:
    """1 − e^(−exponent): a geometric sum is its first term over this."""
    return -(-exponent).expm1()


def _plan(estimate: _Estimate, nats: float) -> _Plan:
    """Windows, step and strip for a relative error near e^−nats; only its usefulness depends on this."""
    strip, step = _best_strip(estimate, lambda a, cost: 2 * math.pi * a / (nats + cost))
    h = _dyadic(step, 20)
    rest = nats + 2 * math.log(10 + estimate.shift) + 2 * math.log(1 + abs(estimate.gamma))
    if estimate.gamma < 0:
        return _Plan(h, strip, _add_windows(estimate, float(h), rest))
    return _remove_plan(estimate, h, strip, rest)


def _best_strip(estimate: _Estimate, value: Callable[[float, float], float]) -> tuple[Fraction, float]:
    """The half width a for which value(a, logarithm of the norm on the strip) is greatest, and that value."""
    gamma, s = estimate.gamma, estimate.shift
    widest = min(_STRIP * 3.14159 / s, 60.0)
    best, best_a = -math.inf, widest
    for i in range(80):
        a = widest * 0.93**i
        angle = (s * a) ** 2 / 4
        spread = 2 * a * a if gamma >= 2 else 13.2 * (s * a / min(s, 1 / max(0.5, 1.5 - gamma))) ** 2
        turn = max(0.0, 2 - gamma) * (angle / 2 + 0.27 * angle**2)
        found = value(a, a * a / 2 + turn + math.log(1 + spread) + 1)
        if found > best:
            best, best_a = found, a
    return _dyadic(best_a, 20), best


def _coarser(estimate: _Estimate, plan: _Plan) -> _Plan:
    """The same windows with at most about the admissible number of nodes; the remainder of the rule grows."""
    times = -(-plan.nodes // _MOST_NODES)
    step = plan.step * times
    windows = tuple((first // times, -(-last // times)) for first, last in plan.windows)
    strip, _ = _best_strip(estimate, lambda a, cost: 2 * math.pi * a / float(step) - cost)
    return evolve(plan, step=step, strip=strip, windows=windows)


def _remove_plan(estimate: _Estimate, h: Fraction, strip: Fraction, rest: float) -> _Plan:
    falling = [estimate.gamma * estimate.shift + 6]
    while len(falling) < 12 and (end := estimate.pull(falling[-1]) + 6) < falling[-1] - 1:
        falling.append(end)
    top = estimate.pull(falling[-1])
    peak = estimate.height(top)
    small = 0.0 if peak > 5 else estimate.log_excess - max(peak, 0.0)
    left, right = _width(rest), _width(rest - small)
    rising = [0.0]
    while len(rising) < 80 and (climb := estimate.pull(rising[-1]) - rising[-1]) > 1e-3:
        rising.append(rising[-1] + 0.9 * climb)
    gap = _width(rest - estimate.log_excess + 2 * math.log(1 + top))
    x1, x2 = rising[-1] + gap, top - gap
    deep = max(peak, estimate.log_excess) - rest - math.log(1 + top)
    ends, steps = [(-left, top + right)], rising[:0]
    if x2 - x1 > 20 and estimate.pull(x1) < x1 - 1 and estimate.pull(x2) > x2 + 1:
        if max(estimate.height(x1), estimate.height(x2)) < deep:
            ends = [(-left, x1), (x2, top + right)]
    elif x2 > left and rising[-1] > x2 + 1 and estimate.height(x2) < deep:
        ends = [(x2, top + right)]
        steps = [x for x in rising[1:] if x < x2 - 1]
    points = (tuple(_dyadic(x, 50) for x in chain) for chain in (falling, steps))
    return _Plan(h, strip, _windows(ends, float(h)), *points)


def _add_windows(estimate: _Estimate, h: float, rest: float) -> tuple[tuple[int, int], ...]:
    """Around the mode of (1 + y)^γ·e^(−x²/2), and around 0 and s."""
    low, high = estimate.gamma * estimate.shift, 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if estimate.pull(middle) > middle else (low, middle)
    small = 0.0 if estimate.height(low) > 5 else estimate.log_excess
    left, right = _width(rest - small), _width(rest - estimate.log_excess)
    if low + left < -right - 20:
        return _windows([(low - left, low + left), (-right, estimate.shift + right)], h)
    return _windows([(min(low - left, -right), estimate.shift + right)], h)


def _width(nats: float) -> float:
    """Where e^(−x²/2) has fallen by e^−nats; at least 6."""
    return max(6.0, math.sqrt(2 * nats))


def _windows(ends: list[tuple[float, float]], h: float) -> tuple[tuple[int, int], ...]:
    return tuple((math.floor(first / h), math.ceil(last / h)) for first, last in ends)


def _dyadic(value: float, digits: int) -> Fraction:
    """`value` rounded to that many binary digits."""
    mantissa, exponent = math.frexp(value)
    return Fraction(round(math.ldexp(mantissa, digits))) * Fraction(2) ** (exponent - digits)
