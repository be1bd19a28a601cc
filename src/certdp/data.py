"""Reading a matrix of records from a file: npy, npz, CSV with a header or Parquet, each also compressed with xz."""

from __future__ import annotations

import io
import lzma
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from .accounting.errors import InvalidValue
from .accounting.exact import Number, exact
from .accounting.expressions.floats import Floats
from .plugins.contract import as_records

_LARGEST_INTEGER = 2**53


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


def read_records(path: Path, reading: Reading | None = None) -> Floats:
    """The records in a file, as a C-ordered float64 matrix with one record per row.

    Raises:
        InvalidValue: for a missing, unreadable or empty file, an unknown format, another shape than a matrix, text
            entries, NaN, inf, and integers that binary64 does not hold exactly.
    """
    how = reading or Reading()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidValue("data", str(path), "a readable file", error.strerror or "") from None
    name = path.name.lower()
    if name.endswith(".xz"):
        try:
            content = lzma.decompress(content)
        except lzma.LZMAError as error:
            raise InvalidValue("data", str(path), "a file compressed with xz", str(error)) from None
        name = name.removesuffix(".xz")
    suffix = name.rpartition(".")[2]
    if suffix not in _READERS:
        raise InvalidValue(
            "data", str(path), "a file ending in " + ", ".join(f".{s}" for s in _READERS) + " or those with .xz"
        )
    try:
        matrix = _READERS[suffix](content, how)
    except InvalidValue:
        raise
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise InvalidValue("data", str(path), f"a well-formed .{suffix} file", str(error)) from None
    return _as_floats(matrix, how)


def _as_floats(matrix: Any, how: Reading) -> Floats:
    values = np.asarray(matrix)
    if values.dtype.kind not in "biuf":
        raise InvalidValue(
            "data", f"entries of type {values.dtype}", "numbers", "Encode text columns or leave them out"
        )
    if values.ndim != 2:
        raise InvalidValue("data", f"an array of shape {values.shape}", "a matrix: one record per row")
    if values.dtype.kind in "iu" and values.size and max(int(values.max()), -int(values.min())) > _LARGEST_INTEGER:
        raise InvalidValue("data", "an integer beyond 2^53", "numbers that binary64 holds exactly")
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        raise InvalidValue("data", f"entries of type {values.dtype}", "at most double precision")
    if how.transpose:
        values = values.T
    if not values.size:
        raise InvalidValue("data", f"a matrix of shape {values.shape}", "at least one record and one column")
    divisor = exact(how.divide_by, parameter="divide-by")
    if divisor <= 0:
        raise InvalidValue("divide-by", str(how.divide_by), "a public bound > 0")
    records = as_records(np.ascontiguousarray(values, dtype=np.float64))
    return records if divisor == 1 else _divided(records, divisor)


def _divided(records: Floats, divisor: Fraction) -> Floats:
    return np.asarray(records / float(divisor))


def _npy(content: bytes, _: Reading) -> Any:
    return np.load(io.BytesIO(content), allow_pickle=False)


def _npz(content: bytes, how: Reading) -> Any:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        names = list(arrays.files)
        if how.array is not None:
            if how.array not in names:
                raise InvalidValue("array", how.array, f"one of: {', '.join(names)}")
            return arrays[how.array]
        if "X" in names:
            return arrays["X"]
        matrices = [name for name in names if arrays[name].ndim == 2]
        if len(matrices) != 1:
            raise InvalidValue("array", "not named", f"one of: {', '.join(names)}", "Name it: --array NAME")
        return arrays[matrices[0]]


def _csv(content: bytes, _: Reading) -> Any:
    lines = io.StringIO(content.decode("utf-8-sig"))
    header = lines.readline()
    cells = [cell.strip().strip('"') for cell in header.split(",")]
    if all(_is_number(cell) for cell in cells):
        raise InvalidValue("data", header.strip(), "a CSV file with a header line", "Add one with the columns' names")
    return np.loadtxt(lines, delimiter=",", ndmin=2, dtype=np.float64)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parquet(content: bytes, _: Reading) -> Any:
    try:
        from pyarrow import BufferReader
        from pyarrow.parquet import read_table
    except ImportError:
        raise InvalidValue(
            "data", "a Parquet file", "npy, npz or CSV in this installation", "pip install 'certdp[parquet]'"
        ) from None
    table = read_table(BufferReader(content))
    for column in table.column_names:
        if table[column].null_count:
            raise InvalidValue("data", f"missing values in column {column}", "a value in every cell")
    return np.column_stack([table[column].to_numpy() for column in table.column_names])


_READERS: dict[str, Callable[[bytes, Reading], Any]] = {"npy": _npy, "npz": _npz, "csv": _csv, "parquet": _parquet}


def example_records() -> Floats:
    """The data of IS Section 3.3: n = 1000 draws from N(0, I/10) in 10 dimensions, from a fixed seed."""
    generator = np.random.Generator(np.random.Philox(20260101))
    return np.asarray(generator.standard_normal((1000, 10)) / np.sqrt(10.0))
