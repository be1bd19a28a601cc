"""Plots of profiles and of what accountants prove, as PNG bytes (extra `plot`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..accounting.accountants import Accountant
from ..accounting.accountants.trade_off import TradeOff
from ..accounting.errors import InvalidValue
from ..accounting.expressions import Symbol, Variable, evaluate, variables
from ..accounting.norms import Norm
from ..accounting.pairs.loss_distribution import composed_masses
from ..accounting.private import Private
from ..accounting.relations import Direction
from ..accounting.units import Epsilon
from ..records.losses import RecordLosses
from ..runs.run import Answer, Interval, NotionAbsent, Run
from ..verification.certificates.writing import SampledPureClaim
from .canvas import blank, owners_png, png

_POINTS = 600
_PLACES = 24
_ERRORS = 200
_HIDDEN = 1e-12


def plot_profile(claim: SampledPureClaim) -> bytes:
    """ψ against the record's norm: public.

    Where the profile uses several norms, the curve follows records with a single non-zero coordinate, on which all
    norms agree; it is an estimate in floats.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    figure = blank(6, 4)
    axes = figure.subplots()
    _curve(axes, claim)
    axes.set_title(_of(claim), fontsize="medium")
    return png(figure)


def plot_measured(claim: SampledPureClaim, losses: Private[RecordLosses]) -> Private[bytes]:
    """Certified ψ of the records of a file, for their owner.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    figure = blank(6, 4, option="owner-plot")
    histogram = figure.subplots()
    histogram.hist(losses.reveal().values, bins=60, color="#4c72b0")
    histogram.set_xlabel("certified ψ (nats)")
    histogram.set_ylabel("records")
    histogram.set_title(_of(claim), fontsize="medium")
    return owners_png(figure)


def _of(claim: SampledPureClaim) -> str:
    return f"{claim.mechanism.name} on a sample drawn by {claim.sampler.name}"


def plot_accounting(run: Run[Any], answer: Answer[Any]) -> bytes:
    """What accountants prove about a run, all of it public. Left: δ(ε) by each that was asked, up to somewhat beyond
    the answer; the band is between the proven ends. Then, where they are known: the trade-off curve, and the
    distribution of the privacy loss of its worst records.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    figure = blank(15, 4)
    curves, trade, losses = figure.subplots(1, 3)
    _accountants(curves, run, answer)
    plot_losses_of(run, losses)
    try:
        found = run.trade_off()
    except NotionAbsent:
        trade.set_axis_off()
    else:
        plot_trade_off(found, trade)
    figure.suptitle(f"{answer.statement} by {answer.accountant} accounting", fontsize="medium")
    return png(figure)


def plot_trade_off(curve: TradeOff, axes: Any) -> None:
    """The proven band of a trade-off curve, and the line of what tells nothing, on axes of matplotlib."""
    alphas = np.linspace(0.0, 1.0, _ERRORS + 1)
    bounds = [curve.at(float(alpha)) for alpha in alphas]
    lower, upper = ([getattr(bound, end) for bound in bounds] for end in ("lower_float", "upper_float"))
    axes.fill_between(alphas, lower, upper, color="#4c72b0", alpha=0.4, linewidth=0.5, label="the curve lies here")
    axes.plot(alphas, 1 - alphas, color="black", linewidth=0.8, linestyle="--", label="nothing is told")
    axes.set_xlabel("first error of a test")
    axes.set_ylabel("second error")
    axes.set_title("trade-off curve", fontsize="medium")
    axes.legend()


def plot_losses_of(run: Run[Any], axes: Any) -> None:
    """The distribution of a run's privacy loss in both directions, about, on axes of matplotlib."""
    for number, pair in enumerate(run.pairs.bounding):
        for direction, color in zip(Direction, ("#4c72b0", "#dd8452"), strict=True):
            found = composed_masses(pair.releases, direction)
            if found is not None:
                tails = np.cumsum(found[1][::-1])[::-1]
                shown = tails > _HIDDEN
                label = direction.value if number == 0 else None
                axes.plot(found[0][shown], tails[shown], color=color, linewidth=1, label=label)
    if not axes.lines:
        axes.set_axis_off()
        return
    axes.set_yscale("log")
    axes.set_xlabel("privacy loss (nats)")
    axes.set_ylabel("probability of more")
    axes.set_title("loss of the worst records, about", fontsize="medium")
    axes.legend()


def _accountants(axes: Any, run: Run[Any], answer: Answer[Any]) -> None:
    farthest = 1.5 * answer.epsilon.upper or 1.0
    places = [Epsilon(float(place)) for place in np.linspace(0.0, farthest, _PLACES)]
    for row in answer.compared.rows:
        proven = [(place, bounds) for place in places if (bounds := _delta(run, place, row.accountant)) is not None]
        levels = [float(place.value) for place, _ in proven]
        (line,) = axes.plot(levels, [bounds.upper or np.nan for _, bounds in proven], label=row.accountant.name)
        if all(bounds.lower is not None for _, bounds in proven):
            ends = [(bounds.lower or np.nan, bounds.upper or np.nan) for _, bounds in proven]
            axes.fill_between(levels, *zip(*ends, strict=True), color=line.get_color(), alpha=0.3)
    axes.plot(answer.epsilon.upper, answer.delta.upper or np.nan, "o", color="black", markersize=4)
    axes.set_yscale("log")
    axes.set_ylim(bottom=(answer.delta.upper or _HIDDEN) / 1e6, top=2.0)
    axes.set_xlabel("ε (nats)")
    axes.set_ylabel("δ")
    axes.set_title("what each accountant proves", fontsize="medium")
    axes.legend()


def _delta(run: Run[Any], epsilon: Epsilon, accountant: Accountant) -> Interval | None:
    try:
        return run.delta(epsilon, accountant=accountant).delta
    except InvalidValue:  # below what released parameters cost, or nothing follows there
        return None


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
    axes.legend()
