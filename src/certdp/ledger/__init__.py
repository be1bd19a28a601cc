"""Budgets that outlive a process: a database holds the account, and a filter decides what it admits."""

from .anchors import Anchor
from .errors import (
    ClockSetBack,
    LedgerDamaged,
    LedgerUnavailable,
    OutputLost,
    ReleasedBefore,
    ReservationExpired,
    SameRequest,
    UsedBefore,
)
from .individual import IndividualAccount
from .ledger import Ledger
from .paying import LedgerRequest, PaidFrom, request_of
from .replay import Findings, verify_export
from .requests import Output, Payment, RequestState
from .statements import LedgerStatement, StatementRow

__all__ = [
    "Anchor",
    "ClockSetBack",
    "Findings",
    "IndividualAccount",
    "Ledger",
    "LedgerDamaged",
    "LedgerRequest",
    "LedgerStatement",
    "LedgerUnavailable",
    "Output",
    "OutputLost",
    "PaidFrom",
    "Payment",
    "ReleasedBefore",
    "RequestState",
    "ReservationExpired",
    "SameRequest",
    "StatementRow",
    "UsedBefore",
    "request_of",
    "verify_export",
]
