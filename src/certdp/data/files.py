"""Which files a data set consists of, and in which order."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from ..accounting.errors import InvalidValue

Files: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]
"""A file, a folder, a pattern such as `2024/*.parquet`, or several of these."""

_HIDDEN = (".", "_")
_SHOWN = 80


def files_of(given: Files) -> tuple[Path, ...]:
    """The files of a data set, in the order given; those of a folder or a pattern sorted by their path.

    A folder stands for all files in it and in its folders, but for names that begin with a dot or an underscore, which
    engines write beside the data. A pattern has `*`, `?`, `[…]` or `**`, as in a shell; where a file has that name, it
    is meant; it leaves such names of files and folders out, too, but for those that a part of it begins like.

    Raises:
        InvalidValue: for nothing, a folder or a pattern without files, folders that are links, and a file that comes
            twice.
    """
    several = [given] if isinstance(given, str | PathLike) else list(given)
    if not several:
        raise InvalidValue("data", "no file", "at least one file, folder or pattern", "Name it")
    files = tuple(file for one in several for file in _files(Path(one)))
    seen: dict[object, Path] = {}
    for file in files:
        first = seen.setdefault(_identity(file), file)
        if first is not file:
            remedy = "Its rows would count twice: name each file once"
            raise InvalidValue("data", f"{path_text(file)} twice", "each file once", remedy)
    return files


def folders_of(given: Files) -> list[Path]:
    """The folders among what is given, resolved."""
    several = [given] if isinstance(given, str | PathLike) else given
    return [Path(one).resolve() for one in several if Path(one).is_dir()]


def ending_of(file: Path, known: Collection[str]) -> str:
    """The ending that tells a file's format, without .xz.

    Raises:
        InvalidValue: for any that is not known.
    """
    ending = file.name.lower().removesuffix(".xz").rpartition(".")[2]
    if ending not in known:
        endings = ", ".join(f".{one}" for one in known)
        raise InvalidValue("data", str(file), f"a file ending in {endings}, or in one of those and .xz", "Convert it")
    return ending


def path_text(file: Path) -> str:
    """The path for a message: its end, where it is long."""
    text = str(file)
    return text if len(text) <= _SHOWN else f"…{text[-_SHOWN:]}"


@contextmanager
def within_file(file: Path) -> Iterator[None]:
    """Have errors about data name the file, where there are several."""
    try:
        yield
    except InvalidValue as error:
        if str(file) in str(error.value):
            raise
        raise error.placed(f"in {path_text(file)}") from None


def _identity(file: Path) -> object:
    """The same for two paths of one file, links among them."""
    try:
        found = file.stat()
    except OSError:  # it is refused when it is opened
        return file.absolute()
    return (found.st_dev, found.st_ino) if found.st_ino else file.resolve()


def _files(given: Path) -> list[Path]:
    if given.is_dir():
        return _in_folder(given)
    if os.path.lexists(given) or not glob.has_magic(str(given)):
        return [given]  # one that is missing is refused when it is opened
    matches = [Path(match) for match in glob.glob(str(given), recursive=True)]
    files = sorted({file for match in matches if not _left_out(given, match) for file in _files(match)})
    if not files:
        raise InvalidValue("data", str(given), "a pattern that files match", "Correct it")
    return files


def _left_out(pattern: Path, match: Path) -> bool:
    """Whether a wildcard came upon a name, of a file or a folder on the way, that is left out."""
    named = next(place for place, part in enumerate(pattern.parts) if glob.has_magic(part))
    asked = [part for part in pattern.parts[named:] if part.startswith(_HIDDEN)]
    hidden = [part for part in match.parts[named:] if part.startswith(_HIDDEN)]
    return not all(any(fnmatch(part, one) for one in asked) for part in hidden)


def _in_folder(folder: Path) -> list[Path]:
    files = []
    for entry in sorted(folder.rglob("*")):
        if any(part.startswith(_HIDDEN) for part in entry.relative_to(folder).parts):
            continue
        if entry.is_symlink() and entry.is_dir():
            raise InvalidValue(
                "data", path_text(entry), "folders that are no links", "Name the folder that it leads to"
            )
        if not entry.is_dir():
            files.append(entry)
    if not files:
        raise InvalidValue("data", str(folder), "a folder with files", "Name one that has some")
    return files
