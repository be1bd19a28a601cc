"""What is made of rows, each walked through once: the same as the rows asked for one by one, in any order of calls."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import OutsideDomain
from certdp.accounting.keyed.reporting import (
    DyadicBudget,
    EveryKey,
    FrequencyRow,
    FrequencyTable,
    Inclusion,
    ListedRates,
    Ppswor,
    RowLaws,
    following,
    tables,
)
from certdp.accounting.units import Delta, Epsilon, Probability
from tests.support.cases import examples

INCLUSIONS: dict[str, Inclusion] = {
    "every key": EveryKey(),
    "ppswor": Ppswor(threshold="0.3"),
    "listed": ListedRates(tuple(map(Probability, ["0", "0.1", "0.5", *["1"] * 60]))),
}


def table(name: str, largest: int | None = None) -> FrequencyTable:
    return FrequencyTable(epsilon=Epsilon("0.5"), delta=Delta("0.01"), inclusion=INCLUSIONS[name], largest=largest)


@pytest.mark.parametrize("name", INCLUSIONS)
@examples(30)
@given(
    chunks=st.lists(st.sets(st.integers(1, 62), min_size=1, max_size=9), min_size=1, max_size=6),
    most=st.sampled_from([0, 64, 700, 3000, 1 << 20]),
    largest=st.sampled_from([None, 5, 40]),
    warm=st.booleans(),
)
def test_laws_are_those_of_the_rows(
    name: str, chunks: list[set[int]], most: int, largest: int | None, warm: bool
) -> None:
    asked = table(name, largest)
    if warm:  # the table has found its cycle before
        list(asked.at([62]))
    laws: RowLaws[FrequencyRow] = RowLaws(asked, lambda rows: list(rows).__getitem__, most)
    for chunk in map(sorted, chunks):
        origins = laws.origins(chunk)
        assert len(origins) == len(chunk)
        frequencies = sorted({origin.frequency for origin in origins})
        found = dict(zip(frequencies, laws.at(frequencies), strict=True))
        for origin, row in zip(origins, asked.at(chunk), strict=True):
            own = found[origin.frequency]
            assert (own.kept, own.unreported) == (row.kept, row.unreported)
            assert [(run.first + origin.tokens, *run[1:]) for run in own.runs] == [tuple(run) for run in row.runs]


def test_each_row_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def counted(budget: DyadicBudget, row: FrequencyRow, kept: int) -> FrequencyRow:
        steps.append(row.frequency)
        return following(budget, row, kept)

    monkeypatch.setattr(tables, "following", counted)
    laws: RowLaws[int] = RowLaws(table("ppswor"), lambda rows: [row.unreported for row in rows].__getitem__, 1 << 20)
    for last in accumulate([20] * 10):
        frequencies = range(1, last + 1)
        origins = laws.origins(frequencies)
        assert len(list(laws.at(sorted({origin.frequency for origin in origins})))) > 10
    assert len(steps) < 2 * 100  # 200 rows, those of a cycle once more; each chunk by itself would take 1,100
    kept = RowLaws(table("ppswor"), lambda rows: [row.unreported for row in rows].__getitem__, 64)
    assert kept.origins([30])[0].frequency <= 30


def test_faults_are_those_of_the_table() -> None:
    laws: RowLaws[FrequencyRow] = RowLaws(table("listed"), lambda rows: list(rows).__getitem__, 1 << 20)
    with pytest.raises(OutsideDomain, match="beyond 63"):
        laws.origins([3, 64])
    far: RowLaws[FrequencyRow] = RowLaws(
        FrequencyTable(epsilon=Epsilon("0.5"), delta=Delta("0.01"), inclusion=Ppswor(threshold="1e-9")),
        lambda rows: list(rows).__getitem__,
        9,
    )
    with pytest.raises(OutsideDomain, match="too many"):
        far.origins([2_000_000])
