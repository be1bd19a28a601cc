"""Normal noise about the sum of several records, some of which are drawn, or which others take the place of.

Legend: of k records each is drawn with the rate q and moves the output by s; a_j = C(k, j)q^j(1 - q)^(k-j), B(x) = sum
of a_j·e^(w_j), w_j = jsx - (js)²/2, S = ks, m = B'/B. P = sum of a_j·N(js, 1) has the density ratio B to Q = N(0, 1),
or B(x)/B(-x) to its mirror image, the Q of replaced records (`changes`). B rises, 0 <= m <= S, and m rises.

One release. B, or B(x)/B(-x), rises from below e^eps to above it at one t, and delta(eps) = P(x > t) - e^eps·Q(x > t);
an enclosure of t is found by halving. For add it is N(0, 1)(x < t) - e^eps·P(x < t), with B(t) = e^-eps.

Moments, as in `nodes`. M(z) is the integral of f = phi0·B^g, g = z + 1 for remove and -z for add; of replaced records
that of f = phi0·B(x)^(z+1)·B(-x)^(-z). At x + ib with |Sb| < pi all terms of B lie in a cone of the angle |Sb|: it is
off the negative axis, |arg B| <= |Sb|, and B(x)·cos(Sb/2) <= |B(x + ib)| <= B(x). So N = M(c)·e^(b²/2 + |y||Sb|), of
replaced records with 2|y||Sb|, and where B has a negative power times cos(Sb/2)^-c. Nodes left out: B <= 1 for x <= 0,
B >= 1 for x >= S/2; B <= e^(w_k) for x >= S, B >= e^(w_k) for x <= 0 and B >= a_0 everywhere. So f is at most phi0 on
one side; on the other phi0·e^(g·w_k), of replaced records times a_0^-c or e^(-c·w_k(-x)), whichever is known better.
From there inward, what is left out between two whole numbers is at most f at the worst of both ends, factor by factor.

|phi| beyond Y. Where the loss L rises by L' per x, integration by parts bounds the integral of f·e^(iyL) over an
interval by (V + F at both ends)/Y, F = f/L', V its variation; elsewhere the mass counts. L' is m(x), or m(x) + m(-x);
L'' is m'(x), or m'(x) - m'(-x), and m' = n - m², n the mean of (js)² whose variance m' is. |F'| is
F·|d log f/dx - L''/L'|, with d log f/dx = g·m(x) + c·m(-x) - x, the second term of replaced records alone. m and n
rise, so that ends of cells bound all of them.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil, comb, isqrt
from typing import Final, NamedTuple

from mpmath import libmp

from ..intervals import NOTHING, ONE, ZERO, Arithmetic, Interval, Mpf, at_most
from ..verdict import Refused
from .divergences import normal_cdf, normal_density, pi
from .factors import REMOVE, Factor
from .nodes import LEFT, MOST_NODES, NATS, NODE, Grid, Tilt, shift_of, tail

TERM: Final = 3_000
"""What one more number of records drawn takes from a budget, at each node."""
_FINE: Final = Arithmetic(256)
_COARSE: Final = Arithmetic(64)
_UNIT: Final = Interval(ONE, ONE)
_HALVINGS: Final = 112
_DOUBLINGS: Final = 12
_NEAR: Final = Fraction(1, 2**96)
_CLOSED_FORM: Final = 13_000_000
"""For one value of the normal distribution function."""
_EXPONENTIALS: Final = 10_000
_FARTHEST: Final = 4096
_LEAST: Final = Arithmetic(64).rational(Fraction(1, 2**100)).lo
_INWARD: Final = 1_500
"""For one term of B, at one whole number."""


class Mixture(NamedTuple):
    """One release: s, the probabilities a_j that j of the records are drawn, and whether others replace them."""

    shift: Fraction
    chances: tuple[Fraction, ...]
    replaced: bool

    @property
    def whole(self) -> Fraction:
        """How far all records move the output."""
        return self.shift * (len(self.chances) - 1)


def mixture_of(factor: Factor) -> Mixture:
    """Give the law of the releases on one sample."""
    k, q = factor.change.records, factor.rate
    return Mixture(
        shift_of(factor),
        tuple(comb(k, j) * q**j * (1 - q) ** (k - j) for j in range(k + 1)),
        factor.change.replaced,
    )


# One release.


def price_of_one(factor: Factor) -> int:
    """Give what `delta_of_mixture` takes from a budget."""
    return (factor.change.records + 1) * (2 * _CLOSED_FORM + 2 * (_HALVINGS + 2 * _DOUBLINGS) * _EXPONENTIALS)


def delta_of_mixture(factor: Factor, epsilon: Fraction, direction: str) -> Interval:
    """Bound delta(epsilon) of one release from above; the upper end counts."""
    mixture = mixture_of(factor)
    adds = direction != REMOVE and not mixture.replaced
    level = _FINE.rational(-epsilon if adds else epsilon)
    if adds and at_most(_FINE.exp(level).hi, _FINE.rational(mixture.chances[0]).lo):
        return NOTHING
    below, above = _crossing(mixture, level)
    growth = _FINE.exp(_FINE.rational(epsilon))
    if adds:
        first, second = normal_cdf(_FINE.rational(above), _FINE), _below(mixture, below)
    else:
        first = _below(mixture, -below, mirrored=True)
        second = _below(mixture, -above) if mixture.replaced else normal_cdf(_FINE.rational(-above), _FINE)
    return _FINE.maximum(_FINE.subtract(first, _FINE.multiply(growth, second)), NOTHING)


def _below(mixture: Mixture, x: Fraction, *, mirrored: bool = False) -> Interval:
    """Enclose the mass of P below x, or of its mirror image."""
    total = NOTHING
    for j, chance in enumerate(mixture.chances):
        moved = j * mixture.shift
        mass = normal_cdf(_FINE.rational(x + moved if mirrored else x - moved), _FINE)
        total = _FINE.add(total, _FINE.multiply(_FINE.rational(chance), mass))
    return total


def _crossing(mixture: Mixture, level: Interval) -> tuple[Fraction, Fraction]:
    """Give two numbers close to each other, between which the loss passes a level."""

    def loss(x: Fraction) -> Interval:
        up = _density(mixture, x)
        return _FINE.log(_FINE.divide(up, _density(mixture, -x)) if mixture.replaced else up)

    reach = Fraction(ceil(mixture.whole) + 1)
    low, high = -reach, reach
    for _ in range(_DOUBLINGS):
        if at_most(level.hi, loss(high).lo):
            break
        high *= 2
    else:
        raise Refused("epsilon lies too far out to tell where the densities cross")
    for _ in range(_DOUBLINGS):
        if at_most(loss(low).hi, level.lo):
            break
        low *= 2
    else:
        raise Refused("epsilon lies too close to the least loss to tell where the densities cross")
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        value = loss(middle)
        if at_most(value.hi, level.lo):
            low = middle
        elif at_most(level.hi, value.lo):
            high = middle
        else:  # it is here, or as near as is not told apart
            low, high = middle - _NEAR, middle + _NEAR
            if at_most(loss(low).hi, level.lo) and at_most(level.hi, loss(high).lo):
                return low, high
            raise Refused("where the densities cross is not told apart")
    return low, high


def _density(mixture: Mixture, x: Fraction) -> Interval:
    """Enclose B(x)."""
    total = NOTHING
    for term in _terms(mixture, x, _FINE):
        total = _FINE.add(total, term)
    return total


# Moments.


class _Local(NamedTuple):
    """About B at a place: its logarithm, m and n."""

    logarithm: Interval
    rise: Interval
    square: Interval


_NO_LOCAL: Final = _Local(NOTHING, NOTHING, NOTHING)


class Nodes(NamedTuple):
    """What the integrand is made of at each node: phi0, the power of B, L, and B at x and at -x."""

    grid: Grid
    densities: list[Interval]
    powers: list[Interval]
    losses: list[Interval]
    forward: list[_Local]
    mirrored: list[_Local]
    masses: list[Interval]


def price_of_grid(mixture: Mixture) -> int:
    """Give what choosing the nodes takes from a budget."""
    return 2 * _FARTHEST * _INWARD * len(mixture.chances)


def price_of_nodes(mixture: Mixture, grid: Grid) -> int:
    """Give what evaluating the nodes takes from a budget."""
    terms = len(mixture.chances) * (2 if mixture.replaced else 1)
    return grid.size * (2 * NODE + TERM * terms)


def grid_for_mixture(mixture: Mixture, tilt: Tilt) -> Grid:
    """Choose the nodes, and bound the errors against M(c) >= 1."""
    whole, c = mixture.whole, tilt.real_part
    if whole > LEFT:
        raise Refused("the moments of so large a shift on a sample are not known to the checker")
    adds = tilt.direction != REMOVE and not mixture.replaced
    high = min(Fraction(8), Fraction(5, 2) / whole)
    turned = tilt.end * whole * high * (2 if mixture.replaced else 1)
    falls = adds or mixture.replaced
    wanted = (NATS + high**2 / 2 + turned + (Fraction(8, 5) * c if falls else 0)) / (6 * high)
    fineness = int(wanted) + 1
    step = Fraction(1, fineness)
    far, centre, grown = min(_sides(mixture, c, adds=adds))
    if far > _FARTHEST:
        raise Refused("the moments could not be verified within the work budget")
    beyond = _FINE.multiply(_FINE.exp(_FINE.rational(grown)), tail(far - centre, step))
    far, beyond = _nearer(mixture, c, far, beyond, adds=adds)
    if (far + LEFT) * fineness > MOST_NODES:
        raise Refused("the moments could not be verified within the work budget")
    first, last = (-far, LEFT) if adds else (-LEFT, far)
    size = _FINE.exp(_FINE.rational(high**2 / 2 + turned))
    if falls:
        # cos(u) >= 1 - u²/2 > 0 for the u = whole·high/2 <= 5/4
        size = _FINE.divide(size, _FINE.power(_FINE.rational(1 - (whole * high / 2) ** 2 / 2), c))
    reach = _FINE.multiply(_FINE.rational(2 * high / step), pi(256))
    rule = _FINE.divide(_FINE.multiply(_FINE.rational(Fraction(2)), size), _FINE.expm1(reach))
    left_out = _FINE.add(beyond, tail(Fraction(LEFT), step))
    return Grid(step, first * fineness, last * fineness, rule, left_out)


def _nearer(mixture: Mixture, c: Fraction, far: int, beyond: Interval, *, adds: bool) -> tuple[int, Interval]:
    """Leave out further nodes while hardly anything is lost: how far to go, and what all nodes beyond add up to."""
    times, exp, rational = _COARSE.multiply, _COARSE.exp, _COARSE.rational
    shifts = [j * mixture.shift for j in range(len(mixture.chances))]
    inward = [exp(rational(-d)) for d in shifts], [exp(rational(d)) for d in shifts]
    sides = [_terms(mixture, Fraction(far), _COARSE), _terms(mixture, Fraction(-far), _COARSE)]
    outer, inner = rational(c + 1), rational(-c)
    while far > LEFT:
        exponent = rational(Fraction(-((far - 1) ** 2), 2))
        if not adds:
            exponent = _COARSE.add(exponent, times(outer, _COARSE.log(_total(sides[0]))))
        if adds or mixture.replaced:
            exponent = _COARSE.add(exponent, times(inner, _COARSE.log(_total(sides[1]))))
        grown = _COARSE.add(beyond, exp(exponent))
        if not at_most(grown.hi, _LEAST):
            break
        far, beyond = far - 1, grown
        sides = [list(map(times, terms, steps)) for terms, steps in zip(sides, inward, strict=True)]
    return far, beyond


def _terms(mixture: Mixture, x: Fraction, arithmetic: Arithmetic) -> list[Interval]:
    """Enclose a_j·e^(w_j) at a place."""
    found = []
    for j, chance in enumerate(mixture.chances):
        moved = j * mixture.shift
        grown = arithmetic.exp(arithmetic.rational(moved * (x - moved / 2)))
        found.append(arithmetic.multiply(arithmetic.rational(chance), grown))
    return found


def _total(terms: Sequence[Interval]) -> Interval:
    """Enclose B from its terms."""
    total = NOTHING
    for term in terms:
        total = _COARSE.add(total, term)
    return total


def _sides(mixture: Mixture, c: Fraction, *, adds: bool) -> Iterator[tuple[int, Fraction, Fraction]]:
    """Give how far to go to the side on which f is large, and beyond it f <= e^grown·phi0(|x| - centre)."""
    square = mixture.whole**2
    if adds:
        ways = [(c, c * (c + 1) * square / 2)]
    elif mixture.replaced:
        undrawn = mixture.chances[0]
        # -log a_0 <= 1/a_0 - 1 is enough where a_0 is near 1
        ways = [(c + 1, c * (c + 1) * square / 2 + c * (1 / undrawn - 1)), (2 * c + 1, 2 * c * (c + 1) * square)]
    else:
        ways = [(c + 1, c * (c + 1) * square / 2)]
    for times, grown in ways:
        centre = times * mixture.whole
        far = ceil(centre) + isqrt(int(2 * (NATS + grown))) + 2 + ceil(mixture.whole)
        yield far, centre, grown


def nodes_of_mixture(grid: Grid, mixture: Mixture, tilt: Tilt) -> Nodes:
    """Evaluate at the nodes of a grid.

    From node to node the terms of B grow by e^(js·step), and those of B(-x) fall so; the density as in `nodes`.
    """
    times, exp, rational = _FINE.multiply, _FINE.exp, _FINE.rational
    c, step = tilt.real_part, rational(grid.step)
    power = rational(c + 1 if mixture.replaced else tilt.power)
    x = grid.first * grid.step
    shifts = [j * mixture.shift for j in range(len(mixture.chances))]
    up, down = (_terms(mixture, y, _FINE) for y in (x, -x))
    growths, falls = ([exp(rational(sign * d * grid.step)) for d in shifts] for sign in (1, -1))
    density = normal_density(rational(x), _FINE)
    falling, faster = exp(rational(-(x + grid.step / 2) * grid.step)), exp(rational(-(grid.step**2)))
    moved = [rational(d) for d in shifts]
    nodes = Nodes(grid, [], [], [], [], [], [])
    for _ in range(grid.size):
        here = _local(up, moved)
        loss, exponent = here.logarithm, times(power, here.logarithm)
        nodes.forward.append(here)
        if mixture.replaced:
            back = _local(down, moved)
            exponent = _FINE.subtract(exponent, times(rational(c), back.logarithm))
            loss = _FINE.subtract(loss, back.logarithm)
            nodes.mirrored.append(back)
            down = list(map(times, down, falls))
        tilted = exp(exponent)
        nodes.losses.append(loss)
        nodes.densities.append(density)
        nodes.powers.append(tilted)
        nodes.masses.append(times(step, times(density, tilted)))
        up = list(map(times, up, growths))
        density, falling = times(density, falling), times(falling, faster)
    return nodes


def _local(terms: Sequence[Interval], moved: Sequence[Interval]) -> _Local:
    """Enclose log B, m and n; the last two, of which little is asked, at a low precision."""
    total, rise, square = NOTHING, NOTHING, NOTHING
    for term, shift in zip(terms, moved, strict=True):
        total = _FINE.add(total, term)
        part = _COARSE.multiply(term, shift)
        rise, square = _COARSE.add(rise, part), _COARSE.add(square, _COARSE.multiply(part, shift))
    return _Local(_FINE.log(total), _COARSE.divide(rise, total), _COARSE.divide(square, total))


def beyond_of_mixture(nodes: Nodes, mixture: Mixture, tilt: Tilt, mass: Mpf) -> Mpf:
    """Bound |phi| from the tilt's end on: the mass of some cells, and the variation over the others.

    The latter are those farther out, where the loss rises more steeply: on one side, or on both of replaced records.
    """
    grid, cells = nodes.grid, list(_cells(nodes, mixture, tilt))
    places = [2 * (grid.first + number) + 1 for number in range(len(cells))]
    order = sorted(range(len(cells)), key=lambda number: abs(places[number]) if mixture.replaced else places[number])
    below = list(accumulate((cells[number].mass for number in order), _COARSE.add, initial=grid.left_out))
    per = _COARSE.rational(1 / tilt.end)
    # F at the outer ends, and at the inner one of each side, which is not the same on both
    inner = {False: NOTHING, True: NOTHING}
    told, best = _COARSE.add(cells[0].top if mixture.replaced else NOTHING, cells[-1].top), ONE
    for rank in range(len(order) - 1, -1, -1):
        cell = cells[order[rank]]
        told = _COARSE.add(told, cell.variation)
        inner[mixture.replaced and places[order[rank]] < 0] = cell.top
        varied = _COARSE.add(told, _COARSE.add(inner[False], inner[True]))
        bound = _COARSE.add(below[rank], _COARSE.multiply(per, varied))
        share = _COARSE.divide(bound, Interval(mass, mass)).hi
        best = share if at_most(share, best) else best
    return best


class _Cell(NamedTuple):
    """Between two nodes, from above: the mass, F, and its variation."""

    mass: Interval
    top: Interval
    variation: Interval


def _cells(nodes: Nodes, mixture: Mixture, tilt: Tilt) -> Iterator[_Cell]:
    grid, add, times = nodes.grid, _COARSE.add, _COARSE.multiply
    step, c = _COARSE.rational(grid.step), _COARSE.rational(tilt.real_part)
    power = _COARSE.rational(tilt.real_part + 1 if mixture.replaced else tilt.power)
    backward = nodes.mirrored if mixture.replaced else [_NO_LOCAL] * grid.size
    for number, (
        (d, e),
        (p, r),
        (low, high),
        (high_back, low_back),
    ) in enumerate(
        zip(
            pairwise(nodes.densities),
            pairwise(nodes.powers),
            pairwise(nodes.forward),
            pairwise(backward),
            strict=True,
        )
    ):
        # phi0 and the power of B are monotone between nodes, 0 being a node
        height = times(_COARSE.maximum(d, e), _COARSE.maximum(p, r))
        rise, back = Interval(low.rise.lo, high.rise.hi), Interval(low_back.rise.lo, high_back.rise.hi)
        least = add(rise, back).lo
        left, right = (_COARSE.rational((grid.first + place) * grid.step) for place in (number, number + 1))
        grown = add(times(power, rise), times(c, back))
        bent = _COARSE.divide(Interval(_curve(low_back, high_back).lo, _curve(low, high).hi), Interval(least, least))
        slope = _COARSE.subtract(grown, add(Interval(left.lo, right.hi), bent))
        size = _COARSE.maximum(slope, _COARSE.negate(slope))
        top = _COARSE.divide(height, Interval(least, least))
        mass = times(step, height)
        yield _Cell(_above(mass), _above(top), _above(times(times(step, top), size)))


def _curve(low: _Local, high: _Local) -> Interval:
    """Enclose m' and -m' between two nodes."""
    most = _COARSE.subtract(Interval(high.square.hi, high.square.hi), _COARSE.multiply(low.rise, low.rise)).hi
    return Interval(libmp.mpf_neg(most), most)


def _above(value: Interval) -> Interval:
    """Give the upper end alone, which bounds what is at least 0."""
    return Interval(value.hi, value.hi) if at_most(ZERO, value.hi) else NOTHING
