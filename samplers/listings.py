"""Parameters that are lists of exact numbers, written with commas between them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias, final

from attrs import field, frozen

from ..accounting.errors import InvalidType
from ..accounting.exact import Number, exact
from ..accounting.provenance import Declared, Public, declared


def _numbers(given: Iterable[Number]) -> tuple[Fraction, ...]:
    return tuple(exact(one, parameter="listing") for one in given)


@final
@frozen(repr=False)
class Listing:
    """Exact numbers in order; its text, such as 1/10,1/2, reads back as the same list."""

    numbers: tuple[Fraction, ...] = field(converter=_numbers)

    def __repr__(self) -> str:
        return ",".join(map(str, self.numbers))


Listed: TypeAlias = str | Iterable[Number] | Listing
"""What a list of numbers may be given as."""


def listing(value: Declared[Listed]) -> Declared[Listing]:
    """A declared list of numbers: text with commas, or numbers."""

    def read(given: Listed) -> Listing:
        match given:
            case Listing():
                return given
            case str():
                return Listing(given.split(","))
            case Iterable():
                return Listing(given)
        raise InvalidType("listing", given, "numbers, or text with commas between them")

    return declared(value, read, parameter="listing")


def listing_if_given(value: Declared[Listed] | Public[None]) -> Declared[Listing] | Public[None]:
    """A declared list of numbers, or a declared None."""
    match value:
        case Public(None):
            return Public(None)
    return listing(value)  # type: ignore[arg-type]  # a list from here on
