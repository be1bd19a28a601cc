"""Rényi losses of each record over steps that were fixed beforehand."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from .._kernels import individual as kernels
from ..bulk.parts import shared
from ..enclosures import Enclosure
from ..enclosures.arguments import whole
from ..errors import InvalidType, InvalidValue
from ..exact import Floats, Number
from ..filters.spending import SpendingState, owned
from ..guarantees import require
from ..provenance import Private, Public, Released, declared
from ..units import Delta, Order
from .log_moments import LogMoments, with_margin
from .orders import WHOLE_ORDERS, Orders
from .steps import Step

_SHARE = 256  # records worth a thread


@final
class IndividualLosses(SpendingState):
    """What steps of the sampled Gaussian mechanism lose about each of n records, at fixed orders.

    For runs whose rates and shifts depend, for each record, on that record and on public constants alone: then the best
    order may be chosen for each record when the run is over. Where they depend on released values, use
    `IndividualFilter`.

    Args:
        records: n.
        orders: the Rényi orders, 2 to 17 unless stated.
        threads: threads for the kernels; results are the same for any number.

    Guarantees: what is read off is an upper bound for each record, in both directions of adding and removing it. A
    record's figures do not depend on the other records: records may be put into chunks in any way.

    Raises:
        InvalidType, InvalidValue: for anything but a whole number of records ≥ 0.
    """

    def __init__(self, records: int, orders: Orders = WHOLE_ORDERS, *, threads: int = 1) -> None:
        require("orders", orders, Orders, "Write Orders([Order(2), …])")
        self._orders = orders
        self._threads = threads
        self._moments = LogMoments(orders)
        self._totals = np.zeros((whole("records", records, 0), len(orders)))
        self._additions = 0

    @property
    def orders(self) -> Orders:
        """The Rényi orders at which losses are computed."""
        return self._orders

    @owned
    def step(self, rate: ArrayLike, shift: ArrayLike, *, given: Public[Any], times: int = 1) -> None:
        """Add one step, or several that are alike, each on a fresh sample.

        Args:
            rate: q of each record, in [0, 1], or one for all.
            shift: s = weight·sensitivity/standard deviation of each record, finite, ≥ 0, rounded up; or one number for
                all, with which a table in q serves all records. Its bounds exceed the others by 10^-3 at most, usually.
            given: what rates and shifts were computed from beside each record itself: public constants.
            times: how many steps.

        Raises:
            InvalidType: for anything but arrays of real numbers, and for a private `given`.
            InvalidValue: for numbers outside these ranges, other lengths, and for a released `given`.
        """
        _fixed_beforehand(given)
        count = whole("times", times, 1)
        if count > 2**53:
            raise InvalidValue("times", times, "at most 2^53 steps alike")
        step = Step.read(rate, shift, len(self._totals))
        with_margin(self._additions + 1)  # refuses too many before anything is changed
        with self._changing():
            step.add(self._moments, count, self._totals, threads=self._threads)
            self._additions += 1

    @owned
    def renyi(self, order: Order) -> Private[Floats]:
        """Bounds of τ(α) of each record at one of the orders.

        Raises:
            InvalidValue: for another order.
        """
        column = self._orders.column(order)
        grown = with_margin(self._additions + 4)  # two products and a quotient more
        return Private(self._totals[:, column] * grown / float(self._orders.values[column] - 1.0))

    @owned
    def epsilon(self, delta: Delta | Number) -> Private[Floats]:
        """Bounds of ε at δ of each record, by the best of the orders: 0 where nothing is lost.

        Guarantees: the outputs with and without a record are (ε, δ)-close. inf at δ = 0, where no order bounds it.
        """
        delta = Delta.of(delta)
        target = Enclosure.of(delta.value).lower_float  # ε falls with δ
        if not 0.0 < target < 1.0:
            lost = self._totals.max(axis=1, initial=0.0) > 0.0
            return Private(np.where(lost & (target == 0.0), np.inf, 0.0))
        out, orders, grown = np.empty(len(self._totals)), self._orders.values, with_margin(self._additions + 1)

        def run(start: int, stop: int) -> bool:
            kernels.epsilon(self._totals[start:stop], orders, grown, target, out[start:stop])
            return True

        shared(run, len(out), _SHARE, self._threads)
        return Private(out)


def _fixed_beforehand(given: Public[Any]) -> None:
    match given:
        case Public():
            return
        case Released():
            raise InvalidValue(
                "given",
                given,
                "Public(…): constants declared before the data were seen",
                "A run that depends on released values is adaptive: use an IndividualFilter, whose order is fixed",
            )
    declared(given, lambda value: value, parameter="given")
    raise InvalidType("given", given, "Public(…)")
