"""Sums of ε and of δ, against closed forms of the releases' own laws; and what a finding says it rests on."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import pytest

from certdp.accounting.accountants import BASIC, Finding, WorstPairs
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
    compose_pairs,
)
from certdp.accounting.relations import Direction

LAPLACE = LaplacePair(Enclosure.of("0.5")).repeated(5)
RESPONSES = RandomisedResponsePair(Enclosure.of("0.5").log1p()).repeated(3)  # log 3/2 each
PURE_ALONE = DensityPair(pure_law=lambda direction: Enclosure.of(2))
RENYI_ALONE = RenyiCurve(lambda order: Enclosure.of(order) / 10)


def run(*bounding: Pair, reached: Pair | None = None) -> WorstPairs:
    return WorstPairs(bounding, bounding if reached is None else (reached,))


def proven(finding: Finding | None) -> Finding:
    assert finding is not None
    return finding


def laplace_epsilon(shift: float, delta: float) -> float:
    """Where 1 − e^{(ε − s)/2} = δ."""
    return shift + 2 * math.log1p(-delta)


def laplace_delta(shift: float, epsilon: float) -> float:
    return -math.expm1((epsilon - shift) / 2)


def test_a_delta_is_shared_out_evenly() -> None:
    answer = proven(BASIC.epsilon(run(LAPLACE), Enclosure.of("0.1")))
    assert float(answer.upper) == pytest.approx(5 * laplace_epsilon(0.5, 0.1 / 5), rel=1e-14)
    assert (answer.notion, answer.bounds.two_sided) == (APPROXIMATE, False)
    assert APPROXIMATE.composition_theorem in answer.theorems
    assert PURE.composition_theorem not in answer.theorems


def test_a_delta_of_which_little_is_sure() -> None:
    """The bound holds for every δ inside, so it is that of the least."""
    at_least = proven(BASIC.epsilon(run(LAPLACE), Enclosure.of("0.1"))).upper
    assert proven(BASIC.epsilon(run(LAPLACE), Enclosure.between("0.1", 1))).upper == at_least
    perhaps_nothing = proven(BASIC.epsilon(run(LAPLACE), Enclosure.between(0, "0.1")))
    assert perhaps_nothing.upper == Fraction(5, 2)
    assert not perhaps_nothing.bounds.two_sided  # 5/2 is the least at δ = 0 alone


def test_a_delta_of_1_allows_everything() -> None:
    answer = proven(BASIC.epsilon(run(LAPLACE), Enclosure.of(1)))
    assert answer.upper == 0
    assert answer.bounds.two_sided
    assert answer.theorems == (APPROXIMATE.composition_theorem,)


def test_without_a_delta_pure_losses_are_summed() -> None:
    answer = proven(BASIC.epsilon(run(LAPLACE), Enclosure.of(0)))
    assert answer.bounds.enclosure.lower == answer.upper == Fraction(5, 2)
    assert (answer.notion, answer.bounds.two_sided) == (PURE, True)
    assert answer.theorems == (PURE.composition_theorem,)


@pytest.mark.parametrize("delta", [Enclosure.of(0), Enclosure.between(0, "0.1")], ids=str)
def test_where_delta_may_be_0_no_other_sum_is_stated(delta: Enclosure) -> None:
    """Sums in another order may be smaller by a rounding, and are none of another notion."""
    responses = [RandomisedResponsePair(Enclosure.of(Fraction(1, k)).log1p()) for k in range(1, 40)]
    for first, second, third in zip(responses, responses[1:], responses[2:], strict=False):
        answer = proven(BASIC.epsilon(run(Composed((first, second, first, third, second))), delta))
        assert (answer.notion, answer.bounds.two_sided) == (PURE, delta.upper == 0)


def test_a_delta_that_is_of_no_use_is_not_used() -> None:
    answer = proven(BASIC.epsilon(run(RESPONSES), Enclosure.of("1e-30")))
    assert float(answer.upper) == pytest.approx(3 * math.log(1.5), rel=1e-15)
    assert (answer.notion, answer.bounds.two_sided) == (PURE, False)
    assert APPROXIMATE.composition_theorem not in answer.theorems


def test_a_delta_is_of_use_whatever_some_record_is_known_to_lose() -> None:
    little = LaplacePair(Enclosure.of("0.01"))
    answer = proven(BASIC.epsilon(run(LAPLACE, reached=little), Enclosure.of("0.1")))
    assert float(answer.upper) == pytest.approx(5 * laplace_epsilon(0.5, 0.1 / 5), rel=1e-14)


@pytest.mark.parametrize("delta", ["0", "1e-5"])
def test_every_pair_that_bounds_must_be_known(delta: str) -> None:
    assert BASIC.epsilon(run(GaussianPair(Enclosure.of(1)), PURE_ALONE), Enclosure.of(delta)) is None
    assert BASIC.epsilon(run(RENYI_ALONE), Enclosure.of(delta)) is None


def test_a_loss_that_reaches_epsilon_nowhere_needs_no_delta() -> None:
    answer = proven(BASIC.delta(run(LAPLACE), Enclosure.of("2.5")))
    assert answer.upper == 0
    assert (answer.notion, answer.bounds.two_sided) == (PURE, True)
    assert answer.theorems[0] == PURE.composition_theorem


@pytest.mark.parametrize("epsilon", ["2", "0.1", "2.3", 1 / 3])
def test_an_epsilon_is_shared_out_evenly(epsilon: str | float) -> None:
    answer = proven(BASIC.delta(run(LAPLACE), Enclosure.of(epsilon)))
    assert float(answer.upper) == pytest.approx(min(1, 5 * laplace_delta(0.5, float(epsilon) / 5)), rel=1e-12)
    assert (answer.notion, answer.bounds.two_sided) == (APPROXIMATE, False)


@pytest.mark.parametrize("epsilon", ["0.1", "1.9", 1 / 3])
def test_an_epsilon_is_shared_out_by_size(epsilon: str | float) -> None:
    different = compose_pairs([LaplacePair(Enclosure.of("0.5")), LaplacePair(Enclosure.of("1.5"))])
    answer = proven(BASIC.delta(run(different), Enclosure.of(epsilon)))
    quarter = float(epsilon) / 4
    assert float(answer.upper) == pytest.approx(laplace_delta(0.5, quarter) + laplace_delta(1.5, 3 * quarter))


def test_sums_of_many_shares_leave_room_for_rounding() -> None:
    different = compose_pairs(LaplacePair(Enclosure.of(Fraction(k, 700))) for k in range(1, 61))
    assert 0 < proven(BASIC.delta(run(different), Enclosure.of("1.1"))).upper < 1


def test_very_many_kinds_of_releases_are_asked_for_no_law() -> None:
    """Each of them takes time: beyond 64 kinds their pure losses have to do."""
    asked = list[Enclosure]()

    def law(epsilon: Enclosure, direction: Direction) -> Enclosure:
        asked.append(epsilon)
        return Enclosure.of("1e-9")

    def kinds(number: int) -> WorstPairs:
        losses = (Enclosure.of(Fraction(1, k)) for k in range(1, number + 1))
        return run(compose_pairs(DensityPair(delta_law=law, pure_law=partial(_exactly, loss)) for loss in losses))

    assert BASIC.delta(kinds(65), Enclosure.of("0.1")) is None
    assert not asked
    assert proven(BASIC.delta(kinds(64), Enclosure.of("0.1"))).upper > 0
    assert asked


def _exactly(value: Enclosure, _: Direction) -> Enclosure:
    return value


def test_an_epsilon_of_which_little_is_sure() -> None:
    answer = proven(BASIC.delta(run(LAPLACE), Enclosure.between("2", "2.25")))
    assert answer.upper == proven(BASIC.delta(run(LAPLACE), Enclosure.of("2"))).upper


def test_no_delta_without_a_law() -> None:
    """A loss beyond ε, and nothing known about how often."""
    one = Enclosure.of(1)
    assert BASIC.delta(run(PURE_ALONE), one) is None
    assert BASIC.delta(run(RENYI_ALONE), one) is None
    assert BASIC.delta(run(LAPLACE, RENYI_ALONE), one) is None
