"""How the records of one run are drawn, once mechanism and sampler are known.

A stated rate is an expression in norms of the record. One that is solved for gives each record the largest weight with
which the loss about it stays within a target: see `constrained_rates`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from math import inf
from typing import final

from attrs import frozen

from ..derivation import Derivation
from ..enclosures import Enclosure
from ..expressions import Expression
from ..pairs import Pair, changed
from ..relations import REPLACE, AddRemove, Record, Relation
from .domains import NormBall
from .losses import PureLoss
from .profiles import PureProfile
from .rate import SamplingRate
from .records import Features, Realisation, realise
from .theorem_6 import theorem_6


class Rate(ABC):
    """The probability and the weight with which the records of a run are drawn."""

    __slots__ = ()

    @property
    @abstractmethod
    def features(self) -> tuple[Expression, ...]:
        """The expressions whose norms decide the probability."""

    @property
    @abstractmethod
    def rounding(self) -> Fraction:
        """By how much, relatively, a probability drawn may differ from the one declared."""

    @abstractmethod
    def realise(self, features: Features) -> Realisation:
        """The binary64 probabilities that are drawn and the weights that are applied."""

    @abstractmethod
    def profile(self, loss: PureLoss, premises: Iterable[Derivation] = ()) -> PureProfile[AddRemove, Record]:
        """The ψ-PDP profile of a mechanism with this loss, on records drawn so."""

    def changed(self, base: Pair, rate: Enclosure, relation: Relation, size: int) -> Pair | None:
        """The pair of one release, or of several on one sample; None where no theorem gives one.

        Args:
            base: the pair of the releases about a record that is added or removed, and drawn for certain.
            rate: with what probability each of the records is drawn.
            relation: what happens to the records.
            size: how many there are; at least 1.
        """
        return None

    @property
    def size(self) -> int | None:
        """How many records it draws from, where they are drawn together; None where each is drawn by itself."""
        return None

    @property
    def ceiling(self) -> float:
        """A bound of ψ for every record that is drawn so, whatever its norms."""
        return inf

    def on(self, domain: NormBall | None) -> Rate:
        """Return the same rate where records are held within a public domain.

        Raises:
            InvalidValue: where some record of the domain cannot be drawn as declared.
        """
        return self


@final
@frozen
class StatedRate(Rate):
    """A rate that a sampler states as an expression.

    Attributes:
        stated: probability and weighting.
    """

    stated: SamplingRate

    @property
    def features(self) -> tuple[Expression, ...]:
        """The probability as an expression, whose norms decide it."""
        return (self.stated.probability,)

    def changed(self, base: Pair, rate: Enclosure, relation: Relation, size: int) -> Pair | None:
        """The pair under Poisson sampling: each record is drawn by itself.

        A record that is zeroed out adds nothing when it is drawn, so that the pair is that of one that is removed.
        """
        return changed(base, rate, size, replaced=relation == REPLACE)

    @property
    def rounding(self) -> Fraction:
        """By how much, relatively, a probability drawn may differ from the one stated."""
        return self.stated.rounding

    def realise(self, features: Features) -> Realisation:
        """Return the probabilities drawn and the weights applied, as `records.realise` does."""
        return realise(self.stated, features)

    def profile(self, loss: PureLoss, premises: Iterable[Derivation] = ()) -> PureProfile[AddRemove, Record]:
        """Return the ψ-PDP profile of a mechanism with this loss, by IS Theorem 6."""
        return theorem_6(loss, self.stated, premises)
