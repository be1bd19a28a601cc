"""Weights of a data set of many files, those of each in a file of its own: what was interrupted is taken up again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
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
from ..data import Reading, Records
from ..data.files import path_text, within_file
from ..durable.files import Publication, Rank, digest_of, made_folder, published, writing
from ..runs.partial import merged
from ..runs.sampled import SampledRun
from .chunks import Progress, facts_of
from .laws import At
from .weights import RecordWeights, WeightsPart, put_weights

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
    version of certdp, that file is not weighed again: an interrupted call goes on where it stopped. Weights of
    another run, reading or version are removed first, so that those in the folder are never of two.

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
    total = WeightsPart.of(run, np.empty((0, records.columns)), outside, at=at)
    stated = {"certdp": version("certdp"), **facts_of(run, records, outside, at), **_as_read(records.reading)}
    how = digest_of(canonical(stated).encode("ascii"))
    for place in places:
        if place.counted(how) is None:
            place.clear()
    parts, done, taken_up = [total], 0, 0
    for some, place in zip(records.by_file(), places, strict=True):
        (file,) = some.files
        with within_file(file):
            before, content = _state(file), _digest(file)
            part = place.part(how, content)
            if part is None:
                place.clear()
                advance = None if progress is None else partial(_beyond, progress, done)
                with published() as files:
                    with put_weights(files, place.weights) as into:
                        part = WeightsPart.of(
                            run, some, outside, at=at, into=into, threads=threads, first=done, progress=advance
                        )
                    _require_unchanged(file, before)
                    place.keep(files, part, how, content)
            else:
                _require_unchanged(file, before)
                taken_up += 1
        parts.append(part)
        done += part.records
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


def _state(file: Path) -> tuple[int, int, int]:
    """What tells whether a file was written to."""
    try:
        found = file.stat()
    except OSError as error:
        raise _changed() from error
    return found.st_size, found.st_mtime_ns, found.st_ino


def _require_unchanged(file: Path, before: tuple[int, int, int]) -> None:
    """Refuse a file that was written to since."""
    if _state(file) != before:
        raise _changed()


def _changed() -> InvalidValue:
    return InvalidValue("data", "another content than before", "files that stay as they are", "Start anew")


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

    def keep(self, files: Publication, part: WeightsPart, how: str, content: str) -> None:
        """Say, with the weights that are written, what they were made of, and what was counted."""
        stated = {"how": how, "data": content, "weights": files.digest(self.weights)}
        held = {"part": np.frombuffer(part.to_bytes(), dtype=np.uint8)}
        files.write(self._counted, packed(_FORM, stated, held), Rank.STATEMENT, secret=True)

    def counted(self, how: str) -> tuple[str, str, WeightsPart] | None:
        """Digests of the data and of the weights, and what was counted, where they were made in this way."""
        with suppress(OSError, CertdpError):  # missing, damaged or of another version: the weights are made anew
            stated, arrays = unpacked(_FORM, self._counted.read_bytes())
            made, content, weights = entries("content", stated, "how", "data", "weights")
            if made == how:
                return content, weights, WeightsPart.from_bytes(arrays["part"].tobytes())
        return None

    def part(self, how: str, content: str) -> WeightsPart | None:
        """What was counted, where the weights are there and were made of this; None for anything else."""
        found = self.counted(how)
        with suppress(OSError):
            if found is not None and found[:2] == (content, _digest(self.weights)):
                return found[2]
        return None

    def clear(self) -> None:
        """Leave nothing that was made of something else: what was counted goes first."""
        for path in (self._counted, self.weights):
            with writing(path):
                path.unlink(missing_ok=True)
