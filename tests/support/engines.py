# pyright: reportMissingImports=false
"""Engines as their tests use them: a data frame in so many partitions, and what may happen to a task."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from attrs import frozen

PARTITIONS = (1, 16)


class Engine(Protocol):
    """One of the engines."""

    @property
    def module(self) -> ModuleType:
        """Of certdp, for this engine."""
        ...

    def frame(self, columns: dict[str, Any], partitions: int) -> Any:
        """A data frame of the engine."""
        ...

    def rows(self, frame: Any) -> list[dict[str, Any]]:
        """All rows of one, which are computed now."""
        ...


@frozen
class Dask:
    """A Dask cluster of two workers."""

    module: ModuleType

    def frame(self, columns: dict[str, Any], partitions: int) -> Any:
        import dask.dataframe
        import pandas

        return dask.dataframe.from_pandas(pandas.DataFrame(columns), npartitions=partitions, sort=False)

    def rows(self, frame: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = frame.compute().to_dict("records")
        return found


@frozen
class Spark:
    """Spark on two cores.

    Attributes:
        session: of this process.
    """

    module: ModuleType
    session: Any

    def frame(self, columns: dict[str, Any], partitions: int) -> Any:
        import pyarrow

        self.session.conf.set("spark.sql.shuffle.partitions", str(partitions))
        self.session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
        return self.session.createDataFrame(pyarrow.table(columns)).repartition(partitions)

    def rows(self, frame: Any) -> list[dict[str, Any]]:
        return [row.asDict() for row in frame.collect()]


@frozen
class KilledOnce:
    """A function of a task, whose process is killed by the first call after the function has drawn.

    Attributes:
        draw: the function.
        folder: where each call leaves what it drew.
    """

    draw: Callable[[Any], bytes]
    folder: Path

    def __call__(self, table: Any) -> bytes:
        drawn = self.draw(table)
        name = f"{os.getpid()}-{os.urandom(8).hex()}"
        (self.folder / f"{name}.part").write_bytes(drawn)
        (self.folder / f"{name}.part").rename(self.folder / name)
        try:
            os.close(os.open(self.folder / "killed", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return drawn
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("killed")


def drawn_by_tasks(folder: Path) -> Sequence[bytes]:
    """What all calls drew."""
    return [path.read_bytes() for path in folder.iterdir() if path.name != "killed"]
