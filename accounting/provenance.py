"""Where a value comes from: declared before the data, released privately, or computed from the records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Generic, TypeAlias, TypeVar, final

from attrs import evolve, field, frozen

from .errors import InvalidType, InvalidValue
from .exact import Number, exact
from .guarantees import Guarantee, require
from .private import Private as Private
from .private import PrivateValue as PrivateValue

T = TypeVar("T")
S = TypeVar("S")
T_co = TypeVar("T_co", covariant=True)


@final
@frozen
class Public(Generic[T_co]):
    """A value declared fixed before the data were seen.

    >>> Public("0.1")
    Public(value='0.1')
    """

    value: T_co

    def map(self, function: Callable[[T_co], S]) -> Public[S]:
        """A function of a public value is public."""
        return Public(function(self.value))

    def __attrs_post_init__(self) -> None:
        _refuse_nesting(self.value)


@final
@frozen(eq=False)
class Payment:
    """What one private release cost. Two payments are two releases, however alike their costs.

    Attributes:
        cost: the guarantee of the release.

    Raises:
        InvalidType: for anything but a guarantee.
    """

    cost: Guarantee[Any, Any, Any]

    def __attrs_post_init__(self) -> None:
        require("cost", self.cost, Guarantee, "A released value carries the guarantee of its release")


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
class Released(Generic[T_co]):
    """A value obtained by a private release.

    The values that one release gave share its payment and are charged once. They are parts of one released value:

        both = Released((1000, 2.5), cost)
        count, mean = both.map(lambda pair: pair[0]), both.map(lambda pair: pair[1])

    Args:
        value: the released value.
        cost: the guarantee of the release, which is thereby a new one, to be charged for itself; or the payment of
            another value of the same release.

    Attributes:
        payment: what the release cost; it is composed, once, into whatever uses its values.
    """

    value: T_co
    payment: Payment = field(converter=_payment, alias="cost")

    @property
    def cost(self) -> Guarantee[Any, Any, Any]:
        """The guarantee of the release."""
        return self.payment.cost

    def map(self, function: Callable[[T_co], S]) -> Released[S]:
        """A function of a released value costs nothing more (post-processing): it shares the payment."""
        return Released(function(self.value), self.payment)

    def __attrs_post_init__(self) -> None:
        _refuse_nesting(self.value)


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
    if isinstance(value, Private):
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
            "Say where it comes from: Public(value)",
        )
    return value.map(read)


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
