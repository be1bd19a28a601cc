"""Which store an address means."""

from __future__ import annotations

from pathlib import Path

from ..accounting.errors import InvalidType, InvalidValue
from .postgres_store import PostgresStore
from .sqlite_store import SqliteStore
from .stores import Store

_POSTGRESQL = ("postgresql", "postgres")


def store_at(where: Path | str) -> Store:
    """The store at a path, or at the address of a database of PostgreSQL.

    Raises:
        InvalidType: for what is neither.
        InvalidValue: for the address of another database.
    """
    if not isinstance(where, Path | str):
        raise InvalidType("ledger", where, "a path or an address")
    scheme, separator, _ = str(where).partition("://")
    if separator and scheme in _POSTGRESQL:
        return PostgresStore(str(where))
    if separator:
        raise InvalidValue("ledger", f"{scheme}://…", "a path, or postgresql://…", "Name a file or such a database")
    return SqliteStore(Path(where))
