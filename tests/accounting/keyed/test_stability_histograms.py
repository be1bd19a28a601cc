"""Stability-based histograms: reference values, privacy at and below the tight threshold, mpmath quadrature."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.keyed.stability_histograms import (
    NoSampling,
    PpsOfReleased,
    PpsworOfReleased,
    RealSampling,
    StabilityHistogram,
    Threshold,
    reporting_probability,
)
from certdp.accounting.units import Delta, Epsilon
from tests.support.cases import examples

_DIGITS = 40
_CLOSE = mpmath.mpf(10) ** -12


def histogram(
    epsilon: Fraction | str,
    delta: Fraction | str,
    threshold: Threshold = Threshold.PUBLISHED,
    sampling: RealSampling | None = None,
) -> StabilityHistogram:
    return StabilityHistogram(
        epsilon=Epsilon(epsilon), delta=Delta(delta), threshold=threshold, sampling=sampling or NoSampling()
    )


def number(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


class Quadrature(NamedTuple):
    """Probability, expectation and variance by numerical integration of the definition."""

    probability: Any
    expectation: Any
    variance: Any

    @classmethod
    def of(
        cls,
        epsilon: Fraction,
        delta: Fraction,
        threshold: Threshold,
        frequency: int,
        rate: Callable[[Any], Any],
        kink: Fraction | None,
    ) -> Quadrature:
        with mpmath.workdps(_DIGITS):
            e, d = number(epsilon), number(delta)
            least = 1 + mpmath.log(1 / (threshold.factor * d)) / e
            marks = {least, *(max(least, frequency) + reach / e for reach in (1, 4, 12, 40, 120))}
            marks |= {least + (frequency - least) * k / 4 for k in range(1, 5)} if frequency > least else set()
            if kink is not None and number(kink) > least:
                marks.add(number(kink))

            def integral(statistic: Callable[[Any], Any]) -> Any:
                return mpmath.quad(lambda x: e / 2 * mpmath.exp(-e * abs(x - frequency)) * statistic(x), sorted(marks))

            mean = integral(lambda x: x)
            return cls(integral(rate), mean, integral(lambda x: x * x / rate(x)) - mean**2)


def agrees(found: Enclosure, value: Any) -> bool:
    with mpmath.workdps(_DIGITS):
        close = abs(number(found.midpoint) / value - 1) < _CLOSE
        return bool(close) and found.width < abs(found.lower) / 2**60


CASES = {
    "epsilon": st.fractions(Fraction(1, 20), 2, max_denominator=40),
    "delta": st.sampled_from([Fraction(1, 10**k) for k in (1, 3, 6)] + [Fraction(1, 2)]),
    "frequency": st.integers(1, 80),
    "tau": st.fractions(Fraction(1, 2000), 3, max_denominator=2000),
    "threshold": st.sampled_from(Threshold),
}


@pytest.mark.slow
@examples(8)
@given(**CASES)
@example(
    epsilon=Fraction(1, 10),
    delta=Fraction(1, 1000),
    frequency=100,
    tau=Fraction(1, 10),  # decay τ equals the growth ε of the density: the exponentials cancel
    threshold=Threshold.PUBLISHED,
)
@example(  # T = 1
    epsilon=Fraction(1), delta=Fraction(1, 2), frequency=1, tau=Fraction(1, 100), threshold=Threshold.TIGHT
)
def test_sampled_histograms_against_quadrature(
    epsilon: Fraction, delta: Fraction, frequency: int, tau: Fraction, threshold: Threshold
) -> None:
    rates: list[tuple[RealSampling, Callable[[Any], Any], Fraction | None]] = [
        (NoSampling(), lambda x: mpmath.mpf(1), None),
        (PpsworOfReleased(threshold=tau), lambda x: -mpmath.expm1(-number(tau) * x), None),
        (PpsOfReleased(threshold=tau), lambda x: min(mpmath.mpf(1), number(tau) * x), 1 / tau),
    ]
    for sampling, rate, kink in rates:
        told = Quadrature.of(epsilon, delta, threshold, frequency, rate, kink)
        found = histogram(epsilon, delta, threshold, sampling)
        moments = found.moments(frequency)
        assert agrees(found.probability(frequency), told.probability)
        assert agrees(moments.expectation, told.expectation)
        assert agrees(moments.variance, told.variance)
        moments.bias.intersection(moments.expectation - frequency)  # refuses disjoint ones
        squared = moments.variance + moments.bias.square()
        assert moments.mean_squared_error == squared


@pytest.mark.parametrize(("threshold", "share"), [(Threshold.PUBLISHED, Fraction(1, 2)), (Threshold.TIGHT, 1)])
def test_a_key_of_one_element_is_reported_with_at_most_delta(threshold: Threshold, share: Fraction) -> None:
    found = histogram("0.1", "0.001", threshold).probability(1)
    assert found.contains(Fraction(1, 1000) * share)
    assert found.width < Fraction(1, 2**100)


@given(
    epsilon=st.fractions(Fraction(1, 50), 3, max_denominator=50),
    delta=st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000),
    threshold=st.sampled_from(Threshold),
    frequency=st.integers(0, 60),
)
@examples(40)
def test_reporting_is_private_between_neighbours(
    epsilon: Fraction, delta: Fraction, threshold: Threshold, frequency: int
) -> None:
    found = histogram(epsilon, delta, threshold)
    low, high = (found.probability(i) for i in (frequency, frequency + 1))
    growth = Enclosure.of(epsilon).exp()
    spent = 0 if frequency else delta
    for one, other in ((high, low), (low, high), (1 - low, 1 - high), (1 - high, 1 - low)):
        assert one.lower <= (growth * other + spent).upper  # an equality at the tight threshold


@given(
    epsilon=st.fractions(Fraction(1, 50), 3, max_denominator=50),
    delta=st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000),
    threshold=st.sampled_from(Threshold),
    frequency=st.integers(0, 60),
)
@examples(40)
def test_both_ways_to_the_probability_agree(
    epsilon: Fraction, delta: Fraction, threshold: Threshold, frequency: int
) -> None:
    by_moments = histogram(epsilon, delta, threshold).probability(frequency)
    direct = reporting_probability(Enclosure.of(epsilon), Enclosure.of(delta), frequency, threshold)
    assert by_moments.intersection(direct).width < Fraction(1, 2**85)


def test_without_privacy_reporting_still_loses() -> None:
    """δ = 1: PWS Figure 2 says that the histogram does not report all keys there."""
    found = histogram("0.1", "1")
    assert found.least_reported() == Enclosure.of(1)
    assert found.probability(1).contains(Fraction(1, 2))
    assert found.probability(2).upper < Fraction(56, 100)


def test_a_key_without_elements_is_not_reported() -> None:
    assert histogram("0.1", "0.001").probability(0) == Enclosure.of(0)


def test_sampling_leaves_the_bias_alone() -> None:
    plain = histogram("0.1", "0.001").moments(40)
    for tau in ("0.5", "0.001"):
        sampled = histogram("0.1", "0.001", sampling=PpsworOfReleased(threshold=Fraction(tau))).moments(40)
        assert sampled.bias == plain.bias
        assert sampled.variance.lower > plain.variance.upper


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: histogram("0", "0.1"), "epsilon"),
        (lambda: histogram("1", "0"), "delta"),
        (lambda: histogram("1", "0.6", Threshold.TIGHT), "delta"),
        (lambda: PpsworOfReleased(threshold=Fraction(0)), "threshold"),
        (lambda: PpsOfReleased(threshold=Fraction(-1)), "threshold"),
        (lambda: histogram("1", "0.1").moments(0), "frequency"),
        (lambda: histogram("1", "0.1").probability(-1), "frequency"),
    ],
)
def test_bad_input(make: Callable[[], object], parameter: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        make()
    assert caught.value.parameter == parameter


def test_a_frequency_is_a_whole_number() -> None:
    with pytest.raises(InvalidType):
        histogram("1", "0.1").probability(1.5)  # type: ignore[arg-type]
