"""Slopes of expressions over cells, enclosed so that their sign shows early.

Legend: ψ = log(1 + u·(e^v − 1)) is the form of every sampled loss. Its slope along a variable is N/D with

    N = u'·(1 − e^−v) + u·v' = (u·v)' − u'·g(v),   g(v) = v − 1 + e^−v ≥ 0,   D = u + (1 − u)·e^−v.

Nothing here grows with e^v, and for a loss in proportion to the weight u·v is free of u: the second form then has the
sign of the slope where an interval of the derivative itself has both. Where D > 0 the sign of ψ' is that of N, and
where N falls as well ψ has a single summit. v itself is read by its own slope v' = ((u·v)'·u − (u·v)·u')/u².
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Protocol, TypeAlias, final

from attrs import evolve, frozen

from ..enclosures import Enclosure, Truth
from . import ONE, ZERO, Apply, Constant, Expression, Operation, Variable, derivative, enclose, simplify

Cell: TypeAlias = Mapping[Variable, tuple[Fraction, Fraction]]
"""The lowest and the highest value of each variable."""


@final
@frozen(eq=False)
class Reader:
    """Encloses expressions over a cell.

    Attributes:
        cell: the ranges of the variables.
        precision: working precision in bits.
    """

    cell: Cell
    precision: int

    @cached_property
    def _box(self) -> Mapping[Variable, Enclosure]:
        return {v: Enclosure.between(low, high, precision=self.precision) for v, (low, high) in self.cell.items()}

    def __call__(self, expression: Expression) -> Enclosure:
        """The values of an expression.

        Raises:
            OutsideDomain: where it may be undefined.
        """
        return enclose(expression, self._box, precision=self.precision)

    def fixed(self, variable: Variable, value: Fraction) -> Reader:
        """Return the reader for the case that one variable has one value."""
        return evolve(self, cell={**self.cell, variable: (value, value)})


class LocalSlope(Protocol):
    """The slope N/D along a variable, over a cell."""

    @property
    def numerator(self) -> Enclosure:
        """Enclosure of the slope's numerator N over the cell."""
        ...

    @property
    def denominator(self) -> Enclosure:
        """Enclosure of the slope's denominator D over the cell."""
        ...

    @property
    def bend(self) -> Enclosure:
        """Encloses the slope of N, where N is differentiable."""
        ...


class Slope(Protocol):
    """The slope of an expression along one variable."""

    def over(self, reader: Reader) -> LocalSlope:
        """The slope over a cell; what of it is asked for is then computed."""
        ...


@final
@frozen
class _Plain:
    """A slope that is the derivative itself: N is the derivative, D = 1."""

    first: Expression
    variable: Variable

    def over(self, reader: Reader) -> _PlainOver:
        return _PlainOver(self, reader)

    @cached_property
    def second(self) -> Expression:
        return derivative(self.first, self.variable)


@final
@frozen(eq=False)
class _PlainOver:
    slope: _Plain
    reader: Reader

    @property
    def numerator(self) -> Enclosure:
        return self._first

    @cached_property
    def _first(self) -> Enclosure:
        return self.reader(self.slope.first)

    @property
    def denominator(self) -> Enclosure:
        return self.reader(ONE)

    @property
    def bend(self) -> Enclosure:
        return self.reader(self.slope.second)


@final
@frozen
class _Sampled:
    """The slope of log(1 + u·(e^v − 1)); all parts are simplified.

    Attributes:
        u: the factor of e^v − 1.
        v: the exponent.
        variable: along which the slope is taken.
        v_slope: v'.
        product: u·v.
        share: u·v'.
    """

    u: Expression
    v: Expression
    variable: Variable
    v_slope: Expression
    product: Expression
    share: Expression

    def over(self, reader: Reader) -> _SampledOver:
        return _SampledOver(self, reader)

    @cached_property
    def u_slope(self) -> Expression:
        return derivative(self.u, self.variable)

    @cached_property
    def u_bend(self) -> Expression:
        return derivative(self.u_slope, self.variable)

    @cached_property
    def product_slope(self) -> Expression:
        return derivative(self.product, self.variable)

    @cached_property
    def product_bend(self) -> Expression:
        return derivative(self.product_slope, self.variable)

    @cached_property
    def v_trend(self) -> Expression:
        """The expression u²·v', whose sign is that of the slope of v."""
        return simplify(self.product_slope * self.u - self.product * self.u_slope)


@final
@frozen(eq=False)
class _SampledOver:
    slope: _Sampled
    reader: Reader

    @property
    def numerator(self) -> Enclosure:
        return self._numerator

    @property
    def denominator(self) -> Enclosure:
        return self._denominator

    @cached_property
    def _numerator(self) -> Enclosure:
        """Enclosure of N, by the narrower of two forms."""
        slope, read = self.slope, self.reader
        if slope.u_slope == ZERO:
            return read(slope.share)
        first = self._u_slope * self._damped
        if slope.v_slope == ZERO:
            return first
        second = read(slope.product_slope) - self._u_slope * self._excess
        return second.intersection(first + read(slope.share))

    @cached_property
    def _denominator(self) -> Enclosure:
        """D falls in v where u ≤ 1, and rises in u where v ≥ 0."""
        u, v = self._u, self._v
        if v.greater_equal(0) is not Truth.TRUE or u.less_equal(1) is not Truth.TRUE:
            return u + (1 - u) * (-v).exp()
        (fewest, most), (least, largest) = _ends(u), _ends(v)
        return (fewest + (1 - fewest) * (-largest).exp()).hull(most + (1 - most) * (-least).exp())

    @property
    def bend(self) -> Enclosure:
        """N' = (u·v)'' − u''·g(v) − u'·(1 − e^−v)·v'."""
        slope, read = self.slope, self.reader
        falling = read(slope.u_bend) * self._excess + self._u_slope * self._damped * self._v_slope
        return read(slope.product_bend) - falling

    @cached_property
    def _u(self) -> Enclosure:
        return self.reader(self.slope.u)

    @cached_property
    def _u_slope(self) -> Enclosure:
        return self.reader(self.slope.u_slope)

    @cached_property
    def _v_slope(self) -> Enclosure:
        if self.slope.v_slope == ZERO or self._u.greater(0) is not Truth.TRUE:
            return self.reader(self.slope.v_slope)
        return self.reader(self.slope.v_trend) / self._u.power(2)

    @cached_property
    def _v(self) -> Enclosure:
        read, variable = self.reader, self.slope.variable
        whole = read(self.slope.v)
        low, high = read.cell[variable]
        if low == high or self.slope.v_slope == ZERO:
            return whole
        if self._v_slope.greater_equal(0) is Truth.UNDECIDED and self._v_slope.less_equal(0) is Truth.UNDECIDED:
            half = (high - low) / 2
            reach = self._v_slope * Enclosure.between(-half, half, precision=read.precision)
            return whole.intersection(read.fixed(variable, low + half)(self.slope.v) + reach)
        ends = (read.fixed(variable, end)(self.slope.v) for end in (low, high))
        return whole.intersection(next(ends).hull(next(ends)))

    @cached_property
    def _damped(self) -> Enclosure:
        """Enclosure of the factor 1 − e^−v."""
        return -(-self._v).expm1()

    @cached_property
    def _excess(self) -> Enclosure:
        """g(v), which rises with v ≥ 0."""
        v = self._v
        if v.greater_equal(0) is not Truth.TRUE:
            return v + (-v).expm1()
        least, largest = _ends(v)
        return (least + (-least).expm1()).hull(largest + (-largest).expm1()).maximum(0)


def slope_of(root: Expression, variable: Variable) -> Slope:
    """The slope of an expression along one variable."""
    match root:
        case Apply(Operation.ADD, (first, second)):
            for part, other in ((first, second), (second, first)):
                if derivative(other, variable) == ZERO:
                    return slope_of(part, variable)
        case Apply(Operation.LOG1P, (product,)):
            factors = _factors(product)
            exponents = [f for f in factors if isinstance(f, Apply) and f.operation is Operation.EXPM1]
            if len(exponents) == 1:
                # a constant that is multiplied into a sum keeps it from cancelling the same sum in v
                scale = prod((f for f in factors if isinstance(f, Constant)), start=ONE)
                rest = (f for f in factors if f is not exponents[0] and not isinstance(f, Constant))
                part, v = prod(rest, start=ONE), exponents[0].arguments[0]
                v_slope = derivative(v, variable)
                return _Sampled(
                    u=simplify(scale * part),
                    v=v,
                    variable=variable,
                    v_slope=v_slope,
                    product=simplify(scale * simplify(part * v)),
                    share=simplify(scale * simplify(part * v_slope)),
                )
    return _Plain(derivative(root, variable), variable)


def _factors(product: Expression) -> list[Expression]:
    match product:
        case Apply(Operation.MULTIPLY, (first, second)):
            return [*_factors(first), *_factors(second)]
    return [product]


def _ends(value: Enclosure) -> tuple[Enclosure, Enclosure]:
    lower, upper = value.lower, value.upper
    return Enclosure.of(lower, precision=value.precision), Enclosure.of(upper, precision=value.precision)
