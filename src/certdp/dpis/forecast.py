"""What a run will do if its norm sums come out as foreseen: noise by epoch, and the cost of every release.

A forecast draws nothing and pays nothing that is real. It goes through the run's own account, so that it says what the
run will say, up to the norm sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, final

from attrs import evolve, field, frozen

from ..accounting.display import rounded_down, rounded_up
from ..accounting.dpis.steps import norm_sum_renyi, sampled_sum_renyi
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue
from ..accounting.guarantees import Guarantee
from ..accounting.notions import Approximate
from ..accounting.provenance import Public
from ..accounting.relations import AddRemove, Record
from ..accounting.units import Order, Probability
from .budget import AdaptiveClip, DominatedAccounting, FixedClip, NoisySize, RenyiAccounting, RunPlan
from .run_account import EpochNoise, RunAccount, open_account

if TYPE_CHECKING:
    from ..runs.certificates import Certified

_PRECISION = 64

Proven: TypeAlias = Guarantee[Approximate, AddRemove, Record]


@final
@frozen(kw_only=True)
class ReleaseCost:
    """What releases of one kind cost.

    Attributes:
        release: of what.
        count: how many there are.
        rate: with which probability a record enters.
        noise_multiplier: standard deviation of the noise over what one record moves.
        tau: the Rényi divergence of one release, at the order of the forecast.
    """

    release: str
    count: int
    rate: Fraction
    noise_multiplier: Fraction
    tau: Enclosure


@final
@frozen(kw_only=True)
class Forecast:
    """A run as it is foreseen.

    Attributes:
        plan: of the run.
        epochs: the noise of each epoch.
        order: the Rényi order at which costs are stated: the account's own where it has one.
        guarantee: what the run never exceeds, whatever its norm sums are.
        account: the account of such a run.
    """

    plan: RunPlan
    epochs: tuple[EpochNoise, ...]
    order: Order
    guarantee: Proven
    account: RunAccount = field(repr=False)

    @property
    def noise_multipliers(self) -> tuple[float, ...]:
        """The noise multiplier σ_G of each epoch."""
        return tuple(float(epoch.noise_multiplier) for epoch in self.epochs)

    @property
    def fixed_costs(self) -> tuple[ReleaseCost, ...]:
        """What the releases of Ñ, K̃ and K̃* cost."""
        plan, every = self.plan, Probability(1)
        costs = []
        if isinstance(plan.size, NoisySize):
            noise = plan.size.noise.value
            tau = sampled_sum_renyi(every, noise, self.order, precision=_PRECISION)
            costs.append(ReleaseCost(release="size", count=1, rate=Fraction(1), noise_multiplier=noise, tau=tau))
        if plan.norm_sums is not None:
            rate, noise = plan.norm_sums.rate.value, plan.norm_sums.noise_multiplier.value
            tau = norm_sum_renyi(Probability(rate), noise, self.order, precision=_PRECISION)
            costs.append(
                ReleaseCost(release="norm sum", count=plan.epochs, rate=rate, noise_multiplier=noise * rate, tau=tau)
            )
        if isinstance(plan.clip, AdaptiveClip) and plan.epochs > 1:
            noise = plan.clip.noise_multiplier.value
            tau = sampled_sum_renyi(every, noise, self.order, precision=_PRECISION)
            count = plan.epochs - 1
            costs.append(
                ReleaseCost(release="clipping bound", count=count, rate=Fraction(1), noise_multiplier=noise, tau=tau)
            )
        return tuple(costs)

    def certificate(self) -> Certified:
        """A publishable certificate that the run as foreseen is within its budget; see `RunAccount.certificate`."""
        return self.account.certificate(parameters="as foreseen, before any run")

    @property
    def step_costs(self) -> tuple[ReleaseCost, ...]:
        """What the steps of each epoch cost."""
        return tuple(
            ReleaseCost(
                release=f"steps of epoch {epoch.number + 1}",
                count=self.plan.steps_per_epoch,
                rate=epoch.rate,
                noise_multiplier=1 / epoch.step.shift,
                tau=epoch.step.renyi(self.order, precision=_PRECISION),
            )
            for epoch in self.epochs
        )


def forecast(plan: RunPlan, shares: Sequence[Fraction] | None = None) -> Forecast:
    """The run in which K̃/(Ñ·C) comes out as foreseen, and Ñ as expected.

    Args:
        plan: of the run.
        shares: K̃/(Ñ·C) of each epoch; None for 1 throughout, which needs the most noise, and in DP-SGD.

    Raises:
        InvalidValue: for another number of shares than epochs, shares that K̃ cannot have in this plan (a run raises a
            lower sum to `RunPlan.least_norm_sum`), and any in DP-SGD.
    """
    if shares is not None and plan.norm_sums is None:
        raise InvalidValue("shares", f"{len(shares)} norm sums", "none: in DP-SGD K̃ = ÑC", "Leave them out")
    foreseen = [Fraction(1)] * plan.epochs if shares is None else list(shares)
    if len(foreseen) != plan.epochs:
        raise InvalidValue("shares", f"{len(foreseen)} norm sums", f"{plan.epochs}, one for each epoch")
    account = open_account(plan)
    if isinstance(plan.size, NoisySize):
        account.pay_size()
        account.size_released(plan.size.expected)
    epochs = []
    for number, share in enumerate(foreseen):
        if not plan.least_norm_sum <= share * account.size <= account.size:
            least, most = rounded_up(plan.least_norm_sum, 9), rounded_down(account.size, 9)
            remedy = f"A run raises lower sums to {least}, higher ones do not occur: write what it uses"
            found = f"K̃/C = {float(share * account.size):.9g} in epoch {number + 1}"
            raise InvalidValue("shares", found, f"{least} ≤ K̃/C ≤ {most}", remedy)
        clip, norm_sum = plan.clip.first, share * account.size * plan.clip.first
        if plan.norm_sums is not None:
            account.pay_norm_sum(number, clip)
        epochs.append(account.begin_epoch(norm_sum, clip))
        account.pay_steps(plan.steps_per_epoch)
        if isinstance(plan.clip, AdaptiveClip) and number < plan.epochs - 1:
            account.pay_clip()
    chosen = account.state()["choice"].get("order", "8")
    return Forecast(plan=plan, epochs=tuple(epochs), order=Order(chosen), guarantee=account.guarantee, account=account)


def dp_sgd(plan: RunPlan) -> RunPlan:
    """The run of DP-SGD with the same budget, batches and steps, in a Rényi account: no norm sums, one C."""
    order = plan.accounting if isinstance(plan.accounting, RenyiAccounting) else RenyiAccounting()
    return evolve(plan, norm_sums=None, clip=FixedClip(bound=Public(plan.clip.first)), accounting=order)


def dominated_dp_sgd(plan: RunPlan) -> RunPlan:
    """Return the plan of DP-SGD accounted by the loss distribution, at the rate b/N of the expected size."""
    rate = Public(plan.batch.value / plan.size.expected)
    return evolve(dp_sgd(plan), accounting=DominatedAccounting(rate=rate))
