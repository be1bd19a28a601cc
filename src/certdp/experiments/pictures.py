"""Pictures of experiments, drawn and not yet ended (extra `plot`): `Findings.files` marks those of the data's owner."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, final

from attrs import frozen

from ..plots.canvas import blank, curve_style, owners_png, png

_ORDER = {"opt": 0, "core": 1, "unif": 2, "full": 4, "var": 3}
LOOKS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {name: MappingProxyType(curve_style(number) | {"markevery": 1}) for name, number in _ORDER.items()}
)
"""How the curve of each sampler is drawn."""


@final
@frozen
class Picture:
    """A figure with a grid of axes, all of them about the data, or none.

    Attributes:
        figure: what is drawn on.
        axes: its panels, by row and column.
        without_data: whether all of it is the same whatever file the experiment is run on.
    """

    figure: Any
    axes: Any
    without_data: bool

    @classmethod
    def of(
        cls,
        rows: int,
        columns: int,
        *,
        width: float = 4.2,
        height: float = 3.4,
        shared: bool = False,
        without_data: bool = False,
    ) -> Picture:
        """An empty picture; sizes are those of one panel, in inches; `shared` gives all panels one scale.

        Raises:
            InvalidValue: where matplotlib is not installed.
        """
        figure = blank(width * columns, height * rows, option="out")
        axes = figure.subplots(rows, columns, squeeze=False, sharex=shared, sharey=shared)
        return cls(figure, axes, without_data)

    def titled(self, title: str) -> Picture:
        """Return the picture with a title over all panels."""
        self.figure.suptitle(title, fontsize="medium")
        return self

    def ended(self, *, owners: bool) -> bytes:
        """Return the picture as a PNG file: marked where the experiment was run on a file of its owner's."""
        options = {"metadata": {"Software": None}}
        if owners and not self.without_data:
            return owners_png(self.figure, **options).reveal()
        return png(self.figure, **options)
