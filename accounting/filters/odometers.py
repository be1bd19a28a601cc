"""Odometers: what the outputs so far have lost, without a budget fixed beforehand.

Legend: P and Q are the laws of all outputs so far with and without a record, L = log(P/Q) at the outputs that came. An
odometer's reading is a function of the costs alone, and L stays below it at all times at once, but for a
probability δ under P; the same with P and Q swapped. A reading is random, so it is no DP guarantee. Stopping where a
reading first would pass a number ε that was fixed beforehand is (ε, δ)-DP.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, final

from attrs import frozen

from ..derivation import ANY_COUNT, Assumption, Derivation, RecordCount, Theorem
from ..display import Displayed
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..exact import Number
from ..guarantees import Guarantee, refuse_counted_elsewhere, require
from ..notions import Pure, Renyi, ZeroConcentrated
from ..relations import Relation, Unit
from ..sampling.domains import NormBall
from ..units import Delta, Order
from .filter import require_cost
from .spending import SpendingState
from .totals import PRECISION

R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)

_SUMS = Theorem("Rogers, Roth, Ullman, Vadhan 2016", "odometer by sums, pure costs")
_VILLE = Theorem("Ville 1939", "maximal inequality, of e^{(α−1)(L − Στ)}")


@final
@frozen(kw_only=True, repr=False)
class LossReading(Displayed, Generic[R, U]):
    """A proven bound of the realised loss; no guarantee of differential privacy.

    Attributes:
        loss: the realised loss of every record is below its upper end, at this and every earlier reading.
        delta: the probability with which that may fail.
        number: how many costs it contains.
        relation: the change of the data.
        unit: whom it is about.
        derivation: the theorem and the costs.
    """

    loss: Enclosure
    delta: Enclosure
    number: int
    relation: R
    unit: U
    derivation: Derivation

    def __str__(self) -> str:
        sure = "surely" if not self.delta.upper else f"but for a probability of {self.delta.upper_float!r}"
        return f"realised loss ≤ {self.loss.upper_float!r} after {self.number} costs, {sure}"


class _Account(SpendingState, Generic[R, U]):
    """Running sums of costs, and what they are about."""

    def __init__(self, relation: R, unit: U, domain: NormBall | None, size: int) -> None:
        require("relation", relation, Relation, "Use ADD_REMOVE, REPLACE or ZERO_OUT")
        require("unit", unit, Unit, "Use RECORD, ELEMENT or User(contributions=…)")
        if domain is not None:
            require("domain", domain, NormBall, "Declare NormBall(norm=…, radius=Public(…)), or None")
        self.relation = relation
        self.unit = unit
        self.domain = domain
        self._number = 0
        self._totals = [Enclosure.of(0, precision=PRECISION)] * size
        self._premises: dict[Derivation, None] = {}
        self._records = ANY_COUNT

    def check(self, cost: Guarantee[Any, R, U], kind: type[Any]) -> None:
        require_cost(cost, kind, (self.relation, self.unit), self.domain)
        refuse_counted_elsewhere("cost", cost)
        RecordCount.common([self._records, cost.derivation.records])

    def add(self, amounts: Sequence[Enclosure], premises: Sequence[Derivation]) -> None:
        with self._own():
            records = RecordCount.common([self._records, *(premise.records for premise in premises)])
            totals = [total + amount for total, amount in zip(self._totals, amounts, strict=True)]
            with self._changing():
                self._totals, self._records = totals, records
                self._number += 1
                self._premises.update(dict.fromkeys(premises))

    def reading(
        self,
        loss: Callable[[list[Enclosure]], Enclosure],
        delta: Enclosure,
        theorem: Theorem,
        assumptions: Sequence[Assumption] = (),
    ) -> LossReading[R, U]:
        with self._own():
            return LossReading(
                loss=loss(self._totals),
                delta=delta,
                number=self._number,
                relation=self.relation,
                unit=self.unit,
                derivation=theorem.conclude(
                    self._premises, [*(() if self.domain is None else self.domain.assumptions), *assumptions]
                ),
            )


@final
class PureOdometer(SpendingState, Generic[R, U]):
    """Σ ε_t: no output can lose more.

    Args:
        relation: the change of the data that every cost must be proven for.
        unit: whom every cost must protect.
        domain: the public domain of every cost whose guarantee depends on one; None where none may.
    """

    def __init__(self, *, relation: R, unit: U, domain: NormBall | None = None) -> None:
        self._account = _Account(relation, unit, domain, 1)

    def charge(self, cost: Guarantee[Pure, R, U]) -> LossReading[R, U]:
        """Count a cost, before what costs it is released.

        Raises:
            InvalidType: for a cost in another notion. InvalidValue: for another relation, unit or domain.
        """
        self._account.check(cost, Pure)
        self._account.add([cost.bound.epsilon], [cost.derivation])
        return self.reading

    @property
    def reading(self) -> LossReading[R, U]:
        """The sum so far; it never fails."""
        return self._account.reading(lambda totals: totals[0], Enclosure.of(0), _SUMS)


@final
class RenyiOdometer(SpendingState, Generic[R, U]):
    """The least, over a few orders α fixed beforehand, of Σ τ_t(α) + log(k/δ)/(α − 1), k being their number.

    Given the outputs before it, E_P[e^{(α−1)L_t}] ≤ e^{(α−1)τ_t}, so e^{(α−1)(L − Στ)} is a non-negative
    supermartingale under P that begins at 1: it ever reaches k/δ with probability at most δ/k (Ville 1939). The k
    events together have probability at most δ. That is why orders must be fixed beforehand.

    Args:
        orders: at least one, each once.
        delta: the probability with which readings may fail; above 0.
        relation: the change of the data that every cost must be proven for.
        unit: whom every cost must protect.
        domain: the public domain of every cost whose guarantee depends on one; None where none may.

    Raises:
        InvalidValue: for no orders, repeated ones, and δ = 0.
    """

    def __init__(
        self,
        orders: Sequence[Order | Number],
        delta: Delta | Number,
        *,
        relation: R,
        unit: U,
        domain: NormBall | None = None,
    ) -> None:
        delta = Delta.of(delta)
        self.orders = tuple(Order.of(order, parameter="orders") for order in orders)
        if not self.orders or len({order.value for order in self.orders}) < len(self.orders):
            raise InvalidValue("orders", list(map(str, orders)), "at least one order, each once")
        if not delta.value:
            raise InvalidValue("delta", str(delta), "δ > 0", "For certainty count pure losses: PureOdometer")
        self.delta = delta
        self._account = _Account(relation, unit, domain, len(self.orders))
        spread = Enclosure.of(len(self.orders) / delta.value, precision=PRECISION).log()
        self._room = [spread / (order.value - 1) for order in self.orders]

    def charge(self, *costs: Guarantee[Renyi, R, U]) -> LossReading[R, U]:
        """Count one release, by its cost at each of the orders, before it happens.

        Raises:
            InvalidType: for a cost in another notion.
            InvalidValue: for another relation, unit or domain, and unless each order has one cost, in their order.
        """
        for cost in costs:
            self._account.check(cost, Renyi)
        stated = [cost.bound.order for cost in costs]
        if stated != [order.value for order in self.orders]:
            known = ", ".join(str(order.value) for order in self.orders)
            raise InvalidValue("costs", list(map(str, stated)), f"one cost at each of the orders {known}")
        self._account.add([cost.bound.tau for cost in costs], [cost.derivation for cost in costs])
        return self.reading

    def charge_line(self, cost: Guarantee[ZeroConcentrated, R, U]) -> LossReading[R, U]:
        """Count one release by its ρ: ρα at each order.

        Raises:
            InvalidType: for a cost in another notion. InvalidValue: for another relation, unit or domain.
        """
        self._account.check(cost, ZeroConcentrated)
        self._account.add([cost.bound.rho * order.value for order in self.orders], [cost.derivation])
        return self.reading

    @property
    def reading(self) -> LossReading[R, U]:
        """Return the bound on what was spent so far."""
        orders = Assumption("orders fixed beforehand", ", ".join(str(order.value) for order in self.orders))
        return self._account.reading(self._least, Enclosure.of(self.delta.value), _VILLE, [orders])

    def _least(self, totals: list[Enclosure]) -> Enclosure:
        first, *others = (total + room for total, room in zip(totals, self._room, strict=True))
        for other in others:
            first = first.minimum(other)
        return first
