"""Weights of records that stream: what each is drawn with, for the data's owner, in the memory of one chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from ..accounting.errors import InvalidValue
from ..accounting.feasible_weights import Reach, counted
from ..accounting.guarantees import require
from ..accounting.provenance import Private
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.records import Realisation
from ..data import Records
from ..durable.files import Publication, Rank, published, writing
from ..plugins.contract import Coins, WeightedSample
from ..plugins.contract.draw import draw_from
from ..runs.sampled import SampledRun
from .chunks import Pass, Progress
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
    progress: Progress | None = None,
) -> Private[RecordWeights]:
    """Probability and weight of every record, as `run` would draw it, in the memory of one chunk.

    Args:
        run: the run, with or without a public domain.
        records: matrix (n, d) of finite numbers; or what `open_records` gives, which is read chunk by chunk.
        outside: what happens to records outside the run's domain; a dropped one has probability 0 and weight inf.
        at: which loss is proven beside: see `record_losses`.
        into: takes what is drawn of each record, in order: see `weights_file`.
        coins: where given, a sample is drawn with them; it is held in memory.
        rows: records at a time; the result is the same for any number.
        progress: called with the number of records done.

    Guarantees:
        The certified loss of the run, for the probability and weight of each record; they depend on that record and
        public constants alone. A sample is drawn with exactly these probabilities.

    Raises:
        ExPost: where the losses move with a released value.
        NoPureValue: for ψ of a mechanism without a pure ε: state a δ or an order.
        InvalidValue: for faults in the file, a dimension that is not the records', and records that cannot be drawn.
    """
    require("run", run, SampledRun, "Build one: SampledRun(mechanism=…, sampler=…)")
    over = Pass(run, records, outside, law_of(run, at), rows=rows, progress=progress)
    gap: float | None = None
    reach: Counter[Reach] | None = None
    drawn: list[WeightedSample] = []
    for chunk in over:
        realisation = chunk.realisation
        if realisation.gap is not None:
            gap = max(gap or 0.0, realisation.gap)
        if realisation.reach is not None:
            reach = (reach or Counter()) + Counter(counted(realisation.reach))
        if coins is not None:
            drawn.append(draw_from(chunk.held.features, realisation, coins))
        if into is not None:
            into(chunk.every_realisation)
    return Private(
        RecordWeights(
            records=over.records,
            outside=over.outside,
            expected_sample_size=over.expected_sample_size,
            largest_loss=over.largest,
            gap=gap,
            reach=reach,
            sample=_joined(drawn) if drawn else None,
        )
    )


def _joined(samples: list[WeightedSample]) -> WeightedSample:
    return WeightedSample(
        np.concatenate([sample.records for sample in samples]), np.concatenate([sample.weights for sample in samples])
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
