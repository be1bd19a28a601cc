"""Where a value comes from: declared before the data, released privately, or computed from the records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Generic, TypeAlias, TypeVar, final

from attrs import evolve, field, frozen

from .errors import InvalidType, InvalidValue, known_keywords
from .exact import Number, exact, ratio_text
from .guarantees import Guarantee, refuse_ex_post, require
from .private import Private as Private
from .private import PrivateValue as PrivateValue

T = TypeVar("T")
S = TypeVar("S")
T_co = TypeVar("T_co", covariant=True)


def _plainly(value: object) -> str:
    """`value` as it may be typed: an exact number as a whole number or as text."""
    if not isinstance(value, Fraction):
        return repr(value)
    return str(value) if value.denominator == 1 else repr(str(value))


@final
@known_keywords
@frozen(repr=False)
class Public(Generic[T_co]):
    """A value declared fixed before the data were seen.

    >>> Public("0.1")
    Public('0.1')
    """

    value: T_co

    def __repr__(self) -> str:
        return f"Public({_plainly(self.value)})"

    def map(self, function: Callable[[T_co], S]) -> Public[S]:
        """A function of a public value is public."""
        return Public(function(self.value))

    def number_for(self, parameter: str) -> Fraction:
        """The number that was declared, for a parameter that takes one.

        Raises:
            InvalidType, InvalidValue: as `exact` of the value.
        """
        return exact(self.value, parameter=parameter)  # type: ignore[arg-type]  # refused unless it is a number

    def __attrs_post_init__(self) -> None:
        _refuse_nesting(self.value)


@final
@frozen(eq=False)
class Payment:
    """What one private release cost. Two payments are two releases, however alike their costs.

    Attributes:
        cost: the guarantee of the release.
        account: which adaptive run has counted the release, so that there, and there alone, it costs nothing more; None
            for one that is to be charged.

    Raises:
        InvalidType: for anything but a guarantee.
        InvalidValue: for a cost that is none, at released values or beside an account.
    """

    cost: Guarantee[Any, Any, Any]
    account: object = field(default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        require("cost", self.cost, Guarantee, "A released value carries the guarantee of its release")
        if self.account is None:
            refuse_ex_post("cost", self.cost)


def named_costs(payments: Iterable[Payment], *, first: int = 1) -> list[Guarantee[Any, Any, Any]]:
    """What each release cost, its assumptions named as those of released parameters 1, 2 and so on.

    Args:
        payments: the releases, each once.
        first: the number of the first.
    """
    return [
        evolve(payment.cost, derivation=payment.cost.derivation.about(f"released parameter {number}"))
        for number, payment in enumerate(payments, first)
    ]


def _payment(cost: Guarantee[Any, Any, Any] | Payment) -> Payment:
    return cost if isinstance(cost, Payment) else Payment(cost)


@final
@frozen
class PublicRange:
    """The values that a released number may take, declared before it is released; ends included.

    Attributes:
        low: the smallest.
        high: the largest, at least `low`.

    Raises:
        InvalidValue: for ends in the wrong order.
    """

    low: Fraction
    high: Fraction

    def __attrs_post_init__(self) -> None:
        if self.low > self.high:
            raise InvalidValue("within", f"({self.low}, {self.high})", "(low, high) with low ≤ high")

    def clamp(self, value: Fraction) -> Fraction:
        """The value of the range next to `value`."""
        return min(max(value, self.low), self.high)

    def __str__(self) -> str:
        return f"{ratio_text(self.low)} to {ratio_text(self.high)}"


def _range(value: tuple[Number, Number] | PublicRange | None) -> PublicRange | None:
    match value:
        case None | PublicRange():
            return value
        case (low, high):
            return PublicRange(exact(low, parameter="within"), exact(high, parameter="within"))
    raise InvalidType("within", value, "(low, high): two numbers fixed beforehand, or None")


@final
@known_keywords
@frozen
class Released(Generic[T_co]):
    """A value obtained by a private release.

    The values that one release gave share its payment and are charged once. They are parts of one released value:

        both = Released((1000, 2.5), cost)
        count, mean = both.map(lambda pair: pair[0]), both.map(lambda pair: pair[1])

    A guarantee of what uses the value has to hold for every value that could have been released. So either its bound
    does not move with the value, or the value is a number of a public range, over which the bound is the supremum.
    Anything else is an ex-post reading (`certdp.ExPost`), or is paid through a filter (`certdp.AdaptiveRun`).

    Args:
        value: the released value.
        cost: the guarantee of the release, which is thereby a new one, to be charged for itself; or the payment of
            another value of the same release.
        within: (low, high), for a number: its range, public and fixed beforehand. A number outside it becomes the
            nearer end, which is post-processing.

    Attributes:
        payment: what the release cost; it is composed, once, into whatever uses its values.

    Raises:
        InvalidType: for a range of what is no number.
        InvalidValue: for a range whose ends are in the wrong order.
    """

    value: T_co
    payment: Payment = field(converter=_payment, alias="cost")
    within: PublicRange | None = field(default=None, converter=_range, kw_only=True)
    _as_it_came_out: bool = field(default=False, init=False, repr=False)

    @property
    def cost(self) -> Guarantee[Any, Any, Any]:
        """The privacy guarantee of the release that gave the value."""
        return self.payment.cost

    @property
    def as_it_came_out(self) -> bool:
        """Whether the value counts as it came out: so do filters and ex-post readings take it, and no guarantee."""
        return self._as_it_came_out

    def map(
        self, function: Callable[[T_co], S], *, within: tuple[Number, Number] | PublicRange | None = None
    ) -> Released[S]:
        """A function of a released value costs nothing more (post-processing): it shares the payment.

        Args:
            function: of the value.
            within: the range of the result, public and fixed beforehand; the value's own range is not the result's.
        """
        return Released(function(self.value), self.payment, within=within)

    def __attrs_post_init__(self) -> None:
        _refuse_nesting(self.value)
        if self.within is not None:
            number = exact(self.value, parameter="value")  # type: ignore[arg-type]  # refused unless it is a number
            clamped = self.within.clamp(number)
            if clamped != number:
                object.__setattr__(self, "value", clamped)


def as_it_came_out(value: Released[T]) -> Released[T]:
    """The value as filters and ex-post readings take it; guarantees that rest on it compose with nothing."""
    result = Released(value.value, value.payment, within=value.within)
    object.__setattr__(result, "_as_it_came_out", True)
    return result


def _read(value: Declared[S], read: Callable[[S], T]) -> Declared[T]:
    """The same value in the form that `read` gives; a number keeps its range, read likewise."""
    if isinstance(value, Public):
        return value.map(read)
    form = read(value.value)
    limits = value.within if isinstance(form, Fraction) and not isinstance(value.value, bool) else None
    for end in () if limits is None else (limits.low, limits.high):
        read(end)  # type: ignore[arg-type]  # the value is a number, and so are the ends of its range
    result = Released(form, value.payment, within=limits)
    return as_it_came_out(result) if value.as_it_came_out else result


Declared: TypeAlias = Public[T] | Released[T]
"""What samplers and mechanisms accept as parameters."""


def _private(parameter: str) -> PrivateValue:
    return PrivateValue(
        parameter,
        "a Private value",
        "Public or Released",
        "It was computed from the records: declare a constant, or release the statistic with a mechanism",
    )


def _refuse_nesting(value: object) -> None:
    if type(value) is Private:  # a final class; `isinstance` would look at a stand-in for any value
        raise _private("value")


def publish(value: Public[T] | Released[T]) -> T:
    """The value itself, for a publication.

    Raises:
        PrivateValue: for a Private value.
        InvalidType: for a value without provenance.
    """
    if isinstance(value, Private):
        raise _private("value")
    if not isinstance(value, Public | Released):
        raise InvalidType("value", value, "Public or Released", "Declare it: Public(value)")
    return value.value


def declared(value: Declared[S], read: Callable[[S], T], *, parameter: str) -> Declared[T]:
    """`value` with its content read by `read`.

    Raises:
        PrivateValue: for a Private value, which no sampler or mechanism may depend on.
        InvalidType: for a value without provenance.
    """
    if isinstance(value, Private):
        raise _private(parameter)
    if not isinstance(value, Public | Released):
        raise InvalidType(
            parameter,
            value,
            "Public(value) or Released(value, cost)",
            "Say where it comes from: Public(value), for one that was fixed before the data were seen",
        )
    return _read(value, read)


def declared_number(
    value: Declared[Number], admits: Callable[[Fraction], bool], admissible: str, *, parameter: str
) -> Declared[Fraction]:
    """A declared number, read exactly, for which `admits` holds; `admissible` says so in words.

    Raises:
        InvalidValue: for any other number. Otherwise as `declared`.
    """

    def read(number: Number) -> Fraction:
        result = exact(number, parameter=parameter)
        if not admits(result):
            raise InvalidValue(parameter, number, admissible)
        return result

    return declared(value, read, parameter=parameter)
