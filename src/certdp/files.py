"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .accounting.errors import InvalidValue

_OF_THE_NAME = 40  # characters, so that the temporary name is not longer than names may be


def write_whole(path: Path, content: bytes, *, secret: bool = False) -> None:
    """Write `content` to `path` in one step: readers see the old file or the new one.

    Args:
        path: where; its folder must exist.
        content: all of it.
        secret: readable by the owner alone.

    Raises:
        InvalidValue: where the folder is missing or not writable, or the path is that of something else than a file.
    """
    with whole_file(path, secret=secret) as stream, writing(path):
        stream.write(content)


@contextmanager
def whole_file(path: Path, *, secret: bool = False) -> Iterator[BinaryIO]:
    """A stream whose content appears at `path` in one step when the context ends; after an exception, not at all.

    What is raised in the context passes through; write within `writing` to have failures reported as the path's.

    Args:
        path: where; its folder must exist.
        secret: readable by the owner alone.

    Raises:
        InvalidValue: where the folder is missing or not writable, or the path is that of something else than a file.
    """
    target, handle, temporary = _begun(path)
    failure: BaseException | None = None
    try:
        with os.fdopen(handle, "wb") as stream:
            try:
                yield stream
            except BaseException as error:
                failure = error
                raise
            with writing(path):
                stream.flush()
                os.fsync(stream.fileno())
        with writing(path):
            if not secret:
                temporary.chmod(0o666 & ~_umask())
            temporary.replace(target)
    except OSError as error:  # what could not be written fails again as the stream is closed: the first failure counts
        raise failure or error from None
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Writing to a file that is to appear at `path`.

    Raises:
        InvalidValue: for an error of the operating system.
    """
    try:
        yield
    except OSError as error:
        raise InvalidValue("path", str(path), "a writable file", _elsewhere(error)) from None


def check_place(path: Path) -> None:
    """Find out whether a file can appear at `path`, before there is anything to write.

    Raises:
        InvalidValue: as `whole_file` does.
    """
    _, handle, temporary = _begun(path)
    os.close(handle)
    temporary.unlink()


def _begun(path: Path) -> tuple[Path, int, Path]:
    """The file that is written, and an open temporary one beside it."""
    admissible = "a file in an existing, writable folder"
    try:
        target = path.resolve()  # a link leads to the file that is written
        if target.is_dir():
            raise InvalidValue("path", str(path), "a regular file", "It is a folder: add the name of a file")
        if target.exists() and not target.is_file():
            raise InvalidValue("path", str(path), "a regular file", "It is a device or pipe: choose another name")
        if not target.parent.is_dir():
            remedy = f"Create the folder {target.parent}, or choose another"
            raise InvalidValue("path", str(path), admissible, remedy)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:_OF_THE_NAME]}.")
    except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError before Python 3.13
        raise InvalidValue("path", str(path), admissible, _elsewhere(error)) from None
    return target, handle, Path(name)


def _elsewhere(error: OSError | RuntimeError) -> str:
    """What the operating system says, without the temporary name, and what to do."""
    return f"{getattr(error, 'strerror', None) or error}: choose another place"


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
