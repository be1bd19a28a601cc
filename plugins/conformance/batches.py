"""Laws of samplers that put every record in as many batches of each epoch."""

from __future__ import annotations

from typing import final

from attrs import frozen

from ..contract import Case, Epoch, Finding
from .constants import Setup
from .law import Law, broken, kept
from .plugin_laws import of_setups


@final
@frozen(eq=False)
class BatchesSubject:
    """A sampler of batches.

    Attributes:
        setups: public constants to try it with.
    """

    setups: tuple[Setup, ...]


def _counts(_: BatchesSubject, case: Case) -> Finding:
    """An epoch has a whole number of batches, and is the same whenever it is asked for; records enter some of them."""
    setup: Setup = case["constants"]
    sampler = setup.build()
    found = sampler.epoch
    if not isinstance(found, Epoch) or type(found.number_of_batches) is not int or found.number_of_batches < 1:
        return broken(repr(found), "an Epoch of a whole number ≥ 1 of batches")
    if found.number_of_participations not in range(1, found.number_of_batches + 1):
        return broken(repr(found), "records that enter a whole number ≥ 1 of the batches")
    again = setup.build().epoch
    return kept() if again == found == sampler.epoch else broken(repr(again), repr(found))


LAWS: tuple[Law[BatchesSubject], ...] = (
    Law(
        name="batches",
        says="an epoch has a whole number of batches, at least 1, the same each time",
        cases=of_setups,
        examine=_counts,
    ),
)
