"""The checker's interval arithmetic against Arb and exact fractions."""

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import pytest
from mpmath import libmp

from certdp.verification.checker.approximate.divergences import normal_cdf, normal_density, pi
from certdp.verification.checker.intervals import (
    INFINITY,
    LINE,
    MINUS_INFINITY,
    MINUS_ONE,
    NOTHING,
    ONE,
    ZERO,
    Arithmetic,
    Interval,
    Mpf,
    at_most,
    exact,
    hull,
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
        slack = abs(real) * flint.arb(2) ** (8 - tool.precision)
        assert ball(high) - ball(low) <= slack, (name, fraction(x))


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
        ("divide", (Interval(ONE, INFINITY), Interval(ONE, INFINITY)), Interval(ZERO, INFINITY)),
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
        for size in (13, 30, 50, 63):
            x = dyadic(source, (size, size), True)
            for name in ("exp", "expm1"):
                low, high = getattr(tool, name)(Interval(x, x))
                flint.ctx.prec = precision + 800
                real = FUNCTIONS[name][0](ball(x))
                assert ball(low) <= real.upper()
                assert real.lower() <= ball(high)
                assert ball(high) - ball(low) <= abs(real) * flint.arb(2) ** (8 - precision)


class Sharp(Arithmetic):
    """Divides and adds with many more bits, so that only the rounding of the series is left to see."""

    def _divide(self, a: Mpf, b: Mpf, rounding: str) -> Mpf:
        quotient: Mpf = libmp.mpf_div(a, b, self.precision + 600, rounding)
        return quotient

    def _add(self, a: Mpf, b: Mpf, rounding: str) -> Mpf:
        total: Mpf = libmp.mpf_add(a, b, self.precision + 600, rounding)
        return total


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_series_is_rounded_outward_beside_a_short_number(precision: int) -> None:
    """What is just above a number of so many bits is not rounded up to that number, nor what is just below down."""
    source, tool = random.Random(precision), Sharp(precision)
    for _ in range(30):
        short = dyadic(source, (-30, -1), False, bits=precision - 1)
        if short[3] > precision:
            continue
        flint.ctx.prec = 4 * precision + 2000
        near = ball(short).expm1()
        unit = flint.arb(2) ** (-precision - 500)
        for side, rounding in ((1, "c"), (-1, "f")):
            mantissa, exponent = (near + side * near * unit).mid().man_exp()
            z = libmp.from_man_exp(int(mantissa), int(exponent))
            found = tool._twice_artanh(z, rounding)
            assert side * (fraction(found) - fraction(short)) > 0


@pytest.mark.parametrize("signs", [(a, b) for a in (1, -1) for b in (1, -1)])
def test_a_quotient_of_unbounded_ranges_holds_all_that_it_may_be(signs: tuple[int, int]) -> None:
    tool = Arithmetic(64)
    beyond_one = [Interval(ONE, INFINITY), tool.negate(Interval(ONE, INFINITY))]
    a, b = (beyond_one[sign < 0] for sign in signs)
    low, high = tool.divide(a, b)
    positive = signs[0] == signs[1]
    assert (low, high) == ((ZERO, INFINITY) if positive else (MINUS_INFINITY, ZERO))
