"""Reading records: every format, every number type, and what is refused."""

from __future__ import annotations

import io
import lzma
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest

import certdp
from certdp import InvalidValue, Reading, read_records
from tests.support.record_files import npy, parquet_of

MATRIX = np.array([[1.0, -2.5, 0.0], [3.25, 4.0, 1e-3]])


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def table(matrix: Any) -> bytes:
    native = matrix.astype(matrix.dtype.newbyteorder("="))
    columns = {f"c{j}": np.ascontiguousarray(native[:, j]) for j in range(native.shape[1])}
    return parquet_of(**columns)


def csv(matrix: Any) -> bytes:
    names = ",".join(f"c{j}" for j in range(matrix.shape[1]))
    rows = [",".join(repr(float(x)) for x in row) for row in matrix]
    return "\n".join([names, *rows, ""]).encode()


WRITERS: dict[str, Callable[[Any], bytes]] = {
    "npy": npy,
    "npz": lambda matrix: npz(X=matrix),
    "csv": csv,
    "parquet": table,
}


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def write(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


Put = Callable[[str, bytes], Path]


def refusal(path: Path, reading: Reading | None = None) -> InvalidValue:
    with pytest.raises(InvalidValue) as caught:
        read_records(path, reading)
    error = caught.value
    assert error.admissible
    assert error.remedy
    for part in (error.parameter, error.formatted_value, error.admissible, error.remedy):
        assert part in str(error)
    return error


def refused(path: Path) -> InvalidValue | None:
    """The refusal, or None where a matrix of finite numbers comes back."""
    try:
        records = read_records(path)
    except InvalidValue as error:
        return error
    assert records.ndim == 2
    assert np.isfinite(records).all()
    return None


@pytest.mark.parametrize("ending", ["", ".xz"])
@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format_gives_the_same_matrix(put: Put, suffix: str, ending: str) -> None:
    content = WRITERS[suffix](MATRIX)
    path = put(f"Data.{suffix.upper()}{ending}", lzma.compress(content) if ending else content)
    records = read_records(path)
    assert records.dtype == np.float64
    assert records.flags.c_contiguous
    assert np.array_equal(records, MATRIX)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("kind", ["int16", "int64", "uint8", "uint64", "float16", "float32", "bool", ">f8", ">i4"])
def test_every_number_type_is_read_exactly(put: Put, suffix: str, kind: str) -> None:
    matrix = np.array([[0, 1, 1], [1, 0, 1]]).astype(kind)
    if kind != "bool":
        matrix *= 7
    assert np.array_equal(read_records(put(f"d.{suffix}", WRITERS[suffix](matrix))), matrix.astype(np.float64))


def test_float32_keeps_its_own_value(put: Put) -> None:
    records = read_records(put("d.npy", npy(np.full((1, 1), 0.1, dtype=np.float32))))
    assert records[0, 0] == float(np.float32(0.1)) != 0.1


def test_the_memory_order_of_the_file_does_not_matter(put: Put) -> None:
    records = read_records(put("f.npy", npy(np.asfortranarray(MATRIX))))
    assert records.flags.c_contiguous
    assert np.array_equal(records, MATRIX)


def test_records_in_columns(put: Put) -> None:
    for suffix, writer in WRITERS.items():
        assert np.array_equal(read_records(put(f"t.{suffix}", writer(MATRIX.T)), Reading(transpose=True)), MATRIX)


@pytest.mark.parametrize("bound", [4, "4", 4.0, "8/2"])
def test_dividing_by_a_public_bound(put: Put, bound: Any) -> None:
    assert np.array_equal(read_records(put("d.npy", npy(MATRIX)), Reading(divide_by=bound)), MATRIX / 4)


def test_dividing_bytes_by_their_largest_value_ends_at_one(put: Put) -> None:
    pixels = np.arange(256, dtype=np.uint8).reshape(16, 16)
    records = read_records(put("d.npy", npy(pixels)), Reading(divide_by=255))
    assert records.max() == 1.0
    assert records.min() == 0.0


@pytest.mark.parametrize("bound", ["0", "-1", "nan", "inf", "text", "1e400", "1e-400", "1e-310", "1/0"])
def test_a_bound_that_is_none_is_refused(put: Put, bound: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        read_records(put("d.npy", npy(MATRIX)), Reading(divide_by=bound))
    assert caught.value.parameter == "divide-by"
    assert caught.value.formatted_value == bound
    assert caught.value.admissible


def test_a_bound_that_overflows_is_refused(put: Put) -> None:
    error = refusal(put("d.npy", npy(MATRIX * 10)), Reading(divide_by=3e-308))
    assert error.parameter == "divide-by"
    assert "finite" in error.admissible


class TestArchives:
    def test_x_comes_first(self, put: Put) -> None:
        assert np.array_equal(read_records(put("d.npz", npz(A=MATRIX * 2, X=MATRIX, y=[1, 2]))), MATRIX)

    def test_the_only_matrix_will_do(self, put: Put) -> None:
        assert np.array_equal(read_records(put("d.npz", npz(features=MATRIX, y=[1, 2]))), MATRIX)

    def test_an_array_by_name(self, put: Put) -> None:
        path = put("d.npz", npz(A=MATRIX * 2, X=MATRIX))
        assert np.array_equal(read_records(path, Reading(array="A")), MATRIX * 2)

    def test_several_matrices(self, put: Put) -> None:
        error = refusal(put("d.npz", npz(A=MATRIX, B=MATRIX)))
        assert (error.parameter, error.admissible) == ("array", "one of: A, B")
        assert "--array" in error.remedy

    def test_no_matrix(self, put: Put) -> None:
        error = refusal(put("d.npz", npz(y=[1, 2])))
        assert (error.parameter, error.formatted_value) == ("array", "none named, 0 matrices")

    def test_a_wrong_name(self, put: Put) -> None:
        error = refusal(put("d.npz", npz(A=MATRIX, B=MATRIX)), Reading(array="C"))
        assert (error.parameter, error.formatted_value, error.admissible) == ("array", "C", "one of: A, B")

    def test_an_npy_under_the_wrong_name(self, put: Put) -> None:
        error = refusal(put("d.npz", npy(MATRIX)))
        assert error.admissible == "a well-formed .npz file"
        assert "numpy.savez" in error.remedy

    def test_an_npz_under_the_wrong_name(self, put: Put) -> None:
        assert refusal(put("d.npy", npz(X=MATRIX))).admissible == "a well-formed .npy file"


@pytest.mark.parametrize(
    ("matrix", "value", "admissible"),
    [
        ([[1, np.nan], [2, 3]], "NaN or inf in row 0, column 1", "finite numbers"),
        ([[1, 2], [2, 3], [-np.inf, 0]], "NaN or inf in row 2, column 0", "finite numbers"),
        (np.empty((0, 3)), "shape (0, 3)", "at least one record"),
        (np.empty((3, 0)), "shape (3, 0)", "at least one record and one column"),
        (np.ones(4), "shape (4,)", "one record per row"),
        (np.ones((2, 2, 2)), "shape (2, 2, 2)", "one record per row"),
        (np.float64(1), "shape ()", "one record per row"),
        ([["a", "b"]], "type <U1", "numbers"),
        (np.array([[1 + 2j]]), "type complex128", "numbers"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "type datetime64", "numbers"),
        (np.array([[1, 2**53 + 1]]), "beyond 2^53", "binary64 holds exactly"),
        (np.array([[1, -(2**60)]]), "beyond 2^53", "binary64 holds exactly"),
        (np.array([[2**64 - 1]], dtype=np.uint64), "beyond 2^53", "binary64 holds exactly"),
        (np.ones((2, 2), dtype=np.longdouble), "float128", "double precision"),
    ],
)
def test_a_matrix_that_is_none_is_refused(put: Put, matrix: Any, value: str, admissible: str) -> None:
    error = refusal(put("d.npy", npy(np.asarray(matrix))))
    assert error.parameter == "data"
    assert value in error.formatted_value
    assert admissible in error.admissible
    assert ("reshape(" in error.remedy) == ("one record per row" in admissible)


def test_the_largest_exact_integer_is_read(put: Put) -> None:
    assert read_records(put("d.npy", npy(np.array([[2**53, -(2**53)]]))))[0, 0] == 2.0**53


def test_pickles_are_never_opened(put: Put, tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "opened",)

    stream = io.BytesIO()
    np.save(stream, np.array([[Evil()]], dtype=object), allow_pickle=True)
    assert "allow_pickle=False" in refusal(put("d.npy", stream.getvalue())).remedy
    stream = io.BytesIO()
    np.savez(stream, X=np.array([[Evil()]], dtype=object))
    assert "allow_pickle=False" in refusal(put("d.npz", stream.getvalue())).remedy
    assert not (tmp_path / "opened").exists()


class TestFiles:
    def test_missing(self, tmp_path: Path) -> None:
        error = refusal(tmp_path / "none.npy")
        assert error.parameter == "data"
        assert error.value == str(tmp_path / "none.npy")
        assert "No such file" in error.remedy

    def test_a_folder(self, tmp_path: Path) -> None:
        assert refusal(tmp_path).admissible == "a folder with files"

    @pytest.mark.parametrize("name", ["d.txt", "d.npyz", "d.npy.gz", "d.xz", "d"])
    def test_an_unknown_format(self, put: Put, name: str) -> None:
        path = put(name, lzma.compress(b"1,2"))
        error = refusal(path)
        assert error.value == str(path)
        assert ".npy, .npz, .csv, .parquet" in error.admissible

    def test_damaged_xz(self, put: Put) -> None:
        whole = lzma.compress(npy(np.random.default_rng(1).random((50, 3))))
        for content in (b"", whole[:-9], whole[:40] + b"????" + whole[44:], npy(MATRIX)):
            error = refusal(put("d.npy.xz", content))
            assert error.admissible == "a file compressed with xz"

    @pytest.mark.parametrize("suffix", ["npy", "npz", "parquet"])
    def test_a_truncated_file(self, put: Put, suffix: str) -> None:
        whole = WRITERS[suffix](MATRIX)
        for size in (0, 5, len(whole) // 2, len(whole) - 1):
            error = refusal(put(f"d.{suffix}", whole[:size]))
            assert error.admissible == f"a well-formed .{suffix} file"

    def test_a_header_that_promises_too_much(self, put: Put) -> None:
        content = npy(np.ones((100, 100)))
        for shape in (b"(999, 999)", b"(9**9, 99)", b"(9999999,)"):
            error = refusal(put("d.npy", content.replace(b"(100, 100)", shape)))
            assert error.admissible == "a well-formed .npy file"

    @pytest.mark.parametrize("suffix", WRITERS)
    def test_damage_anywhere_gives_a_matrix_or_a_clear_refusal(self, put: Put, suffix: str) -> None:
        whole = WRITERS[suffix](np.arange(12.0).reshape(4, 3))
        draw = random.Random(5)
        for _ in range(150):
            damaged = bytearray(whole)
            for _ in range(draw.choice([1, 1, 2, 8])):
                damaged[draw.randrange(len(damaged))] = draw.randrange(256)
            error = refused(put(f"d.{suffix}", bytes(damaged)))
            assert error is None or (error.parameter in {"data", "array"} and error.admissible and error.remedy)


class TestCsv:
    def read(self, put: Put, text: str) -> Any:
        return read_records(put("d.csv", text.encode())).tolist()

    @pytest.mark.parametrize(
        "text",
        [
            "a,b\n1,2\n3,4\n",
            "a,b\r\n1,2\r\n3,4\r\n",
            "a,b\n1,2\n3,4",
            "\ufeffa,b\n1,2\n3,4\n",
            '"a, or so","b"\n"1",2\n3,"4"\n',
            "a,b\n1,2\n\n3,4\n\n",
            "a,b\n 1, 2.0\n3e0 ,+4\n",
            "a,2020\n1,2\n3,4\n",
        ],
    )
    def test_what_is_read(self, put: Put, text: str) -> None:
        assert self.read(put, text) == [[1, 2], [3, 4]]

    def test_one_column_stays_a_matrix(self, put: Put) -> None:
        assert self.read(put, "a\n1\n2\n") == [[1], [2]]

    @pytest.mark.parametrize(
        ("text", "value", "remedy"),
        [
            ("1,2\n3,4\n", "a first line of numbers", "the columns' names"),
            ("", "an empty first line", "the columns' names"),
            ("a,b\n", "a header alone", "records"),
            ("a,b\n1,2\n3\n", "1 cells in line 3", "Correct that line"),
            ("a,b\n1,2,3\n", "3 cells in line 2", "Correct that line"),
            ("a,b,c\n1,2\n3,4\n", "2 cells in line 2", "Correct that line"),
            ("a,b\n1,2\n3,\n", "a missing value in line 3, column 2", "Correct that line"),
            ("a,b\n1,red\n", "text in line 2, column 2", "Correct that line"),
            ("a,b\n1,2#3\n", "text in line 2, column 2", "Correct that line"),
            ("a;b\n1;2\n", "text in line 2, column 1", "Correct that line"),
            ("a,b\n1,1_0\n", "text in line 2, column 2", "Correct that line"),
            ('"two\nlines",b\n1,2\n3,x\n', "a quoted cell that does not end", "Correct that line"),
            ("a,b\r1,2\r3,4\r", "a carriage return before the end in the first line", "Correct that line"),
            ("a,b\n1,9007199254740993\n", "an integer beyond 2^53 in line 2, column 2", "Correct that line"),
            ("a,b\n1,nan\n", "NaN or inf in row 0, column 1", "Remove or impute"),
            ("a,b\n1,1e999\n", "NaN or inf in row 0, column 1", "Remove or impute"),
        ],
    )
    def test_what_is_refused(self, put: Put, text: str, value: str, remedy: str) -> None:
        error = refusal(put("d.csv", text.encode()))
        assert error.parameter == "data"
        assert value in error.formatted_value
        assert remedy in error.remedy

    def test_other_encodings(self, put: Put) -> None:
        assert refusal(put("d.csv", "größe\n1\n".encode("latin-1"))).admissible == "a well-formed .csv file"


class TestParquet:
    def test_columns_of_different_types(self, put: Put) -> None:
        content = parquet_of(
            a=np.array([1, 2], dtype=np.int8), b=[True, False], c=np.array([0.5, 1.5], dtype=np.float32)
        )
        assert read_records(put("d.parquet", content)).tolist() == [[1, 1, 0.5], [2, 0, 1.5]]

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            (["x", "y"], "column 2 of type object"),
            ([1.0, None], "missing values in column 2"),
            (pyarrow.array([1, None], pyarrow.int64()), "missing values in column 2"),
            ([2**53 + 1, 0], "an integer beyond 2^53 in column 2"),
            (np.array(["2020", "2021"], dtype="datetime64[s]"), "column 2 of type datetime64"),
        ],
    )
    def test_what_is_refused(self, put: Put, column: Any, value: str) -> None:
        error = refusal(put("d.parquet", parquet_of(a=[1.0, 2.0], b=column)))
        assert error.parameter == "data"
        assert value in error.formatted_value

    def test_no_column(self, put: Put) -> None:
        assert refusal(put("d.parquet", parquet_of())).parameter == "data"


def test_the_example_is_the_same_everywhere() -> None:
    example = certdp.example_records()
    assert example.shape == (1000, 10)
    assert np.array_equal(example, certdp.example_records())
    assert abs(float(np.mean(example**2)) - 0.1) < 0.005
