"""(ε, δ) in whole units, and the rates of samplers: rounded to the safe side, and barely."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from typing import Any

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidType, InvalidValue, OutsideDomain
from certdp.accounting.keyed.reporting import DyadicBudget, EveryKey, ListedRates, PoissonPps, Ppswor
from certdp.accounting.units import Delta, Epsilon, Probability
from tests.support.arb_numbers import arb_of

EPSILONS = st.fractions(0, 4, max_denominator=100) | st.sampled_from([Fraction(1, 10**12), Fraction(40), Fraction(900)])
DELTAS = st.fractions(Fraction(1, 1000), 1, max_denominator=1000) | st.integers(1, 30).map(lambda k: Fraction(1, 10**k))


def budget(epsilon: Fraction | str, delta: Fraction | str, subdivision: int = 0) -> DyadicBudget:
    return DyadicBudget(epsilon=Epsilon(epsilon), delta=Delta(delta), subdivision=subdivision)


@given(EPSILONS, DELTAS, st.integers(0, 40))
def test_rounding_is_to_the_safe_side_and_small(epsilon: Fraction, delta: Fraction, subdivision: int) -> None:
    units = budget(epsilon, delta, subdivision)
    assert 2 ** (units.bits - subdivision - 52) * delta >= 1 > 2 ** (units.bits - subdivision - 53) * delta
    told = units.probability(units.allowance)
    assert delta * (1 - Fraction(1, 2**52)) < told <= delta
    flint.ctx.prec = 600
    try:
        exact = arb_of(epsilon).exp()
        growth = flint.arb(units.growth) / flint.arb(2) ** units.bits
        assert growth <= exact.upper()
        assert growth >= (exact - flint.arb(2) ** -units.bits).lower() or growth == flint.arb(2) ** units.bits
    finally:
        flint.ctx.prec = 53


@given(EPSILONS, DELTAS, st.data())
def test_the_most_that_may_be_reported(epsilon: Fraction, delta: Fraction, data: st.DataObject) -> None:
    units = budget(epsilon, delta)
    before = data.draw(st.integers(0, units.certain))
    found = units.reported(before, units.certain)
    growth = Fraction(units.growth, units.certain)

    def admissible(reported: int) -> bool:
        kept = reported <= growth * before + units.allowance
        return kept and units.certain - before <= growth * (units.certain - reported) + units.allowance

    assert before <= found <= units.certain
    assert admissible(found)
    assert found == units.certain or not admissible(found + 1)
    assert units.reported(before, found // 2) == found // 2


def test_bad_budgets() -> None:
    with pytest.raises(InvalidValue, match="no key may ever"):
        budget("1", "0")
    for subdivision in (-1, 65):
        with pytest.raises(InvalidValue, match="subdivision"):
            budget("1", "0.1", subdivision)
    wrong: Any = 1.5
    with pytest.raises(InvalidType, match="subdivision"):
        budget("1", "0.1", wrong)


@given(st.integers(1, 1000), st.fractions(Fraction(1, 1000), 2), st.fractions(0, 2, max_denominator=4))
def test_threshold_sampling(frequency: int, threshold: Fraction, power: Fraction) -> None:
    size = float(threshold) * frequency ** float(power)
    ppswor = Ppswor(threshold=threshold, power=power)
    pps = PoissonPps(threshold=threshold, power=power)
    assert ppswor.rate(frequency, precision=80).midpoint == pytest.approx(1 - exp(-size), rel=1e-12)
    assert pps.rate(frequency, precision=80).midpoint == pytest.approx(min(1, size), rel=1e-12)
    for sampler in (ppswor, pps):
        here, next_one = (sampler.rate(i, precision=80) for i in (frequency, frequency + 1))
        assert 0 <= here.lower <= here.upper <= 1
        assert here.lower <= next_one.upper


def test_every_key_is_kept() -> None:
    assert EveryKey().rate(7, precision=60).lower == 1
    assert EveryKey().last is None


def test_the_first_fall_of_a_list_is_named() -> None:
    rates = [Probability(rate) for rate in ("0.1", "0.3", "0.2", "0.1")]
    with pytest.raises(InvalidValue, match=r"q_3 at least q_2"):
        ListedRates(tuple(rates))
    with pytest.raises(InvalidValue, match="at least one"):
        ListedRates(())
    listed = ListedRates(tuple(rates[:2]))
    assert listed.last == 2
    with pytest.raises(OutsideDomain, match="beyond the 2 rates"):
        listed.rate(3, precision=60)


@pytest.mark.parametrize("sampler", [Ppswor, PoissonPps])
def test_bad_thresholds(sampler: type[Ppswor | PoissonPps]) -> None:
    with pytest.raises(InvalidValue, match="q_2 < q_1"):
        sampler(threshold="0.1", power=-1)
    with pytest.raises(InvalidValue, match="threshold"):
        sampler(threshold=0)
    with pytest.raises(InvalidValue, match="frequency"):
        sampler(threshold="0.1").rate(0, precision=60)
