"""The same rows from whatever holds them, and no entry that can make reading fail."""

from __future__ import annotations

import csv
import datetime
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import queries as q
from certdp.accounting.errors import CertdpError, InvalidType, InvalidValue
from certdp.queries.rows import Rows
from certdp.queries.sources import rows_of
from tests.support.cases import examples

AGES = [31, None, 44, 59, 23]
CITIES = ["Oslo", "Bergen", None, "Paris", "Oslo"]
NOTES = ["a", "b", "c", "d", "e"]
WHO = ["x", "y", "x", None, "z"]
TABLE = {"age": AGES, "city": CITIES, "note": NOTES, "who": WHO}
DECLARED: dict[str, q.Column | q.Category] = {
    "age": q.Column("age", 0, 120),
    "city": q.Category("city", ["Oslo", "Bergen"]),
}


def as_pandas(_: Path) -> Any:
    return pytest.importorskip("pandas").DataFrame(TABLE)


def as_nullable_pandas(folder: Path) -> Any:
    return as_pandas(folder).convert_dtypes()


def as_polars(_: Path) -> Any:
    return pytest.importorskip("polars").DataFrame(TABLE)


def as_arrow(_: Path) -> Any:
    return pytest.importorskip("pyarrow").table(TABLE)


def as_parquet(folder: Path) -> Any:
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(as_arrow(folder), folder / "people.parquet")
    return folder / "people.parquet"


def as_csv(folder: Path) -> Any:
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(TABLE)
        writer.writerows(zip(*TABLE.values(), strict=True))
    return str(folder / "people.csv")


def as_cursor(_: Path) -> Any:
    connection = sqlite3.connect(":memory:")
    connection.execute("create table people (age integer, city text, note text, who text)")
    connection.executemany("insert into people values (?, ?, ?, ?)", list(zip(*TABLE.values(), strict=True)))
    return connection.execute("select * from people order by rowid")


def as_cursor_of_mappings(folder: Path) -> Any:
    cursor = as_cursor(folder)
    cursor.row_factory = lambda _, row: dict(zip(TABLE, row, strict=True))
    return cursor


def as_lazy_polars(folder: Path) -> Any:
    return as_polars(folder).lazy()


def as_list_of_mappings(_: Path) -> Any:
    rows = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
    return [{name: entry for name, entry in row.items() if entry is not None} for row in rows]


SOURCES = [
    as_pandas,
    as_nullable_pandas,
    as_polars,
    as_lazy_polars,
    as_arrow,
    as_parquet,
    as_csv,
    as_cursor,
    as_cursor_of_mappings,
    as_list_of_mappings,
    lambda _: TABLE,
]


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_rows(source: Callable[[Path], Any], tmp_path: Path) -> None:
    rows = rows_of(source(tmp_path), DECLARED, None)
    np.testing.assert_array_equal(rows.numbers["age"], [31, np.nan, 44, 59, 23])
    assert rows.codes["city"].tolist() == [0, 1, -1, -1, 0]
    assert rows.users is None
    assert rows.length == 5


@pytest.mark.parametrize("source", SOURCES)
def test_rows_without_a_user_are_left_out(source: Callable[[Path], Any], tmp_path: Path) -> None:
    rows = rows_of(source(tmp_path), DECLARED, "who")
    assert rows.users is not None
    assert rows.users.tolist() == [0, 1, 0, 2]
    np.testing.assert_array_equal(rows.numbers["age"], [31, np.nan, 44, 23])


@pytest.mark.parametrize("source", SOURCES)
def test_a_missing_column_is_named(source: Callable[[Path], Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="income") as caught:
        rows_of(source(tmp_path), {"income": q.Column("income", 0, 1)}, None)
    assert caught.value.parameter == "column"
    assert "age" in str(caught.value)


entries = st.one_of(
    st.none(), st.text(max_size=3), st.integers(), st.floats(), st.booleans(), st.binary(max_size=2), st.decimals()
)


@examples(100)
@given(values=st.lists(st.one_of(entries, st.lists(st.none(), max_size=1)), min_size=1, max_size=6))
def test_an_entry_is_read_by_itself_whatever_it_is(values: list[Any]) -> None:
    def read(listed: list[Any]) -> Rows:
        return rows_of({"age": listed, "city": listed}, DECLARED, None)

    together = read(values)
    for place, value in enumerate(values):
        alone = read([value])
        np.testing.assert_array_equal(together.numbers["age"][place], alone.numbers["age"][0])
        assert together.codes["city"][place] == alone.codes["city"][0]


@examples(100)
@given(values=st.lists(st.one_of(entries, st.lists(st.none(), max_size=1)), min_size=1, max_size=6))
def test_whose_row_it_is_is_read_by_itself_whatever_it_is(values: list[Any]) -> None:
    """Rows are of one user where their entries are equal; an entry that is missing or no key is nobody's."""
    places = list(map(float, range(len(values))))

    def kept(listed: list[Any], numbers: list[float]) -> list[float]:
        found: list[float] = (
            rows_of({"age": numbers, "who": listed}, {"age": DECLARED["age"]}, "who").numbers["age"].tolist()
        )
        return found

    assert kept(values, places) == [place for place in places if kept([values[int(place)]], [place])]
    missing: list[Any] = [None, "", float("nan"), Decimal("sNaN"), [1], {}, ([],)]
    for nobody in missing:
        assert not kept([nobody], [0.0])


def test_numbers_are_read_however_they_are_written() -> None:
    listed = ["12", " 1e3 ", Decimal("0.5"), True, 10**400, -(10**400), "12 kg", b"7", float("inf")]
    read = rows_of({"age": listed}, {"age": DECLARED["age"]}, None).numbers["age"]
    np.testing.assert_array_equal(read, [12, 1000, 0.5, 1, np.inf, -np.inf, np.nan, 7, np.inf])


def test_values_are_found_by_what_they_are_or_how_they_read() -> None:
    codes = rows_of({"c": [1, "1", 1.0, "2", 3, [1]]}, {"c": q.Category("c", [2, 1])}, None).codes["c"]
    assert codes.tolist() == [1, 1, 1, 0, -1, -1]


def test_columns_of_types_that_hold_no_numbers_are_refused_before_they_are_read() -> None:
    dates = np.array([datetime.date(2026, 1, 1)], dtype="datetime64[D]")
    with pytest.raises(InvalidValue, match="datetime64"):
        rows_of({"age": dates}, {"age": DECLARED["age"]}, None)


@pytest.mark.parametrize("data", [3, None, [1, 2], [{"age": 1}, (1,)], object()])
def test_what_holds_no_table_is_refused(data: Any) -> None:
    with pytest.raises(InvalidType, match="data frame"):
        rows_of(data, DECLARED, None)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for name in ("absent.csv", "people.xlsx"):
        with pytest.raises(CertdpError, match=name):
            rows_of(tmp_path / name, DECLARED, None)
    (tmp_path / "people.parquet").write_bytes(b"nothing")
    with pytest.raises(CertdpError, match="well-formed"):
        rows_of(tmp_path / "people.parquet", DECLARED, None)


def test_a_separator_other_than_a_comma_is_told(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age;city\n31;Oslo\n", encoding="utf-8")
    with pytest.raises(InvalidValue, match="separated by commas"):
        rows_of(tmp_path / "people.csv", DECLARED, None)
    (tmp_path / "people.csv").write_text("income\n31\n", encoding="utf-8")
    with pytest.raises(InvalidValue, match=r"one of income$"):
        rows_of(tmp_path / "people.csv", DECLARED, None)


def test_names_of_columns_may_be_anything() -> None:
    with pytest.raises(InvalidValue, match="one of 0, 1"):
        rows_of({0: [1], 1: [2]}, DECLARED, None)


def test_rows_of_a_csv_that_are_too_short_or_long_are_read(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,city\n31\n44,Oslo,more\n\n", encoding="utf-8")
    rows = rows_of(tmp_path / "people.csv", DECLARED, None)
    np.testing.assert_array_equal(rows.numbers["age"], [31, 44, np.nan])
    assert rows.codes["city"].tolist() == [-1, 0, -1]


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(InvalidValue, match="length"):
        rows_of({"age": [1, 2], "city": ["Oslo"]}, DECLARED, None)


def test_users_that_nothing_can_be_told_of_are_nobody() -> None:
    who = ["x", [1], {}, Decimal("sNaN"), np.array([1, 2]), float("nan"), None, "", "x", 3]
    rows = rows_of({"age": [*range(10)], "who": who}, {"age": q.Column("age", 0, 9)}, "who")
    assert rows.users is not None
    assert rows.users.tolist() == [0, 0, 1]
    assert rows.numbers["age"].tolist() == [0, 8, 9]
