"""A run that somebody else describes: its pairs, and what they cost."""

from __future__ import annotations

from typing import final

from attrs import frozen

from ..accounted import Answer, Comparison, Interval, NotionAbsent
from ..accounting.accountants import BEST, Accountant, Bounds, Finding, WorstPairs
from ..accounting.derivation import Assumption, Derivation
from ..accounting.enclosures import DEFAULT_PRECISION, Enclosure
from ..accounting.guarantees import Guarantee, require
from ..accounting.notions import Approximate
from ..accounting.relations import RECORD, AddRemove, Replace
from ..accounting.units import Delta, Epsilon


@final
@frozen(kw_only=True)
class StatedRun:
    """A whole run, fixed beforehand, that another tool describes by the pairs of its releases.

    Attributes:
        pairs: they dominate the run; those reached are attained by some pair of neighbouring data sets.
        relation: the change of the data that guarantees protect against.
        derivation: what the description assumes.
    """

    pairs: WorstPairs
    relation: AddRemove | Replace
    derivation: Derivation

    def epsilon(self, delta: Delta, accountant: Accountant = BEST) -> Answer:
        """The smallest proven ε with which the run is (ε, δ)-DP.

        Raises:
            NotionAbsent: where nothing finite follows, as for a release that is not private.
        """
        require("delta", delta, Delta, "Write Delta(…) to read a number exactly")
        target = Enclosure.of(delta.value, precision=DEFAULT_PRECISION)
        found = accountant.epsilon(self.pairs, target)
        if found is None:
            raise NotionAbsent(
                "delta",
                str(delta),
                "a δ at which a finite ε follows",
                "A release without noise has none below its own δ; at δ = 0 a mechanism needs a pure ε",
            )
        return self._answer(found.bounds, Bounds(target, two_sided=True), found, delta)

    def delta(self, epsilon: Epsilon, accountant: Accountant = BEST) -> Answer:
        """The smallest proven δ with which the run is (ε, δ)-DP.

        Raises:
            NotionAbsent: where nothing follows in the accountant's notion.
        """
        require("epsilon", epsilon, Epsilon, "Write Epsilon(…) to read a number exactly")
        target = Enclosure.of(epsilon.value, precision=DEFAULT_PRECISION)
        found = accountant.delta(self.pairs, target)
        if found is None:
            raise NotionAbsent(
                "epsilon", str(epsilon), "an ε at which a δ follows", "Ask an accountant whose notion the releases have"
            )
        value = Bounds(found.bounds.enclosure.maximum(0).minimum(1), found.bounds.two_sided)
        return self._answer(Bounds(target, two_sided=True), value, found, epsilon)

    def _answer(self, epsilon: Bounds, delta: Bounds, found: Finding, asked: Delta | Epsilon) -> Answer:
        first, *then = found.theorems
        order = [] if found.order is None else [Assumption("order", str(found.order))]
        derivation = first.conclude([self.derivation], order)
        for theorem in then:
            derivation = theorem.conclude([derivation])
        return Answer(
            guarantee=Guarantee(
                bound=Approximate(epsilon.enclosure, delta.enclosure),
                relation=self.relation,
                unit=RECORD,
                derivation=derivation,
            ),
            epsilon=Interval.of(epsilon),
            delta=Interval.of(delta),
            accountant=found.accountant,
            composed_in=found.notion,
            order=found.order,
            compared=Comparison.of(found),
            asked=asked,
        )
