"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .accounting.errors import InvalidValue


def write_whole(path: Path, content: bytes, *, secret: bool = False) -> None:
    """Write `content` to `path` in one step: readers see the old file or the new one.

    Args:
        path: where; its folder must exist.
        content: all of it.
        secret: readable by the owner alone.

    Raises:
        InvalidValue: where the folder is missing or not writable, or the path is that of something else than a file.
    """
    target = path.resolve()  # a link leads to the file that is written
    if target.exists() and not target.is_file():
        raise InvalidValue("path", str(path), "a regular file", "It is a folder, device or pipe: choose another name")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InvalidValue("path", str(path), "a file in an existing, writable folder", str(error)) from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if not secret:
            temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        raise InvalidValue("path", str(path), "a writable file", str(error)) from None
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
