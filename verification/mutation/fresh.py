"""A process that imports the package with a mutant in it, and runs guards: a script, told by a file what to do.

Until the mutant is in its place it imports the standard library alone, because all else would import the package.
"""

from __future__ import annotations

import importlib
import json
import marshal
import pickle
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import NoReturn, TypedDict, final

PACKAGE = "certdp"
HELD, NOTICED, UNPLANTED = 0, 3, 4


class Job(TypedDict):
    """What the process is to do.

    Attributes:
        module: full name of the module that has the mutant.
        code: what importing it executes, marshalled; empty where nothing is planted.
        claims: ids of the claims to examine.
        tests: ids of the tests to run.
        files: their files.
        seconds: most processor time.
    """

    module: str
    code: bytes
    claims: list[str]
    tests: list[str]
    files: list[str]
    seconds: int


@final
class _Planted(MetaPathFinder):
    """Finds one module whose code is given.

    Attributes:
        loader: what has loaded it; None as long as it was not asked for.
    """

    def __init__(self, module: str, code: CodeType) -> None:
        self._module, self._code = module, code
        self.loader: _Given | None = None

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == self._module else None
        if spec is not None and spec.origin is not None:
            spec.loader = self.loader = _Given(name, spec.origin, self._code)
        return spec

    @property
    def is_there(self) -> bool:
        """Whether the module that importers see has executed the code that is given."""
        spec = getattr(sys.modules.get(self._module), "__spec__", None)
        return spec is not None and self.loader is not None and spec.loader is self.loader and self.loader.executed


@final
class _Given(SourceFileLoader):
    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code, self.executed = code, False

    def get_code(self, fullname: str) -> CodeType:
        self.executed = True
        return self._code


def _run(job: Job) -> int:
    """Run the guards; HELD where each is as expected, NOTICED where one is not, or nothing can be imported.

    UNPLANTED where the module that the guards would see is not that with the mutant.
    """
    planted = _Planted(job["module"], marshal.loads(job["code"])) if job["code"] else None
    if planted is not None:
        sys.meta_path.insert(0, planted)
    try:
        importlib.import_module(job["module"])
        killing = importlib.import_module(f"{PACKAGE}.verification.mutation.killing")
        if planted is not None and not planted.is_there:
            return UNPLANTED
        held = killing.all_held(job["claims"], job["tests"], job["files"], job["seconds"])
    except Exception:
        return NOTICED
    return HELD if held else NOTICED


def _executed() -> dict[str, list[int]]:
    """The lines of the functions that importing the package calls, by full names of its modules."""
    found: dict[str, set[int]] = {}

    def called(frame: FrameType, _event: str, _argument: object) -> None:
        name = str(frame.f_globals.get("__name__"))
        if name.startswith(f"{PACKAGE}.") and frame.f_code.co_name != "<module>":
            found.setdefault(name, set()).update(line for _, _, line in frame.f_code.co_lines() if line)

    sys.settrace(called)  # no line is traced, because the call's tracer returns none
    importlib.import_module(f"{PACKAGE}.verification.mutation.warm")
    sys.settrace(None)
    return {name: sorted(lines) for name, lines in found.items()}


def _main(arguments: Sequence[str]) -> NoReturn:
    if not arguments:
        print(json.dumps(_executed()))
        sys.exit(HELD)
    (job,) = (pickle.loads(Path(argument).read_bytes()) for argument in arguments)
    sys.exit(_run(job))


if __name__ == "__main__":
    _main(sys.argv[1:])
