"""The Rényi orders of individual accounting, fixed before the run."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..errors import InvalidType, InvalidValue
from ..exact import Floats, Number
from ..units import Order

Whole: TypeAlias = NDArray[np.int64]

LARGEST_SUMMED = 128
"""Whole orders up to this one have a closed form that millions of records can afford."""


def _tuple(orders: Iterable[Order | Number]) -> tuple[Order, ...]:
    if isinstance(orders, str) or not isinstance(orders, Iterable):
        raise InvalidType("orders", orders, "a sequence of orders", "Write [2, 3]")
    return tuple(Order.of(order, parameter="orders") for order in orders)


@final
@frozen
class Orders:
    """Orders that increase, each a binary64 number.

    Attributes:
        given: the orders.

    Raises:
        InvalidType: for anything but orders.
        InvalidValue: for none, for orders that do not increase, and for one that binary64 does not hold.
    """

    given: tuple[Order, ...] = field(converter=_tuple)

    def __attrs_post_init__(self) -> None:
        for order in self.given:
            if order.value > 2**52 or Fraction(float(order.value)) != order.value:
                raise InvalidValue("orders", str(order.value), "orders up to 2^52 that binary64 holds", "Round it")
        if not self.given:
            raise InvalidValue("orders", self.given, "at least one order")
        for one, next_ in pairwise(self.given):
            if one.value >= next_.value:
                raise InvalidValue("orders", f"{one} before {next_}", "orders that increase", "Sort them")

    def __len__(self) -> int:
        return len(self.given)

    @property
    def values(self) -> Floats:
        """The orders as binary64 numbers, shape (number of orders,)."""
        return np.array([float(order.value) for order in self.given])

    @property
    def summed(self) -> Whole:
        """Columns of the orders that have the closed form."""
        return np.flatnonzero([_is_summed(order) for order in self.given])

    @property
    def integrated(self) -> Whole:
        """Columns of the orders whose moments are integrated, not summed."""
        return np.flatnonzero([not _is_summed(order) for order in self.given])

    def column(self, order: Order) -> int:
        """The column of an order.

        Raises:
            InvalidValue: for an order that is none of these.
        """
        if order not in self.given:
            known = ", ".join(map(str, self.given))
            raise InvalidValue("order", str(order), f"one of {known}", "Orders are fixed before the run")
        return self.given.index(order)


def _is_summed(order: Order) -> bool:
    return order.value.denominator == 1 and order.value <= LARGEST_SUMMED


WHOLE_ORDERS = Orders(map(Order, range(2, 18)))
"""The sixteen orders 2, …, 17."""
