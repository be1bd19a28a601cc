"""Steps with correlated noise: their sums, the law of their noise, and who may take part."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp import (
    Coins,
    GaussianSum,
    Norm,
    NormBall,
    Outside,
    Public,
)
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.correlated_noise import (
    CorrelatedRun,
    CyclicPoisson,
    MatrixStrategy,
    Participation,
    Strategy,
    ToeplitzStrategy,
    TreeStrategy,
)

BALL = NormBall(norm=Norm.L2, radius=Public(1))
BANDED = ToeplitzStrategy([1, 0.5, 0.375], 12)
OFTEN = Participation(times=3, apart=4)


def run_of(
    strategy: Strategy = BANDED, participation: Any = OFTEN, noise: Any = 2, domain: NormBall | None = BALL
) -> CorrelatedRun:
    mechanism = GaussianSum(noise_multiplier=Public(noise))
    return CorrelatedRun(mechanism=mechanism, strategy=strategy, participation=participation, domain=domain)


STRATEGIES = [
    (BANDED, OFTEN),
    (BANDED, CyclicPoisson(groups=3, rate="0.5")),
    (TreeStrategy(13), Participation(times=2, apart=6)),
    (MatrixStrategy(np.tril(np.arange(1.0, 26).reshape(5, 5) / 8)), Participation(times=2, apart=2)),
    (ToeplitzStrategy([3, -1], 7), Participation(times=2, apart=3)),
]


@pytest.mark.parametrize(("strategy", "participation"), STRATEGIES)
def test_almost_without_noise_the_sums_come_out(strategy: Strategy, participation: Any) -> None:
    records = np.random.default_rng(1).normal(size=(40, 3)) / 4
    run = run_of(strategy, participation, Fraction(1, 10**7))
    drawn = run.schedule(40, coins=Coins.seeded(2))
    found = run.release(records, coins=Coins.seeded(2))
    assert found.shape == (strategy.steps, 3)
    assert np.allclose(found, [records[members].sum(axis=0) for members in drawn], atol=1e-4)


@pytest.mark.parametrize(("strategy", "participation"), STRATEGIES)
def test_the_noise_of_the_sums_has_the_covariance_of_the_inverse(strategy: Strategy, participation: Any) -> None:
    """Of 20,000 columns without records: each entry within 6 standard deviations of (CᵀC)⁻¹, or of what a tree has."""
    columns = 20_000
    run = run_of(strategy, participation, 1)
    steps = run.begin(columns, coins=Coins.seeded(3))
    found = np.array([steps.add(np.empty((0, columns)), []) for _ in range(strategy.steps)])
    if isinstance(strategy, TreeStrategy):
        prefixes = np.cumsum(found, axis=0)
        variances = np.array([(step + 1).bit_count() for step in range(strategy.steps)])
        seen = prefixes.var(axis=1)
    else:
        inverse = np.linalg.inv(strategy.matrix)
        variances, seen = inverse @ inverse.T, found @ found.T / columns
        scale = np.sqrt(np.outer(np.diagonal(variances), np.diagonal(variances)))
        assert (np.abs(seen - variances) <= 6 * math.sqrt(2 / columns) * scale).all()
        return
    assert (np.abs(seen / variances - 1) <= 6 * math.sqrt(2 / columns)).all()


def test_released_rows_are_on_the_grid_of_records_and_entries() -> None:
    run = run_of(ToeplitzStrategy([1, 0.5], 3), Participation(times=1), 1)
    steps = run.begin(1, coins=Coins.seeded(4))
    first = steps.add([[0.3]], [0])
    units = first[0] * 2.0**23
    assert units == round(units)
    assert steps.step == 1


def test_records_beyond_the_domain_are_clipped_each_by_itself() -> None:
    run = run_of(ToeplitzStrategy([1], 2), Participation(times=2), Fraction(1, 10**7))
    steps = run.begin(2, coins=Coins.seeded(5))
    assert np.allclose(steps.add([[3.0, 4.0], [0.5, 0.0]], ["a", "b"]), [1.1, 0.8], atol=1e-5)
    steps = run.begin(2, Outside.DROP, coins=Coins.seeded(5))
    assert np.allclose(steps.add([[3.0, 4.0], [0.5, 0.0]], ["a", "b"]), [0.5, 0], atol=1e-5)


def test_large_sums_are_exact() -> None:
    """Sums beyond 2^62 units of the grid, which do not fit int64 with their entries."""
    ball = NormBall(norm=Norm.L2, radius=Public(2.0**60))
    mechanism = GaussianSum(scale=Public(1))
    run = CorrelatedRun(mechanism=mechanism, strategy=BANDED, participation=Participation(times=12), domain=ball)
    steps = run.begin(1, coins=Coins.seeded(6))
    *_, found = [steps.add([[2.0**60]], [0]) for _ in range(3)]
    assert abs(found[0] / 2.0**60 - 1) < 1e-15


def test_products_with_entries_beyond_int64_are_exact() -> None:
    """Sums below 2^62 units of the grid, which do not fit int64 once they are multiplied by entries."""
    ball = NormBall(norm=Norm.L2, radius=Public(2.0**35))
    strategy = ToeplitzStrategy([1 - 2.0**-22, 1 - 2.0**-21, 1 - 2.0**-20], 3)
    many = Participation(times=3)
    run = CorrelatedRun(mechanism=GaussianSum(scale=Public(1)), strategy=strategy, participation=many, domain=ball)
    steps = run.begin(1, coins=Coins.seeded(6))
    for _ in range(3):
        found = steps.add([[2.0**35]], [0])
        assert abs(found[0] - 2.0**35) < 50


def test_no_member_takes_part_more_often_than_stated() -> None:
    steps = run_of(participation=Participation(times=2)).begin(1, coins=Coins.seeded(7))
    steps.add([[1.0]], [7])
    steps.add([[1.0]], [7])
    with pytest.raises(InvalidValue):
        steps.add([[1.0]], [7])


def test_who_takes_part_is_checked_before_anything_is_drawn() -> None:
    steps = run_of().begin(1, coins=Coins.seeded(7))
    steps.add([[1.0]], [7])
    with pytest.raises(InvalidValue) as refused:
        steps.add([[1.0]], [7])
    assert refused.value.parameter == "members"
    for _ in range(3):
        steps.add(np.empty((0, 1)), [])
    steps.add([[1.0]], [7])
    assert steps.step == 5
    for wrong, members in (([[1.0], [1.0]], [1, 1]), ([[1.0]], [1, 2]), ([[1.0, 2.0]], [1])):
        with pytest.raises(InvalidValue):
            steps.add(wrong, members)
    assert steps.step == 5
    turns = run_of(participation=CyclicPoisson(groups=4, rate=1)).begin(1, coins=Coins.seeded(7))
    turns.add([[1.0]], [7])
    with pytest.raises(InvalidValue):
        turns.add([[1.0]], [7])


@pytest.mark.parametrize(
    "again",
    [[7], ["7"], np.array([7], dtype=np.uint8), np.array(["7"]), np.array([7], dtype=object), (7,), [np.int64(7)]],
)
def test_a_member_is_known_again_however_its_name_is_written(again: Any) -> None:
    others: list[Any] = [[7], ["7"], [7, "another"], ["another", 7]]
    for first in others:
        steps = run_of(participation=Participation(times=1)).begin(1, coins=Coins.seeded(7))
        steps.add([[1.0]] * len(first), first)
        with pytest.raises(InvalidValue, match="members"):
            steps.add([[1.0]], again)
        assert steps.step == 1


@pytest.mark.parametrize(
    "names", [[math.nan], [1.5, "a"], [True], [None], [b"a"], [object()], np.array([0], dtype="datetime64[D]"), [[1]]]
)
def test_a_member_that_might_not_be_known_again_is_refused(names: Any) -> None:
    """NaN is equal to nothing: it could take part in every step."""
    steps = run_of(participation=Participation(times=1)).begin(1, coins=Coins.seeded(7))
    with pytest.raises(InvalidType, match="whole numbers or texts"):
        steps.add([[1.0]] * len(names), names)
    assert steps.step == 0


def test_a_run_ends_after_its_steps() -> None:
    run = run_of(ToeplitzStrategy([1], 1), Participation(times=1))
    steps = run.begin(1, coins=Coins.seeded(8))
    steps.add([[1.0]], [0])
    with pytest.raises(InvalidValue) as refused:
        steps.add([[1.0]], [1])
    assert refused.value.parameter == "step"


def test_a_record_takes_part_as_often_as_stated_when_it_is_drawn() -> None:
    drawn = run_of(ToeplitzStrategy([1], 12), OFTEN).schedule(200, coins=Coins.seeded(9))
    turns = {record: [step for step, members in enumerate(drawn) if record in members] for record in range(200)}
    assert all(len(steps) == 3 and {b - a for a, b in itertools.pairwise(steps)} == {4} for steps in turns.values())
    sometimes = run_of(ToeplitzStrategy([1], 12), CyclicPoisson(groups=4, rate="0.5")).schedule(
        4000, coins=Coins.seeded(10)
    )
    assert abs(sum(map(len, sometimes)) / 4000 - 1.5) < 5 * math.sqrt(0.75 / 4000)


def test_releases_need_a_domain_and_entries_on_the_grid() -> None:
    with pytest.raises(InvalidValue) as refused:
        run_of(domain=None).begin(1)
    assert refused.value.parameter == "domain"
    with pytest.raises(InvalidValue) as refused:
        run_of(ToeplitzStrategy([1, 1 / 3], 4), Participation(times=1)).begin(1)
    assert refused.value.parameter == "strategy"
    run_of(ToeplitzStrategy([1, 1 / 3], 4).rounded(), Participation(times=1)).begin(1)


class Failing:
    """Random words, but for one request, which fails."""

    private = False

    def __init__(self, at: int | None) -> None:
        self._source, self._at, self.requests = Coins.seeded(9).source, at, 0

    def bits(self, count: int) -> np.ndarray:
        self.requests += 1
        if self.requests == self._at:
            raise OSError("no random words just now")
        return np.asarray(self._source.bits(count))


UNEVEN = MatrixStrategy(np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 8, 1, 0], [8, 0, 0, 1]])), Participation(times=1)


def moved(strategy: Strategy, participation: Any, at: int | None) -> tuple[np.ndarray, int]:
    """By how much a record of step 1 moves each estimate, where a request for random words failed; and the requests."""
    found = []
    for record in (1.0, 0.0):
        steps = run_of(strategy, participation).begin(1, coins=Coins(source := Failing(at)))
        rows: list[np.ndarray] = []
        while len(rows) < strategy.steps:
            there = len(rows) == 1
            try:
                rows.append(steps.add(np.full((int(there), 1), record), [7] if there else []))
            except OSError:
                assert steps.step == len(rows)
        found.append(np.array(rows))
    return found[0] - found[1], source.requests


@pytest.mark.parametrize(("strategy", "participation"), [*STRATEGIES, UNEVEN])
def test_a_step_that_failed_may_be_repeated(strategy: Strategy, participation: Any) -> None:
    """What a record moves is the same, whichever request for random words fails."""
    if isinstance(participation, CyclicPoisson):
        participation = Participation(times=1)
    right, requests = moved(strategy, participation, None)
    for at in range(1, requests + 1, max(1, requests // 12)):
        assert np.allclose(moved(strategy, participation, at)[0], right, atol=1e-6)


@pytest.mark.parametrize(("strategy", "participation"), [*STRATEGIES, UNEVEN])
def test_no_step_follows_one_that_was_interrupted(
    strategy: Strategy, participation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = run_of(strategy, participation).begin(1)
    steps.add(np.ones((1, 1)), [7])

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(steps, "_estimate", type("Interrupted", (), {"next": interrupted})())
    with pytest.raises(KeyboardInterrupt):
        steps.add(np.empty((0, 1)), [])
    with pytest.raises(InvalidValue, match="interrupted while a change was written down"):
        steps.add(np.empty((0, 1)), [])
