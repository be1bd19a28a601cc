"""What a sanitiser reports about a key of each frequency, end to end, after a sampler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from ..units import Delta, Epsilon
from .budget import DyadicBudget
from .inclusion import Inclusion
from .rows import FrequencyRow


class Reporting(ABC):
    """The rows of a sanitiser as they are drawn, one per frequency.

    Attributes:
        epsilon: ε between neighbouring frequencies.
        delta: δ between them.
        inclusion: the sampler's q_i.
        budget: ε and δ in whole units of probability.
    """

    __slots__ = ()

    epsilon: Epsilon
    delta: Delta
    inclusion: Inclusion
    budget: DyadicBudget

    @property
    @abstractmethod
    def with_frequencies(self) -> bool:
        """Whether a token tells something of the frequency; else there is one token, 0."""

    @abstractmethod
    def at(self, frequencies: Iterable[int]) -> Iterator[FrequencyRow]:
        """The rows of these frequencies.

        Args:
            frequencies: whole numbers ≥ 1, increasing.

        Guarantees:
            Every two neighbouring rows of the whole table, asked for or not, satisfy (ε, δ) exactly.

        Raises:
            OutsideDomain: beyond the last frequency that has a rate.
        """

    def row(self, frequency: int) -> FrequencyRow:
        """The row of one frequency; arguments and errors as for `at`."""
        return next(iter(self.at([frequency])))
