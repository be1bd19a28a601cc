"""The audit from one run: its bound against exact laws of right guesses, enumerated."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.units import Delta, Epsilon
from certdp.verification.audit import audit_one_run, correct_guesses, probability_of_correct_guesses
from tests.support.cases import examples

Law = dict[Any, float]
"""Outputs and their probabilities."""

COINS = [tuple(coins) for m in (1, 2, 3, 4) for coins in itertools.product((0, 1), repeat=m)]


def coins_of(canaries: int) -> list[tuple[int, ...]]:
    return [coins for coins in COINS if len(coins) == canaries]


def best_guesser(laws: dict[tuple[int, ...], Law], right: int, guesses: int) -> float:
    """The largest probability of so many right guesses by any guesser of so many canaries, coins fair."""
    canaries = len(next(iter(laws)))
    total = 0.0
    for output in {output for law in laws.values() for output in law}:
        total += max(
            sum(
                law.get(output, 0.0)
                for coins, law in laws.items()
                if sum(coins[place] == guess for place, guess in zip(places, answers, strict=True)) >= right
            )
            for places in itertools.combinations(range(canaries), guesses)
            for answers in itertools.product((0, 1), repeat=guesses)
        )
    return float(total / 2**canaries)


def delta_of(laws: dict[tuple[int, ...], Law], epsilon: float) -> float:
    """The least δ at ε under adding or removing one canary."""
    worst = 0.0
    for coins, law in laws.items():
        for place in range(len(coins)):
            other = laws[(*coins[:place], 1 - coins[place], *coins[place + 1 :])]
            excess = sum(
                max(0.0, chance - math.exp(epsilon) * other.get(output, 0.0)) for output, chance in law.items()
            )
            worst = max(worst, excess)
    return worst


def responses(canaries: int, epsilon: float, leak: float = 0.0, together: float = 0.0) -> dict[tuple[int, ...], Law]:
    """Randomised response to each coin; each coin is told outright with chance `leak`, all at once with `together`."""
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    laws = {}
    for coins in coins_of(canaries):
        law: Law = {("all", coins): together}
        for answers in itertools.product((0, 1, "0!", "1!"), repeat=canaries):
            chance = 1 - together
            for coin, answer in zip(coins, answers, strict=True):
                told = f"{coin}!" == answer
                chance *= (
                    leak * told if isinstance(answer, str) else (1 - leak) * (truth if answer == coin else 1 - truth)
                )
            if chance:
                law[answers] = chance
        laws[coins] = law
    return laws


def bound(right: int, guesses: int, epsilon: float, canaries: int, delta: float) -> float:
    found = probability_of_correct_guesses(right, guesses, Epsilon(epsilon), canaries=canaries, delta=Delta(delta))
    return found.upper_float


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.parametrize(("canaries", "guesses"), [(1, 1), (2, 2), (3, 3), (3, 2), (4, 4)])
def test_randomised_response_attains_the_bound(epsilon: float, canaries: int, guesses: int) -> None:
    laws = responses(canaries, epsilon)
    assert delta_of(laws, epsilon) < 1e-15
    for right in range(guesses + 1):
        assert bound(right, guesses, epsilon, canaries, 0.0) == pytest.approx(best_guesser(laws, right, guesses))


@pytest.mark.parametrize("leak", [{"leak": 0.02}, {"together": 0.02}, {"leak": 0.2}, {"leak": 0.01, "together": 0.05}])
def test_what_leaks_with_chance_delta_stays_below_the_bound(leak: dict[str, float]) -> None:
    epsilon = 0.5
    laws = responses(3, epsilon, **leak)
    delta = delta_of(laws, epsilon)
    assert delta == pytest.approx(1 - math.prod(1 - chance for chance in leak.values()), rel=0.5)
    for guesses in (2, 3):
        for right in range(guesses + 1):
            assert best_guesser(laws, right, guesses) <= bound(right, guesses, epsilon, 3, delta) + 1e-12


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, 1.0]), st.floats(0.05, 4.0))
@examples(60)
def test_no_mechanism_and_no_guesser_exceed_the_bound(seed: int, epsilon: float, concentration: float) -> None:
    """Any three canaries, any law of four outputs, whose exact δ at ε is computed from the definition."""
    generator = np.random.default_rng(seed)
    laws = {coins: dict(enumerate(generator.dirichlet(np.full(4, concentration)).tolist())) for coins in coins_of(3)}
    delta = min(1.0, delta_of(laws, epsilon))
    for guesses in (1, 2, 3):
        for right in range(1, guesses + 1):
            assert best_guesser(laws, right, guesses) <= bound(right, guesses, epsilon, 3, delta) + 1e-12


@pytest.mark.parametrize(("right", "guesses", "delta"), [(90, 100, "0"), (180, 200, "1e-6"), (700, 1000, "1e-5")])
def test_the_bound_on_epsilon_is_where_the_probability_is_the_error(right: int, guesses: int, delta: str) -> None:
    found = audit_one_run(right, guesses, delta=Delta(delta))
    limit = float(Fraction(delta))
    assert 0 < found.lower < math.log(right / (guesses - right))
    assert bound(right, guesses, found.lower, guesses, limit) <= 0.001
    assert bound(right, guesses, found.lower + 1e-3, guesses, limit) > 0.001


def test_without_delta_it_is_the_exact_binomial_bound() -> None:
    found = audit_one_run(90, 100)
    chance = 1 / (1 + math.exp(-found.lower))
    assert binom.sf(89, 100, chance) == pytest.approx(0.001, rel=1e-6)


@pytest.mark.parametrize("delta", ["0", "1e-5"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_right_release_is_refuted_at_most_as_often_as_stated(epsilon: float, delta: str) -> None:
    """Of randomised response that tells each coin with chance δ the law of right guesses is binomial."""
    canaries, limit = 400, float(Fraction(delta))
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    refuted = bisect_left(
        range(canaries + 1),
        True,
        key=lambda right: audit_one_run(right, canaries, delta=Delta(delta)).refutes(Epsilon(epsilon)),
    )
    assert refuted <= canaries
    alarm = binom.sf(refuted - 1, canaries, limit + (1 - limit) * truth)
    assert 0 < alarm <= 0.001


def test_more_canaries_than_guesses_cost_delta_only() -> None:
    few, many = (audit_one_run(90, 100, canaries=count, delta=Delta("1e-6")).lower for count in (100, 10_000))
    assert 0 < many < few < audit_one_run(90, 100, canaries=10_000).lower


def test_nothing_is_shown_by_luck_or_by_too_large_a_delta() -> None:
    assert audit_one_run(50, 100).lower == 0
    assert audit_one_run(100, 100, delta=Delta("0.5")).lower == 0
    assert not audit_one_run(0, 1).refutes(Epsilon(0))


def test_how_it_prints() -> None:
    text = str(audit_one_run(1800, 2000, canaries=2500, delta=Delta("1e-6")))
    assert text.endswith("at δ = 1e-06, confidence 0.999: 1,800 of 2,000 guesses right about 2,500 canaries in one run")


def scored(scores: Sequence[float], coins: Sequence[int], guesses: int) -> int:
    return correct_guesses(scores, np.array(coins, dtype=np.bool_), guesses=guesses)


def test_extreme_scores_are_guessed() -> None:
    scores, coins = [5.0, 4.0, 0.0, -4.0, -5.0], [1, 0, 1, 0, 1]
    assert scored(scores, coins, 1) == 1  # 5.0 is included
    assert scored(scores, coins, 2) == 1  # −5.0 is not left out
    assert scored(scores, coins, 4) == 2
    assert scored(scores, coins, 5) == 3


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"right": -1, "guesses": 10}, InvalidValue),
        ({"right": 11, "guesses": 10}, InvalidValue),
        ({"right": 1, "guesses": 0}, InvalidValue),
        ({"right": 1, "guesses": 10, "canaries": 9}, InvalidValue),
        ({"right": 1.5, "guesses": 10}, InvalidType),
        ({"right": 1, "guesses": 10, "confidence": 1}, InvalidValue),
        ({"right": 1, "guesses": 10, "delta": [0.1]}, InvalidType),
    ],
)
def test_counts_that_do_not_fit(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        audit_one_run(**arguments)


@pytest.mark.parametrize(
    ("scores", "coins", "guesses"),
    [
        ([[1.0]], [1], 1),
        ([math.nan], [1], 1),
        ([1.0], [1, 0], 1),
        ([1.0], [1], 2),
        ([1.0], [1], 0),
    ],
)
def test_scores_that_are_none(scores: Any, coins: list[int], guesses: int) -> None:
    with pytest.raises(InvalidValue):
        scored(scores, coins, guesses)


def test_coins_are_truth_values() -> None:
    with pytest.raises(InvalidType, match="included"):
        correct_guesses([1.0, 2.0], [0, 1], guesses=1)
