"""One account for everything that is asked of a table, and of other tables of the same people."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias, final

from attrs import evolve, frozen

from ..accounting.conversions import gaussian_to_approximate, pure_to_approximate
from ..accounting.derivation import Assumption, Theorem
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue
from ..accounting.exact import Number, exact
from ..accounting.filters import BudgetExceeded, GaussianFilter, PureFilter
from ..accounting.guarantees import Guarantee, require
from ..accounting.norms import Norm
from ..accounting.notions import Approximate, GaussianDP, Pure
from ..accounting.provenance import Public
from ..accounting.relations import ADD_REMOVE, RECORD, AddRemove, Unit, User
from ..accounting.sampling.domains import NormBall
from ..accounting.units import Delta, Epsilon
from ..ledger import Ledger, request_of
from ..mechanisms.gaussian_sum import GaussianSum
from ..plugins.contract import Coins
from ..runs.calibration import Budget, Continuous, calibrate
from ..runs.digests import plan_digest
from ..runs.plan import Plan
from ..runs.sampled import SampledRun
from ..samplers.full import Full
from .noise import GaussianShare, PureShare, Share

_USERS = Theorem("law", "what all rows of a user add up to is one record")

Rule: TypeAlias = PureFilter[AddRemove, Any] | GaussianFilter[AddRemove, Any]


@final
@frozen(kw_only=True, eq=False, repr=False)
class Account:
    """A budget for queries, and what of it is spent.

    Attributes:
        budget: what all answers together may cost.
        contributions: how many rows of a unit of privacy are used at most.
        filter: the account itself. Costs that were paid elsewhere may be paid from it too. Where there is a ledger, its
            rule, which pays nothing itself.
        ledger: what holds the account instead, for any number of processes; None for an account in memory.
    """

    budget: Budget
    contributions: int
    filter: Rule
    ledger: Ledger | None = None

    @classmethod
    def of(cls, epsilon: Epsilon | Number, delta: Delta | Number, unit: Unit) -> Account:
        """An account of which nothing is spent.

        Args:
            epsilon: ε, above 0.
            delta: δ. At 0 noise is discrete Laplace and costs add up; above it noise is normal, and squares of costs
                add up, so that many queries get less noise.
            unit: RECORD, or User(contributions=…).

        Raises:
            InvalidValue: for an ε that is not above 0 or a δ outside [0, 1).
        """
        budget = Budget(epsilon=epsilon, delta=delta)
        if not budget.epsilon.value:
            raise InvalidValue("epsilon", str(epsilon), "a number > 0")
        if budget.delta.value >= 1:
            raise InvalidValue("delta", str(delta), "a number in [0, 1), far below 1 / the number of units")
        rows = unit.contributions if isinstance(unit, User) else 1
        rule = _rule(_whole(budget), unit, domain_of(rows))
        return cls(budget=budget, contributions=rows, filter=rule)

    def kept_in(self, ledger: Ledger) -> Account:
        """The account that a ledger holds: it admits what the ledger's rule does.

        Args:
            ledger: one with a budget that entails this one, for the same unit: `Ledger.create(…, account.filter, …)`.

        Raises:
            InvalidType: for anything but a ledger.
            InvalidValue: where this account has paid, and for a ledger whose rule is another.
        """
        require("ledger", ledger, Ledger, "Open it: certdp.Ledger(…)")
        mine, theirs = self.filter, ledger.rule
        if mine.number:
            remedy = "What it has paid is not in the ledger: use a new account"
            raise InvalidValue("account", f"{mine.number} payments", "one that has paid nothing", remedy)
        for name in ("relation", "unit", "domain"):
            if getattr(mine, name) != getattr(theirs, name):
                remedy = "Make the ledger with the rule of such an account: Account.of(…).filter"
                raise InvalidValue(f"ledger.{name}", str(getattr(theirs, name)), str(getattr(mine, name)), remedy)
        match mine, theirs:
            case PureFilter(), PureFilter():
                within = theirs.budget.epsilon.upper <= mine.budget.epsilon.upper
            case GaussianFilter(), GaussianFilter():
                within = theirs.budget.mu.upper <= mine.budget.mu.upper
            case _:
                within = False
        if not within:
            remedy = "State the budget that the ledger was made with"
            raise InvalidValue("ledger.budget", str(theirs.budget), f"one within {mine.budget}", remedy)
        rule: Any = theirs
        return evolve(self, filter=rule, ledger=ledger)

    @property
    def unit(self) -> Unit:
        """Whom the guarantee protects: a record, or a user."""
        unit: Unit = self.filter.unit
        return unit

    @property
    def domain(self) -> NormBall:
        """What a unit adds to any sum, at most: the ℓ1 ball of its number of rows."""
        return domain_of(self.contributions)

    def share(self, epsilon: Epsilon | Number | None) -> Share:
        """What a query may cost: an ε at the budget's δ, all that is left unless given.

        Raises:
            BudgetExceeded: where nothing is left.
            InvalidValue: for an ε that is not above 0.
        """
        if epsilon is None:
            return self._left
        asked = exact(epsilon, parameter="epsilon")
        if asked <= 0:
            raise InvalidValue("epsilon", str(epsilon), "a number > 0")
        return _whole(Budget(epsilon=asked, delta=self.budget.delta)).split(1)

    def pay(self, plan: Plan[Any], coins: Coins) -> Guarantee[Any, AddRemove, Any]:
        """Pay for releases that are drawn with these coins after this, once; what they cost together, as a guarantee.

        Raises:
            BudgetExceeded: where they might exceed the budget; nothing was spent.
            InvalidValue: for seeded coins, where a ledger holds the account.
        """
        cost = self.for_unit(self.filter.cost_of(plan))
        if self.ledger is None:
            self.filter.spend(cost)
        else:
            request_of(self.ledger, "queries").pay(cost, plan=plan_digest(plan), coins=coins)
        return cost

    @property
    def number(self) -> int:
        """How many payments there were."""
        return self.filter.number if self.ledger is None else self.ledger.number

    @property
    def spent(self) -> Any:
        """What was paid together; no guarantee, because it depends on the answers."""
        return self.filter.spent if self.ledger is None else self.ledger.spent

    @property
    def guarantee(self) -> Guarantee[Approximate, AddRemove, Any]:
        """The budget: what all answers together cost, however many there will be."""
        if self.ledger is None:
            return self.filter.approximate(self.budget.delta)
        match self.filter:
            case PureFilter():
                return pure_to_approximate(self.ledger.guarantee)
            case GaussianFilter():
                return gaussian_to_approximate(self.ledger.guarantee, self.budget.delta)

    def for_unit(self, guarantee: Guarantee[Any, Any, Any]) -> Guarantee[Any, AddRemove, Any]:
        """A guarantee about records of which each is all that a unit adds up to."""
        if self.unit == RECORD:
            return guarantee
        bounded = Assumption("rows of a user", f"at most {self.contributions}, the first ones")
        return Guarantee(
            bound=guarantee.bound,
            relation=guarantee.relation,
            unit=self.unit,
            derivation=_USERS.conclude([guarantee.derivation], [bounded]),
        )

    @property
    def _left(self) -> Share:
        """All that is left, and a little less."""
        rule = self.filter
        left: Share
        match rule:
            case PureFilter():
                left = PureShare(max(rule.budget.epsilon.lower - self.spent.epsilon.upper, Fraction(0)))
            case GaussianFilter():
                left = GaussianShare.of_square(max(rule.budget.mu.lower**2 - self.spent.mu.upper**2, Fraction(0)))
        if not left.pure:
            raise BudgetExceeded("epsilon", "one more query", "none: the budget is spent", "The guarantee stands")
        return left.split(1)

    def __repr__(self) -> str:
        return f"Account({self})"

    def __str__(self) -> str:
        match self.filter:
            case PureFilter() as rule:
                part = self.spent.epsilon / rule.budget.epsilon
            case GaussianFilter() as rule:
                part = (self.spent.mu / rule.budget.mu).square()
        return f"{self.budget}, {math.ceil(part.upper * 10_000) / 100:g} % spent in {self.number} payments"


def rounded(bound: Pure | GaussianDP) -> str:
    """A cost as people read it: rounded up to six digits."""
    match bound:
        case Pure():
            symbol, value = "ε", bound.epsilon
        case GaussianDP():
            symbol, value = "μ", bound.mu
    upward = Context(prec=6, rounding=ROUND_CEILING)
    upper = upward.divide(Decimal(value.upper.numerator), Decimal(value.upper.denominator))
    return f"{symbol} ≤ {upper.normalize():f}"


def domain_of(rows: int) -> NormBall:
    """The ball that holds what the rows of one unit add up to: each row has ℓ1 norm at most 1."""
    return NormBall(norm=Norm.L1, radius=Public(rows))


def _whole(budget: Budget) -> Share:
    """All of a budget."""
    if not budget.delta.value:
        return PureShare(budget.epsilon.value)

    def released(noise_multiplier: Fraction) -> SampledRun[Any]:
        return SampledRun(mechanism=GaussianSum(noise_multiplier=Public(noise_multiplier)), sampler=Full())

    return GaussianShare(1 / calibrate(released, budget, Continuous()).value)


def _rule(share: Share, unit: Unit, domain: NormBall) -> Rule:
    match share:
        case PureShare():
            return PureFilter(Pure(Enclosure.of(share.epsilon)), relation=ADD_REMOVE, unit=unit, domain=domain)
        case GaussianShare():
            return GaussianFilter(GaussianDP(Enclosure.of(share.mu)), relation=ADD_REMOVE, unit=unit, domain=domain)
