"""What the pairs of a run lose: the worse direction of each, the worst of all, and how sharp that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, final

import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.accountants.worst_pairs import (
    Law,
    WorstPairs,
    delta_at,
    gaussian,
    largest,
    pure,
    renyi_at,
    zero_concentrated,
)
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import GaussianGroup, Pair, Repeated, SampledGaussian
from certdp.accounting.pairs.laws import DeltaLaw, PureLaw, RenyiLaw
from certdp.accounting.relations import Direction

NUMBERS = st.integers(0, 576).map(lambda n: Fraction(n, 64))
ORDER, EPSILON = Fraction(7, 2), Enclosure.of(Fraction(3, 4))
WIDTH = Fraction(1, 2**20)


@frozen(eq=False)
class Stated(Pair):
    """A pair whose laws state these losses, by direction; or nothing."""

    losses: Mapping[Direction, Enclosure] | None
    asked: list[Direction] = field(factory=list)

    def _loss(self, direction: Direction) -> Enclosure:
        assert self.losses is not None
        self.asked.append(direction)
        return self.losses[direction]

    @property
    def pure(self) -> PureLaw | None:
        return self._loss if self.losses else None

    @property
    def delta(self) -> DeltaLaw | None:
        def law(epsilon: Enclosure, direction: Direction) -> Enclosure:
            assert epsilon is EPSILON
            return self._loss(direction)

        return law if self.losses else None

    @property
    def renyi(self) -> RenyiLaw | None:
        def law(order: Fraction, direction: Direction) -> Enclosure:
            assert order is ORDER
            return self._loss(direction)

        return law if self.losses else None


LAWS: dict[str, Law] = {"pure": pure, "delta": delta_at(EPSILON), "renyi": renyi_at(ORDER)}


def lossy(add: Fraction, remove: Fraction) -> Stated:
    return Stated({Direction.ADD: Enclosure.of(add), Direction.REMOVE: Enclosure.of(remove)})


def between(lower: Any, upper: Any) -> Stated:
    return Stated(dict.fromkeys(Direction, Enclosure.between(lower, upper)))


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@given(NUMBERS, NUMBERS)
def test_a_pair_loses_what_its_worse_direction_loses(law: Law, add: Fraction, remove: Fraction) -> None:
    pair = lossy(add, remove)
    assert law(pair) == Enclosure.of(max(add, remove))
    assert set(pair.asked) == set(Direction)


@final
@frozen(eq=False)
class Quick(Stated):
    """A pair that proves at once, of the directions given, what is true of it."""

    quick: tuple[Direction, ...] = ()

    @property
    def delta(self) -> DeltaLaw | None:
        return lambda _, direction: self._loss(direction)

    def is_enough(self, epsilon: Enclosure, delta: Enclosure, direction: Direction) -> bool:
        assert self.losses is not None
        return direction in self.quick and self.losses[direction].upper <= delta.lower


@given(NUMBERS, NUMBERS, st.booleans())
def test_a_direction_that_is_known_to_lose_less_is_not_asked(one: Fraction, other: Fraction, quick: bool) -> None:
    first, second = Direction.REMOVE, Direction.ADD
    pair = Quick({first: Enclosure.of(one), second: Enclosure.of(other)}, quick=(second,) if quick else ())
    assert delta_at(EPSILON)(pair) == Enclosure.of(max(one, other))
    assert pair.asked == ([first] if quick and other <= one else [first, second])


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_pair_that_does_not_say_loses_nothing_that_is_known(law: Law) -> None:
    assert law(Stated(None)) is None
    assert WorstPairs((between(1, 2), Stated(None)), ()).worst(law) is None
    found = WorstPairs((between(1, 2),), (Stated(None),)).worst(law)
    assert found is not None
    assert not found.two_sided


@given(
    st.lists(st.tuples(NUMBERS, NUMBERS).map(sorted), min_size=1, max_size=4),
    st.lists(st.tuples(NUMBERS, NUMBERS).map(sorted), max_size=4),
)
def test_the_upper_end_is_of_bounding_pairs_and_the_lower_end_of_reached_ones(
    bounding: list[list[Fraction]], reached: list[list[Fraction]]
) -> None:
    found = WorstPairs(tuple(between(*ends) for ends in bounding), tuple(between(*ends) for ends in reached)).worst(
        pure
    )
    assert found is not None
    most = max(upper for _, upper in bounding)
    assert found.enclosure.upper == most
    assert found.two_sided == bool(reached)
    if reached:
        assert found.enclosure.lower == min(max(lower for lower, _ in reached), most)


def test_a_pair_that_is_reached_is_asked_once() -> None:
    pair = lossy(Fraction(1), Fraction(2))
    found = WorstPairs((pair, pair), (pair,)).worst(pure)
    assert found is not None
    assert (found.enclosure, found.two_sided) == (Enclosure.of(2), True)
    assert sorted(pair.asked, key=str) == sorted(Direction, key=str)


def sampled(rate: Enclosure, *, times: int = 3, shift: str = "0.7", group: bool = False) -> Pair:
    one = GaussianGroup(Enclosure.of(shift), rate, 2, True) if group else SampledGaussian(Enclosure.of(shift), rate)
    return Repeated(one, times)


@pytest.mark.parametrize("group", [False, True])
def test_pairs_that_are_next_to_each_other_are_asked_at_once(group: bool) -> None:
    """The upper end is that of the one, the lower end that of the other."""
    exactly = Fraction(1, 3)
    high = Enclosure.of(exactly)
    low = Enclosure.between(exactly * (1 - Fraction(1, 2**45)), exactly)
    run = WorstPairs((sampled(high, group=group),), (sampled(low, group=group),))
    (found,) = run.joined.bounding
    assert run.joined.reached == (found,)
    for law in (delta_at(Enclosure.of(1)), lambda pair: pair.smallest_epsilon(Enclosure.of("1e-5"), Direction.REMOVE)):
        apart, joined = run.worst(law), run.joined.worst(law)
        assert apart is not None
        assert joined is not None
        assert joined.two_sided
        for end, alone in (
            (joined.enclosure.lower, apart.enclosure.lower),
            (joined.enclosure.upper, apart.enclosure.upper),
        ):
            assert abs(end - alone) <= alone / 2**40


def test_pairs_that_are_not_next_to_each_other_are_asked_apart() -> None:
    half, near = Enclosure.of("0.5"), Enclosure.of(Fraction(1, 2) - Fraction(1, 2**45))
    assert WorstPairs((sampled(half),), (sampled(near),)).joined.bounding != (sampled(half),)
    for other in (
        sampled(Enclosure.of("0.49")),
        sampled(Enclosure.of(Fraction(1, 2) + Fraction(1, 2**45))),
        sampled(near, times=4),
        sampled(near, shift="0.6"),
        sampled(near, group=True),
        lossy(Fraction(1), Fraction(2)),
    ):
        run = WorstPairs((sampled(half),), (other,))
        assert run.joined is run
    for several in (
        WorstPairs((sampled(half), sampled(near)), (sampled(near),)),
        WorstPairs((sampled(half),), ()),
    ):
        assert several.joined is several


@pytest.mark.parametrize("scale", [Fraction(1, 1024), Fraction(1), Fraction(64)])
def test_sharp_is_a_width_of_a_millionth_of_what_is_lost(scale: Fraction) -> None:
    def sharp(share: Fraction) -> bool:
        found = WorstPairs((between(scale * (1 - share), scale),), ()).worst(pure)
        assert found is not None
        return found.sharp

    assert sharp(WIDTH)
    assert sharp(Fraction(0))
    assert not sharp(WIDTH * (1 + Fraction(1, 2**10)))


def test_what_says_it_all_at_once_is_taken_as_it_is() -> None:
    class Curves(Pair):
        @property
        def zero_concentrated(self) -> Enclosure:
            return Enclosure.of(3)

        @property
        def gaussian(self) -> Enclosure:
            return Enclosure.of(5)

    laws: list[tuple[Callable[[Pair], Enclosure | None], int]] = [(zero_concentrated, 3), (gaussian, 5)]
    for law, expected in laws:
        assert law(Curves()) == Enclosure.of(expected)
        assert law(Pair()) is None


@given(st.lists(NUMBERS, min_size=1, max_size=5))
def test_the_largest(numbers: list[Fraction]) -> None:
    assert largest(map(Enclosure.of, numbers)) == Enclosure.of(max(numbers))
