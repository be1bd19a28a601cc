"""Randomised response: its loss is the largest log-ratio of its exact law, and its releases follow that law."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from certdp import Full, Norm, NormBall, Outside, SampledRun
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import enclose, evaluate, variables
from certdp.accounting.provenance import Public
from certdp.accounting.relations import REPLACE, Direction
from certdp.mechanisms.randomised_response import RandomisedResponse
from certdp.plugins.contract import Coins, Mechanism, WeightedSample, build
from certdp.samplers.shuffled import Shuffled


def law(categories: int, noise: Fraction, code: int) -> list[Fraction]:
    kept = [Fraction(int(answer == code)) for answer in range(categories)]
    return [(1 - noise) * mass + noise / categories for mass in kept]


def sample(codes: Any) -> WeightedSample:
    column = np.asarray(codes, dtype=np.float64).reshape(-1, 1)
    return WeightedSample(column, np.ones(len(column)))


@given(categories=st.integers(2, 12), noise=st.fractions(Fraction(1, 1000), 1))
def test_the_loss_is_the_largest_log_ratio_of_the_law(categories: int, noise: Fraction) -> None:
    mechanism = RandomisedResponse(categories=Public(categories), noise=Public(noise))
    laws = [law(categories, noise, code) for code in (0, 1)]
    worst = max(p / q for p, q in zip(*laws, strict=True))
    pure = mechanism.loss.pure
    assert pure is not None
    assert variables(pure.epsilon) == frozenset()
    assert float(evaluate(pure.epsilon, {})) == pytest.approx(float(np.log(float(worst))), abs=1e-12)


@given(
    categories=st.integers(2, 9),
    noise=st.fractions(Fraction(1, 100), 1),
    epsilon=st.fractions(0, 5, max_denominator=50),
)
def test_its_pair_tells_two_categories_apart_as_well_as_its_law(
    categories: int, noise: Fraction, epsilon: Fraction
) -> None:
    mechanism = RandomisedResponse(categories=Public(categories), noise=Public(noise))
    pair = mechanism.loss.pair(lambda root: enclose(root, {}, precision=96))
    factor = float(np.exp(float(epsilon)))
    laws = [law(categories, noise, code) for code in (0, 1)]
    divergence = sum(max(float(p) - factor * float(q), 0) for p, q in zip(*laws, strict=True))
    assert pair.delta is not None
    for direction in Direction:
        enclosed = pair.delta(Enclosure.of(epsilon), direction)
        assert enclosed.lower_float - 1e-12 <= divergence <= enclosed.upper_float + 1e-12


@given(categories=st.integers(2, 10**6), epsilon=st.fractions(Fraction(1, 10**6), 512, max_denominator=10**6))
def test_the_noise_of_an_epsilon_is_enough_and_hardly_more(categories: int, epsilon: Fraction) -> None:
    noise = RandomisedResponse(categories=Public(categories), epsilon=Public(epsilon)).uniform_probability
    before, flint.ctx.prec = flint.ctx.prec, 2000
    try:
        exponential = (flint.arb(epsilon.numerator) / epsilon.denominator).exp()
        exact = categories / (exponential + (categories - 1))
        given_noise = flint.arb(noise.numerator) / noise.denominator
        assert given_noise >= exact
        assert given_noise <= exact * (1 + flint.arb(2) ** -59)
    finally:
        flint.ctx.prec = before
    assert 0 < noise <= 1


@pytest.mark.parametrize("options", [{"noise": Fraction(1, 3)}, {"epsilon": "1.5"}, {"noise": 1}])
def test_answers_follow_the_law(options: dict[str, Any]) -> None:
    given_options: dict[str, Any] = {name: Public(value) for name, value in options.items()}
    mechanism = RandomisedResponse(categories=Public(4), **given_options)
    codes = np.repeat([0, 2], 10_000)
    answers = mechanism.release(sample(codes), Coins.seeded(8))
    assert answers.shape == (20_000,)
    for code in (0, 2):
        seen = np.bincount(answers[codes == code].astype(int), minlength=4)
        expected = [float(mass) * 10_000 for mass in law(4, mechanism.uniform_probability, code)]
        assert stats.chisquare(seen, expected).pvalue > 1e-4


def test_it_speaks_for_replaced_records_without_assumptions() -> None:
    mechanism = build(RandomisedResponse, "mechanism", {"categories": "2", "epsilon": "1"})
    assert isinstance(mechanism, Mechanism)
    assert mechanism.about.relations == (REPLACE,)
    assert mechanism.about.assumptions == ()
    assert mechanism.release(sample([]), Coins.seeded(1)).shape == (0,)


@pytest.mark.parametrize(
    ("records", "weights", "message"),
    [
        ([[0.0], [1.0]], [1.0, 2.0], "weights: got a weight above 1"),
        ([[0.0, 1.0]], [1.0], "records: got 2 columns; admissible: one column"),
        ([[3.0]], [1.0], "whole numbers from 0 to 2"),
        ([[-1.0]], [1.0], "whole numbers from 0 to 2"),
        ([[0.5]], [1.0], "whole numbers from 0 to 2"),
    ],
)
def test_what_is_no_answer_is_refused(records: Any, weights: Any, message: str) -> None:
    mechanism = RandomisedResponse(categories=Public(3), noise=Public("0.5"))
    with pytest.raises(InvalidValue, match=message):
        mechanism.release(WeightedSample(records, weights), Coins.seeded(1))


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"noise": "0.5"}, "categories"),
        ({"categories": "1", "noise": "0.5"}, "categories"),
        ({"categories": "2.5", "noise": "0.5"}, "categories"),
        ({"categories": "3"}, "noise or epsilon"),
        ({"categories": "3", "noise": "0.5", "epsilon": "1"}, "noise or epsilon"),
        ({"categories": "3", "noise": "0"}, "noise"),
        ({"categories": "3", "noise": "1.1"}, "noise"),
        ({"categories": "3", "epsilon": "0"}, "epsilon"),
        ({"categories": "3", "epsilon": "513"}, "epsilon"),
    ],
)
def test_bad_options_are_named(options: dict[str, str], parameter: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        build(RandomisedResponse, "mechanism", options)
    assert caught.value.parameter == parameter


def test_there_are_from_2_categories_to_2_to_the_53() -> None:
    for categories in (2, 2**53):
        assert RandomisedResponse(categories=Public(categories), noise=Public("1/2")).categories.value == categories
    for refused in (1, 2**53 + 1, Fraction(5, 2)):
        with pytest.raises(InvalidValue, match=r"categories: got .*; admissible: a whole number from 2 to 2\^53"):
            RandomisedResponse(categories=Public(refused), noise=Public("1/2"))


@pytest.mark.parametrize("sampler", [Full(), Shuffled(users=Public(3))])
def test_an_answer_that_is_left_out_would_tell(sampler: Any) -> None:
    """The number of answers told for certain that a record lay outside the domain."""
    run = SampledRun(
        mechanism=RandomisedResponse(categories=Public(4), epsilon=Public(1)),
        sampler=sampler,
        domain=NormBall(norm=Norm.L2, radius=Public(2)),
    )
    records = np.array([[0.0], [1.0], [2.0]])
    with pytest.raises(InvalidValue, match="outside: got drop; admissible: clip"):
        run.release(records, Outside.DROP)
    assert len(run.release(records)[0]) == 3
