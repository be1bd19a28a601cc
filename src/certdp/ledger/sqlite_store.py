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

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.connections = OwnConnections(partial(_opened, path))

    @property
    def place(self) -> str:
        """The path of the file."""
        return str(self._path)

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
            connection = self.connections.get()
            connection.execute(begin)
            try:
                yield lambda statement, values=(), /: connection.execute(statement, values).fetchall()
                connection.execute(end)
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise


def _opened(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        remedy = "Create it: certdp.Ledger.create(…) or certdp ledger create"
        raise InvalidValue("ledger", str(path), "a ledger, which exists", remedy)
    return _connected(path)


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode=rw",
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
