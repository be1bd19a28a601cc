"""`certdp verify`: run the claims, show the witnesses and write the reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from attrs import evolve, frozen

from ..accounting.errors import blamed_on
from ..durable.files import Rank, published, writing
from ..plugins.registry import Registry, Role, Status
from ..verification.running.runner import Report, select
from .absent_claims import absent_as_json, mentioning, unusable
from .answer import Answer
from .answering import application
from .claim_runs import Request, checked
from .errata import misprints
from .options import Markdown, refuse_unused
from .output import FAILED, Terminal
from .outputs import check_places
from .page import Page
from .verify_table import show_report

_Writer: TypeAlias = Callable[[Report, Sequence[Status]], bytes]


@frozen(kw_only=True)
class Verified(Answer):
    """What became of the claims.

    Attributes:
        report: by claim.
        problems: claims plugins that were not run.
        written: the files that hold the report, by option.
    """

    report: Report
    problems: Sequence[Status]
    written: Mapping[str, Path]

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        written = {name: str(path) for name, path in self.written.items()}
        return {**self.report.as_json(), **absent_as_json(self.problems), **written}

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        show_report(page, self.report, self.problems, self.written)

    @property
    def exit_code(self) -> int:
        """1 where a claim fails or a claims plugin cannot be used."""
        return 0 if self.report.passed and not unusable(self.problems) else FAILED


def verify(
    terminal: Terminal,
    request: Request,
    html: Annotated[
        Path | None, typer.Option(metavar="OUT.html", help="Write a page with everything found here.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="OUT.xml", help="Write JUnit XML for continuous integration here.")
    ] = None,
    errata: Annotated[
        bool, typer.Option("--errata", help="Every misprint of the papers: what is printed, what holds, a witness.")
    ] = False,
    markdown: Markdown = None,
) -> Answer:
    """Run the claims: closed forms against independent solves, and misprints that must be rejected.

    Where processes can be forked, a claim may take 600 seconds unless --timeout says otherwise.
    """
    if errata:
        refuse_unused({"html": html, "junit": junit}, "beside --errata", "Leave out --errata, or write --markdown")
        return misprints(request, markdown, terminal)
    refuse_unused({"markdown": markdown}, "without --errata", "Add --errata")
    return _verified(request, {"html": html, "junit": junit}, terminal)


def _verified(request: Request, places: Mapping[str, Path | None], terminal: Terminal) -> Verified:
    check_places(None, places)
    written = {name: path for name, path in places.items() if path is not None}
    writers = _writers(request, written)
    registry = request.admission.registry
    claims, problems = registry.claims()
    with mentioning(problems):
        chosen = select(claims, *request.globs)
    with published() as files:  # open before the run, so that what cannot be written is refused now
        streams = {name: files.stream(path, Rank.RELEASE, parameter=name) for name, path in written.items()}
        report = checked(request, chosen, terminal)
        report = evolve(report, versions={**report.versions, **_third_parties(registry, problems)})
        for name, write in writers.items():
            content = write(report, problems)
            with blamed_on(path=name), writing(written[name]):
                streams[name].write(content)
    return Verified(report=report, problems=problems, written=written)


def _writers(request: Request, written: Mapping[str, Path]) -> Mapping[str, _Writer]:
    """What makes each file that is asked for, by its option; what it needs is known to be installed."""
    writers: dict[str, _Writer] = {}
    if "html" in written:
        from ..plots.claims import drawings, require_plots
        from ..verification.reports.page import page, require_pages

        require_pages()
        require_plots()
        writers["html"] = lambda report, problems: page(report, problems, drawings(report), request.command)
    if "junit" in written:
        from ..verification.reports.junit import junit

        writers["junit"] = junit
    return writers


def _third_parties(registry: Registry, problems: Sequence[Status]) -> dict[str, str]:
    """The versions of other distributions whose claims took part."""
    absent = {problem.listing for problem in problems}
    found = [listing for listing in registry.listings(Role.CLAIMS) if not listing.built_in and listing not in absent]
    return {listing.distribution: listing.version for listing in found}


command = application(verify)
