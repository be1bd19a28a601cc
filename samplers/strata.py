"""Poisson sampling at a rate for each public label."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, TypeAlias, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import InvalidType, InvalidValue, known_keywords
from ..accounting.exact import Number
from ..accounting.provenance import Declared, Public, declared
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..accounting.units import Probability
from ..plugins.contract import CONTRACT_VERSION, About, LabelledStrata, flag, named
from ..plugins.contract.parameters import require_public
from .poisson import Poisson


def _rates(given: Mapping[str, Number]) -> dict[str, Fraction]:
    for label in given:
        if not isinstance(label, str) or label != label.strip() or set(label) & set(":,"):
            raise InvalidValue("rates", label, "labels that are text without commas, colons and spaces around it")
    return {label: Probability.of(rate).value for label, rate in given.items()}


@final
@frozen(repr=False)
class LabelledRates:
    """A rate for each label; its text, such as adult:1/10,child:1/2, reads back as the same rates."""

    by_label: Mapping[str, Fraction] = field(converter=_rates)

    def __repr__(self) -> str:
        return ",".join(f"{label}:{rate}" for label, rate in self.by_label.items())


Labelled: TypeAlias = str | Mapping[str, Number] | LabelledRates
"""What rates by label may be given as."""


def labelled_rates(value: Declared[Labelled]) -> Declared[LabelledRates]:
    """Declared rates by label: a mapping, or text such as adult:0.1,child:0.5."""

    def read(given: Labelled) -> LabelledRates:
        match given:
            case LabelledRates():
                return given
            case str():
                parts = [part.split(":") for part in given.split(",")]
                if any(len(part) != 2 for part in parts):
                    raise InvalidValue("rates", given, "label:rate pairs with commas between them")
                rates = {label.strip(): rate.strip() for label, rate in parts}
                if len(rates) != len(parts):
                    raise InvalidValue("rates", given, "each label once")
                return LabelledRates(rates)
            case Mapping():
                return LabelledRates(given)
        raise InvalidType("rates", given, "a mapping of labels to rates, or text such as adult:0.1,child:0.5")

    return declared(value, read, parameter="rates")


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class Strata:
    """Every record is drawn independently, with the probability of its public label.

    Args:
        rates: by label, that probability, in [0, 1]: a mapping, or text such as adult:0.1,child:0.5.
        weighted: whether drawn records enter with weight 1/rate; by default they enter with weight 1.

    Guarantees:
        A `StratifiedRun` accounts for each stratum by itself and states the worst; it releases from records with their
        labels. The sizes of strata are not released.

    Raises:
        InvalidValue: for no rates, rates outside [0, 1], labels with commas or colons, and released rates.
    """

    about: ClassVar[About] = About(
        name="strata",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Proposition 3, for each stratum; docs/soundness_strata.md",
        relations=(ADD_REMOVE, REPLACE, ZERO_OUT),
    )

    rates: Declared[LabelledRates] = field(
        converter=labelled_rates, metadata={"help": "label:rate pairs with commas between them"}
    )
    weighted: Declared[bool] = field(
        default=Public(False), converter=flag, metadata={"help": "whether drawn records get weight 1/rate"}
    )

    def __attrs_post_init__(self) -> None:
        require_public(rates=self.rates, weighted=self.weighted)
        _ = self.strata

    @property
    def strata(self) -> LabelledStrata:
        """One stratum for each label."""
        rates = self.rates.value.by_label
        return LabelledStrata(
            {label: Poisson(rate=Public(rate), weighted=self.weighted) for label, rate in rates.items()}
        )
