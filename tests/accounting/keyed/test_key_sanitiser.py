"""Reporting probabilities of keys: reference values, Algorithm 3 run at high precision, exact ends, bad input."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue, OutsideDomain, Undecided
from certdp.accounting.keyed.key_sanitiser import (
    KeyReporting,
    algorithm_3,
    crossover,
    reporting_probability,
    withheld_probability,
)
from certdp.accounting.units import Delta, Epsilon
from tests.support.arb_numbers import arb_of


def keys(epsilon: str | Fraction | float, delta: str | Fraction | float) -> KeyReporting:
    return KeyReporting(epsilon=Epsilon(epsilon), delta=Delta(delta))


REFERENCE = {
    2: "0.0210517091807565",
    5: "0.0616825718145309",
    10: "0.163379939996636",
    18: "0.4801372429573",
    20: "0.591608055140374",
    36: "0.993433416687653",
}


@pytest.mark.parametrize("frequency", REFERENCE)
def test_reference_values(frequency: int) -> None:
    printed = Fraction(REFERENCE[frequency])
    found = keys("0.1", "0.01").probability(frequency)
    assert abs(found.midpoint - printed) < Fraction(1, 10**14)
    assert found.width < Fraction(1, 2**94)


def test_few_bits_enclose_too() -> None:
    found = keys("0.1", "0.01").probability(5, precision=16)
    assert found.contains(Fraction(REFERENCE[5]))
    assert found.relative_width is not None
    assert found.relative_width <= Fraction(1, 2**15)


def test_reference_crossover() -> None:
    reporting = keys("0.1", "0.01")
    assert abs(reporting.crossover().midpoint - Fraction("17.827")) < Fraction(1, 1000)
    assert reporting.growing_steps == 18
    assert reporting.certain_from == 37
    assert reporting.band == 36
    assert reporting.probability(36).less(1).decided
    assert reporting.probability(37) == Enclosure.of(1)


def test_the_witness_against_the_printed_equation() -> None:
    assert round(keys("0.5", "0.0369188").probability(5).upper_float, 4) == 0.6364


def test_the_witness_against_the_printed_band() -> None:
    reporting = keys("0.5", "0.01")
    assert reporting.certain_from - 1 == reporting.band == 14
    assert (2 * reporting.crossover() + 1).upper < 14


class Recursion:
    """Algorithm 3 at q ≡ 1 with Arb at 2,000 bits: another library, and steps in place of a closed form."""

    def __init__(self, epsilon: Fraction, delta: Fraction) -> None:
        self._growth = arb_of(epsilon).exp()
        self._delta = arb_of(delta)

    def __call__(self, steps: int) -> Any:
        reported = flint.arb(0)
        for _ in range(steps):
            second = 1 - (1 - reported - self._delta) / self._growth
            reported = (self._growth * reported + self._delta).min(second).min(flint.arb(1))
        return reported


def held(enclosure: Enclosure, ball: Any) -> bool:
    """Whether the two overlap; both are far narrower than any real difference."""
    low, high = (arb_of(end) for end in (enclosure.lower, enclosure.upper))
    return bool(low <= ball.upper() and high >= ball.lower())


_EPSILONS = st.fractions(0, 4, max_denominator=100) | st.sampled_from([Fraction(1, 10**9), Fraction(30), Fraction(500)])
_DELTAS = st.fractions(Fraction(1, 10**4), 1, max_denominator=10**4) | st.integers(1, 300).map(
    lambda digits: Fraction(1, 10**digits)
)


@given(_EPSILONS, _DELTAS, st.integers(0, 80))
@example(Fraction(1, 2), Fraction(1, 2), 2)
@example(Fraction(1), Fraction(1), 1)
@example(Fraction(0), Fraction(1, 3), 3)
@example(Fraction(0), Fraction(1, 3), 2)
def test_the_closed_form_is_the_recursion(epsilon: Fraction, delta: Fraction, frequency: int) -> None:
    reporting = keys(epsilon, delta)
    flint.ctx.prec = 2000
    try:
        exact = Recursion(epsilon, delta)(frequency)
        found, withheld = reporting.probability(frequency), reporting.withheld(frequency)
        assert held(found, exact)
        assert held(withheld, 1 - exact)
    finally:
        flint.ctx.prec = 53
    for value in (found, withheld):
        assert value.lower >= 0
        assert value.upper <= 1
        width = value.relative_width
        assert width is not None
        assert width < Fraction(1, 2**93)
    assert (frequency >= reporting.certain_from) == (found == Enclosure.of(1))


@given(_EPSILONS.filter(bool), _DELTAS)
def test_where_reporting_becomes_certain(epsilon: Fraction, delta: Fraction) -> None:
    reporting = keys(epsilon, delta)
    first = reporting.certain_from
    last = reporting.withheld(first - 1)
    assert last.lower > 0
    assert reporting.withheld(first) == Enclosure.of(0)
    assert first - 1 <= reporting.band


@pytest.mark.parametrize("delta", ["1e-9", "0.3", "1"])
@pytest.mark.parametrize("epsilon", ["0", "1e-18", "0.1", "700", "1e30"])
def test_a_huge_frequency(epsilon: str, delta: str) -> None:
    assert keys(epsilon, delta).probability(10**40) == Enclosure.of(1)


def test_a_long_way_to_certainty() -> None:
    reporting = keys("1e-18", "1e-9")
    assert reporting.certain_from == 10**9
    middle = reporting.probability(5 * 10**8)
    assert abs(middle.midpoint - Fraction(1, 2)) < Fraction(1, 10**9)


@given(st.integers(2, 6).flatmap(lambda g: st.tuples(st.just(g), st.integers(1, 8))))
def test_an_integral_crossover_needs_no_decision(case: tuple[int, int]) -> None:
    """At e^ε = g and L whole, the enclosure of L holds a whole number: both candidates agree there."""
    growth, steps = case
    delta = Fraction(growth - 1, growth**steps * (growth + 1) - 2)
    epsilon, limit = Enclosure.of(growth).log(), Enclosure.of(delta)
    assert crossover(epsilon, limit).contains(steps)
    found = reporting_probability(epsilon, limit, steps + 1)
    assert found.contains(delta * (growth ** (steps + 1) - 1) / (growth - 1))
    assert found.width < Fraction(1, 2**80)
    assert withheld_probability(epsilon, limit, 2 * steps + 1).upper < Fraction(1, 2**80)


def test_no_amplification_without_epsilon() -> None:
    reporting = keys(0, "1/7")
    assert [reporting.probability(i).midpoint for i in (0, 7, 8)] == [0, 1, 1]
    assert reporting.probability(3).contains(Fraction(3, 7))
    assert reporting.certain_from == 7
    assert reporting.band == 6
    assert reporting.crossover().contains(3)


def test_algorithm_3_stops_at_the_rates() -> None:
    rates = [Enclosure.of(rate) for rate in ("0.005", "0.02", "0.5", "1")]
    found = algorithm_3(Enclosure.of("0.1"), Enclosure.of("0.01"), rates)
    assert found[0] == rates[0]
    assert found[1].contains(Enclosure.of("0.1").exp().midpoint * Fraction("0.005") + Fraction("0.01"))
    free = algorithm_3(Enclosure.of("0.1"), Enclosure.of("0.01"), [Enclosure.of(1)] * 40)
    reporting = keys("0.1", "0.01")
    for frequency, value in enumerate(free, start=1):
        value.intersection(reporting.probability(frequency))
        assert value.width < Fraction(1, 2**80)


def test_algorithm_3_at_delta_0_and_1() -> None:
    one = [Enclosure.of(1)] * 3
    assert algorithm_3(Enclosure.of(1), Enclosure.of(0), one) == [Enclosure.of(0)] * 3
    assert algorithm_3(Enclosure.of(1), Enclosure.of(1), one) == one


def test_falling_rates_are_refused() -> None:
    with pytest.raises(InvalidValue, match="non-decreasing"):
        algorithm_3(Enclosure.of(1), Enclosure.of("0.1"), [Enclosure.of(1), Enclosure.of("0.5")])


def test_no_key_at_delta_0() -> None:
    with pytest.raises(InvalidValue, match="no key may ever be reported"):
        keys(1, 0)


@pytest.mark.parametrize("frequency", [-1, -(10**30)])
def test_frequencies_below_0(frequency: int) -> None:
    with pytest.raises(InvalidValue, match="frequency"):
        keys(1, "0.1").probability(frequency)
    with pytest.raises(InvalidValue, match="frequency"):
        keys(1, "0.1").withheld(frequency)


@pytest.mark.parametrize("frequency", [1.0, True, "1", None])
def test_frequencies_that_are_no_whole_numbers(frequency: Any) -> None:
    with pytest.raises(InvalidType, match="frequency"):
        keys(1, "0.1").probability(frequency)
    with pytest.raises(InvalidType, match="frequency"):
        reporting_probability(Enclosure.of(1), Enclosure.of("0.1"), frequency)


def test_enclosures_that_say_too_little() -> None:
    with pytest.raises(OutsideDomain, match="raise the precision"):
        reporting_probability(Enclosure.of(1), Enclosure.between("1e-9", "1e-6"), 3)
    with pytest.raises(OutsideDomain):
        crossover(Enclosure.between(0, 1), Enclosure.of("0.1"))
    with pytest.raises(OutsideDomain):
        crossover(Enclosure.of(1), Enclosure.of(0))


def test_a_crossover_that_few_bits_leave_open() -> None:
    """8 bits leave ⌊L⌋ + 1 at 2 or 3, and what one candidate gives misses the value."""
    delta = Fraction(45313, 10**9)
    epsilon, limit = (Enclosure.of(number, precision=8) for number in (Fraction(5), delta))
    for frequency in (3, 4):
        exact = keys(5, delta).probability(frequency)
        found = reporting_probability(epsilon, limit, frequency)
        withheld = withheld_probability(epsilon, limit, frequency)
        assert found.lower <= exact.lower
        assert exact.upper <= found.upper
        assert withheld.lower <= 1 - exact.upper
        assert 1 - exact.lower <= withheld.upper


def test_frequencies_beyond_binary64_without_epsilon() -> None:
    frequency = 2**53 + 1
    reporting = keys(0, Fraction(1, 2**60))
    assert reporting.probability(frequency).contains(Fraction(frequency, 2**60))
    assert reporting.withheld(frequency).contains(1 - Fraction(frequency, 2**60))


def test_where_reporting_is_certain_no_exponential_is_asked_for() -> None:
    """The terms of the closed form have no representable exponent here."""
    epsilon, delta = Enclosure.of(10**30, precision=200), Enclosure.of("1e-9", precision=100)
    for found, exact in ((reporting_probability(epsilon, delta, 3), 1), (withheld_probability(epsilon, delta, 3), 0)):
        assert found == Enclosure.of(exact)
        assert found.precision == 200


@pytest.mark.slow
def test_a_value_beyond_the_range_of_exponents() -> None:
    with pytest.raises(Undecided, match="absolute bound"):
        keys("1e30", "1e-9").withheld(2)
    assert withheld_probability(Enclosure.of(10**30), Enclosure.of("1e-9"), 2).lower == 0
