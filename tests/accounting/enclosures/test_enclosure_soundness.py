"""Every function against Arb: many draws each, none outside, all tight."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import flint
import pytest

from certdp.accounting.enclosures import Enclosure, _ends, _series
from certdp.accounting.enclosures.enclosure import _make
from tests.support.cases import draws

DRAWS = draws(100_000)
PRECISIONS = (24, 53, 96, 96, 96, 160, 400)
LOST_BITS = 8
FINEST = 4600  # bits at which sums of binary64 numbers are exact and binary64's neighbours of 1 are told apart

Dyadic = tuple[int, int]


def bit_pattern(draw: random.Random, bits: int) -> Dyadic:
    """A finite binary64 number, all exponents alike, cut to `bits`."""
    exponent = draw.randrange(2047)
    man = draw.getrandbits(52) | (bool(exponent) << 52)
    man, exponent = (man, max(exponent, 1) - 1075) if bits >= 53 else (man >> 53 - bits, exponent - 1022 - bits)
    return draw.choice((man, -man)), exponent


def near_zero(draw: random.Random, bits: int) -> Dyadic:
    man = draw.getrandbits(draw.randint(1, bits))
    return draw.choice((man, -man)), draw.randint(-1074, 3) - man.bit_length()


def moderate(draw: random.Random, bits: int) -> Dyadic:
    man = draw.getrandbits(bits)
    return draw.choice((man, -man)), draw.randint(-8, 40) - bits


def near_one(draw: random.Random, bits: int) -> Dyadic:
    """±1 plus a number of log-uniform size."""
    places = draw.randint(1, bits - 1)
    man = (1 << places) + draw.choice((1, -1)) * draw.getrandbits(draw.randint(1, places))
    return draw.choice((man, -man)), -places


KINDS = (bit_pattern, near_zero, moderate, near_one)


def dyadics(draw: random.Random, bits: int, count: int) -> Iterator[Dyadic]:
    return (draw.choice(KINDS)(draw, bits) for _ in range(count))


def below_2_to_62(value: Dyadic) -> bool:
    return value[0].bit_length() + value[1] <= 62


def positive(value: Dyadic) -> bool:
    return value[0] > 0


def above_minus_one(value: Dyadic) -> bool:
    return value[0] >= 0 or (value[0].bit_length() + value[1] <= 0)


def anywhere(value: Dyadic) -> bool:
    return True


def point(value: Dyadic, bits: int) -> Enclosure:
    raw = _ends.scaled(*value, 0, _ends.DOWN)
    return _make(raw, raw, bits)


def arb_ends(enclosure: Enclosure) -> tuple[Any, Any]:
    return flint.arb(_ends.integers(enclosure._lower)), flint.arb(_ends.integers(enclosure._upper))


def assert_sound(enclosure: Enclosure, oracle: Callable[[], Any], bits: int, shift: int = 0) -> None:
    """The oracle's value plus `shift` is proven inside at some precision; the enclosure is tight."""
    low, high = arb_ends(enclosure)
    for oracle_bits in (2 * bits + 80, FINEST):
        flint.ctx.prec = oracle_bits
        value = oracle()
        if low + shift <= value and value <= high + shift:
            break
    else:
        pytest.fail(f"not proven inside: {enclosure} at {bits} bits, oracle {value}")
    (man, exponent), (other, other_exponent) = map(_ends.integers, (enclosure._lower, enclosure._upper))
    if (man, exponent) == (other, other_exponent):
        return
    assert man
    assert other
    least = min(exponent, other_exponent)
    man, other = man << (exponent - least), other << (other_exponent - least)
    assert (other - man) << (bits - LOST_BITS) <= min(abs(man), abs(other)), f"wide: {enclosure} at {bits} bits"


UNARY: dict[str, Callable[[Dyadic], bool]] = {
    "exp": below_2_to_62,
    "expm1": below_2_to_62,
    "log": positive,
    "log1p": above_minus_one,
    "sqrt": lambda value: value[0] >= 0,
}


@pytest.fixture(autouse=True)
def _own_oracle_precision() -> Iterator[None]:
    before = flint.ctx.prec
    yield
    flint.ctx.prec = before


@pytest.mark.slow
@pytest.mark.parametrize("name", UNARY)
def test_function_of_a_point_encloses_arb(name: str, stream: int) -> None:
    draw = random.Random(f"{name} against Arb, {stream}")
    function, admits = getattr(Enclosure, name), UNARY[name]
    tried = 0
    while tried < DRAWS:
        bits = draw.choice(PRECISIONS)
        for value in dyadics(draw, bits, 500):
            if not admits(value):
                value = abs(value[0]), value[1]
                if not admits(value) or not value[0]:
                    continue
            tried += 1
            made = function(point(value, bits))
            # e**x − 1 near −1: compare e**x instead, which Arb tells from 0 at any precision
            deep = name == "expm1" and value[0] < 0 and value[0].bit_length() + value[1] > 5
            oracle = "exp" if deep else name
            assert_sound(made, getattr(flint.arb(value), oracle), bits, shift=int(deep))


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": lambda one, other: one / other,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_on_points_encloses_arb(name: str, stream: int) -> None:
    draw = random.Random(f"{name} against Arb, {stream}")
    operation = OPERATIONS[name]
    tried = 0
    while tried < DRAWS:
        bits, other_bits = draw.choice(PRECISIONS), draw.choice(PRECISIONS)
        for one, other in zip(dyadics(draw, bits, 500), dyadics(draw, other_bits, 500), strict=True):
            if name == "/" and not other[0]:
                continue
            tried += 1
            made = operation(point(one, bits), point(other, other_bits))
            first, second = flint.arb(one), flint.arb(other)
            assert_sound(made, lambda: operation(first, second), made.precision)  # noqa: B023


def exponents(draw: random.Random) -> Fraction:
    """Integers, broken binary, decimal and tiny exponents of either sign."""
    sign = draw.choice((1, -1))
    match draw.randrange(4):
        case 0:
            return Fraction(sign * draw.randint(0, 2 ** draw.randint(1, 20)))
        case 1:
            return Fraction(sign * draw.getrandbits(12), 2 ** draw.randint(0, 12))
        case 2:
            return Fraction(sign * draw.randint(0, 10**4), 10 ** draw.randint(0, 6))
        case _:
            return Fraction(sign * draw.uniform(0.5, 1) * 2.0 ** draw.randint(-200, 10))


def assert_exact_power(base: Enclosure, order: Fraction, made: Enclosure) -> None:
    """base**numerator = made**denominator, part by part."""
    (man, exponent), (root, root_exponent) = _ends.integers(base._lower), _ends.integers(made._lower)
    upper, lower = abs(order.numerator), order.denominator
    assert abs(man) <= 1 or 0 <= order <= 5000
    sign = 1 if man > 0 or order.numerator % 2 == 0 else -1
    assert root**lower == sign * abs(man) ** upper if man else root == (order == 0)
    assert root_exponent * lower == exponent * order.numerator


@pytest.mark.slow
def test_power_of_a_point_encloses_arb(stream: int) -> None:
    draw = random.Random(f"power against Arb, {stream}")
    tried = 0
    while tried < DRAWS:
        bits = draw.choice(PRECISIONS)
        for man, exponent in dyadics(draw, bits, 500):
            order = exponents(draw)
            if order <= 0 and not man:
                continue
            if order.denominator != 1:
                man = abs(man)
            tried += 1
            made = point((man, exponent), bits).power(order)
            if made.is_point:  # Arb's powers are not exact, and would leave a point undecided
                assert_exact_power(point((man, exponent), bits), order, made)
                continue
            base, index = flint.arb((abs(man), exponent)), flint.fmpq(*order.as_integer_ratio())
            sign = -1 if man < 0 and order.numerator % 2 else 1
            assert_sound(made, lambda: sign * base**index, bits)  # noqa: B023


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in UNARY if name != "sqrt"])
def test_brackets_hold_before_they_are_rounded_outward(name: str, stream: int) -> None:
    """Rounding to the precision asked for would hide a remainder that is too small."""
    draw = random.Random(f"{name} brackets, {stream}")
    function, admits = getattr(_series, name), UNARY[name]
    for _ in range(200):
        bits = draw.choice(PRECISIONS)
        for value in filter(admits, dyadics(draw, bits, 100)):
            low, high, exponent = function(*value, bits)
            flint.ctx.prec = FINEST
            true = getattr(flint.arb(value), name)()
            assert low <= high
            assert not flint.arb((low, exponent)) > true
            assert not flint.arb((high, exponent)) < true
            assert (high - low) << (bits + 8) <= min(abs(low), abs(high))


@pytest.mark.parametrize("bits", [1, 63, 64, 65, 200, 3000])
def test_ln2_is_enclosed(bits: int) -> None:
    flint.ctx.prec = 2 * bits + 100
    true = flint.arb(2).log()
    low, high = _series._ln2(bits)
    assert flint.arb((low, -bits)) < true
    assert true < flint.arb((high, -bits))
    assert high - low <= 2


@pytest.mark.parametrize("bits", [4, 5, 11, 1000, 3072])
@pytest.mark.parametrize("name", UNARY)
def test_function_at_extreme_precision_encloses_arb(name: str, bits: int) -> None:
    draw = random.Random(f"{name} at {bits}")
    for value in dyadics(draw, bits, 200 if bits < 1000 else 20):
        if value[0] and UNARY[name](value):
            flint.ctx.prec = 2 * bits + 9000
            made, true = getattr(point(value, bits), name)(), getattr(flint.arb(value), name)()
            low, high = arb_ends(made)
            assert not low > true
            assert not high < true
            width = made.relative_width
            assert width is not None
            assert width <= Fraction(2) ** (4 - bits)


def test_series_reach_numbers_far_beyond_binary64() -> None:
    far = point((-3, 70), 96).exp()
    assert far.lower == 0
    assert far.upper_float == math.ulp(0.0)
    assert point((-3, 70), 96).expm1().lower == -1
    tiny = point((3, -(10**30)), 96)
    assert tiny.exp().contains(1)
    for image in (tiny.expm1(), tiny.log1p()):
        assert image.contains(tiny)
        assert image.relative_width is not None
        assert image.relative_width < Fraction(1, 2**90)
    assert -6.94e29 < tiny.log().lower_float < tiny.log().upper_float < -6.93e29
    huge = point((3, 10**30), 96)
    assert 6.93e29 < huge.log().lower_float <= huge.log1p().upper_float < 6.94e29
    assert huge.sqrt().square().contains(huge)
