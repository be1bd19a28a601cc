"""Where a ledger lies: a database that runs statements in transactions, one writer at a time.

Statements are the same for every store, with `?` for each value; rows come back as tuples.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias


class Execute(Protocol):
    """Run one statement and return all of its rows."""

    def __call__(self, statement: str, values: Sequence[Any] = (), /) -> list[tuple[Any, ...]]:
        """Return the rows."""
        ...


Transaction: TypeAlias = AbstractContextManager[Execute]


class Store(Protocol):
    """A database that a ledger is kept in.

    Guarantees:
        What is done under `writing` is there as a whole and for good when the context ends, or not at all; no other
        writer comes between. Failures are `LedgerUnavailable` or `LedgerDamaged`.
    """

    @property
    def place(self) -> str:
        """Where it is, in words without passwords."""
        ...

    @property
    def address(self) -> Path | str:
        """What opens it again, from any folder."""
        ...

    @property
    def secret(self) -> bool:
        """Whether what it is opened with holds a secret."""
        ...

    def create(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Make the tables of a new ledger, all of them or none.

        Raises:
            InvalidValue: where there is something already.
        """
        ...

    def writing(self) -> Transaction:
        """A transaction that writes."""
        ...

    def reading(self) -> Transaction:
        """A transaction that reads one state of the database."""
        ...
