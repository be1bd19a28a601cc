"""The public domain of a certificate: all records with norm(p) ≤ radius, in coordinates over which bounds are proven.

Any other norm of a record is norm(p) times a ratio, which lies between 1 and a power of the dimension.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final, NamedTuple

from . import intervals, shapes
from .expressions import Box, Pool, norm, order_of
from .intervals import Arithmetic, Interval, at_most
from .norms import reciprocal
from .verdict import Refused

DOMAIN: Final = shapes.record(
    norm=shapes.an_order,
    radius=shapes.positive,
    dimension=shapes.optional(shapes.integer(1, 2**53)),
)

_ONE: Final = Interval(intervals.ONE, intervals.ONE)
_LEAST_IRRATIONAL: Final = 54


class Extreme(NamedTuple):
    """The positive number base^exponent: how far one norm may lie from another."""

    base: int = 1
    exponent: Fraction = Fraction(0)

    def enclose(self, arithmetic: Arithmetic) -> Interval:
        """Enclose it; exact but for one root where that is square."""
        return arithmetic.sqrt(arithmetic.power(arithmetic.rational(Fraction(self.base)), 2 * self.exponent))

    def order(self, value: Fraction, arithmetic: Arithmetic) -> int:
        """Give the sign of value - base^exponent for value ≥ 0, or refuse.

        A root of a degree from 54 of a number from 2 to 2^53 is irrational, so an enclosure tells it from the value.
        """
        degree = self.exponent.denominator if self.base > 1 else 1
        if degree < _LEAST_IRRATIONAL:
            return _sign(value**degree - Fraction(self.base) ** self.exponent.numerator)
        side, point = self.enclose(arithmetic), arithmetic.rational(value)
        if at_most(point.hi, side.lo):
            return -1
        if at_most(side.hi, point.lo):
            return 1
        raise Refused("the maximiser lies too close to the range of a norm to tell them apart")


class Domain(NamedTuple):
    """All records with norm(p) ≤ radius; any other norm is norm(p) times a ratio."""

    p: str
    radius: Fraction
    dimension: int | None

    @classmethod
    def of(cls, stated: dict[str, Any]) -> "Domain":
        """Read what a certificate states of it."""
        return cls(stated["norm"], Fraction(stated["radius"]), stated["dimension"])

    def __str__(self) -> str:
        """Write the domain in ASCII."""
        return f"norm({self.p}) <= {self.radius}"

    def extreme_ratio(self, other: str) -> Extreme:
        """Give the norm(other)/norm(p) farthest from 1 over all records but 0; some record has any in between."""
        if self.dimension is None:
            raise Refused(f"norm({other}) over a domain in norm({self.p}) needs a dimension")
        return Extreme(self.dimension, reciprocal(other) - reciprocal(self.p))

    def largest_ratio(self, other: str) -> Extreme:
        """Give the largest norm(other)/norm(p): 1, as on an axis, where it never grows, whatever the dimension."""
        return self.extreme_ratio(other) if reciprocal(other) > reciprocal(self.p) else Extreme()

    def ratio_range(self, other: str, arithmetic: Arithmetic) -> Interval:
        """Enclose the ratio norm(other)/norm(p) of every record."""
        return intervals.hull(_ONE, self.extreme_ratio(other).enclose(arithmetic))

    def others(self, variables: Iterable[str]) -> list[str]:
        """Give the orders of the norms among these variables that are not the domain's own."""
        orders = {order_of(variable) for variable in variables}
        return sorted(p for p in orders if p not in (None, self.p))

    def norms(self, others: list[str], arithmetic: Arithmetic) -> dict[str, Interval]:
        """Enclose what each norm is over all records of the domain."""
        side = Interval(intervals.ZERO, arithmetic.rational(self.radius).hi)
        ranges = {norm(p): arithmetic.multiply(side, self.largest_ratio(p).enclose(arithmetic)) for p in others}
        return {norm(self.p): side, **ranges}

    def place(self, pool: Pool, root: int, arithmetic: Arithmetic) -> tuple[int, dict[str, Interval]]:
        """Give an expression in the domain's coordinates, and the range of each."""
        others = self.others(pool.variables(root))
        own = pool.variable(norm(self.p))
        ranges = self.norms(others, arithmetic)
        if len(others) == 1 and norm(self.p) not in pool.variables(root):
            # one norm alone matters: it is its own coordinate, from 0 to the largest it has in the domain
            return root, {norm(others[0]): ranges[norm(others[0])]}
        ratios = {pool.variable(norm(p)): pool.node("multiply", own, pool.variable(_ratio(p))) for p in others}
        box = {norm(self.p): ranges[norm(self.p)]} | {_ratio(p): self.ratio_range(p, arithmetic) for p in others}
        return pool.replace(root, ratios), box

    def check_point(self, point: dict[str, Fraction], box: Box, others: list[str], arithmetic: Arithmetic) -> None:
        """Hold the coordinates of a maximiser against the domain, exactly."""
        ratios = {_ratio(p): self.extreme_ratio(p) for p in others if _ratio(p) in box}
        largest = {norm(p): self.largest_ratio(p) for p in (*others, self.p)}
        for name, value in point.items():
            if name not in box:
                raise Refused(f"the maximiser names an unknown variable {name!a}")
            if name in ratios:
                # between 1 and the extreme, whichever is the larger
                inside = value > 0 and ratios[name].order(value, arithmetic) * _sign(value - 1) <= 0
            elif name in largest:
                inside = value >= 0 and largest[name].order(value / self.radius, arithmetic) <= 0
            else:
                inside = abs(value) <= 1
            if not inside:
                raise Refused(f"the maximiser leaves the range of {name}")


def _ratio(p: str) -> str:
    return f"ratio({p})"


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)
