"""What a plan is made of: runs of one mechanism and one sampler each, for one unit of privacy."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar, Protocol

from ..accounting.pairs import Pair
from ..accounting.sampling.domains import NormBall
from ..plugins.contract import About
from .run import Accounted, U


class Plugin(Protocol):
    """A mechanism or a sampler of any kind."""

    about: ClassVar[About]


class PlanPart(Accounted[U]):
    """A run of releases of one mechanism with one sampler, fixed before the data are seen; base class.

    Attributes:
        domain: the public domain of the records, where one matters.
    """

    __slots__ = ()

    domain: NormBall | None

    @property
    @abstractmethod
    def plugins(self) -> tuple[Plugin, Plugin]:
        """Mechanism and sampler."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """How many releases there are."""

    @property
    @abstractmethod
    def on_one_sample(self) -> bool:
        """Whether all of them see the same sample."""

    @abstractmethod
    def pair_of_one(self, size: Fraction) -> Pair | None:
        """The pair of all releases about one and the same neighbour, for lower ends of plans; None where none is known.

        Args:
            size: of its record, which lies on an axis.
        """
