"""`certdp experiments`: every figure and table of the papers, from a folder of data, going on where it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

from ..accounting.errors import InvalidValue, blamed_on
from ..durable.files import write_whole
from ..experiments.results import written_into
from ..experiments.series import Item, Series, State
from .answer import Answer, path_as_json
from .answering import application
from .options import Only, Output, Seed
from .output import FAILED, Terminal
from .outputs import check_folder
from .page import Page
from .progress import watched


@frozen(kw_only=True)
class Made(Answer):
    """What became of each item of the series.

    Attributes:
        states: by item, in order.
        output: the folder of the results.
        page: the page whose tables were written anew, or none.
    """

    states: tuple[tuple[Item, State], ...]
    output: Path
    page: Path | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return {
            "items": [{"item": item.name, "file": item.file, "state": state.value} for item, state in self.states],
            "output": str(self.output),
            "page": path_as_json(self.page),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        rows = [(item.folder, item.experiment, item.file or "", state.value) for item, state in self.states]
        page.table(("folder", "experiment", "data", ""), rows)
        page.files({"results": self.output, "page": self.page})

    @property
    def exit_code(self) -> int:
        """1 where something is still to be made."""
        return FAILED if any(not state.made for _, state in self.states) else 0


def experiments(
    terminal: Terminal,
    output: Output,
    data_folder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="With the files of the data; else stand-ins for all of them.")
    ] = None,
    only: Only = None,
    repetitions: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs of each kind; else as many as in the paper.")
    ] = None,
    seed: Seed = 0,
    made: Annotated[bool, typer.Option("--made", help="Make none; tell what is made.")] = False,
    page: Annotated[
        Path | None, typer.Option(metavar="PAGE.md", help="Write the tables of this page anew, from what is made.")
    ] = None,
) -> Made:
    """Every figure and table of the papers: what is not made yet, in an order in which hours come last.

    Interrupted, it goes on where it stopped; data with another content than those of the documents are refused.
    """
    series = Series(data=data_folder, output=output, repetitions=repetitions, seed=seed)
    items = [item for item in series.items if only is None or any(fnmatchcase(item.name, glob) for glob in only)]
    if not items:
        names = ", ".join(item.name for item in series.items)
        raise InvalidValue("only", ", ".join(only or ()), f"a pattern of some of: {names}")
    check_folder(output)
    text = None if page is None else _read(page)
    columns = BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeRemainingColumn()
    with blamed_on(data="data-folder"), watched(terminal, float(len(items)), *columns) as bar:
        done = {item.name: place for place, item in enumerate(items)}
        tell = (lambda item, share: None) if bar is None else (lambda item, share: bar.reach(done[item.name] + share))
        states = list(series.known(items) if made else series.run(items, tell))
    if page is not None and text is not None:
        write_whole(page, written_into(text, output).encode())
    return Made(states=tuple(states), output=output, page=page)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValue("page", str(path), "a page with tables to write anew", str(error)) from None


command = application(experiments)
