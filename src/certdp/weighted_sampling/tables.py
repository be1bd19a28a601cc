"""How often a key of each frequency is reported, exactly as it is drawn, and what rounding costs: all of it public."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import final

from attrs import frozen

from ..accounting.display import Displayed
from ..accounting.enclosures import Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.keyed.key_sanitiser import algorithm_3
from ..accounting.keyed.reporting import Reporting

_GUARD = 32
_MOST_LINES = 40
_AROUND = 12


@final
@frozen(kw_only=True)
class TableRow:
    """What happens to a key of one frequency.

    Attributes:
        frequency: i.
        rate: q_i, with which the sampler keeps it.
        reported: π_i, with which it is reported, end to end: exactly what is drawn.
        loss: what the dyadic π_i falls short of the optimum of PWS Algorithm 3.
    """

    frequency: int
    rate: Enclosure
    reported: Fraction
    loss: Enclosure


@final
@frozen(kw_only=True, repr=False)
class ReportingTable(Displayed):
    """The reporting probabilities of frequencies 0, 1, …; it prints as a table.

    Attributes:
        reporting: the sanitiser after its sampler.
        rows: one per frequency, from 0.
    """

    reporting: Reporting
    rows: tuple[TableRow, ...]

    @classmethod
    def of(cls, reporting: Reporting, last: int) -> ReportingTable:
        """The rows of frequencies 0 to `last`.

        Raises:
            InvalidValue, InvalidType: for a last frequency that is no whole number ≥ 1.
            OutsideDomain: beyond the last frequency that has a rate.
        """
        return cls(reporting=reporting, rows=tuple(_rows(reporting, whole("last", last, 1))))

    def _repr_html_(self) -> str:
        return f"<pre>{self}</pre>"

    def __str__(self) -> str:
        lines = [("frequency", "kept", "reported", "optimum less reported")]
        for row in self.rows[: _AROUND if len(self.rows) > _MOST_LINES else None]:
            lines.append(_cells(row))
        if len(self.rows) > _MOST_LINES:
            lines.append(("…", "", "", ""))
            lines.extend(_cells(row) for row in self.rows[-_AROUND:])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )


def _rows(reporting: Reporting, last: int) -> Iterator[TableRow]:
    precision = reporting.budget.bits + _GUARD
    nothing = Enclosure.of(0, precision=precision)
    yield TableRow(frequency=0, rate=nothing, reported=Fraction(0), loss=nothing)
    rates = [reporting.inclusion.rate(i, precision=precision) for i in range(1, last + 1)]
    epsilon, delta = (Enclosure.of(u.value, precision=precision) for u in (reporting.epsilon, reporting.delta))
    best = algorithm_3(epsilon, delta, rates)
    for row, rate, optimum in zip(reporting.at(range(1, last + 1)), rates, best, strict=True):
        loss = optimum - row.probability
        yield TableRow(frequency=row.frequency, rate=rate, reported=row.probability, loss=loss)


def _cells(row: TableRow) -> tuple[str, str, str, str]:
    rate, loss = row.rate.midpoint, row.loss.upper_float
    return f"{row.frequency:,}", f"{float(rate):.6g}", f"{float(row.reported):.9g}", f"{loss:.2g}"
