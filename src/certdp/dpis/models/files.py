"""Records with labels from files: npz archives and CSV with a header, each also compressed with xz, and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...accounting.errors import InvalidValue
from ...data import read_records
from ...data.streams import opened, well_formed
from ..sampling import BoolArray
from .labelled import LabelledData


@final
@frozen(kw_only=True)
class LabelledReading:
    """How a file becomes records with labels.

    Attributes:
        target: name of the array or column of labels.
        array: name of the array of features in an npz archive; by default X. In tables the features are all columns
            but those of labels and flags.
        test: the test records: another file of the same form; or the name of an array or column of flags, which is
            not 0 for them; or in an archive that of their features.
        test_target: name of their labels in an archive, by default that of `target` with "test" for "train".
        divide_by: a public number > 0 that features are divided by.
    """

    target: str
    array: str | None = None
    test: str | None = None
    test_target: str | None = None
    divide_by: float = 1.0


@final
@frozen(kw_only=True)
class Split:
    """Records to train on, and records to test on where there are any. Private.

    Attributes:
        train: the first.
        test: the second, with as many columns.
    """

    train: LabelledData
    test: LabelledData | None

    def __attrs_post_init__(self) -> None:
        if self.test is not None and self.test.columns != self.train.columns:
            columns = f"records with {self.train.columns} columns, as those to train on"
            raise InvalidValue("test", f"{self.test.columns} columns", columns, "Name other test records")

    def map(self, features: Callable[[LabelledData], LabelledData]) -> Split:
        """The same records by other features."""
        return Split(train=features(self.train), test=None if self.test is None else features(self.test))


@final
@frozen(kw_only=True)
class _Columns:
    """What a file holds: the features, the labels, and arrays or columns by name."""

    features: NDArray[Any]
    labels: NDArray[Any]
    named: Mapping[str, NDArray[Any]]


def read_labelled(path: Path, how: LabelledReading) -> Split:
    """The records of a file.

    Raises:
        InvalidValue: for a missing or unreadable file, an unknown format, names that it does not have, labels that are
            no whole numbers ≥ 0, and records of other shapes.
    """
    found = _columns(path, how)
    if how.test is None:
        return Split(train=_labelled(found.features, found.labels, how), test=None)
    if how.test not in found.named:
        if not Path(how.test).is_file():
            known = f"a file, or one of: {', '.join(found.named)}"
            raise InvalidValue("test", how.test, known)
        other = _columns(Path(how.test), how)
        return Split(
            train=_labelled(found.features, found.labels, how), test=_labelled(other.features, other.labels, how)
        )
    chosen = found.named[how.test]
    if chosen.ndim == 1:
        flags: BoolArray = chosen != 0
        return Split(
            train=_labelled(found.features[~flags], found.labels[~flags], how),
            test=_labelled(found.features[flags], found.labels[flags], how),
        )
    name = how.test_target or how.target.replace("train", "test")
    if name not in found.named or name == how.target:
        known = f"the array of labels of {how.test}, one of: {', '.join(found.named)}"
        raise InvalidValue("test-target", name, known, "Name it: --test-target NAME")
    return Split(train=_labelled(found.features, found.labels, how), test=_labelled(chosen, found.named[name], how))


def _labelled(features: NDArray[Any], labels: NDArray[Any], how: LabelledReading) -> LabelledData:
    whole = labels.astype(np.intp, casting="unsafe") if labels.dtype.kind in "fiub" else labels
    if labels.dtype.kind not in "fiub" or not np.array_equal(whole, labels):
        raise InvalidValue("target", how.target, "labels that are whole numbers ≥ 0", "Number the classes from 0")
    return LabelledData(features=features.reshape(len(features), -1), labels=whole, divide_by=how.divide_by)


def _columns(path: Path, how: LabelledReading) -> _Columns:
    suffix = path.name.lower().removesuffix(".xz").rpartition(".")[2]
    readers: dict[str, Callable[[Path, LabelledReading], _Columns]] = {
        "npz": _archive,
        "csv": _table(_csv_header),
        "parquet": _table(_parquet_header),
    }
    if suffix not in readers:
        raise InvalidValue("data", str(path), f"a file ending in .{', .'.join(readers)}", "Convert it")
    return readers[suffix](path, how)


def _archive(path: Path, how: LabelledReading) -> _Columns:
    with ExitStack() as stack, well_formed(path, "npz"):
        archive = stack.enter_context(np.load(opened(path, stack).in_any_order(), allow_pickle=False))
        features_name = how.array or "X"
        for parameter, name in (("array", features_name), ("target", how.target)):
            if name not in archive:
                raise InvalidValue(parameter, name, f"one of: {', '.join(archive.files)}", "Name an array")
        wanted = {features_name, how.target, how.test, how.test_target, how.target.replace("train", "test")}
        named = {name: archive[name] for name in archive.files if name in wanted}  # the others stay unread
    features, labels = named[features_name], named[how.target]
    if features.ndim < 2:
        raise InvalidValue("array", f"shape {features.shape}", "an array with a record in each row")
    return _Columns(features=features, labels=labels, named=named)


def _table(header: Callable[[Path], list[str]]) -> Callable[[Path, LabelledReading], _Columns]:
    def read(path: Path, how: LabelledReading) -> _Columns:
        matrix, names = read_records(path), header(path)
        if how.target not in names:
            raise InvalidValue("target", how.target, f"one of: {', '.join(names)}", "Name a column")
        named = {name: matrix[:, column] for column, name in enumerate(names)}
        apart = {how.target, how.test}
        features = matrix[:, [column for column, name in enumerate(names) if name not in apart]]
        return _Columns(features=features, labels=named[how.target], named=named)

    return read


def _csv_header(path: Path) -> list[str]:
    with ExitStack() as stack, io.TextIOWrapper(opened(path, stack).bytes, encoding="utf-8-sig", newline="") as text:
        return next(csv.reader(text), [])


def _parquet_header(path: Path) -> list[str]:
    from pyarrow.parquet import read_schema

    return list(read_schema(path).names)
