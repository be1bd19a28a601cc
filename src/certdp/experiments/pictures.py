"""Pictures of experiments, as PNG bytes (extra `plot`)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, final

from attrs import frozen

from ..plots.canvas import blank, curve_style, png

_ORDER = {"opt": 0, "core": 1, "unif": 2, "full": 4, "var": 3}
LOOKS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {name: MappingProxyType(curve_style(number) | {"markevery": 1}) for name, number in _ORDER.items()}
)
"""How the curve of each sampler is drawn."""


@final
@frozen
class Picture:
    """A figure with a grid of axes; each is made with `panel`, and `png` ends it."""

    figure: Any
    axes: Any

    @classmethod
    def of(cls, rows: int, columns: int, *, width: float = 4.2, height: float = 3.4, shared: bool = False) -> Picture:
        """An empty picture; sizes are those of one panel, in inches; `shared` gives all panels one scale.

        Raises:
            InvalidValue: where matplotlib is not installed.
        """
        figure = blank(width * columns, height * rows, option="out")
        return cls(figure, figure.subplots(rows, columns, squeeze=False, sharex=shared, sharey=shared))

    def png(self, title: str) -> bytes:
        """Return the picture as a PNG file."""
        self.figure.suptitle(title, fontsize="medium")
        return png(self.figure, metadata={"Software": None})
