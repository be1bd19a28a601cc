"""Weights of records that stream: what each is drawn with, for the data's owner, in the memory of one chunk."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.errors import InvalidValue
from ..accounting.expressions.floats import Floats
from ..accounting.feasible_weights import Reach, counted
from ..accounting.provenance import Private
from ..accounting.sampling.clipping import Outside, hold
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.records import Realisation
from ..data import Records
from ..durable.files import Publication, Rank, published, writing
from ..plugins.contract import Coins, WeightedSample
from ..plugins.contract.draw import draw_from
from ..runs.constrained import ConstrainedReleases
from ..runs.prepared import matrix_within
from ..runs.sampled import SampledMechanism
from .losses import expected_size, plus_cost

_DIGITS = 29
_UNIT = 38 * _DIGITS  # every binary64 number is a multiple of 2^-1074

Run: TypeAlias = SampledMechanism | ConstrainedReleases
"""What is weighed: a run with a stated rate, or one with weights that are solved for."""

Sink: TypeAlias = Callable[[Realisation], None]
"""Takes the weights and probabilities of the next records, in order."""


@final
@frozen(kw_only=True, eq=False)
class Weighting:
    """What a data set's owner may know about the weights of its records: not for publication.

    Attributes:
        records: number of records, those outside the domain included.
        outside: number of records that were clipped or dropped.
        expected_sample_size: lower and upper end of Σ q(x).
        psi_max: largest certified loss over the records: ψ, ε at the δ, or τ at the order of the target.
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
    psi_max: float
    gap: float | None
    reach: Mapping[Reach, int] | None
    sample: WeightedSample | None = field(repr=False)


def weigh(
    run: Run,
    records: Records,
    domain: NormBall | None = None,
    outside: Outside = Outside.CLIP,
    *,
    into: Sink | None = None,
    coins: Coins | None = None,
    rows: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Private[Weighting]:
    """Probability and weight of every record, as `run` would draw it, chunk by chunk.

    Args:
        run: mechanism and sampler, and the plan of releases where weights are solved for several.
        records: what `open_records` gives, or `Records.of` a matrix.
        domain: the public domain, or None where there is none.
        outside: what happens to records outside it; a dropped one has probability 0 and weight inf.
        into: takes what is drawn of each record, in order: see `weights_file`.
        coins: where given, a sample is drawn with them; it is held in memory.
        rows: records at a time; the result is the same for any number.
        progress: called with the number of records done.

    Guarantees:
        The certified loss of the run, for the probability and weight of each record; they depend on that record and
        public constants alone. A sample is drawn with exactly these probabilities.

    Raises:
        ExPost: where the losses move with a released value.
        InvalidValue: for faults in the file, a dimension that is not the records', and records that cannot be drawn.
    """
    matrix_within(np.empty((0, records.columns)), domain)
    run.require_losses_fixed(domain)
    rate = run.drawing.on(domain)
    spent = run.spent(domain)
    total = _Total()
    done = moved = kept = 0
    psi_max, gap = 0.0, None
    reach: Counter[Reach] | None = None
    drawn: list[WeightedSample] = []
    for chunk in records.chunks(rows):
        held = hold(chunk, domain, outside, first=done)
        features = held.features
        realisation = rate.realise(features)
        bounds = run.losses(rate, realisation, features)
        psi_max = max(psi_max, float(bounds.max(initial=0.0)))
        total.add(realisation.probability)
        if realisation.gap is not None:
            gap = max(gap or 0.0, realisation.gap)
        if realisation.reach is not None:
            reach = (reach or Counter()) + Counter(counted(realisation.reach))
        if coins is not None:
            drawn.append(draw_from(features, realisation, coins))
        if into is not None:
            into(realisation if held.inside is None else _put_back(realisation, held.inside))
        done += len(chunk)
        kept += len(features)
        moved += held.outside
        if progress is not None:
            progress(done)
    return Private(
        Weighting(
            records=done,
            outside=moved,
            expected_sample_size=expected_size(rate.rounding, float(total.value), kept),
            psi_max=float(plus_cost(np.array([psi_max]), spent)[0]) if kept else 0.0,
            gap=gap,
            reach=reach,
            sample=_joined(drawn) if drawn else None,
        )
    )


def _put_back(realisation: Realisation, inside: NDArray[np.bool_]) -> Realisation:
    """What is drawn of all records of a chunk, where it is known of those within the domain."""
    probability, weight = np.zeros(len(inside)), np.full(len(inside), math.inf)
    probability[inside], weight[inside] = realisation.probability, realisation.weight
    return Realisation(probability, weight, realisation.gap)


def _joined(samples: list[WeightedSample]) -> WeightedSample:
    return WeightedSample(
        np.concatenate([sample.records for sample in samples]), np.concatenate([sample.weights for sample in samples])
    )


class _Total:
    """A sum of probabilities, exact: it does not depend on how they are cut into chunks."""

    def __init__(self) -> None:
        self._units = 0

    def add(self, probabilities: Floats) -> None:
        """Count at most 2^24 probabilities in, 29 binary digits of each at a time: such sums binary64 holds."""
        rest, scale = probabilities, 0
        while rest.size:
            scale += _DIGITS
            digits = np.rint(np.ldexp(rest, scale))
            self._units += int(digits.sum()) << (_UNIT - scale)
            rest = rest - np.ldexp(digits, -scale)
            rest = rest[rest != 0]

    @property
    def value(self) -> Fraction:
        """The sum."""
        return Fraction(self._units, 1 << _UNIT)


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
        """Nothing."""


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
    """As `weights_file`, among other files, with which it appears."""
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
