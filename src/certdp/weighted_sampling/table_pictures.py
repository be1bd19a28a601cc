"""A picture of reporting probabilities, as PNG bytes (extra `plot`)."""

from __future__ import annotations

from ..plots.canvas import blank, curve_style, png
from .report import baseline_of
from .tables import ReportingTable

_NODES = 200


def plot_table(table: ReportingTable) -> bytes:
    """Kept and reported against the frequency, beside the stability-based histogram; all of it public.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    figure = blank(10, 4)
    rows = table.rows[1:]
    frequencies = [row.frequency for row in rows]
    reported = [float(row.reported) for row in rows]
    kept = [float(row.rate.midpoint) for row in rows]
    histogram = baseline_of(table.reporting)
    nodes = frequencies[:: max(1, len(frequencies) // _NODES)]
    baseline = [] if histogram is None else [float(histogram.probability(i, precision=53).midpoint) for i in nodes]
    for axes, scale in zip(figure.subplots(1, 2), ("linear", "log"), strict=True):
        axes.plot(frequencies, kept, label="sampled", **curve_style(4))
        axes.plot(frequencies, reported, label="sampled and reported", **curve_style(0))
        if baseline:
            axes.plot(nodes, baseline, label="stability-based histogram", **curve_style(1))
        axes.set_yscale(scale)
        axes.set_xlabel("frequency of a key")
        axes.set_ylabel("probability that it is")
        axes.legend(fontsize="small")
    epsilon, delta = table.reporting.epsilon, table.reporting.delta
    figure.suptitle(f"ε = {epsilon}, δ = {delta} for one element", fontsize="medium")
    return png(figure)
