"""The contract of a sampler."""

from __future__ import annotations

from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

from ...accounting.sampling.drawing import Rate
from ...accounting.sampling.epochs import Epoch
from ...accounting.sampling.losses import Loss
from ...accounting.sampling.rate import SamplingRate
from .about import About


@runtime_checkable
class Sampler(Protocol):
    """What a sampler declares: a frozen class whose fields are declared parameters. The library draws.

    Attributes:
        about: identity and standing.
    """

    about: ClassVar[About]

    @property
    def rate(self) -> SamplingRate:
        """With which probability a record is drawn and whether it is then weighted."""
        ...


@runtime_checkable
class LossSampler(Protocol):
    """What a sampler declares whose probabilities depend on what the mechanism loses about a record.

    Attributes:
        about: identity and standing.
    """

    about: ClassVar[About]

    def rate_for(self, loss: Loss) -> Rate:
        """How records are drawn for a mechanism with this loss."""
        ...


@runtime_checkable
class AllocatingSampler(Protocol):
    """What a sampler declares that puts every record in as many batches of each epoch. The library draws.

    Attributes:
        about: identity and standing.
    """

    about: ClassVar[About]

    @property
    def epoch(self) -> Epoch:
        """How the batches of an epoch are drawn, and what a record costs in one."""
        ...


AnySampler: TypeAlias = Sampler | LossSampler
"""A sampler, whether or not it needs to know the mechanism."""
