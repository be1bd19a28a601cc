"""The checker's line integral and its error bounds, each against what the sum and the moments are by mpmath."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import pytest
from mpmath import libmp, mp

from certdp.verification.checker.approximate import contour as contour
from certdp.verification.checker.approximate.factors import DIRECTIONS, REMOVE, Factor
from certdp.verification.checker.approximate.moments import Moments, delta_at_order
from certdp.verification.checker.approximate.nodes import Tilt, grid_for, nodes_on
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.intervals import Arithmetic, Interval
from certdp.verification.checker.verdict import Refused

UNIT = mpmath.mpf(2) ** -contour.BITS
FINE = Arithmetic(256)


@pytest.fixture(autouse=True)
def precisely() -> Iterator[None]:
    with mp.workprec(400):
        yield


def real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def end(value: Any) -> Any:
    return mp.make_mpf(value)


def response_moment(factor: Factor, direction: str, z: Any) -> Any:
    """E_P[e^(z·loss)] of one randomised response on a sample."""
    truthful = 1 / (1 + mpmath.exp(-real(factor.parameter)))
    absent = [1 - truthful, truthful]
    q = real(factor.rate)
    present = [(1 - q) * b + q * a for a, b in zip(absent[::-1], absent, strict=True)]
    first, second = (present, absent) if direction == REMOVE else (absent, present)
    return sum(p * mpmath.exp(z * mpmath.log(p / r)) for p, r in zip(first, second, strict=True))


@cache
def nodes_of(s: Fraction, q: Fraction) -> list[tuple[Any, Any]]:
    """Masses of N(0, 1) at nodes far closer than the checker's, and log(1 − q + q·e^(s(x − s/2))) there."""
    with mp.workprec(200):
        near = 16 + 8 * int(s)
        places = [mpmath.mpf(j) / near for j in range(-near * 20, near * 36)]
        shift, rate = real(s), real(q)
        return [
            (mpmath.npdf(x) / near, mpmath.log(1 - rate + rate * mpmath.exp(shift * (x - shift / 2)))) for x in places
        ]


def gaussian_moment(factor: Factor, direction: str, z: Any) -> Any:
    """The same of Gaussian noise on a sample, by the trapezoid rule."""
    power = z + 1 if direction == REMOVE else -z
    with mp.workprec(200):
        return sum(mass * mpmath.exp(power * loss) for mass, loss in nodes_of(factor.parameter, factor.rate))


def on_the_line(moment: Any, square: Any, epsilon: Any, line: contour.Line, beyond: Any) -> Any:
    """The right-hand side of the formula with as many places, and what stands for the others."""
    c, h = real(line.real_part), real(line.step)

    def term(k: int) -> Any:
        z = mpmath.mpc(c, k * h)
        return moment(z) * mpmath.exp(z * (z + 1) * square / 2 - z * epsilon) / (z * (z + 1))

    inner = term(0).real + 2 * sum(term(k).real for k in range(1, line.places))
    fallen = mpmath.exp(-((h * line.places) ** 2) * square / 2) * beyond
    return h / (2 * mpmath.pi) * (inner + term(0).real * fallen * 2 * c * (c + 1) / (h**2 * (line.places - 1)))


LINES = {
    "plain": contour.Line(Fraction(3, 2), Fraction(2, 5), 40, Fraction(0)),
    "with dither": contour.Line(Fraction(5, 2), Fraction(3, 4), 30, Fraction(1, 9)),
    "two places": contour.Line(Fraction(4), Fraction(1), 2, Fraction(1, 3)),
}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("epsilon", ["1/4", "3"])
@pytest.mark.parametrize("name", LINES)
def test_the_bound_is_the_sum_of_the_formula(name: str, epsilon: str, direction: str) -> None:
    """To within 1e-30: neither a smaller number nor a needlessly larger one."""
    line = LINES[name]
    responses = [
        Factor("pure", Fraction(1, 2), Fraction(1), 1, 3),
        Factor("pure", Fraction(4, 3), Fraction(2, 5), 1, 2),
    ]
    noise = Factor("gaussian", Fraction(1, 4), Fraction(1), 2, 3)
    square = real(line.dither) ** 2 + 6 * mpmath.mpf(1) / 16
    truth = on_the_line(
        lambda z: mpmath.fprod(response_moment(f, direction, z) ** f.samples for f in responses),
        square,
        real(Fraction(epsilon)),
        line,
        1,
    )
    found = end(contour.delta_on_line([*responses, noise], Fraction(epsilon), direction, line, Budget()))
    assert truth <= found <= truth + abs(truth) * mpmath.mpf(10) ** -30


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_bound_of_gaussian_noise_on_samples_is_the_sum_of_the_formula(direction: str) -> None:
    line = contour.Line(Fraction(2), Fraction(3, 4), 32, Fraction(1, 2))  # what is beyond falls below e^-70
    factor = Factor("gaussian", Fraction(5, 4), Fraction(1, 3), 1, 4)
    known = {k: gaussian_moment(factor, direction, mpmath.mpc(2, k * mpmath.mpf(3) / 4)) for k in range(line.places)}
    truth = on_the_line(
        lambda z: known[int(mpmath.nint(z.imag * 4 / 3))] ** 4, mpmath.mpf(1) / 4, mpmath.mpf(1), line, 0
    )
    found = end(contour.delta_on_line([factor], Fraction(1), direction, line, Budget()))
    assert truth <= found <= truth * (1 + mpmath.mpf(10) ** -15)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("shift", "rate"), [("1/2", "1/10"), ("3/2", "1/3"), ("3", "9/10")])
def test_what_lies_beyond_the_line_is_bounded(shift: str, rate: str, direction: str) -> None:
    factor = Factor("gaussian", Fraction(shift), Fraction(rate), 1, 1)
    line = contour.Line(Fraction(2), Fraction(1, 2), 40, Fraction(0))
    tilt = Tilt(direction, line.real_part, line.end)
    grid = grid_for(factor.parameter, tilt)
    nodes = nodes_on(grid, factor.parameter, factor.rate, tilt)
    bound = end(contour._beyond(nodes, factor.parameter, tilt.power, nodes.moment.lo, line))
    at_rest = gaussian_moment(factor, direction, mpmath.mpf(2))
    assert 0 < bound <= 1
    for y in (20, 23, 40):
        assert abs(gaussian_moment(factor, direction, mpmath.mpc(2, y)) / at_rest) <= bound


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("shift", "rate"), [("1/4", "1/50"), ("2", "1/2"), ("5", "1/10")])
def test_the_nodes_enclose_the_moment(shift: str, rate: str, direction: str) -> None:
    factor = Factor("gaussian", Fraction(shift), Fraction(rate), 1, 1)
    for c in (Fraction(1, 3), Fraction(3)):
        tilt = Tilt(direction, c, Fraction(0))
        grid = grid_for(factor.parameter, tilt)
        found = nodes_on(grid, factor.parameter, factor.rate, tilt).moment
        truth = gaussian_moment(factor, direction, real(c))
        assert end(found.lo) * (1 - mpmath.mpf(10) ** -50) <= truth <= end(found.hi) * (1 + mpmath.mpf(10) ** -50)
        assert end(found.hi) / end(found.lo) - 1 < mpmath.mpf(10) ** -25


def test_products_and_powers_are_within_the_errors_they_state() -> None:
    source = random.Random(5)
    for _ in range(200):
        angles = [source.uniform(-3, 3), source.uniform(-3, 3)]
        radius = source.choice([1, 0.5, 1e-20])
        exact = [mpmath.mpc(radius * mpmath.cos(a), radius * mpmath.sin(a)) for a in angles]
        pairs = [(int(z.real / UNIT), int(z.imag / UNIT)) for z in exact]
        kept = [mpmath.mpc(p * UNIT, q * UNIT) for p, q in pairs]
        product = contour._product(*pairs)
        assert abs(mpmath.mpc(product[0] * UNIT, product[1] * UNIT) - kept[0] * kept[1]) <= 2 * UNIT
        for exponent in (0, 1, 2, 3, 7, 64, 1000):
            power = contour._power(pairs[0], exponent)
            wrong = abs(mpmath.mpc(power[0] * UNIT, power[1] * UNIT) - kept[0] ** exponent)
            assert wrong <= 4 * exponent * UNIT, exponent


def test_waves_are_within_the_errors_they_state() -> None:
    turns = [contour._turn(contour._FINE.rational(Fraction(angle))) for angle in ("1/7", "-2", "31/10")]
    weights = [int(Fraction(w) * 2**contour.BITS) for w in ("1/2", "1/3", "1/6")]
    part = contour._Part(weights, turns, 0, Interval(libmp.fzero, libmp.fzero), libmp.fone, 1)
    waves = contour._Waves(part, 300)
    for k in range(1, 300):
        found = waves.advance()
        truth = sum(
            real(Fraction(w)) * mpmath.expj(k * real(Fraction(angle)))
            for w, angle in zip(("1/2", "1/3", "1/6"), ("1/7", "-2", "31/10"), strict=True)
        )
        assert abs(mpmath.mpc(found[0] * UNIT, found[1] * UNIT) - truth) <= (waves.error_at(k) + 4) * UNIT


@pytest.mark.parametrize("angle", ["1000000000000000", "-1000000000000000"])
def test_an_angle_that_takes_too_many_squarings_is_refused(angle: str) -> None:
    with pytest.raises(Refused, match="too uncertain or too large"):
        contour._turn(contour._FINE.rational(Fraction(angle)))


def test_an_uncertain_angle_is_refused() -> None:
    def uncertain_by(width: int) -> Interval:
        """By so many of the last places that a turn is computed with."""
        unit = Fraction(1, 2 ** (contour.BITS + contour._GUARD))
        return Interval(contour._FINE.rational(Fraction(1)).lo, contour._FINE.rational(1 + width * unit).hi)

    assert contour._turn(uncertain_by(2**16)) == contour._turn(uncertain_by(0))
    with pytest.raises(Refused, match="too uncertain or too large"):
        contour._turn(uncertain_by(2**16 + 1))


def test_the_error_of_a_release_is_carried_into_the_sum() -> None:
    """Two parts whose ratios are apart by what one of them states: so are the sums, once for each release."""
    line = contour.Line(Fraction(1000), Fraction(1, 4), 6, Fraction(0))  # every place counts nearly fully
    turns = [contour._turn(contour._FINE.rational(Fraction(angle))) for angle in ("1/50", "-1/7")]
    moved = 1 << (contour.BITS - 40)
    zero = Interval(libmp.fzero, libmp.fzero)

    def summed(weights: tuple[int, int], error: int) -> tuple[int, int]:
        part = contour._Part(list(weights), turns, error, zero, libmp.fone, 9)
        return contour._sum([part], Fraction(0), Fraction(0), line)

    half = contour._ONE // 2
    total, error = summed((half, half), 2 * moved)
    other, own_error = summed((half - moved, half + moved), 0)
    assert own_error < abs(total - other) <= error + own_error


def test_what_weights_lack_by_rounding_is_within_the_error_of_the_sum() -> None:
    """Each of very many weights is a unit short, and no loss is anything: the ratio is 1 at every place."""
    line = contour.Line(Fraction(1000), Fraction(1, 4), 3, Fraction(0))
    many, zero = 20_000, Interval(libmp.fzero, libmp.fzero)
    turns = [contour._turn(contour._FINE.rational(Fraction(0)))] * many
    part = contour._Part([contour._ONE // many - 1] * many, turns, 0, zero, libmp.fone, 1)
    total, error = contour._sum([part], Fraction(0), Fraction(0), line)
    exact, _ = contour._sum([], Fraction(0), Fraction(0), line)
    assert 2 * many < exact - total <= error


@pytest.mark.parametrize("family", ["laplace", "zero-concentrated"])
def test_a_family_whose_loss_is_not_known_has_no_line(family: str) -> None:
    line = LINES["plain"]
    with pytest.raises(Refused, match="not known to the checker"):
        contour.delta_on_line([Factor(family, Fraction(1), Fraction(1), 1, 1)], Fraction(1), REMOVE, line, Budget())
    several = Factor("laplace", Fraction(1), Fraction(1), 2, 1)
    with pytest.raises(Refused, match="not known to the checker"):
        contour.delta_on_line([several], Fraction(1), REMOVE, line._replace(cells=8), Budget())


def drawn_moment(factor: Factor, order: Any) -> Any:
    """A(order) of one release without sampling, in closed form."""
    a, s = order, real(factor.parameter)
    if factor.family == "gaussian":
        return a * (a - 1) * s**2 / 2
    if factor.family == "zero-concentrated":
        return a * (a - 1) * s
    if factor.family == "laplace":
        return mpmath.log(a / (2 * a - 1) * mpmath.exp((a - 1) * s) + (a - 1) / (2 * a - 1) * mpmath.exp(-a * s))
    likely = 1 / (1 + mpmath.exp(-s))
    return mpmath.log(likely**a * (1 - likely) ** (1 - a) + (1 - likely) ** a * likely ** (1 - a))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("order", ["3/2", "2", "7", "41/4"])
@pytest.mark.parametrize("family", ["gaussian", "laplace", "pure", "zero-concentrated"])
def test_log_moments_without_sampling_are_the_closed_forms(family: str, order: str, direction: str) -> None:
    factors = [Factor(family, Fraction(2, 3), Fraction(1), 3, 4), Factor(family, Fraction(1, 5), Fraction(1), 1, 1)]
    truth = sum(f.together * f.samples * drawn_moment(f, real(Fraction(order))) for f in factors)
    found = Moments(FINE).total(factors, Fraction(order), direction)
    tight = abs(truth) * mpmath.mpf(10) ** -60
    assert end(found.lo) - tight <= truth <= end(found.hi) + tight
    assert end(found.hi) - end(found.lo) <= tight


def binomial_moment(factor: Factor, order: int) -> Any:
    """A(order) of releases on a sample for remove, by the sum over how many of `order` factors hold the record."""
    q = real(factor.rate)
    return mpmath.log(
        sum(
            mpmath.binomial(order, k)
            * (1 - q) ** (order - k)
            * q**k
            * mpmath.exp(factor.together * drawn_moment(factor, mpmath.mpf(k)) if k > 1 else mpmath.mpf(0))
            for k in range(order + 1)
        )
    )


@pytest.mark.parametrize("together", [1, 3])
@pytest.mark.parametrize("order", ["2", "3", "12", "9/4", "23/2"])
@pytest.mark.parametrize("family", ["laplace", "pure", "zero-concentrated"])
def test_log_moments_on_samples_are_sums_and_their_chords(family: str, order: str, together: int) -> None:
    """For add of symmetric laws too, of others what two outcomes show; in general at most log(1 − q + q·e^A)."""
    if family == "pure" and together == 1:
        together = 2  # one response is known exactly between whole orders as well
    factor, alpha = Factor(family, Fraction(2, 3), Fraction(1, 5), together, 6), Fraction(order)
    below, above = int(alpha), -int(-alpha // 1)
    share = real(alpha - below)
    low, high = (binomial_moment(factor, k) if k > 1 else mpmath.mpf(0) for k in (below, above))
    summed = (1 - share) * low + share * high
    q = real(factor.rate)
    convex = mpmath.log(1 - q + q * mpmath.exp(together * drawn_moment(factor, real(alpha))))
    apart = mpmath.exp(together * drawn_moment(factor, mpmath.mpf(2)))
    power = 1 - real(alpha)
    two_outcomes = mpmath.log((1 - 1 / apart) * (1 - q) ** power + (1 + q * (apart - 1)) ** power / apart)
    for direction in DIRECTIONS:
        one_sided = direction != REMOVE and family == "zero-concentrated"
        truth = 6 * min(convex, two_outcomes if one_sided else summed)
        found = end(Moments(FINE).total([factor], alpha, direction).hi)
        assert abs(found - truth) <= truth * mpmath.mpf(10) ** -50


@pytest.mark.parametrize("epsilon", ["0", "1/2", "3"])
@pytest.mark.parametrize(("order", "ratio"), [("3/2", "1/2"), ("4", "1/20"), ("33/2", "2")])
def test_delta_at_an_order_is_what_the_touching_points_give(order: str, ratio: str, epsilon: str) -> None:
    a, t, moment = real(Fraction(order)), real(Fraction(ratio)), mpmath.mpf(3) / 4
    threshold = mpmath.exp(real(Fraction(epsilon)))
    least = mpmath.exp(moment) / a * ((a - 1) / (a * threshold)) ** (a - 1)
    # r2 = r1·e^t, and γ = c(a − 1)(r2^a − r1^a) with c = 1/(a(r2^(a−1) − r1^(a−1)))
    r1 = threshold * a / (a - 1) * mpmath.expm1((a - 1) * t) / mpmath.expm1(a * t)
    r2 = r1 * mpmath.exp(t)
    c = 1 / (a * (r2 ** (a - 1) - r1 ** (a - 1)))
    assert abs(c * (a - 1) * (r2**a - r1**a) - threshold) < mpmath.mpf(10) ** -90
    touching = c * (mpmath.exp(moment) + (a - 1) * r1**a - a * r1 ** (a - 1))
    point = Interval(moment._mpf_, moment._mpf_)
    without = delta_at_order(point, Fraction(order), None, Fraction(epsilon), FINE)
    found = delta_at_order(point, Fraction(order), Fraction(ratio), Fraction(epsilon), FINE)
    for interval, truth in ((without, least), (found, min(least, touching))):
        assert end(interval.lo) <= truth * (1 + mpmath.mpf(10) ** -60)
        assert truth * (1 - mpmath.mpf(10) ** -60) <= end(interval.hi) <= truth * (1 + mpmath.mpf(10) ** -60)
