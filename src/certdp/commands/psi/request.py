"""What `certdp psi` is asked, and what every answer to it needs: the domain, the way to write, private figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ...accounting.errors import InvalidValue
from ...accounting.expressions import Expression, Symbol, variables
from ...accounting.expressions.floats import Floats
from ...accounting.norms import Norm
from ...accounting.provenance import Public
from ...accounting.sampling.clipping import Outside
from ...accounting.sampling.domains import NormBall
from ...data import Reading, example_records, read_records
from ...records.losses import Measurement
from ..output import Output

_EXAMPLE = "embedded example of IS Section 3.3, for want of --data"
_LONG = 2_000_000  # entries from which a progress bar is worth it


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    mechanism: str
    sampler: str
    options: list[str]
    data: Path | None
    reading: Reading
    outside: str
    certificate: Path | None
    owner_certificate: Path | None
    plot: Path | None
    owner_plot: Path | None
    delta: str | None
    order: str | None
    third_party: bool
    allow: list[str] | None
    epsilon: str | None = None
    max_frequency: int | None = None

    @property
    def records(self) -> Floats:
        """The records of the file, or of the embedded example."""
        return example_records() if self.data is None else read_records(self.data, self.reading)

    @property
    def places(self) -> Mapping[str, Path | None]:
        """Where something is to be written, by option."""
        return {
            "certificate": self.certificate,
            "owner-certificate": self.owner_certificate,
            "plot": self.plot,
            "owner-plot": self.owner_plot,
        }


def domain_of(stated: Mapping[str, str], norm: Norm, roots: Iterable[Expression], columns: int) -> NormBall | None:
    """The public domain. The number of columns counts only where another norm than the domain's matters."""
    if stated.get("dimension", str(columns)) != str(columns):
        raise InvalidValue("dimension", stated["dimension"], f"{columns}, the number of columns of the data")
    if "radius" not in stated:
        return None
    norms = {v.index for root in roots for v in variables(root) if v.symbol is Symbol.NORM}
    several = bool(norms - {norm.value})
    return NormBall(
        norm=norm,
        radius=Public(stated["radius"]),
        dimension=columns if several or "dimension" in stated else None,
    )


def outside_of(word: str, bounded: bool) -> Outside:
    """What happens to records outside the domain."""
    try:
        outside = Outside(word)
    except ValueError:
        raise InvalidValue("outside", word, "clip or drop", "Leave it out to clip") from None
    if outside is not Outside.CLIP and not bounded:
        raise InvalidValue("outside", word, "a choice for a run with a public domain", "Declare one: --option radius=R")
    return outside


@contextmanager
def progress_over(records: Floats, output: Output) -> Iterator[Any]:
    """A progress bar where the work is long and someone watches."""
    terminal = Console(stderr=True)
    if records.size < _LONG or output.as_json or not terminal.is_terminal:
        yield None
        return
    columns = (TextColumn("certifying ψ"), BarColumn(), TextColumn("{task.completed:,} records"), TimeRemainingColumn())
    with Progress(*columns, console=terminal, transient=True) as bar:
        task = bar.add_task("psi", total=len(records))
        yield lambda done: bar.update(task, completed=done)


def private_figures(request: Request, measured: Measurement, most: float) -> dict[str, Any]:
    """What the owner is told about the records; `most` bounds every record held within the domain, inf without one."""
    return {
        "notice": "computed from the records: for the data's owner, not for publication",
        "source": _EXAMPLE if request.data is None else "the file given",
        "n": measured.records,
        "outside_domain": measured.outside,
        "expected_sample_size": list(measured.expected_sample_size),
        "psi_max": _finite(min(measured.psi_max, most)),
        "quantiles": {str(level): _finite(min(value, most)) for level, value in measured.quantiles.items()},
    }


def print_private(console: Console, private: Mapping[str, Any], outside: str, sign: str) -> None:
    """The same for people; `sign` is what the loss is called."""
    table = Table(box=None, show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_row("source", private["source"])
    table.add_row("records", f"{private['n']:,}")
    table.add_row("outside the domain", f"{private['outside_domain']:,} ({outside})")
    table.add_row("expected sample size", f"{private['expected_sample_size'][1]:.6g}")
    for level, value in private["quantiles"].items():
        table.add_row(f"{sign}, quantile {level}", _shown(value))
    table.add_row(f"{sign}, largest", _shown(private["psi_max"]))
    console.print("\n[bold]for the data's owner only, not for publication[/bold]")
    console.print(table)


def _finite(value: float) -> float | None:
    """None for a bound beyond binary64, which JSON cannot say."""
    return None if math.isinf(value) else value


def _shown(value: float | None) -> str:
    return "none within binary64" if value is None else repr(value)
