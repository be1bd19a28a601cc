"""Plots of profiles and of what accountants prove, as PNG bytes (extra `plot`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve

from ..accounting.accountants import LOSS_DISTRIBUTION, Accountant
from ..accounting.accountants.trade_off import TradeOff, bayes_risk, trade_off, true_positive_rate
from ..accounting.derivation import EX_POST
from ..accounting.display import EXACT_UP_TO, rounded_up, shorten
from ..accounting.enclosures import Enclosure
from ..accounting.errors import CertdpError, InvalidValue
from ..accounting.expressions import Symbol, Variable, evaluate, variables
from ..accounting.loss_distribution.profile import PICTURE
from ..accounting.norms import Norm
from ..accounting.pairs.loss_distribution import composed_masses
from ..accounting.private import Private
from ..accounting.relations import Direction
from ..accounting.units import Delta, Epsilon
from ..records.losses import RecordLosses
from ..runs.calibration import Budget, Calibration
from ..runs.risk import Risk
from ..runs.run import Answer, Interval, NotionAbsent, Run
from ..verification.certificates.writing import SampledPureClaim
from .canvas import BLUE, blank, curve_style, owners_png, png

_DIGITS = 6
_POINTS = 600
_PLACES = 13
_ERRORS = 100
_TRADE_OFF_PLACES, _RISK_PLACES = 24, 48
_FARTHEST = 64.0
_HIDDEN = 1e-12
_RAREST = 1e-5
_UNSEEN = Delta("1e-4")
"""Errors of so much do not show where they are drawn from 0 to 1."""
_RARELY_SEEN = Delta("1e-7")
"""Nor do these against the rarest accusations."""
_RATES = 101
_PRIORS = 40
_BLIND: dict[str, Any] = {"color": "black", "linewidth": 0.8, "linestyle": "--", "label": "blind guess"}

CALIBRATION_PLACES = 13
"""Values that a picture of a calibration shows."""
Advance: TypeAlias = Callable[[], None] | None


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
    histogram.hist(losses.reveal().values, bins=60, color=BLUE)
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
    shared = LOSS_DISTRIBUTION.along(PICTURE)
    _accountants(curves, run, answer, shared)
    plot_losses_of(run, losses)
    try:
        found = _on_grid(run, shared, _TRADE_OFF_PLACES, _farthest(run, shared, _UNSEEN))
    except NotionAbsent:
        trade.set_axis_off()
    else:
        plot_trade_off(found, trade)
    title = answer.stated(lambda upper: _written(upper, answer.asked))
    figure.suptitle(f"{title} by {answer.accountant} accounting", fontsize="medium")
    return png(figure)


def _written(upper: float, asked: Delta | Epsilon) -> str:
    """A proven end, or the number asked about where that is the one that was rounded up to it."""
    same = Enclosure.of(asked.value).upper_float == upper
    return shorten(str(asked), EXACT_UP_TO) if same else rounded_up(upper, _DIGITS)


def plot_calibration(
    run: Callable[[Fraction], Run[Any]], found: Calibration[Any], budget: Budget, name: str, *, advance: Advance = None
) -> bytes:
    """ε at the δ of a budget against the value that was looked for, around the one found; all of it public.

    Args:
        run: the run at a value.
        found: what `calibrate` gave for it.
        budget: within what.
        name: of the value, for its axis.
        advance: called after each of the `CALIBRATION_PLACES` values, which one run each is asked about.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    figure = blank(6, 4)
    axes = figure.subplots()
    places, losses = [], []
    for value in _around(found.value):
        try:
            known = run(value).epsilon(budget.delta, accountant=found.answer.accountant).epsilon.upper
        except CertdpError:  # outside the range of the value, or nothing follows there
            known = math.inf
        if math.isfinite(known):
            places.append(float(value))
            losses.append(known)
        if advance is not None:
            advance()
    axes.plot(places, losses, label="ε proven", **(curve_style(0) | {"markevery": 1}))
    allowed = float(budget.epsilon.value)
    axes.axhline(
        allowed, label=f"budget, ε = {shorten(str(budget.epsilon), EXACT_UP_TO)}", **(curve_style(1) | {"marker": ""})
    )
    stated = shorten(str(found.value), EXACT_UP_TO)
    axes.plot(float(found.value), allowed, "*", color="black", markersize=12, zorder=3, label=f"{name} = {stated}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = [float(found.value) * 2.0**octave for octave in range(-2, 3)]
    axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(name)
    axes.set_ylabel("ε (nats)")
    axes.set_title(f"ε at δ = {shorten(str(budget.delta), EXACT_UP_TO)} against {name}", fontsize="medium")
    axes.legend(fontsize="small")
    return png(figure)


def _around(value: Fraction) -> Iterator[Fraction]:
    """Values from a quarter of one to four times as much; whole numbers around a whole one."""
    for step in range(-(CALIBRATION_PLACES // 2), CALIBRATION_PLACES // 2 + 1):
        moved = value * Fraction(2.0 ** (step / 3))
        yield Fraction(max(1, round(moved))) if value.denominator == 1 else moved


def plot_trade_off(curve: TradeOff, axes: Any) -> None:
    """The proven band of a trade-off curve, and the line of what tells nothing, on axes of matplotlib."""
    alphas = np.linspace(0.0, 1.0, _ERRORS + 1)
    _band(axes, alphas, [curve.by_places(float(alpha)) for alpha in alphas], "f(α), proven band")
    axes.plot(alphas, 1 - alphas, color="black", linewidth=0.8, linestyle="--", label="1 − α, perfect privacy")
    axes.set_xlabel("type I error α")
    axes.set_ylabel("type II error β")
    read = ", read ex post: no guarantee" if curve.ex_post else ""
    axes.set_title(f"trade-off function f{read}", fontsize="medium")
    axes.legend()


def _farthest(run: Run[Any], accountant: Accountant, least: Delta) -> float:
    """The last ε of a grid: beyond the one of the least δ the sides of a curve lie about so far apart."""
    try:
        return min(run.epsilon(least, accountant=accountant).epsilon.upper, _FARTHEST)
    except InvalidValue:  # nothing finite follows, or released parameters cost more
        return _FARTHEST


def _on_grid(run: Run[Any], accountant: Accountant, places: int, farthest: float) -> TradeOff:
    """A trade-off curve at so many ε."""
    curve = trade_off(run.delta_law(accountant), farthest, places=places)
    return evolve(curve, ex_post=run.derivation.rests_on(EX_POST))


def plot_risk(risk: Risk[Any]) -> bytes:
    """What an attacker on one record learns, all of it public and each as a proven band: the trade-off curve between
    both errors; the true-positive rate against the false-positive rate, down to rare accusations; the Bayes risk
    against the prior. A dashed line is a blind guess.

    Raises:
        InvalidValue: where matplotlib is not installed.
    """
    figure = blank(15, 4)
    trade, rates, guesses = figure.subplots(1, 3)
    shared = risk.accountant.along(PICTURE)
    farthest = _farthest(risk.run, shared, _RARELY_SEEN)
    curve = _on_grid(risk.run, shared, _RISK_PLACES, farthest)
    reached = [
        trade_off(one.delta, farthest, one.back, places=_RISK_PLACES)
        for one in risk.run.reached_curves(shared)
        if one.delta is not None
    ]
    plot_trade_off(curve, trade)
    alphas = np.geomspace(_RAREST, 1.0, _RATES)
    found = [true_positive_rate(curve, reached, float(alpha)) for alpha in alphas]
    _band(rates, alphas, found, "true-positive rate, proven band")
    rates.plot(alphas, alphas, **_BLIND)
    rates.set_xscale("log")
    rates.set_yscale("log")
    rates.set_xlabel("false-positive rate")
    rates.set_ylabel("true-positive rate")
    law = risk.run.delta_law(shared)
    priors = np.linspace(0.0, 1.0, _PRIORS + 1)
    _band(guesses, priors, [bayes_risk(law, float(prior)) for prior in priors], "Bayes risk, proven band")
    guesses.plot(priors, np.minimum(priors, 1 - priors), **_BLIND)
    guesses.set_xlabel("prior")
    guesses.set_ylabel("Bayes risk")
    for axes, title in ((rates, "members found"), (guesses, "wrong guesses")):
        axes.set_title(title, fontsize="medium")
        axes.legend(fontsize="small")
    figure.suptitle(risk.statement, fontsize="medium")
    return png(figure)


def _band(axes: Any, places: Any, found: Sequence[Enclosure], label: str) -> None:
    lower, upper = ([getattr(one, end) for one in found] for end in ("lower_float", "upper_float"))
    axes.fill_between(places, lower, upper, color=BLUE, alpha=0.5, linewidth=1.2, label=label)


def plot_losses_of(run: Run[Any], axes: Any) -> None:
    """The distribution of a run's privacy loss in both directions, about, on axes of matplotlib."""
    for number, pair in enumerate(run.pairs.bounding):
        for place, direction in enumerate(Direction):
            found = composed_masses(pair.releases, direction)
            if found is not None:
                tails = np.cumsum(found[1][::-1])[::-1]
                shown = tails > _HIDDEN
                label = direction.value if number == 0 else None
                axes.plot(found[0][shown], tails[shown], linewidth=1.2, label=label, **curve_style(place))
    if not axes.lines:
        axes.set_axis_off()
        return
    axes.set_yscale("log")
    axes.set_xlabel("privacy loss ℓ (nats)")
    axes.set_ylabel("P(privacy loss > ℓ)")
    axes.set_title("privacy loss of the worst records (estimate)", fontsize="medium")
    axes.legend()


def _accountants(axes: Any, run: Run[Any], answer: Answer[Any], shared: Accountant) -> None:
    farthest = 1.5 * answer.epsilon.upper or 1.0
    places = [Epsilon(float(place)) for place in np.linspace(0.0, farthest, _PLACES)]
    least = [answer.delta.upper or _HIDDEN]
    for number, row in enumerate(answer.compared.rows):
        composed = row.accountant == LOSS_DISTRIBUTION
        asked, at = (shared, places) if composed else (row.accountant, places[::2])
        proven = [(place, bounds) for place in at if (bounds := _delta(run, place, asked)) is not None]
        levels = [float(place.value) for place, _ in proven]
        best = row.accountant.name == answer.accountant.name
        (line,) = axes.plot(
            levels,
            [bounds.upper or np.nan for _, bounds in proven],
            label=row.accountant.name,
            linewidth=2.2 if best else 1.1,
            **curve_style(number),
        )
        least.extend(bounds.upper for _, bounds in proven if bounds.upper)
        if all(bounds.lower is not None for _, bounds in proven):
            ends = [(bounds.lower or np.nan, bounds.upper or np.nan) for _, bounds in proven]
            axes.fill_between(levels, *zip(*ends, strict=True), color=line.get_color(), alpha=0.3)
    axes.plot(answer.epsilon.upper, answer.delta.upper or np.nan, "*", color="black", markersize=11, zorder=3)
    axes.set_yscale("log")
    axes.set_ylim(bottom=max(min(least) / 3, least[0] / 1e6), top=2.0)
    axes.set_xlabel("ε (nats)")
    axes.set_ylabel("δ")
    axes.set_title("privacy profile δ(ε) by accountant", fontsize="medium")
    axes.legend(fontsize="small")


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
    both = (claim.profile.remove, "ψ, record removed"), (claim.profile.add, "record added")
    for number, (direction, label) in enumerate(both):
        rounding = {v: 0.0 for v in variables(direction) if v.symbol is Symbol.ROUNDING}
        losses = np.broadcast_to(evaluate(direction, {**values, **rounding}), sizes.shape)
        axes.plot(sizes, losses, label=label, **curve_style(number))
    if claim.supremum is not None:
        most = claim.supremum.enclosure.upper_float
        axes.axhline(most, color="black", linewidth=0.8, label=f"ε = {rounded_up(most, _DIGITS)}")
    axes.set_xlabel(f"‖x‖{Norm(order).subscript}")
    axes.set_ylabel("privacy loss (nats)")
    axes.legend()
