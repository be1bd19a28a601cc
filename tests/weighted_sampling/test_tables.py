"""Tables of reporting probabilities, against PWS Algorithm 3 in high precision and reference values."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import EveryKey, InvalidValue, ListedRates, OutsideDomain, Pps, Ppswor, Public, PwsFrequencies, PwsKeys
from certdp.plugins.contract import KeySampler
from certdp.weighted_sampling.tables import ReportingTable
from tests.support.cases import examples

SAMPLERS = [EveryKey(), Ppswor(threshold=Public("0.05")), Pps(threshold=Public("0.05"))]


def recursion(epsilon: str, delta: str, rates: list[mpmath.mpf]) -> list[mpmath.mpf]:
    """PWS Algorithm 3 as printed, at the working precision of mpmath."""
    e, d = mpmath.mpf(epsilon), mpmath.mpf(delta)
    found = [mpmath.mpf(0)]
    for rate in rates:
        before = found[-1]
        found.append(min(rate, mpmath.exp(e) * before + d, 1 + mpmath.exp(-e) * (before + d - 1)))
    return found


def rate(sampler: KeySampler, i: int) -> mpmath.mpf:
    match sampler:
        case Ppswor():
            return 1 - mpmath.exp(-mpmath.mpf("0.05") * i)
        case Pps():
            return min(mpmath.mpf(1), mpmath.mpf("0.05") * i)
    return mpmath.mpf(1)


@pytest.mark.parametrize("kind", [PwsKeys, PwsFrequencies])
@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: s.about.name)
def test_probabilities_and_losses_enclose_the_optimum(kind: type[PwsKeys], sampler: KeySampler) -> None:
    mechanism = kind(epsilon=Public("0.5"), delta=Public("1e-3"))
    rows = ReportingTable.of(mechanism.reporting(sampler.inclusion), 40).rows
    with mpmath.workdps(60):
        best = recursion("0.5", "1e-3", [rate(sampler, i) for i in range(1, 41)])
        assert [row.frequency for row in rows] == list(range(41))
        assert rows[0].reported == 0
        for row, optimum in zip(rows, best, strict=True):
            loss = optimum - mpmath.mpf(row.reported.numerator) / row.reported.denominator
            ends = [mpmath.mpf(end.numerator) / end.denominator for end in (row.loss.lower, row.loss.upper)]
            slack = mpmath.mpf(10) ** -50
            assert ends[0] - slack <= loss <= ends[1] + slack
            assert -slack < loss < mpmath.mpf(2) ** -32  # tokens of frequencies are pieces of that length


def test_the_paper_s_reference_values() -> None:
    mechanism = PwsKeys(epsilon=Public("0.1"), delta=Public("0.01"))
    rows = ReportingTable.of(mechanism.reporting(EveryKey().inclusion), 40).rows
    known = {
        2: "0.0210517091807565",
        5: "0.0616825718145309",
        10: "0.163379939996636",
        18: "0.4801372429573",
        20: "0.591608055140374",
        36: "0.993433416687653",
    }
    for frequency, value in known.items():
        assert abs(rows[frequency].reported - Fraction(value)) < Fraction(1, 10**13)
    assert rows[36].reported < rows[37].reported == 1


@examples(20)
@given(st.fractions(0, 3, max_denominator=50), st.sampled_from(["0.5", "1e-2", "1e-7", "1"]))
def test_probabilities_are_dyadic(epsilon: Fraction, delta: str) -> None:
    reporting = PwsKeys(epsilon=Public(epsilon), delta=Public(delta)).reporting(EveryKey().inclusion)
    for row in ReportingTable.of(reporting, 6).rows:
        assert (1 << reporting.budget.bits) % row.reported.denominator == 0


def test_it_prints_its_rows() -> None:
    reporting = PwsKeys(epsilon=Public(1), delta=Public("1e-2")).reporting(EveryKey().inclusion)
    short = str(ReportingTable.of(reporting, 3)).splitlines()
    assert short[0].split() == ["frequency", "kept", "reported", "optimum", "less", "reported"]
    assert short[2].split()[:3] == ["1", "1", "0.01"]
    assert len(short) == 5
    long = str(ReportingTable.of(reporting, 500)).splitlines()
    assert len(long) < 40
    assert long[-1].split()[0] == "500"


@pytest.mark.parametrize("last", [0, -1])
def test_a_last_frequency_that_is_refused(last: int) -> None:
    reporting = PwsKeys(epsilon=Public(1), delta=Public("1e-2")).reporting(EveryKey().inclusion)
    with pytest.raises(InvalidValue, match="last"):
        ReportingTable.of(reporting, last)


def test_beyond_the_listed_rates() -> None:
    reporting = PwsKeys(epsilon=Public(1), delta=Public("1e-2")).reporting(
        ListedRates(rates=Public("0.1,0.5")).inclusion
    )
    assert len(ReportingTable.of(reporting, 2).rows) == 3
    with pytest.raises(OutsideDomain):
        ReportingTable.of(reporting, 3)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: s.about.name)
def test_rates_and_losses_are_told_far_finer_than_what_is_drawn(sampler: KeySampler) -> None:
    mechanism = PwsKeys(epsilon=Public("0.3"), delta=Public("0.01"))
    table = ReportingTable.of(mechanism.reporting(sampler.inclusion), 12)
    unit = Fraction(1, 2**table.reporting.budget.bits)
    for row in table.rows:
        assert row.rate.width <= unit / 2**16
        assert row.loss.width <= unit / 2**16
