"""What releases on samples lose about each record of a data set, for its owner: ε at a δ, or τ at a Rényi order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..accounting.bulk.pairs import BulkPairs
from ..accounting.directions import Direction
from ..accounting.enclosures import Enclosure
from ..accounting.exact import Number
from ..accounting.expressions import Expression, Rounded, Variable, W, upper
from ..accounting.expressions.floats import Floats
from ..accounting.pairs import RandomisedResponsePair
from ..accounting.provenance import Private
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.drawing import StatedRate
from ..accounting.sampling.records import Features, Realisation
from ..accounting.sampling.releases import ResampleEach, SampleOnce
from ..accounting.units import Delta, Order
from ..runs.prepared import matrix_within
from ..runs.sampled import declared_loss, declared_rate
from ..runs.sampled_releases import NotionAbsent, SampledReleases
from .losses import Measurement, measured

_CHUNK = 1 << 17
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_SUM_MARGIN = Fraction(1, 2**45)
_PRECISION = 96

_Law: TypeAlias = Callable[[BulkPairs, Floats, int], Floats]
"""Bounds per record, from the pairs on one sample, the rates and the number of fresh samples."""


def epsilon_per_record(
    releases: SampledReleases,
    delta: Delta | Number,
    records: ArrayLike,
    outside: Outside = Outside.CLIP,
    *,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Private[Measurement]:
    """Certified ε at δ of every record of a data set: what the whole run loses about that record, ψ at this δ.

    Args:
        releases: the run.
        delta: δ.
        records: matrix (n, d) of finite numbers.
        outside: what happens to records outside the run's domain.
        threads: threads for the bulk kernels; the result is the same for any number.
        progress: called with the number of records done.

    Guarantees: the outputs of the run with and without a record are (v, δ)-close for its value v, in both directions; 0
    where the record is never drawn. What released parameters cost is contained.

    Raises:
        ExPost: where the losses move with a released value; ask about `releases.as_it_came_out` for a reading.
        NotionAbsent: for a mechanism whose loss gives no bound in bulk.
        InvalidValue: for an empty matrix, or one of another dimension than the domain's.
    """
    delta = Delta.of(delta)
    target = Enclosure.of(delta.value).lower_float  # ε falls with δ

    def law(pairs: BulkPairs, rate: Floats, steps: int) -> Floats:
        return pairs.epsilon(rate, steps, target, threads=threads)

    return _measured(releases, law, releases._cost, records, outside, progress)


def renyi_per_record(
    releases: SampledReleases,
    order: Order | Number,
    records: ArrayLike,
    outside: Outside = Outside.CLIP,
    *,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Private[Measurement]:
    """Certified τ(α) of every record of a data set: the Rényi divergence of the run's outputs with and without it.

    Arguments, guarantees and errors are those of `epsilon_per_record`, with a Rényi order in place of δ.
    """

    order = Order.of(order)

    def law(pairs: BulkPairs, rate: Floats, steps: int) -> Floats:
        one = pairs.renyi(rate, order.value, threads=threads)
        return one if steps == 1 else np.nextafter(one * float(steps), np.inf, where=one > 0, out=np.zeros(len(one)))

    spent = RandomisedResponsePair(releases._cost).renyi(order.value, Direction.REMOVE)
    return _measured(releases, law, spent, records, outside, progress)


def _measured(
    releases: SampledReleases,
    law: _Law,
    spent: Enclosure,
    records: ArrayLike,
    outside: Outside,
    progress: Callable[[int], None] | None,
) -> Private[Measurement]:
    releases.require_losses_fixed()
    rate = StatedRate(declared_rate(releases.sampler))

    def losses(realisation: Realisation, features: Features) -> Floats:
        return _losses(releases, law, realisation, features)

    matrix = matrix_within(records, releases.domain)
    return measured(matrix, releases.domain, outside, rate, losses, spent=spent.upper, progress=progress)


def _losses(releases: SampledReleases, law: _Law, realisation: Realisation, features: Features) -> Floats:
    weights = np.where(realisation.probability > 0, realisation.weight, 1.0)

    def at(index: int) -> Mapping[Variable, Enclosure]:
        weight = Enclosure.of(float(weights[index]), precision=_PRECISION)
        return {**features.enclosures(index), W: weight}

    def read(root: Expression) -> Floats:
        known = {W: Rounded(weights, 0, np.ones(len(features), dtype=np.bool_)), **features.rounded(root)}
        return upper(root, known, len(features), at)

    pairs = declared_loss(releases.mechanism).bulk_pairs(read)
    if pairs is None:
        raise NotionAbsent(
            "mechanism",
            releases.mechanism.about.name,
            "a mechanism whose loss has bounds for many records",
            "A family of a plugin's own has them where it states a pure loss",
        )
    match releases.releases:
        case SampleOnce(steps):
            return law(pairs.repeated(steps), realisation.probability, 1)
        case ResampleEach(steps):
            return law(pairs, realisation.probability, steps)
