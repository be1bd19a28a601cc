"""A fault of certdp itself is no verdict: it has an exit code of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from certdp.__main__ import UNFORESEEN
from certdp.commands.output import BAD_INPUT, FAILED

COMMAND = """
import certdp.commands.app as commands
def app():
    assert False, "not foreseen"
commands.app = app
"""
INSTALLATION = """
import sys
sys.modules["certdp.commands.app"] = None
"""
RUN = """
from certdp.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("broken", "told"), [(COMMAND, "not foreseen"), (INSTALLATION, "certdp.commands.app")], ids=["command", "import"]
)
def test_what_nobody_foresaw_is_no_verdict(broken: str, told: str) -> None:
    """An assertion that failed ended `verify-peer` with the exit code of a claim that is refuted."""
    ended = subprocess.run([sys.executable, "-c", broken + RUN], capture_output=True, text=True, check=False)
    assert ended.returncode == UNFORESEEN
    assert told in ended.stderr
    assert UNFORESEEN not in {0, FAILED, BAD_INPUT, 3}
