"""How answers show themselves: in at most three lines in a terminal, as a table in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from textwrap import shorten

_LONGEST = 3 * 80


class Displayed:
    """Base class of answers that print well.

    A subclass gives `__str__`, the answer in a sentence, and may give `cells`, what a table of it holds. With attrs it
    is defined with `repr=False`.
    """

    __slots__ = ()

    def cells(self) -> Iterator[tuple[str, str]]:
        """What a table shows: names and values."""
        yield type(self).__name__, str(self)

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"<{kind}: {shorten(str(self), _LONGEST - len(kind) - 4, placeholder=' …')}>"

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'
            for name, value in self.cells()
        )
        return f"<table>{cells}</table>"
