"""Files of samples: functions of their rows and their statement, whole or not there at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from certdp import InvalidType, InvalidValue
from certdp.weighted_sampling import SampleStatement, read_sample, write_sample
from certdp.weighted_sampling.sample_files import CoinKind, Described, StatedGuarantee
from tests.support.cases import examples

ENDINGS = ("parquet", "csv", "tsv")
STATED = SampleStatement(
    private=True,
    sampler=Described("ppswor", {"threshold": "1/3", "power": "1"}),
    mechanism=Described("pws-frequencies", {"epsilon": "0.5"}),
    contributions=3,
    coins=CoinKind.OPERATING_SYSTEM,
    guarantee=StatedGuarantee(epsilon="1.5", delta="1e-6", unit="user", relation="add-remove"),
)
PLAIN = SampleStatement(private=False, sampler=Described("every-key"), coins=CoinKind.SEEDED)
KEYS = [b"the", b"", b'"quoted"', b'a"b', b"comma,", b"nul\0", "größe".encode(), b" blank ", b"key"]


def table(keys: list[bytes], tokens: list[int] | None = None) -> Any:
    columns = {"key": pa.array(keys, pa.binary())}
    return pa.table(columns if tokens is None else {**columns, "token": pa.array(tokens, pa.uint64())})


def rows(sample: Any) -> dict[bytes, Any]:
    keys = sample["key"].cast(pa.large_binary()).to_pylist()
    assert keys == sorted(keys)
    values = [sample[name].to_pylist() for name in sample.column_names if name != "key"]
    return dict(zip(keys, zip(*values, strict=True) if values else [()] * len(keys), strict=True))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("statement", [STATED, PLAIN])
@pytest.mark.parametrize("keys", [KEYS, [*KEYS, b"\xff"], [], [b""]])
@pytest.mark.parametrize("with_tokens", [False, True])
def test_what_is_read_is_what_was_written(
    tmp_path: Path, ending: str, statement: SampleStatement, keys: list[bytes], with_tokens: bool
) -> None:
    tokens = [(1 << 64) - 1 - place for place in range(len(keys))] if with_tokens else None
    path = tmp_path / f"sample.{ending}"
    write_sample(path, table(keys, tokens), statement)
    found, stated = read_sample(path)
    assert stated == statement
    assert rows(found) == {key: (tokens[place],) if tokens else () for place, key in enumerate(keys)}
    assert found["key"].type == (pa.large_binary() if b"\xff" in keys else pa.large_string())
    assert (path.stat().st_mode & 0o077 == 0) == (not statement.private)
    if with_tokens:
        assert found["token"].type == pa.uint64()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_is_a_function_of_rows_and_statement(tmp_path: Path, ending: str) -> None:
    """Neither order, nor type, nor how the columns are cut tells anything of what was left out."""
    keys, tokens = KEYS, list(range(len(KEYS)))
    straight = table(keys, tokens)
    turned = table(keys[::-1], tokens[::-1])
    text = straight.set_column(0, "key", straight["key"].cast(pa.large_string()))
    cut = pa.concat_tables([turned.slice(0, 4), turned.slice(4)])
    coded = straight.set_column(0, "key", pa.chunked_array([straight["key"].combine_chunks().dictionary_encode()]))
    contents = set()
    for number, sample in enumerate((straight, turned, text, cut, coded, cut.replace_schema_metadata({"a": "b"}))):
        path = tmp_path / str(number) / f"sample.{ending}"
        path.parent.mkdir()
        write_sample(path, sample, STATED)
        contents.add(tuple(file.read_bytes() for file in sorted(path.parent.iterdir())))
    assert len(contents) == 1


@pytest.mark.slow
@settings(examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.binary(max_size=8), st.integers(0, (1 << 64) - 1), max_size=12))
def test_any_bytes_are_keys(tmp_path: Path, data: dict[bytes, int]) -> None:
    for ending in ("parquet", "csv"):
        path = tmp_path / f"sample.{ending}"
        write_sample(path, table(list(data), list(data.values())), STATED, overwrite=True)
        assert rows(read_sample(path)[0]) == {key: (token,) for key, token in data.items()}


@given(st.dictionaries(st.text(), st.text(), max_size=3), st.none() | st.integers(1, 1 << 60))
def test_statements_are_json(options: dict[str, str], contributions: int | None) -> None:
    for statement in (
        SampleStatement(
            private=True,
            sampler=Described("a", options),
            mechanism=Described("b", options),
            rule=Described("c", options),
            coins=CoinKind.OPERATING_SYSTEM,
            contributions=contributions,
        ),
        STATED,
        PLAIN,
    ):
        assert SampleStatement.from_json(json.loads(json.dumps(statement.to_json()))) == statement
        assert statement.to_json()["format"] == "certdp-sample/1"


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("format", "certdp-sample/2"),
        ("private", 1),
        ("private", None),
        ("sampler", None),
        ("sampler", {"name": "a"}),
        ("sampler", {"name": "a", "options": {"x": 1}}),
        ("sampler", {"name": 5, "options": {}}),
        ("rule", {"name": "a", "options": [], "more": 1}),
        ("coins", "dice"),
        ("contributions", "3"),
        ("contributions", True),
        ("guarantee", {"epsilon": 1.5, "delta": "1e-6", "unit": "user", "relation": "add-remove"}),
        ("guarantee", []),
        ("more", 1),
    ],
)
def test_damaged_statements(entry: str, value: object) -> None:
    with pytest.raises(InvalidValue):
        SampleStatement.from_json(STATED.to_json() | {entry: value})
    less = STATED.to_json()
    less.pop(entry, None)
    if entry != "more":
        with pytest.raises(InvalidValue, match="the entries format"):
            SampleStatement.from_json(less)
    others: tuple[object, ...] = (None, [], "text", 5)
    for other in others:
        with pytest.raises(InvalidValue):
            SampleStatement.from_json(other)


def test_statements_that_contradict_themselves() -> None:
    for changes in ({"coins": "seeded"}, {"coins": "key hash"}, {"mechanism": None}, {"private": False}):
        with pytest.raises(InvalidValue):
            SampleStatement.from_json(STATED.to_json() | changes)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_name_that_is_taken(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"sample.{ending}"
    write_sample(path, table([b"a"]), STATED)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(InvalidValue, match="a name that is free"):
        write_sample(path, table([b"b"]), STATED)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    write_sample(path, table([b"b"]), PLAIN, overwrite=True)
    assert rows(read_sample(path)[0]) == {b"b": ()}
    assert read_sample(path)[1] == PLAIN


def test_a_statement_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "sample.csv.json").write_text("mine")
    with pytest.raises(InvalidValue, match=r"sample\.csv\.json"):
        write_sample(tmp_path / "sample.csv", table([b"a"]), STATED)
    assert [file.name for file in tmp_path.iterdir()] == ["sample.csv.json"]
    (tmp_path / "sample.parquet.json").write_text("mine")
    write_sample(tmp_path / "sample.parquet", table([b"a"]), STATED)


@pytest.mark.parametrize(
    ("ending", "failing"),
    [*(("parquet", step) for step in range(1, 4)), *((text, step) for text in ("csv", "tsv") for step in range(1, 7))],
)
@pytest.mark.parametrize("old", [False, True])
def test_both_files_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, old: bool, failing: int
) -> None:
    """Each replacement and each flush of a file fails in turn."""
    path = tmp_path / f"sample.{ending}"
    if old:
        write_sample(path, table([b"old"]), STATED)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    calls = 0

    def counted(function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == failing:
                raise OSError(28, "No space left on device")
            return function(*arguments)

        return call

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", counted(os.replace))
        patched.setattr(os, "fsync", counted(os.fsync))
        with pytest.raises(InvalidValue, match="No space left on device"):
            write_sample(path, table([b"new"]), STATED, overwrite=True)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_an_interrupt_leaves_no_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    for ending in ENDINGS:
        with pytest.raises(KeyboardInterrupt):
            write_sample(tmp_path / f"sample.{ending}", table([b"new"]), STATED)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ENDINGS)
def test_damaged_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"sample.{ending}"
    write_sample(path, table([b"a", b"b"], [1, 2]), STATED)
    whole = path.read_bytes()
    for content in (whole[:-1], whole[: len(whole) // 2], b"", whole + b"x", b"key,token\na,1\n"):
        path.write_bytes(content)
        with pytest.raises(InvalidValue):
            read_sample(path)
    if ending != "parquet":
        path.write_bytes(whole)
        beside = path.with_name(path.name + ".json")
        for text in ("", "{}", "[]", "nonsense", '{"certdp-sample": 2}', '"\\ud800"'):
            beside.write_text(text)
            with pytest.raises(InvalidValue):
                read_sample(path)
        beside.unlink()
        with pytest.raises(InvalidValue, match="the statement of the sample, beside it"):
            read_sample(path)


def test_other_files(tmp_path: Path) -> None:
    plain = tmp_path / "plain.parquet"
    parquet.write_table(pa.table({"key": ["a"]}), plain)
    for path in (plain, tmp_path / "missing.csv", tmp_path / "missing.parquet", tmp_path / "sample.npz", tmp_path):
        with pytest.raises(InvalidValue):
            read_sample(path)
    for path in (tmp_path / "sample.npz", tmp_path / "sample", tmp_path / "none" / "sample.csv"):
        with pytest.raises(InvalidValue):
            write_sample(path, table([b"a"]), STATED)
        assert not path.exists()


@pytest.mark.parametrize("key", [b"tab\t", b"two\nlines", b"return\r"])
def test_what_tsv_cannot_hold(tmp_path: Path, key: bytes) -> None:
    with pytest.raises(InvalidValue, match="Write CSV or Parquet"):
        write_sample(tmp_path / "sample.tsv", table([key]), STATED)
    assert list(tmp_path.iterdir()) == []
    for ending in ("csv", "parquet"):
        write_sample(tmp_path / f"sample.{ending}", table([key]), STATED)
        assert rows(read_sample(tmp_path / f"sample.{ending}")[0]) == {key: ()}


@pytest.mark.parametrize(
    "sample",
    [
        pa.table({"key": [1, 2]}),
        pa.table({"key": ["a", None]}),
        pa.table({"key": ["a"], "token": ["b"]}),
        pa.table({"key": ["a"], "token": [None]}),
        pa.table({"key": ["a", "b"], "token": [1, None]}),
    ],
)
def test_other_tables(tmp_path: Path, sample: Any) -> None:
    for ending in ENDINGS:
        with pytest.raises(InvalidValue):
            write_sample(tmp_path / f"sample.{ending}", sample, STATED)
    assert list(tmp_path.iterdir()) == []


def test_options_are_text() -> None:
    with pytest.raises(InvalidType):
        Described("a", {"x": 1})  # type: ignore[dict-item]
