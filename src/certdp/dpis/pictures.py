"""Pictures of training runs, as they were and as they are foreseen, as PNG bytes (extra `plot`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..accounting.errors import InvalidValue
from ..accounting.private import Private
from ..plots.canvas import blank, curve_style, owners_png, png
from .history import History

_WINDOW = 50

NOISE_CURVES: Mapping[str, str] = MappingProxyType(
    {
        "dpis": "DPIS",
        "dp_sgd": "DP-SGD",
        "dp_sgd_decay": "DP-SGD, decaying noise",
        "dp_sgd_loss_distribution": "DP-SGD by its loss distribution",
    }
)
"""Label by method."""


def plot_history(history: History) -> bytes:
    """Plot by epoch, for the public: noise and norm sums, and the ε paid.

    Raises:
        InvalidValue: for a run without an epoch, and where matplotlib is not installed.
    """
    if not history.epochs:
        raise InvalidValue("history", "no epoch", "a run that has begun")
    figure = blank(10, 4)
    noise, paid = figure.subplots(1, 2)
    epochs = [row.epoch + 1 for row in history.epochs]
    noise.plot(epochs, [row.noise_multiplier for row in history.epochs], label="noise multiplier σ_G", **curve_style(0))
    noise.plot(epochs, [row.share for row in history.epochs], label="norm sum K̃/(Ñ·C)", **curve_style(1))
    noise.set_ylim(bottom=0)
    noise.set_title("noise and norm sums", fontsize="medium")
    noise.legend()
    paid.plot(epochs, [row.epsilon for row in history.epochs], **curve_style(0))
    paid.set_ylim(bottom=0)
    paid.set_title("ε spent", fontsize="medium")
    paid.set_ylabel("ε (nats)")
    for axes in (noise, paid):
        axes.set_xlabel("epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
    return png(figure)


def plot_steps(history: History) -> Private[bytes]:
    """Plot by step, for the data's owner: the smoothed loss, and the share of gradients lost to stale bounds.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    figure = blank(6, 4)
    axes = figure.subplots()
    columns = history.private_columns().reveal()
    shown = ("loss", "loss"), ("stale_bias", "share lost to stale bounds")
    for number, (name, label) in enumerate(shown):
        values = np.asarray(columns[name], dtype=np.float64)
        values = values[np.isfinite(values)]
        if values.size:
            width = min(_WINDOW, values.size)
            axes.plot(np.convolve(values, np.full(width, 1 / width), mode="valid"), label=label, **curve_style(number))
    axes.set_xlabel("step")
    if axes.lines:  # none where no record has a loss that is a number
        axes.legend()
    return owners_png(figure)


def plot_noise(multipliers: Mapping[str, Sequence[float]], title: str) -> bytes:
    """σ_G by epoch as it is foreseen (DPIS Figure 1).

    Args:
        multipliers: by method: dpis, dp_sgd, dp_sgd_decay, dp_sgd_loss_distribution.
        title: of the picture.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    figure = blank(6, 4)
    axes = figure.subplots()
    draw_noise(axes, multipliers)
    axes.set_ylim(0, 1.05 * max(map(max, multipliers.values())))
    axes.set_title(title, fontsize="medium")
    return png(figure)


def draw_noise(axes: Any, multipliers: Mapping[str, Sequence[float]]) -> None:
    """A curve for each method, as for `plot_noise`."""
    for method, values in multipliers.items():
        drawn = curve_style([*NOISE_CURVES].index(method)) | {"markevery": 1}
        axes.plot(range(1, len(values) + 1), values, label=NOISE_CURVES[method], **drawn)
    axes.set_xlabel("epoch")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylabel("noise multiplier σ_G")
    axes.legend(fontsize="x-small")
