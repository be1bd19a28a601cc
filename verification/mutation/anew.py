"""Mutants that are imported: for what is computed when modules are, and for functions whose code cannot be exchanged.

A mutant that is planted into the running library leaves what importing it has computed, in its own module and in
others. So where one is noticed by nobody, and importing the package executes its function or uses its constant, the
same guards see it once more in a process that imports the package with the mutant in it.
"""

from __future__ import annotations

import json
import marshal
import math
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import fresh
from .guarded import modules, tests_folder
from .killing import Ending, Guard, Outcome
from .mutants import PACKAGE, Mutant, file_of, mutated
from .planting import quietly_compiled

_IMPORTING = 120.0  # seconds of processor time, beyond those of the guards


def executed_by_imports() -> tuple[Guard, ...]:
    """What importing the package executes, as a trace: the lines of all functions that it calls, in every module."""
    ended = subprocess.run([*_COMMAND], stdout=subprocess.PIPE, check=True)
    found: dict[str, list[int]] = json.loads(ended.stdout)
    lines = {
        module: found.get(f"{PACKAGE}.{module}") for module in modules()
    }  # without a PyTorch, nothing of its folder
    touched = {module: frozenset(executed) for module, executed in lines.items() if executed}
    return (Guard("import", True, 0.0, touched),)


def attempt_anew(mutant: Mutant, guards: Sequence[Guard]) -> Ending:
    """Run guards in a process that imports the package with the mutant in it, until the first that notices.

    Guarantees:
        Killed only where all of these guards are as expected in such a process without the mutant; not planted where
        the module that was imported is not that with the mutant.
    """
    code = marshal.dumps(quietly_compiled(mutated(mutant), file_of(mutant.module)))
    ended = _status(mutant, code, guards)
    if ended == fresh.UNPLANTED:
        return Ending(Outcome.UNPLANTED, "", 0, 0.0)
    if ended == fresh.HELD or _status(mutant, b"", guards) != fresh.HELD:
        return Ending(Outcome.SURVIVED, "", len(guards), 0.0)
    if ended == -signal.SIGXCPU:
        return Ending(Outcome.TIMED_OUT, "", 0, 0.0)
    return Ending(Outcome.KILLED, "a guard, where the package is imported with it", 0, 0.0)


_COMMAND = (sys.executable, "-P", str(Path(__file__).with_name("fresh.py")))


def _status(mutant: Mutant, code: bytes, guards: Sequence[Guard]) -> int:
    """How the process ends: as `fresh` says, or by a signal where it reaches a limit."""
    tests = [guard.name for guard in guards if not guard.is_claim]
    folder = tests_folder()
    root = Path.cwd() if folder is None else folder.parent
    job = fresh.Job(
        module=f"{PACKAGE}.{mutant.module}",
        code=code,
        claims=[guard.name for guard in guards if guard.is_claim],
        tests=tests,
        files=list(dict.fromkeys(str(root / test.partition("::")[0]) for test in tests)),
        seconds=math.ceil(_IMPORTING + sum(guard.limit for guard in guards)),
    )
    with tempfile.TemporaryDirectory() as temporary:
        told = Path(temporary) / "job"
        told.write_bytes(pickle.dumps(job))
        quiet = subprocess.DEVNULL
        return subprocess.run([*_COMMAND, str(told)], stdout=quiet, stderr=quiet, cwd=root, check=False).returncode
