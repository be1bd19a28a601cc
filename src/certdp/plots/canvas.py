"""Figures without a window, and their PNG bytes or SVG text (extra `plot`)."""

from __future__ import annotations

import io
import re
from typing import Any

from ..accounting.errors import InvalidValue
from ..accounting.private import Private

BLUE, VERMILION = "#0072b2", "#d55e00"

_LOOKS: tuple[tuple[str, Any, str], ...] = (
    (BLUE, "-", "o"),
    (VERMILION, "--", "s"),
    ("#009e73", "-.", "^"),
    ("#cc79a7", ":", "D"),
    ("#000000", (0, (6, 1, 1, 1, 1, 1)), "v"),
    ("#e69f00", (0, (9, 2)), "P"),
    ("#56b4e9", (0, (3, 1, 1, 1)), "X"),
    ("#7f7f7f", (0, (1, 2)), "*"),
)
"""Colours of Okabe and Ito, which the colour-blind tell apart; dashes and marks, which are left in grey."""

_OWNERS = "private: for the data's owner, not for publication"


def blank(width: float, height: float, *, option: str = "plot") -> Any:
    """An empty matplotlib Figure of that size in inches.

    Args:
        width: in inches.
        height: in inches.
        option: what asks for it, named in the error.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidValue(
            option, "matplotlib is missing", "an installation with it", "pip install 'certdp[plot]'"
        ) from None
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def curve_style(number: int) -> dict[str, Any]:
    """How the curve of this number is drawn, unlike seven others: in colour, in grey and to the colour-blind."""
    colour, dashes, mark = _LOOKS[number % len(_LOOKS)]
    start = 0.02 * (number % len(_LOOKS))  # so that marks of curves that run together do not hide each other
    size = {"markersize": 4} if number % 2 else {"markersize": 7, "markerfacecolor": "none"}  # seen behind the next one
    return {"color": colour, "linestyle": dashes, "marker": mark, "markevery": (start, 0.16), **size}


def owners_png(figure: Any, **options: Any) -> Private[bytes]:
    """A figure of which something was computed from the records, as PNG bytes: marked on its face, and private.

    Args:
        figure: what was drawn.
        options: those of matplotlib's savefig.
    """
    figure.supxlabel(_OWNERS, fontsize="small", color="#b03a6f")
    return Private(png(figure, **options))


def png(figure: Any, **options: Any) -> bytes:
    """A public figure as PNG bytes; `options` are those of matplotlib's savefig."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150, **options)
    return stream.getvalue()


def svg(figure: Any, name: str) -> str:
    """The figure as an SVG element for a page: text stays text, and the same figure gives the same characters.

    Args:
        figure: what to draw.
        name: tells its identifiers from those of other figures on the page.
    """
    import matplotlib

    stream = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    text = stream.getvalue()
    named = re.sub(r'(?<= id=")|(?<=href="#)|(?<=url\(#)', f"{name}-", text)
    return named[named.index("<svg") :]
