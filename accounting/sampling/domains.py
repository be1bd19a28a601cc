"""Public domains: the set of records for which a differential-privacy statement speaks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, final

from attrs import field, frozen
from attrs.converters import optional

from ..derivation import Assumption
from ..display import EXACT_UP_TO, shorten
from ..enclosures import Enclosure
from ..errors import InvalidType, InvalidValue, known_keywords
from ..exact import Number, python_int
from ..expressions import Expression, Range, Symbol, Variable, norm, range_of, substitute, symbol_range, variables
from ..norms import Norm
from ..provenance import Declared, Payment, Public, Released, as_it_came_out, declared_number
from .every_value import AnyValue, is_open, released_within

_PRECISION = 96
_RADIUS = "domain.radius"


_CONSTANTS = {"norm", "radius", "dimension"}


def require_domain(stated: Iterable[Assumption], domain: NormBall | None, remedy: str) -> None:
    """Refuse what was proven for the records of another domain, itself or in a value released for it.

    Args:
        stated: the assumptions of a guarantee.
        domain: the one that it has to hold for; None where none is stated.
        remedy: what to do.

    Raises:
        InvalidValue: for such a guarantee.
    """
    known = () if domain is None else domain.assumptions
    for one in stated:
        constant = Assumption(one.name.rpartition(": ")[2], one.value)
        if constant.name in _CONSTANTS and constant not in known:
            raise InvalidValue("domain", str(one), ", ".join(map(str, known)) or "no domain", remedy)


def _radius(value: Declared[Number]) -> Declared[Fraction]:
    return declared_number(value, lambda radius: radius > 0, "a number > 0", parameter="radius")


def _norm(_: object, __: object, value: Any) -> None:
    if not isinstance(value, Norm):
        raise InvalidType("norm", value, "a Norm", 'Write Norm.L1, Norm.L2, Norm.LINF or Norm("3/2")')


def _dimension(_: object, __: object, value: Any) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise InvalidType("dimension", value, "a whole number or None")
    if isinstance(value, int) and value < 1:
        raise InvalidValue("dimension", value, "at least 1")


@final
@known_keywords
@frozen(kw_only=True)
class NormBall:
    """All records x with ‖x‖_p ≤ radius.

    Attributes:
        norm: the norm p.
        radius: its bound, declared before the data or released privately; above 0.
        dimension: number of coordinates of a record; needed where another norm than p matters.
    """

    norm: Norm = field(validator=_norm)
    radius: Declared[Fraction] = field(converter=_radius)
    dimension: int | None = field(default=None, converter=optional(python_int), validator=_dimension)

    def __str__(self) -> str:
        size = f"{norm(self.norm.value)} ≤ {shorten(str(self.radius.value), EXACT_UP_TO)}"
        return size if self.dimension is None else f"{size} in {self.dimension} dimensions"

    @property
    def payments(self) -> tuple[Payment, ...]:
        """What was paid for a released radius: one payment, or none for a public radius."""
        return (self.radius.payment,) if isinstance(self.radius, Released) else ()

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The public constants of the domain, as assumptions."""
        ball = (Assumption("norm", self.norm.value), Assumption("radius", str(self.radius.value)))
        return ball if self.dimension is None else (*ball, Assumption("dimension", str(self.dimension)))

    @property
    def released(self) -> dict[str, Released[Fraction]]:
        """The radius by name, where it was released."""
        return {_RADIUS: self.radius} if isinstance(self.radius, Released) else {}

    @property
    def for_every_value(self) -> NormBall:
        """The domain that statements are about, whatever its radius came out as: the largest ball it may be.

        Where a released radius has no range, looking at it raises ExPost.
        """
        if not is_open(self.radius):
            return self
        limits = self.radius.within  # type: ignore[union-attr]  # it was released
        return self._with_radius(Public(AnyValue(_RADIUS) if limits is None else limits.high))

    @property
    def as_it_came_out(self) -> NormBall:
        """Return the same ball with its released radius taken as it came out."""
        return self._with_radius(as_it_came_out(self.radius)) if isinstance(self.radius, Released) else self

    @property
    def at_its_largest(self) -> NormBall:
        """Return the same ball with a released radius at the upper end of its range, where it has one."""
        if not isinstance(self.radius, Released) or self.radius.within is None:
            return self
        within = self.radius.within
        return self._with_radius(Released(within.high, self.radius.payment, within=within))

    @property
    def ranges_assumed(self) -> tuple[Assumption, ...]:
        """What a guarantee for every value of a released radius says of it."""
        return tuple(released_within(name, value) for name, value in self.released.items() if is_open(value))

    def _with_radius(self, radius: Declared[Any]) -> NormBall:
        ball = object.__new__(NormBall)
        for name, value in (("norm", self.norm), ("radius", radius), ("dimension", self.dimension)):
            object.__setattr__(ball, name, value)
        return ball

    def box(self, occurring: Iterable[Variable]) -> tuple[Mapping[Variable, Expression], Mapping[Variable, Range]]:
        """Coordinates of the domain for an expression in the `occurring` variables.

        Where one norm alone occurs it is its own coordinate. Otherwise the domain's norm is one, and every other
        norm of the record is the domain's norm times a ratio between public bounds.

        Returns:
            what each norm is in the box's variables, and the range of each of these.

        Raises:
            InvalidValue: where `dimension` is None and another norm occurs, but for one alone that is never larger.
        """
        ordered = sorted(occurring, key=lambda v: v.name)
        norms = [v for v in ordered if v.symbol is Symbol.NORM]
        ranges = {v: symbol_range(v) for v in ordered if v.symbol is not Symbol.NORM}
        own = norm(self.norm)
        meaning: dict[Variable, Expression] = {}
        if len(norms) == 1 and norms != [own]:
            other = Norm(norms[0].index)
            largest = self._extreme_ratio(other).upper if self._grows(other) else 1  # as on an axis, in any dimension
            ranges[norms[0]] = Range(Fraction(0), self.radius.value * largest)
            return meaning, ranges
        for variable in norms:
            ranges[own] = Range(Fraction(0), self.radius.value)
            if variable != own:
                ratio = Variable(Symbol.RATIO, variable.index)
                meaning[variable] = own * ratio
                ranges[ratio] = self._ratio(Norm(variable.index))
        return meaning, ranges

    def rational_bound(self, root: Expression) -> Fraction | None:
        """A number that an expression in norms nowhere exceeds, exact by its structure; None where there is none."""
        meaning, box = self.box(variables(root))
        return range_of(substitute(root, meaning), box).upper

    def inside(self, point: Mapping[Variable, Fraction]) -> Mapping[Variable, Fraction]:
        """The point of the domain next to a point of its box, whose sides are rounded outward."""
        return {variable: self._nearest(variable, value) for variable, value in point.items()}

    def _nearest(self, variable: Variable, value: Fraction) -> Fraction:
        if variable.symbol is Symbol.RATIO:
            other = Norm(variable.index)
            extreme = self._extreme_ratio(other)
            if self._grows(other):
                return min(value, max(Fraction(1), extreme.lower))
            return max(value, min(Fraction(1), extreme.upper))
        if variable.symbol is Symbol.NORM:
            other = Norm(variable.index)
            ratio = max(Fraction(1), self._extreme_ratio(other).lower) if self._grows(other) else Fraction(1)
            return min(value, self.radius.value * ratio)
        return value

    def _ratio(self, other: Norm) -> Range:
        bound = self._extreme_ratio(other)
        return Range(Fraction(1), bound.upper) if self._grows(other) else Range(bound.lower, Fraction(1))

    def _grows(self, other: Norm) -> bool:
        """Whether ‖x‖_other is at least ‖x‖_norm for every x, and not at most."""
        return other.reciprocal > self.norm.reciprocal

    def _extreme_ratio(self, other: Norm) -> Enclosure:
        """The value farthest from 1 of ‖x‖_other / ‖x‖_norm over all x ≠ 0."""
        if self.dimension is None:
            raise InvalidValue(
                "dimension",
                None,
                "the number of coordinates of a record",
                f"The ℓ{other} norm occurs beside ℓ{self.norm}",
            )
        exponent = other.reciprocal - self.norm.reciprocal
        return Enclosure.of(self.dimension, precision=_PRECISION).power(exponent)
