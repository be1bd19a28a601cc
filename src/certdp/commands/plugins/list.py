"""`certdp plugins` alone: what is installed, from which distribution, valid or why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer
from attrs import frozen

from ...plugins.registry import Status
from ..answer import Answer
from ..page import Page
from ..requests import Admission


@frozen(kw_only=True)
class Installed(Answer):
    """The plugins that are installed.

    Attributes:
        statuses: each with its distribution.
        imported: whether they were imported and validated.
    """

    statuses: tuple[Status, ...]
    imported: bool

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return {
            "plugins": [
                {
                    "role": status.listing.role.word,
                    "name": status.listing.name,
                    "distribution": status.listing.distribution,
                    "version": status.listing.version,
                    "valid": status.valid if self.imported else None,
                    "problem": status.problem,
                    "remark": status.remark,
                }
                for status in self.statuses
            ]
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        listed = [(one.listing, self._word(one)) for one in self.statuses]
        page.table(
            ("role", "name", "distribution", "version", "status"),
            [(one.role.word, one.name, one.distribution, one.version, word) for one, word in listed],
        )

    def _word(self, status: Status) -> str:
        if not self.imported:
            return "not imported"
        return status.problem or ("valid" if status.remark is None else f"valid, but {status.remark}")


def installed(
    list_only: Annotated[
        bool, typer.Option("--list-only", help="Read metadata alone; import and validate nothing.")
    ] = False,
    *,
    admission: Admission,
) -> Installed:
    """List the installed plugins: their distributions, and whether they are valid."""
    registry = admission.registry
    if list_only:
        return Installed(statuses=tuple(Status(item, None) for item in registry.listings()), imported=False)
    return Installed(statuses=tuple(registry.statuses()), imported=True)
