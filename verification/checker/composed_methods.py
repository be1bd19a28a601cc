"""The ways to prove (epsilon, delta) of composed releases that a certificate may name."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, Protocol

from . import shapes
from .composed_divergences import delta_of_one, pure_loss
from .composed_factors import Factor
from .composed_moments import LARGEST_ORDER, Moments, delta_at_order
from .intervals import INFINITY, NOTHING, ZERO, Arithmetic, Mpf, at_most
from .verdict import Refused

_ARITHMETIC: Final = Arithmetic(192)
_ALONE: Final = shapes.record(name=shapes.text)
_ORDER: Final = shapes.record(order=shapes.not_negative, ratio=shapes.optional(shapes.not_negative))
_ORDERS: Final = shapes.record(name=shapes.text, remove=_ORDER, add=_ORDER)


class Method(Protocol):
    """A proof of an upper bound of delta(epsilon) in one direction."""

    @property
    def name(self) -> str:
        """As the certificate has it."""
        ...

    @property
    def theorem(self) -> str:
        """What it rests on."""
        ...

    def delta(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        """Bound delta(epsilon) of the composed factors from above."""
        ...


class PureSum:
    """Pure losses after sampling, added up: delta is 0 from their sum on, and unknown below."""

    name: Final = "pure"
    theorem: Final = "IS Theorem 6 and basic composition"

    def __init__(self, stated: dict[str, Any]) -> None:
        """Read that there are no parameters."""
        _ALONE(stated, "method")

    def __str__(self) -> str:
        """Give it in words."""
        return "the sum of the pure losses"

    def delta(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        """Bound delta."""
        spent = pure_loss(factors, direction, _ARITHMETIC)
        return ZERO if at_most(spent.hi, _ARITHMETIC.rational(epsilon).lo) else INFINITY


class HockeyStick:
    """The divergence itself, of what is one release."""

    name: Final = "hockey-stick"
    theorem: Final = "hockey-stick divergence of the dominating pair after sampling"

    def __init__(self, stated: dict[str, Any]) -> None:
        """Read that there are no parameters."""
        _ALONE(stated, "method")

    def __str__(self) -> str:
        """Give it in words."""
        return "the hockey-stick divergence of one release or of Gaussian ones that are one"

    def delta(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        """Bound delta."""
        return delta_of_one(factors, epsilon, direction, _ARITHMETIC).hi


class Renyi:
    """The Rényi divergences at one order for each direction, added up and converted."""

    name: Final = "renyi"
    theorem: Final = "Renyi composition and Asoodeh et al. 2021, Theorem 3"

    def __init__(self, stated: dict[str, Any]) -> None:
        """Read the orders, and the places where the conversion touches."""
        _ORDERS(stated, "method")
        self.at: dict[str, tuple[Fraction, Fraction | None]] = {}
        for direction in ("remove", "add"):
            side = stated[direction]
            order = Fraction(side["order"])
            ratio = None if side["ratio"] is None else Fraction(side["ratio"])
            if not 1 < order <= LARGEST_ORDER:
                raise Refused(f"method.{direction}.order must be above 1 and at most {LARGEST_ORDER}")
            if ratio is not None and not 0 < ratio * order <= LARGEST_ORDER:
                raise Refused(f"method.{direction}.ratio must be above 0 and at most {LARGEST_ORDER} over the order")
            self.at[direction] = order, ratio
        self._moments = Moments(_ARITHMETIC)

    def __str__(self) -> str:
        """Give it in words."""
        orders = " and ".join(dict.fromkeys(f"{float(order):.6g}" for order, _ in self.at.values()))
        return f"the Renyi divergence of order {orders}"

    def delta(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        """Bound delta."""
        if not factors:
            return NOTHING.hi
        order, ratio = self.at[direction]
        moment = self._moments.total(factors, order, direction)
        return delta_at_order(moment, order, ratio, epsilon, _ARITHMETIC).hi


METHODS: Final[dict[str, Callable[[dict[str, Any]], Method]]] = {
    method.name: method for method in (PureSum, HockeyStick, Renyi)
}
"""By name; each reads its parameters, or refuses them."""
