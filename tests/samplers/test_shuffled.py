"""Shuffled answers: what they cost, the law of their order, and what is refused."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2

from certdp import (
    ADD_REMOVE,
    REPLACE,
    Coins,
    Full,
    GaussianSum,
    LaplaceSum,
    Public,
    RandomisedResponse,
    Released,
    ResampleEach,
    SampledRun,
    SampleOnce,
    certificate,
)
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.relations import Direction
from certdp.pairs import ShuffledPair
from certdp.sampling import Shuffled
from certdp.verification.checker import check

ANSWER = RandomisedResponse(categories=Public(4), epsilon=Public(1))


def run_of(users: int, releases: ResampleEach | SampleOnce | None = None) -> SampledRun:
    sampler = Shuffled(users=Public(users))
    return SampledRun(mechanism=ANSWER, sampler=sampler, releases=SampleOnce(1) if releases is None else releases)


def test_it_is_the_pair_of_the_answer_among_clones() -> None:
    run = run_of(1000)
    assert run.relation == REPLACE
    ((pair,), reached) = run.pairs.bounding, run.pairs.reached
    assert not reached
    assert isinstance(pair, ShuffledPair)
    assert pair.users == 1000
    chance = ANSWER.uniform_probability / 4
    assert pair.clones.contains(Fraction(2) / (1 + (1 - 3 * chance) / chance))
    assert pair.local.upper <= 1
    found = run.delta("0.125").delta.upper
    assert found >= pair.delta(Enclosure.of("0.125"), Direction.REMOVE).lower_float
    assert found < 1e-3


def test_alone_it_is_the_answer_and_more_users_hide_it_better() -> None:
    alone = SampledRun(mechanism=ANSWER, sampler=Full()).delta("0.5").delta.upper
    (one, few, many) = (run_of(users).delta("0.5").delta.upper for users in (1, 10, 100))
    assert many < few < one
    assert one >= alone


def test_several_answers_in_one_order_are_one_of_their_joint_loss() -> None:
    (pair,) = run_of(50, SampleOnce(3)).pairs.bounding
    assert isinstance(pair, ShuffledPair)
    assert abs(pair.local.upper_float - 3) < 1e-9
    assert abs(pair.clones.upper_float - np.exp(-3)) < 1e-9
    (fresh,) = run_of(50, ResampleEach(3)).pairs.bounding
    assert fresh.pure is not None
    assert abs(fresh.pure(Direction.REMOVE).upper_float - 3) < 1e-9


def test_every_order_is_as_likely() -> None:
    scheme = Shuffled(users=Public(4)).rate_for(ANSWER.loss).batches
    coins, draws = Coins.seeded(1), 4800
    found = Counter(tuple(scheme.members(4, coins).tolist()) for _ in range(draws))
    assert found.keys() == set(permutations(range(4)))
    statistic = sum((count - draws / 24) ** 2 / (draws / 24) for count in found.values())
    assert chi2.sf(statistic, 23) > 1e-6


def test_answers_come_in_that_order() -> None:
    """Almost without lies the answers are the categories, in another order."""
    mechanism = RandomisedResponse(categories=Public(4), epsilon=Public(60))
    records = np.repeat(np.arange(4.0), 25)[:, None]
    run = SampledRun(mechanism=mechanism, sampler=Shuffled(users=Public(90)))
    (answers,) = run.release(records, coins=Coins.seeded(2))
    assert sorted(answers.tolist()) == sorted(records[:, 0].tolist())
    assert answers.tolist() != records[:, 0].tolist()


@pytest.mark.parametrize("users", [0, "1.5", 2**41])
def test_other_numbers_of_users_are_refused(users: int | str) -> None:
    with pytest.raises(InvalidValue) as refused:
        Shuffled(users=Public(users))
    assert refused.value.parameter == "users"


def test_the_largest_number_of_users_is_admitted_and_a_released_one_refused() -> None:
    assert Shuffled(users=Public(2**40)).users.value == 2**40
    payment = SampledRun(mechanism=ANSWER, sampler=Full()).pure()
    with pytest.raises(InvalidValue, match="Public value"):
        Shuffled(users=Released(Fraction(9), payment))


def test_fewer_records_than_users_are_refused() -> None:
    with pytest.raises(InvalidValue) as refused:
        run_of(5).release([[0.0], [1.0]], coins=Coins.seeded(3))
    assert refused.value.parameter == "records"


def test_sums_and_other_changes_are_refused_by_name() -> None:
    for mechanism in (GaussianSum(scale=Public(1)), LaplaceSum(scale=Public(1))):
        with pytest.raises(InvalidValue, match="local randomiser"):
            SampledRun(mechanism=mechanism, sampler=Shuffled(users=Public(9)))
    with pytest.raises(InvalidValue) as refused:
        SampledRun(mechanism=ANSWER, sampler=Shuffled(users=Public(9)), relation=ADD_REMOVE)
    assert refused.value.parameter == "relation"


@pytest.mark.parametrize("releases", [SampleOnce(1), SampleOnce(3)], ids=str)
def test_a_certificate_proves_the_answer(releases: SampleOnce) -> None:
    run = run_of(1000, releases)
    answer = run.epsilon("1e-6")
    found = certificate(run, answer)
    assert found.method == "hockey-stick"
    assert found.epsilon == Fraction(answer.epsilon.upper)
    assert check(found.content).accepted


def test_answers_in_several_orders_are_certified_on_a_line() -> None:
    run = run_of(300, ResampleEach(4))
    answer = run.epsilon("1e-6")
    found = certificate(run, answer)
    assert found.method == "loss-distribution"
    assert answer.epsilon.upper <= found.epsilon <= answer.epsilon.upper * (1 + 1e-3)


def test_more_users_than_a_check_looks_at_have_a_looser_certificate() -> None:
    """Such a check is refused by name; the pure loss of one answer is certified in its place."""
    run = run_of(2**40)
    assert certificate(run, run.pure()).epsilon <= 1
