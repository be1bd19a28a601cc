"""The ways to prove (epsilon, delta) of composed releases that a certificate may name."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Final

from .. import shapes
from ..budget import Budget
from ..intervals import INFINITY, NOTHING, ZERO, Arithmetic, Interval, Mpf, at_most
from ..verdict import Refused
from ..vocabulary import LATER_PARAMETERS
from .batches import cases
from .contour import MOST_PLACES, Line, delta_on_line
from .divergences import delta_of_one, pure_loss
from .factors import DIRECTIONS, FINITE, MIXTURE, PURE, SHUFFLED, Factor
from .finite import MOST_CELLS, outcomes_of
from .lattice import compare
from .mixtures import delta_of_mixture, price_of_one
from .moments import LARGEST_ORDER, Moments, delta_at_order
from .shuffled import delta_of_shuffled

_ARITHMETIC: Final = Arithmetic(192)
_ALONE: Final = shapes.record(name=shapes.text)
_ORDER: Final = shapes.record(order=shapes.not_negative, ratio=shapes.optional(shapes.not_negative))
_PLACED: Final = {
    "real_part": shapes.not_negative,
    "step": shapes.not_negative,
    "places": shapes.integer(2, MOST_PLACES),
    "dither": shapes.not_negative,
}
_LINE: Final = shapes.record(**_PLACED)
_LINE_WITH_CELLS: Final = shapes.record(**_PLACED, cells=shapes.integer(1, MOST_CELLS))


def _line(value: Any, where: str) -> None:
    """Accept a line, which states cells where there is Laplace noise."""
    (_LINE_WITH_CELLS if type(value) is dict and "cells" in value else _LINE)(value, where)


_LINES: Final = shapes.record(name=shapes.text, **dict.fromkeys(DIRECTIONS, _line))
_RESPONSE: Final = 25_000
_CLOSED_FORM: Final = 25_000_000
"""For two values of the normal distribution function, 32 standard deviations out."""
_CONVERSION: Final = 500_000
_SMALLEST: Final = Fraction(1, 2**60)
_LARGEST: Final = Fraction(2**40)
_LONGEST: Final = 2**128
_ORDERS: Final = shapes.record(name=shapes.text, **dict.fromkeys(DIRECTIONS, _ORDER))
_FILTER: Final = shapes.record(name=shapes.text, order=shapes.not_negative, ratio=shapes.optional(shapes.not_negative))


class Method(ABC):
    """A proof of an upper bound of delta(epsilon) in one direction."""

    name: ClassVar[str]
    theorem: ClassVar[str]
    assumed: Mapping[str, str] = {}
    """What it needs stated of a run, by name."""
    compares: ClassVar[bool] = False
    """Whether discrete Gaussian noise is replaced by normal noise before."""
    _budget: Budget

    @abstractmethod
    def __init__(self, stated: dict[str, Any], budget: Budget) -> None:
        """Read the parameters, or refuse them; what is computed is taken from the budget."""

    @abstractmethod
    def delta(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        """Bound delta(epsilon) of the composed factors from above."""

    def bound(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        """Bound delta(epsilon) of any composed factors from above."""
        if self.compares:
            return compare(self.delta, factors, epsilon, direction, self._budget)
        return self.delta(factors, epsilon, direction)


class PureSum(Method):
    """Pure losses after sampling, added up: delta is 0 from their sum on, and unknown below."""

    name = "pure"
    theorem = "IS Theorem 6 and basic composition"

    def __init__(self, stated: dict[str, Any], budget: Budget) -> None:
        """Read the method, which has no parameters."""
        _ALONE(stated, "method")
        self._budget = budget

    def __str__(self) -> str:
        """Name the method in words."""
        return "the sum of the pure losses"

    def delta(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        """Bound delta(epsilon) from above in one direction."""
        self._budget.spend(_RESPONSE * len(factors))
        spent = pure_loss(factors, direction, _ARITHMETIC)
        return ZERO if at_most(spent.hi, _ARITHMETIC.rational(epsilon).lo) else INFINITY


class HockeyStick(Method):
    """The divergence itself, of what is one release."""

    name = "hockey-stick"
    compares = True
    theorem = "hockey-stick divergence of the dominating pair after sampling"

    def __init__(self, stated: dict[str, Any], budget: Budget) -> None:
        """Read the method, which has no parameters."""
        _ALONE(stated, "method")
        self._budget = budget

    def __str__(self) -> str:
        """Name the method in words."""
        return "the hockey-stick divergence of one release or of Gaussian ones that are one"

    def delta(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        """Bound delta(epsilon) from above in one direction."""
        if len(factors) != 1 or factors[0].samples != 1:
            return self._of_one(factors, epsilon, direction).hi
        total = NOTHING
        for chance, factor in cases(factors[0], self._budget):
            total = _ARITHMETIC.add(total, _ARITHMETIC.multiply(chance, self._of_one([factor], epsilon, direction)))
        return total.hi

    def _of_one(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Interval:
        """Bound delta(epsilon) of what is one release."""
        if len(factors) == 1 and factors[0].family == MIXTURE and factors[0].samples == 1:
            self._budget.spend(price_of_one(factors[0]))
            return delta_of_mixture(factors[0], epsilon, direction)
        if len(factors) == 1 and factors[0].family == SHUFFLED and factors[0].samples == 1:
            return delta_of_shuffled(factors[0], _ARITHMETIC.rational(epsilon), self._budget)
        responses = sum(factor.together * factor.samples for factor in factors if factor.family == PURE)
        told = sum(outcomes_of(factor, 0) for factor in factors if factor.family in FINITE)
        self._budget.spend(_CLOSED_FORM + _RESPONSE * (responses + told))
        return delta_of_one(factors, epsilon, direction, _ARITHMETIC)


class Renyi(Method):
    """The Rényi divergences at one order for each direction, added up and converted."""

    name = "renyi"
    theorem = "Renyi composition and Asoodeh et al. 2021, Theorem 3"

    def __init__(self, stated: dict[str, Any], budget: Budget) -> None:
        """Read the orders, and the places where the conversion touches."""
        _ORDERS(stated, "method")
        self._take({direction: stated[direction] for direction in DIRECTIONS}, budget)

    def _take(self, sides: Mapping[str, Mapping[str, Any]], budget: Budget) -> None:
        """Read order and ratio of each direction."""
        self.at: dict[str, tuple[Fraction, Fraction | None]] = {}
        for direction, side in sides.items():
            order = Fraction(side["order"])
            ratio = None if side["ratio"] is None else Fraction(side["ratio"])
            if not 1 < order <= LARGEST_ORDER:
                raise Refused(f"the order of the method ({direction}) must be above 1 and at most {LARGEST_ORDER}")
            if ratio is not None and not 0 < ratio * order <= LARGEST_ORDER:
                raise Refused(
                    f"the ratio of the method ({direction}) must be above 0 and at most {LARGEST_ORDER} over the order"
                )
            self.at[direction] = order, ratio
        self._budget, self._moments = budget, Moments(_ARITHMETIC, budget)

    def __str__(self) -> str:
        """Name the method in words."""
        orders = " and ".join(dict.fromkeys(f"{float(order):.6g}" for order, _ in self.at.values()))
        return f"the Renyi divergence of order {orders}"

    def delta(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        """Bound delta(epsilon) from above in one direction."""
        if not factors:
            return NOTHING.hi
        order, ratio = self.at[direction]
        self._budget.spend(_CONVERSION)
        moment = self._moments.total(factors, order, direction)
        return delta_at_order(moment, order, ratio, epsilon, _ARITHMETIC).hi


class RenyiFilter(Renyi):
    """What the releases of an adaptive run cost at one order, fixed beforehand with the budget.

    The theorem holds for what came because the filter would have stopped anything else: that is assumed.
    """

    name = "renyi-filter"
    theorem = "Renyi filter (Feldman, Zrnic 2021) and Asoodeh et al. 2021, Theorem 3"
    assumed: Mapping[str, str] = {
        LATER_PARAMETERS: "chosen from earlier ones; before the run the order and (epsilon, delta) were "
        "fixed, and each release was paid at that order before it was drawn"
    }

    def __init__(self, stated: dict[str, Any], budget: Budget) -> None:
        """Read the order, and the place where the conversion touches."""
        _FILTER(stated, "method")
        self._take(dict.fromkeys(DIRECTIONS, stated), budget)

    def __str__(self) -> str:
        """Name the method in words."""
        return f"a filter at {super().__str__()}, fixed before the run"


class LossDistribution(Method):
    """The moments of the privacy loss on a line in the complex plane, for each direction."""

    name = "loss-distribution"
    compares = True
    theorem = "Poisson summation of the moments of the privacy loss"

    def __init__(self, stated: dict[str, Any], budget: Budget) -> None:
        """Read the line of each direction."""
        _LINES(stated, "method")
        self.lines: dict[str, Line] = {}
        self._budget = budget
        for direction in DIRECTIONS:
            side = stated[direction]
            c, h = Fraction(side["real_part"]), Fraction(side["step"])
            line = self.lines[direction] = Line(c, h, side["places"], Fraction(side["dither"]), side.get("cells", 0))
            if not all(_SMALLEST <= value <= _LARGEST for value in (c, h)) or line.dither > 1:
                raise Refused(f"method.{direction} must have a real part and a step within 2^-60 and 2^40, dither <= 1")
            if any(value.denominator > _LONGEST for value in (c, h, line.dither)):
                raise Refused(f"method.{direction} has denominators beyond 2^128")

    def __str__(self) -> str:
        """Name the method in words."""
        return "the distribution of the privacy loss, from its moments on a line"

    def delta(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        """Bound delta(epsilon) from above in one direction."""
        if not factors:
            return ZERO
        return delta_on_line(factors, epsilon, direction, self.lines[direction], self._budget)


METHODS: Final[dict[str, type[Method]]] = {
    method.name: method for method in (PureSum, HockeyStick, Renyi, RenyiFilter, LossDistribution)
}
"""By name; each reads its parameters, or refuses them."""
