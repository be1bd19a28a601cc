"""Pictures of experiments, as PNG bytes (extra `plot`)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, final

from attrs import frozen

from ..accounting.errors import InvalidValue

COLOURS: Mapping[str, str] = MappingProxyType(
    {"opt": "#e0a000", "core": "#2e8b57", "unif": "#3b6fb6", "full": "black", "var": "#b03a6f"}
)


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
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError:
            raise InvalidValue(
                "out", "matplotlib is missing", "an installation with it", "pip install 'certdp[plot]'"
            ) from None
        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        FigureCanvasAgg(figure)
        return cls(figure, figure.subplots(rows, columns, squeeze=False, sharex=shared, sharey=shared))

    def png(self, title: str) -> bytes:
        """The picture."""
        self.figure.suptitle(title, fontsize="medium")
        stream = io.BytesIO()
        self.figure.savefig(stream, format="png", dpi=150, metadata={"Software": None})
        return stream.getvalue()
