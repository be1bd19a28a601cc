"""Scales of (ε, δ) shared out among releases: the smallest that is proven, or one a nudge above."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.accountants import splits
from certdp.accounting.accountants.splits import (
    Share,
    Split,
    delta_at_best_scale,
    epsilon_at_best_scale,
    for_delta,
    for_epsilon,
    joined,
    left_over,
    smallest_scale,
    spared,
    total_delta,
    total_epsilon,
)
from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.pairs import Composed, GaussianPair, LaplacePair, Pair, RandomisedResponsePair, Repeated
from certdp.accounting.pairs.laws import PureLaw
from certdp.accounting.relations import Direction

TINY = Fraction(1, 2**85)
DELTA = Enclosure.of("1e-5")


@pytest.mark.parametrize("short", [0, 45, 30, 10])
def test_a_scale_that_is_a_little_too_small_is_nudged_up(short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    split = Split.of(Repeated(GaussianPair(Enclosure.of("1/2")), 7))
    assert split is not None
    smallest_scale.cache_clear()
    right = smallest_scale(split, DELTA)
    assert right is not None
    near = right * (1 - Fraction(1, 2**short)) if short else right
    monkeypatch.setattr(splits, "_near_smallest_scale", lambda *_: near)
    smallest_scale.cache_clear()
    found = smallest_scale(split, DELTA)
    assert found is not None
    assert total_delta(split.at(found)).less_equal(DELTA) is Truth.TRUE
    assert near <= found <= right * (1 + Fraction(1, 2**7))
    monkeypatch.setattr(splits, "_near_smallest_scale", lambda *_: right / 2)
    smallest_scale.cache_clear()
    assert smallest_scale(split, DELTA) is None
    smallest_scale.cache_clear()


# δ of several releases together, against exact fractions

DELTAS = st.builds(Fraction, st.integers(0, 40), st.just(41))
COUNTS = st.integers(1, 4)


@st.composite
def some_shares(draw: st.DrawFn) -> list[Share]:
    """Shares whose ε and δ are known to lie in an interval, or exactly."""
    shares = []
    for low, wide, times in draw(st.lists(st.tuples(DELTAS, st.sampled_from([0, 1]), COUNTS), min_size=1, max_size=3)):
        high = low + Fraction(wide, 82)
        shares.append(Share(Enclosure.between(4 * low, 4 * high), Enclosure.between(low, high), times))
    return shares


def kept(shares: list[Share], end: Callable[[Enclosure], Fraction]) -> Fraction:
    """Π(1 − δ_l)^{n_l}."""
    return prod(((1 - end(share.delta)) ** share.times for share in shares), start=Fraction(1))


def lower(number: Enclosure) -> Fraction:
    return number.lower


def upper(number: Enclosure) -> Fraction:
    return number.upper


def close(found: Enclosure, least: Fraction, most: Fraction) -> bool:
    """Whether an enclosure is around an interval, and hardly wider."""
    return least - TINY <= found.lower <= least <= most <= found.upper <= most + TINY


@given(some_shares())
def test_losses_of_shares_add(shares: list[Share]) -> None:
    zero = Fraction(0)
    epsilons = [sum((end(share.epsilon) * share.times for share in shares), zero) for end in (lower, upper)]
    assert close(total_epsilon(shares), *epsilons)
    deltas = [sum((end(share.delta) * share.times for share in shares), zero) for end in (lower, upper)]
    assert close(total_delta(shares), *(min(delta, Fraction(1)) for delta in deltas))


@given(some_shares(), DELTAS)
def test_joining_what_is_left_over_gives_the_whole(shares: list[Share], delta: Fraction) -> None:
    """1 − (1 − δ')·Π(1 − δ_l)^{n_l}, and the δ' that makes this δ: none where the shares alone may be above it."""
    level = Enclosure.of(delta)
    assert close(joined(shares, level), *(1 - (1 - delta) * kept(shares, end) for end in (lower, upper)))
    found = left_over(shares, level)
    least, most = (1 - (1 - delta) / kept(shares, end) for end in (upper, lower))
    if least > TINY:
        assert found is not None
        assert close(found, least, most)
    elif least < 0:
        assert found is None
    else:
        assert found is None or close(found, least, most)


def test_where_everything_may_be_told_nothing_is_left_over() -> None:
    told = [Share(Enclosure.of(1), Enclosure.between("0.5", 1), 1), Share(Enclosure.of(1), Enclosure.of(0), 2)]
    assert spared(told) is None
    assert left_over(told, Enclosure.of("0.9")) is None
    assert joined(told, Enclosure.of("0.1")) == Enclosure.of(1)
    assert joined(told[1:], Enclosure.of(1)) == Enclosure.of(1)
    assert joined(told[1:], Enclosure.between("0.5", 1)) == Enclosure.of(1)


# Shares of pairs at a scale

LAPLACE, RESPONSE = LaplacePair(Enclosure.of("1/2")), RandomisedResponsePair(Enclosure.of(2))
GAUSSIAN = GaussianPair(Enclosure.of("1/4"))


class PureAlone(Pair):
    """Loses 1, and says no more."""

    def __repr__(self) -> str:  # ids of tests are the same in every process
        return "PureAlone()"

    @property
    def pure(self) -> PureLaw | None:
        return lambda _: Enclosure.of(1)


class Silent(Pair):
    """Says nothing."""


def test_sizes_are_pure_losses_or_roots_of_what_is_concentrated() -> None:
    both = Split.of(Composed((LAPLACE.repeated(3), RESPONSE)))
    assert both is not None
    assert both.has_pure
    assert both.sizes == (Fraction(1, 2), Fraction(2))
    assert (both.size, both.count) == (Fraction(7, 2), 4)
    mixed = Split.of(Composed((LAPLACE.repeated(3), GAUSSIAN)))
    assert mixed is not None
    assert not mixed.has_pure
    for size, (pair, _) in zip(mixed.sizes, mixed.releases, strict=True):
        rho = pair.zero_concentrated
        assert rho is not None
        assert abs(size * size - rho.upper) <= TINY
    assert Split.of(Composed((LAPLACE, Silent()))) is None
    assert (alone := Split.of(PureAlone())) is not None
    assert not alone.scalable
    assert smallest_scale(alone, DELTA) is None


@given(st.builds(Fraction, st.integers(1, 40), st.just(10)))
def test_each_share_is_what_its_pair_proves(scale: Fraction) -> None:
    for pairs in ((LAPLACE.repeated(3), RESPONSE), (LAPLACE.repeated(3), GAUSSIAN), (PureAlone(), LAPLACE)):
        split = Split.of(Composed(pairs))
        assert split is not None
        for share, (pair, times), size in zip(split.at(scale), split.releases, split.sizes, strict=True):
            assert share.times == times
            loss = None if pair.pure is None else pair.pure(Direction.REMOVE)
            if loss is not None and (pair.delta is None or loss.upper <= scale * size):
                assert (share.epsilon, share.delta) == (loss, Enclosure.of(0))
                continue
            assert share.epsilon == Enclosure.of(scale * size)
            assert pair.delta is not None
            worst = max((pair.delta(share.epsilon, direction) for direction in Direction), key=upper)
            assert share.delta.lower <= worst.lower <= worst.upper <= share.delta.upper + TINY
    split = Split.of(LAPLACE.repeated(3))
    assert split is not None
    assert split.at(None) == (Share(Enclosure.of("1/2"), Enclosure.of(0), 3),)


@pytest.mark.parametrize(
    "pair", [Repeated(GAUSSIAN, 7), Composed((GAUSSIAN.repeated(4), LAPLACE.repeated(3)))], ids=str
)
@pytest.mark.parametrize("level", ["1e-5", "0.1"])
def test_the_best_scale_is_no_worse_than_any_tried(pair: Pair, level: str) -> None:
    """Of the sum of all ε at what the shares leave over, and of the sum of all δ at a share of ε each."""
    split, delta = Split.of(pair), Enclosure.of(level)
    assert split is not None

    def bound(shares: Sequence[Share], rest: Enclosure) -> Enclosure:
        return total_epsilon(shares)

    found = epsilon_at_best_scale(split, delta, bound, lambda shares, _: total_epsilon(shares).upper_float)
    low = smallest_scale(split, delta)
    assert found is not None
    assert low is not None
    others = [split.at(low * (1 + Fraction(step, 16))) for step in range(32)]
    allowed = [total_epsilon(shares).upper for shares in others if left_over(shares, delta) is not None]
    assert found.upper <= min(allowed)
    assert left_over(split.at(low), delta) is not None
    assert left_over(split.at(low * Fraction(9, 10)), delta) is None

    def no_more(shares: Sequence[Share], level: Enclosure) -> Enclosure:
        return Enclosure.of(0 if total_epsilon(shares).upper <= level.lower * (1 + TINY) else 1)

    epsilon = found * Fraction(11, 10)
    most = delta_at_best_scale(split, epsilon, no_more, lambda shares, level: no_more(shares, level).upper_float)
    assert most is not None
    assert most.upper <= total_delta(split.at(epsilon.lower / split.size)).upper + TINY


UNCERTAIN = (
    GaussianPair(Enclosure.between("1/4", "1/3")),
    GaussianPair(Enclosure.between("1/4", "1/3")).sampled(Enclosure.of("1/2")).repeated(3),
    Composed((LaplacePair(Enclosure.between("1/4", "1/3")).repeated(3), GAUSSIAN.sampled(Enclosure.of("1/2")))),
    LAPLACE.repeated(4),
    PureAlone(),
)


@pytest.mark.parametrize("pair", UNCERTAIN, ids=str)
def test_a_bound_is_asked_for_the_least_that_is_left_over(pair: Pair) -> None:
    """And the best of its answers is taken: at each scale, what remains of δ at the worst ends of all shares."""
    split, delta = Split.of(pair), Enclosure.of("1e-3")
    assert split is not None
    asked: list[tuple[Sequence[Share], Enclosure]] = []

    def bound(shares: Sequence[Share], rest: Enclosure) -> Enclosure:
        asked.append((shares, rest))
        return Enclosure.between(-len(asked), 3 + (5 * len(asked)) % 3)

    found = epsilon_at_best_scale(split, delta, bound, lambda shares, _: total_epsilon(shares).upper_float)
    for shares, rest in asked:
        whole = left_over(shares, delta)
        assert whole is not None
        assert rest.lower == rest.upper == whole.lower
    assert len(asked) == split.has_pure + split.scalable * (1 + (split.count > 1))
    assert found is not None
    assert found.upper == min(3 + (5 * k) % 3 for k in range(1, len(asked) + 1))


@pytest.mark.parametrize("pair", UNCERTAIN, ids=str)
def test_a_bound_is_asked_at_the_least_epsilon_and_joined_with_all_shares(pair: Pair) -> None:
    split, epsilon = Split.of(pair), Enclosure.between("1/2", 4)
    assert split is not None
    asked: list[Sequence[Share]] = []

    def bound(shares: Sequence[Share], level: Enclosure) -> Enclosure:
        asked.append(shares)
        assert level.lower == level.upper == Fraction(1, 2)
        return Enclosure.of(Fraction(1, 3 + len(asked) % 3))

    found = delta_at_best_scale(split, epsilon, bound, lambda shares, level: 0.0)
    assert found is not None
    assert len(asked) == split.has_pure + split.scalable
    ends = [joined(shares, Enclosure.of(Fraction(1, 3 + k % 3))).upper for k, shares in enumerate(asked, start=1)]
    assert found.upper == min(ends)


def test_what_may_be_used_up_leaves_nothing_over() -> None:
    share = Share(Enclosure.of(1), Enclosure.between("0.1", "0.3"), 1)
    assert left_over([share], Enclosure.of("0.2")) is None
    assert left_over([Share(Enclosure.of(1), Enclosure.of(0), 1)], Enclosure.of(0)) is not None


SAMPLED = GAUSSIAN.sampled(Enclosure.of("1/2"))


@pytest.mark.parametrize("pair", [SAMPLED.repeated(4), Composed((SAMPLED, Repeated(GAUSSIAN, 2)))], ids=str)
def test_the_scale_with_the_least_estimate_is_found(pair: Pair) -> None:
    """Estimates that fall and rise again, as those of a trade do."""
    split, delta = Split.of(pair), Enclosure.of("1e-3")
    assert split is not None
    low = smallest_scale(split, delta)
    assert low is not None
    wanted = 3 * float(low * split.size)
    tried: list[Sequence[Share]] = []

    def bound(shares: Sequence[Share], _: Enclosure) -> Enclosure:
        tried.append(shares)
        return total_epsilon(shares)

    epsilon_at_best_scale(split, delta, bound, lambda shares, _: abs(total_epsilon(shares).upper_float - wanted))
    assert split.at(low) in tried
    assert min(abs(total_epsilon(shares).upper_float - wanted) for shares in tried) <= 0.05 * wanted


# Which scales are looked at


def unheeded(shares: Sequence[Share], _: Enclosure) -> float:
    return float(total_epsilon(shares).upper)


@pytest.mark.parametrize(("times", "searched"), [(1, 1), (2, 2), (7, 2)])
def test_larger_scales_are_searched_where_there_are_several_releases(times: int, searched: int) -> None:
    split = Split.of(Repeated(GaussianPair(Enclosure.of("1/2")), times))
    assert split is not None
    assert len(for_epsilon(split, DELTA, unheeded)) == searched


@pytest.mark.parametrize("pair", [LaplacePair(Enclosure.of("1/2")), GaussianPair(Enclosure.of("1/2"))])
def test_no_scale_is_searched_at_which_all_losses_are_pure(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """From scale 1 on, where there are pure losses; others are searched up to the ε of one release alone."""
    looked: list[tuple[Fraction, Fraction]] = []

    def searched(_: object, low: Fraction, high: Fraction) -> Fraction:
        looked.append((low, high))
        return low

    monkeypatch.setattr(splits, "_best_scale", searched)
    split, epsilon = Split.of(Repeated(pair, 7)), Enclosure.of(1)
    assert split is not None
    for_delta.cache_clear()
    for_delta(split, epsilon, unheeded)
    for_delta.cache_clear()
    low = 1 / split.size
    assert looked == [(low, Fraction(1) if split.has_pure else 7 * low)]
    assert 7 * low > 1


@pytest.mark.parametrize("place", [Fraction(n, 40) for n in range(-3, 44)])
def test_the_best_scale_is_found_within_its_limits(place: Fraction) -> None:
    """The logarithm of the scale between those of the limits, or next to one of them."""
    low, high = Fraction(1, 3), Fraction(16, 3)
    met: list[float] = []

    def value(scale: Fraction) -> float:
        met.append(log(scale / low) / log(16))
        return abs(met[-1] - float(place))

    found = log(splits._best_scale(value, low, high) / low) / log(16)
    assert abs(found - min(max(float(place), 0), 1)) < 0.005
    assert min(met) == 0
    assert max(met) == pytest.approx(1)
