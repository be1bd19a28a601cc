"""Uniform Poisson sampling (IS Proposition 3, and its weighted form)."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.expressions import expression
from ..accounting.provenance import Declared, Public
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..accounting.sampling.rate import SamplingRate
from ..plugins.contract import CONTRACT_VERSION, About, Real, flag, named, probability


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class Poisson:
    """Every record is drawn independently with the same probability.

    With weighted=true and rate m/n it is the uniform sampling of IS: q(x) = m/n and weight n/m.

    Args:
        rate: that probability, in [0, 1].
        weighted: whether drawn records enter with weight 1/rate; by default they enter with weight 1.
    """

    about: ClassVar[About] = About(
        name="poisson",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Proposition 3 and Definition 5",
        relations=(ADD_REMOVE, REPLACE, ZERO_OUT),
    )

    probability: Real = field(
        alias="rate", converter=probability, metadata={"help": "probability of drawing a record, in [0, 1]"}
    )
    weighted: Declared[bool] = field(
        default=Public(False), converter=flag, metadata={"help": "whether drawn records get weight 1/rate"}
    )

    @property
    def rate(self) -> SamplingRate:
        """The sampling rate q(x) = rate, the same for every record."""
        return SamplingRate(expression(self.probability.value), weighted=self.weighted.value)
