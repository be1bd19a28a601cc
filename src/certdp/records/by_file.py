"""Weights of a data set of many files, those of each in a file of its own: what was interrupted is taken up again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import frozen

from ..accounting.errors import CertdpError, InvalidValue
from ..accounting.exact import exact
from ..accounting.private import Private
from ..accounting.sampling.clipping import Outside
from ..accounting.stored import Json, canonical, entries, packed, unpacked
from ..data import Reading, Records, open_records
from ..data.files import path_text, within_file
from ..durable.files import digest_of, made_folder, write_whole, writing
from ..runs.partial import merged
from ..runs.sampled import SampledRun
from .chunks import Progress, facts_of
from .laws import At
from .weights import RecordWeights, WeightsPart, weights_file

_FORM = "certdp-weights-of-file/1"
_OF_THE_NAME = 100  # characters, so that the name of the weights is not longer than names may be


@final
@frozen(kw_only=True, eq=False)
class WeightsByFile:
    """What a data set's owner may know about the weights of its records, and where they are: not for publication.

    Attributes:
        weights: what is known of the records of all files together.
        files: a Parquet file of weights for each data file, in the order of these.
        taken_up: how many of these were there already.
    """

    weights: RecordWeights
    files: tuple[Path, ...]
    taken_up: int


def weights_by_file(
    run: SampledRun[Any],
    records: Records,
    folder: Path,
    outside: Outside = Outside.CLIP,
    *,
    at: At = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Private[WeightsByFile]:
    """Probability and weight of every record, as `record_weights` gives them, file by file.

    Each data file has its weights in a Parquet file of its own, with a hidden file beside it that holds what was
    counted. Where both are there, from a data file of the same content, read alike, from the same run and by the same
    version of certdp, that file is not weighed again: an interrupted call goes on where it stopped.

    Args:
        run, outside, at, threads, progress: as for `record_weights`.
        records: what `open_records` gives.
        folder: where the weights go; it is made where there is none. It may hold weights of these data files alone.

    Guarantees: what `record_weights` gives, bit for bit, however often it was interrupted.

    Raises:
        InvalidValue: as `record_weights`; for records of no file; for a folder that cannot be written or that holds
            anything else; and for a file that changes while it is read.
    """
    if not records.files:
        raise InvalidValue("records", "a matrix in memory", "records of files", "Use record_weights, or open_records")
    with writing(folder):
        made_folder(folder)
    places = [_Place(folder, f"{n:05d}-{file.name[:_OF_THE_NAME]}") for n, file in enumerate(records.files)]
    _require_own(folder, places)
    stated = {"certdp": version("certdp"), **facts_of(run, records, outside, at), **_as_read(records.reading)}
    total = WeightsPart.of(run, np.empty((0, records.columns)), outside, at=at)
    parts, done, taken_up = [total], 0, 0
    for file, place in zip(records.files, places, strict=True):
        with within_file(file), _unchanged(file):
            made_of = digest_of(canonical({**stated, "data": _digest(file)}).encode("ascii"))
            part = place.part(made_of)
            if part is None:
                advance = None if progress is None else partial(_beyond, progress, done)
                with open_records(file, records.reading) as some, weights_file(place.weights) as into:
                    part = WeightsPart.of(
                        run, some, outside, at=at, into=into, threads=threads, first=done, progress=advance
                    )
                place.keep(made_of, part)
            else:
                taken_up += 1
        parts.append(part)
        done += part.finish(run).reveal().records
        if progress is not None:
            progress(done)
    weights = merged(parts).finish(run).reveal()
    return Private(WeightsByFile(weights=weights, files=tuple(place.weights for place in places), taken_up=taken_up))


def _beyond(progress: Progress, before: int, done: int) -> None:
    progress(before + done)


def _as_read(reading: Reading) -> Json:
    """How files become records, in text and truth values."""
    return {
        "array": reading.array,
        "transpose": reading.transpose,
        "divide_by": str(exact(reading.divide_by, parameter="divide-by")),
        "columns_read": None if reading.columns is None else list(reading.columns),
    }


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return "sha256:" + file_digest(content, "sha256").hexdigest()


@contextmanager
def _unchanged(file: Path) -> Iterator[None]:
    """Refuse a file that was written to in this context."""
    before = file.stat()
    yield
    after = file.stat()
    if (before.st_size, before.st_mtime_ns, before.st_ino) != (after.st_size, after.st_mtime_ns, after.st_ino):
        raise InvalidValue("data", "another content than before", "files that stay as they are", "Start anew")


def _require_own(folder: Path, places: Sequence[_Place]) -> None:
    """Refuse what does not belong to these weights: whoever reads the folder would take it for some of them."""
    own = {place.weights.name for place in places}
    for entry in sorted(folder.iterdir()):
        if not entry.name.startswith(".") and entry.name not in own:
            admissible = "an empty folder, or one with the weights of these data files"
            raise InvalidValue("output", path_text(entry), admissible, "Choose another folder")


@final
@frozen
class _Place:
    """Where the weights of a data file are, and what was counted of it."""

    folder: Path
    name: str

    @property
    def weights(self) -> Path:
        """The weights and probabilities of its records."""
        return self.folder / f"{self.name}.parquet"

    @property
    def _counted(self) -> Path:
        return self.folder / f".{self.name}.part"

    def keep(self, made_of: str, part: WeightsPart) -> None:
        """Say, once the weights are there, what they were made of, and what was counted."""
        stated = {"made_of": made_of, "weights": _digest(self.weights)}
        content = packed(_FORM, stated, {"part": np.frombuffer(part.to_bytes(), dtype=np.uint8)})
        write_whole(self._counted, content, secret=True)

    def part(self, made_of: str) -> WeightsPart | None:
        """What was counted, where the weights are there and were made of this; None for anything else."""
        with suppress(OSError, CertdpError):  # missing, damaged or of another version: the weights are made anew
            stated, arrays = unpacked(_FORM, self._counted.read_bytes())
            if entries("content", stated, "made_of", "weights") == [made_of, _digest(self.weights)]:
                return WeightsPart.from_bytes(arrays["part"].tobytes())
        return None
