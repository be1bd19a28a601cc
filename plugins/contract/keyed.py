"""The contract of samplers and sanitisers of keyed data, whose unit of privacy is an element.

An element changes the frequency of its key, and with it the probability q with which the key is sampled: IS Theorem 6
does not apply. A sampler states q for every frequency; a sanitiser makes from it what is reported, end to end.
"""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from ...accounting.keyed.reporting import Inclusion, Reporting
from .about import About


@runtime_checkable
class KeySampler(Protocol):
    """What a sampler of keys declares: a frozen class whose fields are declared parameters.

    Attributes:
        about: identity and standing; its unit is ELEMENT.
    """

    about: ClassVar[About]

    @property
    def inclusion(self) -> Inclusion:
        """With what probability a key of each frequency is kept, independently of other keys."""
        ...


@runtime_checkable
class Sanitiser(Protocol):
    """What a sanitiser of sampled keys declares: a frozen class whose fields are declared parameters.

    Attributes:
        about: identity and standing; its unit is ELEMENT.
    """

    about: ClassVar[About]

    def reporting(self, inclusion: Inclusion) -> Reporting:
        """What is reported about a key of each frequency after a sampler with these probabilities."""
        ...
