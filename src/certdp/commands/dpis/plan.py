"""`certdp dpis plan`: how much noise a training run needs, epoch by epoch, and what each of its releases costs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from ...accounting.derivation import Assumption
from ...accounting.display import EXACT_UP_TO, shorten
from ...accounting.errors import blamed_on
from ...dpis.budget import DominatedAccounting, NoisySize, PublicSize, RenyiAccounting, RunPlan
from ...dpis.forecast import Forecast, Proven, ReleaseCost, dominated_dp_sgd, dp_sgd, forecast
from ...dpis.pictures import plot_noise
from ...dpis.trajectories import read_trajectory
from ...durable.files import Rank, published
from ..answer import Answer, assumptions_as_json, path_as_json
from ..answering import application
from ..options import Certificate, Plot
from ..outputs import check_places
from ..page import Page
from ..run_certificates import Certificate as WrittenCertificate
from ..run_certificates import write_certified
from .run import RunRequest


@frozen(kw_only=True)
class Planned(Answer):
    """The noise and the cost of a run, as foreseen.

    Attributes:
        plan: of the run.
        found: by epoch.
        uniform: the same of DP-SGD, accounted for by a Rényi order.
        dominated: the same of DP-SGD, accounted for by loss distributions.
        plot: where it is.
        certificate: where it is.
        certified: what it proves.
    """

    plan: RunPlan
    found: Forecast
    uniform: Forecast
    dominated: Forecast
    plot: Path | None
    certificate: Path | None
    certified: WrittenCertificate | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        plan, found = self.plan, self.found
        return {
            "epochs": plan.epochs,
            "steps_per_epoch": plan.steps_per_epoch,
            "norm_sum_over_clip": [float(epoch.norm_sum / epoch.clip) for epoch in found.epochs],
            "rate": [float(epoch.rate) for epoch in found.epochs],
            "dpis": list(found.noise_multipliers),
            "dp_sgd": list(self._same.noise_multipliers),
            "accounting": _way(plan),
            "dp_sgd_by": {
                "renyi": list(self.uniform.noise_multipliers),
                "loss-distribution": list(self.dominated.noise_multipliers),
            },
            "epsilon": [None, found.guarantee.bound.epsilon.upper_float],
            "delta": [None, found.guarantee.bound.delta.upper_float],
            "unit": found.guarantee.unit.name,
            "relation": found.guarantee.relation.name,
            "theorem": theorems(found.guarantee),
            "order": float(found.order.value),
            "releases": [_cost(cost) for cost in (*found.fixed_costs, *found.step_costs)],
            "assumptions": assumptions_as_json(_assumptions(plan)),
            "plot": path_as_json(self.plot),
            "certificate": path_as_json(self.certificate),
            "certified": None if self.certified is None else self.certified.as_json(),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        plan, found, numbers = self.plan, self.found, page.numbers
        guarantee, bound = found.guarantee, found.guarantee.bound
        budget = plan.budget
        epsilon = numbers.most_or_stated(bound.epsilon.upper_float, budget.epsilon.value)
        delta = numbers.most_or_stated(bound.delta.upper_float, budget.delta.value)
        page.bold(f"({epsilon}, {delta})-DP", " per record, whatever the norm sums are", indent=0)
        page.print(f"unit {guarantee.unit.name}, relation {guarantee.relation.name}", 2)
        page.print(f"by {theorems(guarantee)}", 2)
        page.table(
            ("epoch", "K̃/C", "rate", "σ_G of DPIS", "σ_G of DP-SGD"),
            [
                (
                    str(number),
                    *map(numbers.about, (float(epoch.norm_sum / epoch.clip), float(epoch.rate), ours, theirs)),
                )
                for number, (epoch, ours, theirs) in enumerate(
                    zip(found.epochs, found.noise_multipliers, self._same.noise_multipliers, strict=True), 1
                )
            ],
        )
        by_order, by_distribution = (one.noise_multipliers[0] for one in (self.uniform, self.dominated))
        page.print(
            f"DP-SGD: σ_G = {numbers.about(by_order)} by Rényi accounting, {numbers.about(by_distribution)} "
            f"by its loss distribution; the column is by {_way(plan)}"
        )
        page.table(
            ("release", "count", "rate", "noise multiplier", f"τ at order {float(found.order.value):g}, each"),
            [
                (
                    cost.release,
                    str(cost.count),
                    numbers.about(cost.rate),
                    numbers.about(cost.noise_multiplier),
                    numbers.most(cost.tau.upper_float),
                )
                for cost in (*found.fixed_costs, *found.step_costs)
            ],
        )
        page.files({"certificate": self.certificate})
        if self.certified is not None:
            self.certified.show(page)
        page.files({"plot": self.plot})
        page.assumptions(_assumptions(plan))

    @property
    def _same(self) -> Forecast:
        """DP-SGD, accounted for as the plan is."""
        return self.dominated if isinstance(self.plan.accounting, DominatedAccounting) else self.uniform


def plan(
    request: RunRequest,
    kc_trajectory: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="K̃/C as foreseen, one number a line for each epoch; by default N throughout."
        ),
    ] = None,
    plot: Plot = None,
    certificate: Certificate = None,
) -> Planned:
    """Noise multipliers by epoch, of DPIS and of DP-SGD, and what every release of the run costs.

    The plot is of σ_G by epoch (DPIS Figure 1); the certificate is that of the run as it is foreseen here.
    """
    asked = request.plan()
    check_places(None, {"kc-trajectory": kc_trajectory, "plot": plot, "certificate": certificate})
    shares = None
    if kc_trajectory is not None:
        shares = read_trajectory(kc_trajectory, asked.epochs, asked.size.expected, parameter="kc-trajectory")
    with blamed_on(shares="kc-trajectory"):
        found = forecast(asked, shares)
    uniform, dominated = forecast(dp_sgd(asked)), forecast(dominated_dp_sgd(asked))
    with published() as files:
        certified = write_certified(files, certificate, found.certificate)
        if plot is not None:
            curves = {"dpis": found, "dp_sgd": uniform, "dp_sgd_loss_distribution": dominated}
            noise = {name: list(one.noise_multipliers) for name, one in curves.items()}
            files.write(plot, plot_noise(noise, _title(asked)), Rank.STATEMENT)
    return Planned(
        plan=asked,
        found=found,
        uniform=uniform,
        dominated=dominated,
        plot=plot,
        certificate=certificate,
        certified=certified,
    )


def _title(plan: RunPlan) -> str:
    epsilon, delta = (shorten(str(stated), EXACT_UP_TO) for stated in (plan.budget.epsilon, plan.budget.delta))
    size, batch = float(plan.size.expected), float(plan.batch.value)
    return f"N = {size:,.10g}, b = {batch:,.10g}, ε = {epsilon}, δ = {delta}"


def _way(plan: RunPlan) -> str:
    match plan.accounting:
        case RenyiAccounting():
            return "renyi"
        case DominatedAccounting():
            return "loss-distribution"


def _assumptions(plan: RunPlan) -> list[Assumption]:
    match plan.size:
        case PublicSize(size=size):
            about = Assumption("the number of records is public", str(size.value))
        case NoisySize(guess=guess):
            about = Assumption("the number of records is guessed for this forecast", str(guess.value))
    foreseen = Assumption("norm sums come out as foreseen; the guarantee does not rest on it")
    return [about, Assumption("real-valued noise"), foreseen]


def theorems(guarantee: Proven) -> str:
    """What the run's guarantee rests on, and what that does."""
    (last,) = guarantee.derivation.premises
    return f"{last.theorem} ⇐ {last.premises[0].theorem}"


def _cost(cost: ReleaseCost) -> dict[str, object]:
    return {
        "release": cost.release,
        "count": cost.count,
        "rate": float(cost.rate),
        "noise_multiplier": float(cost.noise_multiplier),
        "tau": [max(0.0, cost.tau.lower_float), cost.tau.upper_float],
    }


command = application(plan)
