"""What `certdp psi` is asked, and what every answer to it needs: the domain, the way to write, private figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Self

import typer
from attrs import frozen

from ...accounting.errors import InvalidValue
from ...accounting.provenance import Private
from ...accounting.sampling.clipping import Outside
from ...accounting.sampling.domains import NormBall
from ...data import Reading, Records, example_records, open_records, refuse_without_file
from ...records.in_order import cores
from ...records.laws import At
from ...records.losses import RecordLosses
from ...records.on_disk import record_losses_on_disk
from ...runs.sampled import SampledRun
from ..composition import Composition
from ..domain import dimension_of, domain_of
from ..options import AnyDataSet, Certificate, Plot, refuse_unused
from ..options import Outside as OutsideWord
from ..output import Terminal
from ..outputs import check_places
from ..page import Page
from ..progress import counting, watched
from ..requests import FileOptions

_EXAMPLE = "embedded example of IS Section 3.3"
_LONG = 2_000_000  # entries from which a progress bar is worth it


@frozen(kw_only=True)
class Request:
    """What is asked about a mechanism and a sampler."""

    data: AnyDataSet = None
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

    @contextmanager
    def subject(self, given: Composition) -> Iterator[Subject]:
        """What is looked at, while its files are open; nothing is written yet.

        Raises:
            InvalidValue: for what serves nothing here, and for what the data or the domain do not admit.
        """
        outside = outside_of(self.outside, "radius" in given.run)
        check_places(self.data, self.places)
        if self.data is None:
            refuse_without_file(self.reading)
        with ExitStack() as stack:
            records = self._records(dimension_of(given), stack)
            if records is None:
                owners = {"owner-certificate": self.owner_certificate, "owner-plot": self.owner_plot}
                refuse_unused(owners, "where no records are read", "Name the owner's file: --data FILE")
            yield Subject(
                run=SampledRun(mechanism=given.mechanism, sampler=given.sampler),
                domain=domain_of(given, None if records is None else records.columns),
                records=records,
                outside=outside,
            )

    def _records(self, dimension: int | None, stack: ExitStack) -> Records | None:
        """The records of the files, or of the embedded example; None for a dimension that is not the example's."""
        if self.data is not None:
            return stack.enter_context(open_records(self.data, self.reading))
        example = example_records()
        return Records.of(example) if dimension in (None, example.shape[1]) else None

    @property
    def places(self) -> Mapping[str, Path | None]:
        """The paths that something is to be written to, by option."""
        return {
            "certificate": self.certificate,
            "owner-certificate": self.owner_certificate,
            "plot": self.plot,
            "owner-plot": self.owner_plot,
        }


@frozen(kw_only=True, eq=False)
class Subject:
    """A mechanism, a sampler, and what they are about.

    Attributes:
        run: the release, on records that nothing bounds.
        domain: the public domain, where one is stated.
        records: those of the owner, read chunk by chunk, or of the example; None where there are none.
        outside: what happens to those outside the domain.
    """

    run: SampledRun
    domain: NormBall | None
    records: Records | None
    outside: Outside

    def losses(self, run: SampledRun, terminal: Terminal, at: At = None) -> Private[RecordLosses] | None:
        """What a run loses about each of the records; None where there are none."""
        if self.records is None:
            return None
        with progress_over(self.records, terminal) as advance:
            return record_losses_on_disk(run, self.records, self.outside, at=at, threads=cores(), progress=advance)


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
def progress_over(
    records: Records, terminal: Terminal, doing: str = "certifying ψ"
) -> Iterator[Callable[[int], None] | None]:
    """A progress bar where the work may be long and someone watches."""
    lines, columns = records.shape
    if lines is not None and lines * columns < _LONG:
        yield None
        return
    with watched(terminal, lines, *counting(doing, "records")) as bar:
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
    def of(cls, request: Request, measured: Private[RecordLosses] | None, most: float, sign: str) -> Self | None:
        """The figures for the owner who asked; None where there are no records."""
        if measured is None:
            return None
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
