"""Which store an address means."""

from __future__ import annotations

from pathlib import Path

from ..accounting.errors import InvalidType, InvalidValue
from .sqlite_store import SqliteStore
from .stores import Store


def store_at(where: Path | str) -> Store:
    """The store at a path.

    Raises:
        InvalidType: for what is no path.
        InvalidValue: for the address of a database that no ledger can be kept in.
    """
    if not isinstance(where, Path | str):
        raise InvalidType("ledger", where, "a path")
    if "://" in str(where):
        raise InvalidValue("ledger", where, "a path", "Name a file")
    return SqliteStore(Path(where))
