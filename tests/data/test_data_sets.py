"""Data sets of many files: the same records in one file or in many, in a stated order, and faults by their file."""

from __future__ import annotations

import io
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from certdp import InvalidValue, LaplaceSum, Public, Reading, SampledRun, read_records
from certdp.data import open_records
from certdp.data.files import files_of
from certdp.records.weights import record_weights
from certdp.samplers.privacy_constrained import PrivacyConstrained
from tests.support.cases import examples
from tests.support.record_files import npy, parquet_of

MATRIX = np.random.default_rng(5).normal(size=(31, 3))
NAMES = ("a", "b", "c")


def csv(matrix: Any, names: tuple[str, ...] = NAMES) -> bytes:
    return "\n".join([",".join(names), *(",".join(map(repr, row)) for row in matrix.tolist()), ""]).encode()


def table(matrix: Any, names: tuple[str, ...] = NAMES) -> bytes:
    return parquet_of(**{name: matrix[:, place] for place, name in enumerate(names)})


def npz(matrix: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, X=matrix)
    return stream.getvalue()


WRITERS: dict[str, Callable[[Any], bytes]] = {"npy": npy, "npz": npz, "csv": csv, "parquet": table}
FORMATS = st.tuples(st.sampled_from(sorted(WRITERS)), st.sampled_from(["", ".xz"]))
RUN = SampledRun(mechanism=LaplaceSum(scale=Public(20)), sampler=PrivacyConstrained(target=Public(1)))


def write(path: Path, matrix: Any) -> Path:
    content = WRITERS[path.name.removesuffix(".xz").rpartition(".")[2]](matrix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(content, preset=0) if path.name.endswith(".xz") else content)
    return path


def drawn(path: Any, rows: int | None = None) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []

    def put(realisation: Any) -> None:
        found.extend(zip(realisation.weight.tolist(), realisation.probability.tolist(), strict=True))

    with open_records(path) as records:
        record_weights(RUN, records, into=put, rows=rows)
    return found


@settings(examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 31), max_size=8), rows=st.sampled_from([1, 4, None]), data=st.data())
def test_the_same_rows_in_one_file_or_in_many(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], rows: int | None, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    for number, piece in enumerate(np.split(MATRIX, sorted(cuts))):
        ending, compressed = data.draw(FORMATS)
        write(folder / f"{number // 3}" / f"{number:02}.{ending}{compressed}", piece)
    whole = write(folder.parent / f"{folder.name}.npy", MATRIX)
    assert np.array_equal(read_records(folder), MATRIX)
    assert drawn(folder, rows) == drawn(whole)


def test_files_come_in_the_order_given_and_those_of_a_folder_or_a_pattern_by_path(tmp_path: Path) -> None:
    for number, name in enumerate(["b/2.npy", "b/1.npy", "a.npy", "b/c/3.npy"]):
        write(tmp_path / name, np.full((1, 2), float(number)))
    (tmp_path / "b" / "_SUCCESS").touch()
    (tmp_path / "b" / ".part.crc").touch()

    def order(*given: object) -> list[float]:
        return list(read_records([Path(str(one)) for one in given])[:, 0])

    assert order(tmp_path) == [2, 1, 0, 3]
    assert order(tmp_path / "b", tmp_path / "a.npy") == [1, 0, 3, 2]
    assert order(tmp_path / "b" / "[0-9].npy") == [1, 0]
    assert order(tmp_path / "**") == [2, 1, 0, 3]
    assert order(tmp_path / "?") == [1, 0, 3]
    write(tmp_path / "[a].npy", np.full((1, 2), 7.0))
    assert order(tmp_path / "[a].npy") == [7]  # a file of that name, not the pattern


def test_what_is_no_data_set(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    one = write(tmp_path / "one.npy", MATRIX)
    os.link(one, tmp_path / "same.npy")
    os.symlink(one, tmp_path / "linked.npy")
    (tmp_path / "linked").mkdir()
    os.symlink(tmp_path / "empty", tmp_path / "linked" / "folder")
    for given_files, value in (
        ([], "no file"),
        (tmp_path / "empty", str(tmp_path / "empty")),
        (tmp_path / "*.csv", str(tmp_path / "*.csv")),
        (tmp_path / "missing.npy", str(tmp_path / "missing.npy")),
        ([one, one], "twice"),
        ([one, tmp_path / "*e.npy"], "twice"),
        ([one, tmp_path / "linked.npy"], "twice"),
        ([one, tmp_path / "same.npy"], "twice"),
        (tmp_path / "linked", "folder"),
    ):
        with pytest.raises(InvalidValue, match="data: ") as caught:
            read_records(given_files)
        assert value in str(caught.value.value)


def test_no_records_at_all(tmp_path: Path) -> None:
    write(tmp_path / "1.csv", MATRIX[:0])
    write(tmp_path / "2.npy", MATRIX[:0])
    with pytest.raises(InvalidValue, match="at least one record"):
        read_records(tmp_path)


@pytest.mark.parametrize("bad", ["npy", "csv", "parquet"])
def test_a_fault_is_named_by_its_file_and_its_row_there(tmp_path: Path, bad: str) -> None:
    write(tmp_path / "1.npy", MATRIX)
    matrix = MATRIX.copy()
    matrix[2, 1] = np.nan
    path = write(tmp_path / f"2.{bad}", matrix)
    with pytest.raises(InvalidValue) as caught:
        read_records(tmp_path)
    assert str(caught.value.value).startswith("NaN or inf in row 2, column 1")
    assert str(caught.value.value).endswith(str(path)[-60:])


@pytest.mark.parametrize(
    ("name", "content", "value"),
    [
        ("2.csv", csv(MATRIX[:, :2], ("a", "b")), "2 columns"),
        ("2.csv", csv(MATRIX, ("b", "a", "c")), "columns of other names"),
        ("2.parquet", table(MATRIX, ("b", "a", "c")), "columns of other names"),
        ("2.npy", npy(np.zeros(3)), "shape (3,)"),
        ("2.txt", b"1", "2.txt"),
        ("2.csv", b"a,b,c\n1,2,3\n1,2\n", "2 cells in line 3"),
        ("2.csv.xz", lzma.compress(csv(MATRIX))[:-9], "2.csv.xz"),
    ],
)
def test_files_that_do_not_fit_are_refused_by_name(tmp_path: Path, name: str, content: bytes, value: str) -> None:
    write(tmp_path / "1.csv", MATRIX)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidValue) as caught, open_records(tmp_path) as records:
        for _ in records.chunks():
            pass
    assert value in str(caught.value.value)
    assert name in str(caught.value.value)


def test_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    write(tmp_path / "1.npy", MATRIX)
    later = write(tmp_path / "2.npy", MATRIX)
    with open_records(tmp_path) as records:
        write(later, MATRIX[1:])
        with pytest.raises(InvalidValue, match=r"another shape than before, in .*2\.npy"):
            list(records.chunks())


class TestColumns:
    @pytest.mark.parametrize("ending", ["csv", "csv.xz", "parquet", "parquet.xz"])
    @pytest.mark.parametrize("rows", [1, 3, None])
    def test_are_chosen_by_name_in_the_order_stated(self, tmp_path: Path, ending: str, rows: int | None) -> None:
        path = write(tmp_path / f"d.{ending}", MATRIX)
        for names in (["c", "a"], ["b"], ["a", "b", "c"]):
            expected = MATRIX[:, [NAMES.index(name) for name in names]]
            with open_records(path, Reading(columns=names)) as records:
                assert records.columns == len(names)
                assert np.array_equal(np.concatenate(list(records.chunks(rows))), expected)

    def test_of_text_are_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "1.csv").write_text('x,name,y\n1,"a,b",2\n3,,4\n')
        (tmp_path / "2.csv").write_text("y,x\n6,5\n")
        (tmp_path / "3.parquet").write_bytes(parquet_of(y=[8.0], name=["z"], x=[7.0]))
        assert read_records(tmp_path, Reading(columns=["x", "y"])).tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]

    @pytest.mark.parametrize("line", ["1,2", "1,2,3,4", '1,"2,3"', "1,2,x"])
    def test_a_line_of_another_width_shifts_nothing(self, tmp_path: Path, line: str) -> None:
        path = tmp_path / "d.csv"
        path.write_text(f"a,b,c\n1,2,3\n{line}\n")
        with pytest.raises(InvalidValue, match="line 3"):
            read_records(path, Reading(columns=["c"] if "x" in line else ["a"]))

    @pytest.mark.parametrize(
        ("name", "columns", "value"),
        [
            ("d.csv", ["q"], "q"),
            ("d.parquet", ["a", "q"], "q"),
            ("d.csv", ["a", "a"], "a"),
            ("d.csv", [], "[]"),
            ("d.csv", "ab", "ab"),
            ("d.npy", ["a"], "a"),
            ("d.npz", ["a"], "a"),
        ],
    )
    def test_that_are_not_there(self, tmp_path: Path, name: str, columns: Any, value: str) -> None:
        with pytest.raises(InvalidValue) as caught:
            read_records(write(tmp_path / name, MATRIX), Reading(columns=columns))
        assert (caught.value.parameter, caught.value.formatted_value) == ("column", value)

    def test_of_one_name(self, tmp_path: Path) -> None:
        (tmp_path / "d.csv").write_text("a,a\n1,2\n")
        with pytest.raises(InvalidValue, match="column: got a"):
            read_records(tmp_path / "d.csv", Reading(columns=["a"]))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("**/*.csv", ["a/x.csv"]),
        ("*/*.csv", ["a/x.csv"]),
        ("*", ["a/x.csv"]),
        ("_t*/*.csv", ["_temporary/x.csv"]),
        ("_temporary/*.csv", ["_temporary/x.csv"]),
        ("*/_*.csv", ["a/_y.csv"]),
        ("*/_t*/*.csv", ["a/_tried/x.csv"]),
    ],
)
def test_a_wildcard_comes_upon_nothing_that_engines_write_beside_the_data(
    tmp_path: Path, pattern: str, found: list[str]
) -> None:
    for name in ("a/x.csv", "a/_y.csv", "a/_tried/x.csv", "_temporary/x.csv", ".old/x.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n1\n")
    assert [str(file.relative_to(tmp_path)) for file in files_of(tmp_path / pattern)] == found
