"""`certdp plugins new`: the package of a new plugin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from ...accounting.errors import InvalidValue, blamed_on
from ...plugins.registry import Role
from ...plugins.scaffold import Scaffold, new_plugin
from ..answer import Answer
from ..answering import application
from ..options import AnyOutput
from ..options import Role as RoleOption
from ..page import Page

_ROLES = {role.word: role for role in Role}


@frozen(kw_only=True)
class NewPlugin(Answer):
    """A package that was written.

    Attributes:
        written: its name, folder and files.
    """

    written: Scaffold

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        written = self.written
        files = [str(path) for path in written.paths]
        return {"name": str(written.name), "role": written.role.word, "folder": str(written.folder), "files": files}

    def show(self, page: Page) -> None:
        """Show the files on the page, and what to do next."""
        page.copy(f"{self.written.role.word} {self.written.name} in {self.written.folder}:")
        for path in self.written.paths:
            page.copy(f"  {path}")
        page.print("\nInstall it and run its tests:\n")
        page.copy(f'  cd {self.written.folder}\n  python -m pip install -e ".[test]"\n  python -m pytest')


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the plugin, its distribution and its folder.")],
    role: RoleOption = None,
    output: AnyOutput = None,
) -> NewPlugin:
    """Write a package with a new plugin: one formula, its entry point, and tests that call the conformance kit."""
    if role not in _ROLES:
        raise InvalidValue("role", role or "nothing", f"one of: {', '.join(_ROLES)}", "Give --role one of them")
    with blamed_on(out="output"):
        return NewPlugin(written=new_plugin(name, _ROLES[role], output or Path()))


command = application(new)
