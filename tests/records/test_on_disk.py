"""Losses that lie on disk: the same as those held in memory, whose memory does not grow with the records."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import certdp
from certdp import Importance, LaplaceSum, Norm, NormBall, Outside, Public, SampledRun, record_losses
from certdp.accounting.private import InvalidData
from certdp.data import Records, open_records
from certdp.records.on_disk import order_statistics, record_losses_on_disk
from certdp.verification.checker import check
from tests.support.cases import examples
from tests.support.stated import Rows

RUN = SampledRun(
    mechanism=LaplaceSum(scale=Public(10)),
    sampler=Importance(rate=Public("0.1"), norm=Public(1)),
    domain=NormBall(norm=Norm.L1, radius=Public(2)),
)
NUMBERS = st.floats(0, allow_nan=False, allow_infinity=True)


@settings(examples(100))
@given(numbers=st.lists(st.one_of(NUMBERS, st.sampled_from([0.0, -0.0, 1.0])), min_size=1, max_size=60), data=st.data())
def test_numbers_of_given_ranks(numbers: list[float], data: st.DataObject) -> None:
    ranks = data.draw(st.lists(st.integers(0, len(numbers) - 1), max_size=5))
    expected = np.sort(np.array(numbers) + 0.0)[ranks].tolist() if ranks else []
    assert order_statistics(np.array(numbers), ranks) == expected


@pytest.mark.parametrize("outside", list(Outside))
@pytest.mark.parametrize("rows", [1, 7, None])
@pytest.mark.parametrize("records", [1, 2, 41])
def test_the_same_as_in_memory(outside: Outside, rows: int | None, records: int) -> None:
    matrix = np.random.default_rng(records).normal(size=(records, 3))
    held = record_losses(RUN, matrix, outside).reveal()
    lying = record_losses_on_disk(RUN, Records.of(matrix), outside, rows=rows).reveal()
    assert lying.values.tolist() == held.values.tolist()
    assert lying.quantiles == held.quantiles
    assert (lying.records, lying.outside, lying.largest) == (held.records, held.outside, held.largest)
    assert lying.expected_sample_size == held.expected_sample_size


def test_every_record_dropped() -> None:
    found = record_losses_on_disk(RUN, Records.of(np.full((3, 2), 9.0)), Outside.DROP).reveal()
    assert (found.quantiles, found.values.tolist()) == ({}, [0, 0, 0])


def peak(path: Path) -> int:
    with open_records(path) as records:
        tracemalloc.start()
        gc.disable()  # what lies in cycles would stay until they are looked for
        try:
            losses = record_losses_on_disk(RUN, records, rows=5000)
            certdp.owner_certificate(RUN, records, losses=losses)
            return tracemalloc.get_traced_memory()[1]
        finally:
            gc.enable()
            tracemalloc.stop()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_records(tmp_path: Path) -> None:
    matrix = np.random.default_rng(1).normal(size=(1_200_000, 2))
    np.save(tmp_path / "some.npy", matrix[:300_000])
    np.save(tmp_path / "more.npy", matrix)
    peak(tmp_path / "some.npy")  # loads what is loaded once
    assert peak(tmp_path / "more.npy") < peak(tmp_path / "some.npy") + 200_000


def test_an_owners_certificate_of_what_streams(tmp_path: Path) -> None:
    matrix = np.random.default_rng(2).normal(size=(50, 3))
    folder = tmp_path / "d"
    folder.mkdir()
    np.save(folder / "1.npy", matrix[:20])
    np.savetxt(folder / "2.csv", matrix[20:], fmt="%.17g", delimiter=",", header="a,b,c", comments="")
    with open_records(folder) as records:
        losses = record_losses_on_disk(RUN, records)
        content = certdp.owner_certificate(RUN, records, losses=losses)
        fewer: Any = record_losses(RUN, matrix[1:])
        with pytest.raises(InvalidData, match="another number"):
            certdp.owner_certificate(RUN, records, losses=fewer)

    verdict = check(content, Rows(matrix.tolist()))
    assert verdict.accepted
    assert verdict.data_compared
