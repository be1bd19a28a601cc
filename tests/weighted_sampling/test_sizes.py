"""Thresholds for an expected size: the total that is counted, how far one element moves it, what its release costs."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import ADD_REMOVE, ELEMENT, Coins, InvalidType, InvalidValue, Ppswor, Private, Public, Released
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.notions import Pure
from certdp.weighted_sampling.sizes import TotalSize, threshold_of_size


def counts(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


POWERS = st.sampled_from(["0", "0.1", "1/3", "0.5", "0.9", "1"])
STEEP = st.sampled_from(["1.5", "2", "3", "2.5"])


@given(POWERS, st.integers(0, 10**6))
def test_an_element_moves_the_total_of_a_concave_size_by_no_more(power: str, frequency: int) -> None:
    total = TotalSize(power=power)
    before = total.steps(counts(frequency)) if frequency else 0
    assert abs(total.steps(counts(frequency + 1)) - before) <= total.steps_per_element


@given(STEEP, st.integers(1, 300), st.data())
def test_an_element_moves_the_total_of_a_convex_size_by_no_more(power: str, largest: int, data: st.DataObject) -> None:
    total = TotalSize(power=power, largest=largest)
    frequency = data.draw(st.integers(0, largest + 2))
    before = total.steps(counts(frequency)) if frequency else 0
    assert abs(total.steps(counts(frequency + 1)) - before) <= total.steps_per_element
    assert total.steps(counts(largest + 5)) == total.steps(counts(largest))


def test_the_largest_step_is_reached() -> None:
    """Not only bounded: noise for a larger one would be wasted."""
    assert TotalSize().steps_per_element == TotalSize(power=0).steps_per_element == 1
    assert TotalSize(power=2, largest=10).steps_per_element == 100 - 81
    assert TotalSize(power="0.5").steps_per_element * TotalSize(power="0.5").spacing < Fraction(1_000_003, 10**6)


@given(st.lists(st.integers(1, 2**53), max_size=20))
def test_square_roots_against_whole_ones(frequencies: list[int]) -> None:
    exact = [isqrt(frequency << 40) for frequency in frequencies]
    found = TotalSize(power="0.5").steps(counts(*frequencies))
    assert 0 <= sum(exact) - found <= len(exact)


@given(st.lists(st.integers(1, 2**53), max_size=20))
def test_elements_and_keys_are_counted_exactly(frequencies: list[int]) -> None:
    assert TotalSize().steps(counts(*frequencies)) == sum(frequencies)
    assert TotalSize(power=0).steps(counts(*frequencies)) == len(frequencies)
    assert TotalSize(power=2, largest=9).steps(counts(*frequencies)) == sum(min(f, 9) ** 2 for f in frequencies)


def test_steep_sizes_need_a_largest_frequency() -> None:
    with pytest.raises(InvalidValue, match="any amount"):
        TotalSize(power="1.01")
    assert TotalSize(power="1.01", largest=5).steps_per_element > 1 << 20


@pytest.mark.parametrize("power", [-1, "-0.5", 101, float("nan"), float("inf")])
def test_powers_that_are_refused(power: float | str) -> None:
    with pytest.raises(InvalidValue, match="power"):
        TotalSize(power=power, largest=5)


@pytest.mark.parametrize("largest", [0, -3, 2**53 + 1])
def test_largest_frequencies_that_are_refused(largest: int) -> None:
    with pytest.raises(InvalidValue, match="largest"):
        TotalSize(largest=largest)


def test_a_released_total_costs_pure_epsilon_for_an_element() -> None:
    released = TotalSize(power=2, largest=10).released(1234, "0.1", Coins())
    cost = released.cost
    assert (cost.unit, cost.relation) == (ELEMENT, ADD_REMOVE)
    assert isinstance(cost.bound, Pure)
    assert cost.bound.epsilon.contains(Fraction(1, 10))
    stated = {assumed.name: assumed.value for assumed in cost.assumptions}
    assert stated["steps of the lattice that one element moves"] == "19"
    assert "1234" not in str(cost.assumptions)


@pytest.mark.slow
def test_the_noise_has_the_scale_of_one_element() -> None:
    """Exactly: P(z) is proportional to e^(−ε|z|/19), so that one element changes no probability by more than e^ε."""
    drawn = [TotalSize(power=2, largest=10).released(10**6, 1, Coins.seeded(seed)).value for seed in range(2000)]
    exact = Coins.seeded(7).discrete_laplace(Fraction(19), 2000)
    ratio = exp(-1 / 19)
    spread = (2 * ratio / (1 - ratio) ** 2) ** 0.5
    for sample in ([float(value) - 10**6 for value in drawn], exact):
        assert np.std(np.array(sample, dtype=float)) == pytest.approx(spread, rel=0.1)


def test_a_total_is_never_below_one() -> None:
    """The noise alone decides, and a threshold comes out whatever the data are."""
    found = {TotalSize().released(0, "0.5", Coins.seeded(seed)).value for seed in range(50)}
    assert min(found) == 1
    assert len(found) > 1


@pytest.mark.parametrize("epsilon", [0, -1, "0"])
def test_a_release_for_nothing_is_refused(epsilon: float | str) -> None:
    with pytest.raises(InvalidValue, match="epsilon"):
        TotalSize().released(5, epsilon, Coins())


def test_thresholds() -> None:
    assert threshold_of_size(100, Public("2.5e4")) == Public(Fraction(1, 250))
    released = TotalSize().released(5000, 1, Coins())
    threshold = threshold_of_size(10, released)
    assert isinstance(threshold, Released)
    assert threshold.value == 10 / released.value
    assert threshold.payment is released.payment
    assert Ppswor(threshold=threshold).threshold == threshold


def test_thresholds_that_are_refused() -> None:
    with pytest.raises(InvalidValue, match="size"):
        threshold_of_size(0, Public(5))
    with pytest.raises(InvalidValue, match="total"):
        threshold_of_size(5, Public(0))
    with pytest.raises(InvalidType, match="total"):
        threshold_of_size(5, Private(100))  # type: ignore[arg-type]


@pytest.mark.parametrize(("power", "largest"), [("1.5", 7), ("2.5", 300), ("1.25", 2**40), ("3/2", 2**53)])
def test_the_noise_is_for_the_largest_step_with_both_roundings(power: str, largest: int) -> None:
    """A size on the lattice may lie almost two steps of it below its own: the difference of two by as much above."""
    root = Fraction(power).denominator
    top = Fraction(power).numerator

    def floor_root(units: int) -> int:
        low, high = 0, 1 << (units.bit_length() // root + 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if middle**root <= units else (low, middle)
        return low

    def size(count: int, bits: int) -> int:
        """⌊count^power·2^bits⌋."""
        return floor_root(count**top << bits * root)

    bits = 80
    step = Fraction(size(largest, bits) - size(largest - 1, bits), 1 << bits)  # but for 2^-80
    total = TotalSize(power=power, largest=largest)
    assert total.steps_per_element == int(step * 2**20) + 2
    for count in {1, 2, largest // 2, largest - 1, largest}:
        floored, exact = total.steps(counts(count)), size(count, 20)
        assert exact - 1 <= floored <= exact


@pytest.mark.parametrize("power", ["0.5", "1/3", "0.99"])
def test_the_noise_of_concave_sizes_is_for_a_step_of_one(power: str) -> None:
    assert TotalSize(power=power).steps_per_element == 2**20 + 2
    assert TotalSize(power=power, largest=50).steps_per_element == 2**20 + 2


def test_the_noise_is_asked_for_at_the_scale_of_an_element_over_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Fraction, int]] = []

    def noise(self: Coins, scale: Fraction, count: int) -> list[int]:
        asked.append((scale, count))
        return [-3]

    monkeypatch.setattr(Coins, "discrete_laplace", noise)
    for total in (TotalSize(), TotalSize(power="0.5"), TotalSize(power="1.5", largest=9)):
        found = total.released(10**9, "0.3", Coins())
        assert asked.pop() == (total.steps_per_element / Fraction(3, 10), 1)
        assert found.value == (10**9 - 3) * total.spacing
        assert found.cost.bound == Pure(Enclosure.of(Fraction(3, 10)))
    assert TotalSize().spacing == 1
    assert TotalSize(power="0.5").spacing == Fraction(1, 2**20)
    assert TotalSize().released(4, 1, Coins()).value == 1
    assert TotalSize().released(3, 1, Coins()).value == 1
    assert TotalSize().released(5, 1, Coins()).value == 2


@pytest.mark.parametrize("largest", [1, 2**53])
def test_the_ends_of_what_is_admitted(largest: int) -> None:
    assert TotalSize(power=100, largest=largest).steps(counts(1)) == 1
    assert TotalSize(power=0).steps(counts()) == 0
    assert TotalSize(power=1).largest is None


def test_a_step_is_rounded_up_and_a_size_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """However wide the enclosures are from which both are read."""
    wide = Fraction(1, 2**19)
    size = TotalSize._size

    def widened(self: TotalSize, count: int) -> Enclosure:
        exact = size(self, count)
        return Enclosure.between(exact.lower - wide, exact.upper + wide, precision=exact.precision)

    total = TotalSize(power="1.5", largest=9)
    tight, floored = total.steps_per_element, total.steps(counts(7))
    monkeypatch.setattr(TotalSize, "_size", widened)
    assert total.steps_per_element == tight + 4
    assert total.steps(counts(7)) == floored - 2
