"""A line of a text is a row by itself: whatever one holds, the rows of the others stay as they are."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from certdp import open_records
from certdp import queries as q
from certdp.accounting.private import InvalidData
from certdp.data import Reading
from certdp.data.lines import COMMAS, TABS, Grammar, blocks_of_lines
from certdp.dpis.models.files import LabelledReading, read_labelled
from certdp.queries.columns import Declared
from certdp.queries.sources import rows_of
from certdp.weighted_sampling import open_counts
from tests.support.cases import examples

ROOT = Path(__file__).parents[2]
DECLARED: dict[str, Declared] = {"age": q.Column("age", 0, 120), "city": q.Category("city", ["a", "b"])}
WITNESSES = [
    b'31,"a',
    b'"',
    b'"31',
    b'1,"a',
    b'"1\t',
    b"31,a" + b"\r99,a" * 50,
    b"1\r",
    b"1\r\r",
    b"59," + b"x" * 140_000,
]
WITNESSES += [
    b"",
    b"\0",
    b",,,",
    b'"a""',
    b'a"b,"c"',
    b'"a"b"',
    b"\xff\xe2\x82",
    b"\xef\xbb\xbf1,2",
    b"1,2",
    b"\x1c\x85",
]

Rows = Sequence[object]


def queried(path: Path) -> Rows:
    rows = rows_of(path, DECLARED, None)
    numbers = rows.numbers["age"].tolist()
    return [*zip((str(number) for number in numbers), rows.codes["city"].tolist(), strict=True)]


def recorded(reading: Reading) -> Callable[[Path], Rows]:
    def read(path: Path) -> Rows:
        with open_records(path, reading) as records:
            return [row for chunk in records.chunks(3) for row in chunk.tolist()]

    return read


def counted(path: Path) -> Rows:
    with open_counts(path) as stream:
        return [row for part in stream for row in zip(part.keys.to_pylist(), part.counts.tolist(), strict=True)]


def elements(**columns: str) -> Callable[[Path], Rows]:
    """Each element in the order of its key, so that one more is one row."""

    def read(path: Path) -> Rows:
        with open_counts(path, aggregate=True, **columns) as stream:
            found = {
                key.encode() if isinstance(key, str) else key: count
                for part in stream
                for key, count in zip(part.keys.to_pylist(), part.counts.tolist(), strict=True)
            }
        return [key for key in sorted(found) for _ in range(found[key])]

    return read


def labelled(path: Path) -> Rows:
    data = read_labelled(path, LabelledReading(target="city")).train
    return [*zip(data.features.tolist(), data.labels.tolist(), strict=True)]


@frozen
class Reader:
    """What reads a text.

    Attributes:
        module: that parses it.
        name: of the file.
        head: its first line.
        lines: others.
        read: its rows.
        refuses: whether it refuses what is no row, as a message to the owner of the data; else nothing may fail.
    """

    module: str
    name: str
    head: bytes
    lines: tuple[bytes, ...]
    read: Callable[[Path], Rows]
    refuses: bool = True


NUMBERS = (b"44,1", b'"45",0', b"46,2")
KEYED = (b"x,1", b'"y",2', b'"z,\t",3')
READERS = {
    "queries": Reader("queries.sources", "d.csv", b"age,city", (b"44,b", b'45,"a"', b"46"), queried, refuses=False),
    "records": Reader("data.comma_separated", "d.csv", b"age,city", NUMBERS, recorded(Reading())),
    "a column": Reader("data.comma_separated", "d.csv", b"age,city", NUMBERS, recorded(Reading(columns=("age",)))),
    "labels": Reader("dpis.models.files", "d.csv", b"age,city", NUMBERS, labelled),
    "counts": Reader("weighted_sampling.count_tables", "d.csv", b"key,count", KEYED, counted),
    "counts by tabs": Reader("weighted_sampling.count_tables", "d.tsv", b"key\tcount", (b"x\t1", b'"y\t2'), counted),
    "elements": Reader("weighted_sampling.count_tables", "d.csv", b"key", (b"b", b'"c"', b"b"), elements(key="key")),
    "bare elements": Reader("weighted_sampling.count_tables", "d.tsv", b"a", (b"b", b'"c', b""), elements()),
}
NO_RECORDS = {
    "data.lines": "cuts lines",
    "weighted_sampling.sample_files": "samples, which certdp wrote itself, with a statement beside them",
    "experiments.results": "results, which certdp wrote itself",
    "experiments.training_runs": "results, which certdp wrote itself",
}


def changed(before: Rows, after: Rows) -> int:
    """How many rows are added or others, where those of `before` stay in order; −1 where they do not."""
    rest = iter(after)
    kept = all(any(row == other for other in rest) for row in before)
    return len(after) - len(before) if kept else -1


def rows_changed(reader: Reader, folder: Path, line: bytes, place: int) -> int | None:
    """By how many rows one more line changes what is read; None where that line is refused."""
    path = folder / reader.name
    lines = [reader.head, *reader.lines]
    path.write_bytes(b"".join(each + b"\n" for each in lines))
    before = reader.read(path)
    place = min(place, len(lines))
    path.write_bytes(b"".join(each + b"\n" for each in [*lines[:place], line, *lines[place:]]))
    try:
        return changed(before, reader.read(path))
    except InvalidData:
        if not reader.refuses:
            raise
        return None


LINES = st.one_of(
    st.lists(st.sampled_from([b'"', b",", b"\r", b"\t", b"1", b"a", b'""', b"\0", b"\xe2"]), max_size=8).map(b"".join),
    st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")),
)


@pytest.mark.parametrize("name", READERS)
@settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=LINES, place=st.integers(1, 4))
def test_one_line_is_one_row(tmp_path: Path, name: str, line: bytes, place: int) -> None:
    assert rows_changed(READERS[name], tmp_path, line, place) in ((0, 1, None) if READERS[name].refuses else (1,))


@pytest.mark.parametrize("name", READERS)
def test_one_line_is_one_row_where_it_was_many(tmp_path: Path, name: str) -> None:
    for line in WITNESSES:
        for place in (1, 2, 4):
            found = rows_changed(READERS[name], tmp_path, line, place)
            assert found in ((0, 1, None) if READERS[name].refuses else (1,)), line[:20]


def test_a_reader_that_reads_on_in_other_lines_is_found(tmp_path: Path) -> None:
    def read(path: Path) -> Rows:
        with path.open(encoding="utf-8", errors="replace", newline="") as text:
            return list(csv.reader(text))[1:]

    whole = Reader("", "d.csv", b"age,city", (b"44,b",) * 3, read, refuses=False)
    assert rows_changed(whole, tmp_path, b"31,a", 1) == 1
    for line in WITNESSES[:2]:
        assert rows_changed(whole, tmp_path, line, 1) == -1
    assert rows_changed(whole, tmp_path, b"31,a" + b"\r99,a" * 50, 1) == 51
    with pytest.raises(csv.Error):
        rows_changed(whole, tmp_path, WITNESSES[8], 1)


PARSES = re.compile(
    r"\bcsv\.(?:reader|DictReader)\b|\b(?:read_csv|open_csv|scan_csv|loadtxt|genfromtxt)\(|\b(?:COMMAS|TABS)\."
)


def modules(source: Path) -> set[str]:
    found = (path for path in source.rglob("*.py") if PARSES.search(path.read_text("utf-8")))
    return {".".join(path.relative_to(source).with_suffix("").parts) for path in found}


def test_every_module_that_parses_a_text_is_in_the_table() -> None:
    known = {reader.module for reader in READERS.values()} | set(NO_RECORDS)
    found = modules(ROOT / "src" / "certdp")
    for part in ("accounting", "mechanisms", "samplers", "plugins", "verification"):
        found |= {f"{part}.{module}" for module in modules(ROOT / part)}
    assert found == known


@pytest.mark.parametrize("grammar", [COMMAS, TABS])
@settings(examples(400))
@example(["a,b", '"c'])
@example(['""a,"', '"'])
@given(lines=st.lists(st.lists(st.sampled_from('",\t\ra1é'), max_size=6).map("".join), max_size=5))
def test_all_lines_at_once_are_each_by_itself(grammar: Grammar, lines: list[str]) -> None:
    for text in ("".join(line + "\n" for line in lines), "".join(line + "\r\n" for line in lines)):
        rows = [grammar.cells(line) for line in text.split("\n")[:-1]]
        assert grammar.rows(text) == rows
        assert grammar.are_rows(text.encode()) == (None not in rows)


@settings(examples(200))
@given(row=st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), min_size=1))
def test_cells_are_what_was_quoted(row: list[str]) -> None:
    quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in row)
    assert COMMAS.cells(quoted) == row
    assert COMMAS.rows(quoted + "\r\n") == [row]
    assert COMMAS.are_rows(quoted.encode())
    assert COMMAS.cells(quoted[:-1]) is None


def test_first_lines_that_are_no_rows_are_refused() -> None:
    for line in ('a,"b\n', "a\rb\n"):
        with pytest.raises(InvalidData, match="in the first line"):
            COMMAS.first(line)
    assert COMMAS.first('a,"b"\r\n') == ["a", "b"]
    assert TABS.first('"a\tb') == ['"a', "b"]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_blocks_are_whole_lines(tmp_path: Path, size: int) -> None:
    for text in (b"", b"\n", b"ab\ncdef\n\ng", b"ab\r\ncdef\n"):
        (tmp_path / "d").write_bytes(text)
        with (tmp_path / "d").open("rb") as content:
            blocks = list(blocks_of_lines(content, size))
        assert b"".join(blocks) == text
        assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_a_line_that_is_no_row_is_a_row_of_missing_entries(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes(b'age,city\n31,"a\n44,b\n')
    rows = rows_of(tmp_path / "d.csv", DECLARED, None)
    np.testing.assert_array_equal(rows.numbers["age"], [np.nan, 44])
    assert rows.codes["city"].tolist() == [-1, 1]


def test_a_long_cell_is_read_like_any(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes(b"age,city\n" + WITNESSES[8] + b"\n44,b\n")
    found: Any = rows_of(tmp_path / "d.csv", DECLARED, None).numbers["age"].tolist()
    assert found == [59, 44]
