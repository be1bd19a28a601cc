"""How a mechanism that releases several times meets its sampler; the two ways are different types.

Sampling once and releasing T times amplifies the composed loss; resampling for each release composes the
amplified loss. Neither bounds the other's run: the pure loss of the first is the larger, and a δ may be the smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar, final

from attrs import field, frozen

from ..derivation import Theorem
from ..enclosures import Enclosure
from ..enclosures.arguments import whole
from ..errors import known_keywords
from ..exact import python_int
from ..pairs import Pair

Seen: TypeAlias = Callable[[Pair, Enclosure], Pair]
"""What a pair becomes when its record is seen with a probability: the pair of the sampled release."""


def _sampled(base: Pair, rate: Enclosure) -> Pair:
    return base.sampled(rate)


T = TypeVar("T")


@frozen
class _Steps:
    """A number of releases that is fixed beforehand; base class."""

    steps: int = field(converter=python_int)

    def __attrs_post_init__(self) -> None:
        whole("steps", self.steps, 1)


@final
@known_keywords
@frozen
class SampleOnce(_Steps):
    """One sample is drawn, and the mechanism releases `steps` times on it.

    Attributes:
        steps: number of releases T ≥ 1.

    Raises:
        InvalidValue: for steps below 1. InvalidType: for no whole number.
    """

    def pair(self, base: Pair, rate: Enclosure, seen: Seen = _sampled) -> Pair:
        """The pair of the whole run: composed first, amplified once."""
        return seen(base.repeated(self.steps), rate)

    def samples(self, draw: Callable[[], T]) -> Iterator[T]:
        """The sample of each release: the same one."""
        sample = draw()
        for _ in range(self.steps):
            yield sample

    @property
    def theorem(self) -> Theorem:
        """What the run's guarantee rests on beside the loss of one release."""
        return Theorem("law", f"amplified by sampling once, {_counted(self.steps)} on the sample")


@final
@known_keywords
@frozen
class ResampleEach(_Steps):
    """A fresh sample is drawn for each of `steps` releases.

    Attributes:
        steps: number of releases T ≥ 1.

    Raises:
        InvalidValue: for steps below 1. InvalidType: for no whole number.
    """

    def pair(self, base: Pair, rate: Enclosure, seen: Seen = _sampled) -> Pair:
        """The pair of the whole run: amplified first, then composed."""
        return seen(base, rate).repeated(self.steps)

    def samples(self, draw: Callable[[], T]) -> Iterator[T]:
        """The sample of each release: a fresh one."""
        for _ in range(self.steps):
            yield draw()

    @property
    def theorem(self) -> Theorem:
        """What the run's guarantee rests on beside the loss of one release."""
        return Theorem("law", f"amplified by sampling, {_counted(self.steps)} on a fresh sample each")


def _counted(steps: int) -> str:
    return "1 release" if steps == 1 else f"{steps} releases"


Releases: TypeAlias = SampleOnce | ResampleEach
"""A public plan of releases, fixed before the data are seen."""
