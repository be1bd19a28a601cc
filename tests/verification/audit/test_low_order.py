"""Low bits, digits and order of outputs tell nothing of the data beyond the claim, and all of it behind floats."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp import Coins, Count, Epsilon, GaussianSum, LaplaceSum, LpSum, Public, RandomisedResponse
from certdp.accounting.exact import Floats
from certdp.mechanisms.discrete_gaussian import DiscreteGaussian
from certdp.mechanisms.discrete_laplace import DiscreteLaplace
from certdp.mechanisms.lloyd import Lloyd
from certdp.plugins.contract import WeightedSample
from certdp.verification.audit import audit, repeated
from certdp.verification.audit.statistics import low_order_statistics

P = Public
SIZES = [
    pytest.param(20_000, id="some"),
    pytest.param(10**6, id="a million", marks=pytest.mark.soundness),
]
QUICK = {"laplace-sum", "lp-sum"}
SUMS = {
    "laplace-sum": (LaplaceSum(scale=P(1)), 1),
    "laplace-sum, odd scale": (LaplaceSum(scale=P("0.7")), Fraction(10, 7)),
    "count": (Count(scale=P(1)), 1),
    "lp-sum": (LpSum(scale=P(1)), 1),
    "lp-sum, cube": (LpSum(scale=P(1), norm=P("inf")), 1),
    "lp-sum, order 3/2": (LpSum(scale=P(1), norm=P("3/2")), 1),
    "discrete-laplace": (DiscreteLaplace(scale=P(1), granularity=P("1/8")), 1),
    "gaussian-sum": (
        GaussianSum(scale=P(2)),
        4,
    ),  # 4 covers all but 10^-11 of the losses of a shift of half a deviation
    "discrete-gaussian": (DiscreteGaussian(scale=P(2), granularity=P("1/8")), 4),
    "lloyd": (
        Lloyd(clusters=P(1), scale_sum=P(2), scale_count=P(2), radius=P(1), iterations=P(1), dimension=P(2)),
        1,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        pytest.param(*case, id=name, marks=[] if name in QUICK else [pytest.mark.soundness])
        for name, case in SUMS.items()
    ],
)
@pytest.mark.parametrize("runs", SIZES)
def test_outputs_of_built_ins_tell_nothing_by_how_they_are_written(mechanism: Any, epsilon: Any, runs: int) -> None:
    """Both inputs have sums of many digits; a record of ℓ2 norm 1 is added. At confidence 1 − 10^-6 for each."""
    others = np.array([[0.3, -0.1], [np.pi / 4, 0.7]])
    without = WeightedSample(others, np.ones(2))
    every = WeightedSample(np.vstack([others, [1.0, 0.0]]), np.ones(3))
    found = audit(
        repeated(mechanism, every, Coins.seeded(1)),
        repeated(mechanism, without, Coins.seeded(2)),
        statistics=low_order_statistics(np.size(mechanism.release(every, Coins.seeded(3)))),
        runs=runs,
        confidence="0.999999",
    )
    assert not found.refutes(Epsilon(epsilon))


@pytest.mark.parametrize("runs", SIZES)
def test_responses_tell_no_more_than_their_table(runs: int) -> None:
    mechanism = RandomisedResponse(noise=P("1/2"), categories=P(3))
    one, other = (WeightedSample(np.array([[value]]), np.ones(1)) for value in (0.0, 1.0))
    found = audit(
        repeated(mechanism, one, Coins.seeded(1)),
        repeated(mechanism, other, Coins.seeded(2)),
        statistics=low_order_statistics(1),
        runs=min(runs, 20_000),  # draws one by one
        confidence="0.999999",
    )
    assert not found.refutes(Epsilon("1.387"))  # ln 4, for a true answer with probability 2/3 and others with 1/6


def test_floats_are_told_by_each_of_the_attacks() -> None:
    """The negative control: noise in binary64 is refuted at four times what it would lose; cells are not."""

    def in_binary64(total: float, seed: int) -> Any:
        coins = Coins.seeded(seed)

        def releases(count: int) -> Floats:
            return (total + coins.laplace(Fraction(1), count))[:, np.newaxis]

        return releases

    found = audit(in_binary64(1.0, 1), in_binary64(0.0, 2), statistics=low_order_statistics(1), runs=20_000)
    assert found.refutes(Epsilon(4))
    names = {statistic.name for statistic in low_order_statistics(1)}
    assert found.event.statistic.name in names


def test_what_is_read_of_an_output() -> None:
    outputs = np.array([[0.75, 1.0], [-3.0, -4.0], [0.0, 0.1]])
    read = {statistic.name: statistic.scores(outputs).tolist() for statistic in low_order_statistics(2)}
    assert read["place of the last bit of entry 0"][:2] == [-2, 0]
    assert read["bits of entry 0"][:2] == [2, 2]
    assert read["last eight bits of entry 0"][:2] == [3, 3]
    assert read["last decimal digit of entry 1"] == [0, 0, 1]
    assert read["decimal digits of entry 0"] == [3, 2, 2]
    assert read["finer than 2^-53 is entry 1"] == [0, 0, 1]
    assert read["sign bit of entry 0"] == [0, 1, 0]
    assert read["entries in order"] == [1, 0, 1]
