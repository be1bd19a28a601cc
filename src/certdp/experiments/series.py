"""Every figure and table of the papers in one series, which goes on where it stopped.

What is finished has a record beside its files, written with them: on which data, by their digest, with which settings,
on which machine. A series takes what is recorded, from wherever it comes, and makes the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, final

from attrs import field, frozen

from ..accounting.errors import InvalidValue
from ..data import Reading
from ..durable.files import clear_abandoned, digest_of, made_folder
from ..mechanisms.lloyd import Split
from .catalogue import EXPERIMENTS
from .experiment import ExperimentOptions
from .findings import write_files

FORMAT = 1

DIGESTS: Mapping[str, str] = MappingProxyType(
    {
        "covtype_cover_286048x10.npz": "7f263231e49eac7d4146aeef7566645efe8299da373e511896b16de84c9346e8",
        "fashion_mnist.npz.xz": "c09dd9a31175e5091372492f68f489a63fdafc01baa9bcb5d436e113f2850fbf",
        "imdb_pad80_top20k.npz.xz": "73f9010ceed35965cb783147c149a795fd7fb2befdb16e6a6382bcc2608f9bb7",
        "mnist.npz.xz": "ff2215273b2b9d1d30515f4eb80f668ec90708fb95d234e56db596deda45aaeb",
        "song_uniform_25000.npz": "176af928e894670985f241f6fc05828771d70e67016d41f12aa2b9918c1b68e5",
        "wordcounts_imdb.tsv.xz": "7e14410cc627162d840ac9a39f70c56b44c0d9e17d20855cfc1515104dc3944b",
        "wordcounts_mobydick.tsv": "ceb6ff1a25c1e0ca47e450539b5dffcb536438dc44b508a3eb94e0ef43e21ceb",
    }
)
"""SHA-256 of the files of data that the figures of the documents come from."""


@final
@frozen(kw_only=True)
class Item:
    """One experiment of the series.

    Attributes:
        folder: of its files, within that of the series.
        experiment: its name.
        file: in the folder of the data, or none.
        reading: how the file becomes a matrix.
        sizes: expected sample sizes, or none for the experiment's own.
        split: rule for the noise of counts.
    """

    folder: str
    experiment: str
    file: str | None = None
    reading: Reading = field(default=Reading())
    sizes: tuple[int, ...] = ()
    split: Split = Split.PUBLISHED

    @property
    def name(self) -> str:
        """Tells it from others: its folder and experiment."""
        return f"{self.folder}/{self.experiment}"


def _each(folder: str, experiments: str, file: str | None = None, **how: Any) -> list[Item]:
    return [Item(folder=folder, experiment=name, file=file, **how) for name in experiments.split()]


def _clustering(folder: str, file: str, size: int, reading: Reading) -> list[Item]:
    names = "is-table1 is-fig1 is-fig6 is-fig7 is-fig5 is-table3"
    derived = _each(f"{folder}-derived", "is-fig3", file, reading=reading, sizes=(size,), split=Split.DERIVED)
    return _each(folder, names, file, reading=reading) + derived


_TRAINING = "dpis-table3 dpis-table4 dpis-table5 dpis-table6 dpis-table7 dpis-table8"
_PIXELS = Reading(divide_by="255")

SERIES: tuple[Item, ...] = (
    *_each("pws", "pws-fig1 pws-fig2 pws-fig3 pws-fig4 pws-fig5 pws-fig6"),
    *_each("dpis", "dpis-fig1"),
    *_each("laplace-sum", "is-fig2"),
    *_each("mobydick", "pws-fig2 pws-fig4 pws-fig5 pws-order", "wordcounts_mobydick.tsv"),
    *_each("imdb-words", "pws-fig2 pws-fig4 pws-fig5 pws-order", "wordcounts_imdb.tsv.xz"),
    *_clustering("song", "song_uniform_25000.npz", 2438, Reading()),
    *_clustering("covertype", "covtype_cover_286048x10.npz", 13_945, Reading(array="XT", transpose=True)),
    *_each("stand-ins", "is-table1 is-fig3 is-fig4 is-table2"),
    *_each("mnist-paired", "dpis-paired", "mnist.npz.xz", reading=_PIXELS),
    *_each("mnist", _TRAINING, "mnist.npz.xz", reading=_PIXELS),
    *_each("fashion", _TRAINING, "fashion_mnist.npz.xz", reading=_PIXELS),
    *_each("imdb", _TRAINING, "imdb_pad80_top20k.npz.xz"),
    *_each("mnist", "dpis-table3-cnn", "mnist.npz.xz", reading=_PIXELS),
    *_each("fashion", "dpis-table3-cnn", "fashion_mnist.npz.xz", reading=_PIXELS),
    *_each("imdb", "dpis-table3-lstm", "imdb_pad80_top20k.npz.xz"),
)
"""What the documents show, in the order in which it is made: what takes hours comes last."""


def on_stand_ins() -> tuple[Item, ...]:
    """Every experiment that has something to stand in for its data, once."""
    needing = ("dpis-table3-cnn", "dpis-table3-lstm")
    return tuple(Item(folder="stand-ins", experiment=name) for name in EXPERIMENTS if name not in needing)


class State(Enum):
    """What became of an item."""

    MADE = "made"
    FOUND = "made before"
    FOUND_ELSEWHERE = "made before, on another machine or by another version"
    TO_MAKE = "not made yet"
    WANTING = "not made: its file is not in the folder of the data"

    @property
    def made(self) -> bool:
        """Whether its results are there."""
        return self in (State.MADE, State.FOUND, State.FOUND_ELSEWHERE)


@final
@frozen(kw_only=True)
class Record:
    """What is known of an item that is finished.

    Attributes:
        inputs: what it was made from: its options and the digest of the data.
        maker: the version of the package, and the machine.
        files: the digest of each of its files.
        summary: what it came to, ready for JSON.
    """

    inputs: Mapping[str, Any]
    maker: Mapping[str, str]
    files: Mapping[str, str]
    summary: Mapping[str, Any] = field(repr=False)

    @property
    def content(self) -> bytes:
        """The record as JSON."""
        parts = {"format": FORMAT, "inputs": self.inputs, "maker": self.maker, "files": self.files}
        return json.dumps({**parts, "summary": self.summary}, indent=1, ensure_ascii=False).encode() + b"\n"


def read_record(path: Path) -> Record | None:
    """The record at a path, or none where there is no file.

    Raises:
        InvalidValue: for a file that is no record, or one of another format.
    """
    try:
        found = json.loads(path.read_bytes())
        if found["format"] != FORMAT:
            raise ValueError(f"format {found['format']}")
        return Record(**{name: found[name] for name in ("inputs", "maker", "files", "summary")})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidValue("output", str(path), f"a record of format {FORMAT}", f"{error}. Remove the file") from None


def this_maker() -> dict[str, str]:
    """The version of the package, and the machine that runs it."""
    import numpy as np

    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    return {"certdp": version("certdp"), "machine": machine, "numpy": np.__version__}


Tell: TypeAlias = Callable[[Item, float], None]
"""Told which share of an item is done, from 0 to 1."""


@final
@frozen(kw_only=True)
class Series:
    """A series of experiments in a folder.

    Attributes:
        data: the folder of the data, or none for stand-ins alone.
        output: the folder of the results.
        repetitions: of each run, or none for as many as in the paper.
        seed: of all coins.
    """

    data: Path | None
    output: Path
    repetitions: int | None = None
    seed: int = 0

    @property
    def items(self) -> tuple[Item, ...]:
        """All items of the series."""
        return on_stand_ins() if self.data is None else SERIES

    def check(self, items: Iterable[Item]) -> frozenset[str]:
        """Find out whether the data that items need are those that they should be; a file that is not there may be.

        Returns:
            The names of the files that are there.

        Raises:
            InvalidValue: for a folder that is none, and a file with another content.
        """
        if self.data is not None and not self.data.is_dir():
            raise InvalidValue(
                "data", str(self.data), "a folder with the files of the data", "Create it, or leave it out"
            )
        there = set()
        for name in dict.fromkeys(item.file for item in items):
            path = self._path(name)
            if name is None or path is None or not path.exists():
                continue
            if (digest := _digest(path)) != DIGESTS[name]:
                raise InvalidValue(
                    "data",
                    f"{path}, of SHA-256 {digest}",
                    f"the file of SHA-256 {DIGESTS[name]}",
                    "Fetch it anew, or name other data by `certdp reproduce`",
                )
            there.add(name)
        return frozenset(there)

    def known(self, items: Sequence[Item]) -> Iterator[tuple[Item, State]]:
        """Say of each item what is known of it, once all data are checked.

        Raises:
            InvalidValue: as `check`, before anything else, and for a record that cannot be read.
        """
        there = self.check(items)
        for item in items:
            if item.file is not None and item.file not in there:
                yield item, State.WANTING
            elif (record := self._record_of(item)) is not None:
                yield item, State.FOUND if record.maker == this_maker() else State.FOUND_ELSEWHERE
            else:
                yield item, State.TO_MAKE

    def run(self, items: Sequence[Item], tell: Tell) -> Iterator[tuple[Item, State]]:
        """Make what is not made yet, and say of each item what became of it.

        Raises:
            InvalidValue: as `known`, and for a folder that cannot be written.
        """
        for item, state in self.known(items):
            if state is State.TO_MAKE:
                self._make(item, partial(tell, item))
                yield item, State.MADE
            else:
                yield item, state

    def _path(self, name: str | None) -> Path | None:
        return None if name is None or self.data is None else self.data / name

    def _inputs(self, item: Item) -> dict[str, Any]:
        return {
            "experiment": item.experiment,
            "file": item.file,
            "sha256": None if item.file is None else DIGESTS[item.file],
            "array": item.reading.array,
            "transpose": item.reading.transpose,
            "divide_by": str(item.reading.divide_by),
            "sizes": list(item.sizes),
            "split": item.split.value,
            "repetitions": self.repetitions,
            "seed": self.seed,
        }

    def _record_of(self, item: Item) -> Record | None:
        """The record of an item that is finished, made from the same inputs, with all its files as they were."""
        folder = self.output / item.folder
        record = read_record(folder / f"{item.experiment}.json")
        if record is None or record.inputs != self._inputs(item):
            return None
        for name, digest in record.files.items():
            path = folder / name
            if not path.is_file() or digest_of(path.read_bytes()) != digest:
                return None
        return record

    def _make(self, item: Item, advance: Callable[[float], None]) -> None:
        folder = self.output / item.folder
        for place in (self.output, folder):
            try:
                made_folder(place)
            except OSError as error:
                raise InvalidValue("output", str(place), "a folder that can be written", str(error)) from None
        clear_abandoned(folder)
        experiment = EXPERIMENTS[item.experiment]
        asked = ExperimentOptions(
            name=item.experiment,
            data=self._path(item.file),
            reading=item.reading,
            repetitions=self.repetitions if experiment.draws else None,
            sizes=item.sizes,
            epsilons=(),
            split=item.split,
            seed=self.seed if experiment.draws else 0,
            out=folder,
        )
        findings = experiment.prepare(asked).compute(advance)
        files = findings.files(owners=False)  # the files of the series are public data sets
        record = Record(
            inputs=self._inputs(item),
            maker=this_maker(),
            files={name: digest_of(content) for name, content in files.items()},
            summary=findings.summary,
        )
        write_files(folder, {**files, f"{item.experiment}.json": record.content}, secret=False)


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InvalidValue("data", str(path), "a file that can be read", str(error)) from None
