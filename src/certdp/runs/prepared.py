"""Releases that were looked at whole before anything is paid or drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.private import HoldsRecords
from ..accounting.relations import REPLACE
from ..accounting.sampling.clipping import Outside, hold
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.records import Features, Realisation
from ..accounting.sampling.releases import Releases
from ..plugins.contract import Coins, KnowsAdmissible, Mechanism, Release, WeightedSample, as_records, draw_from
from ..plugins.contract.coins import release_coins


@final
@frozen(kw_only=True, eq=False, repr=False)
class Prepared(HoldsRecords):
    """Releases that only their draws are left of.

    Attributes:
        mechanism: what is released.
        releases: how many there are, on one sample or each on a fresh one.
        features: of the records, all within the domain.
        realisation: the probability and the weight of each.
        coins: the randomness.
    """

    mechanism: Mechanism
    releases: Releases
    features: Features
    realisation: Realisation
    coins: Coins

    def draw(self) -> list[Release]:
        """Draw one release per step: call it once, after paying."""
        return [self.mechanism.release(sample, self.coins) for sample in self.releases.samples(self.sample)]

    def sample(self) -> WeightedSample:
        """Draw a sample."""
        return draw_from(self.features, self.realisation, self.coins)


def prepared(
    mechanism: Mechanism,
    realise: Callable[[Features], Realisation],
    releases: Releases,
    records: ArrayLike,
    domain: NormBall | None,
    outside: Outside,
    coins: Coins | None,
    *,
    first: int = 0,
) -> Prepared:
    """Look at everything that a release could refuse; nothing is drawn for it.

    Args:
        mechanism: what is to be released.
        realise: the probability and the weight of each record.
        releases: how many there are to be.
        records: matrix (n, d) of finite numbers.
        domain: the public domain, or None where every record is used as it is.
        outside: what happens to records outside it.
        coins: the operating system's unless given.
        first: number of the first record in the data set, for messages to its curator.

    Raises:
        InvalidType, InvalidValue: for records, options and coins that are none, where the mechanism does not release
            from some sample of these records (it is asked about all that may be drawn), and where a private source of
            random words fails or repeats: it is asked for some, which are thrown away; and for records to be dropped
            where each has an answer of its own, whose absence would tell.
    """
    if outside is Outside.DROP and mechanism.about.relations[0] == REPLACE:
        remedy = f"Their number is no secret to {mechanism.about.name}, which covers replaced records: clip them"
        raise InvalidValue("outside", outside.value, Outside.CLIP.value, remedy)
    features = hold(matrix_within(records, domain), domain, outside, first=first).features
    realisation = realise(features)
    require_admissible(mechanism, features, realisation)
    used = release_coins(coins)
    return Prepared(
        mechanism=mechanism,
        releases=releases,
        features=features,
        realisation=realisation,
        coins=used,
    )


def require_admissible(mechanism: Mechanism, features: Features, realisation: Realisation) -> None:
    """Refuse records of which some sample is none that the mechanism releases from.

    Raises:
        InvalidValue: as the mechanism says.
    """
    if isinstance(mechanism, KnowsAdmissible):
        drawn = realisation.probability > 0
        some = slice(None) if drawn.all() else np.flatnonzero(drawn)
        mechanism.require(WeightedSample(features.records[some], realisation.weight[some]))


def matrix_within(records: ArrayLike, domain: NormBall | None) -> Floats:
    """The records of a data set, of the domain's dimension where it states one."""
    matrix = as_records(records)
    if domain is not None and domain.dimension not in (None, matrix.shape[1]):
        raise InvalidValue(
            "dimension",
            domain.dimension,
            f"{matrix.shape[1]}, the number of columns of the records",
            "Declare the domain for records of this shape",
        )
    return matrix
