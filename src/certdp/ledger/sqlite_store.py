"""A ledger in a file, by SQLite: any number of processes of one machine."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, final
from urllib.parse import quote

from ..accounting.errors import InvalidValue
from .connections import OwnConnections
from .errors import LedgerDamaged, LedgerUnavailable
from .stores import Execute

_WAIT = 120
"""Seconds that one writer waits for the others."""

_APPEND_ONLY = tuple(
    f"CREATE TRIGGER {table}_{action}_refused BEFORE {action} ON {table} "
    f"BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END"
    for table in ("ledger_entries", "ledger_contents")
    for action in ("update", "delete")
)


@final
class SqliteStore:
    """A ledger in one file on a local disk, in WAL mode with full synchronisation.

    Every thread of every process has a connection of its own, so a store may be used on both sides of a fork.

    What was committed last lies in a second file, which SQLite finds by the name of the first. So a file that is opened
    under two names has two accounts, and one that was moved, removed or replaced goes on as a file that nobody else
    sees: every transaction asks whether the name still stands for the file that was opened, and is its only name.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._place = str(path)
        self._path = path.absolute()  # wherever this process, and its threads and forks, go then
        self._file: tuple[int, int] | None = None
        """Device and number of the file, from the first transaction on."""
        self.connections = OwnConnections(partial(_opened, self._path))

    @property
    def place(self) -> str:
        """The path of the file, as it was stated."""
        return self._place

    @property
    def address(self) -> Path:
        """The whole path of the file."""
        return self._path

    @property
    def secret(self) -> bool:
        """Whether what it is opened with holds a secret: a path never does."""
        return False

    def create(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Make the file, whole or not at all.

        Raises:
            InvalidValue: where there is a file of that name, or no folder that can be written.
        """
        draft = self._path.with_name(f".{self._path.name}.{secrets.token_hex(8)}.certdp")
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            try:
                with _reported(self.place), closing(_connected(draft)) as connection:
                    connection.execute("BEGIN")
                    for statement, values in (*statements, *((text, ()) for text in _APPEND_ONLY)):
                        connection.execute(statement.replace("{bytes}", "BLOB"), values)
                    connection.execute("COMMIT")
                    connection.execute("PRAGMA journal_mode = WAL")
                os.link(draft, self._path)  # unlike a renaming, it replaces no file
            finally:
                draft.unlink(missing_ok=True)
        except FileExistsError:
            raise InvalidValue("ledger", self.place, "a name that is free", "Choose another name, or open it") from None
        except OSError as error:
            admissible = "a file in a folder that can be written"
            raise InvalidValue("ledger", self.place, admissible, error.strerror or str(error)) from None
        _force_folder(self._path.parent)

    @contextmanager
    def writing(self) -> Iterator[Execute]:
        """A transaction that waits for the writers before it."""
        with self._transaction("BEGIN IMMEDIATE", "COMMIT") as execute:
            yield execute

    @contextmanager
    def reading(self) -> Iterator[Execute]:
        """A transaction that sees what was committed before it."""
        with self._transaction("BEGIN", "ROLLBACK") as execute:
            yield execute

    @contextmanager
    def _transaction(self, begin: str, end: str) -> Iterator[Execute]:
        with _reported(self.place):
            self._require_same()  # before a connection opens what lies there now
            connection = self.connections.get()
            connection.execute(begin)
            try:
                self._require_same()
                yield lambda statement, values=(), /: connection.execute(statement, values).fetchall()
                connection.execute(end)
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def _require_same(self) -> None:
        """Refuse a file that is not the one that was opened first, and one with another name.

        Raises:
            LedgerUnavailable: in these cases; nothing is written.
            InvalidValue: where there is no file, and was none.
        """
        try:
            found = self._path.stat()
        except OSError as error:
            if self._file is None:
                raise _missing(self._path) from None
            raise _moved(self.place, error.strerror or str(error)) from None
        if self._file is None:
            self._file = found.st_dev, found.st_ino
        if (found.st_dev, found.st_ino) != self._file:
            raise _moved(self.place, "another file has this name now")
        if found.st_nlink > 1:
            remedy = f"It has {found.st_nlink}: remove the others (find -samefile), nothing may be paid under them"
            raise LedgerUnavailable("ledger", self.place, "a file with one name, and no hard links", remedy)


def _opened(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise _missing(path)
    return _connected(path)


def _missing(path: Path) -> InvalidValue:
    remedy = "Create it: certdp.Ledger.create(…) or certdp ledger create"
    return InvalidValue("ledger", str(path), "a ledger, which exists", remedy)


def _moved(place: str, what: str) -> LedgerUnavailable:
    remedy = (
        f"It was moved, removed or replaced: {what}. Nothing was written: see which file is right, with its -wal "
        "beside it (an anchor tells), and open that anew"
    )
    return LedgerUnavailable("ledger", place, "the file that was opened", remedy)


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw",
        uri=True,
        timeout=_WAIT,
        isolation_level=None,
        check_same_thread=False,  # one thread uses it; any may close it
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def _reported(place: str) -> Iterator[None]:
    """Report what SQLite says as what it is: something that may pass, or a file that is not right."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        remedy = f"SQLite says: {error}. Nothing was written; look for what changed the file: certdp ledger verify"
        raise LedgerDamaged("ledger", place, "rows as certdp writes them", remedy) from None
    except sqlite3.OperationalError as error:
        remedy = f"SQLite says: {error}. What was committed stays; put that right and ask again with the same id"
        raise LedgerUnavailable("ledger", place, "a file that can be read, written and locked", remedy) from None
    except sqlite3.DatabaseError as error:
        remedy = f"SQLite says: {error}. Restore it from a copy that agrees with the anchor of its log"
        raise LedgerDamaged("ledger", place, "a ledger that certdp made", remedy) from None


def _force_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
