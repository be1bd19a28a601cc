"""A picture of a ledger's statement (extra `plot`)."""

from __future__ import annotations

from ..ledger import LedgerStatement, RequestState
from .canvas import BLUE, VERMILION, blank, png


def plot_statement(statement: LedgerStatement) -> bytes:
    """The part of the budget that is used, by payment, as PNG bytes; payments without an output are marked.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    figure = blank(7, 4)
    axes = figure.subplots()
    rows = [row for row in statement.rows if row.state is not RequestState.EXPIRED]
    shares = [0.0, *(100 * row.share for row in rows)]
    axes.step(range(len(shares)), shares, where="post", color=BLUE)
    without = [number for number, row in enumerate(rows, 1) if row.state is not RequestState.COMMITTED]
    axes.plot(without, [shares[number] for number in without], "o", color=VERMILION, label="no output in the ledger")
    axes.axhline(100, color="black", linestyle="--", linewidth=1, label="budget")
    axes.set_xlabel("payments")
    axes.set_ylabel("budget used (%)")
    axes.set_title(f"{statement.data}: {statement.budget}", fontsize="medium")
    axes.legend(fontsize="small")
    return png(figure)
