"""Files of records with labels: what they may hold, and errors that say what is wrong with them."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp.accounting.errors import InvalidValue
from certdp.accounting.private import InvalidData
from certdp.dpis.models.files import LabelledReading, names_in, read_labelled

GOOD: dict[str, Any] = {
    "X": np.arange(12.0).reshape(4, 3),
    "y": np.array([0, 1, 1, 0]),
    "is_test": np.array([0, 0, 1, 1]),
    "Xt": np.ones((2, 3)),
    "yt": np.array([1, 0]),
}


def refused(folder: Path, how: LabelledReading, **changed: Any) -> InvalidValue:
    path = folder / "data.npz"
    np.savez(path, **{**GOOD, **changed})
    with pytest.raises(InvalidValue) as caught:
        read_labelled(path, how)
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    "flags",
    [
        np.zeros(4),
        np.ones(4, dtype=bool),
        np.array([0, 1]),
        np.array([0, 0, 1, 1, 1]),
        np.array([0, 0, 1, np.nan]),
        np.array(["", "", "yes", "yes"]),
        np.array(1),
    ],
    ids=["all 0", "all 1", "too few", "too many", "NaN", "words", "a number"],
)
def test_flags_must_tell_test_records_apart(flags: Any, tmp_path: Path) -> None:
    error = refused(tmp_path, LabelledReading(target="y", test="is_test"), is_test=flags)
    assert error.parameter == "test"
    assert "is_test" in error.formatted_value


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 0.5, -1.0, 1e300, 2.0**53])
def test_a_label_that_is_no_class_is_told_by_its_row(wrong: float, tmp_path: Path) -> None:
    error = refused(tmp_path, LabelledReading(target="y"), y=np.array([0, 1, wrong, 0]))
    assert (error.parameter, error.formatted_value) == ("target", "another label in row 2 of y, counted from 0")
    assert isinstance(error, InvalidData)
    assert error.formatted_finding == str(wrong)


@pytest.mark.parametrize(
    ("changed", "parameter"),
    [
        ({"X": np.empty((0, 3)), "y": np.empty(0)}, "data"),
        ({"X": np.empty((4, 0))}, "data"),
        ({"X": np.arange(4.0)}, "array"),
        ({"y": np.array([0, 1])}, "target"),
        ({"y": np.array(["a", "b", "a", "b"])}, "target"),
    ],
)
def test_what_is_no_records_with_labels_is_refused(changed: dict[str, Any], parameter: str, tmp_path: Path) -> None:
    for test in (None, "is_test"):
        assert refused(tmp_path, LabelledReading(target="y", test=test), **changed).parameter == parameter


def test_names_that_say_nothing_are_refused(tmp_path: Path) -> None:
    for test in (None, "is_test"):
        error = refused(tmp_path, LabelledReading(target="y", test=test, test_target="yt"))
        assert error.parameter == "test-target"
    table = tmp_path / "table.csv"
    table.write_text("a,label\n1,0\n2,1\n", "utf-8")
    with pytest.raises(InvalidValue, match=r"^array: got X"):
        read_labelled(table, LabelledReading(target="label", array="X"))


def test_the_labels_of_test_records_are_among_those_proposed(tmp_path: Path) -> None:
    error = refused(tmp_path, LabelledReading(target="y", test="Xt"))
    assert (error.parameter, error.formatted_value) == ("test-target", "y")
    assert error.admissible.endswith("one of: is_test, yt")
    split = read_labelled(tmp_path / "data.npz", LabelledReading(target="y", test="Xt", test_target="yt"))
    assert split.test is not None
    assert split.test.labels.tolist() == [1, 0]


def test_every_format_says_its_names(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    np.savez(tmp_path / "a.npz", **GOOD)
    (tmp_path / "a.csv").write_text("a,label\n1,0\n", "utf-8")
    parquet.write_table(pyarrow.table({"a": [1.0, 2.0], "label": [0, 1]}), tmp_path / "a.parquet")
    for name, names in (("a.npz", list(GOOD)), ("a.csv", ["a", "label"]), ("a.parquet", ["a", "label"])):
        path = tmp_path / name
        (tmp_path / f"{name}.xz").write_bytes(lzma.compress(path.read_bytes()))
        assert names_in(path) == names_in(tmp_path / f"{name}.xz") == names
    split = read_labelled(tmp_path / "a.parquet.xz", LabelledReading(target="label"))
    assert split.train.labels.tolist() == [0, 1]
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    for name in ("b.csv", "b.txt", "none.csv"):
        with pytest.raises(InvalidValue, match=r"^data: got "):
            names_in(tmp_path / name)
