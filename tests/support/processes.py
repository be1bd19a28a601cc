"""Processes of Python that listen to signals, as those that shells start behind would not of themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence


def run_python(words: Sequence[str], variables: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Python with these words, and these variables beside those of this process."""
    ignored = [one for one in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(one) is signal.SIG_IGN]
    for one in ignored:
        signal.signal(one, signal.SIG_DFL)
    try:
        return subprocess.run(
            [sys.executable, *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            env={**os.environ, **(variables or {})},
        )
    finally:
        for one in ignored:
            signal.signal(one, signal.SIG_IGN)
