"""Rows of frequencies however far away, against the plain recursion; and public largest frequencies."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import count, islice, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidType, InvalidValue, OutsideDomain
from certdp.accounting.keyed.reporting import (
    DyadicBudget,
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
    Run,
    following,
    keys,
    nothing_reported,
    tables,
)
from certdp.accounting.units import Delta, Epsilon, Probability
from tests.support.cases import examples

EPSILON, DELTA = Epsilon("0.5"), Delta("0.01")
RATES = ListedRates(tuple(map(Probability, ("0.2", "0.5", "0.6", "0.9"))))
INCLUSIONS: st.SearchStrategy[Inclusion] = st.builds(
    lambda sampler, threshold, power: sampler(threshold=threshold, power=power),
    st.sampled_from([Ppswor, PoissonPps]),
    st.fractions(Fraction(1, 300), 1, max_denominator=300),
    st.sampled_from([Fraction(p) for p in ("0", "1/2", "1", "3/2", "2")]),
) | st.just(EveryKey())


def recursion(table: KeyTable) -> Iterator[tuple[int, int]]:
    """(kept, reported) one frequency after the other, without any shortcut."""
    before = 0
    for frequency in count(1):
        kept = table.inclusion.units(frequency, table.budget.bits)
        before = table.budget.reported(before, kept)
        yield kept, before


@examples(150)
@given(
    st.fractions(0, 2, max_denominator=50),
    st.fractions(Fraction(1, 10**4), Fraction(1, 2), max_denominator=10**4) | st.just(Fraction(1, 10**9)),
    INCLUSIONS,
    st.integers(1, 40),
)
@example(Fraction(1, 2), Fraction(1, 1000), PoissonPps(threshold="0.01"), 1)
@example(Fraction(1, 100), Fraction(1, 1000), PoissonPps(threshold="0.0035"), 3)
@example(Fraction(1, 20), Fraction(1, 1000), PoissonPps(threshold="0.02", power="0.5"), 3)
@example(Fraction(1), Fraction(1, 10**9), Ppswor(threshold="0.01", power=2), 7)
def test_keys_are_those_of_the_recursion(epsilon: Fraction, delta: Fraction, inclusion: Inclusion, step: int) -> None:
    table = KeyTable(epsilon=Epsilon(epsilon), delta=Delta(delta), inclusion=inclusion)
    plain = list(islice(recursion(table), 400))
    asked = range(1, 401, step)
    found = [(row.kept, row.reported) for row in table.at(asked)]
    assert found == [plain[i - 1] for i in asked]
    assert [row.frequency for row in table.at(asked)] == list(asked)


@examples(100)
@given(
    st.fractions(0, 1, max_denominator=20),
    st.fractions(Fraction(1, 50), Fraction(1, 2), max_denominator=50),
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 12)), min_size=1, max_size=4).map(sorted),
)
@example(Fraction(0), Fraction(1, 10), [(17, 9), (20, 5)])
def test_rates_that_stay_and_then_grow(epsilon: Fraction, delta: Fraction, levels: list[tuple[int, int]]) -> None:
    listed = ListedRates(tuple(Probability(Fraction(rate, 20)) for rate, times in levels for _ in range(times)))
    table = KeyTable(epsilon=Epsilon(epsilon), delta=Delta(delta), inclusion=listed)
    plain = list(islice(recursion(table), listed.last))
    assert [(row.kept, row.reported) for row in table.at(range(1, listed.last + 1))] == plain


@pytest.mark.parametrize("threshold", ["0.1", "1e-4", "1e-7", "1e-9"])
@pytest.mark.parametrize("sampler", [Ppswor, PoissonPps])
@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0.001"), ("0.01", "1e-6"), ("1", "1e-12")])
def test_the_most_frequent_keys(threshold: str, sampler: type[Ppswor | PoissonPps], epsilon: str, delta: str) -> None:
    """Rows that no recursion reaches satisfy (ε, δ) where they are neighbours."""
    table = KeyTable(epsilon=Epsilon(epsilon), delta=Delta(delta), inclusion=sampler(threshold=threshold))
    budget = table.budget
    places = {10**6, 10**9, 2**53} | {round(1 / Fraction(threshold)) + step for step in range(-3, 4)}
    rows = {row.frequency: row for row in table.at(sorted({j for i in places for j in (i, i + 1) if i > 0}))}
    for i in places:
        if i > 0:
            before, after = rows[i].reported, rows[i + 1].reported
            assert before <= after == budget.reported(before, rows[i + 1].kept)
    assert rows[2**53].reported == rows[2**53].kept


def stepped(budget: DyadicBudget, inclusion: Inclusion) -> Iterator[FrequencyRow]:
    row = nothing_reported(budget)
    for frequency in count(1):
        row = following(budget, row, inclusion.units(frequency, budget.bits))
        yield row


TABLES = [
    FrequencyTable(epsilon=EPSILON, delta=DELTA, subdivision=32),
    FrequencyTable(epsilon=EPSILON, delta=DELTA, inclusion=PoissonPps(threshold="0.07"), subdivision=0),
    FrequencyTable(epsilon=Epsilon("0.1"), delta=DELTA, inclusion=PoissonPps(threshold="0.2"), subdivision=8),
    FrequencyTable(epsilon=EPSILON, delta=DELTA, inclusion=Ppswor(threshold=2), subdivision=32),
    FrequencyTable(epsilon=Epsilon(0), delta=Delta("0.1"), inclusion=Ppswor(threshold=1, power=0), subdivision=3),
    FrequencyTable(epsilon=Epsilon(1), delta=Delta("1e-6"), inclusion=Ppswor(threshold=1, power=2), subdivision=16),
]


@pytest.mark.parametrize("table", TABLES)
def test_rows_that_repeat(table: FrequencyTable) -> None:
    """Far beyond the first repetition, every row is the one that steps lead to."""
    plain = list(islice(stepped(table.budget, table.inclusion), 300))
    assert list(table.stored(300)) == plain
    assert list(table.at(range(7, 301, 13))) == plain[6:300:13]
    origins = list(table.origins(range(1, 301)))
    assert max(origin.frequency for origin in origins) < 200
    for row, (frequency, tokens) in zip(plain, origins, strict=True):
        first = plain[frequency - 1]
        assert row.runs == tuple(Run(run.first + tokens, run.width, run.units) for run in first.runs)
        assert (row.kept, row.unreported) == (first.kept, first.unreported)
    far = table.row(2**53)
    (origin,) = table.origins([2**53])
    assert far.runs[-1].end <= 2**53 << table.subdivision
    assert far.unreported == plain[origin.frequency - 1].unreported
    assert origin.tokens == 2**53 - origin.frequency << table.subdivision


def test_rows_that_repeat_until_rates_grow() -> None:
    """Rates that stay for long are not taken for the last."""
    listed = ListedRates(tuple(map(Probability, ["0.5"] * 90 + ["0.9"] * 9)))
    table = FrequencyTable(epsilon=Epsilon(1), delta=Delta("0.1"), inclusion=listed, subdivision=2)
    plain = list(islice(stepped(table.budget, listed), 99))
    assert list(table.at(range(1, 100))) == plain
    assert [origin.frequency for origin in table.origins([60, 99])] == [60, 99]


def test_origins_of_noise_and_keys() -> None:
    noise = FrequencyNoise(epsilon=EPSILON, delta=DELTA)
    band = noise.band
    assert list(noise.origins([1, band, band + 5])) == [(1, 0), (band, 0), (band, 5 << 32)]
    assert list(KeyTable(epsilon=EPSILON, delta=DELTA).origins([3, 10**9])) == [(3, 0), (10**9, 0)]


def reportings(inclusion: Inclusion) -> list[Reporting]:
    return [
        KeyTable(epsilon=EPSILON, delta=DELTA, inclusion=inclusion),
        FrequencyTable(epsilon=EPSILON, delta=DELTA, inclusion=inclusion, subdivision=2),
    ]


@pytest.mark.parametrize(
    "reporting",
    [
        *reportings(PoissonPps(threshold="0.07")),
        *reportings(Ppswor(threshold="0.3")),
        *reportings(RATES),
        FrequencyNoise(epsilon=EPSILON, delta=DELTA),
    ],
)
def test_a_public_largest_frequency(reporting: Reporting) -> None:
    """Frequencies above it have its row, the others their own."""
    assert reporting.last == reporting.inclusion.last
    for largest in (1, 3):
        capped = reporting.capped(largest)
        assert capped.last == capped.largest == largest
        assert (capped.epsilon, capped.inclusion) == (reporting.epsilon, reporting.inclusion)
        found = list(capped.at([1, 3, 4, 10**12]))
        assert found == [reporting.row(min(i, largest)) for i in (1, 3, 4, 10**12)]
        assert list(capped.origins([2, 50]))[-1] == (largest, 0)
        assert capped.row(7) == reporting.row(largest)
    wrong: list[tuple[object, type[Exception]]] = [(0, InvalidValue), (1.5, InvalidType)]
    for value, error in wrong:
        with pytest.raises(error, match="largest"):
            reporting.capped(value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("reporting", reportings(RATES))
def test_frequencies_without_a_rate(reporting: Reporting) -> None:
    with pytest.raises(OutsideDomain, match="beyond 4, the last that has a rate"):
        reporting.row(5)
    with pytest.raises(OutsideDomain):
        list(reporting.origins([5]))
    with pytest.raises(InvalidValue, match="at most 4"):
        reporting.capped(5)
    assert reporting.capped(4).row(5) == reporting.row(4)
    for asked in ([2, 2], [3, 1], [0]):
        with pytest.raises(InvalidValue, match="frequencies"):
            list(reporting.at(asked))


def test_rows_too_many_steps_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_MOST_STEPS", 50)
    monkeypatch.setattr(tables, "_MOST_STEPS", 50)
    monkeypatch.setattr(tables, "_MOST_COMPARED", 20)
    for reporting in reportings(Ppswor(threshold="1e-5", power=2)):
        assert reporting.row(50).frequency == 50
        with pytest.raises(OutsideDomain, match="public largest frequency"):
            reporting.dominating_pair()
        assert sum(reporting.capped(20).dominating_pair().present) == 1
        with pytest.raises(OutsideDomain, match="public largest frequency"):
            reporting.row(51)
        assert reporting.capped(50).row(10**9) == reporting.row(50)


def test_a_million_rows_of_keys() -> None:
    """Each row at once: the whole table of ppswor is nowhere held."""
    table = KeyTable(epsilon=Epsilon("0.01"), delta=Delta("1e-6"), inclusion=Ppswor(threshold="1e-4"))
    asked = range(1, 10**6, 97)
    rows = list(table.at(asked))
    assert all(a.reported <= b.reported for a, b in pairwise(rows))
    assert [row.reported for row in rows if row.frequency > 2000] == [
        table.inclusion.units(i, table.budget.bits) for i in asked if i > 2000
    ]
