"""Files as streams of bytes, decompressed on the way, and copies on disk for what is read out of order."""

from __future__ import annotations

import io
import lzma
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..accounting.errors import InvalidValue
from ..accounting.private import InvalidData, Private

_BLOCK = 1 << 20

T = TypeVar("T")


@frozen(eq=False)
class Stream:
    """What a file holds.

    Attributes:
        path: the file, for messages.
        bytes: its content, decompressed; it can go back to the start.
        size: length of the content, None where only reading all of it would tell.
        stack: closes what is opened on the way.
    """

    path: Path
    bytes: BinaryIO
    size: int | None
    stack: ExitStack

    def in_any_order(self) -> BinaryIO:
        """The content for reading here and there: where it is compressed, a copy on disk that has no name."""
        return self.bytes if self.size is not None else spooled(self.bytes, self.stack)


class _Decompressed(io.RawIOBase):
    """The content of an xz file, decompressed as it is read."""

    def __init__(self, path: Path, compressed: BinaryIO) -> None:
        self._path = path
        self._content = lzma.LZMAFile(compressed)  # noqa: SIM115 - closed with this object

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            return self._content.readinto(buffer)
        except (lzma.LZMAError, EOFError) as error:
            raise InvalidValue("data", str(self._path), "a file compressed with xz", str(error)) from None

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._content.seek(offset, whence)

    def close(self) -> None:
        self._content.close()
        super().close()


def opened(path: Path, stack: ExitStack) -> Stream:
    """The content of a file, decompressed where its name ends in .xz.

    Raises:
        InvalidValue: for a file that cannot be read.
    """
    try:
        file = stack.enter_context(path.open("rb"))
        size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise InvalidValue("data", str(path), "a readable file", error.strerror or str(error)) from None
    if path.name.lower().endswith(".xz"):
        raw = stack.enter_context(_Decompressed(path, file))
        return Stream(path, cast(BinaryIO, io.BufferedReader(raw, _BLOCK)), None, stack)
    return Stream(path, file, size, stack)


def temporary(stack: ExitStack) -> BinaryIO:
    """An empty file on disk that has no name and goes when it is closed."""
    return cast(BinaryIO, stack.enter_context(tempfile.TemporaryFile()))


def spooled(content: BinaryIO, stack: ExitStack) -> BinaryIO:
    """A copy of all that is left of the content, at its start."""
    copy = temporary(stack)
    shutil.copyfileobj(content, copy, _BLOCK)
    copy.seek(0)
    return copy


def fill(content: BinaryIO, block: NDArray[np.generic]) -> None:
    """Read the bytes of a C-ordered array.

    Raises:
        Malformed: where the content ends before.
    """
    view = block.reshape(-1).view(np.uint8).data
    done = 0
    while done < len(view):
        got = content.readinto(view[done:])  # type: ignore[attr-defined]
        if not got:
            raise Malformed("It ends before the entries that its header promises")
        done += got


def drain(content: BinaryIO) -> None:
    """Read to the end, where the checksums of compressed content lie."""
    while content.read(_BLOCK):
        pass


class Malformed(ValueError):
    """What our own readers say of a file: it tells nothing of what the file holds."""


@contextmanager
def well_formed(path: Path, suffix: str) -> Iterator[None]:
    """What a parser raises is about the file; its words, which may quote the file, are for the data's owner.

    Raises:
        InvalidValue: instead of any other exception.
    """
    try:
        yield
        return
    except InvalidValue:
        raise
    except Malformed as error:
        reason, words = str(error), None
    except Exception as error:  # parsers raise all sorts of things on damaged bytes
        reason, words = f"The parser stopped with {type(error).__name__}", Private(str(error))
    raise InvalidData("data", str(path), f"a well-formed .{suffix} file", reason, found=words)


def each_well_formed(items: Callable[[], Iterator[T]], path: Path, suffix: str) -> Iterator[T]:
    """What a parser gives, none of it None; what is wrong with the file shows once the reading comes to it.

    Raises:
        InvalidValue: as `well_formed`.
    """
    with well_formed(path, suffix):
        found = items()
    while True:
        with well_formed(path, suffix):
            item = next(found, None)
        if item is None:
            return
        yield item
