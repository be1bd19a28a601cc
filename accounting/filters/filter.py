"""What a privacy filter is: a budget fixed beforehand, and a running account that never exceeds it.

Legend: mechanism t is chosen, with its parameters, by the outputs before it. Given these outputs it has a cost c_t that
is proven for every record of the domain. A filter admits c_t only while the costs so far stay within the budget, so
on every path of outputs they do; then all outputs together cost no more than the budget (`docs/composition.md`
proves it for each notion). The running costs themselves are no guarantee: they depend on the outputs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Generic, Protocol, TypeVar, final

from attrs import evolve, frozen

from ..derivation import Assumption, Derivation, RecordCount, Theorem, whatever_is_paid
from ..display import Displayed
from ..enclosures import Truth
from ..errors import InvalidType, InvalidValue
from ..guarantees import Guarantee, refuse_counted_elsewhere, require
from ..notions import Approximate, Bound, GaussianDP, Pure, Renyi, ZeroConcentrated
from ..relations import Protection, Relation, Unit, require_same
from ..sampling.domains import NormBall, require_domain
from ..stored import Json, canonical, entries, parsed, require_written
from ..units import Delta, Order
from . import states
from .remaining import Remaining
from .spending import SpendingState, owned
from .totals import Comparisons, Sums, Total

B = TypeVar("B", bound=Bound)
R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)

_KINDS: dict[type[Any], type[Filter[Any, Any, Any]]] = {}
"""The filters by the class of their bounds."""


class BudgetExceeded(InvalidValue):
    """A cost that would exceed a budget, or is not proven to stay within it; nothing was spent."""


class Guaranteed(Protocol):
    """An answer that carries an (ε, δ) guarantee."""

    @property
    def guarantee(self) -> Guarantee[Approximate, Any, Any]:
        """The proven (ε, δ) guarantee."""
        ...


class FixedRun(Protocol):
    """Releases whose parameters are fixed before they run, given what was released earlier."""

    def pure(self) -> Guarantee[Pure, Any, Any]:
        """Return the guarantee of the releases in pure DP, an ε."""
        ...

    def renyi(self, order: Order) -> Guarantee[Renyi, Any, Any]:
        """Return the guarantee of the releases in Rényi DP, a τ at an order."""
        ...

    def zero_concentrated(self) -> Guarantee[ZeroConcentrated, Any, Any]:
        """Return the guarantee of the releases in zero-concentrated DP, a ρ."""
        ...

    def gaussian(self) -> Guarantee[GaussianDP, Any, Any]:
        """Return the guarantee of the releases in Gaussian DP, a μ."""
        ...

    def epsilon(self, delta: Delta) -> Guaranteed:
        """Return the smallest proven ε of the releases at δ."""
        ...


@final
@frozen(repr=False)
class Spent(Displayed, Generic[B, R, U]):
    """A cost that a filter has admitted.

    Attributes:
        number: 1 for the first.
        cost: the guarantee of what it pays for, given all earlier outputs.
        total: the sums of all costs so far, this one included. No guarantee: they depend on the outputs.
    """

    number: int
    cost: Guarantee[B, R, U]
    total: B

    def __str__(self) -> str:
        return f"cost {self.number}: {self.cost.bound}; all so far: {self.total}"


Totals = tuple[Total, ...]


class Filter(SpendingState, ABC, Generic[B, R, U]):
    """A budget and the costs paid from it; the base class of the filters, one per notion.

    Args:
        budget: what all outputs together may cost, fixed before the first of them; its upper end counts.
        relation: the change of the data that every cost must be proven for.
        unit: whom every cost must protect.
        domain: the public domain of every cost whose guarantee depends on one; None where none may.

    Guarantees:
        `guarantee` holds for everything that is released after its cost was admitted, however the costs and the number
        of releases depend on earlier outputs. A refused cost leaves the account as it was. Threads may share a filter;
        copies, and processes that are forked, may not spend from it.

    Raises:
        InvalidType: for arguments of other types.
    """

    theorem: ClassVar[Theorem]
    """What the guarantee rests on."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not getattr(cls._kind, "__isabstractmethod__", False):
            _KINDS.setdefault(cls._kind(), cls)
            whatever_is_paid(cls.theorem)

    def __init__(self, budget: B, *, relation: R, unit: U, domain: NormBall | None = None) -> None:
        require("budget", budget, self._kind(), f"State the budget as {self._kind().__name__}(…)")
        require("relation", relation, Relation, "Use ADD_REMOVE, REPLACE or ZERO_OUT")
        require("unit", unit, Unit, "Use RECORD, ELEMENT or User(contributions=…)")
        if domain is not None:
            require("domain", domain, NormBall, "Declare NormBall(norm=…, radius=Public(…)), or None")
        self.budget = budget
        self.relation = relation
        self.unit = unit
        self.domain = domain
        self._sums = self.start
        self._premises: dict[Derivation, None] = {}

    # What each notion says

    @staticmethod
    @abstractmethod
    def _kind() -> type[Any]:
        """Return the class of the notion's bounds."""

    @abstractmethod
    def _amounts(self, bound: B) -> Totals:
        """Return the numbers of a bound that add up."""

    @abstractmethod
    def _compared(self, totals: Totals) -> Comparisons:
        """Return the sums beside what they may be."""

    @abstractmethod
    def _bound(self, totals: Totals) -> B:
        """Return the sums as a bound of the notion."""

    @abstractmethod
    def _remaining(self, totals: Totals) -> B:
        """Return the largest cost that may be added to the sums."""

    @abstractmethod
    def cost_of(self, run: FixedRun) -> Guarantee[B, Any, Any]:
        """What a run costs in the notion of the budget."""

    # The account

    def would_exceed(self, cost: Guarantee[B, R, U]) -> Truth:
        """Whether the costs so far and this one exceed the budget; what is undecided is refused by `spend`.

        Raises:
            InvalidType: for a cost in another notion.
            InvalidValue: for one with another relation, unit or domain, or about data of another number of records than
                what was paid, and beside another account.
            SecondAccount: in a forked process.
        """
        self._require_countable(cost)
        with self._own():
            return self.exceeded(self._sums, cost)

    def exceeded(self, sums: Sums, cost: Guarantee[B, R, U]) -> Truth:
        """Whether an account under this rule would exceed the budget with a cost; raises as `would_exceed`."""
        self._check(cost)
        return self._compared(self._with(sums, cost).totals).within.negated

    def spend(self, cost: Guarantee[B, R, U]) -> Spent[B, R, U]:
        """Pay a cost; call it before what costs it is released.

        Raises:
            BudgetExceeded: unless the costs provably stay within the budget.
            InvalidType, InvalidValue, SecondAccount: as `would_exceed`.
        """
        self._require_countable(cost)
        with self._own():
            sums = self.after(self._sums, cost)
            spent = Spent(sums.number, cost, self._bound(sums.totals))
            with self._changing():
                self._sums = sums
                self._premises[cost.derivation] = None
            return spent

    def after(self, sums: Sums, cost: Guarantee[B, R, U]) -> Sums:
        """Where an account under this rule stands once it has paid a cost; the filter's own account is left alone.

        Raises:
            BudgetExceeded, InvalidType, InvalidValue: as `spend`.
        """
        self._check(cost)
        found = self._with(sums, cost)
        within = self._compared(found.totals).within
        if within is not Truth.TRUE:
            raise self._refusal(sums, cost, within)
        return found

    @property
    def start(self) -> Sums:
        """Where an account stands that has paid nothing."""
        return Sums(0, tuple(Total() for _ in self._amounts(self.budget)))

    def share(self, sums: Sums) -> int:
        """Which part of the budget an account has used, in units of 2^-62, rounded up once: at most `FULL`."""
        return self._compared(sums.totals).share

    def total(self, sums: Sums) -> B:
        """The sums of what an account has paid, as a bound; no guarantee, because they depend on the outputs."""
        return self._bound(sums.totals)

    def left(self, sums: Sums) -> Remaining[B]:
        """About the largest cost that an account can still pay, and never more; it prints rounded down."""
        return Remaining(self._remaining(sums.totals))

    @owned
    def remaining(self) -> Remaining[B]:
        """About the largest cost that would be admitted now, and never more; it prints rounded down."""
        return self.left(self._sums)

    # The account as text

    @owned
    def state(self) -> str:
        """The filter as canonical JSON: its budget, every sum as exact fractions, and what was paid for.

        A state is for a store that one account at a time is restored from: two filters from one state would spend one
        budget twice. `certdp.Ledger` sees to that.

        Raises:
            InvalidValue: for a domain whose radius was released.
        """
        return canonical(
            {
                "format": states.FORMAT,
                "rule": self.rule(),
                "sums": states.sums_to_json(self._sums),
                "premises": states.premises_to_json(self._premises),
            }
        )

    @staticmethod
    def from_state(state: str) -> Filter[Any, Any, Any]:
        """The filter whose `state` this is; it admits exactly what that one would have.

        Raises:
            InvalidType, InvalidValue: for anything but such a state, and for sums beyond the budget.
        """
        format_, rule, sums, premises = entries("state", parsed(state, "state"), "format", "rule", "sums", "premises")
        if format_ != states.FORMAT:
            raise InvalidValue("format", format_, states.FORMAT, "Read it with the version of certdp that wrote it")
        made = Filter.from_rule(rule)
        made._premises = dict.fromkeys(states.premises_from_json(premises))
        records = RecordCount.common(premise.records for premise in made._premises)
        made._sums = evolve(made.read_sums(sums), records=records)
        require_written("state", state, made.state())
        return made

    def rule(self) -> Json:
        """What the filter was made with, in JSON's types; nothing of what it has paid."""
        return states.rule_to_json(self, self._options())

    @staticmethod
    def from_rule(rule: object) -> Filter[Any, Any, Any]:
        """A new filter of which nothing is spent, as the one whose `rule` this is.

        Raises:
            InvalidType, InvalidValue: for anything else.
        """
        budget, common, options = states.rule_from_json(rule)
        return _KINDS[type(budget)]._made(budget, common, options)

    def read_sums(self, stored: object) -> Sums:
        """Where an account under this rule stands, from JSON's types.

        Raises:
            InvalidType, InvalidValue: for anything else, and for sums beyond the budget.
        """
        found = states.sums_from_json(stored, len(self._sums.totals))
        if self._compared(found.totals).within is not Truth.TRUE:
            raise InvalidValue("totals", str(stored), f"sums within {self.budget}")
        return found

    def _options(self) -> Json:
        """Return what this kind of filter takes beside a budget, a protection and a domain."""
        return {}

    @classmethod
    def _made(cls, budget: Any, common: dict[str, Any], options: object) -> Filter[Any, Any, Any]:
        """Make the filter of this kind with these `_options`."""
        entries("options", options)
        return cls(budget, **common)

    @property
    @owned
    def number(self) -> int:
        """How many costs the filter has admitted."""
        return self._sums.number

    @property
    @owned
    def spent(self) -> B:
        """The sums of the costs so far; no guarantee, because they depend on the outputs."""
        return self._bound(self._sums.totals)

    @property
    def guarantee(self) -> Guarantee[B, R, U]:
        """The budget, as the guarantee of everything released under the filter, now and later."""
        return self.guarantee_of(self._premises.copy())

    def guarantee_of(self, premises: Iterable[Derivation]) -> Guarantee[B, R, U]:
        """The budget, as the guarantee of whatever an account under this rule has paid for.

        Args:
            premises: the derivations of what it paid.
        """
        domain = () if self.domain is None else self.domain.assumptions
        budget = Assumption("budget fixed beforehand", str(self.budget))
        return Guarantee(
            bound=self.budget,
            relation=self.relation,
            unit=self.unit,
            derivation=self.theorem.conclude(tuple(premises), [*domain, budget]),
        )

    def __repr__(self) -> str:
        if not self._of_this_process:
            return f"{type(self).__name__}({self.budget}; of another process)"
        return f"{type(self).__name__}({self.budget}; {self.number} costs, so far {self.spent})"

    # Shared steps

    def _with(self, sums: Sums, cost: Guarantee[B, R, U]) -> Sums:
        records = RecordCount.common([sums.records, cost.derivation.records])
        added = self._amounts(cost.bound)
        totals = tuple(total.plus(amount) for total, amount in zip(sums.totals, added, strict=True))
        return Sums(sums.number + 1, totals, records)

    def _refusal(self, sums: Sums, cost: Guarantee[B, R, U], within: Truth) -> BudgetExceeded:
        spent = f"{self._bound(sums.totals)} of {self.budget} are spent"
        if within is Truth.UNDECIDED:
            return BudgetExceeded(
                "cost",
                str(cost.bound),
                "a cost with which the sums provably stay within the budget",
                f"{spent}; with this cost they are equal to it but for rounding, so nothing was spent. Ask for a "
                "slightly smaller cost, or declare a budget with room for rounding beforehand: "
                "Enclosure.of(…).widen(2**-60)",
            )
        return BudgetExceeded(
            "cost",
            str(cost.bound),
            "a cost that the budget still covers",
            f"{spent}; nothing was spent. Ask for less, or stop here: the guarantee stands",
        )

    def _require_countable(self, cost: Guarantee[B, R, U]) -> None:
        """Raise unless this account may pay the cost: beside another one it says too little."""
        self._check(cost)
        refuse_counted_elsewhere("cost", cost, self)

    def _check(self, cost: Guarantee[B, R, U]) -> None:
        require_cost(cost, self._kind(), (self.relation, self.unit), self.domain)


def require_cost(cost: object, kind: type[Any], protection: Protection, domain: NormBall | None) -> None:
    """Raise unless `cost` is a guarantee with a bound of this kind, with this protection and domain.

    Raises:
        InvalidType: for anything but a guarantee in that notion.
        InvalidValue: for another relation, unit or domain.
    """
    if not isinstance(cost, Guarantee):
        remedy = "Pay with the guarantee of what is released, given all earlier outputs"
        raise InvalidType("cost", cost, "a Guarantee", remedy)
    if type(cost.bound) is not kind:
        raise InvalidType("cost", cost.bound, f"a bound of type {kind.__name__}", "Convert the guarantee to it first")
    require_same("cost", (cost.relation, cost.unit), protection, "for the account", "Convert the guarantee to it first")
    require_domain(cost.assumptions, domain, "Every cost must hold for all records of the account's one domain")
