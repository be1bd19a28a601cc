"""A fault of certdp itself is no verdict: it has an exit code of its own."""

from __future__ import annotations

import subprocess
import sys

from certdp.__main__ import UNFORESEEN
from certdp.commands.output import BAD_INPUT, FAILED

BROKEN = """
import certdp.commands.app as commands
def app():
    assert False, "not foreseen"
commands.app = app
from certdp.__main__ import main
main()
"""


def test_what_nobody_foresaw_is_no_verdict() -> None:
    """An assertion that failed ended `verify-peer` with the exit code of a claim that is refuted."""
    ended = subprocess.run([sys.executable, "-c", BROKEN], capture_output=True, text=True, check=False)
    assert ended.returncode == UNFORESEEN
    assert "not foreseen" in ended.stderr
    assert UNFORESEEN not in {0, FAILED, BAD_INPUT, 3}
