"""The group `certdp ledger`: a budget in a database, which many processes pay from."""

from __future__ import annotations

from ..groups import Listed, group

command = group(
    {
        "create": Listed("ledger.create", "A new ledger with a budget."),
        "pay": Listed("ledger.pay", "Pay a cost under an id, at most once."),
        "status": Listed("ledger.status", "What is spent and left, and where a request stands."),
        "statement": Listed("ledger.statement", "Who paid what and when, for people, with a plot."),
        "verify": Listed("ledger.verify", "Go through the whole log anew."),
        "export": Listed("ledger.export", "Write the log as lines of JSON."),
    },
    help="A budget in a database: any number of processes pay from it, and keep it together, wherever they are killed.",
)
