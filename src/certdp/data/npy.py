"""Arrays of NumPy: npy files, and npz archives of them."""

from __future__ import annotations

import zipfile
from typing import Any, BinaryIO, cast

import numpy as np
from attrs import frozen

from ..accounting.errors import InvalidValue
from .numbers import refuse_shape, require_type
from .reading import Reading
from .streams import Malformed, Stream, spooled
from .tables import ByColumns, ByRows, Table


@frozen
class _Header:
    """What an npy file says about its array.

    Attributes:
        shape: of the array.
        by_columns: whether a matrix lies column after column.
        kind: type of an entry.
        start: position of the first entry.
    """

    shape: tuple[int, ...]
    by_columns: bool
    kind: np.dtype[Any]
    start: int

    @classmethod
    def read(cls, content: BinaryIO) -> _Header:
        version = np.lib.format.read_magic(content)
        if version[0] == 1:
            shape, by_columns, kind = np.lib.format.read_array_header_1_0(content)
        else:  # version 3 differs in the names of fields alone
            shape, by_columns, kind = np.lib.format.read_array_header_2_0(content)
        return cls(shape, by_columns, kind, content.tell())

    def require(self, size: int | None) -> None:
        """Refuse what is no matrix of numbers, and content that is too short for it."""
        if self.kind.hasobject:
            raise Malformed("Object arrays cannot be loaded when allow_pickle=False")
        require_type(self.kind, "entries")
        entries = 1
        for length in self.shape:
            if length < 0:
                raise Malformed(f"Its header states the shape {self.shape}")
            entries *= length
        if size is not None and size - self.start < entries * self.kind.itemsize:
            raise Malformed("It ends before the entries that its header promises")
        if len(self.shape) != 2:
            refuse_shape(self.shape)


def npy(stream: Stream, how: Reading) -> Table:
    """The array of an npy file; entries that lie across the records are read from a copy where they are compressed."""
    how.require_unnamed()
    return _matrix(stream.bytes, stream.size, stream.size is not None, stream, how)


def npz(stream: Stream, how: Reading) -> Table:
    """The array of an npz archive that is named, or X, or the only matrix; one that is compressed is decompressed as
    it is read."""
    how.require_unnamed()
    whole = stream.in_any_order()
    if not zipfile.is_zipfile(whole):
        raise Malformed("It is no archive of arrays: save it with numpy.savez")
    archive = stream.stack.enter_context(zipfile.ZipFile(whole))
    member = archive.getinfo(_member(archive, how.array))
    content = cast(BinaryIO, stream.stack.enter_context(archive.open(member)))
    return _matrix(content, member.file_size, False, stream, how)  # its reader goes back only by starting anew


def _matrix(content: BinaryIO, size: int | None, in_any_order: bool, stream: Stream, how: Reading) -> Table:
    header = _Header.read(content)
    header.require(size)
    lines, columns = reversed(header.shape) if how.transpose else header.shape
    if header.by_columns == how.transpose:
        return ByRows(content, header.start, lines, columns, header.kind)
    if in_any_order:
        return ByColumns(content, header.start, lines, columns, header.kind)
    return ByColumns(spooled(content, stream.stack), 0, lines, columns, header.kind)


def _member(archive: zipfile.ZipFile, wanted: str | None) -> str:
    """The file in the archive that holds the records."""
    files = {name.removesuffix(".npy"): name for name in archive.namelist()}
    known = f"one of: {', '.join(files)}"
    if wanted is not None:
        if wanted not in files:
            raise InvalidValue("array", wanted, known, "Name one that the file has: --array NAME")
        return files[wanted]
    if "X" in files:
        return files["X"]
    matrices = [name for name in files.values() if _dimensions(archive, name) == 2]
    if len(matrices) != 1:
        raise InvalidValue("array", f"none named, {len(matrices)} matrices", known, "Name it: --array NAME")
    return matrices[0]


def _dimensions(archive: zipfile.ZipFile, name: str) -> int:
    with archive.open(name) as content:
        return len(_Header.read(cast(BinaryIO, content)).shape)
