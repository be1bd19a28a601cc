"""Weighted DP-Lloyd: its loss, its scales, its noise, and with hardly any noise plain Lloyd."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from certdp.accounting.enclosures import norm_enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.expressions import W, evaluate, norm
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Private, PrivateValue, Public
from certdp.accounting.sampling.domains import NormBall
from certdp.mechanisms import lloyd as module
from certdp.mechanisms.lloyd import Lloyd, Split, random_centres, weighted_cost
from certdp.plugins.contract import Coins, Mechanism, WeightedSample, build, stated
from certdp.plugins.registry import Registry, Role
from certdp.runs.sampled import SampledRun
from certdp.samplers.importance import Importance
from tests.support.cases import examples

ORDERS = ["1", "3/2", "2", "inf"]


def mechanism(**changes: Any) -> Lloyd:
    options: dict[str, Any] = {"clusters": 3, "scale_sum": "0.1", "scale_count": "0.2", "radius": 2, **changes}
    return Lloyd(**{name: Public(value) for name, value in options.items()})


@given(
    order=st.sampled_from(ORDERS),
    iterations=st.integers(1, 40),
    weight=st.integers(1, 9),
    length=st.fractions(0, 9, max_denominator=9),
    scales=st.tuples(*[st.fractions(Fraction(1, 9), 9, max_denominator=9)] * 2),
)
def test_the_loss_is_that_of_proposition_13(
    order: str, iterations: int, weight: int, length: Fraction, scales: tuple[Fraction, Fraction]
) -> None:
    built = mechanism(norm=order, iterations=iterations, scale_sum=scales[0], scale_count=scales[1])
    wanted = iterations * weight * (1 / scales[1] + length / scales[0])
    found = evaluate(built.loss.epsilon, {W: weight, norm(order): float(length)})
    assert float(found) == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize("dimension", [1, 2, 74, 10**6])
@pytest.mark.parametrize("radius", ["1", "0.001", "1234.5"])
def test_the_split_rules(dimension: int, radius: str) -> None:
    share = 4 * dimension * Fraction("0.225") ** 2  # of which the cube root is taken
    options = {"radius": radius, "dimension": dimension, "scale_count": None, "scale_sum": "7"}
    published = mechanism(split="published", **options).count_scale / 7
    assert share <= published**3 <= share * (1 + Fraction(1, 2**75))
    derived = 1 / (mechanism(split=Split.DERIVED, **options).count_scale / 7 * Fraction(radius))
    assert share * (1 - Fraction(1, 2**75)) <= derived**3 <= share


def test_at_a_radius_of_one_the_two_rules_are_each_others_inverse() -> None:
    product = Split.DERIVED.count_scale(Fraction(1), 74, Fraction(1)) * Split.PUBLISHED.count_scale(
        Fraction(1), 74, Fraction(1)
    )
    assert 1 <= product <= 1 + Fraction(1, 2**75)


def test_the_derived_rule_does_not_depend_on_the_unit_of_the_data() -> None:
    for unit in (Fraction(1, 1000), Fraction(1000)):
        assert float(Split.DERIVED.count_scale(unit, 9, unit)) == pytest.approx(
            float(Split.DERIVED.count_scale(Fraction(1), 9, Fraction(1)))
        )


def test_options() -> None:
    built = build(
        Lloyd, "mechanism", {"clusters": "25", "scale_sum": "1", "split": "published", "radius": "3", "dimension": "74"}
    )
    assert built.split.value is Split.PUBLISHED
    assert stated(built) == {
        "clusters": "25",
        "scale_sum": "1",
        "split": "published",
        "radius": "3",
        "norm": "2",
        "iterations": "10",
        "dimension": "74",
    }
    assert isinstance(built, Mechanism)
    assert built.about.assumptions == ()
    assert Registry(third_party=False).get(Role.MECHANISM, "lloyd") is Lloyd


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"clusters": 0}, "clusters: got 0"),
        ({"clusters": "2.5"}, "clusters: got 2.5"),
        ({"iterations": 0}, "iterations: got 0"),
        ({"scale_sum": 0}, "scale_sum: got 0"),
        ({"scale_count": -1}, "scale_count: got -1"),
        ({"radius": 0}, "radius: got 0"),
        ({"norm": "1/2"}, "norm: got"),
        ({"dimension": "0.5"}, "dimension: got 0.5"),
        ({"split": "derived"}, "scale_count or split: got scale_count=.* and split=derived"),
        ({"scale_count": None}, "scale_count or split: got none of them"),
        ({"scale_count": None, "split": "derived"}, "dimension: got nothing"),
        ({"scale_count": None, "split": "halves", "dimension": 2}, "split: got halves"),
    ],
)
def test_bad_options_are_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidValue, match=words):
        mechanism(**changes)


def test_types_are_checked() -> None:
    with pytest.raises(InvalidType, match="split: got 3"):
        mechanism(scale_count=None, split=3, dimension=2)
    private: Any = Private(25)
    with pytest.raises(PrivateValue, match="clusters"):
        Lloyd(clusters=private, scale_sum=Public(1), scale_count=Public(1), radius=Public(1))


def blobs(rows: int, dimension: int = 2) -> Any:
    generator = np.random.default_rng(rows)
    centres = generator.uniform(-1, 1, (4, dimension))
    return centres[generator.integers(0, 4, rows)] + 0.05 * generator.standard_normal((rows, dimension))


def plain_lloyd(records: Any, weights: Any, centres: Any, iterations: int) -> Any:
    for _ in range(iterations):
        labels = ((records[:, np.newaxis] - centres) ** 2).sum(axis=2).argmin(axis=1)
        assert len(set(labels)) == len(centres)
        centres = np.array(
            [np.average(records[labels == c], axis=0, weights=weights[labels == c]) for c in range(len(centres))]
        )
    return centres


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 14])  # no cluster gets empty
@pytest.mark.parametrize("iterations", [1, 4])
def test_with_hardly_any_noise_it_is_lloyds_algorithm_with_weights(iterations: int, seed: int) -> None:
    records = blobs(500)
    weights = np.random.default_rng(1).uniform(1, 5, 500)
    tiny = mechanism(scale_sum=Fraction(1, 10**9), scale_count=Fraction(1, 10**9), iterations=iterations)
    start = random_centres(NormBall(norm=Norm.L2, radius=Public(2)), 3, 2, Coins.seeded(seed))
    released = tiny.release(WeightedSample(records, weights), Coins.seeded(seed))
    assert np.allclose(released, plain_lloyd(records, weights, start, iterations), atol=1e-7)


def test_each_iteration_draws_the_noise_that_its_loss_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """One Laplace draw per count with β_count, one ℓ_p draw per sum with β_sum; both are added to the exact values."""
    drawn: list[Any] = []
    of_counts, of_sums = Fraction(1, 2**30), Fraction(1, 2**31)  # the units: 2^-28 of the scales, or 2^-38 of 1 and 2

    def no_noise(self: Coins, order: Norm, scale: Fraction, count: int, size: int) -> Any:
        drawn.append((order, scale * of_sums, (count, size)))
        return np.full((count, size), int(Fraction(1, 2) / of_sums))

    def no_laplace(self: Coins, scale: Fraction, size: int) -> Any:
        drawn.append((scale * of_counts, size))
        return np.full(size, int(3 / of_counts))

    monkeypatch.setattr(module, "random_centres", lambda ball, k, d, coins: np.zeros((k, d)))
    monkeypatch.setattr(Coins, "lp_cells", no_noise)
    monkeypatch.setattr(Coins, "laplace_cells", no_laplace)
    sample = WeightedSample([[1.0, -1.0], [0.5, 0.25]], [2.0, 4.0])
    released = mechanism(clusters=2, iterations=1, norm="3/2").release(sample, Coins.seeded(1))
    assert drawn == [(Fraction("0.2"), 2), (Norm("3/2"), Fraction("0.1"), (2, 2))]
    assert np.allclose(released[0], [(4 + 0.5) / (6 + 3), (-1 + 0.5) / (6 + 3)], atol=1e-8)
    assert np.allclose(released[1], [0.5 / 3, 0.5 / 3])
    drawn.clear()
    mechanism(clusters=2, iterations=7).release(sample, Coins.seeded(1))
    assert len(drawn) == 7 * 2


@examples(25)  # the first call loads the kernels
@given(order=st.sampled_from(ORDERS), scale=st.sampled_from(["0.001", "1", "1000000"]), seed=st.integers(0, 99))
def test_centres_stay_within_the_public_ball(order: str, scale: str, seed: int) -> None:
    released = mechanism(norm=order, scale_sum=scale, radius="0.7").release(
        WeightedSample(blobs(40), np.ones(40)), Coins.seeded(seed)
    )
    assert released.shape == (3, 2)
    assert all(norm_enclosure(centre.tolist(), Norm(order)).lower <= Fraction("0.7") for centre in released)


def test_a_centre_with_a_small_noisy_count_is_drawn_afresh() -> None:
    """Without records every count is noise below max(1, β_count), nearly always: centres are spread over the ball."""
    empty = WeightedSample(np.empty((0, 1)), [])
    silent = mechanism(scale_count="0.001", clusters=800, iterations=1, radius=3)
    released = silent.release(empty, Coins.seeded(2))[:, 0]
    assert stats.kstest(released, stats.uniform(-3, 6).cdf).pvalue > 1e-3
    assert mechanism().release(WeightedSample(np.empty((4, 0)), np.ones(4)), Coins.seeded(1)).shape == (3, 0)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dimension", [1, 3])
def test_random_centres_are_uniform_in_the_ball(order: str, dimension: int) -> None:
    ball = NormBall(norm=Norm(order), radius=Public(5))
    points = random_centres(ball, 1200, dimension, Coins.seeded(4))
    lengths = np.linalg.norm(points, float(Fraction(order)) if order != "inf" else np.inf, axis=1)
    assert stats.kstest((lengths / 5) ** dimension, stats.uniform.cdf).pvalue > 1e-3
    cube = points[np.abs(points).max(axis=1) <= 5 / dimension]  # within every ball: the uniform law of the cube
    assert stats.kstest(cube[:, 0] * dimension / 5, stats.uniform(-1, 2).cdf).pvalue > 1e-3


def test_threads_change_nothing() -> None:
    sample = WeightedSample(blobs(9000, 30), np.random.default_rng(2).uniform(1, 3, 9000))
    wide = mechanism(radius=9, scale_sum=20)
    first = wide.release(sample, Coins.seeded(5), threads=1)
    assert np.array_equal(wide.release(sample, Coins.seeded(5), threads=3), first)


def test_samples_it_cannot_take_are_refused() -> None:
    with pytest.raises(InvalidValue, match="dimension: got 3"):
        mechanism(dimension=3).release(WeightedSample([[1.0, 2.0]], [1.0]), Coins.seeded(1))
    for tiny in ({"scale_sum": Fraction(1, 2**38)}, {"scale_count": Fraction(1, 2**39)}):
        with pytest.raises(InvalidValue, match="scale: got"):
            mechanism(**tiny).require(WeightedSample([[1.0, 2.0]], [1.0]))
    with pytest.raises(InvalidValue, match="records: got a weighted record"):
        mechanism().release(WeightedSample([[1e9, 2.0]], [1.0]), Coins.seeded(1))


def test_the_weighted_cost_is_private() -> None:
    records, weights = blobs(300), np.random.default_rng(3).uniform(1, 5, 300)
    centres = np.array([[0.0, 0.0], [1.0, 1.0]])
    cost = weighted_cost(WeightedSample(records, weights), centres)
    wanted = (weights * ((records[:, np.newaxis] - centres) ** 2).sum(axis=2).min(axis=1)).sum()
    assert "…" in repr(cost)
    assert cost.reveal() == pytest.approx(wanted, rel=1e-12)


@pytest.mark.slow
def test_on_a_sample_it_has_a_certified_bound() -> None:
    run = SampledRun(
        mechanism=mechanism(scale_sum=60, scale_count=90),
        sampler=Importance(rate=Public("0.4"), norm=Public(2), floor=Public("0.1")),
    )
    ball = NormBall(norm=run.norm, radius=Public(2))
    lengths = np.linspace(0, 2, 400)
    rates = np.clip(0.4 * lengths, 0.1, 1)
    psi = np.log1p(rates * np.expm1(10 / rates * (1 / 90 + lengths / 60)))
    bound = run.on(ball).pure().bound.epsilon
    assert psi.max() <= bound.upper_float <= psi.max() * 1.001
    (release,) = run.on(ball).release(blobs(200), coins=Coins.seeded(1))
    assert release.shape == (3, 2)
