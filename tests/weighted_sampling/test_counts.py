"""Keys and counts in memory and in files: the same in every form, and faults by their row."""

from __future__ import annotations

import io
import lzma
import os
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from certdp import InvalidType, InvalidValue
from certdp.accounting.private import InvalidData
from certdp.weighted_sampling import KeyCounts, count_tables, counts, open_counts
from certdp.weighted_sampling.frequencies import capped
from tests.support.cases import examples

LARGEST = 1 << 53


@pytest.mark.parametrize("largest", [1, 7, LARGEST, 2**64 - 1, 2**64, 10**30])
def test_a_public_largest_frequency_may_be_any(largest: int) -> None:
    counts_of = np.array([1, 7, 8, LARGEST], dtype=np.uint64)
    assert capped(counts_of, largest).tolist() == [min(count, largest) for count in counts_of.tolist()]
    assert capped(counts_of, None) is counts_of


KEYS = [
    b"the",
    b"",
    b'"quoted"',
    b'a"b',
    b"comma,",
    b"nul\0",
    b"\xff\xfe",
    "größe".encode(),
    b" blank ",
    b"NULL",
    b"nan",
]
DATA = {key: place * 1000 + 1 for place, key in enumerate(KEYS)}
IN_CSV_ALONE = [b"tab\t", b"two\rlines"]
IN_PARQUET_ALONE = [b"two\nlines", b"two\r\nlines"]


def tsv(data: dict[bytes, int]) -> bytes:
    return b"".join(key + b"\t" + str(count).encode() + b"\n" for key, count in data.items())


def csv(data: dict[bytes, int]) -> bytes:
    rows = [b'"' + key.replace(b'"', b'""') + b'",' + str(count).encode() for key, count in data.items()]
    return b"\r\n".join([b"key,count", *rows])


def table(data: dict[bytes, int]) -> bytes:
    stream = io.BytesIO()
    columns = {"key": pa.array(list(data), pa.binary()), "count": pa.array(list(data.values()), pa.int64())}
    parquet.write_table(pa.table(columns), stream, row_group_size=4)
    return stream.getvalue()


FORMATS: dict[str, Callable[[dict[bytes, int]], bytes]] = {"d.tsv": tsv, "d.csv": csv, "d.parquet": table}


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, bytes], Path]:
    def write(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(lzma.compress(content) if name.endswith(".xz") else content)
        return path

    return write


Put = Callable[[str, bytes], Path]


def read(path: Path, **options: Any) -> dict[bytes, int]:
    """All of a file; chunk after chunk, twice."""
    with open_counts(path, **options) as stream:
        chunks = list(stream.chunks())
        again = [pairs(chunk) for chunk in stream.chunks()]
    found: dict[bytes, int] = {}
    for chunk, once_more in zip(chunks, again, strict=True):
        assert pairs(chunk) == once_more
        assert not set(once_more) & set(found)
        found.update(once_more)
    return found


def pairs(chunk: KeyCounts) -> dict[bytes, int]:
    assert chunk.counts.dtype == np.uint64
    assert str(chunk.keys.type) in ("large_string", "large_binary")
    keys = chunk.keys.cast(pa.large_binary()).to_pylist()
    assert len(set(keys)) == len(keys) == len(chunk)
    return dict(zip(keys, chunk.counts.tolist(), strict=True))


def fault(path: Path, **options: Any) -> InvalidValue:
    with pytest.raises(InvalidValue) as caught:
        read(path, **options)
    return caught.value


@pytest.mark.parametrize("ending", ["", ".xz"])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("aggregate", [False, True])
def test_every_format_gives_the_same(put: Put, name: str, ending: str, aggregate: bool) -> None:
    path = put(name + ending, FORMATS[name](DATA))
    assert read(path, aggregate=aggregate) == DATA


@settings(examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.dictionaries(st.binary(max_size=12), st.integers(1, LARGEST), max_size=30))
def test_any_bytes_are_keys_in_csv_and_parquet(tmp_path: Path, data: dict[bytes, int]) -> None:
    for name, write in (("d.csv", csv), ("d.parquet", table)):
        path = tmp_path / name
        path.write_bytes(write(data))
        if name == "d.csv" and any(b"\n" in key for key in data):
            assert "keys with newlines take Parquet" in fault(path).remedy
        else:
            assert read(path) == data


def test_keys_with_tabs_and_line_ends(put: Put) -> None:
    data = DATA | dict.fromkeys(IN_CSV_ALONE, 5)
    assert read(put("d.csv", csv(data))) == data
    for key in IN_PARQUET_ALONE:
        assert read(put("d.parquet", table(data | {key: 5}))) == data | {key: 5}
        assert "in line 2;" in fault(put("d.csv", csv({key: 5}))).remedy


def test_many_small_chunks(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_tables, "_BLOCK", 64)
    monkeypatch.setattr(count_tables, "_ROWS", 3)
    monkeypatch.setattr(counts, "_ROWS", 3)
    data = {f"key {n}".encode(): n + 1 for n in range(200)}
    for name, write in FORMATS.items():
        path = put(name, write(data))
        for aggregate in (False, True):
            with open_counts(path, aggregate=aggregate) as stream:
                assert len(list(stream.chunks())) > 20
            assert read(path, aggregate=aggregate) == data


@pytest.mark.parametrize("name", FORMATS)
def test_a_key_in_two_chunks_is_found_at_the_end(put: Put, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(count_tables, "_BLOCK", 64)
    monkeypatch.setattr(count_tables, "_ROWS", 3)
    data = {f"key {n}".encode(): n + 1 for n in range(100)}
    if name == "d.parquet":
        columns = [[*data, b"key 3"], [*data.values(), 7]]
        parquet.write_table(pa.table(columns, names=["key", "count"]), put(name, b""))
        path = put("other", b"").with_name(name)
    else:
        path = put(name, FORMATS[name](data) + (b"\r\nkey 3,7" if name == "d.csv" else b"key 3\t7\n"))
    seen = 0
    with open_counts(path) as stream:
        chunks = stream.chunks()
        while seen < 101:
            seen += len(next(chunks))
        assert seen == 101
        with pytest.raises(InvalidValue, match="the same one in rows 4 and 101") as caught:
            next(chunks)
    assert "aggregate" in caught.value.remedy
    assert read(path, aggregate=True) == data | {b"key 3": 4 + 7}


def test_raw_keys_are_counted(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_tables, "_BLOCK", 64)
    monkeypatch.setattr(counts, "_ROWS", 5)
    keys = [f"q{n % 7}".encode() for n in range(300)] + [b"", b"", b'"', b"\xff"]
    expected = dict(Counter(keys))
    assert read(put("d.tsv", b"\n".join(keys)), aggregate=True) == expected
    rows = (b'"' + key.replace(b'"', b'""') + b'"\n' for key in keys)
    assert read(put("d.csv", b"query\n" + b"".join(rows)), key="query", aggregate=True) == expected
    parquet.write_table(pa.table({"query": keys}), put("d.parquet", b""))
    assert read(put("x", b"").with_name("d.parquet"), aggregate=True) == expected
    log = b"time\tquery\tuser\n" + b"".join(b"1\t" + key + b"\tu\n" for key in keys)
    assert read(put("log.tsv", log), key="query", aggregate=True) == expected


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n", b"key\tcount\n", b"key\tcount"])
@pytest.mark.parametrize("ending", ["", ".xz"])
def test_no_rows_are_no_chunks(put: Put, content: bytes, ending: str) -> None:
    assert read(put(f"d.tsv{ending}", content)) == {}
    assert read(put(f"d.csv{ending}", content.replace(b"\t", b","))) == {}
    assert read(put(f"d.parquet{ending}", table({}))) == {}


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r", b"\n\n"])
def test_a_single_row(put: Put, end: bytes) -> None:
    assert read(put("a.tsv", b"the\t5" + end)) == {b"the": 5}
    assert read(put("b.csv", b'key,count\r\n"the",5' + end)) == {b"the": 5}
    empty = {b"": 1} if end == b"\n\n" else {}
    assert read(put("c.tsv", b"the" + end), aggregate=True) == {b"the": 1} | empty
    assert read(put("d.csv", b'""' + end), aggregate=True) == {b"": 1 + len(empty)}


def test_empty_lines_are_empty_keys_where_keys_stand_alone(put: Put) -> None:
    for content, times in ((b"\n", 1), (b"\n\n", 2), (b"\r\n\r\n", 2)):
        assert read(put("a.tsv", content), aggregate=True) == {b"": times}
    assert read(put("a.tsv", b""), aggregate=True) == {}
    assert read(put("b.tsv", b"\nthe\n\n"), aggregate=True) == {b"": 2, b"the": 1}
    assert read(put("c.tsv", b"the\t5\n\nof\t3\n")) == {b"the": 5, b"of": 3}


def test_headers(put: Put) -> None:
    assert read(put("a.tsv", b"the\t5\nof\t3\n")) == {b"the": 5, b"of": 3}
    assert read(put("b.tsv", b"\xef\xbb\xbfthe\t5\n")) == {b"the": 5}
    assert read(put("c.csv", b"\xef\xbb\xbfkey,count\nthe,5\n")) == {b"the": 5}
    assert read(put("d.csv", b"count,key\n5,the\n")) == {b"the": 5}
    assert read(put("e.csv", b"other,count,key\nx,5,the\n")) == {b"the": 5}
    assert read(put("f.csv", b"word,n\nthe,5\n"), key="word") == {b"the": 5}
    assert read(put("f.csv", b"n,word\n5,the\n"), count="n") == {b"the": 5}
    assert read(put("g.csv", b"x,word,n\n,the,5\n"), key="word", count="n") == {b"the": 5}
    assert read(put("h.csv", b'\n"two\rlines","n"\nthe,5\n'), key="two\rlines", count="n") == {b"the": 5}
    assert read(put("j.csv", b"x,x,key,count\n1,2,the,5\n")) == {b"the": 5}
    assert read(put("k.csv", b"\xff,key,count\n1,the,5\n")) == {b"the": 5}
    assert read(put("l.csv", "größe,n\nthe,5\n".encode()), key="größe") == {b"the": 5}
    assert read(put("i.csv", b"key,5\n")) == {b"key": 5}  # not a header: its second cell is a count


@pytest.mark.parametrize(
    ("content", "options", "value"),
    [
        (b"word,n\nthe,5\n", {}, "another value in row 1"),
        (b"word,n\nthe,5\n", {"key": "term"}, "term"),
        (b"word,n\nthe,5\n", {"key": "word", "count": "m"}, "m"),
        (b"word,n,m\nthe,5,6\n", {"key": "word"}, "3 columns of which"),
        (b"the,5,6\n", {}, "3 columns in"),
        (b"the\nof\n", {}, "1 columns in"),
        (b"key,key,count\nthe,a,5\n", {"key": "key"}, "key"),
    ],
)
def test_columns_that_are_not_there(put: Put, content: bytes, options: dict[str, str], value: str) -> None:
    error = fault(put("d.csv", content), **options)
    assert value in str(error.value)
    assert error.remedy or "columns" in error.admissible


BAD_COUNTS = [
    "0",
    "-3",
    "1.5",
    "nan",
    "",
    "inf",
    "9007199254740993",
    "1e300",
    "five",
    "1_000",
    "0x10",
    "٣",
    "99999999999999999999999",
]


@pytest.mark.parametrize("bad", BAD_COUNTS)
@pytest.mark.parametrize("row", [1, 7, 150])
def test_bad_counts_in_text_are_named_by_row(put: Put, monkeypatch: pytest.MonkeyPatch, bad: str, row: int) -> None:
    monkeypatch.setattr(count_tables, "_BLOCK", 256)
    lines = [f"key {n}\t{n + 1}\n" for n in range(200)]
    lines[row - 1] = f"wrong\t{bad}\n"
    for aggregate in (False, True):
        error = fault(put("d.tsv", "".join(lines).encode()), aggregate=aggregate)
        assert error.parameter == "count"
        assert f"in row {row}" in str(error.value)
        assert error.admissible == "a whole number from 1 to 2^53"


@pytest.mark.parametrize("good", ["5", "005", " 5", "5 ", "5.0", "5.", "+5", "5e0", "0.5e1", "00000000000000000000005"])
def test_counts_in_text(put: Put, good: str) -> None:
    assert read(put("d.tsv", f"the\t{good}\n".encode())) == {b"the": 5}


@given(st.lists(st.integers(1, LARGEST), min_size=1, max_size=20))
def test_written_counts_are_exact(values: list[int]) -> None:
    column = pa.array([str(value).encode() for value in values], pa.large_binary())
    assert counts_module().written_counts(column).tolist() == values


def counts_module() -> Any:
    from certdp.weighted_sampling import frequencies

    return frequencies


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.int64(), pa.uint64(), pa.float32(), pa.float64()])
def test_columns_of_counts(put: Put, kind: Any) -> None:
    columns = {"key": pa.array(["a", "b", "c"]), "count": pa.array([1, 100, 7], pa.int64()).cast(kind)}
    parquet.write_table(pa.table(columns), put("d.parquet", b""))
    assert read(put("x", b"").with_name("d.parquet")) == {b"a": 1, b"b": 100, b"c": 7}
    assert pairs(KeyCounts.of(pa.table(columns))) == {b"a": 1, b"b": 100, b"c": 7}
    columns["count"] = pa.array([1, 0, 7], pa.int64()).cast(kind)
    with pytest.raises(InvalidValue, match="count: got another value in row 2"):
        KeyCounts.of(pa.table(columns))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (pa.array([1, None]), "a missing value in row 2"),
        (pa.array([1.0, float("nan")]), "another value in row 2"),
        (pa.array([2.0, 1.25]), "another value in row 2"),
        (pa.array([2.0, float("inf")]), "another value in row 2"),
        (pa.array([1, -1]), "another value in row 2"),
        (pa.array([1, LARGEST + 1]), "another value in row 2"),
        (pa.array([1, 2**64 - 1], pa.uint64()), "another value in row 2"),
        (pa.array([Decimal("1.00"), Decimal("1.50")]), "another value in row 2"),
        (pa.array([True, False]), "a column of type bool"),
        (pa.array(["1", "2"]), "a column of type string"),
    ],
)
def test_bad_columns_of_counts(put: Put, column: Any, value: str) -> None:
    data = pa.table({"key": ["a", "b"], "count": column})
    with pytest.raises(InvalidValue) as caught:
        KeyCounts.of(data)
    assert value in str(caught.value.value)
    parquet.write_table(data, put("d.parquet", b""))
    assert value in str(fault(put("x", b"").with_name("d.parquet")).value)


def test_decimals_are_counts_where_they_are_whole() -> None:
    column = pa.array([Decimal("3.00"), Decimal(LARGEST)])
    assert KeyCounts.of(pa.table({"key": ["a", "b"], "count": column})).counts.tolist() == [3, LARGEST]


class Frame:
    """What pandas and Polars show of their frames."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


TABLE = pa.table({"key": ["a", "b"], "count": [3, 4]})


@pytest.mark.parametrize(
    "data",
    [
        {"a": 3, "b": 4},
        {b"a": 3, b"b": 4},
        {"a": 3, b"b": 4},
        Counter("abbabab"),
        {"a": np.int32(3), "b": 4.0},
        {"a": Fraction(3), "b": "4"},
        (["a", "b"], [3, 4]),
        (pa.array(["a", "b"]), np.array([3, 4])),
        (np.array(["a", "b"]), pa.array([3.0, 4.0])),
        (("a", "b"), range(3, 5)),
        TABLE,
        TABLE.to_batches()[0],
        Frame(TABLE),
        TABLE.rename_columns(["word", "n"]),
        KeyCounts.of({"a": 3, "b": 4}),
    ],
)
def test_forms_of_data_in_memory(data: Any) -> None:
    assert pairs(KeyCounts.of(data)) == {b"a": 3, b"b": 4}


def test_names_of_columns() -> None:
    data = pa.table({"x": [1.0, 2.0], "word": ["a", "b"], "n": [3, 4]})
    assert pairs(KeyCounts.of(data, key="word", count="n")) == {b"a": 3, b"b": 4}
    with pytest.raises(InvalidValue, match="3 columns of which none is named key or count"):
        KeyCounts.of(data)
    with pytest.raises(InvalidValue, match="key: got term"):
        KeyCounts.of(data, key="term")


@pytest.mark.parametrize(
    "data",
    [
        ["a", "b", "a", "", b"\xff"],
        pa.array(["a", "b", "a", "", "c"]),
        Frame(pa.chunked_array([["a", "b"], ["a", "", "c"]])),
    ],
)
def test_single_keys_in_memory(data: Any) -> None:
    found = pairs(KeyCounts.of(data, aggregate=True))
    assert found[b"a"] == 2
    assert sorted(found.values()) == [1, 1, 1, 2]
    assert pairs(KeyCounts.of(data)) == found


def test_columns_of_data_frames() -> None:
    """Series of words, and counts with words as their labels, as pandas makes them."""
    words = ["a", "b", "a"]
    for series in (pandas.Series(words), pandas.Series(words, dtype="category")):
        assert pairs(KeyCounts.of(series)) == {b"a": 2, b"b": 1}
        assert pairs(KeyCounts.of(series.value_counts())) == {b"a": 2, b"b": 1}
    with pytest.raises(InvalidValue, match="count"):
        KeyCounts.of(pandas.Series(words).value_counts(normalize=True))
    with pytest.raises(InvalidType, match="key: got one of type"):
        KeyCounts.of(pandas.Series([1, 1, 2]).value_counts())
    with pytest.raises(InvalidType, match="key: got one of type float"):
        KeyCounts.of(pandas.Series(["a", None]).value_counts(dropna=False))


def test_names_are_for_columns() -> None:
    for data in ({"a": 1}, (["a"], [1]), ["a"], pa.array(["a"])):
        for names in ({"key": "word"}, {"count": "n"}):
            with pytest.raises(InvalidValue, match="nothing, where data have no named columns"):
                KeyCounts.of(data, aggregate=True, **names)


def test_counts_are_not_shown() -> None:
    assert "secret" not in repr(KeyCounts.of({"secret": 4711}))
    assert "4711" not in repr(KeyCounts.of({"secret": 4711}))


def test_two_single_keys_are_no_pair() -> None:
    assert pairs(KeyCounts.of(["a", "b"], aggregate=True)) == {b"a": 1, b"b": 1}


@pytest.mark.parametrize("data", [5, None, "text", b"bytes", [1, 2], {1: 2}, {None: 3}, {"\ud800": 1}, [("a", 1)]])
def test_what_is_no_data(data: Any) -> None:
    with pytest.raises(InvalidType) as caught:
        KeyCounts.of(data, aggregate=True)
    assert caught.value.admissible


def test_lengths_that_differ() -> None:
    for data in ((["a"], [1, 2]), (["a", "b"], [1])):
        with pytest.raises(InvalidValue, match="count"):
            KeyCounts.of(data)
    with pytest.raises(InvalidValue, match="one count for each"):
        KeyCounts(pa.array(["a"], pa.large_string()), np.array([1, 2], dtype=np.uint64))


def test_the_same_bytes_as_text_and_as_bytes_are_one_key() -> None:
    data = {"a": 1, b"a": 2}
    with pytest.raises(InvalidValue, match="the same one in rows 1 and 2"):
        KeyCounts.of(data)
    assert pairs(KeyCounts.of(data, aggregate=True)) == {b"a": 3}


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(1, LARGEST)), max_size=12))
def test_sums_are_exact_or_refused(rows: list[tuple[str, int]]) -> None:
    expected: Counter[bytes] = Counter()
    for key, count in rows:
        expected[key.encode()] += count
    data = ([key for key, _ in rows], [count for _, count in rows])
    if max(expected.values(), default=0) <= LARGEST:
        assert pairs(KeyCounts.of(data, aggregate=True)) == dict(expected)
        return
    with pytest.raises(InvalidValue) as caught:
        KeyCounts.of(data, aggregate=True)
    assert isinstance(caught.value, InvalidData)
    total, key = str(caught.value.formatted_finding).split(" for the key ")
    assert int(total) == expected[key.strip("'").encode()]


def test_sums_that_would_wrap_around() -> None:
    """2^64 is reached by 2^11 rows of 2^53."""
    with pytest.raises(InvalidData, match="of one key beyond") as caught:
        KeyCounts.of((["a"] * 2048, [LARGEST] * 2048), aggregate=True)
    assert caught.value.formatted_finding == f"{1 << 64} for the key 'a'"


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_archive(tmp_path: Path, name: str) -> None:
    whole = lzma.compress(FORMATS[name]({os.urandom(12).hex().encode(): 5 for _ in range(5000)}))
    path = tmp_path / f"{name}.xz"
    for content in (whole[: len(whole) // 2], whole[:-4], b"no archive", whole[: len(whole) // 2] + b"0" * 99):
        path.write_bytes(content)
        error = fault(path)
        assert error.parameter == "data"
        assert error.value == str(path)


def test_a_cut_table(put: Put) -> None:
    whole = table(DATA)
    for content in (whole[: len(whole) // 2], whole[:-1], b"", b"PAR1"):
        assert "a well-formed .parquet file" in fault(put("d.parquet", content)).admissible


@pytest.mark.parametrize("content", [b"the\t5\nof", b"the\t5\nof\t3\t4\n", b"a\tb\tc\nthe\t5\n", b"the\t5\n\tof\t3\n"])
def test_lines_of_another_width(put: Put, content: bytes) -> None:
    error = fault(put("d.tsv", content), **({"key": "a", "count": "b"} if content.startswith(b"a") else {}))
    assert error.admissible == "a well-formed .tsv file"
    assert "2 columns, got" in error.remedy or "3 columns, got 2" in error.remedy


def test_a_quote_that_does_not_end(put: Put) -> None:
    assert fault(put("d.csv", b'key,count\nthe,5\n"of,3\nand,4\n')).parameter == "data"


def test_files_that_are_none(put: Put, tmp_path: Path) -> None:
    for path in (tmp_path / "missing.tsv", tmp_path / "missing.parquet", tmp_path):
        assert fault(path).value == str(path)
    error = fault(put("d.npz", b""))
    assert ".tsv, .csv, .parquet" in error.admissible


@pytest.fixture
def real() -> Path:
    folder = os.environ.get("CERTDP_DATA")
    if folder is None:
        pytest.skip("CERTDP_DATA names no folder")
    return Path(folder)


def test_counts_of_words(real: Path) -> None:
    """The number of keys and of elements that the data's description states."""
    for name, keys, elements in (
        ("wordcounts_mobydick.tsv", 17_371, 216_648),
        ("wordcounts_imdb.tsv.xz", 121_589, None),
    ):
        found = read(real / name)
        assert len(found) == keys
        assert elements is None or sum(found.values()) == elements


class TestManyFiles:
    def put(self, folder: Path) -> Path:
        (folder / "sub").mkdir(parents=True)
        (folder / "2.tsv").write_bytes(tsv({b"c": 3, b"a": 1}))
        (folder / "sub" / "1.csv").write_bytes(csv({b"key": 7, b"e": 5}))
        parquet.write_table(pa.table({"key": ["d"], "count": [4]}), folder / "1.parquet")
        (folder / "_SUCCESS").touch()
        return folder

    def test_are_as_one(self, tmp_path: Path) -> None:
        with open_counts(self.put(tmp_path / "d")) as stream:
            read = [
                pair for chunk in stream.chunks() for pair in zip(chunk.keys.to_pylist(), chunk.counts, strict=True)
            ]
        assert read == [("d", 4), ("c", 3), ("a", 1), ("key", 7), ("e", 5)]

    def test_a_key_in_two_files_is_refused_by_both_or_added_up(self, tmp_path: Path) -> None:
        folder = self.put(tmp_path / "d")
        (folder / "sub" / "9.tsv").write_bytes(tsv({b"x": 1, b"a": 10}))
        with pytest.raises(InvalidData) as caught, open_counts(folder) as stream:
            list(stream.chunks())
        assert str(folder / "2.tsv")[-60:] in str(caught.value.value)
        assert "row 2 of " in str(caught.value.value)
        assert str(caught.value.value).endswith(str(folder / "sub" / "9.tsv")[-60:])
        assert caught.value.formatted_finding == "'a'"
        with open_counts(folder, aggregate=True) as stream:
            (chunk,) = stream.chunks()
        assert dict(zip(chunk.keys.to_pylist(), chunk.counts.tolist(), strict=True))["a"] == 11

    def test_a_fault_is_named_by_its_file(self, tmp_path: Path) -> None:
        folder = self.put(tmp_path / "d")
        (folder / "2.tsv").write_bytes(b"a\t0\n")
        with pytest.raises(InvalidValue) as caught, open_counts(folder) as stream:
            list(stream.chunks())
        assert str(caught.value.value).endswith(str(folder / "2.tsv")[-60:])

    def test_all_are_looked_at_first(self, tmp_path: Path) -> None:
        folder = self.put(tmp_path / "d")
        (folder / "9.csv").write_bytes(b"a,1,2\n")
        with pytest.raises(InvalidValue, match=r"9\.csv"), open_counts(folder):
            pass
