"""Upper bounds of the Rényi divergence of the sampled Gaussian mechanism, elementwise.

With x normal, e^w = dN(s, 1)/dN(0, 1) at x, that is w = s·(x − s/2), and y = q·(e^w − 1), the log-moment is

    Λ(α) = log E[(1 + y)^α] = (α − 1)·τ(α),   L = log(1 + y),   β = α − 1.

Since E[y] = 0, E[(1 + y)^α] − 1 is the expectation of the non-negative

    (1 + y)^α − 1 − α·y = (1 + y)·(A(β·L) + β·A(−L)),   A(t) = e^t − 1 − t,

in which nothing cancels. It is summed by the trapezoid rule over one or two windows; what the rule, the cut tails
and rounding can hide is added. The proof is in `docs/soundness_sampled_gaussian.md`, section "The kernel", whose
step numbers stand beside the code. Results are upper bounds for q ≥ `SMALLEST_RATE` and every s ≥ 0, α > 1.
"""

from __future__ import annotations

import math

from . import types
from .compile import READ, WRITE, Floats, bits, from_bits, inlined, kernel
from .elementary import exp, expm1, expm1_between, expm1mx, log, log1p, log1p_between, log_between

SMALLEST_RATE = 1e-300
"""Smaller rates are to be raised to this one, which is an upper bound too."""
SMALLEST_SHIFT = 1e-150
"""Smaller shifts are raised to this one here."""
ABSOLUTE_ERROR = 1e-290
"""Added to every moment: it exceeds all that underflow can lose."""

_U = 2.0**-53
_UP = 1.0 + 4.0 * _U
_LARGEST = 700.0  # e^700 and its products with rates stay in range
_PLAIN = 40.0  # beyond, (1 + y)^α bounds the integrand within 10^-15
_SCALED = 500.0  # logarithm of a moment from which on sums are scaled
_INVERSE_ROOT_2PI = 0.3989422804014327
_NATS = 40.0  # the proven sum: each of its three remainders is near e^-40 of it
_ROUGH_NATS, _ROUGH_STEP = 20.0, 1.0 / 64.0  # the search
_STRIP = 15.0 / 16.0 * math.pi
_NODES, _ROUGH_NODES = 1 << 17, 1 << 13
_LAST = 1 << 29  # k·h is exact up to this k
_TANGENTS = 500.0  # beyond this T·Λ the tangents gain nothing
_LOWEST, _HIGHEST = 2.0**-30, 2.0**40  # the range of β in the searches
_STEEP, _TRIALS = 30.0, 16  # β·Λ′/Λ from which an edge is near; steps beside it
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_LARGEST_LOSS = 1e6  # a larger ε is lowered to this one, which keeps δ an upper bound
_SMALLEST = 2.0**-1070  # more than underflow can lose
_COARSE = ~((1 << 29) - 1)  # keeps 23 bits of a fraction


@inlined
def _log_mixture(w: float, q: float, log_q: float) -> float:
    """L = log(1 − q + q·e^w) (step 2)."""
    if w > _LARGEST:
        v = w + log_q
        return v + log1p_between((1.0 - q) * exp(-v))
    y = q * expm1_between(max(w, -_LARGEST))
    if y < -0.5:
        return log_between((1.0 - q) + q * exp(max(w, -_LARGEST)), 0.0, 0.0)
    return log1p_between(y)


@inlined
def _share(x: float, q: float, s: float, log_q: float) -> float:
    """q·e^w/(1 − q + q·e^w): the slope of L in w, an estimate."""
    v = s * (x - 0.5 * s) + log_q
    return 1.0 / (1.0 + (1.0 - q) * exp(-v))


@inlined
def _sums(
    first: int, last: int, h: float, q: float, s: float, log_q: float, order: float, scale: float
) -> tuple[float, float, float]:
    """Sums over the nodes k·h of e^(−x²/2 − scale) times three functions of (q, s, α, x).

    They are the integrand of the moment; of β·∂/∂β of the moment less the moment, plus 1; and of its β²·∂²/∂β². The
    first is proven (step 3), the others serve the search.
    """
    beta = order - 1.0
    moment = growth = bend = 0.0
    for k in range(first, last + 1):
        x = k * h
        ratio = _log_mixture(s * (x - 0.5 * s), q, log_q)
        t = beta * ratio
        weight = -0.5 * x * x - scale
        if t > _PLAIN:
            density = exp(max(order * ratio + weight, -_LARGEST))
            moment += density
            growth += density * (t - 1.0)
            bend += density * t * t
        else:
            density = exp(max(ratio + weight, -_LARGEST))
            a = expm1mx(t)
            moment += density * (a + beta * expm1mx(-ratio))
            growth += density * (t * (a + t) - a)
            bend += density * t * t * (a + t + 1.0)
    return moment, growth, bend


@inlined
def _bound(x: float, q: float, s: float, log_q: float, order: float, scale: float) -> float:
    """An upper estimate of e^(−x²/2 − scale)·((1 + y)^α + α·q), which bounds the integrand at x (step 5)."""
    weight = -0.5 * x * x - scale
    power = exp(max(order * _log_mixture(s * (x - 0.5 * s), q, log_q) + weight, -_LARGEST))
    return power + order * q * exp(max(weight, -_LARGEST))


@inlined
def _smallest_moment(q: float, s: float, order: float) -> float:
    """About the logarithm of the moment less 1, where it is small; an estimate for the plan."""
    spread = min(s * s, 1.0)
    return min(0.0, log(0.5 * order * (order - 1.0) * expm1(spread)) + 2.0 * log(q))


@inlined
def _plan(
    q: float, s: float, log_q: float, order: float, nats: float, finest: float, room: float
) -> tuple[float, float, int, int, int, int, float]:
    """Step h, strip a, the windows [k0, k1] and [k2, k3] (the second empty if k2 > k3), and the scale.

    The proof relies on it for the slopes beyond k3·h and at the ends of the valley (step 5); the rest only makes
    the bound tight.
    """
    # The strip: 2πa/h − a²/2 nats, less the logarithm of the constant of step 4.
    wide = 13.2 / min(s, 2.0) ** 2 * s * s
    need = nats + log(21.0 * (1.0 + wide * min(2.0 * nats, (_STRIP / s) ** 2)))
    a = min(_STRIP / s, math.sqrt(2.0 * need))
    h = max(from_bits(bits(2.0 * math.pi * a / (need + 0.5 * a * a)) & _COARSE), finest)
    # An upper end for the largest zero of α·s·share(x) − x, from above; 6 are added at each step (step 5).
    reach = order * s
    end = reach + 6.0
    for _ in range(8):
        end = min(end, reach * _share(end, q, s, log_q) + 6.0)
    top = reach * _share(end, q, s, log_q)
    peak = order * _log_mixture(s * (top - 0.5 * s), q, log_q) - 0.5 * top * top
    small = _smallest_moment(q, s, order)
    left = math.sqrt(2.0 * (nats + 2.0 * log(10.0 + s))) + room
    known = 0.0 if peak > 5.0 else small - max(peak, 0.0)  # the moment less 1, against the peak of the right tail
    right = math.sqrt(2.0 * (nats + 2.0 - known)) + room
    scale = peak if peak > _SCALED else 0.0
    k0, k3 = -math.ceil(left / h), math.ceil((top + right) / h)
    # Two windows where a valley lies between the peaks.
    low = 0.0
    for _ in range(8):
        low = reach * _share(low, q, s, log_q)
    gap = math.sqrt(2.0 * (nats - small + 12.0)) + room
    x1, x2 = low + gap, top - gap
    if x2 - x1 > 20.0:
        falls = reach * _share(x1, q, s, log_q) - x1 < -1.0
        rises = reach * _share(x2, q, s, log_q) - x2 > 1.0
        if falls and rises:
            return h, a, k0, math.ceil(x1 / h), math.floor(x2 / h), k3, scale
    return h, a, k0, k3, 0, -1, scale


@inlined
def _moments(q: float, s: float, order: float) -> tuple[float, float, float]:
    """Λ, β·Λ′ − Λ and β²·Λ″ (derivatives in β), estimates for the search; of Minkowski's bound where they are dear."""
    log_q = log(q)
    h, _, k0, k1, k2, k3, scale = _plan(q, s, log_q, order, _ROUGH_NATS, _ROUGH_STEP, 0.0)
    if k1 - k0 + max(0, k3 - k2) > _ROUGH_NODES:
        beta, v = order - 1.0, 0.5 * (order - 1.0) * s * s
        ratio = _log_mixture(v, q, log_q)
        share = 1.0 / (1.0 + (1.0 - q) * exp(-v - log_q))
        value = order * ratio
        slope = beta * ratio + order * share * v
        return value, slope - value, 2.0 * beta * share * v + order * share * (1.0 - share) * v * v
    moment, growth, bend = _sums(k0, k1, h, q, s, log_q, order, scale)
    if k3 >= k2:
        more, more_growth, more_bend = _sums(k2, k3, h, q, s, log_q, order, scale)
        moment, growth, bend = moment + more, growth + more_growth, bend + more_bend
    unit = h * _INVERSE_ROOT_2PI
    moment, growth, bend = moment * unit, growth * unit, bend * unit
    if scale > 0.0:
        value = scale + log(moment)
        slope = growth / moment + 1.0
        return value, slope - value, max(0.0, bend / moment - slope * slope)
    total = 1.0 + moment
    slope = (growth + moment) / total
    value = log1p(moment)
    rest = value - moment / total if moment > 1e-5 else 0.5 * moment * moment
    return value, growth / total - rest, max(0.0, bend / total - slope * slope)


@inlined
def _plain_upper(q: float, s: float, order: float) -> tuple[float, bool]:
    """Minkowski's bound α·log(1 − q + q·e^(β·s²/2)) and whether it is within 10^-13 (step 6)."""
    v = 0.5 * (order - 1.0) * (s * s) * _UP + _SMALLEST
    log_q = log(q)
    value = order * (_log_mixture(v, q, log_q) + _SMALLEST) * (1.0 + (70.0 + 8.0 * min(v, _LARGEST)) * _U)
    excess = v + log_q - log(1.0 - q)
    tight = excess > 0.0 and order * exp(-excess) < 1e-13 * value
    return min(value, order * v * _UP), tight


@inlined
def _upper(q: float, s: float, order: float) -> float:
    """Λ(α) from above, for 0 < q < 1, s > 0 and α > 1."""
    plain, tight = _plain_upper(q, s, order)
    if tight or s > 1e6 or order * s > 1e12 or order > 1e12:
        return plain
    beta = order - 1.0
    log_q = log(q)
    best = plain
    room = 0.0
    for _ in range(3):
        h, a, k0, k1, k2, k3, scale = _plan(q, s, log_q, order, _NATS, 0.0, room)
        nodes = (k1 - k0 + 1) + max(0, k3 - k2 + 1)
        last = max(k1, k3)
        if nodes > _NODES or last > _LAST or -k0 > _LAST:
            return best
        moment, _, _ = _sums(k0, k1, h, q, s, log_q, order, scale)
        # Tails: to the left, to the right, between the windows (step 5).
        left, right = -k0 * h, last * h
        edge = s * (left + 0.5 * s)
        flat = min(q * q, (q * edge) ** 2) * beta * max(1.0, 0.5 * order)
        cut = flat * exp(max(-0.5 * left * left - scale, -_LARGEST)) / -expm1(-h * (left - 2.0 / left))
        cut += _bound(right, q, s, log_q, order, scale) / -expm1(-5.0 * h)
        if k3 >= k2:
            more, _, _ = _sums(k2, k3, h, q, s, log_q, order, scale)
            moment += more
            inner = _bound(k1 * h, q, s, log_q, order, scale) + _bound(k2 * h, q, s, log_q, order, scale)
            cut += (k2 - k1) * inner
        # Rounding (step 3), per node and of the sum.
        most = max(s * (right + 0.5 * s), s * (left + 0.5 * s))
        least = _log_mixture(-s * (left + 0.5 * s), q, log_q)
        greatest = _log_mixture(s * (right - 0.5 * s), q, log_q)
        size = max(greatest, -least)
        farthest = max(left, right)
        units = (order + 1.0) * ((20.0 + 8.0 * most) * min(1.0, 2.0 * size) + 10.0 * size) + 8.0 * most
        units += 2.0 * farthest * farthest + 4.0 * scale + 120.0 + nodes
        # The strip (step 4).
        wide = 13.2 / min(s, 2.0) ** 2 * (s * a) ** 2
        strip = 21.0 * (1.0 + wide) * exp(0.5 * a * a - 6.2831 * a / h) * 1.01
        total = (moment + 1.001 * cut) * (h * _INVERSE_ROOT_2PI)
        total = total * (1.0 + 1.1 * (units * _U + strip)) + ABSOLUTE_ERROR
        if units * _U < 1e-2 and strip < 1e-2 and (scale == 0.0 or total > 1e-9):
            value = scale + (log(total) + 1e-200) if scale > 0.0 else log1p(total)
            best = min(best, value * (1.0 + 10.0 * _U))
        if cut < 1e-12 * moment:
            break
        room = 2.0 * room + 4.0
    return best


@inlined
def _log_moment(q: float, s: float, order: float) -> float:
    """Λ(α) from above, for every 0 ≤ q ≤ 1, s ≥ 0 and 1 < α < ∞."""
    if q == 0.0 or s == 0.0:
        return 0.0
    s = max(s, SMALLEST_SHIFT)
    if q == 1.0:
        return (0.5 * (order - 1.0) * (s * s) * _UP + _SMALLEST) * order * _UP
    return _upper(max(q, SMALLEST_RATE), s, order)


@kernel(types.void, READ, READ, READ, WRITE)
def renyi(rate: Floats, shift: Floats, order: Floats, out: Floats) -> None:
    """τ(α) from above; inputs have the length of `out`, or length 1."""
    for i in range(out.size):
        q, s = rate[i % rate.size], shift[i % shift.size]
        alpha = order[i % order.size]
        out[i] = _log_moment(q, s, alpha) / (alpha - 1.0) * _UP


@inlined
def _first_order(q: float, s: float, steps: float, nats: float) -> float:
    """Where the search for β starts: the best order of a Gaussian of the same variance, kept below the blow-up."""
    variance = steps * q * q * expm1(min(s * s, 50.0))
    smooth = math.sqrt(2.0 * nats / max(variance, 1e-290))
    edge = 1.0 + (2.0 - log(q)) / (s * s)
    return min(max(min(smooth, edge), _LOWEST), _HIGHEST)


@inlined
def _order_for_delta(q: float, s: float, steps: float, nats: float) -> tuple[float, float, float, float]:
    """β with T·(βΛ′ − Λ) + log α = log(1/δ), the only minimum of ε, and Λ, βΛ′ − Λ, β²Λ″ there; estimates."""
    low, high = math.log(_LOWEST), math.log(_HIGHEST)
    beta = _first_order(q, s, steps, nats)
    v = log(beta)
    value = slope = bend = 0.0
    for _ in range(60):
        alpha = 1.0 + exp(v)
        beta = alpha - 1.0
        value, slope, bend = _moments(q, s, alpha)
        here = steps * slope + log(alpha)
        if here > nats:
            high = v
        else:
            low = v
        if not 0.0 < here < 1e300:
            step = -2.0 if here > nats else 2.0
        else:
            step = log(nats / here) * here / (steps * bend + beta / alpha)
            step = min(max(step, -2.0), 2.0)
        new = v + step
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - v) < 1e-4 and abs(here - nats) < 0.02 * nats:  # past its edge the loss rises within 10^-5 of β
            break
        v = new
    return beta, value, slope, bend


@inlined
def _epsilon_plain(loss: float, alpha: float, delta: float) -> float:
    """(T·Λ − log δ − log α)/β − log(α/β) from above, for a T·Λ of at most `loss` (step 7)."""
    beta = alpha - 1.0
    nats, log_alpha, log_ratio = -log(delta), log(alpha), log1p(1.0 / beta)
    value = (loss + nats - log_alpha) / beta - log_ratio
    return value + 16.0 * _U * ((loss + abs(nats) + log_alpha) / beta + log_ratio)


@inlined
def _gap(loss: float, alpha: float, u: float) -> float:
    """E[X^α] − α·r₁^β·E[X] + β·r₁^α for r₁ = e^u, from above; loss ≤ 600, u < 0 (step 8)."""
    beta = alpha - 1.0
    moment = exp(loss) * (1.0 + 4.0 * _U)
    taken, kept = alpha * exp(beta * u), beta * exp(alpha * u)
    return moment - taken + kept + _U * ((8.0 - 2.0 * beta * u) * taken + (8.0 - 2.0 * alpha * u) * kept + 4.0 * moment)


@inlined
def _epsilon_tangents(loss: float, alpha: float, delta: float, u: float) -> float:
    """ε from above by the tangents at r₁ = e^u, u < 0, and at the r₂ that δ leaves; loss ≤ 600 (step 8)."""
    beta = alpha - 1.0
    inverse = _gap(loss, alpha, u) / delta * _UP
    if not 0.0 < inverse < 1e300:
        return math.inf
    reach = inverse / (alpha * exp(beta * u))
    if not 0.0 < reach < 1e300:
        return math.inf
    grown = alpha / beta * log1p(reach)
    top = grown if grown > 50.0 else log(expm1(grown))
    scale = log(inverse / beta)
    value = alpha * u - scale + top
    return value + 20.0 * _U * (abs(scale) + abs(top) + (grown + 2.0) * (1.0 - alpha * u))


@inlined
def _delta_plain(loss: float, alpha: float, epsilon: float) -> float:
    """exp(T·Λ − β·ε − β·log(α/β) − log α) from above (step 9)."""
    beta = alpha - 1.0
    taken, log_alpha = beta * (epsilon + log1p(1.0 / beta)), log(alpha)
    return exp(loss - taken - log_alpha + 16.0 * _U * (loss + taken + log_alpha)) * _UP + _SMALLEST


@inlined
def _delta_tangents(loss: float, alpha: float, epsilon: float, u: float) -> float:
    """δ from above by the tangents at r₁ = e^u, u < 0, and r₂ = e^(u + x); loss ≤ 600 (step 9)."""
    beta = alpha - 1.0
    log_ratio = log1p(1.0 / beta)
    x = 2.0 * (epsilon - u)
    for _ in range(12):
        if alpha * x > 600.0:
            slope, height = 1.0, x
        else:
            one, other = expm1(alpha * x), expm1(beta * x)
            slope = alpha * (1.0 + 1.0 / one) - beta * (1.0 + 1.0 / other)
            height = log(one / other)
        move = (height - log_ratio + u - epsilon) / slope
        x -= move
        if abs(move) < 1e-13 * x:
            break
    margin = _U * (60.0 + 16.0 * (log_ratio + epsilon - u) + 8.0 * alpha * x)
    x -= 4.0 * margin + 1e-13 * x
    if not 0.0 < alpha * x < 600.0:
        return math.inf
    # e^ε has to be at least r₁·(β/α)·expm1(αx)/expm1(βx): checked, whatever the iteration did.
    height = log(expm1(alpha * x) / expm1(beta * x))
    if not height - log_ratio + u + margin <= epsilon:
        return math.inf
    fall = alpha * exp(beta * u) * expm1(beta * x)
    return _gap(loss, alpha, u) / fall * (1.0 + _U * (30.0 - 2.0 * beta * u + 4.0 * beta * x)) + _SMALLEST


@inlined
def _score(loss: float, alpha: float, given: float, u: float, backwards: bool) -> float:
    """What the search makes least: ε for a given δ, or log δ for a given ε."""
    if not backwards:
        return _epsilon_tangents(loss, alpha, given, u)
    found = _delta_tangents(loss, alpha, given, u)
    return log(found) if found > 0.0 else math.inf


@inlined
def _tangent(loss: float, alpha: float, given: float, backwards: bool) -> float:
    """The u = log r₁ that makes the bound least; golden sections of log(−β·u)."""
    low, high = -18.0, 3.5
    beta = alpha - 1.0
    one, other = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    first = _score(loss, alpha, given, -exp(one) / beta, backwards)
    second = _score(loss, alpha, given, -exp(other) / beta, backwards)
    for _ in range(20):
        if first <= second:
            high, other, second = other, one, first
            one = high - _GOLDEN * (high - low)
            first = _score(loss, alpha, given, -exp(one) / beta, backwards)
        else:
            low, one, first = one, other, second
            other = low + _GOLDEN * (high - low)
            second = _score(loss, alpha, given, -exp(other) / beta, backwards)
    return -exp(one if first <= second else other) / beta


@inlined
def _moved_score(
    v: float, loss: float, slope: float, bend: float, beta: float, given: float, u: float, backwards: bool
) -> float:
    """The score at β·e^v, where T·Λ follows from its derivatives."""
    d = expm1(v)
    return _score(max(0.0, loss + d * (loss + slope) + 0.5 * d * d * bend), 1.0 + beta * exp(v), given, u, backwards)


@inlined
def _beside_the_edge(q: float, s: float, steps: float, beta: float, best: float, given: float, back: bool) -> float:
    """The β of the least score, by steps to both sides that shrink; an estimate."""
    size = 0.1
    for _ in range(_TRIALS):
        moved = False
        for side in (-1.0, 1.0):
            trial = (1.0 + beta * exp(side * size)) - 1.0
            value, _, _ = _moments(q, s, 1.0 + trial)
            if steps * value < _TANGENTS:
                u = _tangent(steps * value, 1.0 + trial, given, back)
                here = _score(steps * value, 1.0 + trial, given, u, back)
                if here < best:
                    best, beta, moved = here, trial, True
                    break
        if not moved:
            size *= 0.3
    return beta


@inlined
def _with_tangents(
    q: float, s: float, steps: float, beta: float, given: float, value: float, slope: float, bend: float, back: bool
) -> float:
    """The order at which the bound by tangents is least, from the β of the least bound without them; an estimate.

    Newton's iteration in v = log β for the least value over u, whose derivative in v is the one at the best u.
    """
    v = log(beta)
    low, high = math.log(_LOWEST), math.log(_HIGHEST)
    d = 0.01
    rise = here = math.inf
    best, best_beta = math.inf, beta
    for _ in range(20):
        loss, loss_slope, loss_bend = steps * value, steps * slope, steps * bend
        if loss > _TANGENTS:
            high = v
            step = -0.3
        else:
            u = _tangent(loss, 1.0 + beta, given, back)
            before = _moved_score(-d, loss, loss_slope, loss_bend, beta, given, u, back)
            here = _moved_score(0.0, loss, loss_slope, loss_bend, beta, given, u, back)
            after = _moved_score(d, loss, loss_slope, loss_bend, beta, given, u, back)
            rise, curve = after - before, after - 2.0 * here + before
            if here < best:
                best, best_beta = here, beta
            if not abs(rise) < math.inf:
                break
            if rise > 0.0:
                high = v
            else:
                low = v
            step = -0.5 * d * rise / curve if curve > 0.0 else (-0.3 if rise > 0.0 else 0.3)
            step = min(max(step, -0.3), 0.3)
        new = v + step
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - v) < 1e-3 and abs(rise * (new - v)) < 2.0 * d * 1e-7 * (1.0 if back else abs(here)):
            break
        v = new
        beta = (1.0 + exp(v)) - 1.0
        value, slope, bend = _moments(q, s, 1.0 + beta)
    if value + slope > _STEEP * value:  # next to the edge where the loss shoots up, parabolas do not fit
        best_beta = _beside_the_edge(q, s, steps, best_beta, best, given, back)
    return 1.0 + best_beta


@inlined
def _epsilon(q: float, s: float, steps: float, delta: float) -> tuple[float, float]:
    """ε from above and the order that proves it."""
    if (q == 0.0) | (s == 0.0) | (steps == 0.0) | (delta >= 1.0):
        return 0.0, math.inf
    if delta == 0.0:
        return math.inf, math.inf
    q, near = max(q, SMALLEST_RATE), max(min(s, 1e6), SMALLEST_SHIFT)
    beta, value, slope, bend = _order_for_delta(q, near, steps, -log(delta))
    order = 1.0 + beta
    if steps * value < _TANGENTS:
        order = _with_tangents(q, near, steps, beta, delta, value, slope, bend, False)
    loss = _log_moment(q, s, order) * steps * _UP
    best = _epsilon_plain(loss, order, delta)
    if loss <= 600.0:
        best = min(best, _epsilon_tangents(loss, order, delta, _tangent(loss, order, delta, False)))
    return max(best, 0.0), order


@kernel(types.void, READ, READ, READ, READ, WRITE, WRITE)
def epsilon(rate: Floats, shift: Floats, steps: Floats, delta: Floats, out: Floats, order: Floats) -> None:
    """ε from above and the order that proves it; inputs have the length of `out`, or length 1."""
    for i in range(out.size):
        q, s = rate[i % rate.size], shift[i % shift.size]
        out[i], order[i] = _epsilon(q, s, steps[i % steps.size], delta[i % delta.size])


@inlined
def _order_for_epsilon(q: float, s: float, steps: float, epsilon: float) -> tuple[float, float, float, float]:
    """β with T·Λ′ + log(β/α) = ε, the only minimum of δ, and Λ, βΛ′ − Λ, β²Λ″ there; estimates."""
    low, high = math.log(_LOWEST), math.log(_HIGHEST)
    beta = _first_order(q, s, steps, max(epsilon, 1.0))
    v = log(beta)
    value = slope = bend = 0.0
    for _ in range(80):
        alpha = 1.0 + exp(v)
        beta = alpha - 1.0
        value, slope, bend = _moments(q, s, alpha)
        here = steps * (value + slope) / beta
        wanted = epsilon + log1p(1.0 / beta)
        if here > wanted:
            high = v
        else:
            low = v
        rise = steps * bend / beta
        if not 0.0 < here < 1e300:
            step = -2.0 if here > wanted else 2.0
        else:
            step = log(wanted / here) / (rise / here + 1.0 / (alpha * wanted))
            step = min(max(step, -2.0), 2.0)
        new = v + step
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - v) < 1e-4 and abs(here - wanted) < 0.02 * wanted:
            break
        v = new
    return beta, value, slope, bend


@inlined
def _delta(q: float, s: float, steps: float, epsilon: float) -> tuple[float, float]:
    """δ from above and the order that proves it."""
    if (q == 0.0) | (s == 0.0) | (steps == 0.0) | (epsilon == math.inf):
        return 0.0, math.inf
    epsilon = min(epsilon, _LARGEST_LOSS)
    q, near = max(q, SMALLEST_RATE), max(min(s, 1e6), SMALLEST_SHIFT)
    beta, value, slope, bend = _order_for_epsilon(q, near, steps, epsilon)
    order = 1.0 + beta
    if steps * value < _TANGENTS:
        order = _with_tangents(q, near, steps, beta, epsilon, value, slope, bend, True)
    loss = _log_moment(q, s, order) * steps * _UP
    best = _delta_plain(loss, order, epsilon)
    if loss <= 600.0:
        best = min(best, _delta_tangents(loss, order, epsilon, _tangent(loss, order, epsilon, True)))
    return min(best, 1.0), order


@kernel(types.void, READ, READ, READ, READ, WRITE, WRITE)
def delta(rate: Floats, shift: Floats, steps: Floats, epsilon: Floats, out: Floats, order: Floats) -> None:
    """δ from above and the order that proves it; inputs have the length of `out`, or length 1."""
    for i in range(out.size):
        q, s = rate[i % rate.size], shift[i % shift.size]
        out[i], order[i] = _delta(q, s, steps[i % steps.size], epsilon[i % epsilon.size])
