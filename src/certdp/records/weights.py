"""Weights of records that stream: what each is drawn with, for the data's owner, in the memory of one chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Protocol, Self, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ..accounting.errors import InvalidValue
from ..accounting.feasible_weights import REACHES, Reach, counted
from ..accounting.guarantees import require
from ..accounting.provenance import Private
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.records import Realisation
from ..accounting.stored import Json, is_vector
from ..data import Records
from ..durable.files import Publication, Rank, published, writing
from ..plugins.contract import Coins, WeightedSample
from ..plugins.contract.draw import draw_from, joined_samples
from ..runs.partial import Packed, Part, merged
from ..runs.sampled import SampledRun
from .chunks import FACTS, Chunk, Progress, Tally, are_facts, chunks, facts_of, require_whole, whole_or_part
from .laws import At, law_of

Sink: TypeAlias = Callable[[Realisation], None]
"""Takes the weights and probabilities of the next records, in order."""


@final
@frozen(kw_only=True, eq=False)
class RecordWeights:
    """What a data set's owner may know about the weights of its records: not for publication.

    Attributes:
        records: number of records, those outside the domain included.
        outside: number of records that were clipped or dropped.
        expected_sample_size: lower and upper end of Σ q(x).
        largest_loss: largest certified loss over the records: ψ, or ε at the δ or τ at the order of the target.
        gap: a bound of the relative distance of each weight to the largest feasible one, or to the first crossing
            (see `reach`), over the records whose weight no cap limits; inf where none is known, None for a sampler
            that does not aim at the largest. Proven but for a Gaussian sum on several samples or at an order.
        reach: how many of the records kept have their weight with which proof; None for a sampler that does not aim at
            the largest.
        sample: the records drawn, held within the domain, with their weights; None where none was asked for.
    """

    records: int
    outside: int
    expected_sample_size: tuple[float, float]
    largest_loss: float
    gap: float | None
    reach: Mapping[Reach, int] | None
    sample: WeightedSample | None = field(repr=False)


def record_weights(
    run: SampledRun[Any],
    records: ArrayLike | Records,
    outside: Outside = Outside.CLIP,
    *,
    at: At = None,
    into: Sink | None = None,
    coins: Coins | None = None,
    rows: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Private[RecordWeights]:
    """Probability and weight of every record, as `run` would draw it, in the memory of a chunk.

    Args:
        run: the run, with or without a public domain.
        records: matrix (n, d) of finite numbers; or what `open_records` gives, which is read chunk by chunk.
        outside: what happens to records outside the run's domain; a dropped one has probability 0 and weight inf.
        at: which loss is proven beside: see `record_losses`.
        into: takes what is drawn of each record, in order: see `weights_file`.
        coins: where given, a sample is drawn with them; it is held in memory.
        rows: records at a time; the result is the same for any number.
        threads: how many work on chunks, of which 2 · threads + 2 are in memory then; the result is the same for any
            number.
        progress: called with the number of records done.

    Guarantees:
        The certified loss of the run, for the probability and weight of each record; they depend on that record and
        public constants alone. A sample is drawn with exactly these probabilities.

    Raises:
        ExPost: where the losses move with a released value.
        NoPureValue: for ψ of a mechanism without a pure ε: state a δ or an order.
        InvalidValue: for faults in the file, a dimension that is not the records', and records that cannot be drawn.
    """
    part = WeightsPart.of(
        run, records, outside, at=at, into=into, coins=coins, rows=rows, threads=threads, progress=progress
    )
    return part.finish(run)


@final
@frozen(kw_only=True, eq=False)
class _WeightsState:
    """What was computed of some records.

    Attributes:
        tally: what was counted of them.
        gap: as in `RecordWeights`.
        reach: as in `RecordWeights`.
        sample: the records drawn, in pieces.
    """

    tally: Tally
    gap: float | None = None
    reach: Mapping[Reach, int] | None = None
    sample: tuple[WeightedSample, ...] = ()

    def __add__(self, later: _WeightsState) -> _WeightsState:
        gaps = [gap for gap in (self.gap, later.gap) if gap is not None]
        reaches = [Counter(reach) for reach in (self.reach, later.reach) if reach is not None]
        return _WeightsState(
            tally=self.tally + later.tally,
            gap=max(gaps, default=None),
            reach=sum(reaches, Counter()) if reaches else None,
            sample=self.sample + later.sample,
        )

    def to_packed(self) -> Packed:
        """All of it, for the bytes of a part."""
        numbers, arrays = self.tally.to_packed()
        arrays = {**arrays, "gap": np.array([] if self.gap is None else [self.gap])}
        if self.reach is not None:
            arrays["reach"] = np.array([self.reach.get(reach, 0) for reach in REACHES], dtype=np.int64)
        if self.sample:
            arrays["records"] = np.concatenate([piece.records for piece in self.sample])
            arrays["weights"] = np.concatenate([piece.weights for piece in self.sample])
        return numbers, arrays

    def agrees(self, facts: Json) -> bool:
        """Whether it may be what parts with these facts hold."""
        drawn = all(piece.records.shape[1] == facts["columns"] for piece in self.sample)
        kinds = ("drawn",) if self.sample else ("drawn", "none")  # of no records no sample is drawn
        return are_facts(facts) and drawn and facts["sample"] in kinds

    @classmethod
    def from_packed(cls, numbers: Json, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The state that `to_packed` gave.

        Raises:
            InvalidValue: for arrays that are not of one number of records.
        """
        tally, reach, records = Tally.from_packed(numbers, arrays), arrays.get("reach"), arrays.get("records")
        require_whole(is_vector(arrays["gap"], "f8") and len(arrays["gap"]) <= 1 and bool((arrays["gap"] >= 0).all()))
        gap: list[float] = arrays["gap"].tolist()
        if reach is not None:
            require_whole(bool((reach >= 0).all()) and sum(reach.tolist()) <= tally.kept)
        sample = () if records is None else (WeightedSample(records, arrays["weights"]),)
        require_whole(all(len(piece) <= tally.kept for piece in sample))
        return cls(
            tally=tally,
            gap=gap[0] if gap else None,
            reach=None if reach is None else {r: n for r, n in zip(REACHES, reach.tolist(), strict=True) if n},
            sample=sample,
        )


@final
class WeightsPart(Part[_WeightsState]):
    """Weights of some of the records of a data set: a part of what `record_weights` gives, made by `of`.

    `one + other` is the part over the records of `one` and then those of `other`. Private: see `certdp.parts.Part`.
    """

    __slots__ = ()
    form = "certdp-weights-part/1"
    holds = _WeightsState
    facts: ClassVar[Mapping[str, Any]] = {**FACTS, "sample": str}

    @classmethod
    def of(
        cls,
        run: SampledRun[Any],
        records: ArrayLike | Records,
        outside: Outside = Outside.CLIP,
        *,
        at: At = None,
        into: Sink | None = None,
        coins: Coins | None = None,
        rows: int | None = None,
        threads: int = 1,
        first: int = 0,
        progress: Progress | None = None,
    ) -> Self:
        """The part over these records.

        Args:
            run, outside, at, into, rows, threads, progress: as for `record_weights`.
            records: matrix (n, d) of finite numbers, n ≥ 0; or what `open_records` gives.
            coins: where given, a sample of these records is drawn with them, now: each part of a data set has coins of
                its own, and is made once.
            first: number of the first record in the data set, for messages to its curator.

        Guarantees: what is computed of a record depends on that record and public constants alone, so however a data
            set is cut into parts, their sum gives the same result, bit for bit. A sample is one of the same law.

        Raises:
            InvalidValue and others as `record_weights`, but for a matrix without records.
        """
        require("run", run, SampledRun, "Build one: SampledRun(mechanism=…, sampler=…)")
        law, some = law_of(run, at), whole_or_part(records)
        facts = {**facts_of(run, some, outside, at), "sample": "drawn" if coins is not None else "none"}

        def part(chunk: Chunk | None) -> Self:
            if chunk is None:
                return cls(facts, Private(_WeightsState(tally=Tally())))
            realisation = chunk.realisation
            state = _WeightsState(
                tally=chunk.tally,
                gap=realisation.gap,
                reach=None if realisation.reach is None else counted(realisation.reach),
                sample=() if coins is None else (draw_from(chunk.held.features, realisation, coins),),
            )
            if into is not None:
                into(chunk.every_realisation)
            return cls(facts, Private(state))

        every_chunk = chunks(run, some, outside, law, rows=rows, first=first, progress=progress, threads=threads)
        return merged(map(part, chain((None,), every_chunk)))

    @property
    def records(self) -> int:
        """How many records it is of."""
        return self._state.reveal().tally.records

    def finish(self, run: SampledRun[Any]) -> Private[RecordWeights]:
        """What `record_weights` gives for all the records of the parts added up, bit for bit but for the sample.

        Args:
            run: the run of the parts.

        Raises:
            InvalidType, InvalidValue: for another run, and for parts without any record.
        """
        self.require_of(run)
        state = self._state.reveal()
        state.tally.require_some(self._facts["columns"])
        return Private(
            RecordWeights(
                records=state.tally.records,
                outside=state.tally.outside,
                expected_sample_size=state.tally.expected_sample_size(run.drawing.rounding),
                largest_loss=state.tally.largest,
                gap=state.gap,
                reach=state.reach,
                sample=joined_samples(state.sample) if state.sample else None,
            )
        )


class _Format(Protocol):
    """Writes weights to a stream."""

    def __init__(self, stream: BinaryIO) -> None: ...

    def put(self, realisation: Realisation) -> None:
        """Write the next records."""
        ...

    def end(self) -> None:
        """Write what follows the last record."""
        ...


@final
class _CommaSeparated:
    """Numbers as the shortest decimals that give them back."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        stream.write(b"weight,probability\n")

    def put(self, realisation: Realisation) -> None:
        pairs = zip(realisation.weight.tolist(), realisation.probability.tolist(), strict=True)
        self._stream.write("".join(f"{weight!r},{probability!r}\n" for weight, probability in pairs).encode("ascii"))

    def end(self) -> None:
        """Write nothing after the last record."""


@final
class _Parquet:
    """Two columns of doubles, a row group for each chunk."""

    def __init__(self, stream: BinaryIO) -> None:
        try:
            import pyarrow
            from pyarrow.parquet import ParquetWriter
        except ImportError:
            raise InvalidValue(
                "output", "a Parquet file", "csv in this installation", "pip install 'certdp[parquet]'"
            ) from None
        self._pyarrow: Any = pyarrow
        self._schema = pyarrow.schema([(name, pyarrow.float64()) for name in ("weight", "probability")])
        self._writer = ParquetWriter(stream, self._schema, use_dictionary=False)

    def put(self, realisation: Realisation) -> None:
        columns = [self._pyarrow.array(values) for values in (realisation.weight, realisation.probability)]
        self._writer.write_table(self._pyarrow.table(columns, schema=self._schema))

    def end(self) -> None:
        self._writer.close()


_FORMATS: dict[str, type[_Format]] = {".csv": _CommaSeparated, ".parquet": _Parquet}


def require_weights_path(path: Path) -> None:
    """Refuse a name that says no format of weights.

    Raises:
        InvalidValue: for any but csv and parquet.
    """
    if path.suffix.lower() not in _FORMATS:
        raise InvalidValue("output", str(path), f"a file ending in {' or '.join(_FORMATS)}", "Choose another name")


@contextmanager
def weights_file(path: Path) -> Iterator[Sink]:
    """Write weights to a file with the columns weight and probability, a row per record, readable by the owner alone.

    Numbers read back are the same binary64 numbers. The file appears when the context ends; after an exception, not at
    all.

    Raises:
        InvalidValue: for an unknown ending, and where the file cannot be written.
    """
    with published() as files, put_weights(files, path) as put:
        yield put


@contextmanager
def put_weights(files: Publication, path: Path) -> Iterator[Sink]:
    """Write weights as `weights_file` does, among other files, with which they appear."""
    require_weights_path(path)
    stream = files.stream(path, Rank.RECORD, secret=True)
    with writing(path):
        written = _FORMATS[path.suffix.lower()](stream)

    def put(realisation: Realisation) -> None:
        with writing(path):
            written.put(realisation)

    try:
        yield put
    finally:
        with writing(path):
            written.end()
