"""What an expression of a certificate may hold: admitted at each limit, refused one step beyond."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from operator import add, mul, sub, truediv
from typing import Any

import mpmath
import pytest
from mpmath import mp

from certdp.verification.checker import Budget, expressions
from certdp.verification.checker.expressions import LARGEST_POWER, MOST_DEPTH, MOST_NODES, MOST_NORMS, Pool
from certdp.verification.checker.homogeneous import prove_proportional
from certdp.verification.checker.intervals import (
    FRACTION,
    LINE,
    MINUS_ONE,
    ONE,
    TWO,
    ZERO,
    Arithmetic,
    Interval,
    exact,
)
from certdp.verification.checker.profile import _exactly_drawn
from certdp.verification.checker.verdict import Refused

ONE_TREE: Any = ["constant", "1"]


def deep(depth: int) -> Any:
    tree = ONE_TREE
    for _ in range(depth - 1):
        tree = ["sqrt", tree]
    return tree


def squared(depth: int) -> Any:
    tree = ONE_TREE
    for _ in range(depth - 1):
        tree = ["power", tree, "2"]
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
        (squared(MOST_DEPTH), squared(MOST_DEPTH + 1), "a depth over"),
        (["sqrt", wide(MOST_NODES - 1)], wide(MOST_NODES + 1), "more than 10000 nodes"),
        (of_norms(MOST_NORMS), of_norms(MOST_NORMS + 1), "different norms"),
        (["power", ONE_TREE, str(LARGEST_POWER)], ["power", ONE_TREE, str(LARGEST_POWER + 1)], "an exponent beyond"),
        (["power", ONE_TREE, str(-LARGEST_POWER)], ["power", ONE_TREE, str(-LARGEST_POWER - 1)], "an exponent beyond"),
    ],
    ids=["depth", "depth of powers", "nodes", "norms", "power", "negative power"],
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


def test_a_whole_power_of_what_is_below_0_is_defined() -> None:
    below = Interval(MINUS_ONE, Arithmetic(53).rational(Fraction(-1, 2)).hi)
    for exponent in (-3, -1, 0, 2, 3):
        assert expressions._power_defined(below, Fraction(exponent))


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
    for of_weights, held in ((False, unweighted), (True, weighted)):
        assert _exactly_drawn({"rate": ["constant", str(rate)], "weighted": of_weights}) is held


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


@pytest.mark.parametrize("exponent", ["1/2", "-3/2", "7/3"])
def test_a_root_is_no_product(exponent: str) -> None:
    pool = Pool()
    root = pool.parse(["power", ["multiply", ["norm", "1"], ["norm", "1"]], exponent], "it")
    assert pool.simplify(root, {}) == pool.parse(["power", ["power", ["norm", "1"], "2"], exponent], "it")


def test_what_is_shared_is_walked_once() -> None:
    pool = Pool()
    one, other = pool.variable("norm(1)"), pool.variable("norm(2)")
    for _ in range(60):
        one, other = pool.node("add", one, other), pool.node("multiply", one, other)
    assert len(pool.program(pool.node("add", one, other))) == 2 * 61 + 1


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


A: Any = ["norm", "1"]
B: Any = ["norm", "2"]
FINE = Arithmetic(128)


def box(a: Interval, b: Interval) -> dict[str, Interval]:
    return {"norm(1)": a, "norm(2)": b}


def at(value: float) -> Interval:
    return Interval(exact(value), exact(value))


SMOOTH: list[tuple[Any, Callable[[Any, Any], Any]]] = [
    (A, lambda a, b: a),
    (["constant", "3"], lambda a, b: mpmath.mpf(3)),
    (["add", A, ["multiply", B, B]], lambda a, b: a + b * b),
    (["subtract", A, ["multiply", B, A]], lambda a, b: a - b * a),
    (["divide", A, B], lambda a, b: a / b),
    (["divide", B, ["multiply", A, A]], lambda a, b: b / a**2),
    (["exp", ["multiply", A, B]], lambda a, b: mpmath.exp(a * b)),
    (["expm1", ["divide", A, B]], lambda a, b: mpmath.expm1(a / b)),
    (["log", ["multiply", A, B]], lambda a, b: mpmath.log(a * b)),
    (["log1p", ["multiply", A, B]], lambda a, b: mpmath.log1p(a * b)),
    (["sqrt", ["add", A, B]], lambda a, b: mpmath.sqrt(a + b)),
    (["power", A, "3"], lambda a, b: a**3),
    (["power", ["add", A, B], "-2"], lambda a, b: (a + b) ** -2),
    (["power", B, "5/2"], lambda a, b: b**2 * mpmath.sqrt(b)),
    (["power", B, "0"], lambda a, b: mpmath.mpf(1)),
    (["multiply", ["exp", A], ["subtract", ["exp", A], B]], lambda a, b: mpmath.exp(a) * (mpmath.exp(a) - b)),
    (["minimum", A, ["multiply", B, B]], lambda a, b: min(a, b * b)),
    (["maximum", A, ["multiply", B, B]], lambda a, b: max(a, b * b)),
]


@pytest.mark.parametrize(("tree", "truth"), SMOOTH, ids=lambda case: str(case) if isinstance(case, list) else "")
@pytest.mark.parametrize(("a", "b"), [(0.75, 2.5), (3.0, 0.125)])
def test_values_and_derivatives_at_a_point_are_those_of_the_formula(
    tree: Any, truth: Callable[[Any, Any], Any], a: float, b: float
) -> None:
    pool = Pool()
    root = pool.parse(tree, "it")
    found = pool.evaluate(root, box(at(a), at(b)), FINE)
    slopes = pool.gradient(root, found.values, FINE)
    assert found.regular
    decided = tree[0] not in ("minimum", "maximum")
    with mp.workdps(60):
        wanted = {"norm(1)": mpmath.diff(truth, (a, b), (1, 0)), "norm(2)": mpmath.diff(truth, (a, b), (0, 1))}
        values = [(found.values[root], truth(mpmath.mpf(a), mpmath.mpf(b))), *((slopes[v], wanted[v]) for v in slopes)]
        for (low, high), value in values:
            near = (1 + abs(value)) * mpmath.mpf(10) ** -28
            assert mp.make_mpf(low) - near <= value <= mp.make_mpf(high) + near
            assert mp.make_mpf(high) - mp.make_mpf(low) <= near or not decided
    assert slopes.keys() == pool.variables(root)


@pytest.mark.parametrize("operation", ["minimum", "maximum"])
def test_between_two_sides_the_slope_lies_between_theirs(operation: str) -> None:
    pool = Pool()
    root = pool.parse([operation, ["multiply", ["constant", "6"], A], B], "it")
    found = pool.evaluate(root, box(FRACTION, FRACTION), FINE)
    six = Interval(ZERO, FINE.rational(Fraction(6)).hi)
    assert pool.gradient(root, found.values, FINE) == box(six, FRACTION)


def test_a_choice_that_may_jump_has_any_slope() -> None:
    pool = Pool()
    root = pool.parse(["select", A, B, ["constant", "0"], A], "it")
    found = pool.evaluate(root, box(FRACTION, FRACTION), FINE)
    assert pool.gradient(root, found.values, FINE) == box(LINE, LINE)


@pytest.mark.parametrize(
    ("tree", "side", "regular"),
    [
        (["divide", B, A], Interval(ZERO, ONE), False),
        (["divide", B, A], Interval(MINUS_ONE, ZERO), False),
        (["divide", B, A], Interval(ONE, TWO), True),
        (["log", A], Interval(ZERO, ONE), False),
        (["log", A], Interval(exact(5e-324), ONE), True),
        (["log1p", A], Interval(MINUS_ONE, ONE), False),
        (["log1p", A], Interval(exact(-0.9375), ONE), True),
        (["sqrt", A], Interval(exact(-5e-324), ONE), False),
        (["sqrt", A], Interval(ZERO, ONE), True),
        (["power", A, "1/2"], Interval(ZERO, ONE), True),
        (["power", A, "-1"], Interval(ZERO, ONE), False),
        (["exp", ["log", A]], Interval(ZERO, ONE), False),
        (["add", ["log", A], ["sqrt", B]], Interval(ZERO, ONE), False),
        (["add", ["sqrt", B], ["log", A]], Interval(ZERO, ONE), False),
    ],
)
def test_where_an_expression_is_defined_everywhere(tree: Any, side: Interval, regular: bool) -> None:
    pool = Pool()
    assert pool.evaluate(pool.parse(tree, "it"), box(side, FRACTION), FINE).regular is regular


def work(do: Callable[[Pool], object]) -> int:
    budget = Budget()
    before = budget.left
    do(Pool(budget))
    return before - budget.left


TREE: Any = ["multiply", ["exp", ["add", A, B]], ["log1p", A]]
"""Six nodes, of which the operations are a sum, a product and two series."""


@pytest.mark.parametrize("precision", [128, 1000])
def test_a_walk_takes_the_work_of_its_operations(precision: int) -> None:
    """So much was measured; a slope takes three products more for each node, leaves included."""
    tool, sides = Arithmetic(precision), box(at(1.0), at(2.0))
    unit = 512 + (precision**3 >> 19)

    def evaluate(pool: Pool, times: int = 1) -> None:
        root = pool.parse(TREE, "it")
        for _ in range(times):
            pool.evaluate(root, sides, tool)

    def differentiate(pool: Pool) -> None:
        root = pool.parse(TREE, "it")
        pool.gradient(root, pool.evaluate(root, sides, tool).values, tool)

    own = 2 + 3 + 2 * 32 + 2 * 2  # a leaf is taken like a sum
    assert work(evaluate) == own * unit
    assert work(lambda pool: evaluate(pool, 3)) == 3 * own * unit
    assert work(differentiate) == (2 * own + 6 * 9) * unit


def test_a_product_takes_work_for_each_of_its_factors() -> None:
    assert work(lambda pool: pool.simplify(pool.parse(["multiply", A, B], "it"), {})) == 200
    assert work(lambda pool: pool.simplify(pool.parse(["multiply", ["multiply", A, B], A], "it"), {})) == 400
    assert work(lambda pool: pool.simplify(pool.parse(["divide", A, A], "it"), {})) == 100
    assert work(lambda pool: pool.simplify(pool.parse(["power", A, "2"], "it"), {})) == 100


def test_a_variable_names_the_order_of_its_norm() -> None:
    for order in ("1", "3/2", "inf"):
        assert expressions.order_of(expressions.norm(order)) == order
    for other in (expressions.WEIGHT, expressions.rounding("rate")):
        assert expressions.order_of(other) is None


def test_a_record_has_a_budget_of_its_own() -> None:
    pool = Pool(Budget(10**9))
    root = pool.parse(TREE, "it")
    own = pool.for_a_record()
    assert own._budget.left == 20_000_000
    own.evaluate(root, box(at(1.0), at(2.0)), FINE)
    assert own._budget.left < 20_000_000
    assert pool._budget.left == 10**9
    assert own.parse(TREE, "it") == root


def test_what_is_put_in_the_place_of_a_node_stands_wherever_it_stood() -> None:
    pool = Pool()
    root = pool.parse(TREE, "it")
    replaced = pool.replace(root, {pool.parse(A, "it"): pool.parse(["divide", B, ["constant", "2"]], "it")})
    half: Any = ["divide", B, ["constant", "2"]]
    assert replaced == pool.parse(["multiply", ["exp", ["add", half, B]], ["log1p", half]], "it")


@pytest.mark.parametrize(
    "tree",
    [
        None,
        3,
        True,
        "norm",
        {},
        {"constant": "1"},
        [],
        [[]],
        [3],
        ["constant"],
        ["constant", "1", "2"],
        ["constant", 1],
        ["power", A],
        ["power", A, "1", "1"],
        ["power", A, 2],
        ["norm"],
        ["norm", "1", "1"],
        ["norm", "0"],
        ["norm", ["1"]],
        ["weight", "1"],
        ["rounding"],
        ["rounding", "other"],
        ["add", A],
        ["add", A, B, A],
        ["exp", A, B],
        ["select", A, B, A],
        ["sine", A],
        ["variable", "norm(1)"],
    ],
    ids=repr,
)
def test_what_is_no_expression_is_refused(tree: Any) -> None:
    with pytest.raises(Refused):
        Pool().parse(tree, "it")
    with pytest.raises(Refused):
        Pool().parse(["add", A, tree], "it")
