"""Paying from a Rényi filter, at an order fixed before the run.

Legend: as in `budget`; α is the order, τ₀ the budget at it, r and s the rate and shift of a sampled Gaussian. What the
steps of an epoch may spend follows from DPIS Section 4.2 (`certdp.accounting.dpis.allocation`): everything that is left
but the fixed releases of later epochs is shared with these.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from ..accounting.bulk.sampled_gaussian import renyi_upper
from ..accounting.conversions.renyi_moment import epsilon_at_order
from ..accounting.derivation import Assumption, Theorem
from ..accounting.dpis.allocation import Allocation, upwards
from ..accounting.dpis.steps import Step
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue
from ..accounting.filters import BudgetExceeded, RenyiFilter
from ..accounting.filters.spending import owned
from ..accounting.guarantees import Guarantee
from ..accounting.notions import Approximate, Renyi
from ..accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record
from ..accounting.units import Order
from ..runs.certificates import certified_filtered
from ..runs.plan import Plan
from .budget import AdaptiveClip, NoisySize, RunPlan
from .payments import Payments, gaussian_releases

if TYPE_CHECKING:
    from ..runs.certificates import Certified

_STEP = Theorem("DPIS", "Lemma 3.1, at every real order (Mironov, Talwar, Zhang 2019, Theorem 5)")
_GAUSSIAN = Theorem("Mironov 2017", "Proposition 7, the Gaussian mechanism")
_NORM_SUM = Theorem("DPIS", "Equation 19 with the noise multiplier σ_K·p_K")
_PRECISION = 128
_ROOM = 1 - Fraction(1, 2**26)  # of what is left: more than the slack of proven costs moves (10^-9), less than 2^-20
_ORDERS = [1 + 2.0 ** (place / 4) for place in range(-12, 45)]
_RESOLVED = 2.0**-50
_DIGITS = 12


@final
@frozen
class _Priced:
    """A step of an epoch with what it costs, so that its like are priced once.

    Attributes:
        epoch: its number.
        step: the step.
        cost: at the filter's order.
        release: its rate and noise multiplier.
    """

    epoch: int
    step: Step
    cost: Guarantee[Renyi, AddRemove, Record]
    release: tuple[Fraction, Fraction]


@final
class FilteredPayments(Payments):
    """The payments of a plan with `RenyiAccounting`.

    Args:
        plan: fixed before the run.
        choice: {"order": "p/q"} where a run goes on.

    Raises:
        InvalidValue: where the fixed releases alone exceed the budget.
    """

    def __init__(self, plan: RunPlan, order: Order | None, choice: dict[str, Any] | None = None) -> None:
        self.plan = plan
        chosen = order if choice is None else Order(str(choice["order"]))
        self.order = best_order(plan) if chosen is None else chosen.value
        self.total = _largest_tau(plan, self.order)
        self._fixed = _FixedCosts(plan, self.order)
        if self._fixed.all_of_them >= self.total:
            raise _exceeded_by_fixed(plan)
        self._filter = RenyiFilter(
            Renyi(self.order, Enclosure.of(self.total, precision=_PRECISION)), relation=ADD_REMOVE, unit=RECORD
        )
        self._released: Counter[tuple[Fraction, Fraction]] = Counter()  # by rate and noise multiplier
        self._priced: _Priced | None = None

    @owned
    def size(self) -> None:
        """Pay for Ñ: α/(2σ_N²) at the order."""
        assert isinstance(self.plan.size, NoisySize)
        stated = [Assumption("σ_N", str(self.plan.size.noise.value))]
        cost = self._cost(self._fixed.size, _GAUSSIAN, stated)
        self._pay(cost, (Fraction(1), self.plan.size.noise.value))

    @owned
    def norm_sum(self, epoch: int) -> None:
        """The sampled Gaussian at rate p_K with the noise multiplier σ_K·p_K."""
        sums = self.plan.norm_sums
        assert sums is not None
        stated = [Assumption("p_K", str(sums.rate.value)), Assumption("σ_K", str(sums.noise_multiplier.value))]
        cost = self._cost(self._fixed.norm_sum, _NORM_SUM, stated)
        self._pay(cost, (sums.rate.value, sums.noise_multiplier.value * sums.rate.value))

    @owned
    def clip(self, epoch: int) -> None:
        """α/(2σ_K²), of a sum over all records."""
        assert isinstance(self.plan.clip, AdaptiveClip)
        stated = [Assumption("σ_K of K̃*", str(self.plan.clip.noise_multiplier.value))]
        cost = self._cost(self._fixed.clip, _GAUSSIAN, stated)
        self._pay(cost, (Fraction(1), self.plan.clip.noise_multiplier.value))

    @owned
    def noise_multiplier(self, epoch: int, norm_sum: Fraction, size: Fraction) -> Fraction:
        """The least σ_G found for which the allocation of Section 4.2 provably fits into what is left."""
        left = self.total - self._filter.spent.tau.upper - self._fixed.after(epoch)
        if left <= 0:
            raise BudgetExceeded("epoch", epoch, "an epoch for which something is left", "Stop here")
        return _allocation(self.plan).remaining_steps(epoch, norm_sum, size).least_noise(self.order, left * _ROOM)

    @owned
    def steps(self, epoch: int, step: Step, count: int) -> None:
        """Pay for steps of an epoch: the cost of DPIS Lemma 3.1 for each."""
        priced = self._priced
        if priced is None or (priced.epoch, priced.step) != (epoch, step):
            cost = self._cost(self._tau(step), _STEP, self._stated(epoch, step))
            priced = self._priced = _Priced(epoch, step, cost, (step.rate, 1 / step.shift))
        cost = priced.cost
        if count != 1:
            tau = Renyi(self.order, cost.bound.tau * count)
            cost = Guarantee(bound=tau, relation=ADD_REMOVE, unit=RECORD, derivation=cost.derivation)
        self._pay(cost, priced.release, count)

    @property
    def guarantee(self) -> Guarantee[Approximate, AddRemove, Record]:
        """The (ε, δ₀) that (α, τ₀) entails; ε ≤ ε₀."""
        return self._filter.approximate(self.plan.budget.delta)

    @owned
    def spent(self) -> float:
        """ε of the τ paid so far; no guarantee, because costs depend on outputs."""
        tau = self._filter.spent.tau.upper_float
        if not tau:
            return 0.0
        return epsilon_at_order(self.order, Enclosure.of(tau, precision=_PRECISION), _delta(self.plan)).upper_float

    @property
    def choice(self) -> dict[str, Any]:
        """Return what was chosen before the run: the Rényi order."""
        return {"order": str(self.order)}

    @owned
    def certificate(self, assumptions: Sequence[Assumption], parameters: Assumption) -> Certified:
        """Return a certificate of what was paid, equal releases together; it claims the whole budget."""

        if not self._released:
            raise InvalidValue("certificate", "no release", "at least one that was paid", "Ask for it after the run")
        run = Plan([gaussian_releases(*release, count) for release, count in self._released.items()])
        return certified_filtered(run, self.order, self.plan.budget, [*assumptions, parameters])

    def _stated(self, epoch: int, step: Step) -> list[Assumption]:
        """Public constants by their names; what was released, and σ_G, which follows from it, with the epoch."""
        constants, released = {"b": step.batch}, {}
        if self.plan.norm_sums is not None:
            released["K̃"] = step.norm_sum
        if isinstance(self.plan.size, NoisySize):
            released["Ñ"] = step.size
        of_clip = released if epoch and isinstance(self.plan.clip, AdaptiveClip) else constants
        of_clip["C"] = step.clip
        constants[f"σ_G of epoch {epoch + 1}"] = step.noise_multiplier
        stated = [Assumption(name, str(value)) for name, value in constants.items()]
        if released:
            values = ", ".join(f"{name} = {value}" for name, value in released.items())
            stated.append(Assumption(f"released for epoch {epoch + 1}", values))
        return stated

    def _tau(self, step: Step) -> Fraction:
        return Fraction(float(renyi_upper(upwards(step.rate), upwards(step.shift), upwards(self.order))))

    def _pay(
        self, cost: Guarantee[Renyi, AddRemove, Record], release: tuple[Fraction, Fraction], count: int = 1
    ) -> None:
        with self._changing():
            self._filter.spend(cost)
            self._released[release] += count

    def _cost(self, tau: Fraction, theorem: Theorem, stated: list[Assumption]) -> Guarantee[Renyi, AddRemove, Record]:
        return Guarantee(
            bound=Renyi(self.order, Enclosure.of(tau, precision=_PRECISION)),
            relation=ADD_REMOVE,
            unit=RECORD,
            derivation=theorem.conclude(assumptions=stated),
        )


@final
class _FixedCosts:
    """Upper bounds, at one order, of what releases cost whose parameters do not depend on outputs."""

    def __init__(self, plan: RunPlan, order: Fraction) -> None:
        self._epochs = plan.epochs
        self.size = self.norm_sum = self.clip = Fraction(0)
        if isinstance(plan.size, NoisySize):
            self.size = _upper(Fraction(1), 1 / plan.size.noise.value, order)
        if plan.norm_sums is not None:
            rate = plan.norm_sums.rate.value
            self.norm_sum = _upper(rate, 1 / (plan.norm_sums.noise_multiplier.value * rate), order)
        if isinstance(plan.clip, AdaptiveClip):
            self.clip = _upper(Fraction(1), 1 / plan.clip.noise_multiplier.value, order)

    def after(self, epoch: int) -> Fraction:
        """Return the fixed cost that follows the norm sum of an epoch: one K̃* and one K̃ for each later epoch."""
        return (self._epochs - 1 - epoch) * (self.norm_sum + self.clip)

    @property
    def all_of_them(self) -> Fraction:
        return self.size + self.norm_sum + self.after(0)


def _allocation(plan: RunPlan) -> Allocation:
    return Allocation(
        batch=plan.batch.value,
        epochs=plan.epochs,
        steps_per_epoch=plan.steps_per_epoch,
        divider=plan.divider.value,
        factor=plan.schedule.factor,
    )


@lru_cache(maxsize=16)
def best_order(plan: RunPlan) -> Fraction:
    """The order at which a run with K̃ = ÑC throughout needs the least noise; from the plan's public constants alone.

    Raises:
        InvalidValue: where the fixed releases alone exceed the budget at every order.
    """
    best = _least_noisy(plan, [*_ORDERS[::8], *_ORDERS])
    place = _ORDERS.index(best)
    low, high = (_ORDERS[min(max(near, 0), len(_ORDERS) - 1)] for near in (place - 1, place + 1))
    finer = (_rounded(1 + (low - 1) * ((high - 1) / (low - 1)) ** (share / 12)) for share in range(1, 12))
    return Fraction(_least_noisy(plan, [best, *finer]))


def _least_noisy(plan: RunPlan, orders: Iterable[float]) -> float:
    """One that needs more noise than the best before it shows in what it costs at the noise of that.

    Raises:
        InvalidValue: where the fixed releases alone exceed the budget at every order.
    """
    expected, best, least = plan.size.expected, math.nan, math.inf
    remaining = _allocation(plan).remaining_steps(0, expected, expected)
    for order in orders:
        alpha = Fraction(order)
        left = _lemma_tau(plan, order) - _FixedCosts(plan, alpha).all_of_them
        if left > 0 and (least == math.inf or remaining.cost(least, alpha) <= left):
            best, least = order, float(remaining.least_noise(alpha, left))
    if least == math.inf:
        raise _exceeded_by_fixed(plan)
    return best


def _rounded(order: float) -> float:
    """An order with few digits, so that exact arithmetic with it stays short."""
    mantissa, exponent = math.frexp(order - 1)
    return 1 + math.ldexp(round(math.ldexp(mantissa, _DIGITS)), exponent - _DIGITS)


def _lemma_tau(plan: RunPlan, order: float) -> Fraction:
    """τ for which DPIS Lemma 2.5 gives ε₀, an estimate; below 0 where there is none."""
    delta = plan.budget.delta.value  # may lie below the floats
    lost = (
        math.log(delta.denominator) - math.log(delta.numerator) + (order - 1) * math.log1p(-1 / order) - math.log(order)
    ) / (order - 1)
    return plan.budget.epsilon.value - Fraction(lost)


@lru_cache(maxsize=16)
def _largest_tau(plan: RunPlan, order: Fraction) -> Fraction:
    """The largest τ found, within 2^-30 of ε₀ or 2^-50 of itself, for which (α, τ) is proven to entail (ε₀, δ₀).

    Regula falsi, because ε grows almost in step with τ; an end that stays twice counts for half (Illinois).

    Raises:
        InvalidValue: where no τ above 0 is.
    """
    allowed, delta = plan.budget.epsilon.value, _delta(plan)

    def excess(tau: float) -> Fraction:
        return epsilon_at_order(order, Enclosure.of(tau, precision=_PRECISION), delta).upper - allowed

    low, below = 0.0, -allowed
    high = float(allowed)
    while (above := excess(high)) <= 0:
        low, below, high = high, above, 2 * high
    near = float(_lemma_tau(plan, float(order)))
    if low < near < high and (found := excess(near)) <= 0:
        low, below = near, found
    gap = float(allowed) * 2.0**-30
    last: bool | None = None
    while high - low > max(gap, high * _RESOLVED):  # far above ε₀, floats lie further apart than the gap
        share = float(-below / (above - below)) if above > below else 0.5
        edge = min(gap / (high - low) / 4, 0.25)
        tau = low + (high - low) * min(max(share, edge), 1 - edge)
        fits = (found := excess(tau)) <= 0
        if fits:
            low, below, above = tau, found, above / 2 if last else above
        else:
            high, above, below = tau, found, below / 2 if last is False else below
        last = fits
    if not low:
        raise InvalidValue("order", float(order), "an order at which some loss entails the budget", "Raise it")
    return Fraction(low)


def _delta(plan: RunPlan) -> Enclosure:
    """The number of so many bits just below δ₀, or δ₀: a point, for which conversions are solved once."""
    return Enclosure.of(Enclosure.of(plan.budget.delta.value, precision=_PRECISION).lower, precision=_PRECISION)


def _exceeded_by_fixed(plan: RunPlan) -> InvalidValue:
    return InvalidValue(
        "budget",
        str(plan.budget),
        "more than the releases of Ñ, norm sums and clipping bounds cost alone",
        "Release them with more noise: σ_N, σ_K; or take fewer epochs",
    )


def _upper(rate: Fraction, shift: Fraction, order: Fraction) -> Fraction:
    return Fraction(float(renyi_upper(upwards(rate), upwards(shift), upwards(order))))
