"""One release as a dominating pair: neither below the worst of all neighbouring frequencies, nor above it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.keyed.reporting import (
    EveryKey,
    FrequencyNoise,
    FrequencyRow,
    FrequencyTable,
    Inclusion,
    KeyTable,
    ListedRates,
    PoissonPps,
    Ppswor,
    Reporting,
    hockey_sticks,
    keys,
    nothing_reported,
    profiles,
)
from certdp.accounting.pairs import FinitePair
from certdp.accounting.relations import Direction
from certdp.accounting.units import Delta, Epsilon, Probability
from certdp.verification.oracles.sanitisers import algorithm_3, algorithm_5, divergence
from tests.support.cases import examples

_ZERO = Fraction(0)
FACTORS = [Fraction(f) for f in ("0", "1/10", "1", "1.05", "1.6", "2", "3", "20", "1e6")]
_AGREEMENT = Fraction(1, 2**38)
"""Of a pair whose edges were put together where they agree to 2^−40."""


def outcomes(row: FrequencyRow, edges: Sequence[int]) -> list[Fraction]:
    tails = [row.units_from(edge) for edge in edges]
    return [Fraction(unit, 1 << row.bits) for unit in (row.unreported, *(a - b for a, b in pairwise(tails)))]


def worst(rows: Sequence[FrequencyRow], factor: Fraction) -> tuple[Fraction, Fraction]:
    """The largest Σ [P − γ·Q]₊ and Σ [Q − γ·P]₊ of neighbouring rows, by subtracting tails."""
    most = [Fraction(0), Fraction(0)]
    for lower, higher in pairwise(rows):
        edges = sorted({0, *(e for row in (lower, higher) for run in row.runs for e in (run.first, run.end))})
        below, above = outcomes(lower, edges), outcomes(higher, edges)
        for side, (one, other) in enumerate(((above, below), (below, above))):
            found = sum((max(Fraction(0), a - factor * b) for a, b in zip(one, other, strict=True)), Fraction(0))
            most[side] = max(most[side], found)
    return most[0], most[1]


def assert_exact(pair: FinitePair, rows: Sequence[FrequencyRow]) -> None:
    for factor in FACTORS:
        for direction, most in zip((Direction.REMOVE, Direction.ADD), worst(rows, factor), strict=True):
            found = pair.hockey_stick(factor, direction)
            assert most <= found <= most + _AGREEMENT * min(Fraction(1), factor)


def assert_private(pair: FinitePair, reporting: Reporting) -> None:
    """At e^ε, or rather at G, which is no larger, δ is no more than was asked for."""
    budget = reporting.budget
    for direction in Direction:
        assert pair.hockey_stick(Fraction(budget.growth, budget.certain), direction) <= reporting.delta.value


SETTINGS = st.tuples(
    st.fractions(0, 2, max_denominator=20),
    st.fractions(Fraction(1, 200), Fraction(1, 2), max_denominator=200),
)
LISTED: st.SearchStrategy[Inclusion] = st.lists(st.fractions(0, 1, max_denominator=30), min_size=1, max_size=8).map(
    lambda rates: ListedRates(tuple(map(Probability, sorted(rates))))
)


@examples(40)
@given(SETTINGS, LISTED, st.booleans(), st.integers(0, 8))
@example((Fraction(0), Fraction(1, 2)), ListedRates((Probability(0),)), False, 0)
def test_listed_rates(parameters: tuple[Fraction, Fraction], inclusion: Inclusion, alone: bool, pieces: int) -> None:
    epsilon, delta = Epsilon(parameters[0]), Delta(parameters[1])
    reporting: Reporting = KeyTable(epsilon=epsilon, delta=delta, inclusion=inclusion)
    if not alone:
        reporting = FrequencyTable(epsilon=epsilon, delta=delta, inclusion=inclusion, subdivision=pieces)
    rows = [nothing_reported(reporting.budget), *reporting.at(range(1, (inclusion.last or 0) + 1))]
    pair = reporting.dominating_pair()
    assert_exact(pair, rows)
    assert_private(pair, reporting)
    capped = reporting.capped(1).dominating_pair()
    assert_exact(capped, rows[:2])


ENDLESS: list[Reporting] = [
    *(
        KeyTable(epsilon=Epsilon(epsilon), delta=Delta(delta), inclusion=inclusion)
        for epsilon, delta in (("0.5", "0.01"), ("0.1", "0.05"), ("0", "1/7"))
        for inclusion in (
            EveryKey(),
            Ppswor(threshold="0.3"),
            PoissonPps(threshold="0.03"),
            PoissonPps(threshold="0.2", power="1/2"),
            Ppswor(threshold="0.01", power=2),
            Ppswor(threshold="0.4", power=0),
        )
    ),
    FrequencyTable(epsilon=Epsilon("0.5"), delta=Delta("0.01"), inclusion=PoissonPps(threshold="0.07"), subdivision=4),
    FrequencyTable(epsilon=Epsilon("0.2"), delta=Delta("0.05"), inclusion=Ppswor(threshold="2"), subdivision=32),
    FrequencyTable(epsilon=Epsilon("1"), delta=Delta("1e-6"), inclusion=PoissonPps(threshold="0.3"), subdivision=0),
    FrequencyNoise(epsilon=Epsilon("0.5"), delta=Delta("0.01")),
    FrequencyNoise(epsilon=Epsilon("1"), delta=Delta("1e-6"), subdivision=0),
    FrequencyNoise(epsilon=Epsilon("0.3"), delta=Delta("0.1")).capped(3),
]


@pytest.mark.parametrize("reporting", ENDLESS)
def test_every_frequency(reporting: Reporting) -> None:
    """Rates without end: the worst of so many frequencies that nothing changes any more."""
    last = 80 if reporting.with_frequencies else 300
    rows = [nothing_reported(reporting.budget), *reporting.at(range(1, last + 1))]
    pair = reporting.dominating_pair()
    assert_exact(pair, rows)
    assert_private(pair, reporting)
    assert len(pair.present) <= 100


@examples(25)
@given(st.fractions(Fraction(1, 4), 1, max_denominator=8), st.fractions(Fraction(1, 40), Fraction(1, 4)), LISTED)
def test_against_algorithms_in_rational_numbers(growth: Fraction, delta: Fraction, inclusion: Inclusion) -> None:
    """The algorithms of the paper with e^ε known to 2^−140, where breakpoints are not rounded to units."""
    epsilon = Epsilon(growth)
    exponential = Enclosure.of(growth, precision=160).exp().lower
    rates = [inclusion.rate(i, precision=200).midpoint for i in range(1, (inclusion.last or 0) + 1)]
    key_pair = KeyTable(epsilon=epsilon, delta=Delta(delta), inclusion=inclusion).dominating_pair()
    table = FrequencyTable(epsilon=epsilon, delta=Delta(delta), inclusion=inclusion, subdivision=32)
    token_pair = table.dominating_pair()
    chances = [Fraction(0), *algorithm_3(exponential, delta, rates)]
    exact = algorithm_5(exponential, delta, rates)
    near = Fraction(1, 2**24)
    for factor in FACTORS[2:-1]:
        upward = max(max(b - factor * a, _ZERO) + max(1 - b - factor * (1 - a), _ZERO) for a, b in pairwise(chances))
        assert abs(key_pair.hockey_stick(factor, Direction.REMOVE) - upward) < near
        if len(exact) > 1:
            worst_tokens = max(divergence(factor, b, a) for a, b in pairwise(exact))
            assert token_pair.hockey_stick(factor, Direction.REMOVE) > worst_tokens - near
            first = 1 - exact[0].unreported  # against a key that does not occur
            assert token_pair.hockey_stick(factor, Direction.REMOVE) < max(worst_tokens, first) + near


@pytest.mark.slow
@pytest.mark.parametrize(
    "inclusion",
    [
        Ppswor(threshold="0.01"),
        Ppswor(threshold="0.05", power="1/2"),
        PoissonPps(threshold="0.004"),
        PoissonPps(threshold="0.0125"),
        PoissonPps(threshold="0.05", power="1/2"),
    ],
)
@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0.001"), ("0.05", "0.01"), ("0.01", "0.002")])
def test_corners_stand_for_stretches(
    monkeypatch: pytest.MonkeyPatch, inclusion: Inclusion, epsilon: str, delta: str
) -> None:
    """Where keys are reported as often as they are kept, two corners lose no more than units."""
    table = KeyTable(epsilon=Epsilon(epsilon), delta=Delta(delta), inclusion=inclusion)
    exact = table.dominating_pair()
    monkeypatch.setattr(keys, "_ONE_BY_ONE", 2)
    pair = table.dominating_pair()
    assert_private(pair, table)
    for factor in FACTORS:
        for direction in Direction:
            most = exact.hockey_stick(factor, direction)
            assert most <= pair.hockey_stick(factor, direction) + _AGREEMENT * most
            assert pair.hockey_stick(factor, direction) <= most + _AGREEMENT * min(Fraction(1), factor) + Fraction(
                8 * (1 + factor), table.budget.certain
            )
    capped = table.capped(40)
    bound = capped.dominating_pair()
    assert_private(bound, capped)
    rows = [nothing_reported(table.budget), *table.at(range(1, 41))]
    for factor in FACTORS:
        for direction, most in zip((Direction.REMOVE, Direction.ADD), worst(rows, factor), strict=True):
            assert most <= bound.hockey_stick(factor, direction)


class Steps(Inclusion):
    """A scheme of one's own: it doubles what is left out until all are kept, and proves nothing."""

    def rate(self, frequency: int, *, precision: int) -> Enclosure:
        return Enclosure.of(1 - Fraction(3, 10**4 * frequency), precision=precision)


def test_a_scheme_without_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once at most δ is left out, one corner stands for all frequencies that follow."""
    monkeypatch.setattr(keys, "_ONE_BY_ONE", 40)
    table = KeyTable(epsilon=Epsilon("0.5"), delta=Delta("0.001"), inclusion=Steps())
    pair = table.dominating_pair()
    assert_private(pair, table)
    rows = [nothing_reported(table.budget), *table.at(range(1, 400))]
    for factor in FACTORS:
        for direction, most in zip((Direction.REMOVE, Direction.ADD), worst(rows, factor), strict=True):
            assert most <= pair.hockey_stick(factor, direction)


@pytest.mark.slow
def test_many_edges_become_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outward: no divergence is lost, and none at e^ε gained."""
    table = KeyTable(epsilon=Epsilon("0.01"), delta=Delta("1e-4"), inclusion=Ppswor(threshold="1e-6", power=2))
    fine = table.dominating_pair()
    monkeypatch.setattr(profiles, "_AGREE", 9)
    coarse = table.dominating_pair()
    monkeypatch.setattr(profiles, "_AGREE", 40)
    monkeypatch.setattr(profiles, "_MOST_EDGES", 30)
    few = table.dominating_pair()
    assert len(few.present) <= 30 < len(coarse.present) < len(fine.present)
    assert_private(coarse, table)
    assert_private(few, table)
    for factor in (*FACTORS, Fraction("1.001"), Fraction("1.01"), Fraction("1.1")):
        for direction in Direction:
            most = fine.hockey_stick(factor, direction)
            assert most - _AGREEMENT <= coarse.hockey_stick(factor, direction) <= most + Fraction(1, 2**9)
            assert most - _AGREEMENT <= few.hockey_stick(factor, direction)


@pytest.mark.parametrize("reporting", [ENDLESS[0], ENDLESS[2], ENDLESS[6], *ENDLESS[-6:]])
@pytest.mark.parametrize("agree", [2, 8, 40])
def test_nothing_is_lost_at_the_growth(monkeypatch: pytest.MonkeyPatch, reporting: Reporting, agree: int) -> None:
    """However few edges are left, the divergences at G are those of all of them, to the last digit."""
    monkeypatch.setattr(profiles, "_AGREE", agree)
    few = reporting.dominating_pair()
    monkeypatch.setattr(profiles, "_AGREE", 10**4)
    fine = reporting.dominating_pair()
    assert len(few.present) <= len(fine.present)
    growth = Fraction(reporting.budget.growth, reporting.budget.certain)
    for direction in Direction:
        assert few.hockey_stick(growth, direction) == fine.hockey_stick(growth, direction)


@examples(40)
@given(st.integers(1, 30), st.fractions(0, 4, max_denominator=7), st.integers(0, 5))
def test_divergences_of_two_frequencies(frequency: int, factor: Fraction, which: int) -> None:
    reporting = [*ENDLESS[:3], *ENDLESS[-6:-3]][which]
    found = reporting.divergences(frequency, Enclosure.of(factor, precision=120))
    before = reporting.row(frequency - 1) if frequency > 1 else nothing_reported(reporting.budget)
    exact = worst([before, reporting.row(frequency)], factor)
    assert tuple(hockey_sticks(before, reporting.row(frequency), factor)) == exact
    for enclosure, value in zip(found, exact, strict=True):
        assert enclosure.contains(value)
        assert enclosure.width < Fraction(1, 2**100)
