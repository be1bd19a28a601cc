"""What an expression of a certificate may hold: admitted at each limit, refused one step beyond."""

from __future__ import annotations

import random
from fractions import Fraction
from operator import add, mul, sub, truediv
from typing import Any

import pytest

from certdp.verification.checker import Budget, expressions
from certdp.verification.checker.expressions import LARGEST_POWER, MOST_DEPTH, MOST_NODES, MOST_NORMS, Pool
from certdp.verification.checker.homogeneous import prove_proportional
from certdp.verification.checker.intervals import ONE, ZERO, Arithmetic, Interval
from certdp.verification.checker.profile import _exactly_drawn
from certdp.verification.checker.verdict import Refused

ONE_TREE: Any = ["constant", "1"]


def deep(depth: int) -> Any:
    tree = ONE_TREE
    for _ in range(depth - 1):
        tree = ["sqrt", tree]
    return tree


def wide(nodes: int) -> Any:
    """A balanced sum of so many nodes, an odd number."""
    if nodes == 1:
        return ONE_TREE
    left = (nodes - 1) // 2
    left -= 1 - left % 2
    return ["add", wide(left), wide(nodes - 1 - left)]


def of_norms(number: int) -> Any:
    tree: Any = ["norm", "1"]
    for order in range(2, number + 1):
        tree = ["add", tree, ["norm", str(order)]]
    return tree


@pytest.mark.parametrize(
    ("admitted", "refused", "reason"),
    [
        (deep(MOST_DEPTH), deep(MOST_DEPTH + 1), "a depth over"),
        (wide(MOST_NODES - 1), wide(MOST_NODES + 1), "more than 10000 nodes"),
        (of_norms(MOST_NORMS), of_norms(MOST_NORMS + 1), "different norms"),
        (["power", ONE_TREE, str(LARGEST_POWER)], ["power", ONE_TREE, str(LARGEST_POWER + 1)], "an exponent beyond"),
        (["power", ONE_TREE, str(-LARGEST_POWER)], ["power", ONE_TREE, str(-LARGEST_POWER - 1)], "an exponent beyond"),
    ],
    ids=["depth", "nodes", "norms", "power", "negative power"],
)
def test_an_expression_is_of_bounded_size(admitted: Any, refused: Any, reason: str) -> None:
    Pool().parse(admitted, "it")
    with pytest.raises(Refused, match=reason):
        Pool().parse(refused, "it")


@pytest.mark.parametrize(
    ("exponent", "defined"), [("2", True), ("0", True), ("-1", False), ("1/2", True), ("-1/2", False)]
)
def test_a_power_of_nothing_is_defined_where_it_is_finite(exponent: str, defined: bool) -> None:
    assert expressions._power_defined(Interval(ZERO, ONE), Fraction(exponent)) is defined
    assert expressions._power_defined(Interval(ONE, ONE), Fraction(exponent))


@pytest.mark.parametrize("exponent", ["1/2", "3/2", "-1/2"])
def test_a_root_of_what_may_be_below_0_is_not_defined(exponent: str) -> None:
    below = Interval(Arithmetic(53).rational(Fraction(-1)).lo, ONE)
    assert not expressions._power_defined(below, Fraction(exponent))


@pytest.mark.parametrize(("degree", "admitted"), [(2**64, True), (2**64 + 1, False)])
def test_powers_of_the_weight_are_followed_so_far(degree: int, admitted: bool) -> None:
    weight: Any = ["weight"]
    rest = ["power", weight, f"{degree - 1}/{degree}"]
    pool = Pool()
    root = pool.parse(["multiply", ["power", weight, f"1/{degree}"], rest], "the loss")
    if admitted:
        prove_proportional(pool, root, "the loss")
        return
    with pytest.raises(Refused, match="too large a power"):
        prove_proportional(pool, root, "the loss")


@pytest.mark.parametrize(
    ("rate", "unweighted", "weighted"),
    [
        (Fraction(1, 2**1022), True, True),
        (Fraction(1, 2**1023), True, False),
        (Fraction(3, 4), True, False),
        (Fraction(1, 3), False, False),
        (Fraction(0), True, True),
        (Fraction(1), True, True),
        (Fraction(2), False, False),
    ],
)
def test_no_rounding_is_needed_of_what_binary64_holds(rate: Fraction, unweighted: bool, weighted: bool) -> None:
    """Of the rate, and of its reciprocal where records are weighted, which is below 2^1023 then."""
    for of_weights, exact in ((False, unweighted), (True, weighted)):
        assert _exactly_drawn({"rate": ["constant", str(rate)], "weighted": of_weights}) is exact


def test_rational_ranges_take_their_work() -> None:
    """So much for each node that is there, which a node used twice is once."""
    budget = Budget(10**6)
    pool = Pool(budget)
    root = pool.parse(["add", ["norm", "1"], ["multiply", ["norm", "1"], ONE_TREE]], "it")
    before = budget.left
    pool.spend_on_rationals(root)
    assert before - budget.left == 10_000 * len(pool.program(root))


def test_a_choice_is_decided_where_its_order_is_proven() -> None:
    """Of two that may be equal a select takes its first side, a minimum and a maximum either."""
    pool = Pool()
    a, b, x, y = (pool.parse(["norm", order], "it") for order in ("1", "2", "3", "4"))
    chosen = {
        kind: pool.node(kind, a, b, *([x, y] if kind == "select" else [])) for kind in ("minimum", "maximum", "select")
    }
    unit, two = Interval(ZERO, ONE), Interval(ONE, Arithmetic(64).rational(Fraction(2)).hi)
    above = Interval(two.hi, two.hi)
    for one, other, found in (
        (unit, two, {"minimum": a, "maximum": b, "select": x}),
        (two, unit, {"minimum": b, "maximum": a, "select": None}),
        (above, unit, {"minimum": b, "maximum": a, "select": y}),
        (unit, above, {"minimum": a, "maximum": b, "select": x}),
        (unit, unit, {"minimum": None, "maximum": None, "select": None}),
    ):
        for kind, root in chosen.items():
            assert pool.decided(root, {a: one, b: other, x: unit, y: unit}).get(root) == found[kind], kind


EXACT: dict[str, Any] = {"add": add, "subtract": sub, "multiply": mul, "divide": truediv}


def exactly(pool: Pool, root: int, at: dict[str, Fraction]) -> Fraction:
    """The value of sums, products, quotients and whole powers, by Python's fractions."""
    values: dict[int, Fraction] = {}
    for number in pool.program(root):
        operation, arguments, value = pool.nodes[number]
        operands = [values[argument] for argument in arguments]
        match operation, value:
            case "variable", str():
                values[number] = at[value]
            case "constant", Fraction():
                values[number] = value
            case "power", Fraction():
                values[number] = operands[0] ** value.numerator
            case _:
                values[number] = EXACT[operation](*operands)
    return values[root]


def random_tree(source: random.Random, depth: int) -> Any:
    if depth == 0:
        return source.choice([["norm", "1"], ["norm", "2"], ["constant", source.choice(["1", "2", "-3/7"])]])
    operation = source.choice([*EXACT, "multiply", "divide", "power"])
    if operation == "power":
        return ["power", random_tree(source, depth - 1), str(source.randint(-3, 3))]
    return [operation, random_tree(source, depth - 1), random_tree(source, source.randrange(depth))]


def test_what_is_simplified_keeps_its_value() -> None:
    """At points where the expression is defined; and equal factors above and below are gone."""
    source, compared = random.Random(5), 0
    for _ in range(300):
        pool = Pool()
        root = pool.parse(random_tree(source, source.randint(1, 4)), "it")
        simple = pool.simplify(root, {})
        at = {name: Fraction(source.randint(1, 9), 7) for name in ("norm(1)", "norm(2)")}
        try:
            value = exactly(pool, root, at)
        except ZeroDivisionError:
            continue
        assert exactly(pool, simple, at) == value, pool.nodes
        compared += 1
    assert compared > 200


def test_equal_factors_cancel() -> None:
    a: Any = ["norm", "1"]
    b: Any = ["norm", "2"]
    for tree, expected in (
        (["divide", ["multiply", a, b], a], b),
        (["divide", b, ["multiply", a, b]], ["divide", ["constant", "1"], a]),
        (["multiply", ["power", a, "3"], ["divide", b, ["power", a, "2"]]], ["multiply", a, b]),
        (["multiply", ["power", a, "-2"], ["multiply", a, a]], ["constant", "1"]),
        (["divide", ["multiply", a, ["constant", "1"]], b], ["divide", a, b]),
    ):
        pool = Pool()
        assert pool.simplify(pool.parse(tree, "it"), {}) == pool.parse(expected, "it"), tree


def test_a_product_of_powers_has_an_exponent_within_the_limit() -> None:
    for tree in (
        ["multiply", ["power", ["weight"], "4096"], ["weight"]],
        ["power", ["power", ["weight"], "-4096"], "2"],
    ):
        pool = Pool()
        with pytest.raises(Refused, match="an exponent beyond 4096"):
            pool.simplify(pool.parse(tree, "it"), {})
    pool = Pool()
    pool.simplify(pool.parse(["multiply", ["power", ["weight"], "4095"], ["weight"]], "it"), {})
