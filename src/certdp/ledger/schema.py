"""The tables of a ledger. The log and the contents are the ledger; the others follow from the log.

The database itself refuses a total beyond the budget, a second row of an account, and changes of the log.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..accounting.filters.totals import FULL

VERSION = 2

_USES = "CREATE TABLE ledger_uses (name TEXT PRIMARY KEY, request TEXT NOT NULL)"

SINCE: Mapping[int, tuple[str, ...]] = {1: (_USES,)}
"""What brings the tables of an older version to the next one; logs stay as they are."""

TABLES = (
    "CREATE TABLE ledger_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL)",
    "CREATE TABLE ledger_entries (number BIGINT PRIMARY KEY, body TEXT NOT NULL, digest TEXT NOT NULL UNIQUE)",
    "CREATE TABLE ledger_contents (digest TEXT PRIMARY KEY, content {bytes} NOT NULL)",
    "CREATE TABLE ledger_account (one INTEGER PRIMARY KEY CHECK (one = 1), sums TEXT NOT NULL, "
    f"share BIGINT NOT NULL CHECK (share BETWEEN 0 AND {FULL}), number BIGINT NOT NULL, digest TEXT NOT NULL, "
    "time TEXT NOT NULL)",
    "CREATE TABLE ledger_requests (request TEXT PRIMARY KEY, state TEXT NOT NULL "
    "CHECK (state IN ('reserved', 'begun', 'committed', 'expired')), terms TEXT NOT NULL, attempt TEXT NOT NULL, "
    "paid BIGINT NOT NULL, entry BIGINT NOT NULL, expires TEXT)",
    "CREATE INDEX ledger_reservations ON ledger_requests (expires) WHERE state = 'reserved'",
    _USES,
)
