"""Weights of data sets of many files: those of one, however often the work was interrupted, and of no other run."""

from __future__ import annotations

import math
import os
import signal
import stat
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from certdp import InvalidValue, LaplaceSum, Norm, NormBall, Outside, Public, SampledRun
from certdp.data import Reading, Records, open_records
from certdp.individual import RecordWeights, WeightsByFile, weights_by_file
from certdp.records import by_file
from certdp.records.weights import record_weights
from certdp.samplers.privacy_constrained import PrivacyConstrained
from tests.support.children import ended, in_child

RECORDS = np.random.default_rng(6).normal(size=(60, 3)) * np.linspace(0.01, 3, 60)[:, None]
CUTS = (13, 14, 40)


class Stopped(Exception):
    """What interrupts the work."""


def run_of(target: str = "1.5") -> SampledRun:
    return SampledRun(
        mechanism=LaplaceSum(scale=Public(4)),
        sampler=PrivacyConstrained(target=Public(target)),
        domain=NormBall(norm=Norm.L1, radius=Public(5)),
    )


def save(folder: Path, cuts: tuple[int, ...] = CUTS) -> Path:
    folder.mkdir()
    for number, piece in enumerate(np.split(RECORDS, cuts)):
        np.save(folder / f"{number}.npy", piece)
    return folder


def weighed(data: Path, into: Path, run: SampledRun | None = None, **options: Any) -> WeightsByFile:
    with open_records(data, options.pop("reading", None)) as records:
        return weights_by_file(run or run_of(), records, into, **options).reveal()


def figures(found: RecordWeights) -> object:
    return (
        *(found.records, found.outside, found.expected_sample_size, found.largest_loss),
        *(found.gap, found.reach),
    )


def read(found: WeightsByFile) -> Any:
    tables = [parquet.read_table(file) for file in found.files]
    return np.concatenate([np.column_stack([t["weight"].to_numpy(), t["probability"].to_numpy()]) for t in tables])


def whole(outside: Outside = Outside.CLIP) -> tuple[object, Any]:
    kept: list[Any] = []
    found = record_weights(run_of(), RECORDS, outside, into=kept.append).reveal()
    columns = [np.concatenate([getattr(one, name) for one in kept]) for name in ("weight", "probability")]
    return figures(found), np.column_stack(columns)


@given(cuts=st.sets(st.integers(1, 59), max_size=5), outside=st.sampled_from(Outside))
def test_however_the_records_are_shared_among_files(
    tmp_path_factory: pytest.TempPathFactory, cuts: set[int], outside: Outside
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    found = weighed(save(folder / "data", tuple(sorted(cuts))), folder / "weights", outside=outside)
    expected, rows = whole(outside)
    assert figures(found.weights) == expected
    assert (read(found) == rows).all()
    assert found.taken_up == 0
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in (folder / "weights").iterdir())


@pytest.mark.parametrize("stop", range(8))
def test_interrupted_at_each_file_that_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int) -> None:
    """The weights of each data file appear by one renaming, what was counted of them by another."""
    data, into, calls = save(tmp_path / "data"), tmp_path / "weights", iter(range(100))
    replace: Callable[..., None] = os.replace

    def interrupted(*names: object) -> None:
        if next(calls) == stop:
            raise Stopped
        replace(*names)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(Stopped):
        weighed(data, into)
    assert not list(into.glob(".*.certdp"))
    found = weighed(data, into)
    assert found.taken_up == stop // 2
    expected, rows = whole()
    assert figures(found.weights) == expected
    assert (read(found) == rows).all()
    assert weighed(data, into).taken_up == 4


class TestWhatIsNotTakenUp:
    @pytest.fixture
    def done(self, tmp_path: Path) -> tuple[Path, Path]:
        data, into = save(tmp_path / "data"), tmp_path / "weights"
        weighed(data, into)
        return data, into

    def test_a_data_file_of_another_content(self, done: tuple[Path, Path]) -> None:
        data, into = done
        np.save(data / "1.npy", 2 * np.load(data / "1.npy"))
        found = weighed(data, into)
        assert found.taken_up == 3
        norms = np.minimum(np.abs(np.load(data / "1.npy")).sum(axis=1), 5)
        weight = parquet.read_table(found.files[1])["weight"].to_numpy()
        assert np.log1p(np.expm1(norms / 4 * weight) / weight) == pytest.approx(1.5)

    @pytest.mark.parametrize(
        "options",
        [
            {"run": run_of("1.25")},
            {"outside": Outside.DROP},
            {"reading": Reading(divide_by="1.5")},
            {"run": run_of().on(NormBall(norm=Norm.L1, radius=Public(4)))},
        ],
    )
    def test_another_run_or_reading(self, done: tuple[Path, Path], options: dict[str, Any]) -> None:
        data, into = done
        assert weighed(data, into, **options).taken_up == 0

    def test_weights_that_were_changed_or_lost(self, done: tuple[Path, Path]) -> None:
        data, into = done
        first, second, *_ = sorted(into.glob("*.parquet"))
        before = first.read_bytes()
        first.write_bytes(before[:-1])
        second.unlink()
        assert weighed(data, into).taken_up == 2
        assert first.read_bytes() == before

    @pytest.mark.parametrize("keep", [0, 40, -1])
    def test_counts_that_are_damaged(self, done: tuple[Path, Path], keep: int) -> None:
        data, into = done
        counted = min(into.glob(".*.part"))
        counted.write_bytes(counted.read_bytes()[:keep])
        assert weighed(data, into).taken_up == 3

    def test_counts_of_another_data_file(self, done: tuple[Path, Path]) -> None:
        data, into = done
        first, second, *_ = sorted(into.glob(".*.part"))
        first.write_bytes(second.read_bytes())
        assert weighed(data, into).taken_up == 3

    def test_weights_of_a_content_that_was_there_in_between(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data, into = save(tmp_path / "data"), tmp_path / "weights"
        file, digest = data / "1.npy", by_file._digest
        before, after = file.read_bytes(), 2 * np.load(file)

        def meddling(one: Path) -> str:
            found = digest(one)
            if one == file:
                np.save(file, after)
            return found

        monkeypatch.setattr(by_file, "_digest", meddling)
        with pytest.raises(InvalidValue, match="stay as they are"):
            weighed(data, into)
        assert [file.name for file in into.glob("*.parquet")] == ["00000-0.npy.parquet"]
        monkeypatch.setattr(by_file, "_digest", digest)
        file.write_bytes(before)
        found = weighed(data, into)
        assert found.taken_up == 1
        assert (read(found) == whole()[1]).all()

    def test_weights_that_another_call_put_there_meanwhile(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Two calls into one folder: what is taken up is what this one wrote, whatever lies there."""
        data, into, other = save(tmp_path / "data"), tmp_path / "weights", tmp_path / "other"
        weighed(data, other, run_of("1.25"))
        replace: Callable[..., None] = os.replace

        def overtaken(draft: Path, target: Path) -> None:
            replace(draft, target)
            if target.suffix == ".parquet":
                target.write_bytes((other / target.name).read_bytes())

        with monkeypatch.context() as meddling:
            meddling.setattr(os, "replace", overtaken)
            weighed(data, into)
        assert weighed(data, into).taken_up == 0

    def test_a_file_that_is_gone(self, tmp_path: Path) -> None:
        data = save(tmp_path / "data")
        with open_records(data) as records:
            (data / "2.npy").unlink()
            with pytest.raises(InvalidValue, match=r"2\.npy"):
                weights_by_file(run_of(), records, tmp_path / "weights")

    def test_another_version(self, done: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        data, into = done
        monkeypatch.setattr("certdp.records.by_file.version", lambda _: "99")
        assert weighed(data, into).taken_up == 0


def test_an_interrupted_call_leaves_no_weights_of_another_run(tmp_path: Path) -> None:
    data, into = save(tmp_path / "data"), tmp_path / "weights"
    weighed(data, into)

    def stop(done: int) -> None:
        if done == 14:
            raise Stopped

    with pytest.raises(Stopped):
        weighed(data, into, run_of("1.25"), progress=stop)
    assert [file.name for file in into.glob("*.parquet")] == ["00000-0.npy.parquet"]
    assert weighed(data, into, run_of("1.25")).taken_up == 1


def test_an_interrupted_call_leaves_no_weights_of_another_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, into = save(tmp_path / "data"), tmp_path / "weights"
    weighed(data, into)
    np.save(data / "1.npy", 2 * np.load(data / "1.npy"))

    def stopped(*_: object) -> None:
        raise Stopped

    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(Stopped):
        weighed(data, into)
    left = [file.name for file in sorted(into.glob("*.parquet"))]
    assert left == ["00000-0.npy.parquet", "00002-2.npy.parquet", "00003-3.npy.parquet"]


@pytest.mark.parametrize("taken_up", [False, True])
@pytest.mark.parametrize("change", [Path.unlink, lambda file: np.save(file, RECORDS)])
def test_a_file_that_changes_after_its_digest_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object], taken_up: bool
) -> None:
    data, into, digest = save(tmp_path / "data"), tmp_path / "weights", by_file._digest
    if taken_up:
        weighed(data, into)

    def meddling(file: Path) -> str:
        found = digest(file)
        if file == data / "3.npy":
            change(file)
        return found

    monkeypatch.setattr(by_file, "_digest", meddling)
    with pytest.raises(InvalidValue, match=r"stay as they are|3\.npy"):
        weighed(data, into)


class TestRefusals:
    def test_a_folder_with_something_else(self, tmp_path: Path) -> None:
        data, into = save(tmp_path / "data"), tmp_path / "weights"
        into.mkdir()
        (into / "notes.txt").write_text("mine")
        with pytest.raises(InvalidValue, match="an empty folder"):
            weighed(data, into)
        assert [file.name for file in into.iterdir()] == ["notes.txt"]

    def test_weights_of_a_data_set_with_more_files(self, tmp_path: Path) -> None:
        data, into = save(tmp_path / "data"), tmp_path / "weights"
        weighed(data, into)
        (data / "3.npy").unlink()
        with pytest.raises(InvalidValue, match=r"3\.npy\.parquet"):
            weighed(data, into)

    def test_a_file_in_place_of_the_folder(self, tmp_path: Path) -> None:
        data, into = save(tmp_path / "data"), tmp_path / "weights"
        into.write_text("mine")
        with pytest.raises(InvalidValue, match="path"):
            weighed(data, into)

    def test_a_matrix_in_memory(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidValue, match="records of files"):
            weights_by_file(run_of(), Records.of(RECORDS), tmp_path / "weights")
        assert not (tmp_path / "weights").exists()

    def test_a_file_that_is_written_to_meanwhile(self, tmp_path: Path) -> None:
        data, into = save(tmp_path / "data"), tmp_path / "weights"

        def meddle(done: int) -> None:
            if done == 13:
                np.save(data / "0.npy", 3 * RECORDS[:13])

        with pytest.raises(InvalidValue, match="stay as they are"):
            weighed(data, into, progress=meddle)
        assert weighed(data, into).taken_up == 0

    def test_a_fault_names_its_file(self, tmp_path: Path) -> None:
        data, into = save(tmp_path / "data"), tmp_path / "weights"
        np.save(data / "2.npy", np.full((4, 3), np.nan))
        with pytest.raises(InvalidValue, match=r"2\.npy"):
            weighed(data, into)
        assert [file.name for file in sorted(into.glob("*.parquet"))] == ["00000-0.npy.parquet", "00001-1.npy.parquet"]


def _weigh(data: Path, into: Path, killed_at: float = math.inf) -> int:
    """Weigh, and count the calls; at the `killed_at`-th the process is killed."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls >= killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    weighed(data, into)
    sys.setprofile(None)
    return calls


@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.soundness)])
def test_killed_at_random_calls_and_altered_in_between(kills: int, tmp_path: Path) -> None:
    """What is there in the end is what a call makes that nothing interrupts, of the files as they are in the end."""
    generator = np.random.default_rng(kills)
    data, into = save(tmp_path / "data"), tmp_path / "weights"
    weighed(data, tmp_path / "first")  # which loads what it needs
    calls = _weigh(data, tmp_path / "second")
    killed = 0
    for _ in range(kills):
        killed += ended(in_child(partial(_weigh, data, into, int(generator.integers(1, calls))))) < 0
        if generator.random() < 0.3:  # as long, and as old, as before
            file = data / f"{generator.integers(0, len(CUTS) + 1)}.npy"
            before, records = file.stat(), np.load(file)
            np.save(file, records[::-1] * generator.uniform(0.5, 1))
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    found, expected = weighed(data, into), weighed(data, tmp_path / "anew")
    assert killed
    assert weighed(data, into).taken_up == len(CUTS) + 1
    assert figures(found.weights) == figures(expected.weights)
    assert [file.read_bytes() for file in found.files] == [file.read_bytes() for file in expected.files]
    assert sorted(path.name for path in into.iterdir()) == sorted(path.name for path in (tmp_path / "anew").iterdir())


def test_progress_counts_what_was_there_before(tmp_path: Path) -> None:
    data, into = save(tmp_path / "data"), tmp_path / "weights"
    seen: list[int] = []
    weighed(data, into)
    weighed(data, into, progress=seen.append)
    assert seen == [13, 14, 40, 60]


def test_of_several_files_some_may_have_no_records(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for number, rows in enumerate(("1,2,3\n", "", "4,5,6\n")):
        (data / f"{number}.csv").write_text(f"a,b,c\n{rows}")
    found = weighed(data, tmp_path / "weights")
    assert found.weights.records == 2
    assert [len(parquet.read_table(file)) for file in found.files] == [1, 0, 1]
    assert weighed(data, tmp_path / "weights").taken_up == 3
