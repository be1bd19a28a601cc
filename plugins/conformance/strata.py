"""Laws of samplers that draw public strata at rates of their own."""

from __future__ import annotations

from itertools import islice
from typing import final

import numpy as np
from attrs import frozen

from ..contract import Case, Finding
from ..contract import Strata as DeclaredStrata
from .constants import Setup
from .law import Law, broken, kept
from .plugin_laws import of_setups

_RECORDS = np.array([[0.0, 0.0], [0.25, 0.0], [1.0, -1.0], [3.0, 4.0], [0.0, 1e6]])


@final
@frozen(eq=False)
class StrataSubject:
    """A sampler by strata.

    Attributes:
        setups: public constants to try it with.
    """

    setups: tuple[Setup, ...]


def _states(_: StrataSubject, case: Case) -> Finding:
    """There are strata, and the same whenever they are asked for."""
    setup: Setup = case["constants"]
    sampler = setup.build()
    found = sampler.strata
    if not isinstance(found, DeclaredStrata):
        return broken(repr(found), "a Strata")
    again = setup.build().strata
    return kept() if again == found == sampler.strata else broken(repr(again), repr(found))


def _places(_: StrataSubject, case: Case) -> Finding:
    """Every record has one of the strata, and the same whatever the others are."""
    setup: Setup = case["constants"]
    strata = setup.build().strata
    names = list(strata.samplers)
    few = np.resize(np.array(names), max(len(names), len(_RECORDS)))
    records = np.resize(_RECORDS, (len(few), 2))
    for labels in (None, few):
        try:
            found = strata.places(records, labels)
        except (TypeError, ValueError):  # the other half of the strata there are take it
            continue
        turned = strata.places(records[::-1], None if labels is None else labels[::-1])[::-1]
        inside = found.shape == (len(records),) and all(0 <= place < len(names) for place in found.tolist())
        if not inside or found.tolist() != turned.tolist():
            return broken(repr(found.tolist()), f"numbers below {len(names)}, in whichever order records come")
        return kept()
    return broken(", ".join(islice(names, 4)), "strata that take records with their labels, or records alone")


LAWS: tuple[Law[StrataSubject], ...] = (
    Law(
        name="strata",
        says="the strata are stated, the same each time",
        cases=of_setups,
        examine=_states,
    ),
    Law(
        name="places",
        says="every record has a stratum of its own, whatever the others are",
        cases=of_setups,
        examine=_places,
    ),
)
