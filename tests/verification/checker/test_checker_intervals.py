"""The checker's interval arithmetic against Arb and exact fractions."""

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import flint
import pytest
from mpmath import libmp

from certdp.verification.checker import intervals
from certdp.verification.checker.approximate.divergences import normal_cdf, normal_density, pi
from certdp.verification.checker.intervals import (
    DOWN,
    FROM_ZERO,
    INFINITY,
    LINE,
    MINUS_INFINITY,
    MINUS_ONE,
    NOTHING,
    ONE,
    TWO,
    UP,
    ZERO,
    Arithmetic,
    Interval,
    Mpf,
    at_most,
    exact,
    floor_in_units,
    holds_zero,
    hull,
    magnitude,
    upper_float,
)
from tests.support.arb_numbers import arb_of
from tests.support.cases import draws

DRAWS = draws(20_000)
PRECISIONS = (53, 96, 128, 333)


def ball(value: Mpf) -> Any:
    sign, mantissa, exponent, _ = value
    return flint.arb(-mantissa if sign else mantissa) * flint.arb(2) ** exponent


def dyadic(source: random.Random, sizes: tuple[int, int], signed: bool, bits: int = 400) -> Mpf:
    mantissa = source.getrandbits(source.choice([1, 20, 53, 128, bits])) | 1
    exponent = source.randint(*sizes) - mantissa.bit_length()
    sign = int(signed and source.random() < 0.5)
    return sign, mantissa, exponent, mantissa.bit_length()


def fraction(value: Mpf) -> Fraction:
    return (-1 if value[0] else 1) * value[1] * Fraction(2) ** value[2]


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], tuple[int, int], bool]] = {
    "exp": (lambda x: x.exp(), (-300, 12), True),
    "expm1": (lambda x: x.expm1(), (-300, 12), True),
    "log": (lambda x: x.log(), (-300, 300), False),
    "log1p": (lambda x: x.log1p(), (-300, 300), False),
    "sqrt": (lambda x: x.sqrt(), (-300, 300), False),
}
WIDEST = {"exp": 3, "expm1": 5.1, "log": 8, "log1p": 10, "sqrt": 1}
"""Relative width at a point, in last bits: at most two for each rounding on the way after the first."""


@pytest.mark.soundness
@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_functions_enclose_what_arb_finds(name: str) -> None:
    compare_with_arb(name, 10 * DRAWS, f"{name}, many", (24, *PRECISIONS, 1088))


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_enclose_what_arb_finds(name: str) -> None:
    compare_with_arb(name, DRAWS, name, PRECISIONS)


def compare_with_arb(name: str, draws: int, seed: str, precisions: tuple[int, ...]) -> None:
    truth, sizes, signed = FUNCTIONS[name]
    source = random.Random(seed)
    tools = [Arithmetic(precision) for precision in precisions]
    for draw in range(draws):
        tool = tools[draw % len(tools)]
        x = dyadic(source, sizes, signed)
        if name.startswith("log") and draw % 3 == 0:  # close to where the logarithm vanishes, from both sides
            offset = dyadic(source, (-300, -1), True, bits=60)
            beside_one = exact(1.0 + math.ldexp((-1) ** offset[0], -source.randint(1, 52)))
            x = offset if name == "log1p" else beside_one
        low, high = getattr(tool, name)(Interval(x, x))
        flint.ctx.prec = tool.precision + 800
        real = truth(ball(x))
        assert ball(low) <= real.upper()
        assert real.lower() <= ball(high)
        assert max(low[3], high[3]) <= tool.precision
        slack = WIDEST[name] * abs(real) * flint.arb(2) ** (1 - tool.precision)
        assert ball(high) - ball(low) <= slack.upper(), (name, fraction(x))


def normal(x: Any) -> Any:
    return (-x / flint.arb(2).sqrt()).erfc() / 2


def density(x: Any) -> Any:
    return (-x * x / 2).exp() / (2 * flint.arb.pi()).sqrt()


@pytest.mark.slow
@pytest.mark.parametrize("draws", [300, pytest.param(20_000, marks=pytest.mark.soundness)])
@pytest.mark.parametrize(("found", "truth"), [(normal_cdf, normal), (normal_density, density)])
def test_the_normal_law_against_arb(found: Callable[..., Interval], truth: Callable[[Any], Any], draws: int) -> None:
    source = random.Random(draws)
    extremes = [exact(value) for value in (0.0, 5e-324, -5e-324, 32.0, -32.0, 33.0, -33.0, 1e3, -1e3, 1e6, -1e6)]
    tools = [Arithmetic(precision) for precision in (64, 128, 192)]
    for draw in range(draws):
        tool = tools[draw % len(tools)]
        x = extremes[draw] if draw < len(extremes) else dyadic(source, (-60, 6), True, bits=80)
        low, high = found(Interval(x, x), tool)
        flint.ctx.prec = 4000
        real = truth(ball(x))
        assert ball(low) <= real.upper()
        assert real.lower() <= ball(high)
        if abs(fraction(x)) <= 32:
            assert ball(high) - ball(low) <= real * flint.arb(2) ** (16 - tool.precision)


@pytest.mark.parametrize("precision", [24, 53, 128, 192, 1088, 4160])
def test_pi_against_arb(precision: int) -> None:
    flint.ctx.prec = precision + 200
    low, high = pi(precision)
    assert ball(low) < flint.arb.pi() < ball(high)
    assert ball(high) - ball(low) <= flint.arb(2) ** (4 - precision)


@pytest.mark.slow
@pytest.mark.parametrize("draws", [2_000, pytest.param(50_000, marks=pytest.mark.soundness)])
def test_rational_powers_against_arb(draws: int) -> None:
    source = random.Random(draws)
    tools = [Arithmetic(precision) for precision in PRECISIONS]
    for draw in range(draws):
        tool = tools[draw % len(tools)]
        base = dyadic(source, (-200, 200), False)
        exponent = Fraction(source.randint(-400, 400), source.choice([1, 2, 3, 7, 1000, 10**9 + 7]))
        low, high = tool.power(Interval(base, base), exponent)
        flint.ctx.prec = tool.precision + 400
        real = ball(base) ** arb_of(exponent)
        assert ball(low) <= real.upper()
        assert real.lower() <= ball(high)
        assert ball(high) - ball(low) <= real * flint.arb(2) ** (32 - tool.precision)


def test_log1p_reaches_its_pole() -> None:
    tool = Arithmetic(128)
    for size in range(1, 300):
        z = Fraction(1, 2**size) - 1
        x = (1, -z.numerator, -size, (-z.numerator).bit_length()) if z else ZERO
        low, high = tool.log1p(Interval(x, x))
        flint.ctx.prec = 600
        real = -size * flint.arb(2).log()
        assert ball(low) <= real.upper()
        assert real.lower() <= ball(high)
    assert tool.log1p(Interval(MINUS_ONE, ONE)).lo == MINUS_INFINITY


@pytest.mark.slow
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_operations_enclose_the_exact_result(name: str) -> None:
    operations: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b,
    }
    source = random.Random(name)
    tools = [Arithmetic(precision) for precision in (24, *PRECISIONS)]
    for draw in range(DRAWS):
        tool = tools[draw % len(tools)]
        sides, points = [], []
        for _ in range(2):
            ends = sorted((dyadic(source, (-200, 200), True) for _ in range(2)), key=fraction)
            low, high = ends if source.random() < 0.7 else (ends[0], ends[0])
            sides.append(Interval(low, high))
            share = Fraction(source.randint(0, 8), 8)
            points.append(fraction(low) + share * (fraction(high) - fraction(low)))
        if name == "divide" and not points[1]:
            continue
        low, high = getattr(tool, name)(*sides)
        assert max(low[3], high[3]) <= tool.precision
        real = operations[name](*points)
        assert low == MINUS_INFINITY or fraction(low) <= real
        assert high == INFINITY or real <= fraction(high)


def test_a_sum_of_a_wide_and_a_narrow_number_is_rounded_outward() -> None:
    # libmp perturbs far summands at the wrong place if a mantissa is wider than the precision
    wide = (0, 2**300 - 2**200 + 1, 0, 300)
    narrow = (0, 2**350 + 1, -151, 351)
    low, high = Arithmetic(64).add(Interval(wide, wide), Interval(narrow, narrow))
    assert fraction(low) <= fraction(wide) + fraction(narrow) <= fraction(high)


@pytest.mark.slow
def test_powers_enclose_the_exact_result() -> None:
    source = random.Random("power")
    tool = Arithmetic(96)
    for _ in range(4000):
        low, high = sorted((dyadic(source, (-20, 20), True, bits=40) for _ in range(2)), key=fraction)
        exponent = source.randint(-6, 6)
        point = fraction(source.choice([low, high]))
        found = tool.power(Interval(low, high), Fraction(exponent))
        assert found.lo == MINUS_INFINITY or fraction(found.lo) <= point**exponent
        assert found.hi == INFINITY or point**exponent <= fraction(found.hi)
        base = dyadic(source, (-20, 20), False, bits=40)
        root = tool.power(Interval(base, base), Fraction(exponent, 2))
        assert root.lo[0] == 0
        assert fraction(root.lo) ** 2 <= fraction(base) ** exponent <= fraction(root.hi) ** 2


def test_a_product_is_the_hull_of_its_corners() -> None:
    """Its ends are found by the signs of the factors."""
    source, tool = random.Random(20), Arithmetic(96)
    ends = [ZERO, ONE, MINUS_ONE, *(dyadic(source, (-40, 40), signed=True) for _ in range(9))]
    sides = [Interval(a, b) for a in [MINUS_INFINITY, *ends] for b in [*ends, INFINITY] if at_most(a, b)]
    for a, b in product(sides, repeat=2):
        corners = [tool.multiply(Interval(x, x), Interval(y, y)) for x in a for y in b]
        assert tool.multiply(a, b) == hull(*corners), (a, b)


def test_wide_arguments_are_taken_at_their_ends() -> None:
    tool = Arithmetic(64)
    side = Interval(exact(-0.5), exact(2.0))
    for name in ("exp", "expm1", "log1p"):
        whole = getattr(tool, name)(side)
        for end in side:
            part = getattr(tool, name)(Interval(end, end))
            assert at_most(whole.lo, part.lo)
            assert at_most(part.hi, whole.hi)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("divide", (NOTHING, NOTHING), LINE),
        ("divide", (Interval(ONE, ONE), Interval(MINUS_ONE, ONE)), LINE),
        ("divide", (Interval(ONE, ONE), Interval(ZERO, ONE)), Interval(ONE, INFINITY)),
        ("divide", (Interval(ONE, ONE), Interval(MINUS_ONE, ZERO)), Interval(MINUS_INFINITY, MINUS_ONE)),
        ("divide", (Interval(ONE, INFINITY), Interval(ONE, INFINITY)), FROM_ZERO),
        ("divide", (Interval(ONE, INFINITY), Interval(ONE, ONE)), Interval(ONE, INFINITY)),
        ("divide", (Interval(ZERO, ONE), Interval(ONE, INFINITY)), Interval(ZERO, ONE)),
        ("divide", (Interval(MINUS_ONE, ONE), Interval(ONE, INFINITY)), Interval(MINUS_ONE, ONE)),
        ("divide", (Interval(ONE, TWO), FROM_ZERO), FROM_ZERO),
        ("divide", (Interval(ONE, TWO), Interval(ZERO, ONE)), Interval(ONE, INFINITY)),
        ("divide", (Interval(ONE, ONE), NOTHING), LINE),
        ("multiply", (NOTHING, LINE), NOTHING),
        ("multiply", (LINE, LINE), LINE),
        ("log", (NOTHING,), LINE),
        ("log", (Interval(ZERO, ONE),), Interval(MINUS_INFINITY, ZERO)),
        ("exp", (LINE,), Interval(ZERO, INFINITY)),
        ("expm1", (LINE,), Interval(MINUS_ONE, INFINITY)),
        ("expm1", (NOTHING,), NOTHING),
        ("log1p", (NOTHING,), NOTHING),
        ("log1p", (Interval(ZERO, INFINITY),), Interval(ZERO, INFINITY)),
        ("sqrt", (Interval(MINUS_ONE, ONE),), Interval(ZERO, ONE)),
        ("sqrt", (Interval(MINUS_ONE, MINUS_ONE),), LINE),
        ("sqrt", (Interval(ZERO, INFINITY),), Interval(ZERO, INFINITY)),
    ],
)
def test_ends_of_the_line(name: str, arguments: tuple[Interval, ...], expected: Interval) -> None:
    assert getattr(Arithmetic(128), name)(*arguments) == expected


def test_enormous_arguments_stay_enclosed() -> None:
    tool = Arithmetic(64)
    large = (0, 1, 70, 1)
    low, high = tool.exp(Interval(large, large))
    assert high == INFINITY
    assert low != INFINITY
    assert tool.exp(tool.negate(Interval(large, large))).lo == ZERO
    assert at_most(tool.log(Interval(low, high)).lo, large)


def test_large_exponents_are_as_tight_as_small_ones() -> None:
    source = random.Random("large")
    for precision in PRECISIONS:
        tool = Arithmetic(precision)
        for size in (13, 30, 50, 63, 64):
            x = dyadic(source, (size, size), True)
            for name in ("exp", "expm1"):
                low, high = getattr(tool, name)(Interval(x, x))
                flint.ctx.prec = precision + 800
                real = FUNCTIONS[name][0](ball(x))
                assert ball(low) <= real.upper()
                assert real.lower() <= ball(high)
                assert ball(high) - ball(low) <= WIDEST[name] * abs(real).upper() * flint.arb(2) ** (1 - precision)


@pytest.mark.parametrize("name", ["exp", "expm1"])
def test_from_2_to_the_64_on_an_exponential_is_only_known_to_be_large(name: str) -> None:
    tool, beyond = Arithmetic(128), (0, 1, 64, 1)
    function = getattr(tool, name)
    half = (0, 1, 63, 1)
    near_half, near = (libmp.mpf_sub(value, ONE, 128, "n") for value in (half, beyond))
    low, high = (function(Interval(x, x)).hi for x in (near_half, near))
    found = function(Interval(beyond, beyond))
    assert at_most(low, found.lo)
    assert at_most(found.lo, function(Interval(half, half)).lo)
    assert found.hi == INFINITY != high
    assert at_most(function(Interval(half, half)).hi, function(Interval(near, near)).lo)


def test_positive_exponents_are_rounded_once() -> None:
    """But for one in hundreds, where the sum lies so close to a number of these bits that it may be either side."""
    source = random.Random("once")
    for precision in PRECISIONS:
        tool, apart = Arithmetic(precision), 0
        for draw in range(300):
            x = dyadic(source, [(1, 1), (1, 64), (64, 64)][draw % 3], signed=False)
            low, high = tool.exp(Interval(x, x))
            apart += libmp.mpf_sub(high, low) != (0, 1, magnitude(low) - precision, 1)
        assert apart <= 6


@pytest.mark.parametrize("precision", [24, 53, 128, 1088, 4160])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_as_tight_at_many_bits(name: str, precision: int) -> None:
    truth, _, signed = FUNCTIONS[name]
    source, tool = random.Random(f"{name} {precision}"), Arithmetic(precision)
    for size in (-5, -2, -1, 0, 1, 2, 6):
        x = dyadic(source, (size, size), signed)
        low, high = getattr(tool, name)(Interval(x, x))
        flint.ctx.prec = precision + 800
        real = truth(ball(x))
        assert ball(low) <= real.upper()
        assert real.lower() <= ball(high)
        assert ball(high) - ball(low) <= WIDEST[name] * abs(real).upper() * flint.arb(2) ** (1 - precision)


@pytest.mark.parametrize(
    ("precision", "reach"), [(24, 4), (53, 4), (64, 5), (128, 6), (192, 8), (256, 10), (1088, 20), (4160, 40)]
)
def test_series_are_summed_where_it_takes_least(precision: int, reach: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many bits below 1 was measured; an argument is halved, and a root is taken, as often as that needs."""
    halved: list[int] = []
    roots: list[int] = []

    def grown(x: int, point: int, halvings: int, up: bool) -> int:
        halved.append(halvings)
        return x

    def isqrt(value: int) -> int:
        roots.append(value)
        return math.isqrt(value)

    monkeypatch.setattr(intervals, "_grown", grown)
    tool = Arithmetic(precision)
    assert tool._reach == reach
    monkeypatch.setattr(intervals, "math", SimpleNamespace(isqrt=isqrt))
    for size in (-reach - 2, -reach - 1, -reach, 1 - reach, -1, 0):
        x = (0, 1, size - 1, 1)
        tool._expm1_positive(x, DOWN)
        assert halved.pop() == max(0, size + reach)
        tool._log1p_positive(x, UP)
        assert len(roots) == max(0, size + reach // 2)
        roots.clear()


class Sharp(Arithmetic):
    """Divides and adds with many more bits, so that only the rounding of the series is left to see."""

    def _divide(self, a: Mpf, b: Mpf, rounding: str) -> Mpf:
        quotient: Mpf = libmp.mpf_div(a, b, self.precision + 600, rounding)
        return quotient

    def _add(self, a: Mpf, b: Mpf, rounding: str) -> Mpf:
        total: Mpf = libmp.mpf_add(a, b, self.precision + 600, rounding)
        return total


SERIES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], tuple[int, int]]] = {
    "_twice_artanh": (lambda s: s.expm1(), lambda z: z.log1p(), (-30, -1)),
    "_log1p_positive": (lambda s: s.expm1(), lambda z: z.log1p(), (-4, -1)),
    "_expm1_positive": (lambda s: s.log1p(), lambda x: x.expm1(), (-30, 0)),
    "_exp_from_one": (lambda s: s.log(), lambda x: x.exp(), (4, 70)),
}
"""By the name of the method: what gives the argument of a value, what the value is, and sizes of values."""


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", SERIES)
def test_a_series_is_rounded_outward_beside_a_short_number(name: str, precision: int) -> None:
    """What is just above a number of so many bits is not rounded up to that number, nor what is just below down."""
    inverse, _, sizes = SERIES[name]
    source, tool = random.Random(precision), Sharp(precision)
    for _ in range(30):
        short = dyadic(source, sizes, False, bits=precision - 1)
        if short[3] > precision:
            continue
        flint.ctx.prec = 4 * precision + 2000
        near = inverse(ball(short))
        unit = flint.arb(2) ** (-precision - 500)
        for side, rounding in ((1, "c"), (-1, "f")):
            mantissa, exponent = (near + side * near * unit).mid().man_exp()
            x = libmp.from_man_exp(int(mantissa), int(exponent))
            found = getattr(tool, name)(x, rounding)
            assert side * (fraction(found) - fraction(short)) > 0


@pytest.mark.parametrize("precision", [24, 53, 128, 1088, 4160])
@pytest.mark.parametrize("name", SERIES)
def test_a_series_is_rounded_once(name: str, precision: int) -> None:
    """But for one in hundreds, whose bounds before that lie on two sides of a number of these bits."""
    inverse, truth, sizes = SERIES[name]
    source, tool = random.Random(f"{name} {precision}"), Sharp(precision)
    draws, apart = (300, 0) if precision < 1000 else (20, 0)
    for _ in range(draws):
        flint.ctx.prec = precision + 800
        short = dyadic(source, (max(sizes[0], -3), min(sizes[1], 12)), False, bits=precision - 1)
        mantissa, exponent = inverse(ball(short)).mid().man_exp()
        x = libmp.mpf_pos(libmp.from_man_exp(int(mantissa), int(exponent)), precision, "n")
        low, high = (getattr(tool, name)(x, rounding) for rounding in ("f", "c"))
        value = truth(ball(x))
        assert ball(low) <= value.upper()
        assert value.lower() <= ball(high)
        apart += libmp.mpf_sub(high, low) != (0, 1, magnitude(low) - precision, 1)
    assert apart <= draws // 50


class OfRoots(Arithmetic):
    """Stops where the series of a logarithm would begin."""

    def _twice_artanh(self, z: Mpf, rounding: str) -> Mpf:
        return z


@pytest.mark.parametrize("precision", [24, *PRECISIONS, 4160])
def test_roots_on_the_way_to_a_logarithm_are_rounded_outward(precision: int) -> None:
    source, tool = random.Random(precision), OfRoots(precision)
    for _ in range(60):
        z = dyadic(source, (-2, 0), signed=False, bits=precision)
        roots = magnitude(z) + tool._reach // 2
        flint.ctx.prec = precision + 800
        truth = ((1 + ball(z)) ** (flint.arb(2) ** -roots) - 1) * flint.arb(2) ** roots
        low, high = (ball(tool._log1p_positive(z, rounding)) for rounding in (DOWN, UP))
        assert low <= truth.upper()
        assert truth.lower() <= high
        assert high - low <= truth * flint.arb(2) ** (-precision - 8)


@pytest.mark.parametrize("signs", [(a, b) for a in (1, -1) for b in (1, -1)])
def test_a_quotient_of_unbounded_ranges_holds_all_that_it_may_be(signs: tuple[int, int]) -> None:
    tool = Arithmetic(64)
    beyond_one = [Interval(ONE, INFINITY), tool.negate(Interval(ONE, INFINITY))]
    a, b = (beyond_one[sign < 0] for sign in signs)
    low, high = tool.divide(a, b)
    positive = signs[0] == signs[1]
    assert (low, high) == ((ZERO, INFINITY) if positive else (MINUS_INFINITY, ZERO))


@pytest.mark.parametrize("value", [0.0, 5e-324, 0.75, 1.0, 3.5, 2.0**60, 1.7e308])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_whole_number_of_units_is_a_floor(value: float, sign: int) -> None:
    for point in (-70, -2, -1, 0, 1, 2, 70, 1200):
        assert floor_in_units(exact(sign * value), point) == math.floor(Fraction(sign * value) * Fraction(2) ** point)


def test_how_many_bits_a_number_has_before_its_point() -> None:
    for value, size in ((0.75, 0), (1.0, 1), (-1.0, 1), (3.0, 2), (-0.25, -1), (2.0**-1000, -999)):
        assert magnitude(exact(value)) == size
    assert magnitude(ZERO) == -math.inf
    assert magnitude(INFINITY) == magnitude(MINUS_INFINITY) == math.inf


ENDS = [MINUS_INFINITY, exact(-2.5), MINUS_ONE, ZERO, exact(0.75), TWO, INFINITY]
RANGES = [Interval(a, b) for a, b in product(ENDS[:-1], ENDS[1:]) if at_most(a, b)]


def of_floats(value: Mpf) -> float:
    return float(libmp.to_float(value))


def test_what_holds_zero() -> None:
    for side in RANGES:
        low, high = map(of_floats, side)
        assert holds_zero(side) is (low <= 0 <= high)


@pytest.mark.parametrize(("name", "truth"), [("minimum", min), ("maximum", max)])
def test_the_smaller_and_the_larger_of_two_have_the_ends_of_theirs(name: str, truth: Callable[..., float]) -> None:
    for a, b in product(RANGES, repeat=2):
        found = getattr(Arithmetic(64), name)(a, b)
        assert tuple(map(of_floats, found)) == tuple(
            truth(of_floats(x), of_floats(y)) for x, y in zip(a, b, strict=True)
        )


def test_a_choice_is_that_of_its_order_where_it_is_proven_and_either_elsewhere() -> None:
    one, other = Interval(exact(5.0), exact(6.0)), Interval(exact(-6.0), exact(-5.0))
    for a, b in product(RANGES, repeat=2):
        (a_low, a_high), (b_low, b_high) = (map(of_floats, side) for side in (a, b))
        expected = one if a_high <= b_low else hull(one, other) if a_low <= b_high else other
        assert Arithmetic(64).select(a, b, one, other) == expected


def test_a_root_of_what_is_not_above_zero() -> None:
    tool = Arithmetic(64)
    for exponent in (Fraction(1, 2), Fraction(7, 3)):
        assert tool.power(Interval(MINUS_ONE, ZERO), exponent) == NOTHING
        assert tool.power(Interval(MINUS_INFINITY, MINUS_ONE), exponent) == LINE
        assert tool.power(Interval(MINUS_ONE, ONE), exponent) == Interval(ZERO, ONE)


@pytest.mark.parametrize("value", [INFINITY, MINUS_INFINITY])
def test_what_is_infinite_has_no_whole_part(value: Mpf) -> None:
    with pytest.raises(ValueError, match="infinite"):
        floor_in_units(value, 10)


def test_the_least_float_above_a_number() -> None:
    largest = Fraction(2**1024 - 2**971)
    half_a_step = Fraction(2**970)
    for value, expected in (
        (Fraction(0), 0.0),
        (Fraction(1, 3), math.nextafter(1 / 3, 1)),
        (Fraction(1, 10), 0.1),
        (Fraction(3, 8), 0.375),
        (Fraction(1, 2**1074), 5e-324),
        (Fraction(1, 2**1080), 5e-324),
        (largest, float(largest)),
        (largest + half_a_step / 2, math.inf),  # rounds down to a float
        (largest + half_a_step, math.inf),
        (Fraction(2**2000), math.inf),
    ):
        assert upper_float(value) == expected
