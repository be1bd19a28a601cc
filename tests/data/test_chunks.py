"""Records that stream: the same as those read whole, for every format, layout and chunk size, in bounded memory."""

from __future__ import annotations

import io
import json
import lzma
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from certdp import InvalidValue, Reading, read_records
from certdp.accounting.private import InvalidData
from certdp.data import Records, open_records
from tests.support.record_files import npy

MATRIX = np.random.default_rng(3).normal(size=(23, 4))
CHUNKS = (1, 2, 7, 22, 23, 1000, None)


def npz(matrix: Any, save: Callable[..., None] = np.savez_compressed) -> bytes:
    stream = io.BytesIO()
    save(stream, y=np.arange(3), X=matrix, Z=matrix * 2)
    return stream.getvalue()


def csv(matrix: Any) -> bytes:
    rows = [",".join(repr(float(x)) for x in row) for row in matrix]
    return "\n".join([",".join(f"c{j}" for j in range(matrix.shape[1])), *rows, ""]).encode()


def table(matrix: Any) -> bytes:
    stream = io.BytesIO()
    columns = {f"c{j}": np.ascontiguousarray(matrix[:, j]) for j in range(matrix.shape[1])}
    parquet.write_table(pyarrow.table(columns), stream, row_group_size=5)
    return stream.getvalue()


WRITERS: dict[str, Callable[[Any], bytes]] = {
    "c.npy": npy,
    "f.npy": lambda matrix: npy(np.asfortranarray(matrix)),
    "c.npz": npz,
    "f.npz": lambda matrix: npz(np.asfortranarray(matrix)),
    "stored.npz": lambda matrix: npz(matrix, np.savez),
    "d.csv": csv,
    "d.parquet": table,
}


@pytest.fixture(params=[f"{name}{ending}" for name in WRITERS for ending in ("", ".xz")])
def put(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Any], Path]:
    name: str = request.param
    content = WRITERS[name.removesuffix(".xz")]

    def write(matrix: Any) -> Path:
        path = tmp_path / name
        path.write_bytes(lzma.compress(content(matrix)) if name.endswith(".xz") else content(matrix))
        return path

    return write


@pytest.fixture
def lines(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "d.csv"
        path.write_bytes(text.encode())
        return path

    return write


Put = Callable[[Any], Path]
Lines = Callable[[str], Path]


def joined(path: Path, rows: int | None, reading: Reading | None = None) -> Any:
    with open_records(path, reading) as records:
        chunks = list(records.chunks(rows))
        assert all(0 < len(chunk) <= (rows or len(chunk)) for chunk in chunks)
        assert all(chunk.flags.c_contiguous and chunk.dtype == np.float64 for chunk in chunks)
        again = np.concatenate(list(records.chunks(rows)))
    assert np.array_equal(np.concatenate(chunks), again)
    return again


def fault(path: Path, rows: int | None, reading: Reading | None = None) -> InvalidValue:
    with pytest.raises(InvalidValue) as caught, open_records(path, reading) as records:
        for _ in records.chunks(rows):
            pass
    return caught.value


@pytest.mark.parametrize("rows", CHUNKS)
def test_chunks_put_together_are_the_matrix(put: Put, rows: int | None) -> None:
    path = put(MATRIX)
    assert np.array_equal(joined(path, rows), MATRIX)
    assert np.array_equal(read_records(path), MATRIX)
    divided = Reading(divide_by=4)
    assert np.array_equal(joined(path, rows, divided), MATRIX / 4)


@pytest.mark.parametrize("rows", CHUNKS)
def test_records_that_are_columns(put: Put, rows: int | None) -> None:
    path = put(MATRIX.T)
    assert np.array_equal(joined(path, rows, Reading(transpose=True)), MATRIX)
    with open_records(path, Reading(transpose=True)) as records:
        assert records.shape == (23, 4)


@pytest.mark.parametrize("rows", [1, 7, None])
@pytest.mark.parametrize("kind", ["uint8", "int16", ">i8", "float32", "bool"])
def test_number_types(tmp_path: Path, kind: str, rows: int | None) -> None:
    matrix = np.random.default_rng(5).integers(0, 100, size=(23, 4)).astype(kind)
    for order in (np.ascontiguousarray, np.asfortranarray):
        path = tmp_path / "d.npy"
        np.save(path, order(matrix))
        assert np.array_equal(joined(path, rows), matrix.astype(np.float64))


def test_shapes_are_known_where_that_is_cheap(put: Put) -> None:
    with open_records(put(MATRIX)) as records:
        assert records.columns == 4
        assert records.shape == (None if ".csv" in records.files[0].name else 23, 4)


@pytest.mark.parametrize("rows", CHUNKS)
@pytest.mark.parametrize("transpose", [False, True])
def test_faults_are_counted_over_the_whole_file(put: Put, rows: int | None, transpose: bool) -> None:
    matrix = MATRIX.copy()
    matrix[17, 2] = np.nan
    matrix[21, 0] = np.inf
    error = fault(put(matrix.T if transpose else matrix), rows, Reading(transpose=transpose))
    assert error.formatted_value == "NaN or inf in row 17, column 2, counted from 0"
    assert error.admissible == "finite numbers"


@pytest.mark.parametrize("rows", [1, 5, None])
def test_integers_beyond_binary64_are_found_late(tmp_path: Path, rows: int | None) -> None:
    matrix = np.ones((12, 2), dtype=np.int64)
    matrix[11, 1] = -(2**60)
    np.save(tmp_path / "d.npy", matrix)
    assert "beyond 2^53" in fault(tmp_path / "d.npy", rows).formatted_value
    (tmp_path / "d.parquet").write_bytes(table(matrix))
    assert "beyond 2^53 in column 2" in fault(tmp_path / "d.parquet", rows).formatted_value


@pytest.mark.parametrize("ending", ["npy", "csv", "npz", "parquet"])
@pytest.mark.parametrize("rows", [1, None])
def test_damage_behind_the_last_record(tmp_path: Path, ending: str, rows: int | None) -> None:
    content = {"npy": npy, "csv": csv, "npz": npz, "parquet": table}[ending](MATRIX)
    path = tmp_path / f"d.{ending}.xz"
    path.write_bytes(lzma.compress(content)[:-9])
    assert fault(path, rows).admissible == "a file compressed with xz"


def test_a_checksum_in_an_archive_counts(tmp_path: Path) -> None:
    content = bytearray(npz(MATRIX, np.savez))
    position = content.index(MATRIX.tobytes())
    content[position + 8] ^= 1
    path = tmp_path / "d.npz"
    path.write_bytes(content)
    error = fault(path, 5)
    assert "BadZipFile" in error.remedy
    assert isinstance(error, InvalidData)
    assert "CRC" in str(error.formatted_finding)


class TestLines:
    @pytest.mark.parametrize("rows", [1, 2, 3, None])
    def test_faults_by_their_line(self, lines: Lines, rows: int | None) -> None:
        for text, value in (
            ("a,b\n1,2\n\n3,4\n5\n", "1 cells in line 5"),
            ("a,b\n1,2\n3,4\n5,6,7\n", "3 cells in line 4"),
            ('"a",c\n1,2\n\n3,4\n5,red\n', "text in line 5, column 2"),
            ('a,b\n1,2\n"3,4\n5,6\n', "a quoted cell that does not end"),
            ("a,b\n1,2\n3,4\r5,6\n", "a carriage return before the end in line 3"),
            ("a,b\n1,2\n3,4\n9007199254740993,1\n", "an integer beyond 2^53 in line 4, column 1"),
        ):
            assert value in fault(lines(text), rows).formatted_value

    @pytest.mark.parametrize("rows", [1, 2, 3, None])
    @pytest.mark.parametrize("ends", ["\n", "\r\n"])
    def test_empty_lines_and_quotes(self, lines: Lines, rows: int | None, ends: str) -> None:
        text = 'a,b\n\n\n\n1,2\n\n"3","4"\n\n\n"5",6'.replace("\n", ends)
        assert joined(lines(text), rows).tolist() == [[1, 2], [3, 4], [5, 6]]

    def test_nothing_but_empty_lines(self, lines: Lines) -> None:
        assert fault(lines("a,b\n\n\n\n"), 1).formatted_value == "a header alone"


class TestRecords:
    @pytest.mark.parametrize("rows", CHUNKS)
    def test_of_a_matrix(self, rows: int | None) -> None:
        for order in (np.ascontiguousarray, np.asfortranarray):
            records = Records.of(order(MATRIX))
            assert np.array_equal(np.concatenate(list(records.chunks(rows))), MATRIX)
        assert records.shape == (23, 4)

    @pytest.mark.parametrize("matrix", [np.empty((0, 3)), np.empty((3, 0)), [[1.0, np.nan]], [1.0], [["a"]]])
    def test_of_none(self, matrix: Any) -> None:
        with pytest.raises(InvalidValue):
            Records.of(matrix)

    @pytest.mark.parametrize("rows", [0, -1])
    def test_chunks_of_nothing(self, rows: int) -> None:
        with pytest.raises(InvalidValue) as caught:
            next(Records.of(MATRIX).chunks(rows))
        assert caught.value.parameter == "rows"


def test_copies_on_disk_have_no_name(put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with open_records(put(MATRIX), Reading(transpose=True)) as records:
        assert len(list(records.chunks(3))) == 2
        assert list(folder.iterdir()) == []


MEASURED = r"""
    import json, re, sys
    from pathlib import Path

    from certdp.data import Reading, open_records

    peaks = []
    for path in sys.argv[1:]:
        with open_records(path, Reading(transpose="across" in path)) as records:
            assert sum(len(chunk) for chunk in records.chunks(1000)) > 1000
        # not the peak of getrusage, which a process inherits from the one that starts it
        peaks.append(int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]))
    print(json.dumps(peaks))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """After small files of every kind, files of 18 MB in memory need at most 8 MB on top."""
    columns = 32

    def write(name: str, rows: int) -> list[Path]:
        matrix = np.random.default_rng(1).integers(0, 2**30, size=(rows, columns)).astype(np.float64)
        folder = tmp_path / name
        folder.mkdir()
        np.save(folder / "d.npy", matrix)
        np.save(folder / "f.npy", np.asfortranarray(matrix))
        np.save(folder / "across.npy", matrix.T.copy())
        np.savez(folder / "d.npz", X=matrix)
        np.savez(folder / "across.npz", X=matrix.T.copy())
        for plain in ("d.npy", "across.npy"):
            (folder / f"{plain}.xz").write_bytes(lzma.compress((folder / plain).read_bytes(), preset=0))
        names = [f"c{j}" for j in range(columns)]
        tables = pyarrow.table({name: matrix[:, j] for j, name in enumerate(names)})
        parquet.write_table(tables, folder / "d.parquet", row_group_size=4000, use_dictionary=False)
        line = ",".join(str(int(x)) for x in matrix[0]) + "\n"
        (folder / "d.csv").write_text(",".join(names) + "\n" + line * (rows // 2))
        return sorted(folder.iterdir())

    small, large = write("small", 5_000), write("large", 70_000)
    assert min(path.stat().st_size for path in large if not path.name.endswith(".xz")) > 9e6
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEASURED), *map(str, small + large)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    peaks = json.loads(ran.stdout)
    before, after = peaks[len(small) - 1], dict(zip(large, peaks[len(small) :], strict=True))
    for path, peak in after.items():
        assert peak - before < 8_000, (path.name, peaks)
