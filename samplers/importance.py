"""Importance sampling proportional to a norm (IS Definition 5)."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.expressions import maximum, minimum, norm
from ..accounting.norms import Norm
from ..accounting.provenance import Declared, Public
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..accounting.sampling.rate import SamplingRate
from ..plugins.contract import CONTRACT_VERSION, About, Real, named, norm_order, positive, probability


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class Importance:
    """Poisson importance sampling with q(x) = min(1, max(floor, rate·‖x‖)) and weight 1/q(x).

    Args:
        rate: probability per unit of the norm; above 0.
        norm: which norm: a number ≥ 1, or inf; by default 1.
        floor: smallest probability, in [0, 1]; by default 0, where a record of norm 0 is never drawn.
    """

    about: ClassVar[About] = About(
        name="importance",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Definition 5",
        relations=(ADD_REMOVE, REPLACE, ZERO_OUT),
    )

    slope: Real = field(
        alias="rate", converter=positive, metadata={"help": "probability per unit of the norm, above 0"}
    )
    norm: Declared[Norm] = field(
        default=Public(Norm.L1), converter=norm_order, metadata={"help": "which norm: a number ≥ 1, or inf"}
    )
    floor: Real = field(
        default=Public(Fraction(0)),
        converter=probability,
        metadata={"help": "smallest probability, in [0, 1]"},
    )

    @property
    def rate(self) -> SamplingRate:
        """The sampling rate q(x) = min(1, max(floor, rate·‖x‖))."""
        proportional = self.slope.value * norm(self.norm.value)
        return SamplingRate(minimum(1, maximum(self.floor.value, proportional)), weighted=True)
