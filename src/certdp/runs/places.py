"""Which records each release of a run sees: their places alone, for loops that hold the records themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.expressions import variables
from ..accounting.filters.spending import SpendingState
from ..accounting.relations import ADD_REMOVE
from ..accounting.sampling.batches import BatchRate
from ..accounting.sampling.records import Features, Indices, Realisation
from ..accounting.sampling.releases import Releases
from ..plugins.contract import Coins, LabelledStrata
from ..plugins.contract.coins import release_coins
from ..plugins.contract.draw import chosen_places
from .allocated import AllocatedRun
from .sampled import SampledRun
from .stratified import StratifiedRun


@final
class DrawnBatches(SpendingState):
    """The places of the records of each batch, handed out once: for others nothing was paid.

    Raises:
        InvalidValue: once batches are asked for a second time. SecondAccount: in a forked process, and for a copy.
    """

    def __init__(self, batches: Iterator[Indices], steps: int) -> None:
        self._batches = batches
        self._begun = False
        self._steps = steps

    def __len__(self) -> int:
        return self._steps

    def __iter__(self) -> Iterator[Indices]:
        # a generator, so that asking for it alone, as loaders with workers do twice, begins nothing
        with self._own():
            if self._begun:
                remedy = "Declare as many releases as the training has steps, and go through them in one loop"
                raise InvalidValue(
                    "batches", f"more than {self._steps}", f"the run's {self._steps} batches, once", remedy
                )
            self._begun = True
        while True:
            with self._own():
                places = next(self._batches, None)
            if places is None:
                return
            yield places


def drawn_places(
    run: SampledRun[Any] | AllocatedRun | StratifiedRun,
    size: int,
    *,
    labels: ArrayLike | None = None,
    coins: Coins | None = None,
) -> DrawnBatches:
    """The places of the records that each release of a run sees, drawn as its own `release` draws them.

    Args:
        run: says how batches are drawn, and how many there are.
        size: the number of records, at least 1.
        labels: (n,) the public label of each record, where strata are told apart by labels.
        coins: the operating system's unless given; batches of seeded coins are not private.

    Returns:
        One array per release, empty ones among them, once; the first is drawn when it is asked for.

    Raises:
        InvalidType, InvalidValue: at once, for a size or labels that the run is not declared for, for rates that depend
            on norms of records, for weighted samples, and for shuffled answers of local randomisers.
    """
    return DrawnBatches(_places(run, whole("size", size, 1), labels, release_coins(coins)), run.steps)


@singledispatch
def _places(run: Any, size: int, labels: ArrayLike | None, coins: Coins) -> Iterator[Indices]:
    raise InvalidType("run", run, "a SampledRun, an AllocatedRun or a StratifiedRun")


@_places.register
def _(run: SampledRun, size: int, labels: ArrayLike | None, coins: Coins) -> Iterator[Indices]:
    _require_no_labels(labels)
    name = run.sampler.about.name
    if any(map(variables, run.drawing.features)):
        remedy = "The probability depends on records, which are not looked at here: draw by poisson"
        raise InvalidValue("sampler", name, "a sampler with a constant rate", remedy)
    match run.drawing:
        case BatchRate(batches):
            if batches.base_relation != ADD_REMOVE:
                remedy = "It covers answers of local randomisers: of sums draw batches by shuffled-batches"
                raise InvalidValue("sampler", name, "a sampler of batches for sums", remedy)
            batches.require_size_for(run.relation, size)
    return _each(run.releases, _unweighted(run.drawing.realise(_none(size)), name), size, coins)


@_places.register
def _(run: AllocatedRun, size: int, labels: ArrayLike | None, coins: Coins) -> Iterator[Indices]:
    _require_no_labels(labels)
    run.sampler.epoch.require_size(size)
    return (places for _ in range(run.epochs) for places in run.sampler.epoch.members(size, coins))


@_places.register
def _(run: StratifiedRun, size: int, labels: ArrayLike | None, coins: Coins) -> Iterator[Indices]:
    strata, name = run.sampler.strata, run.sampler.about.name
    match strata:
        case LabelledStrata():
            found = run.realised(_none(size), strata.places(_none(size).records, labels))
            return _each(run.releases, _unweighted(found, name), size, coins)
    remedy = "The stratum depends on records, which are not looked at here: give labels"
    raise InvalidValue("sampler", name, "strata by label", remedy)


def _require_no_labels(labels: ArrayLike | None) -> None:
    if labels is not None:
        raise InvalidType("labels", labels, "nothing, for a run without strata", "Leave them out")


def _none(size: int) -> Features:
    """So many records of no columns: a constant rate does not look at them."""
    return Features(np.empty((size, 0)))


def _unweighted(realisation: Realisation, name: str) -> Realisation:
    if (realisation.weight[realisation.probability > 0] != 1).any():
        raise InvalidValue("sampler", name, "a sampler without weights", "A loader hands out records alone")
    return realisation


def _each(releases: Releases, realisation: Realisation, size: int, coins: Coins) -> Iterator[Indices]:
    return releases.samples(lambda: chosen_places(realisation, size, coins))
