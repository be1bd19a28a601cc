"""Budgets that outlive a process: a database holds the account, and a filter decides what it admits."""

from .anchors import Anchor
from .errors import (
    ClockSetBack,
    LedgerDamaged,
    LedgerUnavailable,
    OutputLost,
    ReservationExpired,
    SameRequest,
)
from .ledger import Ledger
from .replay import Findings, verify_export
from .requests import Output, Payment, RequestState
from .statements import LedgerStatement, StatementRow

__all__ = [
    "Anchor",
    "ClockSetBack",
    "Findings",
    "Ledger",
    "LedgerDamaged",
    "LedgerStatement",
    "LedgerUnavailable",
    "Output",
    "OutputLost",
    "Payment",
    "RequestState",
    "ReservationExpired",
    "SameRequest",
    "StatementRow",
    "verify_export",
]
