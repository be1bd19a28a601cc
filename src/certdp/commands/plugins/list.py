"""`certdp plugins` alone: what is installed, from which distribution, valid or why not."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from ...plugins.registry import Registry, Status
from ..output import Output


def run(list_only: bool, third_party: bool, allow: list[str] | None, output: Output) -> None:
    """List plugins; import and validate them unless told not to."""
    registry = Registry(third_party=third_party, allow=allow)
    statuses = [Status(item, None) for item in registry.listings()] if list_only else list(registry.statuses())
    rows = [
        {
            "role": status.listing.role.word,
            "name": status.listing.name,
            "distribution": status.listing.distribution,
            "version": status.listing.version,
            "valid": None if list_only else status.valid,
            "problem": status.problem,
            "remark": status.remark,
        }
        for status in statuses
    ]

    def for_people(console: Console) -> None:
        table = Table(box=None)
        for heading in ("role", "name", "distribution", "version", "status"):
            table.add_column(heading, overflow="fold")
        for status in statuses:
            item = status.listing
            word = "not imported" if list_only else _standing(status)
            table.add_row(item.role.word, item.name, item.distribution, item.version, word)
        console.print(table, markup=False)

    output.show({"plugins": rows}, for_people)


def _standing(status: Status) -> str:
    return status.problem or ("valid" if status.remark is None else f"valid, but {status.remark}")
