"""Runs whose mechanisms, samplers and parameters are chosen while they go, by what was released before.

Adding up what came and then searching for the best order, or composing its loss distributions, proves nothing about
such a run (`certdp verify --only 'accounting/filter-*'` shows runs that leak more). So an adaptive run has no
accountant. Either a filter with a budget fixed beforehand counts every cost, and the budget is the guarantee; or every
step is dominated by the step of a plan fixed beforehand, and the plan's guarantees hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, final, overload

from attrs import evolve
from numpy.typing import ArrayLike

from ..accounting.accountants import BEST, Accountant
from ..accounting.derivation import Assumption, Derivation, RecordCount, Theorem, chosen_in, whatever_is_paid
from ..accounting.enclosures import Enclosure, Truth
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.filters import Filter, Spent
from ..accounting.filters.spending import SpendingState, owned
from ..accounting.guarantees import Guarantee, require
from ..accounting.notions import Approximate, Bound, Pure
from ..accounting.pairs.domination import dominates
from ..accounting.provenance import Payment, Released
from ..accounting.relations import ELEMENT, RECORD, Record, Relation, require_same
from ..accounting.sampling.batches import BatchRate
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.releases import Releases, ResampleEach, SampleOnce
from ..accounting.sampling.worst_cases import Case
from ..accounting.units import Delta, Epsilon
from ..ledger import Ledger, LedgerRequest, request_of
from ..plugins.contract import Coins, Release
from ..plugins.contract.coins import seeded_run
from .digests import plan_digest
from .ex_post import refuse_reading
from .plan import Plan
from .run import Answer, U
from .sampled import SampledRun

B = TypeVar("B", bound=Bound)
R = TypeVar("R", bound=Relation)
T = TypeVar("T")

_DOMINATED = whatever_is_paid(
    Theorem("Zhu, Dong, Wang 2022", "Theorem 10: each step dominated by one declared beforehand")
)
_OF_FIXED_RUNS = {"delta", "epsilon", "gaussian", "pairs", "pure", "renyi", "zero_concentrated"}


class NoAccountant(InvalidType, AttributeError):
    """A question for an accountant, put to an adaptive run."""


@final
class AdaptiveRun(SpendingState, Generic[B, R, U]):
    """Releases chosen step by step, each paid from a filter before it happens.

    Args:
        filter: the budget, fixed beforehand, and its account; for the records of its one domain, or for users with at
            most so many of them. Steps are about its unit and its relation. A ledger's own rule unless given.
        ledger: what holds the account instead, so that other processes pay from it too.

    Guarantees:
        `guarantee`, the filter's: for everything that was released by this run, or paid by `pay` and then released.

    Raises:
        InvalidType: for anything else.
        InvalidValue: for a filter of keyed data, and for one that is not the rule of the ledger.
    """

    @overload
    def __init__(self, filter: Filter[B, R, U]) -> None: ...

    @overload
    def __init__(self: AdaptiveRun[Any, Any, Any], *, ledger: Ledger) -> None: ...

    def __init__(self, filter: Filter[B, R, U] | None = None, *, ledger: Ledger | None = None) -> None:
        if ledger is not None:
            require("ledger", ledger, Ledger, "Open it: certdp.Ledger(…)")
            if filter is not None:
                remedy = "The ledger has its own: AdaptiveRun(ledger=ledger)"
                raise InvalidValue("filter", repr(filter), "none, where there is a ledger", remedy)
            filter = ledger.rule
        require("filter", filter, Filter, "Fix a budget beforehand, such as ZeroConcentratedFilter(…)")
        assert filter is not None
        if filter.unit == ELEMENT:
            raise InvalidValue("filter", filter.unit, "a filter whose unit is a record or a user", "A step has records")
        self.filter = filter
        self.ledger = ledger
        self._is_private = True

    @property
    def guarantee(self) -> Guarantee[B, R, U]:
        """The budget: what the whole run costs, however it goes on.

        Raises:
            InvalidValue: once the run has released with seeded coins, with which nothing holds.
        """
        if not self._is_private:
            raise seeded_run("guarantee")
        return self.filter.guarantee if self.ledger is None else self.ledger.guarantee

    def cost(self, step: SampledRun[U] | Plan[U]) -> Guarantee[B, Any, Any]:
        """What a step costs in the filter's notion, at the values that its released parameters have; nothing is spent.

        Where there are such parameters it is a cost for this run's filter, and no guarantee.

        Raises:
            NotionAbsent: where the step has no such cost.
        """
        _require_step(step)
        return self.filter.cost_of(step.counted_by(self._account))

    def would_exceed(self, step: SampledRun[U] | Plan[U]) -> Truth:
        """Whether a step would exceed the budget; an undecided one is refused as well."""
        return self._account.would_exceed(self.cost(step))

    def pay(self, step: SampledRun[U] | Plan[U], *, request: str | None = None) -> Spent[B, R, U]:
        """Pay for a step that is released elsewhere, once, after this.

        Args:
            step: chosen by anything but the records themselves.
            request: the id under which a ledger is paid, which names this step alone; drawn unless given.

        Raises:
            BudgetExceeded: unless the costs provably stay within the budget; nothing was spent.
            InvalidValue: for a request without a ledger, and as `LedgerRequest.pay` where there is one.
        """
        return self._pay(step, self.cost(step), Coins(), request)

    def release(
        self,
        step: SampledRun[U],
        records: ArrayLike,
        outside: Outside = Outside.CLIP,
        *,
        coins: Coins | None = None,
        request: str | None = None,
    ) -> list[Release]:
        """Pay for a step, draw and release it.

        Args:
            step: chosen by anything but the records themselves; its parameters may come from earlier releases.
            records: matrix (n, d) of finite numbers; the same in every step.
            outside: what happens to records outside the step's domain.
            coins: the operating system's unless given; releases with seeded coins are not private, and not paid from
                a ledger.
            request: as for `pay`.

        Raises:
            BudgetExceeded: unless the costs provably stay within the budget; nothing was spent or released.
            InvalidType, InvalidValue: for a step, records, options and coins that are inadmissible; nothing was spent.
                Where there is a ledger, as `LedgerRequest.pay`.
        """
        require("step", step, SampledRun, "A plan's parts are released one by one")
        cost, ready = self.cost(step), step.prepared(records, outside, coins=coins)
        self._pay(step, cost, ready.coins, request)
        self._is_private = self._is_private and ready.coins.private
        return ready.draw()

    def chosen(self, value: T) -> Released[T]:
        """A parameter that was computed from this run's releases: free here, because the filter has counted them.

        No plan accepts it, for a plan is fixed beforehand; nor does a run with another account, whose budget would not
        say what the parameter tells.
        """
        paid = chosen_in(self._account, Assumption("counted under the budget", str(self.filter.budget)))
        nothing = Pure(Enclosure.of(0))
        cost = Guarantee(bound=nothing, relation=self.filter.relation, unit=self.filter.unit, derivation=paid)
        return Released(value, Payment(cost, self._account))

    @property
    def _account(self) -> Filter[B, R, U] | Ledger:
        """What pays: runs that share it may use the parameters that each other chose."""
        return self.filter if self.ledger is None else self.ledger

    def _pay(
        self, step: SampledRun[U] | Plan[U], cost: Guarantee[B, Any, Any], coins: Coins, request: str | None
    ) -> Spent[B, R, U]:
        if self.ledger is None:
            if request is not None:
                raise InvalidValue("request", request, "none, without a ledger", "AdaptiveRun(ledger=ledger) has ids")
            return self.filter.spend(cost)
        paid_from = self.ledger if request is None else LedgerRequest(self.ledger, request)
        request_of(paid_from, "step").pay(cost, plan=plan_digest(step), coins=coins)
        total: Any = self.ledger.spent
        return Spent(self.ledger.number, cost, total)

    def __repr__(self) -> str:
        return f"AdaptiveRun({self.filter if self.ledger is None else self.ledger!r})"

    if not TYPE_CHECKING:  # to the type checkers these names do not exist

        def __getattr__(self, name: str) -> NoReturn:
            if name in _OF_FIXED_RUNS:
                raise NoAccountant(
                    name,
                    "an adaptive run",
                    "a run fixed beforehand",
                    "What came cannot be accounted for afterwards. Use run.guarantee, which is the budget, and convert "
                    "it; or declare a plan beforehand and run DominatedRun(plan)",
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@final
class DominatedRun(SpendingState):
    """Releases chosen step by step, each within what a plan declared beforehand.

    The plan's steps are used up in order, each by at most one step of the run; a part that resamples for each of T
    releases has T of them. A step is within a declared one if it samples at no higher rate, and its pair is dominated:
    by a Gaussian pair where its μ is at most the shift, by randomised response where its pure ε is, by a Laplace pair
    where it is one with at most the shift.

    Args:
        plan: fixed beforehand; every part has one worst pair that bounds all records, as at constant rates.

    Guarantees:
        What the plan costs by any accountant bounds the run (Zhu, Dong, Wang 2022, Theorem 10).

    Raises:
        InvalidValue: for a plan about another unit than records, and one in which a part has several worst pairs: which
            of them is a record's could depend on earlier releases.
        ExPost: for a plan whose bounds move with a released value, also where it is taken as it came out.
    """

    def __init__(self, plan: Plan) -> None:
        require("plan", plan, Plan, "Declare what each step may cost: Plan([SampledRun(…), …])")
        refuse_reading(plan)
        if plan.unit != RECORD:
            raise InvalidValue("plan", plan.unit, "a plan whose unit is a record")
        for number, part in enumerate(plan.sampled_parts):
            if len(part.worst_cases.bounding) != 1:
                raise InvalidValue(
                    f"plan.parts[{number}]",
                    f"{len(part.worst_cases.bounding)} worst pairs",
                    "a part with one pair that bounds every record",
                    "Declare it with a sampler of constant rate, at least as high as any that may be chosen",
                )
        self.plan = plan
        self._part = 0
        self._used = 0
        self._steps: dict[Derivation, None] = {}
        self._is_private = True

    def release(
        self,
        step: SampledRun,
        records: ArrayLike,
        outside: Outside = Outside.CLIP,
        *,
        coins: Coins | None = None,
    ) -> list[Release]:
        """Use up the next declared step, draw and release; arguments as for `AdaptiveRun.release`.

        Raises:
            InvalidValue: for a step that is not known to be within the declared one; nothing is used or released.
        """
        require("step", step, SampledRun, "Take steps one by one")
        ready = step.prepared(records, outside, coins=coins)
        self.use(step)
        self._is_private = self._is_private and ready.coins.private
        return ready.draw()

    @owned
    def use(self, step: SampledRun) -> None:
        """Use up the next declared step for one that is released elsewhere, once, after this.

        Raises:
            InvalidValue: for a step that is not known to be within the declared one; nothing is used.
        """
        require("step", step, SampledRun, "Take steps one by one")
        declared = self._next(step.releases)
        self._check_parameters(step)
        _check_within(step.counted_by(self), declared)
        used = self._used + step.releases.steps
        with self._changing():
            self._steps[step.derivation] = None
            if used >= declared.releases.steps or isinstance(declared.releases, SampleOnce):
                self._part, self._used = self._part + 1, 0
            else:
                self._used = used

    @owned
    def skip(self) -> None:
        """Leave the rest of the current part unused and go on with the next."""
        if self._part >= len(self.plan.parts):
            raise _used_up(self.plan)
        with self._changing():
            self._part, self._used = self._part + 1, 0

    def epsilon(self, delta: Delta, *, accountant: Accountant = BEST) -> Answer:
        """The plan's ε at δ; it holds however the run goes on.

        Raises:
            InvalidValue: once the run has released with seeded coins, with which nothing holds.
        """
        return self._of_this_run(self.plan.epsilon(delta, accountant=accountant))

    def delta(self, epsilon: Epsilon, *, accountant: Accountant = BEST) -> Answer:
        """The plan's δ at ε; it holds however the run goes on. Raises as `epsilon`."""
        return self._of_this_run(self.plan.delta(epsilon, accountant=accountant))

    def __repr__(self) -> str:
        if not self._of_this_process:
            return "DominatedRun(of another process)"
        return f"DominatedRun(part {self._part + 1} of {len(self.plan.parts)}, {self._used} releases of it used)"

    # Shared steps

    def _next(self, wanted: Releases) -> SampledRun:
        """The declared part that has room for these releases."""
        if self._part >= len(self.plan.parts):
            raise _used_up(self.plan)
        declared = self.plan.sampled_parts[self._part]
        left = declared.releases.steps - self._used
        if not _fits(wanted, declared.releases, self._used):
            raise InvalidValue(
                "step.releases",
                wanted,
                f"releases within {declared.releases}, of which {left} are left",
                "Take fewer at a time, in the declared way, or skip() to the next part",
            )
        return declared

    def _check_parameters(self, step: SampledRun) -> None:
        if step.domain not in (None, self.plan.domain):
            raise InvalidValue("step.domain", step.domain, f"{self.plan.domain}, as in the plan")
        require_same("step", (step.relation, step.unit), (self.plan.relation, self.plan.unit), "in the plan")
        RecordCount.common([self.plan.derivation.records, step.derivation.records])
        of_plan = self.plan.payments
        for payment in step.payments:
            if payment not in of_plan and payment.account is not self:
                raise InvalidValue(
                    "step",
                    f"a parameter released for {payment.cost.bound}",
                    "parameters that are public, were paid for in the plan, or chosen(…) from the run's own releases",
                    "Release it in a step of the run",
                )

    def chosen(self, value: T) -> Released[T]:
        """A parameter that was computed from this run's releases: free here, because the plan accounts for them."""
        paid = chosen_in(self, Assumption("counted in a plan declared beforehand"))
        nothing = Pure(Enclosure.of(0))
        cost = Guarantee(bound=nothing, relation=self.plan.relation, unit=RECORD, derivation=paid)
        return Released(value, Payment(cost, self))

    def _of_this_run(self, answer: Answer) -> Answer:
        if not self._is_private:
            raise seeded_run("run")
        derivation = _DOMINATED.conclude([answer.guarantee.derivation, *self._steps.copy()])
        guarantee: Guarantee[Approximate, Any, Record] = evolve(answer.guarantee, derivation=derivation)
        return evolve(answer, guarantee=guarantee)


def _require_step(step: SampledRun[Any] | Plan[Any]) -> None:
    if not isinstance(step, SampledRun | Plan):
        raise InvalidType("step", step, "SampledRun or a Plan", "A step is fixed before it is released")


def _used_up(plan: Plan) -> InvalidValue:
    return InvalidValue(
        "step", "one more step", f"none: all {len(plan.parts)} parts of the plan are used up", "Stop here"
    )


def _fits(wanted: Releases, declared: Releases, used: int) -> bool:
    """Whether releases are a part of declared ones, of which some are used.

    One release has a sample of its own either way; several must share theirs, or not, as declared. Releases on one
    declared sample are one step, because later ones would draw another sample.
    """
    if wanted.steps > declared.steps - used:
        return False
    match declared:
        case SampleOnce():
            return used == 0 and (wanted.steps == 1 or isinstance(wanted, SampleOnce))
        case ResampleEach():
            return wanted.steps == 1 or isinstance(wanted, ResampleEach)


def _check_within(step: SampledRun, declared: SampledRun) -> None:
    """Raise unless every record's pair and rate in the step are within the declared ones."""
    batches = [run.drawing for run in (step, declared) if isinstance(run.drawing, BatchRate)]
    if batches and step.drawing != declared.drawing:
        raise InvalidValue(
            "step.sampler",
            step.sampler,
            f"the scheme declared, {declared.sampler}",
            "Of batches drawn as a whole only the same ones are known to be within those declared",
        )
    if step.derived != declared.derived:  # the pairs compared are about different changes
        raise InvalidValue(
            "step.mechanism",
            step.mechanism.about.name,
            f"a mechanism that covers what {declared.mechanism.about.name} does: {declared.mechanism.about.relations}",
            "Declare it in a part of its own",
        )
    (bound,) = declared.worst_cases.bounding
    for case in step.worst_cases.bounding:
        for name, value, limit, answer in _questions(case, bound):
            if answer is not Truth.TRUE:
                raise InvalidValue(
                    f"step.{name}",
                    value,
                    f"within the declared {limit}",
                    "Choose a lower rate or more noise; what is not proven to be within is refused",
                )


def _questions(case: Case, bound: Case) -> list[tuple[str, object, object, Truth]]:
    return [
        ("rate", case.rate, bound.rate, case.rate.less_equal(bound.rate.upper)),
        ("pair", case.pair, bound.pair, dominates(bound.pair, case.pair)),
    ]
