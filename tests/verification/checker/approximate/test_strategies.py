"""What a record moves by a strategy, against every way to take part in few steps, in whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.verification.checker.approximate import strategies as module
from certdp.verification.checker.approximate.factors import GAUSSIAN, PURE, Factor
from certdp.verification.checker.approximate.strategies import Moved, hold_correlated, moved, strategy_shape
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.verdict import Refused

Matrix = list[list[Fraction]]


def few(times: int, apart: int = 1) -> dict[str, Any]:
    return {"times": times, "apart": apart}


def turns(groups: int, rate: str = "1/4") -> dict[str, Any]:
    return {"groups": groups, "rate": rate}


def toeplitz(numbers: Sequence[Any], participation: Any) -> dict[str, Any]:
    return {"form": "toeplitz", "coefficients": list(map(str, numbers)), "participation": participation}


def rows(numbers: Sequence[Sequence[Any]], participation: Any) -> dict[str, Any]:
    return {"form": "rows", "rows": [list(map(str, row)) for row in numbers], "participation": participation}


def tree(participation: Any) -> dict[str, Any]:
    return {"form": "tree", "participation": participation}


def matrix_of(stated: dict[str, Any], steps: int) -> Matrix:
    """Every entry of C, written out."""
    if stated["form"] == "tree":
        ends = [(end, length) for length in (1, 2, 4, 8, 16) for end in range(length, steps + 1, length)]
        return [[Fraction(end - length <= step < end) for step in range(steps)] for end, length in ends]
    if stated["form"] == "rows":
        given = [list(map(Fraction, row)) for row in stated["rows"]]
        return [[Fraction(0)] * (at - len(row)) + row + [Fraction(0)] * (steps - at) for at, row in enumerate(given, 1)]
    numbers = [*map(Fraction, stated["coefficients"]), *[Fraction(0)] * steps]
    return [[numbers[row - step] if step <= row else Fraction(0) for step in range(steps)] for row in range(steps)]


def ways(steps: int, times: int, apart: int) -> Iterator[tuple[int, ...]]:
    for count in range(1, times + 1):
        for chosen in combinations(range(steps), count):
            if all(b - a >= apart for a, b in pairwise(chosen)):
                yield chosen


def farthest(matrix: Matrix, times: int, apart: int) -> Fraction:
    """The largest square over all steps of a record, and all signs of the row that it adds."""
    steps = len(matrix[0])
    best = Fraction(0)
    for chosen in ways(steps, times, apart):
        for signs in product((1, -1), repeat=len(chosen)):
            added = dict(zip(chosen, signs, strict=True))
            squares = (sum((row[s] * e for s, e in added.items()), Fraction(0)) ** 2 for row in matrix)
            best = max(best, sum(squares, Fraction(0)))
    return best


def weighed(matrix: Matrix) -> Matrix:
    columns = list(zip(*matrix, strict=True))
    return [
        [sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0)) for other in columns] for one in columns
    ]


ENTRY = st.integers(-3, 3).map(lambda number: Fraction(number, 2))
ROWS = st.integers(1, 6).flatmap(
    lambda size: st.tuples(*(st.lists(ENTRY, min_size=1, max_size=at) for at in range(1, size + 1)))
)


@given(ROWS, st.integers(1, 4), st.integers(1, 4))
@example(([Fraction(1)], [Fraction(1), Fraction(1)], [Fraction(-1), Fraction(1), Fraction(1)]), 2, 1)
def test_nobody_moves_a_matrix_farther(stated: Any, times: int, apart: int) -> None:
    strategy = rows(stated, few(times, apart))
    found = moved(strategy, len(stated), Budget())
    truth = farthest(matrix_of(strategy, len(stated)), times, apart)
    products = weighed(matrix_of(strategy, len(stated)))
    alike = all(number >= 0 for row in products for number in row)  # where one record moves it as far as all rows allow
    assert found.square == truth if alike else found.square >= truth
    assert found == Moved(found.square, 1, Fraction(1))


@given(st.lists(ENTRY, min_size=1, max_size=4), st.integers(0, 4), st.integers(1, 4), st.integers(1, 4))
@example([Fraction(1), Fraction(0), Fraction(2)], 2, 2, 1)  # steps 0 and 2 move it farther than 0 and 1
def test_coefficients_are_the_matrix_that_they_stand_for(numbers: Any, more: int, times: int, apart: int) -> None:
    steps = len(numbers) + more
    short, long = toeplitz(numbers, few(times, apart)), rows([], few(times, apart))
    full = matrix_of(short, steps)
    long["rows"] = [list(map(str, row[: at + 1])) for at, row in enumerate(full)]
    found, other = moved(short, steps, Budget()), moved(long, steps, Budget())
    assert found == Moved(found.square, 1, Fraction(1))
    assert found.square >= farthest(full, times, apart)
    if numbers[-1] >= 0 and numbers == sorted(numbers, reverse=True):
        assert found.square == farthest(full, times, apart)
    assert found.square == other.square


@pytest.mark.parametrize("steps", [1, 2, 5, 8])
@pytest.mark.parametrize(("times", "apart"), [(1, 1), (2, 1), (2, 3), (3, 2)])
def test_nobody_moves_a_tree_farther(steps: int, times: int, apart: int) -> None:
    strategy = tree(few(times, apart))
    found, truth = moved(strategy, steps, Budget()).square, farthest(matrix_of(strategy, steps), times, apart)
    assert found == truth
    assert times > 1 or found == steps.bit_length()


STEPS = [[9, 4, 1, 4], [8, 2, 0], [7, 3], [6]]


def test_few_ways_are_gone_through() -> None:
    """Steps 0, 1 and 3 weigh 9 + 8 + 6 + 2(4 + 4)."""
    assert [module._heaviest(STEPS, times, 1, Budget()) for times in (1, 2, 3, 4)] == [9, 25, 39, 58]
    assert module._heaviest(STEPS, 2, 3, Budget()) == 9 + 6 + 2 * 4
    assert module._heaviest(STEPS, 2, 2, Budget()) == 9 + 6 + 2 * 4
    assert module._heaviest(STEPS, 9, 4, Budget()) == 9
    assert module._heaviest(STEPS, 2**53, 2**53, Budget()) == 9


def test_the_bound_is_the_one_that_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three steps: 9 + 2(4 + 4) of the first, 8 + 2·2 + 7 of others."""
    monkeypatch.setattr(module, "_MOST_WAYS", 0)
    assert [module._heaviest(STEPS, times, 1, Budget()) for times in (1, 2, 3, 4)] == [9, 25, 44, 58]
    assert module._heaviest(STEPS, 2, 3, Budget()) == 9 + 8 + 6
    assert module._heaviest(STEPS, 9, 4, Budget()) == 9
    assert module._heaviest(STEPS, 2**53, 2**53, Budget()) == 9


WEIGHTS = st.integers(1, 6).flatmap(
    lambda size: st.tuples(*(st.lists(st.integers(0, 9), min_size=1, max_size=size - at) for at in range(size)))
)


def test_how_many_ways_are_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 6 steps 3, of which a row meets one more: 4 places for each of 2."""
    weights = [[1] * min(4, 6 - step) for step in range(6)]
    monkeypatch.setattr(module, "_of_every_way", lambda *_: -1)
    for most, gone_through in ((6 * 3 * 4**2 - 1, False), (6 * 3 * 4**2, True)):
        monkeypatch.setattr(module, "_MOST_WAYS", most)
        assert (module._heaviest(weights, 3, 2, Budget()) == -1) is gone_through


def test_products_of_columns_are_kept_as_far_as_rows_reach_and_paid_for() -> None:
    budget = Budget()
    before = budget.left
    assert module._of_rows([module.Row(0, [2]), module.Row(0, [1, -3]), module.Row(2, [5])], 3, budget) == [
        [5, 3],
        [9],
        [25],
    ]
    assert before - budget.left == 60 * (1 + 4 + 1) + 1_000 * 4


@pytest.mark.parametrize(
    ("count", "paid"),
    [
        (lambda budget: module._of_lags([1, -1], 7, budget), 1_000 * (2 * 4 + 7)),
        (lambda budget: module._of_lags([1, -1], 3, budget), 1_000 * (2 * 3 + 3)),
        (lambda budget: module._of_every_way([[1], [1]], 1, 1, budget), 1_000 * (1 + 2)),
        (lambda budget: module._of_later_steps([[1]] * 3, 2, 1, budget), 1_000 * 3 + 60 * 3 * 2),
        (lambda budget: module._most_with([4, 1, 1, 1], 2, 1, budget), 60 * 4 * 2),
        (lambda budget: module._most_with([4, 1, 1, 1], 9, 2, budget), 60 * 4 * 1),
    ],
)
def test_what_is_gone_through_is_paid_for(count: Callable[[Budget], object], paid: int) -> None:
    count(exact := Budget(paid))
    assert exact.left == 0


@given(WEIGHTS, st.integers(1, 5), st.integers(1, 5))
@example(([5], [9], [20]), 2, 1)
def test_what_is_gone_through_is_the_largest_and_the_bound_above(weights: Any, times: int, apart: int) -> None:
    def together(chosen: tuple[int, ...]) -> int:
        pairs = ((one, other - one) for one in chosen for other in chosen if other > one)
        own: int = sum(weights[one][0] for one in chosen)
        return own + 2 * sum(int(weights[one][lag]) for one, lag in pairs if lag < len(weights[one]))

    truth = max(map(together, ways(len(weights), times, apart)))
    assert module._heaviest(weights, times, apart, Budget()) == truth
    held = min(apart, len(weights))
    assert module._of_later_steps(weights, min(times, -(-len(weights) // held)), held, Budget()) >= truth


@pytest.mark.parametrize(
    ("size", "reach", "times", "apart", "exact"),
    [
        (100, 2, 50, 1, True),
        (100, 9, 60, 1, False),
        (40, 40, 2, 1, True),
        (60, 60, 10, 1, False),
        (90, 31, 9, 10, False),
    ],
)
def test_many_ways_are_bounded(size: int, reach: int, times: int, apart: int, exact: bool) -> None:
    """Of weights 1, between any two steps within reach; at most those that are taken."""
    weights = [[1] * min(reach, size - step) for step in range(size)]
    budget = Budget()
    found = module._heaviest(weights, times, apart, budget)
    assert found <= times**2
    other = Budget()
    once = module._of_later_steps(weights, times, apart, other)
    assert (budget.left != other.left) is exact
    assert found <= once


def test_steps_are_as_few_or_many_as_stated() -> None:
    falling = ["1", "1/2", "1/4"]
    one = Fraction(21, 16)
    assert moved(toeplitz(falling, few(1, 9)), 3, Budget()).square == one
    assert moved(toeplitz(falling, few(2, 3)), 6, Budget()).square == 2 * one
    assert moved(toeplitz(falling, few(2, 3)), 5, Budget()).square == one + Fraction(5, 4)
    assert moved(toeplitz(falling, few(2**50, 3)), 9, Budget()).square == 3 * one
    level = sum(min(place + 1, 9, 68 - place) ** 2 for place in range(68))
    assert moved(toeplitz([1] * 9, few(60, 1)), 100, Budget(60 * 9 * 1_000)).square == level  # the earliest steps alone
    assert moved(toeplitz(falling, few(2, 1)), 9, Budget()).square == 1 + Fraction(3, 2) ** 2 + Fraction(
        3, 4
    ) ** 2 + Fraction(1, 16)


# Turns.


@pytest.mark.parametrize("steps", [1, 5, 6, 7])
def test_a_turn_is_as_long_as_its_longest_column(steps: int) -> None:
    numbers = [Fraction(1), Fraction(-2), Fraction(1, 2)][:steps]
    strategy = toeplitz(numbers, turns(3))
    matrix = matrix_of(strategy, steps)
    longest = max(sum((row[step] ** 2 for row in matrix), Fraction(0)) for step in range(steps))
    assert moved(strategy, steps, Budget()) == Moved(longest, -(-steps // 3), Fraction(1, 4))
    written = rows([row[max(0, at - 2) : at + 1] for at, row in enumerate(matrix)], turns(3))
    assert moved(written, steps, Budget()) == Moved(longest, -(-steps // 3), Fraction(1, 4))
    assert moved(tree(turns(8)), steps, Budget()) == Moved(Fraction(steps.bit_length()), 1, Fraction(1, 4))


@pytest.mark.parametrize(
    "strategy", [toeplitz([1, 0, 1], turns(2)), rows([[1], [1, 1], [0, 1], [1, 0, 1]], turns(2)), tree(turns(3))]
)
def test_turns_that_meet_are_refused(strategy: Any) -> None:
    """Two turns of a record in one row: sampled at rate 1 they would be taken for orthogonal ones."""
    with pytest.raises(Refused, match="meet in a row"):
        moved(strategy, 4, Budget())


# What is refused.


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        (toeplitz([], few(1)), "from one coefficient to as many as there are steps"),
        (toeplitz([1] * 5, few(1)), "from one coefficient to as many as there are steps"),
        (rows([[1]] * 3, few(1)), "a row for each step"),
        (rows([[1]] * 5, few(1)), "a row for each step"),
        (rows([[1], [1], [], [1]], few(1)), "entries of its own step and earlier ones"),
        (rows([[1, 1], [1], [1], [1]], few(1)), "entries of its own step and earlier ones"),
        (toeplitz([Fraction(1, 2**256)], few(1)), "more than 256 binary digits"),
        (toeplitz([2**256], few(1)), "more than 256 binary digits"),
        (toeplitz([1], turns(1, "5/4")), "is no probability"),
    ],
)
def test_what_is_no_strategy_is_refused(strategy: Any, reason: str) -> None:
    strategy_shape(strategy, "strategy")
    with pytest.raises(Refused, match=reason):
        moved(strategy, 4, Budget())


def test_numbers_of_just_so_many_digits_are_read() -> None:
    tiny = Fraction(1, 2**255)
    assert moved(toeplitz([2**255, tiny], few(1)), 2, Budget()).square == Fraction(2**255) ** 2 + tiny**2
    assert moved(toeplitz([1], turns(1, "1")), 4, Budget()) == Moved(Fraction(1), 4, Fraction(1))


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"form": "dense"},
        {"form": ["tree"]},
        {"form": "tree"},
        {"form": "tree", "participation": few(0)},
        {"form": "tree", "participation": few(1, 0)},
        {"form": "tree", "participation": turns(0)},
        {"form": "tree", "participation": turns(2, "0")},
        {"form": "tree", "participation": {**few(1), "groups": 2}},
        {"form": "tree", "participation": few(1), "rows": []},
        {**toeplitz([1], few(1)), "coefficients": [1]},
        {**toeplitz([1], few(1)), "coefficients": ["2/2"]},
        {**rows([[1]], few(1)), "rows": ["1"]},
    ],
)
def test_other_shapes_are_refused(value: Any) -> None:
    with pytest.raises(Refused):
        strategy_shape(value, "strategy")


MUCH = {
    "a rising strategy of many steps": (toeplitz([1, 2], few(2, 5)), 2**53),
    "more turns than are counted": (toeplitz([1, "1/2"], few(2**40, 1)), 2**53),
    "a tree of many steps": (tree(few(1)), 2**40),
    "a tree of some thousand steps": (tree(few(4, 100)), 2**13),
    "many coefficients that rise": (toeplitz(range(1, 4000), few(2)), 4000),
    "a full matrix": (rows([["1"] * at for at in range(1, 1500)], few(700)), 1499),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUCH)
def test_what_takes_long_is_refused_before(name: str) -> None:
    strategy, steps = MUCH[name]
    with pytest.raises(Refused, match="within the work budget"):
        moved(strategy, steps, Budget())


# Releases.


def test_one_release_becomes_those_of_a_record() -> None:
    one = Factor(GAUSSIAN, Fraction(1, 8), Fraction(1), 1, 12)
    found = Moved(Fraction(9, 4), 3, Fraction(1, 4)).of(one)
    assert found._replace(parameter=Fraction(0)) == Factor(GAUSSIAN, Fraction(0), Fraction(1, 4), 1, 3)
    assert Fraction(3, 16) <= found.parameter <= Fraction(3, 16) * (1 + Fraction(1, 2**180))
    with mpmath.workprec(300):
        root = Moved(Fraction(2), 1, Fraction(1)).of(one).parameter
        assert 0 <= mpmath.mpf(root.numerator) / root.denominator - mpmath.sqrt(2) / 8 < mpmath.mpf(2) ** -180
    others: list[dict[str, Any]] = [{"family": PURE}, {"rate": Fraction(1, 2)}, {"together": 2}]
    for other in others:
        with pytest.raises(Refused, match="normal noise on every record"):
            Moved(Fraction(1), 1, Fraction(1)).of(one._replace(**other))


PART = {
    "mechanism": {"name": "gaussian-sum", "distribution": "certdp"},
    "sampler": {"name": "full", "distribution": "certdp"},
    "loss": {"family": "gaussian"},
    "resample": "each",
    "strategy": tree(few(1)),
}


def test_nothing_but_gaussian_sums_of_certdp_about_one_record_is_correlated() -> None:
    hold_correlated(PART, alone=True)
    hold_correlated({}, alone=False)
    with pytest.raises(Refused, match="about one record"):
        hold_correlated(PART, alone=False)
    others: list[dict[str, Any]] = [
        {"mechanism": {"name": "gaussian-sum", "distribution": "acme"}},
        {"mechanism": {"name": "dpis-step", "distribution": "certdp"}},
        {"sampler": {"name": "full", "distribution": "acme"}},
        {"sampler": {"name": "poisson", "distribution": "certdp"}},
        {"loss": {"family": "zero-concentrated"}},
    ]
    for other in others:
        with pytest.raises(Refused, match="gaussian-sum on full data alone"):
            hold_correlated({**PART, **other}, alone=True)
    with pytest.raises(Refused, match="at each of its steps"):
        hold_correlated({**PART, "resample": "once"}, alone=True)


def test_steps_are_counted_up_to_2_to_the_53() -> None:
    for stated in (few(2**53), few(1, 2**53), turns(2**53)):
        strategy_shape(tree(stated), "strategy")
    for stated in (few(2**53 + 1), few(1, 2**53 + 1), turns(2**53 + 1)):
        with pytest.raises(Refused, match="strategy"):
            strategy_shape(tree(stated), "strategy")


@pytest.mark.parametrize("participation", ["groups", None, ["groups"], 3])
def test_who_takes_part_is_an_object(participation: Any) -> None:
    with pytest.raises(Refused, match="must be an object"):
        strategy_shape(tree(participation), "strategy")


@pytest.mark.parametrize("numbers", [[2, 1, -1], [2, 1, 0], [1, "1/2", "1/2"], [-1, -2]])
def test_coefficients_that_fall_below_0_are_no_falling_ones(numbers: Any) -> None:
    """Of (2, 1, -1) steps 0 and 2 move a row farther than the earliest ones, whose columns cancel in part."""
    stated = toeplitz(numbers, few(2, 1))
    assert moved(stated, 4, Budget()).square >= farthest(matrix_of(stated, 4), 2, 1)


def test_falling_coefficients_are_added_up_and_paid_for_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the least one is, 0 or a fraction, of which no whole number is 1."""
    monkeypatch.setattr(module, "_of_lags", None)
    for numbers in ([3, 2, 0], [3, 2], ["3/2", "1/2"], [0]):
        assert moved(toeplitz(numbers, few(2, 1)), 3, Budget()).square >= 0
    budget = Budget()
    whole = budget.left
    moved(toeplitz([3, 2, 1], few(4, 2)), 100, budget)
    assert whole - budget.left == 1_000 * 4 * 3


def test_stretches_of_a_tree_are_paid_for() -> None:
    for steps in (1, 5, 8):
        budget = Budget()
        whole = budget.left
        stretches, _ = module._rows(tree(few(1)), steps, budget)
        assert whole - budget.left == 1_000 * steps * steps.bit_length() >= 500 * len(stretches)


def test_falling_columns_are_added_up_as_far_as_anybody_moves_them() -> None:
    falling = toeplitz([3, 2, 1], None)
    for times, apart in ((2, 1), (3, 1), (2, 2)):
        found = moved({**falling, "participation": few(times, apart)}, 6, Budget()).square
        assert found == farthest(matrix_of(falling, 6), times, apart)


@given(st.lists(ENTRY, min_size=1, max_size=5), st.integers(0, 6))
def test_products_of_columns_are_what_is_left_of_them(numbers: list[Fraction], more: int) -> None:
    steps, whole = len(numbers) + more, [int(2 * number) for number in numbers]
    columns = weighed(matrix_of(toeplitz(numbers, None), steps))
    found = module._of_lags(whole, steps, Budget())
    for step in range(steps):
        exactly = [abs(4 * columns[step][other]) for other in range(step, min(step + len(numbers), steps))]
        assert found[step] == exactly


@given(ROWS)
def test_products_of_rows_are_kept_as_far_as_any_row_reaches(stated: Any) -> None:
    """From the step of each column to the last one that is in a row with it."""
    whole = [module.Row(at - len(row), [int(2 * entry) for entry in row]) for at, row in enumerate(stated, 1)]
    columns = weighed(matrix_of(rows(stated, None), len(stated)))
    found = module._of_rows(whole, len(stated), Budget())
    for step, products in enumerate(found):
        with_it = [row.first + len(row.entries) for row in whole if row.first <= step < row.first + len(row.entries)]
        assert len(products) == max(with_it, default=step) - step
        assert products == [abs(4 * columns[step][step + lag]) for lag in range(len(products))]


def test_how_many_near_steps_are_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of 5 meets two more that are 2 apart, and three of 7: as many decide, up to a limit."""
    asked = []
    monkeypatch.setattr(module, "_of_every_way", lambda *_: -1)
    monkeypatch.setattr(module, "_MOST_WAYS", 10**9)
    for reach, near in ((5, 3), (6, 3), (7, 4)):
        weights = [[1] * min(reach, 40 - step) for step in range(40)]
        for most in (near, near + 1):
            monkeypatch.setattr(module, "_MOST_NEAR", most)
            asked.append(module._heaviest(weights, 9, 2, Budget()) == -1)
    assert asked == [False, True] * 3
