"""The best of several accountants."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import final

from attrs import evolve, field, frozen

from ..enclosures import Enclosure
from ..errors import InvalidValue, OutsideDomain
from ..pairs import Pair
from ..relations import Direction
from .accountant import Accountant, Finding
from .advanced import ADVANCED
from .basic import BASIC
from .gaussian_dp import GAUSSIAN_DP
from .loss_distribution import LOSS_DISTRIBUTION
from .optimal import OPTIMAL
from .renyi import RENYI
from .rounded_normal import ROUNDED_NORMAL
from .trade_off import DeltaLaw
from .worst_pairs import Bounds, WorstPairs
from .zero_concentrated import ZERO_CONCENTRATED

ALL: tuple[Accountant, ...] = (
    BASIC,
    ADVANCED,
    OPTIMAL,
    ZERO_CONCENTRATED,
    GAUSSIAN_DP,
    RENYI,
    LOSS_DISTRIBUTION,
    ROUNDED_NORMAL,
)
"""Every accountant but the best of them, the simplest first: of equal bounds the first is stated."""


@final
@frozen
class _Question:
    """What ε or δ an accountant finds for some pairs; a value, so that answers can be pickled."""

    pairs: WorstPairs
    of_epsilon: bool
    at: Enclosure

    def put(self, accountant: Accountant) -> Finding | OutsideDomain | None:
        """A refusal is an answer, too: others may do without the number that one cannot compute."""
        try:
            return (accountant.epsilon if self.of_epsilon else accountant.delta)(self.pairs, self.at)
        except OutsideDomain as refused:
            return refused

    def least(self, accountant: Accountant) -> Fraction:
        """A number that the accountant's bound is not below."""
        return (accountant.least_epsilon if self.of_epsilon else accountant.least_delta)(self.pairs, self.at)


@final
@frozen(eq=False)
class _Inquiry:
    """What accountants find, each of them asked when its answer is first looked at."""

    asked: tuple[Accountant, ...]
    question: _Question
    _known: dict[Accountant, Finding | OutsideDomain | None] = field(factory=dict, init=False)

    def finding_of(self, accountant: Accountant) -> Finding | OutsideDomain | None:
        if accountant not in self._known:
            self._known[accountant] = self.question.put(accountant)
        return self._known[accountant]

    def __call__(self) -> tuple[Finding, ...]:
        """Return the findings of all accountants that have one."""
        return tuple(answer for accountant in self.asked if isinstance(answer := self.finding_of(accountant), Finding))


@final
@frozen
class BestAccountant(Accountant):
    """Asks several accountants; the smallest upper end wins, and the largest proven lower end stands beside it.

    All bounds are about the same number, so any two of them hold together. Where a lossless accountant comes as near to
    what the pairs lose, which nobody can undercut, as these call settled (2^-20, or 2^-10 for very many different
    steps), the others are asked only when the comparison is looked at;
    so is one of which it is known sooner that its bound is larger than a lossless accountant's.

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
        """Bound ε at δ; None where nothing finite follows in any notion."""
        # without a δ every accountant is quick, and the simplest is stated
        return self._best(_Question(pairs, True, delta), settled=delta.lower > 0)

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """Bound δ at ε; None where nothing follows in any notion."""
        return self._best(_Question(pairs, False, epsilon), settled=True)

    def by_direction(self, pair: Pair) -> Mapping[Direction, DeltaLaw] | None:
        """What the first knows that knows the pair from both sides."""
        found = (accountant.by_direction(pair) for accountant in self.asked)
        return next((laws for laws in found if laws is not None), None)

    def _best(self, question: _Question, *, settled: bool) -> Finding | None:
        """The smallest upper end; a number beyond what one accountant can compute is left to the others.

        Args:
            question: what an accountant is asked.
            settled: whether a lossless accountant may settle it alone.

        Raises:
            OutsideDomain: where such a number left nothing.
        """
        everyone = _Inquiry(self.asked, question)
        known: Fraction | None = None
        if settled:
            for accountant in self.asked:
                first = everyone.finding_of(accountant) if accountant.lossless else None
                if isinstance(first, Finding):
                    if first.bounds.sharp:
                        return evolve(first, everyone=everyone)
                    known = first.upper if known is None else min(known, first.upper)
        beaten = [one for one in self.asked if known is not None and question.least(one) > known]
        answers = [everyone.finding_of(one) for one in self.asked if one not in beaten]
        found = [answer for answer in answers if isinstance(answer, Finding)]
        if not found:
            for answer in map(everyone.finding_of, self.asked):
                if isinstance(answer, OutsideDomain):
                    raise answer
            return None
        winner = min(found, key=_rank)
        lower = [answer.bounds.enclosure.lower for answer in found if answer.bounds.two_sided]
        if not lower:
            return evolve(winner, everyone=everyone)
        upper = winner.bounds.enclosure
        both = Enclosure.between(max(lower), upper.upper, precision=upper.precision)
        return evolve(winner, bounds=Bounds(both, two_sided=True), everyone=everyone)


BEST = BestAccountant()


def _rank(finding: Finding) -> tuple[Fraction, bool]:
    return finding.upper, not finding.bounds.two_sided
