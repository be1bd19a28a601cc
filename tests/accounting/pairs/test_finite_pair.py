"""Exact tables: zeros, ratios, exact mixtures and repetitions."""

from __future__ import annotations

from fractions import Fraction
from math import log
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import FinitePair, Repeated, RepeatedResponse, Sampled
from certdp.accounting.relations import Direction
from tests.support.cases import examples

SETTINGS = examples(60)
Q = Fraction
FACTORS = st.fractions(1, 4, max_denominator=9)


def table(scores: list[int]) -> tuple[Fraction, ...]:
    return tuple(Q(score, sum(scores)) for score in scores)


ROWS = st.integers(2, 4).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 6), min_size=n, max_size=n).filter(any).map(table)] * 2)
)


@pytest.mark.parametrize(
    ("present", "absent", "parameter"),
    [
        ((Q(1, 2), Q(1, 3)), (Q(1),), "present"),
        ((Q(3, 2), Q(-1, 2)), (Q(1), Q(0)), "present"),
        ((Q(1), Q(0)), (Q(1, 2), Q(1, 3)), "absent"),
        ((Q(1), Q(0)), (Q(1),), "absent"),
        ((), (), "present"),
    ],
)
def test_tables_that_are_no_laws(present: Any, absent: Any, parameter: str) -> None:
    with pytest.raises(InvalidValue, match=f"^{parameter}: got"):
        FinitePair(present, absent)


@pytest.mark.parametrize("wrong", [(0.5, 0.5), [Q(1, 2), Q(1, 2)], (1, 0), "ab", None])
def test_tables_must_be_exact(wrong: Any) -> None:
    with pytest.raises(InvalidType, match=r"present: got .*Fractions.*exact"):
        FinitePair(wrong, (Q(1, 2), Q(1, 2)))


def test_a_zero_that_faces_a_probability_leaves_only_delta() -> None:
    pair = FinitePair((Q(1, 2), Q(1, 2), Q(0)), (Q(0), Q(3, 4), Q(1, 4)))
    assert (pair.pure, pair.renyi, pair.zero_concentrated, pair.gaussian) == (None,) * 4
    assert pair.greatest_ratio(Direction.REMOVE) is None
    assert pair.delta(Enclosure.of(700), Direction.REMOVE).contains(Q(1, 2))
    assert pair.delta(Enclosure.of(700), Direction.ADD).contains(Q(1, 4))
    one_sided = FinitePair((Q(1), Q(0)), (Q(1, 2), Q(1, 2)))
    assert one_sided.greatest_ratio(Direction.REMOVE) == 2
    assert one_sided.greatest_ratio(Direction.ADD) is None
    assert one_sided.pure is None


def test_common_zeros_count_for_nothing() -> None:
    pair = FinitePair((Q(1, 3), Q(0), Q(2, 3)), (Q(1, 2), Q(0), Q(1, 2)))
    assert pair.pure is not None
    assert pair.renyi is not None
    assert pair.greatest_ratio(Direction.REMOVE) == Q(4, 3)
    assert pair.pure(Direction.ADD).exp().contains(Q(3, 2))


@pytest.mark.parametrize("factor", [Q(1, 3), Q(1), Q(7, 3)])
def test_the_hockey_stick_is_half_of_what_absolute_differences_exceed(factor: Fraction) -> None:
    """Σ[p − fq]₊ = (Σ|p − fq| + 1 − f)/2, as both laws sum to 1."""
    present, absent = table([1, 2, 0, 5]), table([3, 1, 1, 1])
    pair = FinitePair(present, absent)
    for direction, first, second in ((Direction.REMOVE, present, absent), (Direction.ADD, absent, present)):
        differences = sum(abs(p - factor * q) for p, q in zip(first, second, strict=True))
        assert pair.hockey_stick(factor, direction) == (differences + 1 - factor) / 2


def test_delta_has_the_bits_of_the_pair_and_is_at_most_one() -> None:
    pair = FinitePair((Q(1, 4), Q(3, 4)), (Q(2, 3), Q(1, 3)), precision=160)
    assert 0 < pair.delta(Enclosure.of("0.5", precision=53), Direction.REMOVE).width <= Q(1, 2**150)
    disjoint = FinitePair((Q(1, 3), Q(1, 3), Q(1, 3), Q(0)), (Q(0), Q(0), Q(0), Q(1)))
    assert disjoint.delta(Enclosure.of(1), Direction.REMOVE).upper == 1


@pytest.mark.parametrize(("present", "absent"), [([1, 1], [1, 5]), ([1, 5], [1, 1])])
def test_other_costs_are_those_of_the_larger_pure_loss(present: list[int], absent: list[int]) -> None:
    """The ratios are at most 3 in one direction, and 5/3 in the other."""
    pair = FinitePair(table(present), table(absent))
    assert pair.zero_concentrated is not None
    assert pair.gaussian is not None
    assert pair.zero_concentrated.upper_float == pytest.approx(log(3) / 2, rel=1e-12)
    assert pair.gaussian.upper_float == pytest.approx(2 * NormalDist().inv_cdf(0.75), rel=1e-12)


@pytest.mark.slow
@SETTINGS
@given(rows=ROWS, factor=FACTORS)
def test_delta_at_a_rational_factor(rows: tuple[Any, Any], factor: Fraction) -> None:
    pair = FinitePair(*rows, precision=160)
    level = Enclosure.of(factor - 1, precision=160).log1p()
    for direction in Direction:
        exact = pair.hockey_stick(factor, direction)
        found = pair.delta(level, direction)
        assert found.contains(exact)
        assert found.width <= Q(1, 2**150)


@SETTINGS
@given(rows=ROWS, factor=FACTORS, sixteenths=st.integers(0, 16), times=st.integers(1, 3))
def test_exact_mixtures_agree_with_amplification(
    rows: tuple[Any, Any], factor: Fraction, sixteenths: int, times: int
) -> None:
    pair, rate = FinitePair(*rows, precision=160), Enclosure.of(Q(sixteenths, 16), precision=160)
    level = Enclosure.of(factor - 1, precision=160).log1p()
    repeated = pair.repeated(times)
    exact, amplified = repeated.sampled(rate), Sampled(repeated, rate)
    assert isinstance(exact, FinitePair)
    assert amplified.delta is not None
    for direction in Direction:
        gap = exact.delta(level, direction).intersection(amplified.delta(level, direction))
        assert gap.width <= Q(1, 2**140)


def test_a_rate_that_is_not_one_number_is_amplified() -> None:
    pair = FinitePair((Q(1, 4), Q(3, 4)), (Q(2, 3), Q(1, 3)))
    assert isinstance(pair.sampled(Enclosure.of("0.1")), Sampled)
    assert isinstance(pair.sampled(Enclosure.of("0.5")), FinitePair)


def test_a_repetition_is_exact_as_long_as_it_is_small() -> None:
    pair = FinitePair((Q(1, 4), Q(3, 4)), (Q(2, 3), Q(1, 3)))
    twice = pair.repeated(2)
    assert isinstance(twice, FinitePair)
    assert sorted(twice.present) == [Q(1, 16), Q(6, 16), Q(9, 16)]
    assert pair.repeated(1) is pair
    assert isinstance(pair.repeated(999), FinitePair)
    assert isinstance(pair.repeated(1000), Repeated)
    four = FinitePair(table([1, 2, 3, 4]), table([4, 3, 2, 1]))
    assert isinstance(four.repeated(16), FinitePair)
    assert isinstance(four.repeated(17), Repeated)


@pytest.mark.slow
def test_a_repetition_is_exact_as_long_as_its_fractions_are_short() -> None:
    """128 bits, 128 times: 2^14 bits in all."""
    long, even = (Q(2**126 + 1, 2**127), Q(2**126 - 1, 2**127)), (Q(1, 2), Q(1, 2))
    mirrored, uneven = FinitePair(long, long[::-1]), FinitePair(long, even)
    assert isinstance(mirrored.repeated(128), FinitePair)
    assert isinstance(mirrored.repeated(129), RepeatedResponse)
    assert isinstance(mirrored.repeated(999), RepeatedResponse)
    assert isinstance(uneven.repeated(128), FinitePair)
    assert isinstance(uneven.repeated(129), Repeated)


def test_outputs_of_equal_ratio_are_merged_first() -> None:
    many = FinitePair(table([1, 1, 2, 4, 6]), table([2, 2, 4, 2, 3]))
    twice = many.repeated(2)
    assert isinstance(twice, FinitePair)
    assert len(twice.present) == 3
    level = Enclosure.of("0.25")
    joint = FinitePair(
        tuple(p * r for p in many.present for r in many.present), tuple(p * r for p in many.absent for r in many.absent)
    )
    for direction in Direction:
        assert twice.delta(level, direction).intersection(joint.delta(level, direction)).width <= Q(1, 2**80)


def test_huge_orders_and_tiny_differences() -> None:
    close = FinitePair((Q(1, 2) + Q(1, 10**60), Q(1, 2) - Q(1, 10**60)), (Q(1, 2), Q(1, 2)))
    assert close.renyi is not None
    found = close.renyi(Q(2), Direction.REMOVE)
    assert found.expm1().contains(4 * Q(1, 10**120))
    assert found.width <= found.upper / 2**80
    far = FinitePair((Q(1, 10**300), 1 - Q(1, 10**300)), (1 - Q(1, 10**300), Q(1, 10**300)))
    assert far.renyi is not None
    assert far.renyi(Q(10**6), Direction.ADD).width <= Q(1, 2**60)


def test_long_tables_that_mirror_each_other_repeat_as_randomised_response() -> None:
    """Exact tables of 900 releases would have fractions of 140,000 bits, and take minutes."""
    kept = Fraction(2**158 + 1, 3**100)
    pair = FinitePair((kept, 1 - kept), (1 - kept, kept))
    few, many = pair.repeated(100), pair.repeated(900)
    assert isinstance(few, FinitePair)
    assert not isinstance(many, FinitePair | Repeated)
    law = pair.pure
    assert law is not None
    own = law(Direction.REMOVE)
    alike = RepeatedResponse(own, 100).delta(Enclosure.of(3), Direction.ADD)
    exact = few.delta(Enclosure.of(3), Direction.ADD)
    assert alike.lower <= exact.upper
    assert exact.lower <= alike.upper
    assert many == RepeatedResponse(own, 900)
    short = FinitePair((Fraction(51, 100), Fraction(49, 100)), (Fraction(49, 100), Fraction(51, 100)))
    thousands = short.repeated(5000).delta
    assert thousands is not None
    found = thousands(Enclosure.of(3), Direction.ADD)
    assert found.width <= found.upper / 2**60
    on_a_lattice = Repeated(short, 5000).delta
    assert on_a_lattice is not None
    found.intersection(on_a_lattice(Enclosure.of(3), Direction.ADD))
    uneven = FinitePair((kept, 1 - kept), (Fraction(1, 2), Fraction(1, 2)))
    assert isinstance(uneven.repeated(900), Repeated)
