"""The first look at a plugin of another distribution, by a process of its own, which may hang, end or print."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from multiprocessing.connection import Connection
from typing import final

from attrs import frozen

from .forks import forked

_SHOWN = 60


@final
@frozen
class ProbeResult:
    """What was seen.

    Attributes:
        fault: why the plugin cannot be used; empty where nothing was seen.
        printed: the beginning of what it printed; empty where it printed nothing.
    """

    fault: str
    printed: str = ""


def probe(validate: Callable[[], str], seconds: float) -> ProbeResult:
    """Look at a plugin in a forked process.

    Args:
        validate: imports and validates it; returns why it cannot be used, or nothing.
        seconds: how long that may take.

    Guarantees:
        Nothing that the plugin does to its process happens to this one, and the process does not outlive the call.
    """
    here, there = multiprocessing.Pipe(duplex=False)
    process = forked(_run, validate, there)
    there.close()
    try:
        if not here.poll(seconds):
            return ProbeResult(f"its import takes longer than {seconds:g} s")
        fault, printed = json.loads(here.recv_bytes())
        return ProbeResult(str(fault), str(printed))
    except (EOFError, OSError, ValueError):
        process.join(seconds)
        return ProbeResult(f"its import ends the process with exit code {process.exitcode}")
    finally:
        here.close()
        process.kill()
        process.join()
        process.close()


@contextmanager
def output_to_stderr() -> Iterator[None]:
    """Send to stderr what is printed meanwhile, by Python or below it."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _run(validate: Callable[[], str], connection: Connection) -> None:
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 1)
        sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
        try:
            fault = validate()
        except BaseException as error:  # a plugin may raise anything, SystemExit too
            fault = f"looking at it fails with {type(error).__name__}: {error}"
        sys.stdout.flush()
        printed.seek(0)
        text = printed.read(4 * _SHOWN).decode("utf-8", "replace").strip()
        connection.send_bytes(json.dumps([fault, text[:_SHOWN]]).encode())
    os._exit(0)  # nothing that the plugin left behind runs any more
