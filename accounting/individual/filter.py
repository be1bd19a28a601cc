"""The individual Rényi filter: every record has the same budget and leaves before its own losses exceed it.

Legend: B is the budget at the order α; τ_t bounds the Rényi divergence of step t with and without a record, in both
directions, given what was released before. Feldman, Zrnic 2021; the proof is in `docs/soundness_individual.md`, step 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ..bulk.exact_floats import non_negative
from ..derivation import Assumption, Theorem
from ..enclosures import Enclosure
from ..enclosures.arguments import whole
from ..errors import InvalidValue
from ..exact import Floats, Number, exact
from ..filters.spending import SpendingState, owned
from ..guarantees import Guarantee
from ..notions import Renyi
from ..private import InvalidData
from ..provenance import Private
from ..relations import ADD_REMOVE, RECORD, AddRemove, Record
from ..units import Order
from .log_moments import LogMoments, with_margin
from .orders import Orders
from .steps import Step

Mask: TypeAlias = NDArray[np.bool_]

INDIVIDUAL_FILTER = Theorem("Feldman, Zrnic 2021", "individual Rényi filter")
_ASSUMPTIONS = (
    Assumption("a record's rate and shift", "computed from that record and from what was released before"),
    Assumption("records that take part", "those of the filter's mask, which is not released"),
)


@final
@frozen(kw_only=True, eq=False)
class IndividualTotals:
    """What an individual filter has charged so far. Private: it tells of single records.

    Attributes:
        moments: (α − 1)·τ of each record over the steps in which it took part, without the margin of their roundings.
        active: a mask of the records that are not dropped yet.
        steps: how many there were.
    """

    moments: Floats = field(repr=False)
    active: Mask = field(repr=False)
    steps: int


@final
class IndividualFilter(SpendingState):
    """Admits records to adaptively chosen steps until their own budget would end.

    Args:
        order: α, fixed before the run.
        budget: B ≥ 0, the largest τ(α) of the whole run for any record.
        records: n.
        threads: threads for the kernels; results are the same for any number.

    Guarantees: if each step computes its output from the records of its mask alone, and rates and shifts of a record
    depend on that record and on what was released before, then all outputs together are (α, B)-Rényi private under
    adding or removing one record. What is left of budgets, and the masks, is private: the outputs alone are released.
    A record whose budget would end in a step takes part neither in this step nor in a later one. Records may be put
    into several filters in any way: a record's mask depends on itself. Threads may share a filter; copies, and
    processes that are forked, may not spend from it.

    Raises:
        InvalidType, InvalidValue: for an order that binary64 does not hold, a budget below 0, and anything but a whole
            number of records ≥ 0.
    """

    def __init__(self, order: Order | Number, budget: Number, records: int, *, threads: int = 1) -> None:
        order = Order.of(order)
        amount = exact(budget, parameter="budget")
        if amount < 0:
            raise InvalidValue("budget", budget, "a Rényi divergence ≥ 0")
        self._order = order
        self._moments = LogMoments(Orders([order]))
        self._bound = Renyi(order.value, Enclosure.of(amount))
        self._limit = Enclosure.of(amount * (order.value - 1)).lower_float
        self._threads = threads
        self._spent = np.zeros((whole("records", records, 0), 1))
        self._active: Mask = np.ones(len(self._spent), dtype=np.bool_)
        self._steps = 0

    @classmethod
    def resumed(
        cls, order: Order | Number, budget: Number, totals: IndividualTotals, *, threads: int = 1
    ) -> IndividualFilter:
        """A filter that goes on from what another one has charged, which then is not stepped any more.

        Args:
            order, budget: those of the other filter.
            totals: what it has charged.
            threads: as for a new one.

        Raises:
            InvalidType, InvalidValue: for totals that no filter of that order and budget has.
        """
        made = cls(order, budget, len(totals.moments), threads=threads)
        moments, active = totals.moments, totals.active
        steps = whole("steps", totals.steps, 0)
        is_known = (
            moments.ndim == 1
            and moments.dtype == np.float64
            and active.dtype == np.bool_
            and active.shape == moments.shape
            and bool((moments >= 0).all())
            and bool((moments <= made._limit).all())
            and bool((moments[active] * with_margin(steps) <= made._limit).all())
            and (steps > 0 or (bool(active.all()) and not moments.any()))
        )
        if not is_known:
            raise InvalidData("totals", "what no filter has charged", "the totals of a filter of this order and budget")
        made._spent, made._active, made._steps = moments[:, np.newaxis].copy(), active.copy(), steps
        return made

    @property
    @owned
    def totals(self) -> Private[IndividualTotals]:
        """What was charged so far, for its owner to keep."""
        totals = IndividualTotals(moments=self._spent[:, 0].copy(), active=self._active.copy(), steps=self._steps)
        return Private(totals)

    @property
    def bound(self) -> Renyi:
        """Order and budget, which hold for every record."""
        return self._bound

    @property
    def guarantee(self) -> Guarantee[Renyi, AddRemove, Record]:
        """What all outputs of the run keep, however many steps it takes."""
        return Guarantee(
            bound=self._bound,
            relation=ADD_REMOVE,
            unit=RECORD,
            derivation=INDIVIDUAL_FILTER.conclude(assumptions=_ASSUMPTIONS),
        )

    @property
    @owned
    def active(self) -> Private[Mask]:
        """A mask of the records that are not dropped yet."""
        return Private(self._active.copy())

    @property
    @owned
    def spent(self) -> Private[Floats]:
        """Bounds of τ(α) of each record over the steps in which it took part: at most the budget, but for rounding."""
        return Private(self._spent[:, 0] * with_margin(self._steps + 4) / float(self._order.value - 1))

    def step(self, rate: ArrayLike, shift: ArrayLike) -> Private[Mask]:
        """Return which records may take part in a step of the sampled Gaussian mechanism; their budgets are charged.

        Args:
            rate: q of each record, in [0, 1], or one for all.
            shift: s of each record, finite, ≥ 0, rounded up, or one number for all.

        Raises:
            InvalidType: for anything but arrays of real numbers.
            InvalidValue: for numbers outside these ranges, and other lengths. Nothing is charged then.
        """
        step = Step.read(rate, shift, len(self._spent))
        return self._admitted(lambda totals: step.add(self._moments, 1, totals, threads=self._threads))

    def admit(self, losses: ArrayLike) -> Private[Mask]:
        """Return which records may take part in a step of any mechanism; their budgets are charged.

        Args:
            losses: a proven bound of τ(α) for each record in both directions, ≥ 0, `inf` admitted; or one for all.

        Raises:
            InvalidType: for anything but an array of real numbers.
            InvalidValue: for a loss that is not ≥ 0, and other lengths. Nothing is charged then.
        """
        bounds = non_negative("losses", losses)
        if bounds.shape not in ((), (len(self._spent),)):
            raise InvalidValue(
                "losses", f"an array of shape {bounds.shape}", "one number, or as many as there are records"
            )
        excess = Enclosure.of(self._order.value - 1).upper_float

        def charge(totals: Floats) -> None:
            moments = bounds * excess
            totals[:, 0] += np.where(moments > 0, np.nextafter(moments, np.inf), np.where(bounds > 0, 5e-324, 0.0))

        return self._admitted(charge)

    def _admitted(self, charge: Callable[[Floats], None]) -> Private[Mask]:
        """The mask after a charge, which those who do not take part are spared."""
        with self._own():
            grown = with_margin(self._steps + 1)
            totals = self._spent.copy()
            charge(totals)
            active = self._active & (totals[:, 0] * grown <= self._limit)
            spent = np.where(active[:, np.newaxis], totals, self._spent)
            with self._changing():
                self._spent, self._active = spent, active
                self._steps += 1
            return self.active
