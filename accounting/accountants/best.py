"""The best of several accountants."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import final

from attrs import evolve, field, frozen

from ..enclosures import Enclosure
from ..errors import InvalidValue, OutsideDomain
from .accountant import Accountant, Finding
from .advanced import ADVANCED
from .basic import BASIC
from .gaussian_dp import GAUSSIAN_DP
from .loss_distribution import LOSS_DISTRIBUTION
from .optimal import OPTIMAL
from .renyi import RENYI
from .worst_pairs import Bounds, WorstPairs
from .zero_concentrated import ZERO_CONCENTRATED

ALL: tuple[Accountant, ...] = (BASIC, ADVANCED, OPTIMAL, ZERO_CONCENTRATED, GAUSSIAN_DP, RENYI, LOSS_DISTRIBUTION)
"""Every accountant but the best of them, the simplest first: of equal bounds the first is stated."""


@final
@frozen
class BestAccountant(Accountant):
    """Asks several accountants; the smallest upper end wins, and the largest proven lower end stands beside it.

    All bounds are about the same number, so any two of them hold together.

    Attributes:
        asked: the accountants, in the order of preference among equal bounds.

    Raises:
        InvalidValue: for none.
    """

    name = "best"
    theorems = tuple(dict.fromkeys(theorem for accountant in ALL for theorem in accountant.theorems))

    asked: tuple[Accountant, ...] = field(default=ALL)

    def __attrs_post_init__(self) -> None:
        if not self.asked:
            raise InvalidValue("asked", self.asked, "at least one accountant")

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """None where nothing finite follows in any notion."""
        return _best(partial(accountant.epsilon, pairs, delta) for accountant in self.asked)

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """None where nothing follows in any notion."""
        return _best(partial(accountant.delta, pairs, epsilon) for accountant in self.asked)


BEST = BestAccountant()


def _best(questions: Iterable[Callable[[], Finding | None]]) -> Finding | None:
    """The smallest upper end; a number beyond what one accountant can compute is left to the others.

    Raises:
        OutsideDomain: where such a number left nothing.
    """
    found: tuple[Finding, ...] = ()
    beyond: OutsideDomain | None = None
    for ask in questions:
        try:
            answer = ask()
        except OutsideDomain as refused:
            beyond = refused
            continue
        if answer is not None:
            found = (*found, answer)
    if not found:
        if beyond is not None:
            raise beyond
        return None
    winner = min(found, key=_rank)
    lower = [answer.bounds.enclosure.lower for answer in found if answer.bounds.two_sided]
    if not lower:
        return evolve(winner, compared=found)
    upper = winner.bounds.enclosure
    both = Enclosure.between(max(lower), upper.upper, precision=upper.precision)
    return evolve(winner, bounds=Bounds(both, two_sided=True), compared=found)


def _rank(finding: Finding) -> tuple[Fraction, bool]:
    return finding.upper, not finding.bounds.two_sided
