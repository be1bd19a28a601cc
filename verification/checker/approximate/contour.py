"""Delta of composed releases from the moments of the privacy loss, on a line in the complex plane.

Legend: M(z) = E_P[e^(z·loss)] of one release, c > 0 the real part of z, y its imaginary part, h the step of y,
z_k = c + ikh, phi(y) = M(c + iy)/M(c), |phi| <= 1, S the sum of the losses, delta(eps) = E[(1 - e^(eps - S))+].

The contour. For Re z > 0 the integral of e^(zx)(1 - e^(x - S))+ over x is e^(zS)/(z(z + 1)). So by Poisson's formula
(h/2pi)·sum over k of M(z_k)e^(-z_k·eps)/(z_k(z_k + 1)) = sum over m of e^(c·m·2pi/h)·delta(eps + m·2pi/h), whose terms
are all at least 0: the left side bounds delta(eps) = (m = 0) from above, for every c > 0 and h > 0. The terms
|k| >= K are, against k = 0, at most 2T·c(c + 1)/(h²(K - 1)) where |phi| <= T beyond Kh, as |z(z + 1)| >= y².

Dither. One more release, of Gaussian noise with a small shift, dominates the run; it makes |phi| fall.

Moments. For a Gaussian release M(z) = e^(z(z+1)s²/2); on a sample see `nodes`, where f, B, s and q
are, about several records `mixtures`. For others it is a sum over the outcomes of a finite pair, see `finite`.

|phi| beyond Y. For any x0 the part x < x0 of the integral is at most its mass; the rest, integrated by parts with
dL/dx = s·rho, L = log B, rho = q·e^w/B, is at most V/Y, V the variation of F = f/(s·rho) on x >= x0, from 0. As
d log F/dx = (g + 1)s·rho - x - s is a logistic function less a line, F has at most two maxima: V <= 4·sup F. The
slope of the logistic function is (g + 1)s²·rho(1 - rho): where that is below 1, as it is for (g + 1)s² < 4 and as
far as rho <= 1/((g + 1)s²), there is one maximum, and V <= 2·sup F; what lies beyond counts with its mass.

Numbers are whole multiples of 2^-BITS with a bound of their error in these units, so that nothing depends on libraries.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import lcm
from operator import mul
from typing import Final, NamedTuple

from mpmath import libmp

from ..budget import Budget
from ..intervals import NOTHING, ONE, UP, ZERO, Arithmetic, Interval, Mpf, at_most, floor_in_units
from ..verdict import Refused
from .allocation import epoch_of
from .batches import cases
from .divergences import pi
from .factors import ALLOCATED, GAUSSIAN, MIXTURE, REMOVE, SHUFFLED, SYMMETRISED, Factor
from .finite import Outcome, outcomes, outcomes_of
from .mixtures import beyond_of_mixture, grid_for_mixture, mixture_of, nodes_of_mixture, price_of_grid, price_of_nodes
from .nodes import NODE, Nodes, Tilt, grid_for, moment_of, nodes_on, shift_of
from .shuffled import shuffled_outcomes
from .symmetrised import lost_beyond, price_of_symmetrised, symmetrised_outcomes

MOST_PLACES: Final = 50_000
_PLACE: Final = 25_000
_POWER: Final = 10_000
_WAVE: Final = 20
"""For a place on the line; for a part's power there; for one of its nodes there."""
BITS: Final = 144
_ONE: Final = 1 << BITS
_GUARD: Final = 64
_REACH: Final = 32
_SLOT: Final = 2 * BITS + 8
"""Bits, whole bytes, that a sum of products has beside others: it is at most 1 in size, but for its error."""
_SLOT_BYTES: Final = _SLOT // 8
_HALF: Final = 1 << (_SLOT - 1)
_FINE: Final = Arithmetic(256)
_COARSE: Final = Arithmetic(64)
_UNIT: Final = Interval(ONE, ONE)

Complex = tuple[int, int]
"""Real and imaginary part in units of 2^-BITS."""


def _never_beyond(_: Mpf) -> Mpf:
    """Bound |phi| by 1."""
    return ONE


class Line(NamedTuple):
    """Where the moments are taken: c, h, the places, the shift of the dither, the cells of Laplace noise."""

    real_part: Fraction
    step: Fraction
    places: int
    dither: Fraction
    cells: int = 0

    @property
    def end(self) -> Fraction:
        """The imaginary part from which on the terms are bounded together."""
        return self.step * self.places


class _Places(NamedTuple):
    """What a law's moments are made of: masses under the line's tilt, and the losses in the direction asked for.

    The sum over the nodes differs from M, c and elsewhere on the line, by at most rule·M(c) + left_out; `beyond` bounds
    |phi| from the line's end on, given a lower bound of M(c). `lost` bounds what the law has at infinity beside.
    """

    masses: Sequence[Interval]
    losses: Sequence[Interval]
    rule: Interval = NOTHING
    left_out: Interval = NOTHING
    beyond: Callable[[Mpf], Mpf] = _never_beyond
    lost: Interval = NOTHING

    @property
    def total(self) -> Interval:
        """Enclose the sum of the masses."""
        total = NOTHING
        for mass in self.masses:
            total = _FINE.add(total, mass)
        return total


class _Part(NamedTuple):
    """One release on the line.

    `weights` are those of the nodes, in units, and add up to at most 1; `turns` are e^(i·h·loss) there. `error` bounds
    how far the ratio of the sums is from phi, in units beside those of the arithmetic; `log_moment` encloses log M(c),
    `beyond` bounds |phi| from the line's end on; `lost` what the release has at infinity.
    """

    weights: list[int]
    turns: list[Complex]
    error: int
    log_moment: Interval
    beyond: Mpf
    times: int
    lost: Interval = NOTHING


def delta_on_line(factors: Sequence[Factor], epsilon: Fraction, direction: str, line: Line, budget: Budget) -> Mpf:
    """Bound delta(epsilon) from above."""
    square = line.dither**2
    parts = []
    budget.spend(_PLACE * line.places)
    for factor in factors:
        if factor.family == GAUSSIAN and not factor.sampled:
            square += factor.parameter**2 * factor.together * factor.samples
            continue
        budget.spend(_POWER * line.places)
        parts.append(_part(factor, direction, line, budget))
    square = _FINE.above(square)  # a short number: a larger shift loses more
    c, h = line.real_part, line.step
    total, error = _sum(parts, square, epsilon, line)
    exponent = _FINE.rational(c * (c + 1) * square / 2 - c * epsilon)
    falling = _FINE.rational(-(line.end**2) * square / 2)
    for part in parts:
        times = _FINE.rational(Fraction(part.times))
        exponent = _FINE.add(exponent, _FINE.multiply(times, part.log_moment))
        falling = _FINE.add(falling, _FINE.multiply(times, _FINE.log(Interval(part.beyond, part.beyond))))
    left = _FINE.rational(2 * c * (c + 1) / (h**2 * (line.places - 1)))
    cut = _FINE.multiply(left, _FINE.exp(falling))
    value = _FINE.add(_FINE.rational(Fraction(total + error, _ONE)), cut)
    scale = _FINE.divide(_FINE.rational(h / (c * (c + 1))), _FINE.multiply(_FINE.rational(Fraction(2)), pi(256)))
    found = _FINE.multiply(_FINE.multiply(value, scale), _FINE.exp(exponent))
    for part in parts:
        found = _FINE.add(found, _FINE.multiply(_FINE.rational(Fraction(part.times)), part.lost))
    bound = found.hi
    return bound if at_most(ZERO, bound) else ZERO


class _Waves:
    """The weighted sums of e^(ik·angle) over a release's nodes, for k = 1, 2, and so on.

    k = am + j with m = 2r + 1 and |j| <= r. Cosines and sines of j·angle follow u(j + 1) = 2cos(angle)·u(j) - u(j - 1).
    A step is wrong by at most 3 units, for its own rounding and that of the cosine; an error made i steps ago counts
    |sin(i·angle)/sin(angle)| <= i times. So each is within e = 2(r + 1)(r + 2) units for 0 <= j <= r + 1. The product
    of the turns r and r + 1 is within 4e + 4; applied a times to a weight w, it leaves w·e^(iam·angle) wrong by at most
    a(w(4e + 4) + 3). Products of these with cosines and sines are exact: those of a node are one number, j in the j-th
    slot, so that one product serves all j. As weights add up to at most 1, sums over N nodes are within
    a(4e + 4 + 3N) + 2e + 2 units.
    """

    def __init__(self, part: _Part, places: int) -> None:
        """Take the turns of the nodes up to r + 1."""
        self.reach = reach = min(_REACH, places)
        self._cosines: list[int] = []
        self._sines: list[int] = []
        self._far_turns: list[Complex] = []
        for turn in part.turns:
            doubled, turns = 2 * turn[0], [(_ONE, 0), turn]
            for _ in range(reach):
                (c, s), (d, t) = turns[-2:]
                turns.append((((doubled * d) >> BITS) - c, ((doubled * t) >> BITS) - s))
            self._cosines.append(_packed([cosine for cosine, _ in turns[:-1]]))
            self._sines.append(_packed([sine for _, sine in turns[:-1]]))
            self._far_turns.append(_product(turns[-2], turns[-1]))
        self._bias = _halves(reach + 1)
        self._far = [(weight, 0) for weight in part.weights]
        self._sums = self._all()

    def error_at(self, k: int) -> int:
        """Bound, in units, how far the sum at k is from what it stands for."""
        far, wrong = (k + self.reach) // (2 * self.reach + 1), 2 * (self.reach + 1) * (self.reach + 2)
        return far * (4 * wrong + 4 + 3 * len(self._far)) + 2 * wrong + 2

    def advance(self) -> Complex:
        """Give the sum at the next k, whose error has to be small."""
        return next(self._sums)

    def _all(self) -> Iterator[Complex]:
        yield from self._around()[self.reach + 1 :]
        while True:
            self._far = [_product(turn, far) for turn, far in zip(self._far_turns, self._far, strict=True)]
            yield from self._around()

    def _around(self) -> list[Complex]:
        """The sums at am - r to am + r."""
        real, imaginary = [far[0] for far in self._far], [far[1] for far in self._far]
        each = [self._slots(far, near) for far in (real, imaginary) for near in (self._cosines, self._sines)]
        before, after = [], []
        for cc, cs, sc, ss in zip(*each, strict=True):
            before.append(((cc + ss) >> BITS, (sc - cs) >> BITS))
            after.append(((cc - ss) >> BITS, (sc + cs) >> BITS))
        return before[:0:-1] + after

    def _slots(self, far: list[int], near: list[int]) -> Iterator[int]:
        """The sum of the products, slot by slot."""
        size = _SLOT_BYTES
        held = (sum(map(mul, far, near)) + self._bias).to_bytes(size * (self.reach + 1), "little")
        return (int.from_bytes(held[j : j + size], "little") - _HALF for j in range(0, len(held), size))


def _packed(values: list[int]) -> int:
    """One number with a value in each slot, which holds it with its sign."""
    held = b"".join([(value + _HALF).to_bytes(_SLOT_BYTES, "little") for value in values])
    return int.from_bytes(held, "little") - _halves(len(values))


def _halves(slots: int) -> int:
    """One number with half of what a slot holds in each slot."""
    return int.from_bytes(_HALF.to_bytes(_SLOT_BYTES, "little") * slots, "little")


def _sum(parts: Sequence[_Part], square: Fraction, epsilon: Fraction, line: Line) -> tuple[int, int]:
    """Give the sum over |k| < places of c(c+1)/(z(z+1))·phi^n·e^(-iy·eps), and a bound of its error, in units."""
    c, h = line.real_part, line.step
    one = lcm(c.denominator, h.denominator)  # whole multiples of 1/one: a fraction would be reduced at each place
    real_part, step = int(c * one), int(h * one)
    at_start = real_part * (real_part + one)
    turn = _turn(_FINE.rational(h * ((2 * c + 1) * square / 2 - epsilon)))
    rotation = (_ONE, 0)
    waves = [_Waves(part, line.places) for part in parts]
    total, error = _ONE, 0
    for k in range(1, line.places):
        rotation = _product(rotation, turn)
        y = k * step
        real, imaginary = at_start - y**2, y * (2 * real_part + one)
        scale, square_size = at_start * _ONE, real**2 + imaginary**2
        term = _product(rotation, (scale * real // square_size, -scale * imaginary // square_size))
        wrong = 4 * k + 8
        if square:
            fallen = _FINE.exp(_FINE.rational(-((k * h) ** 2) * square / 2))
            term = _product(term, (_units(fallen.lo), 0))
            wrong += 8
        for part, wave in zip(parts, waves, strict=True):
            own = part.error + wave.error_at(k) + 4 * len(part.weights) + 4
            if own * part.times > _ONE >> 8:
                raise Refused("the moments are too uncertain for so many releases")
            term = _product(term, _power(wave.advance(), part.times))
            wrong += 2 * part.times * own + 4 * part.times + 4
        total += 2 * term[0]
        error += 3 * wrong  # every modulus is at most 1 but for its own small error, so errors add
    return total, error


def _part(factor: Factor, direction: str, line: Line, budget: Budget) -> _Part:
    """Place the nodes of a factor, of the mean of the cases that its releases may be in."""
    found, times = cases(factor, budget), factor.samples
    laws = [_PLACES_OF.get(case.factor.family, _finite)(case.factor, direction, line, budget) for case in found]
    if len(found) == 1:
        return _one_law(laws[0], line, times)
    masses: list[Interval] = []
    losses: list[Interval] = []
    rule = left_out = lost = beyond = NOTHING
    for (chance, _), law in zip(found, laws, strict=True):
        masses += [_FINE.multiply(chance, mass) for mass in law.masses]
        losses += law.losses
        rule = _FINE.maximum(rule, law.rule)
        left_out = _FINE.add(left_out, _FINE.multiply(chance, law.left_out))
        lost = _FINE.add(lost, _FINE.multiply(chance, law.lost))
        moment = _moment(law, law.total)
        share = law.beyond(moment.lo)
        beyond = _FINE.add(beyond, _FINE.multiply(_FINE.multiply(chance, moment), Interval(share, share)))

    def share_beyond(mass: Mpf) -> Mpf:
        share = _FINE.divide(beyond, Interval(mass, mass)).hi
        return share if at_most(share, ONE) else ONE

    return _one_law(_Places(masses, losses, rule, left_out, share_beyond, lost), line, times)


def _one_law(law: _Places, line: Line, times: int) -> _Part:
    """Give what is kept of a law on the line."""
    weights, turns, missed, total = _placed(law.masses, law.losses, line)
    hidden = _FINE.add(law.rule, _FINE.divide(law.left_out, total))
    if not at_most(hidden.hi, _FINE.rational(Fraction(1, 100)).lo):
        raise Refused("the moments could not be verified with nodes that far apart")
    mass = _moment(law, total)
    error = missed if hidden == NOTHING else 3 * (_units(hidden.hi) + 1) + missed
    return _Part(weights, turns, error, _FINE.log(mass), law.beyond(mass.lo), times, law.lost)


def _moment(law: _Places, total: Interval) -> Interval:
    """Enclose M(c), from the sum over the nodes."""
    return moment_of(total, law.rule, law.left_out)


def _placed(
    masses: Sequence[Interval], losses: Sequence[Interval], line: Line
) -> tuple[list[int], list[Complex], int, Interval]:
    """Give weights and turns of nodes with these masses under the line's tilt, and the sum of the masses.

    A weight is rounded down from what it is at least; by how much they may all be too small is counted, in units.
    Nodes whose weight is below a unit are left out.
    """
    total = NOTHING
    for mass in masses:
        total = _FINE.add(total, mass)
    weights, turns, missed = [], [], 0
    step = _FINE.rational(line.step)
    for mass, loss in zip(masses, losses, strict=True):
        share = _FINE.divide(mass, total)
        weight = _units(share.lo)
        missed += _units(share.hi if at_most(share.hi, ONE) else ONE) + 1 - weight
        if weight:
            weights.append(weight)
            turns.append(_turn(_FINE.multiply(step, loss)))
    return weights, turns, missed, total


def _towards(losses: Sequence[Interval], direction: str) -> list[Interval]:
    """Give the losses in a direction: of adding a record they are those of removing it, negated."""
    return list(losses) if direction == REMOVE else [_FINE.negate(loss) for loss in losses]


def _tilted(found: Sequence[Outcome], power: Fraction) -> list[Interval]:
    """Give the masses of outcomes times their ratios to a power."""
    at = _FINE.rational(power)
    return [_FINE.multiply(mass, _FINE.exp(_FINE.multiply(at, loss))) for mass, loss in found]


def _finite(factor: Factor, direction: str, line: Line, budget: Budget) -> _Places:
    """Place the outcomes of a finite pair."""
    budget.spend(outcomes_of(factor, line.cells) * (_WAVE * line.places + NODE))
    found = outcomes(factor, line.cells, _FINE)
    masses = _tilted(found, Tilt(direction, line.real_part, line.end).power)
    return _Places(masses, _towards([loss for _, loss in found], direction))


def _symmetrised(factor: Factor, direction: str, line: Line, budget: Budget) -> _Places:
    """Place the outcomes about a place of a batch that changes hands; it has one law for both directions."""
    outcomes_most = line.cells + 2 * factor.together + 3
    budget.spend(price_of_symmetrised(factor, line.cells) + outcomes_most * (_WAVE * line.places + NODE))
    found = symmetrised_outcomes(factor, line.cells, _FINE)
    masses = _tilted(found, Tilt(REMOVE, line.real_part, line.end).power)
    return _Places(masses, [loss for _, loss in found], lost=lost_beyond(factor, _FINE))


def _shuffled(factor: Factor, direction: str, line: Line, budget: Budget) -> _Places:
    """Place the outcomes of shuffled answers, which have one law for both directions."""
    budget.spend(2 * line.cells * (_WAVE * line.places + NODE))
    found, lost = shuffled_outcomes(factor, line.cells, budget)
    masses = _tilted(found, Tilt(REMOVE, line.real_part, line.end).power)
    return _Places(masses, [loss for _, loss in found], lost=lost)


def _allocated(factor: Factor, direction: str, line: Line, budget: Budget) -> _Places:
    """Place the outcomes of an epoch of batches, one of which a record enters."""
    epoch = epoch_of(factor, line.cells, budget)
    budget.spend(len(epoch.outcomes) * (_WAVE * line.places + NODE))
    masses = _tilted(epoch.outcomes, Tilt(direction, line.real_part, line.end).power)
    losses = _towards([loss for _, loss in epoch.outcomes], direction)
    return _Places(masses, losses, lost=epoch.over if direction == REMOVE else epoch.under)


def _sampled_gaussian(factor: Factor, direction: str, line: Line, budget: Budget) -> _Places:
    """Place the nodes of the trapezoid rule."""
    shift, tilt = shift_of(factor), Tilt(direction, line.real_part, line.end)
    grid = grid_for(shift, tilt)
    budget.spend(grid.size * (_WAVE * line.places + NODE))
    nodes = nodes_on(grid, shift, factor.rate, tilt)
    losses = _towards(nodes.losses, direction)

    def beyond(mass: Mpf) -> Mpf:
        return _beyond(nodes, shift, tilt.power, mass, line)

    return _Places(nodes.masses, losses, grid.rule, grid.left_out, beyond)


def _mixture(factor: Factor, direction: str, line: Line, budget: Budget) -> _Places:
    """Place the nodes of the trapezoid rule about several records; replaced, they have one law for both directions."""
    mixture = mixture_of(factor)
    direction = REMOVE if mixture.replaced else direction
    tilt = Tilt(direction, line.real_part, line.end)
    budget.spend(price_of_grid(mixture))
    grid = grid_for_mixture(mixture, tilt)
    budget.spend(grid.size * _WAVE * line.places + price_of_nodes(mixture, grid))
    nodes = nodes_of_mixture(grid, mixture, tilt)

    def beyond(mass: Mpf) -> Mpf:
        return beyond_of_mixture(nodes, mixture, tilt, mass)

    return _Places(nodes.masses, _towards(nodes.losses, direction), grid.rule, grid.left_out, beyond)


_PLACES_OF: Final = {
    GAUSSIAN: _sampled_gaussian,
    MIXTURE: _mixture,
    SYMMETRISED: _symmetrised,
    ALLOCATED: _allocated,
    SHUFFLED: _shuffled,
}
"""What places the nodes of a family; those of others are outcomes."""


def _beyond(
    nodes: Nodes,
    shift: Fraction,
    power: Fraction,
    mass: Mpf,
    line: Line,
) -> Mpf:
    """Bound |phi| from the line's end on, by the best x0 of the nodes."""

    def upper(a: Mpf, b: Mpf) -> Mpf:
        product: Mpf = libmp.mpf_mul(a, b, 64, UP)
        return product

    tops = [
        upper(_larger(d.hi, e.hi), _larger(p.hi, r.hi))
        for (d, e), (p, r) in zip(pairwise(nodes.densities), pairwise(nodes.powers), strict=True)
    ]  # phi0 and B^g are monotone between nodes, 0 being a node
    grid, ratios = nodes.grid, nodes.ratios
    step = _COARSE.rational(grid.step).hi
    masses = [upper(top, step) for top in tops]
    below = list(accumulate(masses, _plus, initial=grid.left_out.hi))
    slopes = [upper(top, ratio.hi) for top, ratio in zip(tops, ratios, strict=False)]  # 1/rho falls
    steep = _COARSE.rational((power + 1) * shift**2)
    flat = sum(at_most(steep.hi, ratio.lo) for ratio in ratios)
    best = ONE
    for last, maxima in ((len(tops), 1 if (power + 1) * shift**2 < 4 else 2), (max(flat - 1, 0), 1)):
        beyond = ZERO if last == len(tops) else grid.left_out.hi
        for mass_of_cell in masses[last:]:
            beyond = _plus(beyond, mass_of_cell)
        variation = _COARSE.rational(2 * maxima / (shift * line.end)).hi
        highest = ZERO
        for j in range(last - 1, -1, -1):
            highest = _larger(highest, slopes[j])
            outside = _plus(below[j], beyond)
            bound = libmp.mpf_div(_plus(outside, upper(variation, highest)), mass, 64, UP)
            best = bound if at_most(bound, best) else best
    return best


def _larger(a: Mpf, b: Mpf) -> Mpf:
    return b if at_most(a, b) else a


def _plus(a: Mpf, b: Mpf) -> Mpf:
    total: Mpf = libmp.mpf_add(a, b, _FINE.precision, UP)  # which no mantissa here exceeds, as that sum needs
    return total


# Whole multiples of 2^-BITS.


def _units(value: Mpf) -> int:
    """Give a number in units, rounded down."""
    return floor_in_units(value, BITS)


def _product(a: Complex, b: Complex) -> Complex:
    """Multiply two fixed-point complex numbers, within 2 units."""
    (p, q), (r, s) = a, b
    return (p * r - q * s) >> BITS, (p * s + q * r) >> BITS


def _power(base: Complex, exponent: int) -> Complex:
    """Raise to a whole power, within 4·exponent units for a modulus of at most 1 + 1/(256·exponent)."""
    result, square = (_ONE, 0), base
    while exponent:
        if exponent & 1:
            result = _product(result, square)
        exponent >>= 1
        if exponent:
            square = _product(square, square)
    return result


def _turn(angle: Interval) -> Complex:
    """Give e^(i·angle) within 1 unit: a Taylor series at a small part of the angle, squared back."""
    fine = BITS + _GUARD
    low, high = floor_in_units(angle.lo, fine), floor_in_units(angle.hi, fine)
    if high - low > 2**16 or abs(low) >> (fine + 24):
        raise Refused("an angle on the contour is too uncertain or too large")
    halvings = max(0, abs(low).bit_length() - fine + 6)
    small = low >> halvings
    term, k = 1 << fine, 0
    sums = [term, 0, 0, 0]  # of the terms small^k/k!, by k mod 4: i^k is 1, i, -1, -i
    while abs(term) > 1:
        k += 1
        term = ((term * small) >> fine) // k
        sums[k % 4] += term
    cosine, sine = sums[0] - sums[2], sums[1] - sums[3]
    for _ in range(halvings):
        cosine, sine = (cosine**2 - sine**2) >> fine, (2 * cosine * sine) >> fine
    return cosine >> _GUARD, sine >> _GUARD
