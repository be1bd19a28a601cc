"""What is made of rows, each walked through once: the same as the rows asked for one by one, in any order of calls."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
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
    laws: RowLaws[list[FrequencyRow]] = RowLaws(asked, list, most)
    for chunk in map(sorted, chunks):
        origins = laws.origins(np.array(chunk, dtype=np.uint64))
        assert len(origins.frequencies) == len(origins.tokens) == len(chunk)
        frequencies = np.unique(origins.frequencies)
        rows = [part[place] for part, places in laws.at(frequencies) for place in places.tolist()]
        found = dict(zip(frequencies.tolist(), rows, strict=True))
        for frequency, tokens, row in zip(*map(np.ndarray.tolist, origins), asked.at(chunk), strict=True):
            own = found[frequency]
            assert (own.kept, own.unreported) == (row.kept, row.unreported)
            assert [(run.first + tokens, *run[1:]) for run in own.runs] == [tuple(run) for run in row.runs]


def test_each_row_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def counted(budget: DyadicBudget, row: FrequencyRow, kept: int) -> FrequencyRow:
        steps.append(row.frequency)
        return following(budget, row, kept)

    monkeypatch.setattr(tables, "following", counted)
    laws: RowLaws[list[int]] = RowLaws(table("ppswor"), lambda rows: [row.unreported for row in rows], 1 << 20)
    for last in accumulate([20] * 10):
        origins = laws.origins(np.arange(1, last + 1, dtype=np.uint64))
        assert sum(len(places) for _, places in laws.at(np.unique(origins.frequencies))) > 10
    assert len(steps) < 2 * 100  # 200 rows, those of a cycle once more; each chunk by itself would take 1,100
    kept = RowLaws(table("ppswor"), lambda rows: [row.unreported for row in rows], 64)
    assert kept.origins(np.array([30], dtype=np.uint64)).frequencies[0] <= 30


def test_faults_are_those_of_the_table() -> None:
    laws: RowLaws[list[FrequencyRow]] = RowLaws(table("listed"), list, 1 << 20)
    with pytest.raises(OutsideDomain, match="beyond 63"):
        laws.origins(np.array([3, 64], dtype=np.uint64))
    far: RowLaws[list[FrequencyRow]] = RowLaws(
        FrequencyTable(epsilon=Epsilon("0.5"), delta=Delta("0.01"), inclusion=Ppswor(threshold="1e-9")),
        list,
        9,
    )
    with pytest.raises(OutsideDomain, match="too many"):
        far.origins(np.array([2_000_000], dtype=np.uint64))
