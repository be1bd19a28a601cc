"""Plots of profiles, as PNG bytes (extra `plot`)."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from .accounting.errors import InvalidValue
from .accounting.expressions import Symbol, Variable, evaluate, variables
from .accounting.norms import Norm
from .measurement import Measurement
from .verification.certificates import SampledPureClaim

_POINTS = 600


def plot_profile(claim: SampledPureClaim, measured: Measurement) -> bytes:
    """Left: ψ against the record's norm, public. Right: ψ of the records in the file, for their owner only.

    Where the profile uses several norms, the left curve follows records with a single non-zero coordinate, on which
    all norms agree; it is an estimate in floats. The right histogram shows certified values.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidValue(
            "plot", "matplotlib is missing", "an installation with it", "pip install 'certdp[plot]'"
        ) from None
    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)
    curve, histogram = figure.subplots(1, 2)
    _curve(curve, claim)
    histogram.hist(measured.psi, bins=60, color="#4c72b0")
    histogram.set_xlabel("certified ψ (nats)")
    histogram.set_ylabel("records")
    histogram.set_title("records of the file: private, not for publication", fontsize="medium")
    figure.suptitle(f"{claim.mechanism.name} on a sample drawn by {claim.sampler.name}", fontsize="medium")
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150)
    return stream.getvalue()


def _curve(axes: Any, claim: SampledPureClaim) -> None:
    norms = [v for v in variables(claim.profile.remove) if v.symbol is Symbol.NORM]
    order = "1" if not norms else norms[0].index
    largest = 1.0
    if claim.domain is not None:
        order, largest = claim.domain.norm.value, float(claim.domain.radius.value)
    sizes = np.linspace(0.0, largest, _POINTS + 1)[1:]
    values: dict[Variable, Any] = dict.fromkeys(norms, sizes)
    for direction, label in ((claim.profile.remove, "remove: ψ"), (claim.profile.add, "add")):
        rounding = {v: 0.0 for v in variables(direction) if v.symbol is Symbol.ROUNDING}
        axes.plot(sizes, np.broadcast_to(evaluate(direction, {**values, **rounding}), sizes.shape), label=label)
    if claim.supremum is not None:
        axes.axhline(claim.supremum.enclosure.upper_float, color="black", linewidth=0.8, linestyle="--", label="ε")
    axes.set_xlabel(f"‖x‖{Norm(order).subscript}")
    axes.set_ylabel("loss (nats)")
    axes.set_title("profile: public", fontsize="medium")
    axes.legend()
