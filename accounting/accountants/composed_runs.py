"""The pairs of several runs together: each record is dominated in each run, by a pair that may differ by run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import final

from attrs import frozen

from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..pairs import Pair, PureLaw, RenyiLaw, compose_pairs
from ..pairs.laws import RenyiEstimate
from .worst_pairs import Law, WorstPairs, gaussian, largest, zero_concentrated

_MOST_COMBINATIONS = 64


@final
@frozen
class LargestOf(Pair):
    """The largest loss of several pairs, in each notion: it bounds every record that one of them dominates.

    Attributes:
        pairs: at least one.

    Raises:
        InvalidValue: for none.
    """

    pairs: tuple[Pair, ...]

    def __attrs_post_init__(self) -> None:
        if not self.pairs:
            raise InvalidValue("pairs", self.pairs, "at least one pair")

    @property
    def pure(self) -> PureLaw | None:
        """The largest pure ε of the pairs; None where one of them has none."""
        laws = [law for pair in self.pairs if (law := pair.pure) is not None]
        if len(laws) < len(self.pairs):
            return None
        return lambda direction: largest(law(direction) for law in laws)

    @property
    def renyi(self) -> RenyiLaw | None:
        """The largest τ(α) of the pairs at each order; None where one of them has none."""
        laws = [law for pair in self.pairs if (law := pair.renyi) is not None]
        if len(laws) < len(self.pairs):
            return None
        return lambda order, direction: largest(law(order, direction) for law in laws)

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """The largest of the estimates, where each pair has one."""
        laws = [law for pair in self.pairs if (law := pair.renyi_estimate) is not None]
        if len(laws) < len(self.pairs):
            return None
        return lambda order, direction: max(law(order, direction) for law in laws)

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """The largest ρ of the pairs; None where one of them has none."""
        return self._worst(zero_concentrated)

    @property
    def gaussian(self) -> Enclosure | None:
        """The largest μ of the pairs; None where one of them has none."""
        return self._worst(gaussian)

    def _worst(self, law: Law) -> Enclosure | None:
        found = WorstPairs(self.pairs, ()).worst(law)
        return None if found is None else found.enclosure


def composed(runs: Sequence[WorstPairs], together: Sequence[Pair]) -> WorstPairs:
    """The pairs of all runs.

    Args:
        runs: each run's own; at least one.
        together: pairs of all runs about one record each, for lower ends.

    Guarantees: every record is dominated by one of the bounding pairs. They are the compositions of one pair of each
    run where these are few; else runs with several pairs count with the largest loss in each notion.
    """
    if len(runs) == 1:
        return runs[0]
    choices = [run.bounding for run in runs]
    if prod(map(len, choices)) > _MOST_COMBINATIONS:
        choices = [pairs if len(pairs) == 1 else (LargestOf(pairs),) for pairs in choices]
    bounding = tuple(dict.fromkeys(compose_pairs(combination) for combination in product(*choices)))
    return WorstPairs(bounding, tuple(together))
