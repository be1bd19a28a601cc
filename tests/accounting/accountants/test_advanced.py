"""Advanced composition: the three forms of its theorem in floats, what it inverts, and what a finding says."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import e, exp, expm1, log, sqrt

import pytest

from certdp.accounting.accountants import ADVANCED, BASIC, BEST, Finding, WorstPairs
from certdp.accounting.accountants.advanced import advanced_delta, advanced_epsilon
from certdp.accounting.accountants.splits import Share
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.notions import APPROXIMATE, PURE
from certdp.accounting.pairs import (
    Composed,
    DensityPair,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomisedResponsePair,
    RenyiCurve,
)

Losses = Sequence[tuple[float, int]]
"""Losses and how often there are such."""

NOTHING = Enclosure.of(0)
SUM, WITH_E, WITHOUT_E = range(3)
FEW, MANY, LARGE, DIFFERENT = [(0.01, 2)], [(0.01, 4000)], [(0.5, 100)], [(0.2, 30), (0.05, 200)]


def shares(losses: Losses) -> list[Share]:
    return [Share(Enclosure.of(loss), NOTHING, times) for loss, times in losses]


def mean(losses: Losses) -> float:
    return sum(times * loss * expm1(loss) / (exp(loss) + 1) for loss, times in losses)


def theorem_3_5(losses: Losses, delta: float) -> list[float]:
    """The three forms of Kairouz, Oh and Viswanath."""
    squares = sum(times * loss**2 for loss, times in losses)
    return [
        sum(times * loss for loss, times in losses),
        mean(losses) + sqrt(2 * squares * log(e + sqrt(squares) / delta)),
        mean(losses) + sqrt(2 * squares * log(1 / delta)),
    ]


def run(*bounding: Pair) -> WorstPairs:
    return WorstPairs(bounding, bounding)


def proven(finding: Finding | None) -> Finding:
    assert finding is not None
    return finding


def responses(loss: float, times: int) -> Pair:
    """A pair of which only its pure loss is known."""
    return DensityPair(pure_law=lambda direction: Enclosure.of(loss)).repeated(times)


# The theorem


@pytest.mark.parametrize(
    ("losses", "delta", "form"),
    [
        (FEW, 1e-6, SUM),
        (MANY, 1e-5, WITH_E),
        (MANY, 0.1, WITH_E),
        (LARGE, 0.01, WITHOUT_E),
        (DIFFERENT, 1e-3, WITHOUT_E),
        (DIFFERENT[:1], 1e-8, SUM),
    ],
)
def test_epsilon_is_the_least_of_three_forms(losses: Losses, delta: float, form: int) -> None:
    forms = theorem_3_5(losses, delta)
    assert min(forms) == forms[form]
    assert advanced_epsilon(shares(losses), Enclosure.of(delta)).upper_float == pytest.approx(forms[form], rel=1e-12)


@pytest.mark.parametrize("delta", [Enclosure.of(0), Enclosure.between(0, "0.1")], ids=str)
def test_without_a_delta_there_is_the_sum_alone(delta: Enclosure) -> None:
    assert advanced_epsilon(shares(LARGE), delta).upper == 50


@pytest.mark.parametrize(
    ("losses", "epsilon", "form"),
    [
        (MANY, 1.0, WITHOUT_E),  # where the other form holds at no δ'
        (MANY, 1.2, WITHOUT_E),
        (MANY, 2.0, WITH_E),
        (MANY, 3.0, WITH_E),
        (LARGE, 30.0, WITHOUT_E),
        (DIFFERENT, 6.0, WITHOUT_E),
    ],
)
def test_delta_is_where_the_least_form_is_epsilon(losses: Losses, epsilon: float, form: int) -> None:
    delta = advanced_delta(shares(losses), Enclosure.of(epsilon)).upper_float
    forms = theorem_3_5(losses, delta)
    assert 0 < delta < 1
    assert min(forms) == forms[form] == pytest.approx(epsilon, rel=1e-12)


def test_the_ends_of_delta() -> None:
    assert advanced_delta(shares(FEW), Enclosure.of(0.02)).upper == 0
    assert advanced_delta(shares(MANY), Enclosure.of(mean(MANY) / 2)).upper == 1
    for loss in (Enclosure.between(0, 1), Enclosure.between(0, 2)):  # perhaps nothing, perhaps beyond ε
        assert advanced_delta([Share(loss, NOTHING, 1)], Enclosure.of(0.5)).upper == 1


def test_an_epsilon_of_which_little_is_sure() -> None:
    """The δ' of its lower end covers it."""
    least = advanced_delta(shares(MANY), Enclosure.of(1)).upper_float
    assert advanced_delta(shares(MANY), Enclosure.between(1, "1.5")).upper_float == pytest.approx(least, rel=1e-12)


# The accountant


def test_it_is_the_theorem_where_pure_losses_are_all_that_is_known() -> None:
    for times, delta in ((40, 0.01), (4000, 1e-5)):
        answer = proven(ADVANCED.epsilon(run(responses(0.01, times)), Enclosure.of(delta)))
        assert float(answer.upper) == pytest.approx(min(theorem_3_5([(0.01, times)], delta)), rel=1e-12)
        assert (answer.accountant, answer.notion, answer.bounds.two_sided) == (ADVANCED, APPROXIMATE, False)
        assert answer.theorems[-1].source == "Kairouz, Oh, Viswanath 2015"
        back = proven(ADVANCED.delta(run(responses(0.01, times)), Enclosure.of(answer.upper)))
        assert float(back.upper) == pytest.approx(delta, rel=1e-9)
        assert back.accountant == ADVANCED


def test_a_delta_of_which_little_is_sure() -> None:
    pairs = run(responses(0.01, 4000))
    least = proven(ADVANCED.epsilon(pairs, Enclosure.of("1e-5"))).upper
    assert proven(ADVANCED.epsilon(pairs, Enclosure.between("1e-5", "0.5"))).upper == least
    assert (
        proven(ADVANCED.epsilon(pairs, Enclosure.between(0, "0.5"))).upper
        == proven(BASIC.epsilon(pairs, NOTHING)).upper
    )


def test_a_loss_of_which_little_is_sure() -> None:
    """What a record may lose counts, though perhaps it loses nothing at this ε."""
    wide, sure = (LaplacePair(shift).repeated(100) for shift in (Enclosure.between("0.01", "0.1"), Enclosure.of("0.1")))
    answers = [float(proven(ADVANCED.delta(run(pair), Enclosure.of(5))).upper) for pair in (wide, sure)]
    assert answers[0] == pytest.approx(answers[1], rel=1e-6)
    assert answers[1] < 0.5 * float(proven(BASIC.delta(run(sure), Enclosure.of(5))).upper)


@pytest.mark.parametrize("delta", ["0", "1e-30", "1"])
def test_what_it_cannot_improve_is_the_finding_of_basic_in_its_own_name(delta: str) -> None:
    pairs = run(RandomisedResponsePair(Enclosure.of("0.5").log1p()))
    basic, own = (proven(each.epsilon(pairs, Enclosure.of(delta))) for each in (BASIC, ADVANCED))
    assert (own.bounds, own.notion, own.theorems) == (basic.bounds, basic.notion, basic.theorems)
    assert own.notion == (APPROXIMATE if delta == "1" else PURE)
    assert own.accountant == ADVANCED


@pytest.mark.parametrize("delta", [NOTHING, Enclosure.between(0, "0.1")], ids=str)
def test_where_delta_may_be_0_it_is_the_finding_of_basic(delta: Enclosure) -> None:
    """Sums in another order may be below those of basic composition by a rounding, and are none of another notion."""
    responses = [RandomisedResponsePair(Enclosure.of(Fraction(1, k)).log1p()) for k in range(1, 12)]
    for three in zip(responses, responses[1:], responses[2:], strict=False):
        first, second, third = three
        pairs = run(Composed((first, second, first, third, second)))
        basic, own = proven(BASIC.epsilon(pairs, delta)), proven(ADVANCED.epsilon(pairs, delta))
        assert (own.bounds, own.notion, own.theorems) == (basic.bounds, basic.notion, basic.theorems)


def test_a_loss_that_never_passes_epsilon_needs_no_delta() -> None:
    pairs = run(LaplacePair(Enclosure.of("0.5")).repeated(5))
    own = proven(ADVANCED.delta(pairs, Enclosure.of(3)))
    assert own.upper == 0
    assert (own.notion, own.accountant) == (PURE, ADVANCED)


@pytest.mark.parametrize("delta", ["0", "0.1", "1"])
def test_no_accountant_is_named_twice(delta: str) -> None:
    """Who compares accountants is told each by its own name."""
    best = proven(BEST.epsilon(run(RandomisedResponsePair(Enclosure.of(1)).repeated(3)), Enclosure.of(delta)))
    names = [str(each.accountant) for each in best.compared]
    assert names[:3] == ["basic", "advanced", "optimal"]
    assert len(set(names)) == len(names)


def test_nothing_where_nothing_follows() -> None:
    unknown = RenyiCurve(lambda order: Enclosure.of(order) / 10)
    for pairs in (run(unknown), run(GaussianPair(Enclosure.of(1)), unknown)):
        assert ADVANCED.epsilon(pairs, Enclosure.of("0.1")) is None
        assert ADVANCED.delta(pairs, Enclosure.of(1)) is None
