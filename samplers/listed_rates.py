"""Any non-decreasing sampling probabilities, written out (PWS Section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, TypeAlias, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import InvalidType
from ..accounting.exact import Number
from ..accounting.frequency_reporting import ListedRates as Rates
from ..accounting.provenance import Declared, declared
from ..accounting.relations import ELEMENT
from ..accounting.units import Probability
from ..plugins.contract import CONTRACT_VERSION, About, named


@final
@frozen
class _Listed:
    """q_1, q_2, …; as text they are separated by commas."""

    rates: Rates

    def __repr__(self) -> str:
        return ",".join(map(str, self.rates.rates))


Listing: TypeAlias = "str | Iterable[Number | Probability] | _Listed"


def _listed(value: Declared[Listing]) -> Declared[_Listed]:
    def read(given: Listing) -> _Listed:
        match given:
            case _Listed():
                return given
            case str():
                return _listing(given.split(","))
            case Iterable():
                return _listing(given)
        raise InvalidType("rates", given, "probabilities, or text with commas between them")

    return declared(value, read, parameter="rates")


def _listing(given: Iterable[Number | Probability]) -> _Listed:
    return _Listed(Rates(tuple(one if isinstance(one, Probability) else Probability(one) for one in given)))


@final
@frozen(kw_only=True, field_transformer=named)
class ListedRates:
    """Keeps a key of frequency i with the i-th probability listed; a frequency beyond the list is refused.

    Args:
        rates: q_1, q_2, …, none below the one before.
    """

    about: ClassVar[About] = About(
        name="listed-rates",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="PWS Section 3.1",
        unit=ELEMENT,
    )

    rates: Declared[_Listed] = field(
        converter=_listed, metadata={"help": "q_1,q_2,… with commas, none below the one before"}
    )

    @property
    def inclusion(self) -> Rates:
        """q_i."""
        return self.rates.value.rates
