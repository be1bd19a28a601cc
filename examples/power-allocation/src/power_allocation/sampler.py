"""Power allocation: between uniform sampling and sampling in proportion to the norm."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from certdp.plugins.contract import (
    About,
    Declared,
    Evidence,
    Norm,
    Number,
    Public,
    Real,
    SamplingRate,
    declared_number,
    maximum,
    minimum,
    named,
    norm,
    norm_order,
    positive,
)


def _share(value: Declared[Number]) -> Real:
    # a floor of 0 lets small records weigh without bound; a power above 1 makes theirs the largest weighted norms
    return declared_number(value, lambda number: 0 < number <= 1, "a number above 0 and at most 1", parameter="share")


@final
@frozen(kw_only=True, field_transformer=named)
class PowerAllocation:
    """Poisson sampling with q(x) = min(1, max(floor, (‖x‖ / threshold)^power)) and weight 1/q(x).

    A power of 1 samples in proportion to the norm; the smaller it is, the more alike are the probabilities. The
    weighted norm w·‖x‖ = threshold^power·‖x‖^(1 − power), on which a sum's loss depends, never exceeds the threshold
    for a record up to it, and small records move it less than under a power of 1, where all move it by the threshold.

    Args:
        threshold: norm from which on every record is drawn; above 0.
        power: in (0, 1]; by default 1/2.
        norm: which norm: a number ≥ 1, or inf; by default 2.
        floor: smallest probability, in (0, 1]; no weight exceeds its inverse.

    Guarantees:
        q depends on the record and on these constants alone, which are declared before the data or paid for; it is
        above 0, so that weighted sums over the sample are unbiased.
    """

    about: ClassVar[About] = About(
        name="power-allocation",
        version="1",
        contract=1,
        evidence=Evidence.PROVED,
        citation="Bankier 1988, Power allocations; Poisson sampling with unequal probabilities: Hájek 1958",
    )

    threshold: Real = field(converter=positive, metadata={"help": "norm from which on every record is drawn, above 0"})
    power: Real = field(
        default=Public(Fraction(1, 2)), converter=_share, metadata={"help": "power of the norm, in (0, 1]"}
    )
    norm: Declared[Norm] = field(
        default=Public(Norm.L2), converter=norm_order, metadata={"help": "which norm: a number ≥ 1, or inf"}
    )
    floor: Real = field(converter=_share, metadata={"help": "smallest probability, in (0, 1]"})

    @property
    def rate(self) -> SamplingRate:
        """q(x) = min(1, max(floor, (‖x‖ / threshold)^power))."""
        grown = (norm(self.norm.value) / self.threshold.value) ** self.power.value
        return SamplingRate(minimum(1, maximum(self.floor.value, grown)), weighted=True)
