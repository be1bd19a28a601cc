"""Runs of many different steps: against their composition step by step, and what they refuse."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import (
    Answer,
    Delta,
    Epsilon,
    GaussianSteps,
    LaplaceSteps,
    OutsideDomain,
    Private,
    Public,
)
from certdp.accountants import Accountant
from certdp.accounting.accountants import BEST, LOSS_DISTRIBUTION, RENYI, WorstPairs
from certdp.accounting.accountants.grouped_steps import grouped
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.exact import Floats
from certdp.accounting.pairs import Composed, GaussianPair, LaplacePair, ManyGaussianSteps, Pair
from certdp.runs.many_steps import ManySteps
from certdp.runs.run import Interval
from tests.support.cases import examples

Kind = Callable[..., ManySteps]
BASES: dict[Kind, Callable[[Enclosure], Pair]] = {GaussianSteps: GaussianPair, LaplaceSteps: LaplacePair}
kinds = pytest.mark.parametrize("kind", BASES)


def steps(kind: Kind, rates: object, noise: object, groups: int = 256) -> ManySteps:
    return kind(rates=Public(rates), noise_multipliers=Public(noise), groups=groups)


def one_by_one(kind: Kind, rates: list[float], noise: list[float]) -> Composed:
    """The exact run, without floats or groups."""
    pairs = [
        BASES[kind](Enclosure.of(1) / Fraction(scale)).sampled(Enclosure.of(rate))
        for rate, scale in zip(rates, noise, strict=True)
        if rate
    ]
    return Composed(tuple(pairs))


@pytest.mark.slow
@kinds
@pytest.mark.parametrize("groups", [1, 2, 9])
def test_an_interval_holds_that_of_the_steps_one_by_one(kind: Kind, groups: int) -> None:
    rates = [0.125, 0.3, 0.0, 0.01, 0.2, 0.3, 1.0, 1.0]
    noise = [2.0, 3.0, 1.0, 0.7, 1.1, 3.0, 8.0, 9.0]
    pair, run = one_by_one(kind, rates, noise), steps(kind, rates, noise, groups)
    for accountant in (LOSS_DISTRIBUTION, RENYI):
        exactly = accountant.epsilon(WorstPairs((pair,), (pair,)), Enclosure.of("1e-3"))
        found = run.epsilon(Delta("1e-3"), accountant=accountant)
        assert exactly is not None
        assert found.epsilon.upper >= exactly.bounds.enclosure.lower * (1 - Fraction(1, 10**9))
        if groups == 9:
            assert found.epsilon.upper == pytest.approx(float(exactly.upper), rel=2e-3)
        if found.epsilon.lower is not None:
            assert found.epsilon.lower <= exactly.upper


@pytest.mark.slow
@kinds
def test_more_groups_bring_the_ends_closer(kind: Kind) -> None:
    """Of the groups alone: the moments of Gaussian steps tell more than any."""
    rates, noise = np.linspace(0.01, 0.1, 16), np.linspace(4.0, 1.0, 16)
    ends = [by_groups(steps(kind, rates, noise, groups), "1e-4") for groups in (1, 4, 16)]
    found = [Interval(lower.lower_float, upper.upper_float) for lower, upper in ends]
    uppers, lowers = [one.upper for one in found], [one.lower or 0.0 for one in found]
    assert uppers == sorted(uppers, reverse=True)
    assert lowers == sorted(lowers)
    assert lowers[-1] <= uppers[-1]


@pytest.mark.slow
@kinds
def test_more_steps_larger_rates_and_less_noise_cost_more(kind: Kind) -> None:
    rates, noise = np.linspace(0.02, 0.1, 20), np.linspace(3.0, 2.0, 20)
    least = steps(kind, rates, noise, 4).epsilon(Delta("1e-4")).epsilon.upper
    for more in ((rates * 1.5, noise), (rates, noise / 1.5), (np.tile(rates, 2), np.tile(noise, 2))):
        assert steps(kind, *more, 4).epsilon(Delta("1e-4")).epsilon.upper > least


def by_groups(run: ManySteps, delta: str) -> tuple[Enclosure, Enclosure]:
    """ε of the groups below and above."""
    found = []
    for (pair,) in reversed(_ends(run)):
        match pair:
            case ManyGaussianSteps():
                pair = pair.grouped
        finding = LOSS_DISTRIBUTION.epsilon(WorstPairs((pair,), (pair,)), Enclosure.of(delta))
        assert finding is not None
        found.append(finding.bounds.enclosure)
    below, above = found
    return below, above


@pytest.mark.parametrize("seed", range(6))
def test_no_answer_is_wider_than_that_of_groups(seed: int) -> None:
    """And that of the steps one by one is within, of many small losses and of rare large ones."""
    rng = np.random.default_rng([47, seed])
    n = (24, 40)[seed % 2]
    rates = 10 ** rng.uniform((-3.5, -2.5)[seed % 2], (-2.5, -1.0)[seed // 3], n)
    noise = rng.uniform((0.6, 1.0, 1.5)[seed % 3], 3.0, n)
    run, delta = steps(GaussianSteps, rates, noise, 8), ("1e-6", "1e-3")[seed // 2 % 2]
    found = run.epsilon(Delta(delta), accountant=LOSS_DISTRIBUTION).epsilon
    below, above = by_groups(run, delta)
    assert found.lower is not None
    assert float(below.lower) * (1 - 1e-12) <= found.lower <= found.upper <= float(above.upper) * (1 + 1e-12)
    pair = one_by_one(GaussianSteps, rates.tolist(), noise.tolist())
    exactly = LOSS_DISTRIBUTION.epsilon(WorstPairs((pair,), (pair,)), Enclosure.of(delta))
    assert exactly is not None
    assert found.lower <= exactly.upper
    assert float(exactly.bounds.enclosure.lower) <= found.upper


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.001, 0.01])
def test_hundreds_of_different_steps_are_told_as_they_are(rate: float) -> None:
    """Where large losses are rare, too: 256 groups hide 0.4 % of ε there."""
    found = steps(GaussianSteps, rate, np.linspace(1.0, 2.0, 320)).epsilon(Delta("1e-6"), accountant=LOSS_DISTRIBUTION)
    assert found.epsilon.lower is not None
    assert found.epsilon.lower < found.epsilon.upper < (1 + 1e-5) * found.epsilon.lower


@examples(40)
@given(
    rows=st.lists(st.tuples(st.floats(1e-6, 1.0), st.floats(1e-3, 1e3)), min_size=1, max_size=40),
    most=st.integers(1, 12),
    rate=st.floats(1e-6, 1.0),
    shift=st.floats(1e-3, 1e3),
)
def test_groups_bound_the_steps(rows: list[tuple[float, float]], most: int, rate: float, shift: float) -> None:
    """Above any corner there are at most as many steps as upper ends of groups, and at least as many lower ends."""
    rates, shifts = (np.array(column) for column in zip(*rows, strict=True))
    groups = grouped(rates, shifts, shifts, _sizes, most=most)
    assert groups.times.sum() == len(rows)
    assert len(groups.times) <= max(most, 1)

    def above(some: Floats, others: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        return (some >= rate) & (others >= shift)

    high = groups.times[above(groups.high_rate, groups.high_shift)].sum()
    low = groups.times[above(groups.low_rate, groups.low_shift)].sum()
    assert low <= np.count_nonzero(above(rates, shifts)) <= high


def _sizes(rates: Floats, shifts: Floats) -> Floats:
    logarithms: Floats = 2 * np.log(rates) + 2 * np.log(shifts)
    return logarithms


@pytest.mark.slow
def test_very_many_different_steps_lie_between_their_groups() -> None:
    """The moments tell more than the groups, which serve the other notions and compositions."""
    rates, noise = np.linspace(0.001, 0.002, 20_000), np.linspace(2.0, 3.0, 20_000)
    run = steps(GaussianSteps, rates, noise, 16)
    (high,), (low,) = _ends(run)
    assert isinstance(high, ManyGaussianSteps)
    assert isinstance(low, ManyGaussianSteps)
    above, below = (pair.grouped for pair in (high, low))
    for delta in ("1e-6", "1e-2"):
        found = run.epsilon(Delta(delta), accountant=LOSS_DISTRIBUTION).epsilon
        outer = [
            LOSS_DISTRIBUTION.epsilon(WorstPairs((pair,), (pair,)), Enclosure.of(delta)) for pair in (below, above)
        ]
        assert found.lower is not None
        assert all(one is not None for one in outer)
        ends = [one.bounds.enclosure for one in outer if one is not None]
        assert float(ends[0].lower) < found.lower <= found.upper < float(ends[1].upper)
        assert found.upper - found.lower < 1e-3 * found.upper < 0.1 * float(ends[1].upper - ends[0].lower)
    assert Composed((high,)).releases == above.releases
    kept = pickle.loads(pickle.dumps(run.epsilon(Delta("1e-2"))))
    assert kept.epsilon == found
    assert run.epsilon(Delta("1e-6"), accountant=RENYI).epsilon.upper > found.upper


def test_steps_that_see_everybody_are_one() -> None:
    """√Σ s², exactly, at sizes where binary64 loses squares."""
    for scale in (1.0, 1e-290, 1e290):
        noise = [3.0 * scale, 7.0 * scale, 1e9 * scale]
        (high,), (low,) = (pairs for pairs in _ends(steps(GaussianSteps, 1.0, noise)))
        square = sum(1 / Fraction(one) ** 2 for one in noise)
        assert isinstance(high, GaussianPair)
        assert isinstance(low, GaussianPair)
        assert low.shift.upper**2 <= square <= high.shift.lower**2
        assert high.shift.upper / low.shift.lower < 1 + Fraction(1, 2**47)


def _ends(run: ManySteps) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    return run.pairs.bounding, run.pairs.reached


def test_equal_steps_are_exactly_those_of_a_repetition() -> None:
    run = steps(GaussianSteps, 0.25, np.full(1000, 2.0), 1)
    (high,), (low,) = _ends(run)
    assert high == low
    assert high == GaussianPair(Enclosure.of("0.5")).sampled(Enclosure.of("0.25")).repeated(1000)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.0, 1e-300, 1e-9, 1.0])
@pytest.mark.parametrize("noise", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("accountant", [LOSS_DISTRIBUTION, pytest.param(BEST, marks=pytest.mark.soundness)], ids=str)
@kinds
def test_corners(kind: Kind, accountant: Accountant, rate: float, noise: float) -> None:
    """A proven answer or a clear error, at all ends of what is admitted."""
    run = steps(kind, [rate] * 3 + [0.0], noise)
    questions: list[Callable[[], Answer]] = [
        *(partial(run.epsilon, Delta(delta), accountant=accountant) for delta in ("0", "1e-300", "1e-6", "1")),
        *(partial(run.delta, Epsilon(epsilon), accountant=accountant) for epsilon in ("0", "1e-300", "1", "1e4")),
    ]
    for ask in questions:
        try:
            answer = ask()
        except (OutsideDomain, InvalidValue) as refused:
            assert str(refused)  # noqa: PT017 - the error is one of two right outcomes
            continue
        for bounds in (answer.epsilon, answer.delta):
            assert 0 <= (bounds.lower or 0) <= bounds.upper
        if not rate:
            assert answer.delta.upper == 0 or answer.epsilon.upper == 0


@pytest.mark.slow
def test_a_long_run_of_different_steps() -> None:
    n = 20_000
    run = steps(GaussianSteps, np.linspace(1e-3, 4e-3, n), np.linspace(1.0, 3.0, n), 24)
    found = run.epsilon(Delta("1e-6"))
    assert found.accountant == LOSS_DISTRIBUTION
    assert found.epsilon.lower is not None
    assert found.epsilon.upper < (1 + 1e-4) * found.epsilon.lower
    back = run.delta(Epsilon(found.epsilon.upper))
    assert back.delta.lower is not None
    assert 1e-6 * (1 - 1e-3) < back.delta.lower <= back.delta.upper <= 1e-6  # δ moves by more than ε does


def test_steps_that_are_nearly_equal_are_put_together() -> None:
    """Groups hide less there than interpolation does."""
    near = np.resize(1 + 1e-6 * np.linspace(0, 1, 17), 4000)
    (high,), _ = _ends(steps(GaussianSteps, 0.001 * near, near, 16))
    assert not isinstance(high, ManyGaussianSteps)
    found = steps(GaussianSteps, 0.001 * near, near, 16).epsilon(Delta("1e-3"), accountant=LOSS_DISTRIBUTION).epsilon
    assert found.lower is not None
    assert found.lower < found.upper < (1 + 1e-6) * found.lower


@pytest.mark.soundness
def test_a_million_different_steps() -> None:
    n = 10**6
    rng = np.random.default_rng(1)
    rates, noise = rng.uniform(1e-4, 4e-4, n), rng.uniform(1.0, 3.0, n)
    found = steps(GaussianSteps, rates, noise).epsilon(Delta("1e-6"), accountant=BEST).epsilon
    assert found.lower is not None
    assert found.lower < found.upper < (1 + 1e-3) * found.lower


@pytest.mark.slow
def test_it_says_what_it_rests_on() -> None:
    run = steps(GaussianSteps, np.linspace(0.01, 0.02, 50), 1.5)
    assert str(run) == "50 Gaussian steps · rates 0.01 to 0.02 · noise multipliers 1.5"
    assert len(run) == 50
    named = {one.name: one.value for one in run.epsilon(Delta("1e-5")).guarantee.assumptions}
    assert named["normal noise over the ℓ2 bound of a record"] == "1.5, in each"
    other = steps(GaussianSteps, np.linspace(0.01, 0.02 + 1e-15, 50), 1.5)
    name = "each record enters each sample independently with its rate"
    digests = [one.value for each in (run, other) for one in each.derivation.assumptions if one.name == name]
    assert "SHA-256" in digests[0]
    assert digests[0] != digests[1]


@pytest.mark.parametrize(
    ("rates", "noise", "named"),
    [
        ([0.5, math.nan], 1.0, r"rates\[1\]"),
        ([0.5, 1.5], 1.0, r"rates\[1\]"),
        ([-0.1], 1.0, r"rates\[0\]"),
        (0.5, [1.0, 0.0], r"noise_multipliers\[1\]"),
        (0.5, [math.inf], r"noise_multipliers\[0\]"),
        (0.5, [math.nan], r"noise_multipliers\[0\]"),
        ([], 1.0, "rates"),
        ([[0.5]], 1.0, "rates"),
        (["x"], 1.0, "rates"),
        ([True], 1.0, "rates"),
        ([0.5, 0.5], [1.0, 1.0, 1.0], "noise_multipliers"),
        (0.5, [2**53 + 1], "noise_multipliers"),
    ],
)
def test_bad_numbers_are_named(rates: object, noise: object, named: str) -> None:
    with pytest.raises(InvalidValue, match=named):
        steps(GaussianSteps, rates, noise)


def test_only_public_numbers() -> None:
    for private in ([0.5], Private([0.5])):
        with pytest.raises(InvalidType, match=r"rates.*public numbers"):
            GaussianSteps(rates=private, noise_multipliers=Public(1.0))  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="groups"):
        steps(GaussianSteps, 0.5, 1.0, 0)
