"""Pictures of what is lost about each record, for the data's owner alone."""

from __future__ import annotations

import numpy as np

from ..accounting.exact import Floats
from ..accounting.guarantees import require
from ..accounting.provenance import Private
from .canvas import BLUE, blank, owners_png

_BINS = 60


def plot_losses(losses: Private[Floats]) -> Private[bytes]:
    """A histogram of individual losses as PNG bytes: private like the losses.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    require("losses", losses, Private, "Individual losses are private")
    values = losses.reveal()
    shown = values[np.isfinite(values)]
    figure = blank(6, 4)
    axes = figure.subplots()
    axes.hist(shown, bins=_BINS, color=BLUE)
    axes.set_xlabel("certified ε of a record")
    axes.set_ylabel("records")
    beyond = len(values) - len(shown)
    unbounded = f"; {beyond} without a bound" if beyond else ""
    axes.set_title(f"individual losses{unbounded}", fontsize="medium")
    return owners_png(figure)
