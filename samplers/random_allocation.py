"""Random allocation: every record enters one batch of each epoch, drawn uniformly (balls in bins)."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.sampling.epochs import Allocation
from ..plugins.contract import CONTRACT_VERSION, About, Real, named, whole


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class RandomAllocation:
    """Every record enters one of the batches of an epoch, with weight 1, drawn uniformly and apart from all others.

    Batches may be empty; their sizes are private. An `AllocatedRun` accounts for it and releases.

    Args:
        batches: how many there are in an epoch, t; from 1 to 2^20.
    """

    about: ClassVar[About] = About(
        name="random-allocation",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Feldman, Shenfeld 2025 (arXiv:2502.08202); docs/soundness_allocation.md",
    )

    batches: Real = field(converter=whole, metadata={"help": "batches of an epoch: a whole number ≥ 1"})

    @property
    def epoch(self) -> Allocation:
        """The batches of an epoch."""
        return Allocation(int(self.batches.value))
