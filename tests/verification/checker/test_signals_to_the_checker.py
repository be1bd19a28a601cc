"""The checker as a program of its own dies of a signal at once, silently; as a library it leaves signals alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

CHECKER = "certdp.verification.checker"
BEGIN = "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
ONCE_READING = """
import os, signal, sys
def told(event, arguments):
    if event == "open" and str(arguments[0]).endswith("certificate.json"):
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(told)
sys.path.remove({folder!r})
del sys.modules["argparse"]
import argparse
globals().update(vars(argparse))
"""
SEND = "import os, signal\nos.kill(os.getpid(), signal.{})\n"


def ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A process that finds the modules of a folder before all others."""
    places = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    command, variables = [sys.executable, *words], {**os.environ, "PYTHONPATH": places}
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, env=variables)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("imported", ["json", "hashlib", "mpmath", "argparse"])
def test_a_signal_while_it_imports_ends_it_silently(tmp_path: Path, imported: str, name: str) -> None:
    (tmp_path / f"{imported}.py").write_text(SEND.format(name))
    ended = ran(tmp_path, "-m", CHECKER, "certificate.json")
    assert (ended.returncode, ended.stdout, ended.stderr) == (-getattr(signal, name), "", "")


def test_a_signal_while_it_checks_ends_it_silently(tmp_path: Path) -> None:
    (tmp_path / "argparse.py").write_text(ONCE_READING.format(folder=str(tmp_path)))
    (tmp_path / "certificate.json").write_text("{}")
    ended = ran(tmp_path, "-m", CHECKER, str(tmp_path / "certificate.json"))
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


def test_a_program_that_imports_it_keeps_its_own_answer(tmp_path: Path) -> None:
    program = f"{BEGIN}from {CHECKER} import check\nprint(signal.getsignal(2) is signal.default_int_handler)\n"
    ended = ran(tmp_path, "-c", program)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "True\n", "")
    (tmp_path / "program.py").write_text(program)
    assert ran(tmp_path, "-m", "program").stdout == "True\n"


def test_a_signal_that_was_to_be_ignored_is(tmp_path: Path) -> None:
    (tmp_path / "mpmath.py").write_text(SEND.format("SIGINT") + "raise SystemExit(7)\n")
    program = f"import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nos.execv({sys.executable!r}, "
    ended = ran(tmp_path, "-c", f"{program}[{sys.executable!r}, '-m', {CHECKER!r}, 'x'])")
    assert ended.returncode == 7
