"""A picture of a training run, as PNG bytes (extra `plot`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..accounting.errors import InvalidValue
from ..canvas import blank, png
from .history import History

_WINDOW = 50


def plot_history(history: History) -> bytes:
    """Left and middle, by epoch and public: noise and norm sums; the ε paid. Right, by step and for the data's owner
    only: the loss, smoothed, and the share of gradients lost to stale bounds.

    Raises:
        InvalidValue: for a run without an epoch, and where matplotlib is not installed.
    """
    if not history.epochs:
        raise InvalidValue("history", "no epoch", "a run that has begun")
    figure = blank(14, 4)
    noise, paid, private = figure.subplots(1, 3)
    epochs = [row.epoch + 1 for row in history.epochs]
    noise.plot(epochs, [row.noise_multiplier for row in history.epochs], marker=".", color="#4c72b0", label="σ_G")
    noise.plot(epochs, [row.share for row in history.epochs], marker=".", color="#b03a6f", label="K̃/(Ñ·C)")
    noise.set_ylim(bottom=0)
    noise.set_title("noise and norm sums: public", fontsize="medium")
    noise.legend()
    paid.plot(epochs, [row.epsilon for row in history.epochs], marker=".", color="black")
    paid.set_ylim(bottom=0)
    paid.set_title("ε paid: public", fontsize="medium")
    for axes in (noise, paid):
        axes.set_xlabel("epoch")
    _private(private, history)
    return png(figure)


def _private(axes: Any, history: History) -> None:
    columns = history.private_columns().reveal()
    for name, label, color in (("loss", "loss", "#4c72b0"), ("stale_bias", "lost to stale bounds", "#b03a6f")):
        values = np.asarray(columns[name], dtype=np.float64)
        values = values[np.isfinite(values)]
        if values.size:
            width = min(_WINDOW, values.size)
            axes.plot(np.convolve(values, np.full(width, 1 / width), mode="valid"), color=color, label=label)
    axes.set_xlabel("step")
    axes.set_title("private, not for publication", fontsize="medium")
    axes.legend()
