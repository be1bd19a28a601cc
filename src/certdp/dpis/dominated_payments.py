"""Paying by domination: every release is within a plan declared before the run, composed by its loss distribution.

Legend: as in `budget`; r is the declared rate of steps, s_e their declared shift in epoch e.

The plan has, in this order, Ñ, then for every epoch K̃, T sampled Gaussians of rate r and shift s_e, and K̃* for all but
the last. The shifts s_e = 1/(σ·f_e) follow from one σ, the least that the budget allows, and the factors f_e of the
schedule. A step at K̃ ≥ bC/r has the rate bC/K̃ ≤ r, and with σ_G = K̃/(Ñ·s_e·C) the shift s_e. A hockey-stick divergence
need not fall with K̃ where σ_G stays, as Rényi divergences do: the rate and the shift are bounded apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from ..accounting.accountants import LOSS_DISTRIBUTION
from ..accounting.accountants.growing import GrowingEpsilon
from ..accounting.derivation import Assumption
from ..accounting.dpis.steps import Step
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue, restated
from ..accounting.exact import exact
from ..accounting.filters import BudgetExceeded
from ..accounting.filters.spending import owned
from ..accounting.guarantees import Guarantee
from ..accounting.notions import Approximate
from ..accounting.pairs import Pair
from ..accounting.pairs.composed import Composed
from ..accounting.pairs.pair import Repeated
from ..accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record
from ..runs.adaptive import DominatedRun
from ..runs.calibration import Continuous, calibrate
from ..runs.certificates import certified_dominated
from ..runs.plan import Plan
from .budget import AdaptiveClip, NoisySize, RunPlan
from .payments import Payments, gaussian_releases

if TYPE_CHECKING:
    from ..runs.certificates import Certified

_GAP = 2.0**-13


@final
@frozen
class _Declared:
    """Releases of one kind, declared for an epoch."""

    kind: str
    epoch: int
    rate: Fraction
    noise_multiplier: Fraction
    count: int = 1


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
        self.base = _calibrated(plan, rate) if choice is None else exact(str(choice["noise_multiplier"]))
        self._declared = list(_declared(plan, rate, self.base))
        parts = (gaussian_releases(each.rate, each.noise_multiplier, each.count) for each in self._declared)
        self._run = DominatedRun(Plan(list(parts)))
        self._places = {(each.kind, each.epoch): place for place, each in enumerate(self._declared)}
        self._place = 0
        self._paid: Counter[tuple[Fraction, Fraction]] = Counter()  # by rate and noise multiplier
        self._stepping: Step | None = None
        self._pairs: dict[tuple[Fraction, Fraction], Pair] = {}
        self._so_far = GrowingEpsilon(Enclosure.of(plan.budget.delta.value))
        answer = self._run.delta(plan.budget.epsilon, accountant=LOSS_DISTRIBUTION)
        if answer.guarantee.bound.delta.upper > plan.budget.delta.value:
            raise BudgetExceeded("noise_multiplier", self.base, f"one with which the run is {plan.budget}")
        self._guarantee = Guarantee(
            bound=answer.guarantee.bound, relation=ADD_REMOVE, unit=RECORD, derivation=answer.guarantee.derivation
        )

    @owned
    def size(self) -> None:
        """Pay for Ñ: the declared Gaussian mechanism."""
        self._pay("size", 0)

    @owned
    def norm_sum(self, epoch: int) -> None:
        """Pay for K̃ of an epoch: the declared sampled Gaussian mechanism."""
        self._pay("norm sum", epoch)

    @owned
    def clip(self, epoch: int) -> None:
        """Pay for a clipping bound: the declared Gaussian mechanism."""
        self._pay("clip", epoch)

    @owned
    def noise_multiplier(self, epoch: int, norm_sum: Fraction, size: Fraction) -> Fraction:
        """σ_G = (K̃/C)/(Ñ·s_e), with which the shift is the declared one."""
        return norm_sum / size * self._declared[self._places["steps", epoch]].noise_multiplier

    @owned
    def steps(self, epoch: int, step: Step, count: int) -> None:
        """Sampled Gaussians within the declared ones; all T of an epoch are compared with these at once.

        Rate and shift are compared exactly: what is drawn is rounded down (`sampling`), so it needs no margin.
        """
        declared = self._declared[self._places["steps", epoch]]
        if step != self._stepping:
            shift = 1 / declared.noise_multiplier
            for name, value, most in (("rate", step.rate, declared.rate), ("shift", step.shift, shift)):
                if value > most:
                    remedy = "Raise K̃ or take more noise"
                    raise BudgetExceeded(name, float(value), f"at most {float(most)!r}, as declared", remedy)
        with self._changing():
            if step != self._stepping:
                self._use("steps", epoch)
                self._stepping = step
            self._paid[declared.rate, declared.noise_multiplier] += count

    @property
    def guarantee(self) -> Guarantee[Approximate, AddRemove, Record]:
        """(ε₀, δ), δ ≤ δ₀, of the declared plan."""
        return self._guarantee

    @owned
    def spent(self) -> float:
        """ε of the declared releases that were used; how many these are may depend on outputs."""
        if not self._paid:
            return 0.0
        pairs = tuple(Repeated(self._pair(*kind), times) for kind, times in self._paid.items())
        found = self._so_far.upper(Composed(pairs))
        if found is None:
            return _merged(self._paid).epsilon(self.plan.budget.delta, accountant=LOSS_DISTRIBUTION).epsilon.upper
        return Enclosure.of(found).upper_float

    def _pair(self, rate: Fraction, noise_multiplier: Fraction) -> Pair:
        """The pair of one release of a kind."""
        if (rate, noise_multiplier) not in self._pairs:
            (self._pairs[rate, noise_multiplier],) = gaussian_releases(rate, noise_multiplier, 1).pairs.bounding
        return self._pairs[rate, noise_multiplier]

    @property
    def choice(self) -> dict[str, Any]:
        """Return what was chosen before the run: the noise multiplier σ."""
        return {"noise_multiplier": str(self.base)}

    @owned
    def certificate(self, assumptions: Sequence[Assumption], parameters: Assumption) -> Certified:
        """Return a certificate of the declared plan, with equal releases counted together."""

        return certified_dominated(_merged(_counted(self._declared)), self.plan.budget, assumptions)

    # Using it up

    def _pay(self, kind: str, epoch: int) -> None:
        """Use up a declared release and count it."""
        with self._changing():
            used = self._use(kind, epoch)
            self._paid[used.rate, used.noise_multiplier] += 1

    def _use(self, kind: str, epoch: int) -> _Declared:
        """Use up one part of the declared plan; parts before it are left unused."""
        place = self._places[kind, epoch]
        while self._place < place:
            self._run.skip()
            self._place += 1
        try:
            self._run.use(self._run.plan.sampled_parts[place])
        except InvalidValue as error:
            raise BudgetExceeded(error.parameter, error.value, error.admissible, error.remedy) from error
        self._place += 1
        return self._declared[place]


def _declared(plan: RunPlan, rate: Fraction, base: Fraction) -> Iterator[_Declared]:
    """All releases in their order, with this r and σ."""
    if isinstance(plan.size, NoisySize):
        yield _Declared("size", 0, Fraction(1), plan.size.noise.value)
    for epoch in range(plan.epochs):
        if (sums := plan.norm_sums) is not None:
            yield _Declared("norm sum", epoch, sums.rate.value, sums.noise_multiplier.value * sums.rate.value)
        yield _Declared("steps", epoch, rate, base * plan.schedule.factor(epoch), plan.steps_per_epoch)
        if isinstance(plan.clip, AdaptiveClip) and epoch < plan.epochs - 1:
            yield _Declared("clip", epoch, Fraction(1), plan.clip.noise_multiplier.value)


@lru_cache(maxsize=16)
def _calibrated(plan: RunPlan, rate: Fraction) -> Fraction:
    """The least σ found with which the plan is within the budget."""

    def declared(base: Fraction) -> Plan:
        return _merged(_counted(_declared(plan, rate, base)))

    try:
        return calibrate(declared, plan.budget, Continuous(relative_gap=_GAP)).value
    except InvalidValue as error:
        remedy = "Release Ñ, norm sums and clipping bounds with more noise: σ_N, σ_K; or take fewer epochs"
        raise restated(error, remedy=remedy) from error


def _counted(declared: Iterable[_Declared]) -> Counter[tuple[Fraction, Fraction]]:
    """How many there are of each rate and noise multiplier."""
    times: Counter[tuple[Fraction, Fraction]] = Counter()
    for each in declared:
        times[each.rate, each.noise_multiplier] += each.count
    return times


def _merged(times: Counter[tuple[Fraction, Fraction]]) -> Plan:
    return Plan([gaussian_releases(rate, noise_multiplier, count) for (rate, noise_multiplier), count in times.items()])
