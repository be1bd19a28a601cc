"""Strategy matrices: their sensitivities against every way to take part, exact products, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.accounting.sampling.strategies import (
    CyclicPoisson,
    MatrixStrategy,
    Participation,
    Strategy,
    ToeplitzStrategy,
    TreeStrategy,
    products,
    strategy_of,
)

FLOATS = st.floats(-1e3, 1e3, allow_subnormal=False)


@given(st.lists(st.lists(FLOATS, min_size=3, max_size=3), min_size=1, max_size=6), st.integers(-200, 200))
def test_products_of_columns_are_enclosed(rows: list[list[float]], power: int) -> None:
    matrix = np.ldexp(np.array(rows), power)
    if not matrix.any():
        return
    lower, upper, exponent = products(matrix)
    scale = Fraction(4) ** exponent
    exact = [[Fraction(float(x)) for x in row] for row in matrix]
    for i in range(3):
        for j in range(3):
            truth = sum((row[i] * row[j] for row in exact), Fraction(0))
            low, high = (Fraction(float(end[i, j])) * scale for end in (lower, upper))
            assert low <= truth <= high
            assert high - low <= Fraction(1, 2**40) * len(rows) * scale


def test_products_do_not_depend_on_the_order_of_rows() -> None:
    matrix = np.random.default_rng(5).normal(size=(200, 7))
    (lower, upper, _), (low, high, _) = products(matrix), products(np.asfortranarray(matrix[::-1]))
    assert np.array_equal(lower, low)
    assert np.array_equal(upper, high)


OPTIMAL = np.cumprod(np.r_[1, (2 * np.arange(1, 200) - 1) / (2 * np.arange(1, 200))])


@pytest.mark.parametrize(("times", "apart"), [(1, 1), (4, 50), (20, 10), (200, 1)])
def test_toeplitz_in_whole_numbers_is_the_matrix_enclosed(times: int, apart: int) -> None:
    strategy, asked = ToeplitzStrategy(OPTIMAL), Participation(times=times, apart=apart)
    exact, enclosed = strategy.sensitivity(asked), MatrixStrategy(strategy.matrix).sensitivity(asked)
    assert exact.width < Fraction(1, 2**80)
    assert enclosed.lower <= exact.lower
    assert exact.upper <= enclosed.upper
    assert enclosed.width < Fraction(1, 10**9) * exact.upper


@pytest.mark.parametrize("coefficients", [[2, -1], [1, 3, 1], [1, 1, -2], [0.5, 0.75]])
def test_coefficients_that_rise_or_are_negative_are_a_matrix(coefficients: list[float]) -> None:
    strategy, asked = ToeplitzStrategy(coefficients, 6), Participation(times=3, apart=1)
    assert strategy.sensitivity(asked) == MatrixStrategy(strategy.matrix).sensitivity(asked)


def test_one_participation_is_the_longest_column() -> None:
    strategy = ToeplitzStrategy(OPTIMAL)
    (first, *_, last) = strategy.column_norms()
    assert strategy.sensitivity(Participation(times=1)) == first
    assert last.contains(1)
    assert (
        first.contains(Fraction(float(np.linalg.norm(OPTIMAL))))
        or abs(first.upper_float - np.linalg.norm(OPTIMAL)) < 1e-12
    )


def test_bands_as_many_as_steps_apart_add_up_squares() -> None:
    """Banded matrix factorisation: √k for columns of norm 1."""
    steps = [3 / 5, 4 / 5]
    found = ToeplitzStrategy(steps, 40).sensitivity(Participation(times=9, apart=2))
    assert abs(found.upper_float - 3) < 1e-12
    rising = ToeplitzStrategy(steps[::-1], 40).sensitivity(Participation(times=9, apart=2))
    assert abs(rising.upper_float - 3) < 1e-12


@pytest.mark.parametrize("steps", [1, 2, 7, 8, 33])
def test_a_tree_has_a_row_for_each_whole_stretch(steps: int) -> None:
    tree = TreeStrategy(steps)
    assert len(tree.matrix) == sum(steps >> level for level in range(steps.bit_length()))
    levels = 1 + int(np.log2(steps))
    found = tree.sensitivity(Participation(times=1)).square()
    assert found.lower <= levels <= found.upper + Fraction(1, 10**9)
    assert tree.bands == 2 ** (levels - 1)
    assert tree.rounded() is tree


def test_the_matrix_of_a_strategy_is_its_rows() -> None:
    for strategy in (
        ToeplitzStrategy([1, 0.5, 0.25, 0], 6),
        MatrixStrategy(np.tril(np.ones((5, 5)), 0)),
        TreeStrategy(11),
    ):
        rows = [(step, row) for step in range(strategy.steps) for row in strategy.ending(step)]
        for (step, row), whole in zip(rows, strategy.matrix, strict=True):
            assert 0 < len(row) <= strategy.bands
            assert np.array_equal(whole[step + 1 - len(row) : step + 1], row)
            assert not whole[step + 1 :].any()
            assert not whole[: step + 1 - len(row)].any()


def test_rounded_strategies_are_on_the_grid() -> None:
    for strategy in (ToeplitzStrategy(OPTIMAL[:9]), MatrixStrategy(ToeplitzStrategy(OPTIMAL[:9]).matrix)):
        assert strategy.fraction_bits is None or strategy.fraction_bits <= 22
        rounded = ToeplitzStrategy([1, 1 / 3], 4).rounded()
        assert rounded.fraction_bits == 22
        assert rounded.coefficients[1] * 2**22 == round(2**22 / 3)
        assert strategy.rounded(3).fraction_bits == 3
    assert ToeplitzStrategy([1, 1 / 3]).fraction_bits is None


def test_what_other_tools_write_is_read(tmp_path: Path) -> None:
    coefficients = OPTIMAL[:4].astype(np.float32)
    np.save(tmp_path / "coefficients.npy", coefficients)
    found = strategy_of(tmp_path / "coefficients.npy", steps=10)
    assert isinstance(found, ToeplitzStrategy)
    assert found.steps == 10
    assert np.array_equal(found.coefficients, coefficients)
    np.save(tmp_path / "matrix.npy", found.matrix)
    again = strategy_of(str(tmp_path / "matrix.npy"))
    assert isinstance(again, MatrixStrategy)
    assert again.bands == 4
    assert str(again) == "a matrix, 4 of 10 diagonals"
    with pytest.raises(InvalidValue, match="npy file"):
        strategy_of(tmp_path / "none.npy")
    with pytest.raises(InvalidValue, match="steps"):
        strategy_of(np.eye(3), steps=4)


JAX_PRIVACY: list[tuple[str, Any, int | None, Participation, float]] = [
    (
        "toeplitz.optimal_max_error_strategy_coefs(8), in float32",
        [1.0, 0.5, 0.375, 0.3125, 0.2734375, 0.24609375, 0.2255859375, 0.20947265625],
        None,
        Participation(times=2, apart=3),
        4.619982719421387,
    ),
    (
        "toeplitz.optimize_banded_toeplitz(n=8, bands=3)",
        [0.8543119139762544, 0.43122138648746794, 0.2901711037888764],
        8,
        Participation(times=2, apart=3),
        2.0000000000000004,
    ),
    (
        "buffered_toeplitz.BufferedToeplitz.build(buf_decay=[0.9, 0.5], output_scale=[0.2, 0.1]).toeplitz_coefs(6)",
        [1.0, 0.30000000000000004, 0.23000000000000004, 0.18700000000000003, 0.15830000000000002, 0.13747],
        None,
        Participation(times=1),
        1.2218258909,
    ),
    (
        "banded.ColumnNormalizedBanded.default(6, 3).materialize()",
        [
            [0.847998304005088, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.423999152002544, 0.847998304005088, 0.0, 0.0, 0.0, 0.0],
            [0.317999364001908, 0.423999152002544, 0.847998304005088, 0.0, 0.0, 0.0],
            [0.0, 0.317999364001908, 0.423999152002544, 0.847998304005088, 0.0, 0.0],
            [0.0, 0.0, 0.317999364001908, 0.423999152002544, 0.8944271909999159, 0.0],
            [0.0, 0.0, 0.0, 0.317999364001908, 0.4472135954999579, 1.0],
        ],
        None,
        Participation(times=2, apart=3),
        2.0,
    ),
    (
        "dense.optimize(4)",
        [
            [0.8248114019494278, 0.0, 0.0, 0.0],
            [0.4493494054311549, 0.8854263471479493, 0.0, 0.0],
            [0.30110132035584336, 0.413151595900759, 0.9377556755304846, 0.0],
            [0.164648892898965, 0.21289890225385188, 0.34729568527461524, 1.0],
        ],
        None,
        Participation(times=1),
        1.0,
    ),
]
"""What helpers of jax_privacy 2.0.0 gave, who takes part, and the square of the sensitivity that it states."""


@pytest.mark.parametrize(("helper", "array", "steps", "participation", "square"), JAX_PRIVACY)
def test_what_jax_privacy_gives_has_the_sensitivity_that_it_states(
    helper: str, array: Any, steps: int | None, participation: Participation, square: float
) -> None:
    found = strategy_of(array, steps).sensitivity(participation).square()
    assert abs(float(found.midpoint) / square - 1) < (1e-6 if "float32" in helper else 1e-12)
    assert float(found.width) < 1e-9 * square


@pytest.mark.parametrize(
    ("build", "parameter"),
    [
        (lambda: ToeplitzStrategy([]), "coefficients"),
        (lambda: ToeplitzStrategy([0, 1]), "coefficients"),
        (lambda: ToeplitzStrategy([1, float("inf")]), "coefficients"),
        (lambda: ToeplitzStrategy([[1, 2]]), "coefficients"),
        (lambda: ToeplitzStrategy(["a"]), "coefficients"),
        (lambda: ToeplitzStrategy([1, 1, 1], 2), "coefficients"),
        (lambda: ToeplitzStrategy([1], 0), "coefficients"),
        (lambda: ToeplitzStrategy([1], 2**13).matrix, "steps"),
        (lambda: MatrixStrategy(np.ones((2, 3))), "matrix"),
        (lambda: MatrixStrategy(np.ones((0, 0))), "matrix"),
        (lambda: MatrixStrategy(np.ones((2, 2))), "matrix"),
        (lambda: MatrixStrategy(np.tril(np.ones((2, 2)), -1)), "matrix"),
        (lambda: MatrixStrategy([[1.0, 0.0], [float("nan"), 1.0]]), "matrix"),
        (lambda: MatrixStrategy(np.eye(4097)), "steps"),
        (lambda: TreeStrategy(0), "steps"),
        (lambda: TreeStrategy(4097), "steps"),
        (lambda: Participation(times=0), "times"),
        (lambda: Participation(times=1, apart=0), "apart"),
        (lambda: ToeplitzStrategy([1], 10).sensitivity(Participation(times=4, apart=4)), "times"),
        (lambda: CyclicPoisson(groups=0, rate="0.1"), "groups"),
        (lambda: CyclicPoisson(groups=1, rate=0), "rate"),
        (lambda: CyclicPoisson(groups=1, rate=2), "rate"),
        (lambda: CyclicPoisson(groups=1, rate=Fraction(1, 10**400)), "rate"),
    ],
)
def test_bad_input_is_refused_by_name(build: Any, parameter: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        build()
    assert refused.value.parameter in (parameter, "steps")


def test_as_many_times_as_fit_are_admitted() -> None:
    strategy: Strategy = ToeplitzStrategy([1], 10)
    assert strategy.sensitivity(Participation(times=3, apart=4)).square().contains(3)
    assert CyclicPoisson(groups=2, rate="0.1").rate <= Fraction(1, 10)
    assert CyclicPoisson(groups=2, rate=1).rate == 1
