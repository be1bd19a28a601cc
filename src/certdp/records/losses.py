"""What a run loses about each record of a data set, for its owner: ψ, ε at a δ, or τ at a Rényi order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.guarantees import require
from ..accounting.provenance import Private, Public
from ..accounting.sampling.clipping import Outside
from ..data import Records
from ..runs.sampled import SampledRun
from .chunks import Pass, Progress
from .laws import At, law_of
from .statistics import DEFAULT_GRID, LossHistogram, Sink

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@final
@frozen(kw_only=True, eq=False)
class RecordLosses:
    """What a data set's owner may know about the losses of its records: not for publication.

    Attributes:
        records: number of records, those outside the domain included.
        outside: number of records that were clipped or dropped.
        expected_sample_size: lower and upper end of Σ q(x).
        largest: largest certified loss over all records.
        quantiles: certified loss of the record at some levels, or of the next above, over the records that were not
            dropped; none where the losses are not held.
        histogram: how many losses lie in each cell of a public grid, of all records.
    """

    records: int
    outside: int
    expected_sample_size: tuple[float, float]
    largest: float
    quantiles: Mapping[float, float]
    histogram: LossHistogram = field(repr=False)
    _values: Floats | None = field(alias="values", repr=False)

    @property
    def values(self) -> Floats:
        """Certified losses of all records, in order: float64 (n,).

        Raises:
            InvalidValue: where they went elsewhere and are not held.
        """
        if self._values is None:
            raise InvalidValue("values", "losses that went into a sink", "losses that are held", "Leave `into` out")
        return self._values


def record_losses(
    run: SampledRun[Any],
    records: ArrayLike | Records,
    outside: Outside = Outside.CLIP,
    *,
    at: At = None,
    grid: Public[Sequence[float]] = DEFAULT_GRID,
    into: Sink | None = None,
    rows: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Private[RecordLosses]:
    """What the whole run loses about every record of a data set, certified.

    Args:
        run: the run, with or without a public domain.
        records: matrix (n, d) of finite numbers; or what `open_records` gives, which is read chunk by chunk.
        outside: what happens to records outside the run's domain; a dropped one loses what released parameters cost.
        at: a δ for ε, a Rényi order for τ, or None for ψ. None, for a run whose weights are solved for a target, is the
            loss in the notion of the target.
        grid: public losses between which records are counted.
        into: takes the losses of all records, in order, in place of holding them: see `losses_file`. Memory then is
            that of a chunk.
        rows: records at a time; the result is the same for any number.
        threads: threads for the bulk kernels; the result is the same for any number.
        progress: called with the number of records done.

    Guarantees: for a loss v, the outputs of the run with and without the record are v-close (at a δ, (v, δ)-close; at
    an order, within a Rényi divergence of v), in both directions; 0 where it is never drawn. What released parameters
    cost is contained.

    Raises:
        ExPost: where the losses move with a released value; ask about `run.as_it_came_out` for a reading.
        NoPureValue: for ψ of a mechanism without a pure ε.
        NotionAbsent: for a mechanism whose loss gives no bound in bulk.
        InvalidValue: for an empty matrix, or one of another dimension than the domain's.
    """
    require("run", run, SampledRun, "Build one: SampledRun(mechanism=…, sampler=…)")
    law = law_of(run, at, threads=threads)
    over = Pass(run, records, outside, law, rows=rows, progress=progress)
    histogram = LossHistogram.of((), grid)
    held: list[Floats] = []
    kept: list[Floats] = []
    for chunk in over:
        every = chunk.every_loss
        histogram += LossHistogram.of(every, grid)
        if into is None:
            held.append(every)
            kept.append(chunk.losses)
        else:
            into(every)
    return Private(
        RecordLosses(
            records=over.records,
            outside=over.outside,
            expected_sample_size=over.expected_sample_size,
            largest=over.largest,
            quantiles=_quantiles(kept),
            histogram=histogram,
            values=np.concatenate(held) if held else None,
        )
    )


def _quantiles(parts: Sequence[Floats]) -> dict[float, float]:
    losses = np.concatenate(parts) if parts else np.empty(0)
    if not losses.size:
        return {}
    return {level: float(np.quantile(losses, level, method="higher")) for level in _QUANTILES}
