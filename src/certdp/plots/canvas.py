"""Figures without a window, and their PNG bytes or SVG text (extra `plot`)."""

from __future__ import annotations

import io
import re
from typing import Any

from ..accounting.errors import InvalidValue
from ..accounting.private import Private

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


def owners_png(figure: Any) -> Private[bytes]:
    """A figure of which something was computed from the records, as PNG bytes: marked on its face, and private."""
    figure.supxlabel(_OWNERS, fontsize="small", color="#b03a6f")
    return Private(png(figure))


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
