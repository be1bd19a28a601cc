"""The account of one training run: what each release may do, paid before it is drawn, never more than (ε₀, δ₀).

Legend: as in `budget`; α is the order of a Rényi account, fixed before the run, τ what releases cost there.

Ñ and K̃ are outputs, and σ_G is chosen from them, so costs cannot be added up and converted at the best order
afterwards (erratum DPIS-adaptive). Two theorems bound such a run:

* a Rényi filter (Feldman, Zrnic 2021) at an order α fixed before the run: Σ τ ≤ τ₀ on every path of outputs, where
  (α, τ₀) entails (ε₀, δ₀);
* domination (Zhu, Dong, Wang 2022, Theorem 10): each release is dominated by a pair declared before the run, and the
  loss distribution of the declared pairs is within (ε₀, δ₀).

The order of calls, for each epoch e = 0, 1, …:

    account.pay_size()                      once, where Ñ is released; then account.size_released(Ñ)
    account.pay_norm_sum(e, C) → release    where norms are summed; then K̃ = release.bounded(K')
    account.begin_epoch(K̃, C) → noise       in DP-SGD with K̃ = ÑC
    account.pay_steps(n)                    before the noise of these steps is drawn, at most T in all
    account.pay_clip()                      where C adapts, before K̃* is drawn, after each epoch but the last

A release that was paid and then lost, as by a killed process, is not paid twice. A public constant stands in for it,
which needs no release: the guess of N, K̃ = ÑC, or the C of before. Steps paid and lost stay paid. The proofs are in
`docs/soundness_training.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from attrs import define, evolve, frozen

from ..accounting.derivation import REAL_VALUED_NOISE, Assumption, Theorem
from ..accounting.dpis.steps import Step
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidValue
from ..accounting.exact import Number, exact
from ..accounting.filters import BudgetExceeded
from ..accounting.filters.spending import SpendingState, owned
from ..accounting.guarantees import Guarantee
from ..accounting.notions import Approximate
from ..accounting.relations import AddRemove, Record
from ..mechanisms.lattice import noise_unit
from ..plugins.contract.coins import seeded_run
from .budget import (
    AdaptiveClip,
    DominatedAccounting,
    FixedClip,
    NoisySize,
    NormSums,
    PublicSize,
    RenyiAccounting,
    RunPlan,
)
from .dominated_payments import DominatedPayments
from .filtered_payments import FilteredPayments
from .payments import Payments

if TYPE_CHECKING:
    from ..runs.certificates import Certified

_VERSION = 1
_FINE = 36  # bits of the noise's scale in units of its grid, about half of them for each factor of a gradient
_RUN = Theorem("training run", "of which every release is paid before it is drawn")
_NORMS = Assumption("gradient norms", "within the stated relative error of the vectors added")


@final
@frozen(kw_only=True)
class NormSumRelease:
    """How K' = (1/p_K)·Σ min(n, C) + noise is to be released, once it is paid.

    Attributes:
        rate: p_K, the probability with which each record enters the sum; rounded down where it is drawn.
        scale: standard deviation of the noise, σ_K·C for the C of this epoch.
        least: the lower end of K̃.
        most: its upper end, ÑC.
    """

    rate: Fraction
    scale: Fraction
    least: Fraction
    most: Fraction

    def bounded(self, released: Fraction) -> Fraction:
        """K̃ = min(max(K', least), most); free, as post-processing."""
        return min(max(released, self.least), self.most)


@final
@frozen(kw_only=True)
class ClipRelease:
    """How K̃* = Σ min(n, C*) + noise over all records is to be released, once it is paid.

    Attributes:
        bound: C*.
        scale: standard deviation of the noise, σ_K·C*.
        size: Ñ.
        clip: the plan's rule for the next C.
    """

    bound: Fraction
    scale: Fraction
    size: Fraction
    clip: AdaptiveClip

    def following(self, released: Fraction) -> Fraction:
        """C of the next epoch, from K̃*; free, as post-processing."""
        return self.clip.following(released, self.size)


@final
@frozen(kw_only=True)
class EpochNoise:
    """What the steps of one epoch are to do.

    Attributes:
        number: of the epoch, from 0.
        noise_multiplier: σ_G, exactly.
        clip: C.
        norm_sum: K̃.
        batch: b.
        size: Ñ.
    """

    number: int
    noise_multiplier: Fraction
    clip: Fraction
    norm_sum: Fraction
    batch: Fraction
    size: Fraction

    @property
    def step(self) -> Step:
        """The cost parameters of one step of the epoch."""
        return Step(
            batch=self.batch,
            clip=self.clip,
            noise_multiplier=self.noise_multiplier,
            size=self.size,
            norm_sum=self.norm_sum,
        )

    @property
    def scale(self) -> Fraction:
        """Standard deviation of the noise in a step's sum: σ_G·C."""
        return self.noise_multiplier * self.clip

    @cached_property
    def unit(self) -> Fraction:
        """The unit of the grid of a step's sum: the power of two of which 2^36 to 2^37 are σ_G·C.

        Raises:
            InvalidValue: for σ_G·C below 2^-464 or of 2^536 at least.
        """
        return noise_unit(self.scale, _FINE)

    @property
    def rate(self) -> Fraction:
        """The largest rate of any record, b·C/K̃: in DP-SGD, where K̃ = ÑC, the rate b/Ñ of every record."""
        return self.batch * self.clip / self.norm_sum

    @property
    def length(self) -> Fraction:
        """The largest length of what a record adds, K̃/Ñ: in DP-SGD C."""
        return self.norm_sum / self.size


@final
@define(kw_only=True)
class _Epoch:
    """What was paid for in one epoch, and which of its outputs are known."""

    norm_sum_paid: bool = False
    noise: EpochNoise | None = None
    steps: int = 0
    clip_paid: bool = False

    def state(self) -> dict[str, Any]:
        begun = None
        if self.noise is not None:
            begun = {
                "norm_sum": str(self.noise.norm_sum),
                "clip": str(self.noise.clip),
                "noise_multiplier": str(self.noise.noise_multiplier),
            }
        return {"norm_sum_paid": self.norm_sum_paid, "begun": begun, "steps": self.steps, "clip_paid": self.clip_paid}


@final
class RunAccount(SpendingState):
    """The budget of one training run. `open_account` and `restored_account` make it.

    A run that goes on in another process does so from `state`; copies, and processes that are forked, may not spend.

    Attributes:
        plan: fixed before the run.
    """

    def __init__(self, plan: RunPlan, payments: Payments) -> None:
        self.plan = plan
        self._payments = payments
        self._size: Fraction | None = plan.size.expected if isinstance(plan.size, PublicSize) else None
        self._size_paid = False
        self._epochs: list[_Epoch] = []
        self._is_private = True
        self._noise_assumed: list[Assumption] = [REAL_VALUED_NOISE]

    def drawn_with_a_seed(self) -> None:
        """What was paid is drawn with seeded coins: from here on nothing is guaranteed or certified."""
        self._is_private = False

    def drawn_correctly_rounded(self) -> None:
        """What is paid is drawn correctly rounded on public grids: the account assumes nothing of arithmetic."""
        self._noise_assumed = []

    # Ñ

    @property
    @owned
    def size(self) -> Fraction:
        """Return the noisy size Ñ that is in use.

        Raises:
            InvalidValue: before it was released.
        """
        if self._size is None:
            remedy = "Call pay_size(), draw it and call size_released(Ñ)"
            raise InvalidValue("size", "not released yet", "a released Ñ", remedy)
        return self._size

    @property
    @owned
    def size_known(self) -> bool:
        """Whether Ñ is public, or was released, or the guess was taken for it."""
        return self._size is not None

    @property
    @owned
    def size_paid(self) -> bool:
        """Whether Ñ was paid for."""
        return self._size_paid

    @owned
    def pay_size(self) -> Fraction:
        """Pay for Ñ = N + N(0, σ_N²); the standard deviation σ_N of its noise.

        Raises:
            BudgetExceeded: where it was paid before, and where N is public.
        """
        if not isinstance(self.plan.size, NoisySize):
            raise BudgetExceeded("size", "a release of Ñ", "none: N is public in this plan")
        if self._size_paid:
            raise _paid_before("size", "Ñ", f"Call size_released({self.plan.size.guess.value}), the public guess")
        with self._changing():
            self._payments.size()
            self._size_paid = True
        return self.plan.size.noise.value

    @owned
    def size_released(self, value: Number) -> Fraction:
        """Take Ñ as it was released, or the public guess where it was paid and lost; Ñ in use is at least b, with room.

        Returns:
            Ñ, raised to the least at which K̃ has room (`RunPlan.bounded_size`).
        """
        if self.size_known:
            raise InvalidValue("size", value, f"nothing: Ñ = {self._size} is known")
        self._size = self.plan.bounded_size(exact(value, parameter="size"))
        return self._size

    # Epochs

    @property
    @owned
    def next_epoch(self) -> int:
        """The number of the epoch to begin next; E where the run is over."""
        return len(self.begun)

    @property
    @owned
    def current(self) -> EpochNoise | None:
        """What the steps of the epoch begun last are to do."""
        return self.begun[-1] if self.begun else None

    @property
    @owned
    def begun(self) -> list[EpochNoise]:
        """What the steps of each epoch begun so far are to do."""
        return [epoch.noise for epoch in self._epochs if epoch.noise is not None]

    @property
    @owned
    def steps_paid(self) -> int:
        """How many steps of the epoch begun last were paid."""
        return self._epochs[self.next_epoch - 1].steps if self.next_epoch else 0

    @owned
    def norm_sum_paid(self, epoch: int) -> bool:
        """Whether K̃ of an epoch was paid for."""
        return epoch < len(self._epochs) and self._epochs[epoch].norm_sum_paid

    @owned
    def pay_norm_sum(self, epoch: int, clip: Number) -> NormSumRelease:
        """Pay for K̃ of the epoch to begin next, before it is drawn.

        Args:
            epoch: from 0.
            clip: C of this epoch.

        Raises:
            BudgetExceeded: where it was paid before, where the plan releases none, and at the end of the run.
        """
        bound, size = self._clip(clip), self.size
        sums = self._pay_norm_sum(epoch)
        return NormSumRelease(
            rate=sums.rate.value,
            scale=sums.noise_multiplier.value * bound,
            least=self.plan.least_norm_sum * bound,
            most=size * bound,
        )

    @owned
    def begin_epoch(self, norm_sum: Number, clip: Number) -> EpochNoise:
        """Begin the next epoch: how much noise its steps need. Nothing is paid.

        Args:
            norm_sum: K̃ as it was released and bounded, or ÑC.
            clip: C, from the plan or a released K̃*.

        Raises:
            InvalidValue: for K̃ outside its bounds, or other than ÑC in DP-SGD and where no release of it was paid.
            BudgetExceeded: at the end of the run.
        """
        bound, number = self._clip(clip), self.next_epoch
        total = self._norm_sum(norm_sum, bound)
        self._require_next(number)
        noise = self._noise(self._payments.noise_multiplier(number, total / bound, self.size), total, bound)
        with self._changing():
            self._entry(number).noise = noise
        return noise

    @owned
    def pay_steps(self, count: int = 1) -> None:
        """Pay for steps of the current epoch at once, before the noise of any of them is drawn.

        Raises:
            InvalidValue, InvalidType: for a count that is no whole number ≥ 1.
            BudgetExceeded: where no epoch has begun, or fewer of its T steps are left; nothing was spent.
        """
        asked, noise = f"{whole('count', count, 1)} more", self.current
        if noise is None:
            raise BudgetExceeded("step", asked, "none before the first epoch", "Call begin_epoch")
        if self.steps_paid + count > self.plan.steps_per_epoch or self.clip_paid(noise.number):
            most = f"T = {self.plan.steps_per_epoch} steps an epoch, before its K̃*"
            raise BudgetExceeded("step", asked, most, "Begin the next epoch")
        with self._changing():
            self._payments.steps(noise.number, noise.step, count)
            self._epochs[noise.number].steps += count

    @owned
    def clip_paid(self, epoch: int) -> bool:
        """Whether K̃* after an epoch was paid for."""
        return epoch < len(self._epochs) and self._epochs[epoch].clip_paid

    @owned
    def pay_clip(self) -> ClipRelease:
        """Pay for K̃* after the current epoch, before it is drawn; the epoch takes no more steps.

        Raises:
            BudgetExceeded: where it was paid before, where C is fixed, and after the last epoch.
        """
        rule, number = self.plan.clip, self.next_epoch - 1
        if not isinstance(rule, AdaptiveClip):
            raise BudgetExceeded("clip", "a release of K̃*", "none: C is fixed in this plan")
        if number < 0 or number == self.plan.epochs - 1:
            raise BudgetExceeded("clip", "a release of K̃*", "one after each epoch but the last")
        entry = self._epochs[number]
        if entry.clip_paid:
            raise _paid_before("clip", f"K̃* of epoch {number}", "Keep C as it was")
        with self._changing():
            self._payments.clip(number)
            entry.clip_paid = True
        return ClipRelease(
            bound=rule.external.value,
            scale=rule.noise_multiplier.value * rule.external.value,
            size=self.size,
            clip=rule,
        )

    # What it says

    @property
    def guarantee(self) -> Guarantee[Approximate, AddRemove, Record]:
        """(ε₀, δ₀)-DP or better for everything that is released after it was paid, however the run goes on.

        Raises:
            InvalidValue: for a run with seeded coins.
        """
        self._require_private("guarantee")
        proven = self._payments.guarantee
        return evolve(proven, derivation=_RUN.conclude([proven.derivation], self._stated))

    @owned
    def certificate(self, *, parameters: str, assumptions: Sequence[Assumption] = ()) -> Certified:
        """A publishable certificate of (ε₀, δ₀), accepted by the independent checker.

        It shows that what was paid is within the budget; with `DominatedAccounting` what was declared. The budget is
        claimed, however little was paid. No record of the data enters it but through what the run released.

        Args:
            parameters: whether Ñ, K̃ and C are those that a run released, or foreseen.
            assumptions: what is stated beside the account's own assumptions.

        Raises:
            InvalidValue: for a run with seeded coins, where nothing was paid, and where the checker does not prove it,
                as for more than 64 kinds of releases: every epoch with another K̃ counts.
        """
        self._require_private("certificate")
        stated = list(dict.fromkeys([*self._stated, *assumptions]))
        return self._payments.certificate(stated, Assumption("parameters", parameters))

    @owned
    def spent(self) -> float:
        """An upper bound of the ε at δ₀ of what was paid so far; no guarantee, because it depends on outputs."""
        return self._payments.spent()

    @owned
    def state(self) -> dict[str, Any]:
        """All that a resumed run needs, as JSON. Written before noise is drawn, no paid budget is lost."""
        return {
            "version": _VERSION,
            "plan": _fingerprint(self.plan),
            "choice": self._payments.choice,
            "size": None if self._size is None else str(self._size),
            "size_paid": self._size_paid,
            "epochs": [epoch.state() for epoch in self._epochs],
        }

    def __repr__(self) -> str:
        if not self._of_this_process:
            return f"RunAccount({self.plan.budget}; of another process)"
        at = f"epoch {self.next_epoch} of {self.plan.epochs}, {self.steps_paid} steps of it paid"
        return f"RunAccount({self.plan.budget}; {at})"

    # Shared steps

    def _require_private(self, asked: str) -> None:
        if not self._is_private:
            raise seeded_run(asked)

    @property
    def _stated(self) -> list[Assumption]:
        """What the guarantee rests on beside the payments."""
        stated = [*self._noise_assumed, _NORMS]
        if isinstance(self.plan.size, PublicSize):
            stated.append(Assumption("number of records is public", str(self.plan.size.expected)))
        return stated

    def _require_next(self, epoch: int) -> None:
        """Refuse another epoch than the one to begin next."""
        number = self.next_epoch
        if number >= self.plan.epochs:
            raise BudgetExceeded("epoch", epoch, f"E = {self.plan.epochs} epochs", "The run is over")
        if epoch != number:
            raise InvalidValue("epoch", epoch, f"{number}, the epoch to begin next")

    def _entry(self, number: int) -> _Epoch:
        """The entry of the epoch to begin next."""
        if len(self._epochs) == number:
            self._epochs.append(_Epoch())
        return self._epochs[number]

    def _noise(self, noise_multiplier: Fraction, norm_sum: Fraction, clip: Fraction) -> EpochNoise:
        return EpochNoise(
            number=self.next_epoch,
            noise_multiplier=noise_multiplier,
            clip=clip,
            norm_sum=norm_sum,
            batch=self.plan.batch.value,
            size=self.size,
        )

    def _clip(self, clip: Number) -> Fraction:
        bound, rule = exact(clip, parameter="clip"), self.plan.clip
        match rule:
            case FixedClip():
                admitted, interval = bound == rule.first, f"{rule.first}, as planned"
            case AdaptiveClip():
                admitted = rule.lowest.value <= bound <= rule.highest.value
                interval = f"a number in [{rule.lowest.value}, {rule.highest.value}]"
        if not admitted:
            raise InvalidValue("clip", clip, interval)
        return bound

    def _pay_norm_sum(self, epoch: int) -> NormSums:
        sums = self.plan.norm_sums
        if sums is None:
            raise BudgetExceeded("norm_sum", "a release of K̃", "none: in DP-SGD K̃ = ÑC")
        if self.norm_sum_paid(epoch):
            raise _paid_before("norm_sum", f"K̃ of epoch {epoch}", "Begin the epoch with K̃ = ÑC")
        self._require_next(epoch)
        with self._changing():
            self._payments.norm_sum(epoch)
            self._entry(epoch).norm_sum_paid = True
        return sums

    def _norm_sum(self, norm_sum: Number, bound: Fraction) -> Fraction:
        """K̃ of the epoch to begin next, for C = `bound`."""
        total, most = exact(norm_sum, parameter="norm_sum"), self.size * bound
        least = self.plan.least_norm_sum * bound if self.norm_sum_paid(self.next_epoch) else most
        if not least <= total <= most:
            remedy = "Take NormSumRelease.bounded(K'), or ÑC where K̃ was not released"
            raise InvalidValue("norm_sum", norm_sum, f"a number in [{float(least)!r}, {float(most)!r}]", remedy)
        return total

    def _replay(self, state: dict[str, Any]) -> None:
        """Pay again, in order, for what a state says was paid; by the calls of a run, so that none is out of order."""
        if state["size_paid"]:
            self.pay_size()
        if state["size"] is not None and not self.size_known:
            self.size_released(Fraction(state["size"]))
        for number, stored in enumerate(state["epochs"]):
            if stored["norm_sum_paid"]:
                self._pay_norm_sum(number)
            if stored["begun"] is not None:
                self._begun_again(stored["begun"], whole("steps", stored["steps"], 0))
            if stored["clip_paid"]:
                self.pay_clip()

    def _begun_again(self, begun: dict[str, str], steps: int) -> None:
        """Begin the next epoch with the noise that it had, and pay for its steps at once."""
        number, bound, noise = self.next_epoch, self._clip(begun["clip"]), Fraction(begun["noise_multiplier"])
        total = self._norm_sum(begun["norm_sum"], bound)
        if steps > self.plan.steps_per_epoch:
            raise BudgetExceeded("state", f"{steps} steps in an epoch", f"at most T = {self.plan.steps_per_epoch}")
        self._require_next(number)
        entry, again = self._entry(number), self._noise(noise, total, bound)
        entry.noise = again
        if steps:
            self._payments.steps(number, again.step, steps)
        entry.steps = steps


def open_account(plan: RunPlan) -> RunAccount:
    """The account of a run that begins.

    Raises:
        InvalidValue: where the fixed releases alone exceed the budget.
    """
    return RunAccount(plan, _payments(plan, None))


def restored_account(plan: RunPlan, state: dict[str, Any]) -> RunAccount:
    """The account of a run that goes on: everything that was paid counts again.

    Args:
        plan: the plan of the run, the same as before.
        state: what `RunAccount.state` said.

    Raises:
        InvalidValue: for the state of another plan or version, and a damaged one.
        BudgetExceeded: for one that pays more than the budget.
    """
    if not isinstance(state, dict) or state.get("version") != _VERSION:
        raise InvalidValue("state", "another version", f"the state of an account, version {_VERSION}")
    if state.get("plan") != _fingerprint(plan):
        raise InvalidValue("state", "the state of another plan", "the state of this plan", "Give the run's own plan")
    try:
        account = RunAccount(plan, _payments(plan, state["choice"]))
        account._replay(state)
    except InvalidValue:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InvalidValue(
            "state", repr(error), "what RunAccount.state() wrote", "Take an earlier checkpoint"
        ) from error
    return account


def _payments(plan: RunPlan, choice: dict[str, Any] | None) -> Payments:
    match plan.accounting:
        case RenyiAccounting(order=order):
            return FilteredPayments(plan, order, choice)
        case DominatedAccounting(rate=rate):
            return DominatedPayments(plan, rate.value, choice)


def _fingerprint(plan: RunPlan) -> str:
    return hashlib.sha256(repr(plan).encode()).hexdigest()


def _paid_before(parameter: str, what: str, remedy: str) -> BudgetExceeded:
    return BudgetExceeded(parameter, f"{what}, again", "one release, paid once", f"Was it lost? {remedy}")
