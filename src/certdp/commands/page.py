"""The page that answers are printed on for people: its lines, tables, assumptions and what is the owner's alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .digits import Numbers

if TYPE_CHECKING:
    from ..accounting.derivation import Assumption
    from ..accounting.sampling.domains import NormBall

_LEAST_WIDTH = 20
_HOW = {"once": "once", "each": "afresh for each", None: "afresh for each"}


@frozen
class Page:
    """A page of the terminal.

    Attributes:
        console: where it is printed.
        numbers: how its numbers are written.
    """

    console: Console
    numbers: Numbers

    def print(self, text: str | Text, indent: int = 0, *, style: str = "") -> None:
        """Print words as they are; lines that are too long go on at the same indent."""
        words = Text(text, style=style) if isinstance(text, str) else text
        for line in words.wrap(self.console, max(self.console.width - indent, _LEAST_WIDTH)):
            line.rstrip()
            self.console.print(Text.assemble(" " * indent, line), soft_wrap=True)

    def copy(self, text: str, *, style: str = "") -> None:
        """Print words that are there to be copied, such as a path: no line is broken."""
        self.console.print(Text(text, style=style), soft_wrap=True)

    def blank(self) -> None:
        """Print an empty line."""
        self.console.print()

    def bold(self, text: str, rest: str = "", indent: int = 2) -> None:
        """Print what matters most, and the rest of its sentence."""
        self.print(Text.assemble((text, "bold"), rest), indent)

    def run(self, mechanism: str, sampler: str, *, steps: int = 1, resample: str | None = None) -> None:
        """Print what is released, and how often."""
        times = "" if steps == 1 else f", {steps:,} releases, sampled {_HOW[resample]}"
        self.print(Text.assemble((mechanism, "bold"), " on a sample drawn by ", (sampler, "bold"), times))

    def epochs(self, mechanism: str, sampler: str, *, epochs: int, batches: int) -> None:
        """Print what is released on the batches of epochs."""
        times = f", {'1 epoch' if epochs == 1 else f'{epochs:,} epochs'} of {batches:,} batches"
        self.print(Text.assemble((mechanism, "bold"), " on each batch drawn by ", (sampler, "bold"), times))

    def keyed_run(self, mechanism: str, sampler: str) -> None:
        """Print what is released of keyed data."""
        self.print(Text.assemble((mechanism, "bold"), " on keys sampled by ", (sampler, "bold")))

    def lower_end(self, about: str | None) -> None:
        """Print what lower ends are about, where that is not what is released."""
        if about is not None:
            self.print(f"lower ends are {about}", 2)

    def assumptions(self, assumptions: Iterable[Assumption]) -> None:
        """Print what an answer rests on."""
        self.print("assumptions", 2)
        for one in assumptions:
            self.print(self.numbers.words(one.exact), 4)

    def owners(self, rows: Iterable[tuple[str, str]]) -> None:
        """Print figures that only the data's owner may see."""
        self.owners_heading()
        table = Table(box=None, show_header=False)
        table.add_column(overflow="fold")
        table.add_column(justify="right", overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        self.console.print(table)

    def owners_heading(self) -> None:
        """Print that what follows is the owner's."""
        self.blank()
        self.print("for the data's owner only, not for publication", style="bold")

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[str]], *, figures: bool = False) -> None:
        """Print a table; its cells are words as they are, `figures` in all columns but the first."""
        table = Table(box=None)
        for number, heading in enumerate(headings):
            table.add_column(Text(heading), justify="right" if figures and number else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        self.console.print(table)

    def files(self, places: Mapping[str, Path | None]) -> None:
        """Print where something was written, by what it is."""
        for name, path in places.items():
            if path is not None:
                self.copy(f"{name}: {path}")


def whom(domain: NormBall | None) -> str:
    """Say for which records an answer holds."""
    if domain is None:
        return "every record"
    return f"every record with {domain}"
