"""Paying by domination: every release is within a plan declared before the run, composed by its loss distribution.

Legend: as in `budget`; r is the declared rate of steps, s_e their declared shift in epoch e.

The plan has, in this order, Ñ, then for every epoch K̃, T sampled Gaussians of rate r and shift s_e, and K̃* for all but
the last. The shifts s_e = 1/(σ·f_e) follow from one σ, the least that the budget allows, and the factors f_e of the
schedule. A step at K̃ ≥ bC/r has the rate bC/K̃ ≤ r, and with σ_G = K̃/(Ñ·s_e·C) the shift s_e. A hockey-stick divergence
need not fall with K̃ where σ_G stays, as Rényi divergences do: the rate and the shift are bounded apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from attrs import evolve

from ..accounting.accountants import LOSS_DISTRIBUTION
from ..accounting.derivation import Assumption
from ..accounting.dpis import Step
from ..accounting.errors import InvalidValue, restated
from ..accounting.exact import exact
from ..accounting.filters import BudgetExceeded
from ..accounting.guarantees import Guarantee
from ..accounting.notions import Approximate
from ..accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record
from ..accounting.releases import ResampleEach
from ..adaptive import DominatedRun
from ..budget_calibration import Continuous, calibrate
from ..plans import Plan
from ..sampled_releases import SampledReleases
from .budget import AdaptiveClip, NoisySize, RunPlan
from .payments import Payments, gaussian_releases

if TYPE_CHECKING:
    from ..run_certificates import Certified

_GAP = 2.0**-13


@final
class DominatedPayments(Payments):
    """The payments of a plan with `DominatedAccounting`.

    Args:
        plan: fixed before the run.
        rate: r, the largest rate of any step.
        choice: {"noise_multiplier": "p/q"} where a run goes on; it is proven anew.

    Raises:
        InvalidValue: where the fixed releases alone exceed the budget.
    """

    def __init__(self, plan: RunPlan, rate: Fraction, choice: dict[str, Any] | None = None) -> None:
        self.plan = plan
        self._rate = rate
        self.base = self._calibrated() if choice is None else exact(str(choice["noise_multiplier"]))
        self._places: dict[tuple[str, int], int] = {}
        self._run = DominatedRun(self._declared())
        self._place = 0
        self._paid: Counter[int] = Counter()  # releases of each part of the declared plan
        self._stepping: Step | None = None
        answer = self._run.delta(plan.budget.epsilon, accountant=LOSS_DISTRIBUTION)
        if answer.guarantee.bound.delta.upper > plan.budget.delta.value:
            raise BudgetExceeded("noise_multiplier", self.base, f"one with which the run is {plan.budget}")
        self._guarantee = Guarantee(
            bound=answer.guarantee.bound, relation=ADD_REMOVE, unit=RECORD, derivation=answer.guarantee.derivation
        )

    def size(self) -> None:
        """The declared Gaussian."""
        self._use_fixed("size", 0, self._size())

    def norm_sum(self, epoch: int) -> None:
        """The declared sampled Gaussian."""
        self._use_fixed("norm sum", epoch, self._norm_sum())

    def clip(self, epoch: int) -> None:
        """The declared Gaussian."""
        self._use_fixed("clip", epoch, self._clip())

    def noise_multiplier(self, epoch: int, norm_sum: Fraction, size: Fraction) -> Fraction:
        """σ_G = (K̃/C)/(Ñ·s_e), with which the shift is the declared one."""
        return norm_sum / size * self.base * self.plan.schedule.factor(epoch)

    def steps(self, epoch: int, step: Step, count: int) -> None:
        """Sampled Gaussians within the declared ones; all T of an epoch are compared with these at once.

        Rate and shift are compared exactly: what is drawn is rounded down (`sampling`), so it needs no margin.
        """
        if step != self._stepping:
            shift = 1 / (self.base * self.plan.schedule.factor(epoch))
            for name, value, declared in (("rate", step.rate, self._rate), ("shift", step.shift, shift)):
                if value > declared:
                    remedy = "Raise K̃ or take more noise"
                    raise BudgetExceeded(name, float(value), f"at most {float(declared)!r}, as declared", remedy)
            self._use("steps", epoch, self._steps(epoch, self.base))
            self._stepping = step
        self._paid[self._places["steps", epoch]] += count

    @property
    def guarantee(self) -> Guarantee[Approximate, AddRemove, Record]:
        """(ε₀, δ), δ ≤ δ₀, of the declared plan."""
        return self._guarantee

    def spent(self) -> float:
        """ε of the declared releases that were used; how many these are may depend on outputs."""
        if not self._paid:
            return 0.0
        declared = self._run.plan.sampled_parts
        parts = [evolve(declared[place], releases=ResampleEach(times)) for place, times in self._paid.items()]
        return Plan(parts).epsilon(self.plan.budget.delta, accountant=LOSS_DISTRIBUTION).epsilon.upper

    @property
    def choice(self) -> dict[str, Any]:
        """σ."""
        return {"noise_multiplier": str(self.base)}

    def certificate(self, assumptions: Sequence[Assumption], parameters: Assumption) -> Certified:
        """Of the declared plan, with equal releases counted together."""
        from ..run_certificates import certified_dominated

        times: Counter[SampledReleases] = Counter()
        for part in self._run.plan.sampled_parts:
            times[evolve(part, releases=ResampleEach(1))] += part.steps
        parts = [evolve(part, releases=ResampleEach(count)) for part, count in times.items()]
        return certified_dominated(Plan(parts), self.plan.budget, assumptions)

    # The declared plan

    def _declared(self) -> Plan:
        parts: list[SampledReleases] = []

        def declare(kind: str, epoch: int, part: SampledReleases) -> None:
            self._places[kind, epoch] = len(parts)
            parts.append(part)

        if isinstance(self.plan.size, NoisySize):
            declare("size", 0, self._size())
        for epoch in range(self.plan.epochs):
            if self.plan.norm_sums is not None:
                declare("norm sum", epoch, self._norm_sum())
            declare("steps", epoch, self._steps(epoch, self.base))
            if isinstance(self.plan.clip, AdaptiveClip) and epoch < self.plan.epochs - 1:
                declare("clip", epoch, self._clip())
        return Plan(parts)

    def _size(self) -> SampledReleases:
        assert isinstance(self.plan.size, NoisySize)
        return gaussian_releases(Fraction(1), self.plan.size.noise.value, 1)

    def _norm_sum(self) -> SampledReleases:
        sums = self.plan.norm_sums
        assert sums is not None
        return gaussian_releases(sums.rate.value, sums.noise_multiplier.value * sums.rate.value, 1)

    def _clip(self) -> SampledReleases:
        assert isinstance(self.plan.clip, AdaptiveClip)
        return gaussian_releases(Fraction(1), self.plan.clip.noise_multiplier.value, 1)

    def _steps(self, epoch: int, base: Fraction) -> SampledReleases:
        return gaussian_releases(self._rate, base * self.plan.schedule.factor(epoch), self.plan.steps_per_epoch)

    def _calibrated(self) -> Fraction:
        """The least σ found with which the plan is within the budget."""
        plan = self.plan
        fixed: list[SampledReleases] = []
        if isinstance(plan.size, NoisySize):
            fixed.append(self._size())
        fixed += [self._norm_sum()] * plan.epochs if plan.norm_sums is not None else []
        fixed += [self._clip()] * (plan.epochs - 1) if isinstance(plan.clip, AdaptiveClip) else []

        def declared(base: Fraction) -> Plan:
            return Plan([*fixed, *(self._steps(epoch, base) for epoch in range(plan.epochs))])

        try:
            return calibrate(declared, plan.budget, Continuous(relative_gap=_GAP)).value
        except InvalidValue as error:
            remedy = "Release Ñ, norm sums and clipping bounds with more noise: σ_N, σ_K; or take fewer epochs"
            raise restated(error, remedy=remedy) from error

    # Using it up

    def _use_fixed(self, kind: str, epoch: int, part: SampledReleases) -> None:
        self._use(kind, epoch, part)
        self._paid[self._places[kind, epoch]] += 1

    def _use(self, kind: str, epoch: int, part: SampledReleases) -> None:
        """Use up one part of the declared plan; parts before it are left unused."""
        place = self._places[kind, epoch]
        while self._place < place:
            self._run.skip()
            self._place += 1
        try:
            self._run.use(part)
        except InvalidValue as error:
            raise BudgetExceeded(error.parameter, error.value, error.admissible, error.remedy) from error
        self._place += 1
