"""Any non-decreasing sampling probabilities, written out (PWS Section 3.1)."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.keyed.reporting import ListedRates as Rates
from ..accounting.provenance import Declared
from ..accounting.relations import ELEMENT
from ..accounting.units import Probability
from ..plugins.contract import CONTRACT_VERSION, About, named
from .listings import Listing, listing


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class ListedRates:
    """Keeps a key of frequency i with the i-th probability listed.

    Args:
        rates: q_1, q_2, …, none below the one before. A frequency beyond them is refused, unless the mechanism has a
            public largest frequency.

    Raises:
        InvalidValue: for rates outside [0, 1], and for rates that fall, with the first that does.
    """

    about: ClassVar[About] = About(
        name="listed-rates",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="PWS Section 3.1",
        unit=ELEMENT,
    )

    rates: Declared[Listing] = field(
        converter=listing, metadata={"help": "q_1,q_2,… with commas, none below the one before"}
    )

    def __attrs_post_init__(self) -> None:
        _ = self.inclusion  # what cannot be a sampler is refused here

    @property
    def inclusion(self) -> Rates:
        """The inclusion probabilities q_i by frequency i, as listed."""
        return self._inclusion

    @cached_property
    def _inclusion(self) -> Rates:
        return Rates(tuple(map(Probability, self.rates.value.numbers)))
