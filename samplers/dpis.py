"""Importance sampling in proportion to clipped gradient norms (DPIS Sections 3.2 and 3.3)."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import InvalidValue, known_keywords
from ..accounting.expressions import minimum, norm
from ..accounting.sampling.rate import SamplingRate
from ..plugins.contract import CONTRACT_VERSION, About, Real, named, positive


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class Dpis:
    """Poisson importance sampling with q(x) = b·min(‖x‖₂, C)/K̃ and weight 1/q(x), for gradients x.

    Args:
        batch: b, the expected batch size; above 0.
        norm_sum: K̃, the released sum of clipped norms; at least b·C, so that no rate exceeds 1.
        clip: C, the bound on the norm of a gradient; above 0.

    Raises:
        InvalidValue: for K̃ < b·C (DPIS Equation 12).
    """

    about: ClassVar[About] = About(
        name="dpis",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="DPIS, Sections 3.2 and 3.3, Equation 15",
    )

    batch: Real = field(converter=positive, metadata={"help": "expected batch size b, above 0"})
    norm_sum: Real = field(
        converter=positive, metadata={"help": "released sum K̃ of clipped norms, at least batch·clip"}
    )
    clip: Real = field(converter=positive, metadata={"help": "bound C on the norm of a gradient, above 0"})

    def __attrs_post_init__(self) -> None:
        least = self.batch.value * self.clip.value
        if self.norm_sum.value < least:
            remedy = "Raise it to b·C + ξ (DPIS Equation 12)"
            raise InvalidValue("norm_sum", self.norm_sum.value, f"at least batch·clip = {least}", remedy)

    @property
    def rate(self) -> SamplingRate:
        """The sampling rate q(x) = b·min(‖x‖₂, C)/K̃."""
        per_unit = self.batch.value / self.norm_sum.value
        return SamplingRate(per_unit * minimum(self.clip.value, norm(2)), weighted=True)
