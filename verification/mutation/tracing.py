"""Which functions of the package a call executes: a guard that never enters a function notices no mutant of it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import TypeAlias, TypeVar

from .mutants import PACKAGE

Result = TypeVar("Result")
Touched: TypeAlias = frozenset[tuple[str, str]]
"""Modules, by dotted names within the package, with the qualified names of their functions."""


def touching(call: Callable[[], Result]) -> tuple[Result, float, Touched]:
    """Make a call; its result, its processor time in seconds, and the functions that it entered in any thread."""
    entered: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            entered.add(frame.f_code)

    started = time.process_time()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        result = call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return result, time.process_time() - started, frozenset(filter(None, map(_place, entered)))


def _place(code: CodeType) -> tuple[str, str] | None:
    """The module and the function that a code belongs to, those inside it included."""
    for folder in _FOLDERS:
        if code.co_filename.startswith(folder):
            parts = Path(code.co_filename[len(folder) :]).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            return module, code.co_qualname.partition(".<locals>")[0]
    return None


_FOLDERS = [f"{folder}/" for folder in sys.modules[PACKAGE].__path__]
