"""Random allocation: every record enters one batch of each epoch, or k, drawn uniformly (balls in bins)."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.relations import ADD_REMOVE, ZERO_OUT
from ..accounting.sampling.epochs import Allocation
from ..plugins.contract import CONTRACT_VERSION, About, Real, named, whole
from ..plugins.contract.optional import NOT_GIVEN, Choice, whole_if_given
from ..plugins.contract.parameters import require_public


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class RandomAllocation:
    """Every record enters k of the t batches of an epoch, with weight 1, drawn uniformly and apart from all others.

    Batches may be empty; their sizes are private. An `AllocatedRun` accounts for it and releases.

    Args:
        batches: how many there are in an epoch, t; from 1 to 2^20.
        participations: how many of them a record enters, k, from 1 to t; one where it is left out.

    Guarantees:
        With one, and with all, batches losses are known from both sides. In between the bound from above is that of k
        independent epochs of t/k batches, rounded down or up so that there are t in all; from below, for Gaussian sums,
        it is what the sum of all releases tells. How far these are apart is told, and nothing is promised.

    Raises:
        InvalidValue: outside these ranges, and for released participations.
    """

    about: ClassVar[About] = About(
        name="random-allocation",
        version="1",
        contract=CONTRACT_VERSION,
        relations=(ADD_REMOVE, ZERO_OUT),
        evidence=Evidence.PROVED,
        citation="Feldman, Shenfeld 2025 (arXiv:2502.08202); docs/soundness_allocation.md",
    )

    batches: Real = field(converter=whole, metadata={"help": "batches of an epoch: a whole number ≥ 1"})
    participations: Choice = field(
        default=NOT_GIVEN, converter=whole_if_given, metadata={"help": "batches that a record enters, 1 unless given"}
    )

    def __attrs_post_init__(self) -> None:
        require_public(participations=self.participations)
        _ = self.epoch

    @property
    def epoch(self) -> Allocation:
        """The batches of an epoch."""
        return Allocation(int(self.batches.value), int(self.participations.value or 1))
