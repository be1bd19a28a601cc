"""What a planted fault is, and how the inputs of its audit are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np
from attrs import frozen

from ...accounting.accountants import LOSS_DISTRIBUTION, WorstPairs
from ...accounting.enclosures import Enclosure
from ...accounting.pairs import Pair
from ...accounting.sampling.records import Features, realise
from ...accounting.sampling.releases import Releases as Plan
from ...accounting.sampling.releases import ResampleEach
from ...accounting.units import Delta, Epsilon
from ...plugins.contract import Coins, Mechanism, Neighbours, Sampler
from ..audit import Releases, audited_releases

Inputs: TypeAlias = Callable[[Coins], tuple[Releases, Releases]]
"""The releases on two neighbouring inputs, with these coins."""


@final
@frozen(kw_only=True)
class Fault:
    """A mechanism that does not keep a claim, and the right form that does.

    Attributes:
        id: words joined by hyphens.
        says: what is wrong.
        claimed: the ε that the wrong form exceeds and the right form keeps.
        delta: the δ of the claim.
        wrong: releases of the wrong form.
        right: releases of the right form.
    """

    id: str
    says: str
    claimed: Epsilon
    delta: Delta
    wrong: Inputs
    right: Inputs


def sampled(mechanism: Mechanism, sampler: Sampler, neighbours: Neighbours, plan: Plan | None = None) -> Inputs:
    """A mechanism on samples of neighbouring inputs; one release unless a plan is given."""

    def inputs(coins: Coins) -> tuple[Releases, Releases]:
        def releases(records: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Releases:
            realisation = realise(sampler.rate, Features(records))
            return audited_releases(mechanism, records, realisation, plan or ResampleEach(1), coins)

        return releases(neighbours.first), releases(neighbours.second)

    return inputs


def epsilon_of(pair: Pair, delta: Delta) -> Epsilon:
    """The ε at δ of a dominating pair, in both directions, rounded up."""
    found = LOSS_DISTRIBUTION.epsilon(WorstPairs((pair,), ()), Enclosure.of(delta.value))
    assert found is not None
    return Epsilon(found.bounds.enclosure.upper)


ONE_RECORD = Neighbours.without_last([[1.0]], "a record 1, present and absent")
"""A record of norm 1, present and absent."""
