"""What an experiment finds: tables and pictures, written whole, and a summary."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, final

from attrs import field, frozen

from ..accounting.errors import InvalidValue
from ..durable.files import Rank, made_folder, published
from ..mechanisms.lloyd import Split
from .data_sets import DataSet
from .pictures import Picture

Advance: TypeAlias = Callable[[float], None]
"""Told which share of an experiment is done, from 0 to 1."""


@final
@frozen
class Table:
    """Rows of one kind.

    Attributes:
        columns: their names.
        rows: cells in that order.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]

    @property
    def csv(self) -> bytes:
        """The table as CSV in UTF-8 with a header; numbers so that binary64 reads them back exactly."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue().encode("utf-8")

    @property
    def dictionaries(self) -> list[dict[str, Any]]:
        """Each row as a mapping from column to cell."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@final
@frozen
class Findings:
    """The result of an experiment.

    Attributes:
        summary: what it comes to, ready for JSON.
        tables: by name of their file, without its ending.
        pictures: likewise; one with panels about the data and others without is made in two.
    """

    summary: Mapping[str, Any]
    tables: Mapping[str, Table] = field(repr=False)
    pictures: Mapping[str, Picture] = field(factory=dict, repr=False)

    def files(self, *, owners: bool) -> dict[str, bytes]:
        """The content of each file by its name: here alone pictures end, so that none goes without its mark.

        Args:
            owners: whether the experiment was run on a file that is not public: its pictures say whom they are for.
        """
        tables = {f"{name}.csv": table.csv for name, table in self.tables.items()}
        return tables | {f"{name}.png": picture.ended(owners=owners) for name, picture in self.pictures.items()}

    def write(self, folder: Path, *, owners: bool) -> list[Path]:
        """Write every file, all of them whole or none.

        Args:
            folder: where; made if its parent exists.
            owners: as for `files`; they are then readable by the owner alone.

        Raises:
            InvalidValue: where that cannot be done.
        """
        return write_files(folder, self.files(owners=owners), secret=owners)


def write_files(folder: Path, contents: Mapping[str, bytes], *, secret: bool) -> list[Path]:
    """Write files by their names, all of them whole or none; arguments and errors as for `Findings.write`."""
    try:
        made_folder(folder)
    except OSError as error:
        raise InvalidValue("out", str(folder), "a folder, or a new name in an existing one", str(error)) from None
    with published() as files:
        for name, content in contents.items():
            files.write(folder / name, content, Rank.RELEASE, secret=secret)
    return [folder / name for name in contents]


@final
@frozen(kw_only=True)
class Plan:
    """What an experiment is asked.

    Attributes:
        name: under which its files are written.
        data: the data sets it runs on; none for an experiment that draws its own.
        repetitions: of each run, at least 1.
        seed: of all coins.
        sizes: expected sample sizes, or none for the experiment's own shares of n.
        split: rule for the noise of counts.
    """

    name: str
    data: tuple[DataSet, ...]
    repetitions: int
    seed: int
    sizes: tuple[int, ...] = ()
    split: Split = Split.PUBLISHED

    def sizes_for(self, data: DataSet, shares: Sequence[float]) -> tuple[int, ...]:
        """The expected sample sizes asked for, or shares of n, each at least 1 and at most what coresets can have.

        Raises:
            InvalidValue: for a size asked for that is beyond.
        """
        largest = data.largest_coreset
        if self.sizes and max(self.sizes) > largest:
            raise InvalidValue(
                "size",
                max(self.sizes),
                f"at most {largest}, that is n/(λ + (1 − λ)·r²/x̃) for {data.name}",
                "Coreset sampling draws records of norm r with a probability above 1 beyond it",
            )
        return self.sizes or tuple(max(1, min(largest, round(share * len(data.records)))) for share in shares)
