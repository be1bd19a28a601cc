"""Events: against closed forms, exact finite computation and each other."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.accountants import GAUSSIAN_DP
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import (
    Composed as ComposedPairs,
)
from certdp.accounting.pairs import (
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pair,
    Repeated,
    Sampled,
    SampledGaussian,
    ZeroConcentratedCurve,
)
from certdp.accounting.relations import ADD_REMOVE, RECORD, REPLACE
from certdp.accounting.units import Delta, Epsilon
from certdp.interoperation import (
    Composed,
    DiscreteLaplace,
    Event,
    Gaussian,
    Laplace,
    NonPrivate,
    NoOp,
    PoissonSampled,
    RandomisedResponse,
    SelfComposed,
    ZeroConcentrated,
    event_of,
)
from certdp.runs.run import NotionAbsent
from tests.support.cases import examples

SMALL = Fraction(1, 10**10)


def delta(event: Event, epsilon: str | float, relation: object = ADD_REMOVE) -> tuple[float, float]:
    found = event.run(relation).delta(Epsilon(epsilon)).delta  # type: ignore[arg-type]
    assert found.lower is not None
    return found.lower, found.upper


def gaussian_delta(shift: float, epsilon: float) -> float:
    """Balle and Wang 2018, Theorem 8, in mpmath."""
    with mpmath.workdps(40):
        s, e = mpmath.mpf(shift), mpmath.mpf(epsilon)
        return float(mpmath.ncdf(s / 2 - e / s) - mpmath.exp(e) * mpmath.ncdf(-s / 2 - e / s))


def test_gaussian_against_its_closed_form() -> None:
    for event, relation, shift in (
        (Gaussian(2), ADD_REMOVE, 0.5),
        (Gaussian(2), REPLACE, 1.0),
        (SelfComposed(Gaussian(8), 16), ADD_REMOVE, 0.5),
        (Composed([Gaussian(5), SelfComposed(Gaussian("2.5"), 2)]), ADD_REMOVE, 0.6),
    ):
        lower, upper = delta(event, 1, relation)
        assert lower <= gaussian_delta(shift, 1) * (1 + 1e-12)
        assert upper >= gaussian_delta(shift, 1) * (1 - 1e-12)
        assert upper - lower < 1e-12


def test_laplace_under_both_relations() -> None:
    assert Laplace(2).run().epsilon(Delta(0)).epsilon.upper == 0.5
    assert Laplace(2).run(REPLACE).epsilon(Delta(0)).epsilon.upper == 1.0
    assert DiscreteLaplace("0.5", 3).run(REPLACE).epsilon(Delta(0)).epsilon.upper == 3.0


@examples(20)
@given(st.integers(1, 99), st.integers(2, 7), st.integers(1, 2))
def test_randomised_response_against_exact_sums(percent: int, buckets: int, times: int) -> None:
    uniform = Fraction(percent, 100)
    chance = uniform / buckets
    answer = [1 - uniform + chance] + [chance] * (buckets - 1)
    other = [chance, 1 - uniform + chance] + [chance] * (buckets - 2)
    with mpmath.workdps(50):
        factor = Fraction(mpmath.nstr(mpmath.e, 45))
    first, second = [Fraction(1)], [Fraction(1)]
    for _ in range(times):
        first = [a * b for a in first for b in answer]
        second = [a * b for a in second for b in other]
    truth = sum(max(a - factor * b, Fraction(0)) for a, b in zip(first, second, strict=True))
    lower, upper = delta(SelfComposed(RandomisedResponse(uniform, buckets), times), 1, REPLACE)
    assert Fraction(lower) <= truth + SMALL**2
    assert Fraction(upper) >= truth - SMALL**2
    assert upper - lower < 1e-12


def test_randomised_response_is_about_replacing() -> None:
    with pytest.raises(InvalidValue, match="REPLACE"):
        RandomisedResponse("0.5", 2).run(ADD_REMOVE)
    assert delta(RandomisedResponse(0, 1), 0, REPLACE) == (0, 0)
    assert delta(RandomisedResponse(0, 2), 5, REPLACE) == (1, 1)


def test_one_sample_for_all_is_not_a_sample_each() -> None:
    once = PoissonSampled("0.1", SelfComposed(Gaussian(4), 16))
    assert delta(once, 1) == delta(PoissonSampled("0.1", Gaussian(1)), 1)
    each = SelfComposed(PoissonSampled("0.1", Gaussian(4)), 16)
    assert each.run().delta(Epsilon(1)).delta.upper < delta(once, 1)[0]


def test_samples_of_samples_multiply_their_rates() -> None:
    nested = PoissonSampled("1/2", PoissonSampled("1/4", Laplace(1)))
    assert delta(nested, "0.01") == delta(PoissonSampled("1/8", Laplace(1)), "0.01")


def test_sampling_under_replace() -> None:
    """Sums with noise have a pair, which normal noise alone is known to reach; what else is released is refused."""
    normal = PoissonSampled("0.01", Gaussian(1)).run(REPLACE).epsilon(Delta("1e-5")).epsilon
    assert normal.upper == pytest.approx(0.209371556)
    assert normal.lower == pytest.approx(normal.upper)
    mixed = PoissonSampled("0.01", Composed((Gaussian(1), Laplace(2)))).run(REPLACE).epsilon(Delta("1e-5")).epsilon
    assert mixed.lower is None
    assert mixed.upper > normal.upper
    for event in (NonPrivate(), DiscreteLaplace(1, 1), PoissonSampled("0.5", Gaussian(1))):
        with pytest.raises(InvalidValue, match="ADD_REMOVE"):
            PoissonSampled("0.5", event).run(REPLACE)
    assert delta(PoissonSampled(1, Gaussian(1)), 1, REPLACE) == delta(Gaussian("0.5"), 1)
    assert delta(PoissonSampled(0, Gaussian(1)), 1, REPLACE) == (0, 0)


@pytest.mark.parametrize("event", [NonPrivate(), Gaussian(0), Laplace(0), DiscreteLaplace(0, 1)])
def test_what_is_not_private_has_delta_one(event: Event) -> None:
    for whole in (event, SelfComposed(event, 10**6), Composed([Gaussian(1), event]), PoissonSampled(1, event)):
        assert delta(whole, 100) == (1, 1)
        with pytest.raises(NotionAbsent, match="finite"):
            whole.run().epsilon(Delta("0.99"))
    assert delta(PoissonSampled("1/4", event), 100) == (0.25, 0.25)
    assert delta(SelfComposed(event, 0), 0) == (0, 0)


@pytest.mark.parametrize("event", [NoOp(), Composed([]), SelfComposed(NoOp(), 9), SelfComposed(Gaussian(1), 0)])
def test_nothing_costs_nothing(event: Event) -> None:
    assert delta(event, 0) == (0, 0)
    assert event.run().epsilon(Delta(0)).epsilon.upper == 0
    alone, beside = Gaussian(1), Composed([event, Gaussian(1), event])
    assert delta(beside, 1) == delta(alone, 1)


LEAVES = st.sampled_from(
    [Gaussian(3), Laplace(7), DiscreteLaplace("0.2", 1), ZeroConcentrated("0.01", "0.02"), NoOp(), Gaussian("3.5")]
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(SelfComposed, inner, st.integers(0, 3)),
        st.builds(Composed, st.lists(inner, max_size=3)),
        st.builds(PoissonSampled, st.fractions(0, 1, max_denominator=50), inner),
    ),
    max_leaves=4,
)


@examples(40)
@given(TREES, st.integers(1, 4))
def test_repeated_events_count_each_time(event: Event, times: int) -> None:
    together = SelfComposed(event, times).run()
    apart = Composed([event] * times).run()
    for mine, theirs in zip(together.pairs.bounding, apart.pairs.bounding, strict=True):
        for law in ("renyi", "zero_concentrated"):
            assert (getattr(mine, law) is None) == (getattr(theirs, law) is None)
        if mine.zero_concentrated is not None and theirs.zero_concentrated is not None:
            gap = mine.zero_concentrated - theirs.zero_concentrated
            assert abs(gap.lower) < SMALL
            once = event.pair(ADD_REMOVE).zero_concentrated
            assert once is not None
            assert abs((once * times - mine.zero_concentrated).upper) < SMALL
    assert SelfComposed(event, times).releases == Composed([event] * times).releases == event.releases * times


def test_a_statement_about_a_curve_bounds_from_above_alone() -> None:
    run = Composed([ZeroConcentrated("0.02"), Gaussian(10)]).run()
    found = run.epsilon(Delta("1e-5")).epsilon
    assert ZeroConcentrated("0.02").run().epsilon(Delta("1e-5")).epsilon.lower is None
    assert found.lower is None
    assert (
        found.upper
        <= Composed([ZeroConcentrated("0.02", "0.001"), Gaussian(10)]).run().epsilon(Delta("1e-5")).epsilon.upper
    )


@pytest.mark.slow
def test_guarantees_say_what_they_rest_on() -> None:
    event = SelfComposed(PoissonSampled("0.01", Gaussian("1.5")), 10)
    answer = event.run().epsilon(Delta("1e-5"))
    said = "\n".join(map(str, answer.guarantee.assumptions))
    for part in ("probability = 1/100", "ℓ2 bound of a record = 3/2", "real-valued noise"):
        assert part in said
    assert (answer.guarantee.relation, answer.guarantee.unit) == (ADD_REMOVE, RECORD)
    assert math.isfinite(answer.epsilon.upper)


def test_one_accountant_can_be_asked() -> None:
    run = SelfComposed(PoissonSampled("0.01", Gaussian(1)), 100).run()
    assert run.epsilon(Delta("1e-5"), accountant=GAUSSIAN_DP).epsilon.upper > run.epsilon(Delta("1e-5")).epsilon.upper
    with pytest.raises(NotionAbsent):
        ZeroConcentrated("0.1").run().epsilon(Delta("1e-5"), accountant=GAUSSIAN_DP)
    with pytest.raises(NotionAbsent):
        ZeroConcentrated("0.1").run().delta(Epsilon(1), accountant=GAUSSIAN_DP)


def test_parameters_out_of_range_are_refused_by_name() -> None:
    for build, name in (
        (lambda: Gaussian(-1), "noise_multiplier"),
        (lambda: Gaussian(math.inf), "noise_multiplier"),
        (lambda: Laplace(math.nan), "noise_multiplier"),
        (lambda: DiscreteLaplace(1, -1), "sensitivity"),
        (lambda: RandomisedResponse("1.5", 2), "noise_parameter"),
        (lambda: RandomisedResponse("0.5", 0), "num_buckets"),
        (lambda: PoissonSampled("-0.1", NoOp()), "sampling_probability"),
        (lambda: PoissonSampled("0.1", 3), "event"),  # type: ignore[arg-type]
        (lambda: Composed([NoOp(), None]), "events"),  # type: ignore[list-item]
        (lambda: SelfComposed(NoOp(), -1), "count"),
        (lambda: SelfComposed(NoOp(), True), "count"),
        (lambda: ZeroConcentrated(1, -1), "xi"),
        (lambda: Gaussian(1).run("replace"), "relation"),  # type: ignore[arg-type]
        (lambda: SelfComposed(SelfComposed(Gaussian(1), 10**10), 10**10).run(), "event"),
        (lambda: Gaussian(1).run().epsilon(Epsilon(1)), "delta"),  # type: ignore[arg-type]
        (lambda: Gaussian(1).run().delta(Delta(1)), "epsilon"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidValue) as caught:
            build()
        assert caught.value.parameter == name


E_SHIFT, E_RATE = Enclosure.of("0.3"), Enclosure.of("0.05")
PAIRS = st.sampled_from(
    [
        GaussianPair(E_SHIFT),
        GaussianPair(E_SHIFT.sqrt()),
        LaplacePair(E_SHIFT),
        DiscreteLaplacePair(E_SHIFT, Enclosure.of(2)),
        SampledGaussian(E_SHIFT, E_RATE),
        Sampled(LaplacePair(E_SHIFT), E_RATE),
        ZeroConcentratedCurve(E_SHIFT),
    ]
)


@examples(40)
@given(st.recursive(PAIRS, lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple).map(ComposedPairs)))
def test_the_event_of_a_pair_dominates_it_closely(pair: Pair) -> None:
    found = event_of(Repeated(pair, 3)).pair(ADD_REMOVE)
    mine, theirs = found.zero_concentrated, Repeated(pair, 3).zero_concentrated
    assert mine is not None
    assert theirs is not None
    assert mine.upper >= theirs.lower
    assert (mine - theirs).upper < SMALL
    single = event_of(pair).pair(ADD_REMOVE)
    if pair.delta is not None and not isinstance(pair, ComposedPairs):
        assert single.delta is not None
        assert type(single) is type(pair)


def test_pairs_without_an_event_are_refused() -> None:
    assert event_of(GaussianPair(Enclosure.of(0))) == NoOp()
    assert event_of(LaplacePair(Enclosure.of(0))) == NoOp()
    with pytest.raises(InvalidValue, match="pair"):
        event_of(DiscreteGaussianPair(Fraction(4), Enclosure.of(1)))
    with pytest.raises(InvalidType):
        Composed([GaussianPair(E_SHIFT)])  # type: ignore[list-item]
