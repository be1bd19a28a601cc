"""Reading a matrix of records from a file: npy, npz, CSV with a header or Parquet, each also compressed with xz."""

from __future__ import annotations

import csv
import io
import lzma
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from .accounting.errors import InvalidValue
from .accounting.exact import Number, exact
from .accounting.expressions.floats import Floats

_LARGEST_INTEGER = 2**53
_LEAST_BOUND, _LARGEST_BOUND = Fraction(2) ** -1022, Fraction(sys.float_info.max)
_WHOLE = re.compile(r"[+-]?[0-9]+")
_CONVERT = "Convert it"
_LEAVE_OUT = "Encode text columns as numbers or leave them out"


@frozen(kw_only=True)
class Reading:
    """How a file becomes a matrix of records.

    Attributes:
        array: name of the array in an npz file; by default X, else the only matrix.
        transpose: whether records are the columns of what the file holds.
        divide_by: a public bound that every entry is divided by.
    """

    array: str | None = None
    transpose: bool = False
    divide_by: Number = 1


def refuse_without_file(reading: Reading) -> None:
    """Refuse what says how to read a file where none is given.

    Raises:
        InvalidValue: for the first such option.
    """
    for name, value, unused in (
        ("array", reading.array, None),
        ("transpose", reading.transpose, False),
        ("divide-by", reading.divide_by, Reading().divide_by),
    ):
        if str(value) != str(unused):
            raise InvalidValue(name, str(value), "nothing, where no file is read", "Name the file: --data FILE")


def read_records(path: str | PathLike[str], reading: Reading | None = None) -> Floats:
    """The records in a file, as a C-ordered float64 matrix with one record per row.

    Raises:
        InvalidValue: for a missing, unreadable or empty file, an unknown format, another shape than a matrix, text
            entries, NaN, inf, and integers that binary64 does not hold exactly.
    """
    how = reading or Reading()
    divisor = _divisor(how.divide_by)
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidValue("data", str(path), "a readable file", error.strerror or str(error)) from None
    name = path.name.lower()
    if name.endswith(".xz"):
        try:
            content = lzma.decompress(content)
        except lzma.LZMAError as error:
            raise InvalidValue("data", str(path), "a file compressed with xz", str(error)) from None
        name = name.removesuffix(".xz")
    suffix = name.rpartition(".")[2]
    if suffix not in _READERS:
        endings = ", ".join(f".{known}" for known in _READERS)
        raise InvalidValue("data", str(path), f"a file ending in {endings}, or in one of those and .xz", _CONVERT)
    try:
        matrix = _READERS[suffix](content, how)
    except InvalidValue:
        raise
    except Exception as error:  # parsers raise all sorts of things on damaged bytes
        reason = str(error) or type(error).__name__
        raise InvalidValue("data", str(path), f"a well-formed .{suffix} file", reason) from None
    return _divided(_as_floats(matrix, how), divisor, how)


def _numbers(values: Any, where: str) -> None:
    """Refuse what binary64 does not hold exactly."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind not in "biuf":
        raise InvalidValue("data", f"{where} of type {values.dtype}", "numbers", _LEAVE_OUT)
    if kind in "iu" and values.size and max(int(values.max()), -int(values.min())) > _LARGEST_INTEGER:
        raise InvalidValue(
            "data", f"an integer beyond 2^53 in {where}", "numbers that binary64 holds exactly", "Scale it down"
        )
    if kind == "f" and size > 8:
        raise InvalidValue("data", f"{where} of type {values.dtype}", "at most double precision", "Round it to float64")


def _as_floats(matrix: Any, how: Reading) -> Floats:
    values = np.asarray(matrix)
    _numbers(values, "entries")
    if values.ndim != 2:
        raise InvalidValue(
            "data",
            f"an array of shape {values.shape}",
            "a matrix: one record per row",
            "Reshape it, a single column to (n, 1)",
        )
    if how.transpose:
        values = values.T
    if not values.size:
        raise InvalidValue(
            "data",
            f"a matrix of shape {values.shape}",
            "at least one record and one column",
            "Give a file with records",
        )
    records = np.ascontiguousarray(values, dtype=np.float64)
    finite = np.isfinite(records)
    if not finite.all():
        row, column = (int(position) for position in np.argwhere(~finite)[0])
        raise InvalidValue(
            "data",
            f"{records[row, column]} in row {row}, column {column}, counted from 0",
            "finite numbers",
            "Remove or impute such records",
        )
    return records


def _divisor(bound: Number) -> float:
    divisor = exact(bound, parameter="divide-by")
    if not _LEAST_BOUND <= divisor <= _LARGEST_BOUND:
        raise InvalidValue(
            "divide-by", str(bound), "a public bound > 0, within the range of binary64", "Leave it out to divide by 1"
        )
    return float(divisor)


def _divided(records: Floats, divisor: float, how: Reading) -> Floats:
    if divisor == 1:
        return records
    with np.errstate(over="ignore"):
        result = np.asarray(records / divisor)
    if not np.isfinite(result).all():
        raise InvalidValue(
            "divide-by", str(how.divide_by), "a public bound that keeps every entry finite", "Give a larger one"
        )
    return result


def _npy(content: bytes, _: Reading) -> Any:
    return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)


def _npz(content: bytes, how: Reading) -> Any:
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError("It is no archive of arrays: save it with numpy.savez")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        names = list(arrays.files)
        known = f"one of: {', '.join(names)}"
        if how.array is not None:
            if how.array not in names:
                raise InvalidValue("array", how.array, known, "Name one that the file has: --array NAME")
            return arrays[how.array]
        if "X" in names:
            return arrays["X"]
        matrices = [name for name in names if np.ndim(arrays[name]) == 2]
        if len(matrices) != 1:
            raise InvalidValue("array", f"none named, {len(matrices)} matrices", known, "Name it: --array NAME")
        return arrays[matrices[0]]


def _csv(content: bytes, _: Reading) -> Any:
    lines = io.StringIO(content.decode("utf-8-sig"), newline="")
    header = next(csv.reader(lines), [])
    if all(_is_number(cell) for cell in header):
        shown = ",".join(header) or "an empty first line"
        raise InvalidValue("data", shown, "a CSV file with a header line", "Add one with the columns' names")
    start, body = lines.tell(), lines.read()
    if not body.strip():
        raise InvalidValue("data", "a header alone", "at least one record", "Give a file with records")
    lines.seek(0)
    first = lines.read(start).count("\n") + 1
    try:
        matrix = np.loadtxt(io.StringIO(body), delimiter=",", ndmin=2, comments=None, quotechar='"')
    except ValueError:
        _refuse_faults(header, body, first)
        raise
    if matrix.shape[1] != len(header) or (np.abs(matrix) >= _LARGEST_INTEGER).any():
        _refuse_faults(header, body, first)
    return matrix


def _refuse_faults(header: list[str], body: str, first: int) -> None:
    for problem in _faults(header, body, first):
        raise InvalidValue("data", problem, f"exact numbers in {len(header)} columns", "Correct that line")


def _faults(header: list[str], body: str, first: int) -> Iterator[str]:
    """What is wrong with the lines of a CSV file, of which `body` starts at line `first`."""
    rows = csv.reader(io.StringIO(body, newline=""))
    for row in rows:
        line = first + rows.line_num - 1
        if row and len(row) != len(header):
            yield f"{len(row)} cells in line {line}"
        for name, cell in zip(header, row, strict=False):
            if not _is_number(cell):
                yield f"{cell.strip() or 'a missing value'} in line {line}, column {name}"
            elif _WHOLE.fullmatch(cell.strip()) and abs(int(cell)) > _LARGEST_INTEGER:
                yield f"an integer beyond 2^53 in line {line}, column {name}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _parquet(content: bytes, _: Reading) -> Any:
    try:
        from pyarrow import BufferReader
        from pyarrow.parquet import read_table
    except ImportError:
        raise InvalidValue(
            "data", "a Parquet file", "npy, npz or CSV in this installation", "pip install 'certdp[parquet]'"
        ) from None
    table = read_table(BufferReader(content))
    columns = []
    for name in table.column_names:
        if table[name].null_count:
            raise InvalidValue(
                "data", f"missing values in column {name}", "a value in every cell", "Remove or impute such records"
            )
        values = table[name].to_numpy()
        _numbers(values, f"column {name}")  # before another column's type widens this one's
        columns.append(values)
    return np.column_stack([np.asarray(values, dtype=np.float64) for values in columns])


_READERS: dict[str, Callable[[bytes, Reading], Any]] = {"npy": _npy, "npz": _npz, "csv": _csv, "parquet": _parquet}


def example_records() -> Floats:
    """The data of IS Section 3.3: n = 1000 draws from N(0, I/10) in 10 dimensions, from a fixed seed."""
    generator = np.random.Generator(np.random.Philox(20260101))
    return np.asarray(generator.standard_normal((1000, 10)) / np.sqrt(10.0))
