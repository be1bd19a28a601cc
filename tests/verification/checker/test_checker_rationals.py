"""Exact ranges of the checker, against the values that an expression takes at points."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from certdp.verification.checker.budget import Budget
from certdp.verification.checker.expressions import Pool
from certdp.verification.checker.rationals import Range, rational_range
from certdp.verification.checker.verdict import Refused

EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "minimum": min,
    "maximum": max,
}


def drawn(source: random.Random) -> Range:
    ends = sorted(Fraction(source.randint(-6, 6), source.randint(1, 3)) for _ in range(2))
    return Range(*ends) if source.random() < 0.8 else Range(ends[0], ends[0])


@pytest.mark.parametrize("name", EXACT)
def test_a_range_is_the_least_that_holds_every_value(name: str) -> None:
    source, none = random.Random(name), 0
    for _ in range(400):
        pool = Pool()
        a, b = drawn(source), drawn(source)
        found = rational_range(pool, pool.node(name, pool.variable("a"), pool.variable("b")), {"a": a, "b": b})
        if name == "divide" and b.lo <= 0 <= b.hi:
            assert found is None
            none += 1
            continue
        inner = [[r.lo, (r.lo + r.hi) / 2, r.hi] for r in (a, b)]
        values = [EXACT[name](x, y) for x, y in product(*inner)]
        assert found is not None
        assert all(found.lo <= value <= found.hi for value in values)
        assert {found.lo, found.hi} <= set(values)
    assert (none > 0) is (name == "divide")


def of_power(base: Range, exponent: Fraction) -> Range | None:
    pool = Pool()
    return rational_range(pool, pool.node("power", pool.variable("a"), value=exponent), {"a": base})


def test_powers_that_are_rational_are_exact() -> None:
    one, half = Fraction(1), Fraction(1, 2)
    assert of_power(Range(half, 3 * one), Fraction(3)) == Range(Fraction(1, 8), Fraction(27))
    assert of_power(Range(Fraction(0), half), Fraction(1)) == Range(Fraction(0), half)
    assert of_power(Range(one, one), Fraction(-7, 3)) == Range(one, one)
    for base, exponent in (
        (Range(-one, one), Fraction(2)),
        (Range(half, one), Fraction(1, 2)),
        (Range(half, one), Fraction(-1)),
        (Range(half, one), Fraction(0)),
        (Range(one, 2 * one), Fraction(3, 2)),
        (Range(2 * one, 3 * one), Fraction(4096)),
    ):
        assert of_power(base, exponent) is None


def of_root(base: Range) -> Range | None:
    pool = Pool()
    return rational_range(pool, pool.node("sqrt", pool.variable("a")), {"a": base})


def test_roots_that_are_rational_are_exact() -> None:
    assert of_root(Range(Fraction(4, 9), Fraction(25))) == Range(Fraction(2, 3), Fraction(5))
    assert of_root(Range(Fraction(0), Fraction(1, 4))) == Range(Fraction(0), Fraction(1, 2))
    for low, high in ((4, 5), (3, 4), (-1, 4)):
        assert of_root(Range(Fraction(low), Fraction(high))) is None


def test_what_is_not_rational_is_left_to_intervals() -> None:
    pool = Pool()
    a = pool.variable("a")
    for root in (pool.node("exp", a), pool.node("select", a, a, a, a), pool.variable("unknown")):
        assert rational_range(pool, root, {"a": Range(Fraction(0), Fraction(1))}) is None


def test_long_numbers_are_given_up() -> None:
    pool = Pool()
    root = pool.node("add", pool.variable("a"), pool.constant(1))
    short, long = Fraction(2**4000), Fraction(2**4200)
    assert rational_range(pool, root, {"a": Range(short, short)}) == Range(short + 1, short + 1)
    assert rational_range(pool, root, {"a": Range(short, long)}) is None
    assert rational_range(pool, root, {"a": Range(1 / long, short)}) is None


def test_the_length_that_is_given_up() -> None:
    """4096 bits of numerator and denominator together, and of a power before it is taken."""
    pool = Pool()
    a = pool.variable("a")
    for longest, longer in ((Fraction(2**4094), Fraction(2**4095)), (Fraction(3, 2**4093), Fraction(3, 2**4094))):
        assert rational_range(pool, a, {"a": Range(longest, longest)}) == Range(longest, longest)
        for ends in ((longer, longer), tuple(sorted((longest, longer)))):
            assert rational_range(pool, a, {"a": Range(*ends)}) is None
    one, seven = Fraction(1), Fraction(7)
    assert of_power(Range(one, seven), Fraction(1024)) == Range(one, seven**1024)
    assert of_power(Range(one, seven), Fraction(1025)) is None
    assert of_power(Range(1 / seven, one), Fraction(1025)) is None


def test_exact_ranges_are_taken_from_the_budget() -> None:
    pool = Pool(Budget(9_999))
    with pytest.raises(Refused):
        rational_range(pool, pool.constant(1), {})


def test_nested_expressions_are_walked_arguments_first() -> None:
    pool = Pool()
    a, b = pool.variable("a"), pool.variable("b")
    root = pool.node("divide", pool.node("subtract", a, b), pool.node("maximum", b, pool.constant(2)))
    box = {"a": Range(Fraction(1), Fraction(5)), "b": Range(Fraction(0), Fraction(4))}
    assert rational_range(pool, root, box) == Range(Fraction(-3, 2), Fraction(5, 2))
