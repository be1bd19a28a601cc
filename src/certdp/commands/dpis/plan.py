"""`certdp dpis plan`: how much noise a training run needs, epoch by epoch, and what each of its releases costs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import frozen
from rich.console import Console
from rich.table import Table

from ...accounting.errors import blamed_on
from ...dpis.budget import DominatedAccounting, NoisySize, PublicSize, RenyiAccounting, RunPlan
from ...dpis.forecast import Forecast, Proven, ReleaseCost, dominated_dp_sgd, dp_sgd, forecast
from ...dpis.pictures import plot_noise
from ...dpis.trajectories import read_trajectory
from ...durable.files import Rank, published
from ..output import Output
from ..outputs import check_places
from ..run_certificates import print_proven, write_certified
from .run import RunRequest


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    run: RunRequest
    kc_trajectory: Path | None
    plot: Path | None
    certificate: Path | None

    def shares(self, plan: RunPlan) -> list[Fraction] | None:
        """K̃/(N·C) by epoch, or None where no file is given.

        Raises:
            InvalidValue: for a file that does not hold one number for each epoch, from above 0 to N.
        """
        if self.kc_trajectory is None:
            return None
        return read_trajectory(self.kc_trajectory, plan.epochs, plan.size.expected, parameter="kc-trajectory")


def run(request: Request, output: Output) -> None:
    """Foresee and print."""
    plan = request.run.plan()
    places = {"kc-trajectory": request.kc_trajectory, "plot": request.plot, "certificate": request.certificate}
    check_places(None, places)
    with blamed_on(shares="kc-trajectory"):
        found = forecast(plan, request.shares(plan))
    uniform, dominated = forecast(dp_sgd(plan)), forecast(dominated_dp_sgd(plan))
    same = dominated if isinstance(plan.accounting, DominatedAccounting) else uniform
    data = {
        "epochs": plan.epochs,
        "steps_per_epoch": plan.steps_per_epoch,
        "norm_sum_over_clip": [float(epoch.norm_sum / epoch.clip) for epoch in found.epochs],
        "rate": [float(epoch.rate) for epoch in found.epochs],
        "dpis": list(found.noise_multipliers),
        "dp_sgd": list(same.noise_multipliers),
        "accounting": _way(plan),
        "dp_sgd_by": {
            "renyi": list(uniform.noise_multipliers),
            "loss-distribution": list(dominated.noise_multipliers),
        },
        "epsilon": [None, found.guarantee.bound.epsilon.upper_float],
        "delta": [None, found.guarantee.bound.delta.upper_float],
        "unit": found.guarantee.unit.name,
        "relation": found.guarantee.relation.name,
        "theorem": theorems(found.guarantee),
        "order": float(found.order.value),
        "releases": [_cost(cost) for cost in (*found.fixed_costs, *found.step_costs)],
        "assumptions": _assumptions(plan),
        "plot": None if request.plot is None else str(request.plot),
        "certificate": None if request.certificate is None else str(request.certificate),
    }
    with published() as files:
        data["certified"] = write_certified(files, request.certificate, found.certificate)
        if request.plot is not None:
            files.write(request.plot, plot_noise(_curves(data), _title(plan)), Rank.STATEMENT)
    output.show(data, lambda console: _print(console, data, found))


def _curves(data: Mapping[str, Any]) -> dict[str, Any]:
    by = data["dp_sgd_by"]
    return {"dpis": data["dpis"], "dp_sgd": by["renyi"], "dp_sgd_loss_distribution": by["loss-distribution"]}


def _title(plan: RunPlan) -> str:
    epsilon, delta = float(plan.budget.epsilon.value), float(plan.budget.delta.value)
    size, batch = float(plan.size.expected), float(plan.batch.value)
    return f"N = {size:,.10g}, b = {batch:,.10g}, ε = {epsilon:g}, δ = {delta:g}"


def _way(plan: RunPlan) -> str:
    match plan.accounting:
        case RenyiAccounting():
            return "renyi"
        case DominatedAccounting():
            return "loss-distribution"


def _assumptions(plan: RunPlan) -> list[str]:
    match plan.size:
        case PublicSize(size=size):
            about = f"the number of records is public: {size.value}"
        case NoisySize(guess=guess):
            about = f"the number of records is guessed for this forecast: {guess.value}"
    return [about, "real-valued noise", "norm sums come out as foreseen; the guarantee does not rest on it"]


def theorems(guarantee: Proven) -> str:
    """What the run's guarantee rests on, and what that does."""
    (last,) = guarantee.derivation.premises
    return f"{last.theorem} ⇐ {last.premises[0].theorem}"


def _cost(cost: ReleaseCost) -> dict[str, Any]:
    return {
        "release": cost.release,
        "count": cost.count,
        "rate": float(cost.rate),
        "noise_multiplier": float(cost.noise_multiplier),
        "tau": [max(0.0, cost.tau.lower_float), cost.tau.upper_float],
    }


def _stated(guarantee: Proven) -> str:
    bound = guarantee.bound
    return f"({bound.epsilon.upper_float!r}, {bound.delta.upper_float!r})-DP"


def _print(console: Console, data: dict[str, Any], found: Forecast) -> None:
    console.print(f"[bold]{_stated(found.guarantee)}[/bold] per record, whatever the norm sums are", highlight=False)
    console.print(f"  unit {data['unit']}, relation {data['relation']}", markup=False)
    console.print(f"  by {data['theorem']}", markup=False)
    for assumption in data["assumptions"]:
        console.print(f"  {assumption}", markup=False)
    print_proven(console, data)
    table = Table("epoch", "K̃/C", "rate", "σ_G of DPIS", "σ_G of DP-SGD", box=None)
    columns = ("norm_sum_over_clip", "rate", "dpis", "dp_sgd")
    for epoch, row in enumerate(zip(*(data[column] for column in columns), strict=True), 1):
        table.add_row(str(epoch), *(f"{value:.6g}" for value in row))
    console.print(table)
    by = data["dp_sgd_by"]
    console.print(
        f"DP-SGD: σ_G = {by['renyi'][0]:.6g} by Rényi accounting, {by['loss-distribution'][0]:.6g} by its loss "
        f"distribution; the column is by {data['accounting']}",
        markup=False,
    )
    costs = Table("release", "count", "rate", "noise multiplier", f"τ at order {data['order']:g}, each", box=None)
    for cost in data["releases"]:
        cells = (cost["rate"], cost["noise_multiplier"], cost["tau"][1])
        costs.add_row(cost["release"], str(cost["count"]), *(f"{value:.6g}" for value in cells))
    console.print(costs)
