"""`certdp plugins new`: the package of a new plugin."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ...accounting.errors import InvalidValue
from ...plugins.registry import Role
from ...plugins.scaffold import new_plugin
from ..output import Output

_ROLES = {role.word: role for role in Role}


def run(name: str, kind: str, out: Path, output: Output) -> None:
    """Write the package and say what to do next."""
    if kind not in _ROLES:
        raise InvalidValue("kind", kind, f"one of: {', '.join(_ROLES)}", "Give --kind one of them")
    written = new_plugin(name, _ROLES[kind], out)
    paths = [str(path) for path in written.paths]

    def for_people(console: Console) -> None:
        console.print(f"{kind} {written.name} in {written.folder}:", markup=False)
        for path in paths:
            console.print(f"  {path}", markup=False)
        console.print("\nInstall it and run its tests:\n", markup=False)
        console.print(f'  cd {written.folder}\n  python -m pip install -e ".[test]"\n  python -m pytest', markup=False)

    output.show({"name": str(written.name), "kind": kind, "folder": str(written.folder), "files": paths}, for_people)
