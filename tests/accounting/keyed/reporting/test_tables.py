"""Tables of keys and frequencies: exact constraints, small losses, and no next rows that do better."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, pairwise

import attrs
import flint
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from certdp.accounting.errors import CertdpError, InvalidValue
from certdp.accounting.keyed.estimates import concordance
from certdp.accounting.keyed.key_sanitiser import KeyReporting
from certdp.accounting.keyed.reporting import (
    DyadicBudget,
    FrequencyNoise,
    FrequencyRow,
    FrequencyTable,
    Inclusion,
    KeyTable,
    ListedRates,
    PoissonPps,
    Ppswor,
    Run,
    excess,
    following,
    nothing_reported,
    tables,
)
from certdp.accounting.units import Delta, Epsilon, Probability
from tests.support.arb_numbers import arb_of, fraction_of
from tests.support.cases import examples

EPSILONS = st.fractions(0, 3, max_denominator=20) | st.sampled_from([Fraction(1, 10**12), Fraction(60), Fraction(700)])
DELTAS = st.fractions(Fraction(1, 200), 1, max_denominator=200) | st.integers(1, 15).map(lambda k: Fraction(1, 10**k))
INCLUSIONS: st.SearchStrategy[Inclusion] = (
    st.lists(st.fractions(0, 1, max_denominator=30), min_size=1, max_size=12).map(
        lambda rates: ListedRates(tuple(map(Probability, sorted(rates))))
    )
    | st.builds(Ppswor, threshold=st.fractions(Fraction(1, 1000), 2), power=st.fractions(0, 2, max_denominator=2))
    | st.builds(PoissonPps, threshold=st.fractions(Fraction(1, 1000), 2), power=st.fractions(0, 2, max_denominator=2))
    | st.just(ListedRates((Probability(1),) * 12))
)


def below_growth(epsilon: Fraction) -> Fraction:
    """A rational number just below e^ε, by Arb."""
    flint.ctx.prec = 400
    try:
        return fraction_of(arb_of(epsilon).exp().lower())
    finally:
        flint.ctx.prec = 53


def outcomes(row: FrequencyRow, edges: list[int]) -> list[Fraction]:
    """Probabilities of "not reported" and of the tokens between edges, by subtracting tails."""
    tails = [row.units_from(edge) for edge in edges]
    units = [row.unreported, *(a - b for a, b in pairwise(tails))]
    return [Fraction(unit, 1 << row.bits) for unit in units]


def divergences(epsilon: Fraction, lower: FrequencyRow, higher: FrequencyRow) -> tuple[Fraction, Fraction]:
    growth = below_growth(epsilon)
    edges = sorted({0, *(e for row in (lower, higher) for run in row.runs for e in (run.first, run.end))})
    below, above = outcomes(lower, edges), outcomes(higher, edges)
    assert sum(below) == sum(above) == 1

    def divergence(one: list[Fraction], other: list[Fraction]) -> Fraction:
        return sum((max(Fraction(0), a - growth * b) for a, b in zip(one, other, strict=True)), Fraction(0))

    return divergence(above, below), divergence(below, above)


@examples(60)
@given(EPSILONS, DELTAS, INCLUSIONS, st.integers(0, 40))
@example(Fraction(1, 10**12), Fraction(1, 10**3), Ppswor(threshold="0.01"), 20)
def test_rows_as_drawn_are_private(epsilon: Fraction, delta: Fraction, inclusion: Inclusion, subdivision: int) -> None:
    table = FrequencyTable(epsilon=Epsilon(epsilon), delta=Delta(delta), inclusion=inclusion, subdivision=subdivision)
    before = nothing_reported(table.budget)
    for proven in islice(table.proven_rows(), 12):
        row = proven.row
        assert max(divergences(epsilon, before, row)) <= delta
        assert max(proven.excess) <= delta
        rate = inclusion.rate(row.frequency, precision=200)
        assert Fraction(row.kept, 1 << row.bits) <= rate.upper
        assert before.reported <= row.reported <= row.kept
        assert proven.loss.upper >= 0
        assert proven.loss.upper <= Fraction(1, 2**40)
        assert all(run.first >= 0 and run.width > 0 and run.units > 0 for run in row.runs)
        assert all(a.end <= b.first for a, b in pairwise(row.runs))
        assert not row.runs or row.runs[-1].end <= row.frequency << subdivision
        assert len(row.runs) <= 5 * row.frequency
        before = row


@examples(60)
@given(EPSILONS, DELTAS, INCLUSIONS)
def test_keys_as_drawn_are_private(epsilon: Fraction, delta: Fraction, inclusion: Inclusion) -> None:
    growth, before = below_growth(epsilon), Fraction(0)
    for row in islice(KeyTable(epsilon=Epsilon(epsilon), delta=Delta(delta), inclusion=inclusion).rows(), 12):
        reported = row.probability
        for one, other in (
            (reported, before),
            (before, reported),
            (1 - reported, 1 - before),
            (1 - before, 1 - reported),
        ):
            assert one <= growth * other + delta
        assert row.reported <= row.kept
        assert Fraction(row.kept, 1 << row.bits) <= inclusion.rate(row.frequency, precision=200).upper
        assert 0 <= row.loss.upper <= Fraction(1, 2**40)
        before = reported


@pytest.mark.parametrize(("threshold", "first"), [("0.1", 13), ("0.01", 8), ("0.001", 1)])
def test_where_sampling_takes_over(threshold: str, first: int) -> None:
    keys = KeyTable(epsilon=Epsilon("0.5"), delta=Delta("0.001"), inclusion=Ppswor(threshold=threshold))
    rows = list(islice(keys.rows(), 60))
    assert [row.frequency for row in rows if row.reported == row.kept] == list(range(first, 61))
    assert max(row.loss.upper for row in rows) < Fraction(1, 2**50)


def test_reference_probabilities_of_keys() -> None:
    rows = list(islice(KeyTable(epsilon=Epsilon("0.1"), delta=Delta("0.01")).rows(), 40))
    assert float(rows[9].probability) == pytest.approx(0.163379939996636, rel=1e-13)
    assert rows[35].reported < rows[36].reported == rows[36].kept == 1 << rows[36].bits


def test_a_list_of_rates_ends_the_table() -> None:
    rates = ListedRates((Probability("0.2"), Probability("0.5")))
    table = FrequencyTable(epsilon=Epsilon(1), delta=Delta("0.1"), inclusion=rates)
    assert len(table.stored(10)) == len(list(table.rows())) == 2
    assert len(list(KeyTable(epsilon=Epsilon(1), delta=Delta("0.1"), inclusion=rates).rows())) == 2
    with pytest.raises(InvalidValue, match="last"):
        table.stored(0)


def test_storage_is_a_band() -> None:
    table = FrequencyTable(epsilon=Epsilon("0.5"), delta=Delta("0.001"))
    assert (
        max(len(row.runs) for row in table.stored(200))
        <= KeyReporting(epsilon=Epsilon("0.5"), delta=Delta("0.001")).band + 1
    )


def test_a_row_that_is_not_private_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    table = FrequencyTable(epsilon=Epsilon("0.5"), delta=Delta("0.01"))
    honest = following

    def one_unit_too_many(budget: DyadicBudget, row: FrequencyRow, kept: int) -> FrequencyRow:
        found = honest(budget, row, kept)
        *rest, last = found.runs
        return attrs.evolve(
            found, runs=(*rest, Run(last.first, last.width, last.units + 1)), unreported=found.unreported - 1
        )

    monkeypatch.setattr(tables, "following", one_unit_too_many)
    with pytest.raises(CertdpError, match="row 1 does not satisfy"):
        next(table.rows())


@given(st.data())
def test_the_excess_of_two_rows_is_their_divergence(data: st.DataObject) -> None:
    """On rows that no algorithm made, at ε = 0 where G is exact."""
    budget = FrequencyTable(epsilon=Epsilon(0), delta=Delta("0.1"), subdivision=1).budget

    def drawn(frequency: int) -> FrequencyRow:
        units = data.draw(st.lists(st.integers(0, 1000), min_size=6, max_size=6))
        runs = tuple(Run(token, 1, n) for token, n in enumerate(units) if n)
        return FrequencyRow(
            frequency=frequency,
            bits=budget.bits,
            subdivision=1,
            kept=budget.certain,
            unreported=budget.certain - sum(units),
            runs=runs,
        )

    one, other = drawn(3), drawn(4)
    assert tuple(excess(budget, one, other)) == divergences(Fraction(0), one, other)


def chain_optimum(growth: float, delta: float, rows: list[FrequencyRow], cut: int) -> float:
    """The largest concordance of the first and last row over all admissible rows that follow the first, by HiGHS."""
    first = rows[0]
    edges = sorted({0, *(e for row in rows for run in row.runs for e in (run.first, run.end))})
    edges = sorted({*edges, *((a + b) // 2 for a, b in pairwise(edges))}) if cut else edges
    known = np.array([float(p) for p in outcomes(first, edges)])
    count, later = len(known), len(rows) - 1
    # variables: the rows, then for every step the excesses upward and downward
    size = 3 * later * count
    limits, values, equal, sums = [], [], [], []
    for step in range(later):
        for sign, block in ((1, later + 2 * step), (-1, later + 2 * step + 1)):
            for j in range(count):
                row, limit = np.zeros(size), 0.0
                new, old = step * count + j, (step - 1) * count + j
                row[new] = 1 if sign > 0 else -growth
                if step:
                    row[old] = -growth if sign > 0 else 1
                else:
                    limit = growth * known[j] if sign > 0 else -known[j]
                row[block * count + j] = -1
                limits.append(row)
                values.append(limit)
            row = np.zeros(size)
            row[block * count : (block + 1) * count] = 1
            limits.append(row)
            values.append(delta)
        row = np.zeros(size)
        row[step * count : (step + 1) * count] = 1
        equal.append(row)
        sums.append(1.0)
    gains = np.zeros(size)
    gains[(later - 1) * count : later * count] = np.cumsum(known) - known / 2
    bounds: list[tuple[float, float | None]] = [(0.0, None)] * size
    for step, follower in enumerate(rows[1:]):
        bounds[step * count] = (chance := follower.unreported / (1 << follower.bits), chance)  # optimal reporting
    found = linprog(-gains, np.array(limits), values, np.array(equal), sums, bounds, method="highs")
    assert found.status == 0
    return float(-found.fun)


@examples(15)
@given(
    st.fractions(0, 2, max_denominator=8),
    st.fractions(Fraction(1, 40), Fraction(1, 2), max_denominator=40),
    st.lists(st.fractions(Fraction(1, 10), 1, max_denominator=20), min_size=2, max_size=4).map(sorted),
    st.integers(1, 2),
)
def test_no_rows_order_keys_better(epsilon: Fraction, delta: Fraction, rates: list[Fraction], apart: int) -> None:
    """Corollary 6.1 also across a frequency between: all rows that follow are free but for how often they report."""
    start = max(0, len(rates) - 1 - apart)
    table = FrequencyTable(
        epsilon=Epsilon(epsilon),
        delta=Delta(delta),
        inclusion=ListedRates(tuple(Probability(rate) for rate in (*rates, *[Fraction(1)] * apart))),
        subdivision=24,
    )
    rows = list(table.rows())[start : start + apart + 1]
    best = chain_optimum(float(below_growth(epsilon)), float(delta), rows, cut=1)
    assert float(concordance(rows[0], rows[-1])) == pytest.approx(best, abs=2e-6)


@examples(40)
@given(EPSILONS, DELTAS, st.sampled_from([20, 32, 40]), st.integers(1, 10**12))
@example(Fraction(0), Fraction(1, 7), 20, 5)
@example(Fraction(1), Fraction(1), 20, 1)
@example(Fraction(700), Fraction(3, 10), 20, 2)
def test_noise_is_private_at_every_frequency(
    epsilon: Fraction, delta: Fraction, subdivision: int, frequency: int
) -> None:
    if epsilon < Fraction(1, 100):
        delta = max(delta, Fraction(1, 200))  # a band of 1/δ
    noise = FrequencyNoise(epsilon=Epsilon(epsilon), delta=Delta(delta), subdivision=subdivision)
    near = 1 + frequency % (noise.band + 3)
    for first in (near, frequency):
        assert max(divergences(epsilon, noise.row(first), noise.row(first + 1))) <= delta
    assert max(noise.proven_excess()) <= delta
    assert noise.row(noise.band + frequency).unreported == 0


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "0.01"), ("0.5", "0.001"), ("1", "1e-9"), ("2", "0.2")])
def test_noise_is_the_table_without_sampling(epsilon: str, delta: str) -> None:
    """Algorithm 5 row by row, and its closed form: total variation, and the probability of reporting."""
    noise = FrequencyNoise(epsilon=Epsilon(epsilon), delta=Delta(delta), subdivision=24)
    table = FrequencyTable(epsilon=Epsilon(epsilon), delta=Delta(delta), subdivision=24)
    for row in table.stored(noise.band + 10):
        other = noise.row(row.frequency)
        edges = sorted({0, *(e for r in (row, other) for run in r.runs for e in (run.first, run.end))})
        apart = sum(abs(a - b) for a, b in zip(outcomes(row, edges), outcomes(other, edges), strict=True))
        assert apart < Fraction(1, 2**20)
        assert -Fraction(1, 2**50) <= noise.loss(row.frequency).lower
        assert noise.loss(row.frequency).upper < Fraction(1, 2**20)


@pytest.mark.slow
@pytest.mark.parametrize("subdivision", [0, 1, 3])
def test_coarse_noise_is_private_too(subdivision: int) -> None:
    for epsilon, delta in (("0.1", "0.01"), ("700", "0.3"), ("0", "1/7"), ("1e-9", "0.01"), ("3", "1")):
        noise = FrequencyNoise(epsilon=Epsilon(epsilon), delta=Delta(delta), subdivision=subdivision)
        assert max(noise.proven_excess()) <= noise.delta.value
        rows = [noise.row(i) for i in range(1, noise.band + 3)]
        assert all(max(divergences(noise.epsilon.value, a, b)) <= noise.delta.value for a, b in pairwise(rows))


def test_noise_needs_a_frequency() -> None:
    with pytest.raises(InvalidValue, match="frequency"):
        FrequencyNoise(epsilon=Epsilon(1), delta=Delta("0.1")).row(0)


def test_the_witness_against_algorithm_4_for_every_crossover() -> None:
    """Erratum PWS-T5.1: ε = 0.5, δ = 0.04061, where L is not integral."""

    def concordances(subdivision: int) -> list[Fraction]:
        table = FrequencyTable(epsilon=Epsilon("0.5"), delta=Delta("0.04061"), subdivision=subdivision)
        rows = table.stored(14)
        return [concordance(a, b) for a in rows for b in rows if a.frequency < b.frequency]

    gains = [fine - coarse for fine, coarse in zip(concordances(24), concordances(0), strict=True)]
    assert min(gains) > -Fraction(1, 2**20)
    assert float(max(gains)) == pytest.approx(3.7e-3, abs=1e-4)
