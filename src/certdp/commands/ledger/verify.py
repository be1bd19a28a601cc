"""`certdp ledger verify`: the whole log gone through anew."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from ...ledger import Anchor, Findings, Ledger, LedgerDamaged, verify_export
from ..answer import Answer, path_as_json
from ..answering import application
from ..output import FAILED
from ..page import Page
from .options import Where

_EXPORTED = ".jsonl"


@frozen(kw_only=True)
class Verified(Answer):
    """What was found in a log.

    Attributes:
        findings: the problems, if any.
        written: where its head was written, or None.
    """

    findings: Findings
    written: Path | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        head = self.findings.head
        return {
            "sound": self.findings.sound,
            "head": None if head is None else str(head),
            "problems": list(self.findings.problems),
            "anchor": path_as_json(self.written),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        page.bold("sound" if self.findings.sound else "not as certdp left it", indent=0)
        for problem in self.findings.problems:
            page.print(problem, 2)
        if self.findings.head is not None:
            page.copy(f"head: {self.findings.head}")
        page.files({"anchor": self.written})

    @property
    def exit_code(self) -> int:
        """0 for a sound log, 1 for any other."""
        return 0 if self.findings.sound else FAILED


def verify(
    where: Where,
    *,
    anchor: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A head of the log that was kept elsewhere, which must be in it."),
    ] = None,
    write_anchor: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the head here, once the log is found sound.")
    ] = None,
) -> Verified:
    """Go through a ledger, or a log that `certdp ledger export` wrote: digests, decisions, sums, states, outputs."""
    known = None if anchor is None else Anchor.read(anchor)
    if where.endswith(_EXPORTED):
        found = verify_export(Path(where), known)
    else:
        try:
            found = Ledger(where).verify(known)
        except LedgerDamaged as error:
            found = Findings(head=None, problems=(str(error),))
    if write_anchor is None or not found.sound or found.head is None:
        return Verified(findings=found, written=None)
    found.head.write(write_anchor)
    return Verified(findings=found, written=write_anchor)


command = application(verify)
