"""Coreset sampling: its rate, the largest size, what constants cost, and the time of its guarantee."""

from __future__ import annotations

import math
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import Constant, enclose, norm, simplify, substitute
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Private, PrivateValue, Public, Released
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.records import Features, realise
from certdp.mechanisms.count import Count
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.mechanisms.lp_sum import LpSum
from certdp.plugins.contract import Mechanism, Sampler, draw
from certdp.plugins.contract.coins import Coins
from certdp.runs.certificates import pure_claim
from certdp.runs.sampled import SampledRun
from certdp.samplers.coreset import Coreset, largest_size
from certdp.samplers.poisson import Poisson

KDD: dict[str, Any] = {
    "n": Public(142_107),
    "mean_squared_norm": Public("7031359.55"),
    "radius": Public("8020.65"),
}
"""Table 1 of IS, KDD-Protein."""
POSITIVE = st.fractions(Fraction(1, 50), 20, max_denominator=50)
SHARES = st.fractions(Fraction(1, 50), 1, max_denominator=50)


def guarantee(mechanism: Mechanism, sampler: Sampler, order: Norm = Norm.L2, radius: str = "8020.65") -> Fraction:
    run = SampledRun(mechanism=mechanism, sampler=sampler)
    ball = NormBall(norm=order, radius=Public(radius), dimension=74)
    return run.on(ball).pure().bound.epsilon.upper


@given(n=POSITIVE, spread=POSITIVE, radius=POSITIVE, mixing=SHARES, share=SHARES, size=st.fractions(0, 40))
def test_rate_is_its_definition(
    n: Fraction, spread: Fraction, radius: Fraction, mixing: Fraction, share: Fraction, size: Fraction
) -> None:
    m = share * largest_size(n, spread, radius, mixing)
    sampler = Coreset(
        m=Public(m), n=Public(n), mean_squared_norm=Public(spread), radius=Public(radius), mixing=Public(mixing)
    )
    q = simplify(substitute(sampler.rate.probability, {norm(2): Constant(size)}))
    assert q == Constant(min(Fraction(1), mixing * m / n + (1 - mixing) * m * size**2 / (n * spread)))
    assert sampler.rate.weighted


def test_half_is_uniform_unless_stated() -> None:
    assert Coreset(m=Public(9), **KDD) == Coreset(m=Public(9), mixing=Public("1/2"), **KDD)
    assert isinstance(Coreset(m=Public(9), **KDD), Sampler)


def test_all_uniform_is_weighted_poisson() -> None:
    uniform = Coreset(m=Public(5000), mixing=Public(1), **KDD)
    poisson = Poisson(rate=Public(Fraction(5000, 142_107)), weighted=Public(True))
    records = np.arange(12.0).reshape(4, 3)
    mine, theirs = (realise(sampler.rate, Features(records)) for sampler in (uniform, poisson))
    assert np.allclose(mine.probability, theirs.probability, rtol=1e-12)
    loss = LpSum(scale=Public(100_000))
    assert abs(guarantee(loss, uniform) / guarantee(loss, poisson) - 1) < Fraction(1, 10**12)


def test_a_size_beyond_the_limit_is_refused_by_the_limit() -> None:
    Coreset(m=Public(28_003), **KDD)
    with pytest.raises(InvalidValue, match=r"m: got 28004; admissible: at most 28003\.778") as raised:
        Coreset(m=Public(28_004), **KDD)
    assert raised.value.parameter == "m"


@pytest.mark.parametrize(
    "declared", [KDD, {**KDD, "n": Public(4), "mean_squared_norm": Public(1), "radius": Public(1)}]
)
def test_the_limit_that_a_refusal_tells_is_the_nearest_number_that_is_admitted(declared: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue) as raised:
        Coreset(m=Public(10**9), **declared)
    limit = float(raised.value.admissible.removeprefix("at most ").partition(",")[0])
    Coreset(m=Public(limit), **declared)
    with pytest.raises(InvalidValue, match="at most"):
        Coreset(m=Public(math.nextafter(limit, math.inf)), **declared)


@given(n=POSITIVE, spread=POSITIVE, radius=POSITIVE, mixing=SHARES)
def test_the_limit_itself_is_the_size_at_which_a_record_of_the_radius_is_drawn_surely(
    n: Fraction, spread: Fraction, radius: Fraction, mixing: Fraction
) -> None:
    limit = largest_size(n, spread, radius, mixing)

    def probability(m: Fraction) -> object:
        sampler = Coreset(
            m=Public(m), n=Public(n), mean_squared_norm=Public(spread), radius=Public(radius), mixing=Public(mixing)
        )
        return simplify(substitute(sampler.rate.probability, {norm(2): Constant(radius)}))

    assert probability(limit) == Constant(Fraction(1))
    assert probability(limit * Fraction(2**80 - 1, 2**80)) == Constant(Fraction(2**80 - 1, 2**80))
    with pytest.raises(InvalidValue, match="m: got"):
        probability(limit * Fraction(2**80 + 1, 2**80))


def test_the_papers_own_run_is_admissible() -> None:
    sampler = Coreset(m=Public(20_000), **KDD)  # the printed limit is 15,532 (erratum IS-m-limit)
    most = enclose(sampler.rate.probability, {norm(2): Enclosure.of(Fraction("8020.65"))}, precision=96)
    assert Fraction("0.714") < most.lower
    assert most.upper < Fraction("0.715")


@pytest.mark.parametrize("mixing", [0, "-1/2", "1.5", "nan"])
def test_shares_outside_the_open_interval_are_refused(mixing: Any) -> None:
    with pytest.raises(InvalidValue, match="mixing: got"):
        Coreset(m=Public(9), mixing=Public(mixing), **KDD)


@pytest.mark.parametrize("name", ["m", "n", "mean_squared_norm", "radius"])
def test_constants_are_positive_and_declared(name: str) -> None:
    values = {"m": Public(9), **KDD}
    with pytest.raises(InvalidValue, match=f"{name}: got 0; admissible: a number > 0"):
        Coreset(**{**values, name: Public(0)})
    with pytest.raises(PrivateValue, match=name):
        Coreset(**{**values, name: Private(9.0)})


@pytest.mark.slow
def test_released_constants_cost_what_their_releases_cost() -> None:
    counted = SampledRun(mechanism=Count(scale=Public(10)), sampler=Poisson(rate=Public(1)))
    cost = counted.on(NormBall(norm=Norm.L2, radius=Public(1))).pure()  # ε = 1/10
    loss, ball = LpSum(scale=Public(100_000)), NormBall(norm=Norm.L2, radius=Public("8020.65"))
    public = SampledRun(mechanism=loss, sampler=Coreset(m=Public(5000), **KDD)).on(ball).pure()
    released = {name: Released(value.value, cost, within=(value.value, value.value)) for name, value in KDD.items()}
    for names in (["n"], ["radius"], ["n", "mean_squared_norm", "radius"]):
        constants = {**KDD, **{name: released[name] for name in names}}
        run = SampledRun(mechanism=loss, sampler=Coreset(m=Public(5000), **constants))
        extra = run.on(ball).pure().bound.epsilon.upper - public.bound.epsilon.upper
        assert abs(extra / (len(names) * cost.bound.epsilon.upper) - 1) < Fraction(1, 10**9)


@pytest.mark.slow
def test_one_release_of_all_constants_is_charged_once() -> None:
    """One query that gives n, x̃ and r: its parts, in the sampler and as the radius of the domain, cost ε = 1/10."""
    counted = SampledRun(mechanism=Count(scale=Public(10)), sampler=Poisson(rate=Public(1)))
    cost = counted.on(NormBall(norm=Norm.L2, radius=Public(1))).pure()
    loss, ball = LpSum(scale=Public(100_000)), NormBall(norm=Norm.L2, radius=Public("8020.65"))
    public = SampledRun(mechanism=loss, sampler=Coreset(m=Public(5000), **KDD)).on(ball).pure()
    query = Released({name: constant.value for name, constant in KDD.items()}, cost)
    parts = {name: query.map(itemgetter(name), within=(known.value, known.value)) for name, known in KDD.items()}
    run = SampledRun(mechanism=loss, sampler=Coreset(m=Public(5000), **parts))
    for radius, releases in (
        (ball.radius, 1),
        (parts["radius"], 1),
        (Released("8020.65", cost, within=(1, "8020.65")), 2),  # the same number from a second run of the same query
    ):
        domain = NormBall(norm=Norm.L2, radius=radius)
        extra = run.on(domain).pure().bound.epsilon.upper - public.bound.epsilon.upper
        assert abs(extra / (releases * cost.bound.epsilon.upper) - 1) < Fraction(1, 10**9)
        assert pure_claim(run.on(domain)).released_cost == releases * cost.bound.epsilon.upper


@pytest.mark.parametrize(
    ("mechanism", "order", "expected"),
    [
        (LpSum(scale=Public("8020.65")), Norm.L2, 6.111195470084),  # the maximum lies inside
        (LpSum(scale=Public("100000")), Norm.L2, 0.09644722452823),
        (LaplaceSum(scale=Public("100000")), Norm.L1, 0.7530094023764),
        (LaplaceSum(scale=Public("100000")), Norm.L2, 3.265795574232),
        (LpSum(scale=Public("100000"), norm=Public("inf")), Norm.L2, 0.09644722452823),
        (Count(scale=Public(1000)), Norm.L2, 0.001028438633506),
    ],
)
def test_guarantees_are_tight_and_soon_proven(mechanism: Mechanism, order: Norm, expected: float) -> None:
    run = SampledRun(mechanism=mechanism, sampler=Coreset(m=Public(5000), **KDD))
    ball = NormBall(norm=order, radius=Public("8020.65"), dimension=74)
    _, found = run.profile.supremum(ball)
    assert found.maximiser is not None
    assert found.enclosure.width <= Fraction(1, 10**13) * found.enclosure.upper
    assert abs(found.enclosure.upper_float / expected - 1) < 1e-11
    assert found.cells <= 20  # a few milliseconds each


def test_a_hundred_grid_points_are_not_enough() -> None:
    run = SampledRun(mechanism=LpSum(scale=Public("8020.65")), sampler=Coreset(m=Public(1000), **KDD))
    found = run.profile.supremum(NormBall(norm=Norm.L2, radius=Public("8020.65")))[1].enclosure
    rho, q = np.linspace(0, 8020.65, 100), 1000 / 142_107 * 0.5
    u = q + q * np.linspace(0, 8020.65, 100) ** 2 / 7031359.55
    grid = np.log1p(u * np.expm1(rho / 8020.65 / u)).max()
    assert 1e-6 < 1 - grid / found.lower_float < 1e-3


def test_samples_have_the_expected_size() -> None:
    random = np.random.default_rng(5)
    records = random.normal(size=(4000, 3))
    squares = np.sum(records**2, axis=1)
    sampler = Coreset(
        m=Public(300),
        n=Public(4000),
        mean_squared_norm=Public(float(squares.mean())),
        radius=Public(float(np.sqrt(squares.max())) * 1.01),
    )
    drawn = draw(sampler, records, Coins.seeded(3))
    assert abs(len(drawn) - 300) < 5 * 300**0.5
    assert (
        abs(drawn.total_weight() - 4000)
        < 5 * float(np.sum(1 / realise(sampler.rate, Features(records)).probability)) ** 0.5
    )
