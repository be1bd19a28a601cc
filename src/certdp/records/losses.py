"""What a run loses about each record of a data set, for its owner: ψ, ε at a δ, or τ at a Rényi order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, Self, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.guarantees import require
from ..accounting.provenance import Private, Public
from ..accounting.sampling.clipping import Outside
from ..accounting.stored import Json, is_vector
from ..data import Records
from ..runs.partial import Packed, Part, merged
from ..runs.sampled import SampledRun
from .chunks import FACTS, Chunk, Progress, Tally, are_facts, chunks, facts_of, require_whole, whole_or_part
from .laws import At, law_of
from .statistics import DEFAULT_GRID, LossHistogram, Sink

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Of the quantiles that are stated."""


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
        threads: how many work on chunks, of which 2 · threads + 2 are in memory then; the result is the same for any
            number.
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
    part = LossesPart.of(
        run, records, outside, at=at, grid=grid, into=into, rows=rows, threads=threads, progress=progress
    )
    return part.finish(run)


@final
@frozen(kw_only=True, eq=False)
class _LossesState:
    """What was computed of some records.

    Attributes:
        tally: what was counted of them.
        histogram: of all losses.
        values: all losses in order, in pieces; None where they are not held.
        inside: per piece, which records were not dropped; None where none was.
    """

    tally: Tally
    histogram: LossHistogram
    values: tuple[Floats, ...] | None
    inside: tuple[NDArray[np.bool_] | None, ...]

    def __add__(self, later: _LossesState) -> _LossesState:
        return _LossesState(
            tally=self.tally + later.tally,
            histogram=self.histogram + later.histogram,
            values=None if self.values is None else (*self.values, *(later.values or ())),  # both or none, by the facts
            inside=(*self.inside, *later.inside),
        )

    @property
    def joined(self) -> tuple[Floats, Floats]:
        """The losses of all records, and of those that were not dropped; none where they are not held."""
        pieces = self.values or ()
        every = np.concatenate(pieces) if pieces else np.empty(0)
        if all(inside is None for inside in self.inside):
            return every, every
        kept = [piece if at is None else piece[at] for piece, at in zip(pieces, self.inside, strict=True)]
        return every, np.concatenate(kept)

    def to_packed(self) -> Packed:
        """All of it, for the bytes of a part."""
        numbers, arrays = self.tally.to_packed()
        arrays = {**arrays, "grid": np.array(self.histogram.grid), "cells": self.histogram.counts}
        if self.values is not None:
            every, _ = self.joined
            arrays["values"] = every
            if not all(inside is None for inside in self.inside):
                pairs = zip(self.values, self.inside, strict=True)
                arrays["inside"] = np.concatenate([np.ones(len(v), np.bool_) if i is None else i for v, i in pairs])
        return numbers, arrays

    def agrees(self, facts: Json) -> bool:
        """Whether it may be what parts with these facts hold."""
        kept = "in a sink" if self.values is None else "held"
        return are_facts(facts) and facts["grid"] == list(self.histogram.grid) and facts["losses"] == kept

    @classmethod
    def from_packed(cls, numbers: Json, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The state that `to_packed` gave.

        Raises:
            InvalidData: for arrays that are not of one number of records.
        """
        tally = Tally.from_packed(numbers, arrays)
        grid, cells, values, inside = arrays["grid"], arrays["cells"], arrays.get("values"), arrays.get("inside")
        known = LossHistogram.of((), Public(grid.tolist()))
        require_whole(is_vector(cells, "i8", len(known.counts)) and bool((cells >= 0).all()))
        require_whole(sum(cells.tolist()) == tally.records)
        if values is not None:
            require_whole(is_vector(values, "f8", tally.records))
            require_whole(bool(((values >= 0) & (values <= tally.largest)).all()))
            require_whole(inside is None or is_vector(inside, "b1", tally.records))
            require_whole(tally.kept == (tally.records if inside is None else np.count_nonzero(inside)))
        return cls(
            tally=tally,
            histogram=LossHistogram(known.grid, cells),
            values=None if values is None else (values,),
            inside=() if values is None else (inside,),
        )


@final
class LossesPart(Part[_LossesState]):
    """What a run loses about some of the records of a data set: a part of what `record_losses` gives, made by `of`.

    `one + other` is the part over the records of `one` and then those of `other`. Private: see `certdp.parts.Part`.
    """

    __slots__ = ()
    form = "certdp-losses-part/1"
    holds = _LossesState
    facts: ClassVar[Mapping[str, Any]] = {**FACTS, "grid": list, "losses": str}

    @classmethod
    def of(
        cls,
        run: SampledRun[Any],
        records: ArrayLike | Records,
        outside: Outside = Outside.CLIP,
        *,
        at: At = None,
        grid: Public[Sequence[float]] = DEFAULT_GRID,
        into: Sink | None = None,
        rows: int | None = None,
        first: int = 0,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> Self:
        """The part over these records.

        Args:
            run, outside, at, grid, into, rows, threads, progress: as for `record_losses`.
            records: matrix (n, d) of finite numbers, n ≥ 0; or what `open_records` gives.
            first: number of the first record in the data set, for messages to its curator.

        Guarantees: what is computed of a record depends on that record and public constants alone, so however a data
            set is cut into parts, their sum gives the same result, bit for bit.

        Raises:
            InvalidValue and others as `record_losses`, but for a matrix without records.
        """
        require("run", run, SampledRun, "Build one: SampledRun(mechanism=…, sampler=…)")
        law, some = law_of(run, at), whole_or_part(records)
        none = LossHistogram.of((), grid)
        facts = {
            **facts_of(run, some, outside, at),
            "grid": list(none.grid),
            "losses": "held" if into is None else "in a sink",
        }

        def part(chunk: Chunk | None) -> Self:
            if chunk is None:
                return cls(facts, Private(_LossesState(tally=Tally(), histogram=none, values=held, inside=())))
            every = chunk.every_loss
            if into is not None:
                into(every)
            state = _LossesState(
                tally=chunk.tally,
                histogram=LossHistogram.of(every, grid),
                values=(every,) if into is None else None,
                inside=(chunk.held.inside,) if into is None else (),
            )
            return cls(facts, Private(state))

        held = () if into is None else None
        every_chunk = chunks(run, some, outside, law, rows=rows, first=first, progress=progress, threads=threads)
        return merged(map(part, chain((None,), every_chunk)))

    def finish(self, run: SampledRun[Any]) -> Private[RecordLosses]:
        """What `record_losses` gives for all the records of the parts added up, bit for bit.

        Args:
            run: the run of the parts.

        Raises:
            InvalidType, InvalidValue: for another run, and for parts without any record.
        """
        self.require_of(run)
        state = self._state.reveal()
        state.tally.require_some(self._facts["columns"])
        every, kept = state.joined
        return Private(
            RecordLosses(
                records=state.tally.records,
                outside=state.tally.outside,
                expected_sample_size=state.tally.expected_sample_size(run.drawing.rounding),
                largest=state.tally.largest,
                quantiles=_quantiles(kept),
                histogram=state.histogram,
                values=None if state.values is None else every,
            )
        )


def _quantiles(losses: Floats) -> dict[float, float]:
    if not losses.size:
        return {}
    found = np.quantile(losses, LEVELS, method="higher")
    return dict(zip(LEVELS, found.tolist(), strict=True))
