"""A run that another tool describes."""

from __future__ import annotations

from functools import cached_property
from typing import final

from attrs import field, frozen

from ..accounting.accountants import WorstPairs
from ..accounting.derivation import Derivation
from ..accounting.enclosures import DEFAULT_PRECISION
from ..accounting.provenance import Payment
from ..accounting.relations import RECORD, Change
from ..runs.run import Run


@final
@frozen(kw_only=True)
class StatedRun(Run):
    """A whole run, fixed beforehand, by the pairs of its releases; ask it for ε at δ, δ at ε, or the loss in a notion.

    Args:
        pairs: they dominate the run; those reached are attained by some pair of neighbouring data sets.
        relation: the change of the data that guarantees protect against.
        derivation: what the description assumes.
        precision: working precision of proofs, in bits.
    """

    unit = RECORD

    _pairs: WorstPairs = field(alias="pairs")
    _relation: Change = field(alias="relation")
    _derivation: Derivation = field(alias="derivation")
    precision: int = DEFAULT_PRECISION

    @cached_property
    def pairs(self) -> WorstPairs:
        """The dominating pairs of the run, as stated."""
        return self._pairs

    @cached_property
    def relation(self) -> Change:  # type: ignore[override]
        """The neighbouring relation of the run, as stated."""
        return self._relation

    @cached_property
    def derivation(self) -> Derivation:
        """The derivation of the pairs, as stated."""
        return self._derivation

    @property
    def payments(self) -> tuple[Payment, ...]:
        """What was paid for released parameters: nothing, because the run has none."""
        return ()

    @property
    def named(self) -> tuple[str, str]:
        """The name of the run in reports: the event that was declared."""
        return "event", self.derivation.theorem.statement
