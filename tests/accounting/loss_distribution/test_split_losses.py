"""Losses below that are split between lattice points: lower ends against exact sums and closed forms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution import lattice_sums
from certdp.accounting.loss_distribution.lattice import delta_by_lattice, epsilon_by_lattice
from certdp.accounting.loss_distribution.lattice_plans import plan_for_delta
from certdp.accounting.loss_distribution.lattice_sums import composed
from certdp.accounting.pairs import (
    DiscreteLaplacePair,
    FinitePair,
    GaussianPair,
    LaplacePair,
    Pair,
    Sampled,
    SampledGaussian,
)
from certdp.accounting.relations import Direction
from tests.support.cases import examples
from tests.support.loss_cells import cells_of, gap


@pytest.fixture
def always_split(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Split wherever that loses less of the moments than merging, however few releases there are."""
    monkeypatch.setattr(lattice_sums, "_LIKELY_NATS", 0.0)
    composed.cache_clear()
    yield
    composed.cache_clear()


def response(factor: Fraction) -> FinitePair:
    """Randomised response whose loss is the logarithm of a fraction."""
    truth = factor / (1 + factor)
    return FinitePair((truth, 1 - truth), (1 - truth, truth))


def exact_delta(parts: list[tuple[Fraction, int]], factor: Fraction) -> Fraction:
    """δ at the logarithm of `factor`, by sums of products of binomials."""
    outcomes = {Fraction(1): Fraction(1)}  # density ratios, and probabilities under the first law
    for base, times in parts:
        truth = base / (1 + base)
        lies = {
            base ** (times - 2 * k): comb(times, k) * truth ** (times - k) * (1 - truth) ** k for k in range(times + 1)
        }
        products: dict[Fraction, Fraction] = {}
        for ratio, mass in outcomes.items():
            for other, chance in lies.items():
                products[ratio * other] = products.get(ratio * other, Fraction(0)) + mass * chance
        outcomes = products
    return sum((mass * (1 - factor / ratio) for ratio, mass in outcomes.items() if ratio > factor), Fraction(0))


FACTORS = st.builds(Fraction, st.integers(1001, 2600), st.just(1000))


@given(
    st.lists(st.tuples(FACTORS, st.integers(1, 24)), min_size=2, max_size=3, unique_by=lambda part: part[0]),
    st.floats(0.0, 0.95),
    st.sampled_from([8, 10, 12]),
)
@examples(30)
def test_responses_that_no_lattice_holds_have_proven_ends(
    parts: list[tuple[Fraction, int]], share: float, log_points: int
) -> None:
    most = sum(times * math.log(base) for base, times in parts)
    factor = Fraction(math.exp(share * most)).limit_denominator(1000)
    epsilon = Enclosure.of(factor).log()
    found = delta_by_lattice(
        [(cells_of(response(base)), times) for base, times in parts], epsilon, points=1 << log_points
    )
    assert found.lower <= exact_delta(parts, factor) <= found.upper


def test_many_responses_are_closer_than_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [(Fraction(21, 20), 700), (Fraction(31, 30), 400), (Fraction(9, 8), 30)]
    cells = [(cells_of(response(base)), times) for base, times in parts]
    delta = Enclosure.of("1e-6")
    found = epsilon_by_lattice(cells, delta, points=1 << 16)
    monkeypatch.setattr(lattice_sums, "_LIKELY_NATS", math.inf)
    composed.cache_clear()
    merged = epsilon_by_lattice(cells, delta, points=1 << 16)
    composed.cache_clear()
    assert abs(found.upper - merged.upper) < found.upper / 10**9
    assert merged.lower < found.lower
    assert gap(found) < gap(merged) / 3


def test_what_the_split_moved_is_at_stake(always_split: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the room, a lower end is above the truth."""
    parts = [(Fraction(3, 2), 20), (Fraction(7, 5), 20)]
    factor = Fraction(2000)
    cells = [(cells_of(response(base)), times) for base, times in parts]
    exact = exact_delta(parts, factor)
    assert delta_by_lattice(cells, Enclosure.of(factor).log(), points=1 << 8).lower <= exact
    composed.cache_clear()
    monkeypatch.setattr(lattice_sums._Scatter, "made_for", lambda self, log_delta, epsilon: self)
    monkeypatch.setattr(lattice_sums._Scatter, "missing", lambda self, distance: Enclosure.of(0, precision=64))
    assert delta_by_lattice(cells, Enclosure.of(factor).log(), points=1 << 8).lower > exact


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize(("shift", "times"), [("1", 1), ("0.5", 3), ("0.1", 100), ("0.01", 10_000)])
@pytest.mark.parametrize("points", [1 << 8, 1 << 11])
def test_gaussian_releases_that_are_split(
    always_split: None, shift: str, times: int, direction: Direction, points: int
) -> None:
    pair = GaussianPair(Enclosure.of(shift))
    law = pair.repeated(times).delta
    assert law is not None
    scale = float(shift) * math.sqrt(times)
    for epsilon in (scale / 3, 3 * scale, 6 * scale):
        level = Enclosure.of(Fraction(epsilon))
        found = delta_by_lattice([(cells_of(pair, direction), times)], level, points=points)
        truth = law(level, direction)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper


PAIRS: list[tuple[Pair, int]] = [
    (LaplacePair(Enclosure.of("0.1")), 300),
    (Sampled(LaplacePair(Enclosure.of("0.7")), Enclosure.of("0.03")), 900),
    (SampledGaussian(Enclosure.of("0.6"), Enclosure.of("0.02")), 500),
    (response(Fraction(6, 5)).sampled(Enclosure.of("0.1")), 700),
]


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("chosen", [[0], [1], [2], [3], [1, 3], [0, 2, 3]])
def test_split_losses_are_below_what_is_rounded_up(always_split: None, chosen: list[int], direction: Direction) -> None:
    """Upper ends rest on no split below; on a fine lattice they are close to the truth."""
    cells = tuple((cells_of(PAIRS[one][0], direction), PAIRS[one][1]) for one in chosen)
    finest = composed(cells, plan_for_delta(cells, 1e-5, 1 << 18))
    for points in (1 << 9, 1 << 12):
        plan = plan_for_delta(cells, 1e-5, points)
        coarse = composed(cells, plan)
        assert coarse.scatter is not None
        for share in (0.6, 0.9, 1.0, 1.1):
            epsilon = share * plan.epsilon
            assert coarse.lower_delta(epsilon).lower <= finest.upper_delta(epsilon).upper


@given(st.integers(1, 6), st.floats(0.01, 0.5), st.floats(0.0, 6.0), st.floats(0.05, 3.0), st.floats(0.0, 1.0))
@examples(40)
def test_the_bound_of_what_a_split_moves(times: int, spacing: float, room: float, tilt: float, place: float) -> None:
    """δ of split losses, further out, is at most δ of the losses and what is said to be missing: by exact sums."""
    low = -0.3 + place * spacing  # two losses, neither on the lattice
    losses, masses = [low, low + 0.77 * spacing + 0.2], [0.4, 0.6]

    def split(loss: float) -> list[tuple[float, float]]:
        below = math.floor(loss / spacing) * spacing
        up = math.expm1(-(loss - below)) / math.expm1(-spacing)
        return [(below, 1 - up), (below + spacing, up)]

    def convolved(one: list[tuple[float, float]]) -> list[tuple[float, float]]:
        return reduce(lambda sums, _: [(a + b, p * q) for a, p in sums for b, q in one], range(times - 1), one)

    plain = convolved(list(zip(losses, masses, strict=True)))
    moved = convolved(
        [(point, m * share) for loss, m in zip(losses, masses, strict=True) for point, share in split(loss)]
    )
    moment = math.log(sum(p * math.exp(tilt * loss) for loss, p in plain))
    scatter = lattice_sums._Scatter(times, spacing, tilt * spacing, Enclosure.of(Fraction(moment), precision=64), room)
    for epsilon in (-0.2, 0.0, 0.15, 0.5, 1.0):
        true, further = (
            sum(p * -math.expm1(level - loss) for loss, p in law if loss > level)
            for law, level in ((plain, epsilon), (moved, epsilon + room * spacing))
        )
        missing = scatter.missing(Enclosure.of(Fraction(epsilon / spacing), precision=64)).upper_float
        assert further <= true + missing + 1e-12


def test_many_normal_releases_beside_others_keep_their_lower_end() -> None:
    """Where the window was laid out for too few losses, what lay beyond it was as much as all: the lower end was 0."""
    kinds: list[tuple[Pair, int]] = [
        (GaussianPair(Enclosure.of(338).sqrt() / Enclosure.of("0.553")), 1),
        (DiscreteLaplacePair(1 / Enclosure.of("0.538"), Enclosure.of(1)), 1),
        (DiscreteLaplacePair(1 / Enclosure.of("9.11"), Enclosure.of(3)), 215),
        (DiscreteLaplacePair(1 / Enclosure.of("0.919"), Enclosure.of(2)), 83),
    ]
    found = epsilon_by_lattice([(cells_of(pair), times) for pair, times in kinds], Enclosure.of("2e-7"))
    assert gap(found) < 2e-3
