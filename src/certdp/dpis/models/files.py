"""Records with labels from files: npz archives and CSV with a header, each also compressed with xz, and Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...accounting.errors import InvalidValue
from ...accounting.private import InvalidData, Private
from ...data import read_records
from ...data.lines import COMMAS
from ...data.streams import opened, well_formed
from ..sampling import BoolArray
from .labelled import LabelledData

_FEATURES = "X"
_NUMBERS = "fiub"  # kinds of NumPy types
_BEYOND = 2**53  # from here on binary64 skips whole numbers
_OTHER_TEST = "Name other test records"


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
            raise InvalidValue("test", f"{self.test.columns} columns", columns, _OTHER_TEST)

    def map(self, features: Callable[[LabelledData], LabelledData]) -> Split:
        """Return the split with other features of the same records."""
        return Split(train=features(self.train), test=None if self.test is None else features(self.test))


@final
@frozen(kw_only=True)
class _Columns:
    """What a file holds: the features, the labels, what else is asked for by name, and all names that there are."""

    features: NDArray[Any]
    labels: NDArray[Any]
    named: Mapping[str, NDArray[Any]]
    names: Sequence[str]


def read_labelled(path: Path, how: LabelledReading) -> Split:
    """The records of a file.

    Raises:
        InvalidValue: for a missing or unreadable file, an unknown format, names that it does not have or has no use
            for, labels that are no whole numbers ≥ 0, flags that leave no records on one side, and records of other
            shapes.
    """
    found = _columns(path, how)
    chosen = None if how.test is None else found.named.get(how.test)
    if how.test_target is not None and (chosen is None or chosen.ndim < 2):
        remedy = "Leave it out, or name an array of features: --test NAME"
        raise InvalidValue("test-target", how.test_target, "nothing, where --test names no array of features", remedy)
    if how.test is None:
        return Split(train=_labelled(found.features, found.labels, how), test=None)
    if chosen is None:
        if not Path(how.test).is_file():
            known = f"a file, or one of its {len(found.names)} arrays or columns"
            raise InvalidData("test", how.test, known, "Name one of them", found=Private(", ".join(found.names)))
        other = _columns(Path(how.test), how)
        return Split(
            train=_labelled(found.features, found.labels, how), test=_labelled(other.features, other.labels, how)
        )
    if chosen.ndim < 2:
        flags = _flags(chosen, len(found.labels), how.test)
        return Split(
            train=_labelled(found.features[~flags], found.labels[~flags], how),
            test=_labelled(found.features[flags], found.labels[flags], how),
        )
    name = how.test_target or how.target.replace("train", "test")
    if name not in found.named or name == how.target:
        others = [known for known in found.names if known not in (how.target, how.test, how.array or _FEATURES)]
        known = f"the array of labels of {how.test}, one of: {', '.join(others)}"
        raise InvalidValue("test-target", name, known, "Name it: --test-target NAME")
    return Split(train=_labelled(found.features, found.labels, how), test=_labelled(chosen, found.named[name], how))


def names_in(path: Path) -> list[str]:
    """Names of the arrays or columns of a file.

    Raises:
        InvalidValue: for a missing or unreadable file and an unknown format.
    """
    return _format_of(path).names(path)


def _flags(column: NDArray[Any], records: int, name: str) -> BoolArray:
    """Read which records are for testing."""
    if column.shape != (records,) or column.dtype.kind not in _NUMBERS or np.isnan(column).any():
        admissible = f"{records} flags, 0 or not, one for each record"
        raise InvalidValue("test", f"{name}, of shape {column.shape} and type {column.dtype}", admissible, _OTHER_TEST)
    flags: BoolArray = column != 0
    if flags.all() or not flags.any():
        value = f"{name}, which is {'never' if flags.any() else 'always'} 0"
        raise InvalidValue("test", value, "flags that are 0 for some records and not for others", _OTHER_TEST)
    return flags


def _labelled(features: NDArray[Any], labels: NDArray[Any], how: LabelledReading) -> LabelledData:
    rows = features.reshape(len(features), -1)
    return LabelledData(features=rows, labels=_whole(labels, how.target), divide_by=how.divide_by)


def _whole(labels: NDArray[Any], name: str) -> NDArray[np.intp]:
    """Labels as whole numbers, where they are such."""
    admissible, remedy = "labels that are whole numbers ≥ 0", "Number the classes from 0"
    if labels.dtype.kind not in _NUMBERS:
        raise InvalidValue("target", f"{name}, of type {labels.dtype}", admissible, remedy)
    wrong = ~((labels >= 0) & (labels < _BEYOND) & (labels == np.floor(labels)))
    if wrong.any():
        place = f"another label in row {int(wrong.argmax())} of {name}, counted from 0"
        raise InvalidData("target", place, admissible, remedy, found=Private(labels[wrong].flat[0].item()))
    return labels.astype(np.intp)


def _columns(path: Path, how: LabelledReading) -> _Columns:
    found = _format_of(path).read(path, how)
    if not found.features.size:
        shape = f"features of shape {found.features.shape}"
        raise InvalidValue("data", shape, "records with entries", "Name other data")
    return found


def _archive(path: Path, how: LabelledReading) -> _Columns:
    with _opened_archive(path) as archive:
        features_name = how.array or _FEATURES
        for parameter, name in (("array", features_name), ("target", how.target)):
            if name not in archive:
                raise InvalidValue(parameter, name, f"one of: {', '.join(archive.files)}", "Name an array")
        wanted = {features_name, how.target, how.test, how.test_target, how.target.replace("train", "test")}
        named = {name: archive[name] for name in archive.files if name in wanted}  # the others stay unread
        names = archive.files
    features, labels = named[features_name], named[how.target]
    if features.ndim < 2:
        remedy = "Name another array"
        raise InvalidValue("array", f"shape {features.shape}", "an array with a record in each row", remedy)
    if labels.shape != features.shape[:1]:
        remedy = "Name the array of their labels"
        raise InvalidValue("target", f"shape {labels.shape}", f"{len(features)} labels, one for each record", remedy)
    return _Columns(features=features, labels=labels, named=named, names=names)


@contextmanager
def _opened_archive(path: Path) -> Iterator[Any]:
    with ExitStack() as stack, well_formed(path, "npz"):
        yield stack.enter_context(np.load(opened(path, stack).in_any_order(), allow_pickle=False))


def _archive_names(path: Path) -> list[str]:
    with _opened_archive(path) as archive:
        return list(archive.files)


def _table(header: Callable[[Path], list[str]]) -> Callable[[Path, LabelledReading], _Columns]:
    def read(path: Path, how: LabelledReading) -> _Columns:
        if how.array is not None:
            remedy = "Leave it out: the features are the other columns"
            raise InvalidValue("array", how.array, "nothing, for a table", remedy)
        matrix, names = read_records(path), header(path)
        if how.target not in names:
            known = f"the name of one of its {len(names)} columns"
            raise InvalidData("target", how.target, known, "Name a column", found=Private(", ".join(names)))
        named = {name: matrix[:, column] for column, name in enumerate(names)}
        apart = {how.target, how.test}
        features = matrix[:, [column for column, name in enumerate(names) if name not in apart]]
        return _Columns(features=features, labels=named[how.target], named=named, names=names)

    return read


def _csv_header(path: Path) -> list[str]:
    with ExitStack() as stack, well_formed(path, "csv"):
        return COMMAS.first(opened(path, stack).bytes.readline().decode("utf-8-sig"))


def _parquet_header(path: Path) -> list[str]:
    with ExitStack() as stack, well_formed(path, "parquet"):
        from pyarrow.parquet import read_schema

        return list(read_schema(opened(path, stack).in_any_order()).names)


@final
@frozen
class _Format:
    """A format of files.

    Attributes:
        read: what a file holds.
        names: of its arrays or columns.
    """

    read: Callable[[Path, LabelledReading], _Columns]
    names: Callable[[Path], list[str]]


_FORMATS: Mapping[str, _Format] = {
    "npz": _Format(_archive, _archive_names),
    "csv": _Format(_table(_csv_header), _csv_header),
    "parquet": _Format(_table(_parquet_header), _parquet_header),
}


def _format_of(path: Path) -> _Format:
    suffix = path.name.lower().removesuffix(".xz").rpartition(".")[2]
    if suffix not in _FORMATS:
        raise InvalidValue("data", str(path), f"a file ending in .{', .'.join(_FORMATS)}", "Convert it")
    return _FORMATS[suffix]
