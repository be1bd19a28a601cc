"""A picture of what a released sample tells, as PNG bytes (extra `plot`)."""

from __future__ import annotations

import numpy as np

from ..accounting.keyed.estimates import Statistic, Total, likelihood, moment_curve
from ..plots.canvas import BLUE, blank, curve_style, png
from .estimation import SampleEstimates

_NODES = 200


def plot_estimates(estimates: SampleEstimates, statistic: Statistic | None = None) -> bytes:
    """Left: bias and standard deviation of the estimate of one key, by its frequency: from the tables alone. Right:
    how many keys are estimated to have at least each frequency. All of it public.

    Args:
        estimates: from a sample of keys with frequencies.
        statistic: g; the frequency itself unless given.

    Raises:
        InvalidValue: for keys without frequencies, and where matplotlib is not installed.
    """
    figure = blank(10, 4)
    errors, survival = figure.subplots(1, 2)
    frequencies, keys = estimates.survival()
    highest = max(int(frequencies[-1]) if frequencies.size else 1, 1)
    nodes = np.unique(np.geomspace(1, highest, _NODES).round().astype(np.int64))
    curve = moment_curve(likelihood(estimates.reporting, highest), statistic or Total(), nodes)
    errors.plot(nodes, curve.bias / curve.sizes, label="bias", **curve_style(0))
    errors.plot(nodes, np.sqrt(curve.variance) / curve.sizes, label="standard deviation", **curve_style(1))
    errors.plot(nodes, curve.reported, label="probability reported", **curve_style(4))
    errors.axhline(0.0, color="black", linewidth=0.5)
    errors.set_xscale("log")
    errors.set_xlabel("frequency of a key")
    errors.set_ylabel("share of g, or probability")
    errors.set_title("error of the estimate of one key, relative to g", fontsize="medium")
    errors.legend(fontsize="small")
    survival.plot(frequencies, keys, color=BLUE, drawstyle="steps-pre")
    survival.set_xscale("log")
    if frequencies.size:  # no scale has a logarithm of nothing
        survival.set_yscale("log")
    survival.set_xlabel("frequency")
    survival.set_ylabel("estimated keys of at least that frequency")
    survival.set_title("infrequent keys are not reported, and missing here", fontsize="medium")
    return png(figure)
