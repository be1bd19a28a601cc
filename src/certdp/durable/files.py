"""The one door through which files appear: whole or not at all, for good, and in an order that tells the truth.

A file is written under a temporary name in its own folder, forced to disk, renamed, and its folder is forced to disk.
Files that belong together appear one right after the other, once all of them are on disk: first what the owner keeps
(`Rank.RECORD`: checkpoints with what was paid, private reports, weights), then what says how a release was made
(`Rank.STATEMENT`: certificates, statements of samples, tables of a run), then what is released (`Rank.RELEASE`).
Whoever finds a release therefore finds its records, wherever a crash fell.

A signal takes temporary files away (`interruption`). What a killed process leaves is named after its target and
locked by nobody: whoever writes that target next removes it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import BinaryIO, final

from ..accounting.errors import InvalidValue, blamed_on
from .interruption import undone_by, uninterrupted

try:
    import fcntl
except ImportError:  # where there are no such locks, a file in use cannot be removed
    fcntl = None  # type: ignore[assignment]

_OF_THE_NAME = 40  # characters, so that the temporary name is not longer than names may be
_TEMPORARY = re.compile(r"\.(.{1,40})\.[0-9a-f]{16}\.certdp", re.DOTALL)


class Rank(IntEnum):
    """What a file is, and so when it appears."""

    RECORD = 0
    STATEMENT = 1
    RELEASE = 2


def write_whole(path: Path, content: bytes, *, secret: bool = False) -> None:
    """Write `content` to `path` in one step: readers see the old file or the new one.

    Args:
        path: where; its folder must exist.
        content: all of it.
        secret: readable by the owner alone.

    Raises:
        InvalidValue: where the folder is missing or not writable, or the path is that of something else than a file.
    """
    with published() as files:
        files.write(path, content, Rank.RECORD, secret=secret)


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
    with published() as files:
        yield files.stream(path, Rank.RECORD, secret=secret)


@contextmanager
def published() -> Iterator[Publication]:
    """Files that appear together when the context ends, in the order of their ranks; after an exception, none does.

    Raises:
        InvalidValue: for a file that cannot be written; those that were replaced are then as they were before.
    """
    with ExitStack() as stack:
        files = Publication(stack)
        yield files
        files._appear()


@final
class Publication:
    """Files that are being written: see `published`."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._drafts: list[_Draft] = []

    def stream(self, path: Path, rank: Rank, *, secret: bool = False, parameter: str = "path") -> BinaryIO:
        """A stream for the content of a file; arguments and errors, of that parameter, as for `whole_file`.

        Raises:
            InvalidValue: also for a place that another file of these has.
        """
        with blamed_on(path=parameter):
            draft = self._stack.enter_context(_draft(path, rank, secret))
        if any(other.target == draft.target for other in self._drafts):
            raise InvalidValue(parameter, str(path), "a place that no other file of these has", "Choose another name")
        draft.parameter = parameter
        self._drafts.append(draft)
        return draft.stream

    def write(self, path: Path, content: bytes, rank: Rank, *, secret: bool = False) -> None:
        """Write all of a file; arguments and errors as for `write_whole`."""
        stream = self.stream(path, rank, secret=secret)
        with writing(path):
            stream.write(content)

    def digests(self) -> dict[str, str]:
        """The SHA-256 of each file so far that is not secret, as `sha256:…` by its name; each must be all there."""
        return {draft.path.name: draft.digest() for draft in self._drafts if not draft.secret}

    def digest(self, path: Path) -> str:
        """The SHA-256 of one of the files so far, which may be secret: for its owner."""
        (found,) = (draft for draft in self._drafts if draft.path == path)
        return found.digest()

    def _appear(self) -> None:
        order = sorted(self._drafts, key=lambda draft: draft.rank)
        for draft in order:
            with blamed_on(path=draft.parameter):
                draft.finish()
        with uninterrupted():
            try:
                for draft in order:
                    with blamed_on(path=draft.parameter):
                        draft.appear()
            except BaseException:
                for draft in reversed(order):
                    draft.vanish()
                raise


@final
class _Draft:
    """A file under its temporary name, open and locked."""

    def __init__(self, path: Path, target: Path, temporary: Path, stream: BinaryIO, rank: Rank, secret: bool) -> None:
        self.path, self.target, self.temporary, self.before = path, target, temporary, _temporary(target)
        self.stream, self.rank, self.secret = stream, rank, secret
        self.parameter = "path"
        self._has_appeared = False

    def finish(self) -> None:
        """All of it is on disk, with the rights that it is to have."""
        with writing(self.path):
            self.stream.flush()
            if not self.secret:
                self.temporary.chmod(0o666 & ~_umask())
            os.fsync(self.stream.fileno())

    def digest(self) -> str:
        """The SHA-256 of what is written so far."""
        with writing(self.path):
            self.stream.flush()
            with self.temporary.open("rb") as written:
                return "sha256:" + hashlib.file_digest(written, "sha256").hexdigest()

    def appear(self) -> None:
        """The target is this file, and stays it after a crash."""
        with writing(self.path):
            if self.target.exists():
                _keep(self.target, self.before)
            os.replace(self.temporary, self.target)
            self._has_appeared = True
            _force(self.target.parent)

    def vanish(self) -> None:
        """Undo the appearance of the file: the target is again what it was."""
        if self._has_appeared:
            with suppress(OSError):
                if self.before.exists():
                    os.replace(self.before, self.target)
                else:
                    self.target.unlink()

    def clear(self) -> None:
        """Remove what is left under temporary names."""
        for path in (self.temporary, self.before):
            path.unlink(missing_ok=True)


def _keep(target: Path, before: Path) -> None:
    """A second name for a file, or a copy where there are no second names."""
    try:
        os.link(target, before)
    except OSError:
        shutil.copy2(target, before)


@contextmanager
def _draft(path: Path, rank: Rank, secret: bool) -> Iterator[_Draft]:
    target = _target(path)
    _sweep(target.parent, target.name)
    with ExitStack() as stack:
        while True:
            temporary = _temporary(target)
            stack.enter_context(undone_by(partial(temporary.unlink, missing_ok=True)))
            try:
                stream = os.fdopen(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "wb")
            except OSError as error:
                raise InvalidValue("path", str(path), _ADMISSIBLE, _elsewhere(error)) from None
            if _locked(stream.fileno()):
                break
            stream.close()  # somebody took it for abandoned before it was locked
        draft = _Draft(path, target, temporary, stream, rank, secret)
        stack.enter_context(undone_by(draft.clear))
        try:
            yield draft
        finally:
            with suppress(OSError):  # what could not be written fails again
                stream.close()
            with suppress(OSError):
                draft.clear()


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder under a temporary name, which appears as `folder` with all that is in it when the context ends.

    Args:
        folder: where; nothing has that name, and the folder that it lies in exists.

    Raises:
        OSError: for what the operating system refuses; nothing appears then.
    """
    _sweep(folder.parent, folder.name)
    temporary = _temporary(folder)

    def undo() -> None:
        shutil.rmtree(temporary, ignore_errors=True)

    with undone_by(undo):
        try:
            temporary.mkdir()
            handle = os.open(temporary, os.O_RDONLY)
            try:
                _locked(handle)
                yield temporary
                for parent, _, names in os.walk(temporary, topdown=False):
                    for name in names:
                        _force(Path(parent, name))
                    _force(Path(parent))
                with uninterrupted():
                    temporary.rename(folder)
                    _force(folder.parent)
            finally:
                os.close(handle)
        finally:
            undo()


def made_folder(folder: Path) -> None:
    """Make a folder, if it is not there, so that it stays after a crash.

    Raises:
        OSError: where it cannot be made.
    """
    with suppress(FileExistsError):
        os.mkdir(folder)
        _force(folder.absolute().parent)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def digest_of(content: bytes) -> str:
    """SHA-256 as certificates, statements and logs write it: `sha256:` and hexadecimal digits."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


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
    with _draft(path, Rank.RECORD, secret=True):
        pass


def clear_abandoned(folder: Path) -> None:
    """Remove what killed processes left under temporary names in a folder."""
    _sweep(folder)


_ADMISSIBLE = "a file in an existing, writable folder"


def _target(path: Path) -> Path:
    """The file that is written: a link leads to it."""
    try:
        target = path.resolve()
        mode = _mode(target)
        if mode is not None and stat.S_ISDIR(mode):
            raise InvalidValue("path", str(path), "a regular file", "It is a folder: add the name of a file")
        if mode is not None and not stat.S_ISREG(mode):
            raise InvalidValue("path", str(path), "a regular file", "It is a device or pipe: choose another name")
        if not target.parent.is_dir():
            remedy = f"Create the folder {target.parent}, or choose another"
            raise InvalidValue("path", str(path), _ADMISSIBLE, remedy)
    except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError before Python 3.13
        raise InvalidValue("path", str(path), _ADMISSIBLE, _elsewhere(error)) from None
    return target


def _mode(target: Path) -> int | None:
    """What is there, None for nothing; loops of links and names that are too long raise in every Python."""
    try:
        return target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name[:_OF_THE_NAME]}.{secrets.token_hex(8)}.certdp")


def _sweep(folder: Path, name: str | None = None) -> None:
    """Remove what killed processes left in a folder, of one target or of all."""
    wanted = None if name is None else name[:_OF_THE_NAME]
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _TEMPORARY.fullmatch(entry.name)
            if match is not None and wanted in (None, match[1]):
                with suppress(OSError):
                    _remove_abandoned(Path(entry.path))


def _remove_abandoned(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    """Lock an open file until it is closed, however that happens; whether it still has its name then."""
    if fcntl is not None:
        with suppress(OSError):  # where the file system has no locks, nobody takes it for abandoned
            fcntl.flock(handle, fcntl.LOCK_EX)
    return os.fstat(handle).st_nlink > 0


def _force(path: Path) -> None:
    """Have the disk hold a file, or the names in a folder."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):  # this system forces no folders
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system without the notion
            raise
    finally:
        os.close(handle)


def _elsewhere(error: OSError | RuntimeError) -> str:
    """What the operating system says, without the temporary name, and what to do."""
    return f"{getattr(error, 'strerror', None) or error}: choose another place"


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
