# pyright: reportMissingImports=false
"""A ledger in a PostgreSQL database: any number of machines (extra `postgres`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, final
from urllib.parse import unquote

from ..accounting.errors import InvalidValue
from .connections import OwnConnections
from .errors import LedgerDamaged, LedgerUnavailable
from .stores import Execute

_WAIT = "120 s"
"""How long one writer waits for the others, and how long the server waits for what a writer does next."""
_ALREADY = "42P07"
"""What PostgreSQL says where a table exists."""

_SECRETS = ("password", "secret", "scram")
"""Words in the names of libpq's parameters that are not shown."""

_APPEND_ONLY = (
    "CREATE FUNCTION ledger_only_grows() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'a ledger only grows' USING ERRCODE = 'integrity_constraint_violation'; END $$",
    *(
        f"CREATE TRIGGER {table}_refused BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "EXECUTE FUNCTION ledger_only_grows()"
        for table in ("ledger_entries", "ledger_contents")
    ),
)


@final
class PostgresStore:
    """A ledger in the tables of one database; `?options=-csearch_path=NAME` puts several into one database.

    Writers lock the account, one at a time; what they commit is on the server's disk.

    Args:
        address: postgresql://…, as libpq reads it.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self.connections: OwnConnections[Any] = OwnConnections(partial(_connected, address))

    @property
    def place(self) -> str:
        """The address without its passwords."""
        return _place(self._address)

    @property
    def address(self) -> str:
        """The address as libpq reads it."""
        return self._address

    @property
    def secret(self) -> bool:
        """Whether the address holds what `place` does not show."""
        return self.place != self._address

    def create(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Make the tables, all of them or none.

        Raises:
            InvalidValue: where there is a ledger already.
        """
        with self._transaction("BEGIN", "COMMIT") as execute:
            for statement, values in (*statements, *((text, ()) for text in _APPEND_ONLY)):
                execute(statement.replace("{bytes}", "BYTEA"), values)

    @contextmanager
    def writing(self) -> Iterator[Execute]:
        """A transaction that waits for the writers before it, on all machines; one that vanished is ended."""
        with self._transaction("BEGIN", "COMMIT") as execute:
            execute("SET LOCAL synchronous_commit = on")
            execute(f"SET LOCAL idle_in_transaction_session_timeout = '{_WAIT}'")
            execute("LOCK TABLE ledger_account IN EXCLUSIVE MODE")
            yield execute

    @contextmanager
    def reading(self) -> Iterator[Execute]:
        """A transaction that sees one state of the database."""
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "ROLLBACK") as execute:
            yield execute

    @contextmanager
    def _transaction(self, begin: str, end: str) -> Iterator[Execute]:
        with self._reported() as psycopg:
            connection = self.connections.get()

            def execute(statement: str, values: Sequence[Any] = (), /) -> list[tuple[Any, ...]]:
                found = connection.execute(statement.replace("?", "%s"), values or None)
                return found.fetchall() if found.description else []

            try:
                execute(begin)
                yield execute
                execute(end)
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                if connection.broken or connection.closed:
                    self.connections.drop()
                raise

    @contextmanager
    def _reported(self) -> Iterator[Any]:
        """Report what the server says as what it is: something that may pass, or tables that are not right."""
        psycopg = _psycopg()
        try:
            yield psycopg
        except psycopg.IntegrityError as error:
            remedy = f"PostgreSQL says: {_words(error)}. Nothing was written: certdp ledger verify"
            raise LedgerDamaged("ledger", self.place, "rows as certdp writes them", remedy) from None
        except psycopg.errors.UndefinedTable:
            remedy = "Create it: certdp.Ledger.create(…) or certdp ledger create"
            raise InvalidValue("ledger", self.place, "a ledger, which exists", remedy) from None
        except psycopg.errors.LockNotAvailable:
            remedy = f"Other writers had it for {_WAIT}. Nothing was written; ask again with the same id"
            raise LedgerUnavailable("ledger", self.place, "writers that let the next one in", remedy) from None
        except psycopg.Error as error:
            if error.sqlstate == _ALREADY:
                remedy = "Choose another database or search_path, or open it"
                raise InvalidValue("ledger", self.place, "a database without a ledger", remedy) from None
            remedy = f"PostgreSQL says: {_words(error)}. What was committed stays; ask again with the same id"
            raise LedgerUnavailable("ledger", self.place, "a server that can be reached", remedy) from None


def _place(address: str) -> str:
    """The address without what is secret in it: before the host, and among the parameters, where libpq reads it too."""
    scheme, separator, rest = address.partition("://")
    owner, at, after = rest.partition("@") if "@" in rest else ("", "", rest)
    if "@" in after or {"/", "?"} & set(owner):  # what stands where depends on who reads it
        return f"{scheme}{separator}…"
    where, question, parameters = after.partition("?")
    public = [one for one in parameters.split("&") if not _is_secret(one)]
    shown = f"{scheme}{separator}{owner.partition(':')[0]}{at}{where}"
    return f"{shown}{question}{'&'.join(public)}" if public else shown


def _is_secret(parameter: str) -> bool:
    name = unquote(parameter.partition("=")[0]).lower()
    return any(secret in name for secret in _SECRETS)


def _connected(address: str) -> Any:
    psycopg = _psycopg()
    connection = psycopg.connect(address, autocommit=True, prepare_threshold=None)
    try:
        connection.execute(f"SET lock_timeout = '{_WAIT}'")
        ((forced,),) = connection.execute("SHOW fsync").fetchall()
        if forced != "on":
            remedy = "Set fsync = on there: else a payment may be lost with the machine"
            raise LedgerUnavailable("ledger", _place(address), "a server that forces what it commits to disk", remedy)
    except BaseException:
        connection.close()
        raise
    return connection


def _words(error: Exception) -> str:
    return " ".join(str(error).split())


def _psycopg() -> Any:
    """Return the module that speaks with PostgreSQL.

    Raises:
        InvalidValue: where it is not installed.
    """
    try:
        import psycopg
    except ImportError:
        remedy = "pip install 'certdp[postgres]'"
        raise InvalidValue("ledger", "psycopg is missing", "an installation with it", remedy) from None
    return psycopg
