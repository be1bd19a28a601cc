"""Proofs that an expression stays below a bound: those of true bounds are found, those of false ones never."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest

from certdp.verification.checker.expressions import Pool
from certdp.verification.checker.intervals import Arithmetic, Interval, exact
from certdp.verification.checker.supremum import enclose_at, prove_at_most
from certdp.verification.checker.verdict import Refused

FINE = Arithmetic(96)


def side(low: float, high: float) -> Interval:
    return Interval(exact(low), exact(high))


def parsed(pool: Pool, tree: Any) -> int:
    """Nested tuples; text is a variable, a number a constant."""
    match tree:
        case str():
            return pool.variable(tree)
        case int() | Fraction():
            return pool.constant(tree)
        case ("power", base, exponent):
            return pool.node("power", parsed(pool, base), value=Fraction(exponent))
    operation, *operands = tree
    return pool.node(operation, *(parsed(pool, operand) for operand in operands))


def bounded(tree: Any, box: dict[str, Interval], bound: float) -> bool:
    """Whether that is proven; what is not so must be refused for that reason."""
    pool = Pool()
    try:
        prove_at_most(pool, parsed(pool, tree), box, exact(bound), FINE, "exceeded")
    except Refused as refusal:
        if str(refusal) == "exceeded":
            return False
        raise
    return True


HALF = Fraction(1, 2)
SUPREMA: dict[str, tuple[Any, dict[str, Interval], float]] = {
    "an end of a rising one": (("multiply", "x", ("exp", "x")), {"x": side(-1, 2)}, 2 * math.e**2),
    "an end of a falling one": (("subtract", 1, ("multiply", "x", "x")), {"x": side(0.5, 2)}, 0.75),
    "within": (("multiply", "x", ("subtract", 1, "x")), {"x": side(0, 1)}, 0.25),
    "within, off the middle": (
        ("multiply", "x", ("subtract", 1, ("multiply", "x", "x"))),
        {"x": side(0, 1)},
        2 / 27**0.5,
    ),
    "of two variables": (
        ("subtract", ("multiply", "x", "y"), ("add", ("power", "x", 2), ("power", "y", 2))),
        {"x": side(-3, 1), "y": side(-1, 2)},
        0.0,
    ),
    "where a minimum is undecided": (("minimum", ("multiply", 3, "x"), ("subtract", 1, "x")), {"x": side(0, 1)}, 0.75),
    "of a quotient that is decided near 0": (
        ("divide", "x", ("minimum", 1, ("multiply", 2, "x"))),
        {"x": side(0, 4)},
        4.0,
    ),
    "where a select jumps": (("select", "x", 1, ("multiply", 2, "x"), 1), {"x": side(0, 3)}, 2.0),
    "of a root": (("subtract", ("sqrt", "x"), "x"), {"x": side(0, 2)}, 0.25),
    "at a point": (("add", "x", "y"), {"x": side(1, 1), "y": side(2, 2)}, 3.0),
    "of a maximum in a wide box": (
        ("maximum", ("subtract", "y", ("exp", "x")), ("subtract", 1, ("power", "y", 2))),
        {"x": side(-2, 2), "y": side(-1, 1)},
        1.0,
    ),
}


@pytest.mark.parametrize("name", SUPREMA)
def test_a_supremum_is_told_from_what_is_below_it(name: str) -> None:
    tree, box, supremum = SUPREMA[name]
    tiny = 1e-9 * max(1.0, abs(supremum))
    assert bounded(tree, box, supremum + tiny)
    assert not bounded(tree, box, supremum - tiny)


@pytest.mark.slow
def test_no_bound_below_a_value_is_ever_proven() -> None:
    """Random expressions of two variables: what is proven is above all values at points."""
    source, proven = random.Random(3), 0
    for _ in range(150):
        tree: Any = source.choice(["x", "y", 1])
        for _ in range(source.randint(1, 4)):
            other: Any = source.choice(["x", "y", Fraction(source.randint(-4, 4), 2)])
            operation = source.choice(["add", "subtract", "multiply", "minimum", "maximum", "exp"])
            tree = ("exp", ("minimum", tree, 2)) if operation == "exp" else (operation, tree, other)
        pool, box = Pool(), {"x": side(-1, 2), "y": side(0.25, 1.5)}
        root = parsed(pool, tree)
        points = [
            {"x": Fraction(-1) + Fraction(3 * i, 8), "y": Fraction(1, 4) + Fraction(5 * j, 32)}
            for i in range(9)
            for j in range(9)
        ]
        highest = max(float(Fraction(*to_ratio(enclose_at(pool, root, point, FINE).lo))) for point in points)
        assert not bounded(tree, box, highest - 1e-6 * max(1.0, abs(highest)))
        proven += bounded(tree, box, highest + 1e-3 * max(1.0, abs(highest))) if len(str(tree)) < 60 else 0
    assert proven > 20


def to_ratio(value: Any) -> tuple[int, int]:
    sign, mantissa, exponent, _ = value
    signed = -mantissa if sign else mantissa
    return (signed << exponent, 1) if exponent >= 0 else (signed, 1 << -exponent)


def test_what_cannot_be_told_at_a_precision_is_refused_as_such() -> None:
    """log(e^x) − x is 0, but no interval of a few bits shows that it is not above."""
    pool = Pool()
    root = parsed(pool, ("subtract", ("log", ("exp", "x")), "x"))
    with pytest.raises(Refused, match="could not be verified at this precision"):
        prove_at_most(pool, root, {"x": side(1, 1)}, exact(0.0), Arithmetic(20), "exceeded")
    with pytest.raises(Refused, match="could not be verified at this precision"):  # between neighbours nothing lies
        prove_at_most(pool, root, {"x": side(1, 1 + 2.0**-19)}, exact(0.0), Arithmetic(20), "exceeded")


def arch(name: str, height: Fraction, width: Fraction) -> Any:
    """A parabola of that height over [0, width]."""
    return ("multiply", 4 * height / width**2, ("multiply", name, ("subtract", width, name)))


@pytest.mark.parametrize(
    ("heights", "widths"),
    [
        ((1, Fraction(1, 10**6)), (1, 1)),  # one is steep
        ((1, Fraction(1, 10**6)), (Fraction(1, 2**20), 2**20)),  # and it is narrow
        ((1, Fraction(1, 10**6)), (2**20, Fraction(1, 2**20))),  # or wide
    ],
)
def test_few_cells_suffice_where_one_variable_matters(
    heights: tuple[Any, Any], widths: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Halving goes along the variable on which the value hangs: some 20 cells, not 20 for each of the others."""
    cells, evaluate = 0, Pool.evaluate

    def counting(*arguments: Any) -> Any:
        nonlocal cells
        cells += 1
        return evaluate(*arguments)

    monkeypatch.setattr(Pool, "evaluate", counting)
    pool, names = Pool(), ("x", "y")
    parts = [arch(name, Fraction(h), Fraction(w)) for name, h, w in zip(names, heights, widths, strict=True)]
    box = {name: side(0, float(width)) for name, width in zip(names, widths, strict=True)}
    prove_at_most(pool, parsed(pool, ("add", *parts)), box, exact(1.0001), FINE, "exceeded")
    assert 1 < cells < 80
