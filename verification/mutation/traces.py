"""What guards execute, as it was found: in memory, and in a checkout in a folder that is not part of it.

What was found is exact for as long as the source of the guard and of all modules that it executes is the same. Later it
tells which guards to try first, in the modules that are still the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, final

from attrs import define, field

from .guarded import modules, tests_folder
from .killing import Guard
from .mutants import source_of

Found: TypeAlias = tuple[Guard, ...] | None


def short_digest(*texts: str) -> str:
    """Digest texts, to tell them apart, not to defend them."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


@final
@define
class Traces:
    """The guards in each claim, by its id, and in each file of tests, by its path."""

    _found: dict[str, Found] = field(factory=dict)
    _dated: dict[str, tuple[Guard, ...]] = field(factory=dict)
    _locks: dict[str, threading.Lock] = field(factory=dict)

    def known(self, name: str, is_claim: bool, trace: Callable[[], Found]) -> Found:
        """The guards of that name, traced if it was never done for what they are today."""
        with self._locks.setdefault(name, threading.Lock()):
            if name not in self._found:
                kept, is_exact = _kept(name, is_claim)
                self._found[name] = kept if is_exact else _keep(name, is_claim, trace())
            return self._found[name]

    def remembered(self, name: str, is_claim: bool) -> tuple[Found, bool]:
        """The guards of that name as far as they are known without a trace, and whether that is exact.

        What is not may have changed since: then it is told of the modules alone that have not.
        """
        with self._locks.setdefault(name, threading.Lock()):
            if name in self._found:
                return self._found[name], True
            if name in self._dated:
                return self._dated[name], False
            kept, is_exact = _kept(name, is_claim)
            if is_exact:
                self._found[name] = kept
            else:
                self._dated[name] = kept or ()
            return kept, is_exact


def _file(name: str) -> Path | None:
    """Where the trace of a claim, or of a file of tests, is kept."""
    tests = tests_folder()
    if tests is None:
        return None
    path = Path(name)
    known_as = str(path.relative_to(tests)) if path.is_relative_to(tests) else name
    return tests.parent / "run" / "mutation" / f"{short_digest(known_as)}.trace"


def _kept(name: str, is_claim: bool) -> tuple[Found, bool]:
    """What was found last, of the modules that are the same today, and whether that is exact."""
    file = _file(name)
    if file is None or not file.exists():
        return (), False
    told: dict[str, Any] = json.loads(zlib.decompress(file.read_bytes()))
    today = _digests(told["sources"])
    same = {module for module, digest in told["sources"].items() if digest == today[module]}
    is_exact = told["own"] == _own_digest(name, is_claim) and len(same) == len(today)
    if told["guards"] is None:
        return None if is_exact else (), is_exact
    found = (
        Guard(each, is_claim, seconds, {m: frozenset(lines) for m, lines in touched.items() if m in same}, shared)
        for each, seconds, touched, shared in told["guards"]
    )
    return tuple(found), is_exact


def _keep(name: str, is_claim: bool, found: Found) -> Found:
    """Keep what was found; of what does not end in time, that it does not."""
    file = _file(name)
    if file is not None:
        touched = dict.fromkeys(module for guard in found or () for module in guard.touched)
        guards = found and [
            (guard.name, guard.seconds, {m: sorted(lines) for m, lines in guard.touched.items()}, guard.shared)
            for guard in found
        ]
        told = {"own": _own_digest(name, is_claim), "sources": _digests(touched), "guards": guards}
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_bytes(zlib.compress(json.dumps(told).encode()))
        os.replace(draft, file)
    return found


def _digests(touched: Iterable[str]) -> dict[str, str]:
    known = set(modules())
    return {module: short_digest(source_of(module)) if module in known else "" for module in touched}


def _own_digest(name: str, is_claim: bool) -> str:
    own = _claims_digest() if is_claim else short_digest(Path(name).read_text("utf-8"), _support_digest())
    return short_digest(own, _tracing_digest())


@cache
def _tracing_digest() -> str:
    """Digest what traces are made with."""
    made_with = ("traces.py", "tracing.py", "sharing.py", "killing.py")
    return short_digest(*(Path(__file__).with_name(name).read_text("utf-8") for name in made_with))


@cache
def _claims_digest() -> str:
    """Digest all that claims are made of."""
    folder = Path(__file__).parents[1]
    apart = {"mutation", "checker"}
    files = (file for file in sorted(folder.rglob("*.py")) if file.relative_to(folder).parts[0] not in apart)
    return short_digest(*(file.read_text("utf-8") for file in files))


@cache
def _support_digest() -> str:
    """Digest what tests are made of beside their files."""
    tests = tests_folder()
    files = () if tests is None else (f for f in sorted(tests.rglob("*.py")) if not f.name.startswith("test_"))
    return short_digest(*(file.read_text("utf-8") for file in files))
