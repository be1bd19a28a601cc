"""The contract of a sampler, and the library's draw."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from ...accounting.sampling import SamplingRate
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
