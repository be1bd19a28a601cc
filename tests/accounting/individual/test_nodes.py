"""Figures by nodes: each record between the nodes around it, whatever the chunks."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp.accounting.bulk.amplification import gaussian_epsilon
from certdp.accounting.bulk.sampled_gaussian import epsilon_upper
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.individual.composed import epsilon_of_steps, truncated_mu_of_steps
from certdp.accounting.individual.nodes import NodeTable
from certdp.accounting.pairs.gaussian import SampledGaussian
from certdp.accounting.relations import Direction
from certdp.accounting.units import Delta, Order


def product(rate: float, shift: float) -> Enclosure:
    return Enclosure.of(rate) * Fraction(shift)


def recorded(figure: Callable[[float, float], Enclosure]) -> tuple[Callable[[float, float], Enclosure], list[Any]]:
    nodes: list[Any] = []

    def noting(rate: float, shift: float) -> Enclosure:
        nodes.append((rate, shift))
        return figure(rate, shift)

    return noting, nodes


@pytest.mark.parametrize("digits", [0, 3, 20])
def test_records_lie_between_the_nodes_around_them(digits: int) -> None:
    rng = np.random.default_rng(1)
    rate, shift = 2.0 ** -rng.exponential(8, 500), rng.exponential(2, 500)
    rate[:3], shift[3:5] = (1.0, 0.5, 2.0**-1074), (2.0, 2.0**-1074)
    figure, nodes = recorded(product)
    found = NodeTable(figure, rate_digits=digits, shift_digits=digits).figures(rate, shift).reveal()
    for i in range(500):
        true = Fraction(float(rate[i])) * Fraction(float(shift[i]))
        assert Fraction(float(found.lower[i])) <= true <= Fraction(float(found.upper[i]))
        if rate[i] > 1e-300 and shift[i] > 1e-300:
            assert found.upper[i] <= found.lower[i] * (1 + 2.0**-digits) ** 2 * (1 + 1e-9)
    assert len(nodes) == len(set(nodes))
    assert all(0 < q <= 1 for q, _ in nodes)


def test_nodes_themselves_are_exact() -> None:
    found = NodeTable(product, rate_digits=2, shift_digits=2).figures([0.5, 0.625, 1.0], [1.0, 1.75, 3.0]).reveal()
    assert found.looseness == 0.0
    assert found.upper.tolist() == [0.5, 0.625 * 1.75, 3.0]


def test_a_common_shift_is_not_raised() -> None:
    figure, nodes = recorded(product)
    NodeTable(figure).figures([0.3, 0.7], 0.3)
    assert {shift for _, shift in nodes} == {0.3}


def test_a_record_that_loses_nothing_asks_for_no_node() -> None:
    figure, nodes = recorded(product)
    table = NodeTable(figure)
    found = table.figures([0.0, 0.5], [1.0, 0.0]).reveal()
    assert not found.upper.any()
    assert not nodes
    assert found.looseness == 0.0
    assert table.figures([], 1.0).reveal().upper.size == 0


def test_chunks_give_the_same_bits_and_nodes_are_computed_once() -> None:
    rng = np.random.default_rng(2)
    rate, shift = rng.random(300), rng.random(300)
    expected = NodeTable(product).figures(rate, shift).reveal()
    figure, nodes = recorded(product)
    counts: list[int] = []
    table = NodeTable(figure, progress=counts.append)
    for size in (1, 37, 300):
        parts = [table.figures(rate[i : i + size], shift[i : i + size]).reveal() for i in range(0, 300, size)]
        assert np.concatenate([p.upper for p in parts]).tobytes() == expected.upper.tobytes()
        assert np.concatenate([p.lower for p in parts]).tobytes() == expected.lower.tobytes()
    assert len(nodes) == len(set(nodes)) == table.nodes.reveal() == counts[-1]


@pytest.mark.parametrize(
    ("rate", "shift", "name"), [(0.5, 1.0, "rate"), ([0.5], [1.0, 2.0], "shift"), ([1.5], 1.0, "rate")]
)
def test_bad_records(rate: Any, shift: Any, name: str) -> None:
    with pytest.raises(InvalidValue, match=name):
        NodeTable(product).figures(rate, shift)


def test_digits() -> None:
    with pytest.raises(InvalidValue, match="rate_digits"):
        NodeTable(product, rate_digits=21)
    with pytest.raises(InvalidValue, match="shift_digits"):
        NodeTable(product, shift_digits=-1)


@pytest.mark.slow
def test_epsilon_of_a_single_step_is_around_the_exact_one() -> None:
    rng = np.random.default_rng(3)
    rate = 10 ** rng.uniform(-2, -0.3, 12)
    table = NodeTable(epsilon_of_steps(1, Delta("1e-5")), rate_digits=5)
    found = table.figures(rate, 1.0).reveal()
    exact = gaussian_epsilon(rate, np.array([1.0]), 1e-5)
    assert (found.lower <= exact * (1 + 1e-9)).all()
    assert (exact <= found.upper * (1 + 1e-9)).all()
    assert 0 < found.looseness < 0.06


def test_epsilon_of_many_steps_is_at_most_that_of_the_best_order() -> None:
    rate = np.array([0.004, 0.011])
    found = NodeTable(epsilon_of_steps(200, Delta("1e-5")), rate_digits=3).figures(rate, 0.9).reveal()
    nodes = np.ceil(rate * 2.0**11 / [1, 2]) / 2.0**11 * [1, 2]  # 0.004 and 0.011 lie in [2^-8, 2^-7) and [2^-7, 2^-6)
    bound, _ = epsilon_upper(nodes, 0.9, 200, 1e-5)
    assert (found.upper <= bound).all()
    assert (found.lower <= found.upper).all()


@pytest.mark.slow
def test_the_truncated_label_of_a_node_holds_for_its_records() -> None:
    delta = Delta("1e-6")
    rate = np.array([0.0101, 0.3])
    mu = NodeTable(truncated_mu_of_steps(1, delta), rate_digits=4).figures(rate, 0.8).reveal().upper
    for q, m in zip(rate.tolist(), mu.tolist(), strict=True):
        own = truncated_mu_of_steps(1, delta)(q, 0.8).upper
        assert own <= Fraction(m) <= own * Fraction("1.1")


def test_figures_refuse_what_they_cannot_tell() -> None:
    with pytest.raises(InvalidValue, match="delta"):
        epsilon_of_steps(3, Delta(0))
    with pytest.raises(InvalidValue, match="steps"):
        epsilon_of_steps(0, Delta("0.1"))
    with pytest.raises(InvalidType, match="delta"):
        epsilon_of_steps(3, Order(2))  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="delta"):
        truncated_mu_of_steps(3, Delta(0))


def test_growth_in_rate_and_shift() -> None:
    """What nodes rely on, by the exact law of one step."""
    epsilon = Enclosure.of("0.3")
    values = [
        [SampledGaussian(Enclosure.of(s), Enclosure.of(q)).delta(epsilon, d).lower for s in ("0.3", "0.6", "2")]
        for q in ("0.01", "0.2", "0.9")
        for d in (Direction.REMOVE,)
    ]
    grid = np.array([[float(v) for v in row] for row in values])
    assert (np.diff(grid, axis=0) >= 0).all()
    assert (np.diff(grid, axis=1) >= 0).all()
