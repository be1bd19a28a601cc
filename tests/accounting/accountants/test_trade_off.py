"""Trade-off curves: against normal laws, and against the most powerful tests of finite laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.accountants import LOSS_DISTRIBUTION, WorstPairs
from certdp.accounting.accountants.trade_off import (
    DeltaLaw,
    Place,
    TradeOff,
    advantage,
    bayes_risk,
    curve_of,
    reached_curves,
    trade_off,
    true_positive_rate,
)
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.exact import Number
from certdp.accounting.pairs import FinitePair, GaussianPair, LaplacePair, Pair
from certdp.accounting.relations import Direction
from tests.support.cases import examples

NORMAL = NormalDist()


def on_grid(pair: Pair, farthest: float, places: int = 48) -> TradeOff:
    law = pair.delta
    assert law is not None
    return trade_off(
        lambda epsilon: law(epsilon, Direction.REMOVE).maximum(law(epsilon, Direction.ADD)), farthest, places=places
    )


@pytest.mark.parametrize("mu", [0.25, 1.0, 3.0])
def test_normal_laws(mu: float) -> None:
    """f(α) = Φ(Φ⁻¹(1 − α) − μ)."""
    curve = on_grid(GaussianPair(Enclosure.of(mu)), mu * mu / 2 + 6 * mu)
    for alpha in (1e-6, 1e-3, 0.05, 0.3, 0.5, 0.8, 0.99):
        truth, found = NORMAL.cdf(NORMAL.inv_cdf(1 - alpha) - mu), curve.at(alpha)
        assert found.lower_float <= truth + 1e-12
        assert found.upper_float >= truth - 1e-12
        assert found.width < 0.02
    assert curve.at(0).contains(1)
    assert curve.at(1).upper == 0


@pytest.mark.parametrize("loss", ["1/100", "1", "5"])
def test_both_ends_are_near_where_a_pure_loss_ends(loss: str) -> None:
    """Laplace laws: f(α) = 1 − e^ε·α where α ≤ e^(−ε)/2, and e^(−ε)/(4α) up to 1/2."""
    curve = on_grid(LaplacePair(Enclosure.of(loss)), float(Fraction(loss)))
    growth = math.exp(float(Fraction(loss)))
    for share in (1e-9, 1e-3, 0.25, 0.75):
        alpha = share / (2 * growth)
        found, truth = curve.at(alpha), 1 - growth * alpha
        assert found.lower_float <= truth + 1e-12
        assert found.upper_float >= truth - 1e-12
        assert found.width < 0.02 * share + 1e-12
    middle = curve.at((1 / growth + 1) / 4 if growth > 1.5 else 0.5)
    assert middle.width < 0.02


def most_powerful(first: Sequence[Fraction], second: Sequence[Fraction], alpha: Fraction) -> Fraction:
    """The least second error at the first error α (Neyman, Pearson): outputs are rejected by their ratio."""
    left, power = alpha, Fraction(0)
    for p, q in sorted(
        zip(first, second, strict=True), key=lambda masses: (masses[0] > 0, -masses[1] / (masses[0] or 1))
    ):
        share = Fraction(1) if p <= left else left / p
        left, power = left - share * p, power + share * q
    return 1 - power


@st.composite
def symmetric_tables(draw: st.DrawFn) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Laws that mirror each other, so that their trade-off curve is its own inverse."""
    weights = draw(st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(any))
    law = tuple(Fraction(weight, sum(weights)) for weight in weights)
    return law, law[::-1]


@examples(25)
@given(tables=symmetric_tables(), alpha=st.fractions(0, 1, max_denominator=30))
def test_finite_laws(tables: tuple[tuple[Fraction, ...], tuple[Fraction, ...]], alpha: Fraction) -> None:
    """Infinite losses included, of which f(0) alone tells, and no finite ε: it is enclosed, not narrowly."""
    found = on_grid(FinitePair(*tables), 3.0, places=40).at(alpha)
    truth = most_powerful(*tables, alpha)
    assert found.lower <= truth <= found.upper
    assert found.width < Fraction(1, 8) or alpha == 0


def test_outputs_that_only_one_data_set_has_are_no_fault_of_the_curve() -> None:
    """Laws without a common output: D = 1 at every place, which a convex function does not leave: f(0) = 0."""
    curve = on_grid(FinitePair((Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))), 3.0, places=40)
    assert curve.at(0) == Enclosure.of(0)
    assert curve.at("1/30").upper == 0


@examples(25)
@given(tables=symmetric_tables(), alpha=st.fractions(0, 1, max_denominator=30), places=st.integers(2, 5))
def test_a_few_places_enclose_too(
    tables: tuple[tuple[Fraction, ...], tuple[Fraction, ...]], alpha: Fraction, places: int
) -> None:
    found = on_grid(FinitePair(*tables), 1.0, places=places).at(alpha)
    assert found.lower <= most_powerful(*tables, alpha) <= found.upper


@examples(10)
@given(tables=symmetric_tables())
def test_the_lower_ends_fall_and_are_convex(tables: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> None:
    curve = on_grid(FinitePair(*tables), 2.0, places=9)
    values = [curve.at(Fraction(step, 16)).lower for step in range(17)]
    falls = [a - b for a, b in pairwise(values)]
    assert all(fall >= 0 for fall in falls)
    assert all(b - a <= Fraction(1, 2**80) for a, b in pairwise(falls))


@st.composite
def convex_curves(draw: st.DrawFn) -> TradeOff:
    """D exactly, at a few factors: the largest of some falling lines, of 1 − x and of 0."""
    share = st.fractions(0, 1, max_denominator=12)
    whole, nothing = (Fraction(1), Fraction(1)), (Fraction(0), Fraction(0))
    lines = [whole, nothing, *draw(st.lists(st.tuples(share, share), max_size=4))]  # height at 0, fall
    factors = draw(st.sets(st.fractions(Fraction(1, 9), 9, max_denominator=9), min_size=1, max_size=6))
    values = {x: max(high - fall * x for high, fall in lines) for x in (Fraction(0), *factors)}
    return TradeOff(tuple(Place(x, y, y) for x, y in sorted(values.items())))


def by_corners(curve: TradeOff, alpha: Fraction) -> Fraction:
    """The upper end of f(α): the highest corner of the lines that bound 1 − D(x) − αx between places and beyond."""
    known = [(p.factor, 1 - p.lower - alpha * p.factor) for p in curve.places]
    chords = [((b[1] - a[1]) / (b[0] - a[0]), a) for a, b in pairwise(known)]
    always = [(1 - alpha, (Fraction(0), Fraction(0))), (-alpha, (Fraction(0), Fraction(1)))]
    far = known[-1][0] + Fraction(10) ** 9
    best = Fraction(-1)
    for i, (low, high) in enumerate(pairwise([*(x for x, _ in known), far])):
        lines = always + chords[max(i - 1, 0) : i] + chords[i + 1 : i + 2]
        met = [(b - s * a - d + t * c) / (t - s) for s, (a, b) in lines for t, (c, d) in lines if s != t]
        corners = [low, high, *(x for x in met if low < x < high)]
        best = max(best, *(min(y + slope * (x - at) for slope, (at, y) in lines) for x in corners))
    return min(max(best, Fraction(0)), 1 - alpha)


@examples(60)
@given(curve=convex_curves(), alpha=st.fractions(0, 1, max_denominator=12))
def test_both_ends_are_those_that_the_places_prove(curve: TradeOff, alpha: Fraction) -> None:
    found = curve.at(alpha)
    lower = max(1 - place.upper - alpha * place.factor for place in curve.places)
    assert abs(found.lower - lower) <= Fraction(1, 2**90)
    assert abs(found.upper - by_corners(curve, alpha)) <= Fraction(1, 2**90)


@pytest.mark.parametrize("mu", [0.5, 2.0])
@pytest.mark.parametrize("places", [2, 3, 5])
@pytest.mark.parametrize("farthest", [0.05, 0.5, 4.0])
def test_a_few_places_enclose_normal_laws(mu: float, places: int, farthest: float) -> None:
    curve = on_grid(GaussianPair(Enclosure.of(mu)), farthest, places)
    for alpha in np.linspace(0.001, 0.999, 200):
        truth, found = NORMAL.cdf(NORMAL.inv_cdf(1 - alpha) - mu), curve.at(float(alpha))
        assert found.lower_float - 1e-12 <= truth <= found.upper_float + 1e-12


def test_places_are_those_of_both_directions() -> None:
    """From 1/(2e^farthest) to 2e^farthest, with δ of each direction on its side of 1."""
    law = GaussianPair(Enclosure.of(1)).delta
    assert law is not None
    curve = trade_off(lambda epsilon: law(epsilon, Direction.REMOVE).hull(0), 1.0, places=5)
    factors = [float(place.factor) for place in curve.places]
    grown = [math.exp(step / 4) for step in range(5)] + [2 * math.e]
    assert factors == pytest.approx([0.0, *(1 / factor for factor in grown[:0:-1]), *grown], rel=1e-6)
    for place in curve.places:
        x, width = float(place.factor), float(place.upper - place.lower)
        if 0 < x < 1:
            assert width == pytest.approx(x * float(law(Enclosure.of(1 / place.factor).log(), Direction.REMOVE).upper))
            assert place.lower == 1 - place.factor


def test_each_place_of_one_direction_is_of_that_law() -> None:
    """Below 1 it is the opposite law that is asked."""
    pair = FinitePair((Fraction(1, 4), Fraction(3, 4)), (Fraction(2, 3), Fraction(1, 3)))
    law = pair.delta
    assert law is not None
    curve = trade_off(
        lambda epsilon: law(epsilon, Direction.REMOVE), 1.0, lambda epsilon: law(epsilon, Direction.ADD), places=5
    )
    (least, *others) = curve.places
    assert least == Place(Fraction(0), Fraction(1), Fraction(1))
    factors = [place.factor for place in others]
    assert factors == sorted(1 / factor for factor in factors)
    for place in others:
        masses = zip(pair.present, pair.absent, strict=True)
        true = sum((max(p - place.factor * q, Fraction(0)) for p, q in masses), Fraction(0))
        assert place.lower <= true <= place.upper
        assert place.upper - place.lower < Fraction(1, 10**9)


@pytest.mark.parametrize("alpha", ["0", "0.01", "0.3", "1"])
def test_the_sharpest_place_proves_the_most(alpha: str) -> None:
    law = GaussianPair(Enclosure.of(1)).delta
    assert law is not None
    curve = trade_off(lambda epsilon: law(epsilon, Direction.REMOVE).hull(0), 3.0)
    level = Fraction(alpha)
    proven = [1 - place.upper - level * place.factor for place in curve.places]
    sharpest = curve.sharpest(alpha)
    assert 1 - sharpest.upper - level * sharpest.factor == max(proven)
    with pytest.raises(InvalidValue, match="alpha"):
        curve.sharpest("1.5")


def test_a_curve_says_where_it_is_no_guarantee() -> None:
    curve = trade_off(lambda epsilon: epsilon * 0, 0.0, places=3)
    assert "ex post" not in str(curve)
    assert str(evolve(curve, ex_post=True)).endswith("; read ex post: no guarantee")


def test_a_law_of_no_loss_needs_no_farthest_loss() -> None:
    curve = trade_off(lambda epsilon: epsilon * 0, 0.0, places=3)
    assert [float(place.factor) for place in curve.places[-3:]] == pytest.approx([math.exp(0.5), math.e, 2 * math.e])
    assert curve.at("0.25") == Enclosure.of(Fraction(3, 4))


def test_ends_of_delta_beyond_its_range_are_cut() -> None:
    curve = trade_off(lambda epsilon: Enclosure.between(Fraction(-1), Fraction(3, 2)), 1.0, places=3)
    assert {(place.lower, place.upper) for place in curve.places if place.factor >= 1} == {(Fraction(0), Fraction(1))}
    assert curve.at("0.25").contains(Fraction(3, 4))


def test_without_a_lower_end_of_delta_the_upper_end_is_that_of_no_loss() -> None:
    law = GaussianPair(Enclosure.of(1)).delta
    curve = trade_off(lambda epsilon: law(epsilon, Direction.REMOVE).hull(0), 6.0)
    assert curve.at("0.25").upper == Fraction(3, 4)


def second_error(
    law: DeltaLaw, alpha: Number, *, relative_gap: Fraction = Fraction(1, 2**20), places: int = 64
) -> Enclosure:
    """f(α) with the places that it asks for."""
    return curve_of(law).at(alpha, relative_gap=relative_gap, places=places)


def worse(pair: Pair) -> DeltaLaw:
    """δ(ε) of the worse direction."""
    law = pair.delta
    assert law is not None
    return lambda epsilon: law(epsilon, Direction.REMOVE).maximum(law(epsilon, Direction.ADD))


def counted(law: DeltaLaw) -> tuple[DeltaLaw, list[Enclosure]]:
    """The law, and the ε that it is asked about."""
    asked: list[Enclosure] = []

    def recorded(epsilon: Enclosure) -> Enclosure:
        asked.append(epsilon)
        return law(epsilon)

    return recorded, asked


@pytest.mark.parametrize("mu", ["1/100", "1/4", "1", "3", "10"])
@pytest.mark.parametrize("alpha", ["1e-9", "1e-3", "0.1", "0.5", "0.9", "0.999"])
def test_places_that_one_error_asks_for_enclose_normal_laws_narrowly(mu: str, alpha: str) -> None:
    """To 1e-6 of the true-positive rate, by at most 23 values of δ: 48 on a grid give 0.02."""
    law, asked = counted(worse(GaussianPair(Enclosure.of(mu))))
    truth, found = NORMAL.cdf(NORMAL.inv_cdf(1 - float(alpha)) - float(Fraction(mu))), second_error(law, alpha)
    assert found.lower_float <= truth + 1e-12
    assert found.upper_float >= truth - 1e-12
    assert found.width <= (1 - found.lower) / 2**20
    assert len(asked) <= 23


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "asked_at_most"),
    [
        (GaussianPair(Enclosure.of("1/100")), (1, 26, 21, 17, 13, 7, 8, 17, 1)),
        (GaussianPair(Enclosure.of(1)), (1, 19, 18, 15, 12, 13, 14, 11, 1)),
        (LaplacePair(Enclosure.of("1/100")), (1, 27, 26, 23, 14, 6, 11, 15, 1)),
        (LaplacePair(Enclosure.of(5)), (1, 28, 26, 20, 14, 15, 16, 10, 1)),
    ],
    ids=["near normal", "normal", "small Laplace", "large Laplace"],
)
def test_few_values_are_asked_for(pair: Pair, asked_at_most: tuple[int, ...]) -> None:
    """By halving logarithms: about two values for each bit, less where what is known confines the place."""
    errors = "0", "1e-40", "1e-9", "1e-3", "0.1", "0.5", "0.9", "0.999", "1"
    for alpha, most in zip(errors, asked_at_most, strict=True):
        law, asked = counted(worse(pair))
        second_error(law, alpha)
        assert len(asked) <= most


@pytest.mark.parametrize("alpha", ["0.1", "0.9"])
def test_the_search_ends_where_no_factor_of_few_bits_is_left(alpha: str) -> None:
    """Factors of 24 bits around the place where the pure loss ends, each asked about once."""
    law, asked = counted(worse(LaplacePair(Enclosure.of(1))))
    found = second_error(law, alpha, relative_gap=Fraction(1, 2**80), places=200)
    assert found.width < Fraction(1, 2**20)
    assert len({epsilon.upper for epsilon in asked}) == len(asked) < 60


@pytest.mark.parametrize("places", [1, 2, 5])
def test_no_more_values_are_asked_for_than_allowed(places: int) -> None:
    law, asked = counted(worse(GaussianPair(Enclosure.of(1))))
    found, truth = second_error(law, "0.1", places=places), NORMAL.cdf(NORMAL.inv_cdf(0.9) - 1)
    assert len(asked) == places
    assert found.lower_float <= truth <= found.upper_float


@examples(40)
@given(tables=symmetric_tables(), alpha=st.fractions(0, 1, max_denominator=30))
def test_places_that_one_error_asks_for_enclose_finite_laws(
    tables: tuple[tuple[Fraction, ...], tuple[Fraction, ...]], alpha: Fraction
) -> None:
    found, truth = second_error(worse(FinitePair(*tables)), alpha), most_powerful(*tables, alpha)
    assert found.lower <= truth <= found.upper
    assert found.width <= (1 - found.lower) * Fraction(1, 2**18) or alpha == 0


@examples(60)
@given(
    weights=st.lists(
        st.tuples(*2 * [st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)]), min_size=1, max_size=3
    ),
    alpha=st.fractions(0, 1, max_denominator=30),
)
@example(weights=[([1, 0, 1], [2, 0, 0])], alpha=Fraction(1, 4))
@example(weights=[([1, 1, 1], [1, 2, 4]), ([5, 2, 2], [2, 2, 5])], alpha=Fraction(1, 3))
def test_the_lower_end_of_a_true_positive_rate_is_reached(
    weights: list[tuple[list[int], list[int]]], alpha: Fraction
) -> None:
    """By the most powerful test of one direction of one pair, of laws that mirror nothing."""
    pairs = [FinitePair(*(tuple(Fraction(one, sum(law)) for one in law) for law in two)) for two in weights]
    worst = WorstPairs(tuple(pairs), tuple(pairs))

    def law(epsilon: Enclosure) -> Enclosure:
        found = LOSS_DISTRIBUTION.delta(worst, epsilon)
        assert found is not None
        return found.bounds.enclosure

    reached = reached_curves(laws for pair in pairs if (laws := LOSS_DISTRIBUTION.by_direction(pair)) is not None)
    found = true_positive_rate(curve_of(law), reached, str(alpha))
    truth = 1 - min(
        most_powerful(*laws, alpha)
        for pair in pairs
        for laws in ((pair.absent, pair.present), (pair.present, pair.absent))
    )
    assert found.lower <= truth <= found.upper
    assert truth - found.lower <= truth * Fraction(1, 2**16) or alpha == 0


@pytest.mark.parametrize("alpha", ["1/1000", "1/4", "9/10"])
def test_true_positive_rates_of_normal_laws(alpha: str) -> None:
    both = LOSS_DISTRIBUTION.by_direction(GaussianPair(Enclosure.of(1)))
    assert both is not None
    found = true_positive_rate(curve_of(both[Direction.REMOVE]), reached_curves([both]), alpha)
    truth = NORMAL.cdf(NORMAL.inv_cdf(float(Fraction(alpha))) + 1)
    assert (found.lower_float, found.upper_float) == pytest.approx((truth, truth), rel=1e-5)


def test_the_curve_of_both_directions_is_reached_by_no_test() -> None:
    """Why the test above looks at each direction by itself: an output that is sure in one of them alone."""
    pair = FinitePair((Fraction(1, 2), Fraction(1, 2)), (Fraction(1), Fraction(0)))
    first, second = pair_laws(pair)
    rates = [1 - most_powerful(*laws) for laws in ((first, second, Fraction(1, 4)), (second, first, Fraction(1, 4)))]
    assert 1 - second_error(worse(pair), "1/4").upper > max(rates)


def pair_laws(pair: FinitePair) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    return pair.absent, pair.present


@examples(40)
@given(
    weights=st.tuples(*2 * [st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)]),
    prior=st.fractions(0, 1, max_denominator=30),
)
def test_advantage_and_bayes_risk_of_finite_laws(weights: tuple[list[int], list[int]], prior: Fraction) -> None:
    """By the sums over outputs that define them, for the worse of both directions; laws that mirror nothing."""
    first, second = (tuple(Fraction(weight, sum(law)) for weight in law) for law in weights)
    law = worse(FinitePair(first, second))
    risk = min(
        sum((min(prior * p, (1 - prior) * q) for p, q in zip(*laws, strict=True)), Fraction(0))
        for laws in ((first, second), (second, first))
    )
    distance = sum((max(p - q, Fraction(0)) for p, q in zip(first, second, strict=True)), Fraction(0))
    for truth, found in ((distance, advantage(law)), (risk, bayes_risk(law, prior))):
        assert found.lower <= truth <= found.upper
        assert found.width <= Fraction(1, 2**90)
    assert bayes_risk(law, prior) == bayes_risk(law, 1 - prior)


@pytest.mark.parametrize("mu", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("prior", [1e-6, 0.1, 0.5, 0.75])
def test_the_bayes_risk_of_normal_laws(mu: float, prior: float) -> None:
    """Whoever guesses by the ratio of the densities errs with πΦ(−μ/2 − t) + (1 − π)Φ(−μ/2 + t), t = log(π/(1−π))/μ."""
    found = bayes_risk(worse(GaussianPair(Enclosure.of(mu))), prior)
    shift = math.log(prior / (1 - prior)) / mu
    truth = prior * NORMAL.cdf(-mu / 2 - shift) + (1 - prior) * NORMAL.cdf(-mu / 2 + shift)
    assert float(found.lower) == pytest.approx(truth, rel=1e-9)
    assert float(found.upper) == pytest.approx(truth, rel=1e-9)


def test_the_bayes_risk_is_the_least_mean_error_on_the_curve() -> None:
    """The minimum over α of πα + (1 − π)f(α)."""
    law, prior = worse(LaplacePair(Enclosure.of(1))), Fraction(1, 3)
    errors = [Fraction(step, 64) for step in range(65)]
    means = [prior * alpha + (1 - prior) * second_error(law, alpha).upper for alpha in errors]
    risk = bayes_risk(law, prior)
    assert all(mean >= risk.lower for mean in means)
    assert min(means) <= risk.upper + Fraction(1, 1000)


def test_without_a_lower_end_of_delta_places_are_chosen_all_the_same() -> None:
    """The end that protects is as near as with one; the other is that of a blind guess."""
    law = worse(GaussianPair(Enclosure.of(1)))
    found, known = second_error(lambda epsilon: law(epsilon).hull(0), "0.1"), second_error(law, "0.1")
    assert found.lower == known.lower
    assert 0 <= found.upper - Fraction(9, 10) < Fraction(1, 2**90)
    risk = bayes_risk(lambda epsilon: law(epsilon).hull(0), "0.2")
    assert 0 <= risk.upper - Fraction(1, 5) < Fraction(1, 2**90)


@pytest.mark.parametrize("law", [lambda epsilon: epsilon * 0, lambda epsilon: epsilon * 0 + 1])
def test_laws_of_no_loss_and_of_all_loss(law: DeltaLaw) -> None:
    lossy = bool(law(Enclosure.of(1)).upper)
    assert advantage(law) == Enclosure.of(int(lossy))
    assert bayes_risk(law, "1/4") == Enclosure.of(0 if lossy else "1/4")
    for alpha in ("0", "1/3", "1"):
        assert second_error(law, alpha) == Enclosure.of(0 if lossy else 1 - Fraction(alpha))


def test_refusals_of_priors_and_errors() -> None:
    law = worse(GaussianPair(Enclosure.of(1)))
    with pytest.raises(InvalidValue, match="places"):
        second_error(law, "0.1", places=0)
    for wrong in (-0.1, 1.5, "nan"):
        with pytest.raises(InvalidValue, match=r"prior|value"):
            bayes_risk(law, wrong)
        with pytest.raises(InvalidValue, match=r"alpha|value"):
            second_error(law, wrong)
    assert bayes_risk(law, 0) == bayes_risk(law, 1) == Enclosure.of(0)


def test_refusals() -> None:
    curve = on_grid(GaussianPair(Enclosure.of(1)), 5.0, places=5)
    for alpha in (-0.1, 1.5, "nan"):
        with pytest.raises(InvalidValue, match=r"alpha|value"):
            curve.at(alpha)
    for farthest in (-1.0, float("inf")):
        with pytest.raises(InvalidValue, match="farthest"):
            on_grid(GaussianPair(Enclosure.of(1)), farthest)
    with pytest.raises(InvalidValue, match="places"):
        on_grid(GaussianPair(Enclosure.of(1)), 1.0, places=1)
