"""`certdp ledger export`: the log as lines of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from ...durable.files import write_whole
from ...ledger import Ledger
from ..answer import Answer
from ..answering import application
from ..options import Output
from ..outputs import check_places
from ..page import Page
from .options import Where


@frozen(kw_only=True)
class Exported(Answer):
    """Where a log was written.

    Attributes:
        output: the file.
        entries: how many entries it has.
    """

    output: Path
    entries: int

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return {"output": str(self.output), "entries": self.entries}

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        page.print(f"{self.entries:,} entries")
        page.files({"log": self.output})


def export(where: Where, output: Output) -> Exported:
    """Write the log as lines of JSON, each an entry with its digest; `certdp ledger verify FILE.jsonl` reads it."""
    check_places(None, {"output": output})
    lines = list(Ledger(where).export())
    write_whole(output, "".join(lines).encode("ascii"))
    return Exported(output=output, entries=len(lines))


command = application(export)
