"""Two-stage rejection: rates and lengths are at most the analysed ones after rounding, and draws have these rates."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from certdp.accounting.errors import InvalidValue
from certdp.dpis.sampling import TwoStage, Uniform, norm_error
from certdp.plugins.contract import Coins

COINS = Coins.seeded(11)
ODD = st.floats(0, 1e300, allow_subnormal=True) | st.sampled_from([math.nan, math.inf, 5e-324, 2.0**-501, 2.0**-500])
POSITIVE = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6)


@given(
    stale=st.lists(ODD, min_size=1, max_size=6),
    fresh=st.lists(ODD, min_size=6, max_size=6),
    clip=POSITIVE,
    batch=st.fractions(Fraction(1, 3), 500, max_denominator=7),
    room=st.fractions(1, 1000, max_denominator=97),
    multiplier=st.fractions(1, 9, max_denominator=3),
    dimension=st.integers(1, 10**7),
)
def test_rates_drawn_are_at_most_the_analysed_ones(
    stale: list[float],
    fresh: list[float],
    clip: Fraction,
    batch: Fraction,
    room: Fraction,
    multiplier: Fraction,
    dimension: int,
) -> None:
    """In exact arithmetic, for every record: q·p ≤ b·min(n/(1 + η), ĝ, C)/K̃, and close to it."""
    norm_sum, error = batch * clip * room, norm_error(dimension)
    two = TwoStage(multiplier=multiplier, error=error)
    bounds = two.bounds(np.array(stale), clip)
    first = two.propose(bounds, norm_sum=norm_sum, batch=batch, coins=COINS)
    norms = np.array(fresh[: len(stale)])
    second = two.accept(norms, bounds, coins=COINS)
    for bound, norm, q, p in zip(bounds, norms, first.rates, second.rates, strict=True):
        assert 0 < bound <= clip
        assert Fraction(q) <= batch * Fraction(bound) / norm_sum <= batch * clip / norm_sum
        if not math.isfinite(norm) or norm < 2.0**-500:
            assert p == 0
            continue
        accepted = min(Fraction(norm) / (1 + error), Fraction(bound))
        assert Fraction(p) <= accepted / Fraction(bound) <= 1
        if norm > 1e-200:
            least = batch * accepted / norm_sum * (1 - 2 * error)
            assert Fraction(q) * Fraction(p) >= least - Fraction(1, 2**1000)


@given(
    norms=st.lists(st.floats(2.0**-500, 1e300), min_size=1, max_size=5),
    length=POSITIVE,
    dimension=st.integers(1, 10**9),
)
def test_lengths_added_are_at_most_the_analysed_one(norms: list[float], length: Fraction, dimension: int) -> None:
    """Even where every norm was computed too small by η/4: w·‖g‖ ≤ K̃/Ñ, and close to it."""
    error = norm_error(dimension)
    weights = TwoStage(error=error).weights(np.array(norms), length)
    for norm, weight in zip(norms, weights, strict=True):
        added = Fraction(weight) * Fraction(norm)
        assert added / (1 - error / 4) <= length
        assert added >= length * (1 - error - Fraction(1, 2**50)) or weight < 2.0**-1000
    clipped = Uniform(error=error).weights(np.array(norms), length)
    for norm, weight in zip(norms, clipped, strict=True):
        assert weight <= 1
        assert Fraction(weight) * Fraction(norm) / (1 - error / 4) <= length


def test_every_rate_and_factor_is_on_the_safe_side_of_its_rounding() -> None:
    """In rational numbers, over so many inputs that each number that is not moved is on the wrong side somewhere."""
    random = np.random.default_rng(29)
    for clip, batch, room, share in random.integers(1, 10**6, (60, 4)).tolist():
        stale, norms = np.exp(random.normal(-1, 2, (2, 50)))
        bound, drawn = Fraction(clip, 3 * 10**5), Fraction(batch, 7 * 10**4)
        floor, norm_sum = Fraction(share, 10**6), drawn * bound * (1 + Fraction(room, 10**6))
        error = norm_error(10**5)
        two = TwoStage(multiplier="4.7", floor=floor, error=error)
        bounds = two.bounds(stale, bound)
        first = two.propose(bounds, norm_sum=norm_sum, batch=drawn, coins=COINS).rates
        second = two.accept(norms, bounds, coins=COINS).rates
        factors, clipped = two.weights(norms, norm_sum), Uniform(error=error).weights(norms, bound)
        close = 1 - Fraction(1, 2**48)
        for columns in zip(stale, bounds, norms, first, second, factors, clipped, strict=True):
            old, g, n, q, p, w, u = (Fraction(float(number)) for number in columns)
            analysed: Fraction = min(bound, Fraction(4.7) * max(old, floor * bound))
            assert analysed * close <= g <= min(bound, analysed * (1 + Fraction(1, 2**52)))
            assert drawn * g / norm_sum * close <= q <= drawn * g / norm_sum
            accepted: Fraction = min(n * (1 - error), g) / g
            assert accepted * close <= p <= accepted
            assert norm_sum * (1 - error) / n * close <= w <= norm_sum * (1 - error) / n
            scaled: Fraction = min(Fraction(1), bound * (1 - error) / n)
            assert scaled * close <= u <= scaled


@pytest.mark.parametrize("rate", [Fraction(k, 97) for k in range(98)])
def test_everyone_is_drawn_with_at_most_the_rate(rate: Fraction) -> None:
    (drawn,) = Uniform(error=0).draw(1, rate=rate, coins=COINS).rates
    assert rate * (1 - Fraction(1, 2**52)) <= Fraction(float(drawn)) <= rate


def test_the_error_of_norms_is_four_times_what_the_proof_needs() -> None:
    for dimension in (1, 2, 1000, 10**7):
        assert norm_error(dimension) == 4 * (dimension + 8) * Fraction(1, 2**53)
        assert norm_error(dimension, Fraction(1, 2**40)) == 4 * (dimension + 8) * Fraction(1, 2**40)
    assert norm_error(2**21 - 8, Fraction(1, 2**24)) == Fraction(1, 2)
    with pytest.raises(InvalidValue, match="2097144"):
        norm_error(2**21 - 7, Fraction(1, 2**24))


def test_the_ends_of_what_is_admitted() -> None:
    assert TwoStage(multiplier=1, floor=1, error="0.5").bounds(np.array([0.0]), Fraction(2)).tolist() == [2.0]
    assert Uniform(error="1/2").weights(np.array([2.0]), Fraction(2))[0] == pytest.approx(0.5)
    whole = TwoStage(error=0).propose(np.array([1.0]), norm_sum=Fraction(1), batch=Fraction(1), coins=COINS)
    assert whole.rates[0] == pytest.approx(1)
    least = TwoStage(error=0).accept(np.array([2.0**-500, 2.0**-501]), np.full(2, 2.0**-400), coins=COINS).rates
    assert least[0] == pytest.approx(2.0**-100)
    assert least[1] == 0.0


@pytest.mark.parametrize("dimension", [1, 7, 1000, 20_000])
def test_the_margin_covers_the_rounding_of_norms_and_of_scaled_vectors(dimension: int) -> None:
    """The exact length of the float vector w·g, for norms by NumPy, by running sums and by outer products."""
    random = np.random.default_rng(dimension)
    gradient = random.standard_normal(dimension) * 10.0 ** random.integers(-8, 8, dimension)
    left, right = random.standard_normal(dimension), random.standard_normal(3)
    outer = np.outer(left, right).ravel()
    computed = {
        float(np.linalg.norm(gradient)): gradient,
        float(np.sqrt(np.cumsum(gradient**2)[-1])): gradient,
        float(np.linalg.norm(left) * np.linalg.norm(right)): outer,
    }
    length = Fraction(7, 3)
    for norm, vector in computed.items():
        error = norm_error(vector.size)
        (weight,) = TwoStage(error=error).weights(np.array([norm]), length)
        square = sum((Fraction(entry) ** 2 for entry in (weight * vector).tolist()), Fraction())
        assert length**2 * (1 - error) ** 4 <= square <= length**2


def test_inclusion_frequencies_lie_within_exact_binomial_intervals(stream: int) -> None:
    """Rates b·min(n, ĝ, C)/K̃, stale bounds and saturation among them."""
    coins, repeats = Coins.seeded(100 + stream), 4000
    clip, batch, norm_sum = Fraction(1), Fraction(3), Fraction("3.03")
    two = TwoStage(multiplier=5, floor="0.01", error=norm_error(10))
    stale = np.array([0.5, 0.02, 0.0, 5.0, 0.1, 0.3])
    fresh = np.array([0.5, 0.9, 0.02, 0.4, math.nan, 0.0])
    expected = [0.5, 0.1, 0.02, 0.4, 0.0, 0.0]  # min(n, ĝ, C): ĝ is 1, 0.1, 0.05, 1, 0.5, 1
    bounds = two.bounds(stale, clip)
    assert bounds == pytest.approx([1, 0.1, 0.05, 1, 0.5, 1])
    counts = np.zeros(len(stale), dtype=int)
    for _ in range(repeats):
        first = two.propose(bounds, norm_sum=norm_sum, batch=batch, coins=coins)
        second = two.accept(fresh[first.indices], bounds[first.indices], coins=coins)
        counts[first.indices[second.indices]] += 1
    for count, norm in zip(counts, expected, strict=True):
        rate = float(batch) * norm / float(norm_sum)
        low, high = stats.binom.interval(1 - 1e-7, repeats, rate)
        assert low <= count <= high, (rate, count)


def test_expected_sizes_are_private() -> None:
    two = TwoStage(error=0)
    bounds = two.bounds(np.array([1.0, 0.1]), Fraction(1))
    first = two.propose(bounds, norm_sum=Fraction(10), batch=Fraction(2), coins=COINS)
    assert "0.3" not in str(first.expected)
    assert first.expected.reveal() == pytest.approx(2 * (1 + 0.5) / 10)
    assert two.accept(np.array([0.5, 0.1]), bounds, coins=COINS).expected.reveal() == pytest.approx(0.5 + 0.2)


def test_dp_sgd_draws_everyone_alike_and_drops_what_is_no_number() -> None:
    uniform = Uniform(error=0)
    drawn = uniform.draw(10_000, rate=Fraction(1, 3), coins=Coins.seeded(3))
    assert np.all(drawn.rates == np.nextafter(1 / 3, 0)) or np.all(drawn.rates == 1 / 3)
    assert Fraction(drawn.rates[0]) <= Fraction(1, 3)
    low, high = stats.binom.interval(1 - 1e-7, 10_000, 1 / 3)
    assert low <= drawn.indices.size <= high
    weights = uniform.weights(np.array([0.0, 0.5, 4.0, math.nan, math.inf]), Fraction(1))
    assert weights == pytest.approx([1, 1, 0.25, 0, 0])


def test_dp_sgd_adds_tiny_gradients_as_they_are_and_two_stages_do_not() -> None:
    """Unless C is as tiny: then as if their norms were 2^-500, which is the most that they can be."""
    tiny = np.array([0.0, 5e-324, 2.0**-501])
    assert Uniform(error=0).weights(tiny, Fraction(1)) == pytest.approx(np.ones(3))
    clipped = Uniform(error=0).weights(tiny, Fraction(1, 2**510))
    assert (clipped <= 2.0**-10).all()
    assert clipped == pytest.approx(np.full(3, 2.0**-10))
    drawn = TwoStage(error=0).accept(tiny, np.full(3, 0.5), coins=Coins.seeded(1))
    assert drawn.rates.tolist() == [0, 0, 0]


def test_nothing_is_drawn_from_nothing() -> None:
    two = TwoStage(error=0)
    empty = np.empty(0)
    first = two.propose(two.bounds(empty, Fraction(1)), norm_sum=Fraction(2), batch=Fraction(1), coins=COINS)
    assert first.indices.size == 0
    assert two.accept(empty, empty, coins=COINS).indices.size == 0


@pytest.mark.parametrize("bad", [{"multiplier": "0.9"}, {"floor": 0}, {"floor": 2}, {"error": "0.6"}, {"error": -1}])
def test_parameters_out_of_range_are_refused(bad: dict[str, str | int]) -> None:
    with pytest.raises(InvalidValue):
        TwoStage(**{"error": 0, **bad})


def test_rates_above_one_and_too_many_entries_are_refused() -> None:
    with pytest.raises(InvalidValue, match="norm_sum"):
        TwoStage(error=0).propose(np.array([1.0, 3.0]), norm_sum=Fraction(2), batch=Fraction(1), coins=COINS)
    with pytest.raises(InvalidValue, match="entries"):
        norm_error(2**22, Fraction(1, 2**24))


@pytest.mark.parametrize("multiplier", ["1e300", "1e308"])
def test_a_bound_beyond_the_floats_is_the_clipping_bound(multiplier: str) -> None:
    bounds = TwoStage(multiplier=multiplier, floor=1, error=0).bounds(np.array([0.0, 1e300, math.inf]), Fraction(10**9))
    assert bounds.tolist() == [1e9] * 3
