"""What `certdp psi` is asked, and what every answer to it needs: the domain, the way to write, private figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from ...accounting.errors import InvalidValue
from ...accounting.exact import Floats
from ...accounting.expressions import Expression, Symbol, variables
from ...accounting.norms import Norm
from ...accounting.provenance import Private, Public
from ...accounting.sampling.clipping import Outside
from ...accounting.sampling.domains import NormBall
from ...data import Reading, example_records, read_records
from ...records.losses import RecordLosses
from ..options import AnyData, Certificate, Plot
from ..options import Outside as OutsideWord
from ..output import Terminal
from ..page import Page
from ..progress import counting, watched
from ..requests import FileOptions

_EXAMPLE = "embedded example of IS Section 3.3"
_LONG = 2_000_000  # entries from which a progress bar is worth it


@frozen(kw_only=True)
class Request:
    """What is asked about a mechanism and a sampler."""

    data: AnyData = None
    file: FileOptions
    outside: OutsideWord = "clip"
    delta: Annotated[str | None, typer.Option(metavar="D", help="Ask for ε at this δ, not for the pure one.")] = None
    order: Annotated[str | None, typer.Option(metavar="A", help="Ask for τ at this Rényi order above 1.")] = None
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="Keyed data: ask for δ at this ε, not at the mechanism's.")
    ] = None
    rows: Annotated[int | None, typer.Option(metavar="M", min=1, help="Keyed data: list frequencies up to M.")] = None
    certificate: Certificate = None
    owner_certificate: Annotated[
        Path | None, typer.Option(metavar="OUT.json", help="Write the data owner's private certificate here.")
    ] = None
    plot: Plot = None
    owner_plot: Annotated[
        Path | None, typer.Option(metavar="OUT.png", help="Plot ψ of the file's records, for the data's owner, here.")
    ] = None

    @property
    def reading(self) -> Reading:
        """How the file is read."""
        return self.file.reading

    @property
    def records(self) -> Floats:
        """The records of the file, or of the embedded example."""
        return example_records() if self.data is None else read_records(self.data, self.reading)

    @property
    def places(self) -> Mapping[str, Path | None]:
        """The paths that something is to be written to, by option."""
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
def progress_over(records: Floats, terminal: Terminal) -> Iterator[Callable[[int], None] | None]:
    """A progress bar where the work is long and someone watches."""
    if records.size < _LONG:
        yield None
        return
    with watched(terminal, len(records), *counting("certifying ψ", "records")) as bar:
        yield None if bar is None else bar.reach


@frozen(kw_only=True)
class OwnersFigures:
    """What the data's owner may know about the records.

    Attributes:
        measured: the losses.
        most: a bound of the loss of every record held within the domain; inf where there is none.
        sign: what the loss is called.
        outside: what happened to records outside the domain.
        from_file: whether the records are the owner's, not the embedded example.
    """

    measured: RecordLosses
    most: float
    sign: str
    outside: str
    from_file: bool

    @classmethod
    def of(cls, request: Request, measured: Private[RecordLosses], most: float, sign: str) -> OwnersFigures:
        """The figures for the owner who asked."""
        return cls(
            measured=measured.reveal(),
            most=most,
            sign=sign,
            outside=request.outside,
            from_file=request.data is not None,
        )

    def as_json(self) -> dict[str, object]:
        """Return the figures in JSON's types, with a notice of what they are."""
        measured = self.measured
        return {
            "notice": "computed from the records: for the data's owner, not for publication",
            "source": self._source,
            "n": measured.records,
            "outside_domain": measured.outside,
            "expected_sample_size": list(measured.expected_sample_size),
            "psi_max": self._bound(measured.largest),
            "quantiles": {str(level): self._bound(value) for level, value in measured.quantiles.items()},
        }

    def show(self, page: Page, *files: tuple[str, Path | None]) -> None:
        """Print them, and the files that are the owner's."""
        measured, numbers = self.measured, page.numbers
        losses = [(f"quantile {level}", value) for level, value in measured.quantiles.items()]
        page.owners(
            [
                ("source", self._source),
                ("records", f"{measured.records:,}"),
                ("outside the domain", f"{measured.outside:,} ({self.outside})"),
                ("expected sample size", numbers.about(measured.expected_sample_size[1])),
                *(
                    (f"{self.sign}, {name}", numbers.most(self._bound(value)))
                    for name, value in (*losses, ("largest", measured.largest))
                ),
            ]
        )
        page.files(dict(files))

    @property
    def _source(self) -> str:
        return "the file given" if self.from_file else _EXAMPLE

    def _bound(self, loss: float) -> float | None:
        """Return a bound for JSON: None beyond binary64, which JSON cannot say."""
        least = min(loss, self.most)
        return None if math.isinf(least) else least
