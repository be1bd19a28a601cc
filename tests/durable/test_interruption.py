"""What signals do to a process that answers them, told by processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from certdp.durable import interruption
from certdp.durable.files import write_whole
from certdp.durable.interruption import _obeys_codes, _State, die_of
from certdp.plugins.forks import can_fork

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

BEGIN = """
import os, signal, sys, time
from pathlib import Path
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
from certdp.durable.files import whole_file, write_whole
from certdp.durable.interruption import die_of, install, stopped_by_signals, undone_by, uninterrupted
def send(number):
    os.kill(os.getpid(), number)
"""
INSTALLED = BEGIN + "install()\n"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def ran(program: str, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("number", SIGNALS)
def test_nothing_can_swallow_a_signal(number: signal.Signals) -> None:
    program = f"""
while True:
    try:
        send({int(number)})
    except BaseException:
        print("swallowed", flush=True)
"""
    ended = ran(INSTALLED + program)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-number, "", "")


def test_the_program_of_another_keeps_its_own_answer() -> None:
    ended = ran(BEGIN + "try:\n    send(signal.SIGINT)\nexcept KeyboardInterrupt:\n    print('mine')\n")
    assert (ended.returncode, ended.stdout) == (0, "mine\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_was_to_be_ignored_is(number: signal.Signals) -> None:
    """As nohup and shells do it for what runs in the background."""
    ended = ran(BEGIN + f"signal.signal({int(number)}, signal.SIG_IGN)\ninstall()\nsend({int(number)})\nprint('on')\n")
    assert (ended.returncode, ended.stdout) == (0, "on\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_half_done_work_is_taken_away(tmp_path: Path, number: signal.Signals) -> None:
    program = f"""
with whole_file(Path(sys.argv[1])) as stream:
    stream.write(b"half")
    stream.flush()
    assert len(os.listdir(os.path.dirname(sys.argv[1]))) == 1
    send({int(number)})
"""
    ended = ran(INSTALLED + program, tmp_path / "out")
    assert (ended.returncode, ended.stderr) == (-number, "")
    assert list(tmp_path.iterdir()) == []


def test_a_child_takes_nothing_of_its_parent_away(tmp_path: Path) -> None:
    program = """
with whole_file(Path(sys.argv[1])) as stream:
    stream.write(b"whole")
    child = os.fork()
    if not child:
        send(signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
"""
    assert ran(INSTALLED + program, tmp_path / "out").returncode == 0
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"whole"]


def test_short_work_is_done_first() -> None:
    program = """
with uninterrupted():
    with uninterrupted():
        send(signal.SIGTERM)
    print("done", flush=True)
print("alive", flush=True)
"""
    ended = ran(INSTALLED + program)
    assert (ended.returncode, ended.stdout) == (-signal.SIGTERM, "done\n")


def test_names_are_given_whole_or_not_at_all(tmp_path: Path) -> None:
    """A signal as each name is given finds all of them given."""
    program = """
from certdp.durable.files import Rank, published
replace = os.replace
def interrupted(source, target):
    send(signal.SIGINT)
    replace(source, target)
os.replace = interrupted
with published() as files:
    files.write(Path(sys.argv[1], "released"), b"2", Rank.RELEASE)
    files.write(Path(sys.argv[1], "record"), b"1", Rank.RECORD)
"""
    assert ran(INSTALLED + program, tmp_path).returncode == -signal.SIGINT
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"released": b"2", "record": b"1"}


EVERY_MOMENT = """
from certdp.durable.files import Rank, published
folder, number, stride = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
(folder / "statement").write_bytes(b"old")

def publish():
    with published() as files:
        files.write(folder / "released", b"3", Rank.RELEASE)
        files.write(folder / "record", b"1", Rank.RECORD)
        files.write(folder / "statement", b"2", Rank.STATEMENT)

def send_at(moment):
    left = moment
    def note(*_):
        nonlocal left
        left -= 1
        if not left:
            send(number)
    install()
    sys.setprofile(note)
    publish()
    sys.setprofile(None)
    os._exit(0 if left > 0 else 1)

moment, ended = 0, -number
while ended:
    moment += stride
    child = os.fork()
    if not child:
        send_at(moment)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = {path.name: path.read_bytes().decode() for path in folder.iterdir()}
    names = {name: left.pop(name, "") for name in ("record", "statement", "released")}
    print(ended, *(names[name] or "-" for name in names), len(left), flush=True)
    if number == signal.SIGKILL:
        publish()
        left = [path.name for path in folder.iterdir() if path.name not in names]
    assert not left, left
    for name in names:
        (folder / name).unlink(missing_ok=True)
    (folder / "statement").write_bytes(b"old")
"""


@pytest.mark.slow
@pytest.mark.skipif(not can_fork(), reason="this system cannot fork")
@pytest.mark.parametrize("stride", [17, pytest.param(1, marks=pytest.mark.soundness)])
@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGKILL])
def test_a_signal_at_every_moment_of_a_publication(tmp_path: Path, number: signal.Signals, stride: int) -> None:
    """A moment is a call or a return, of Python's functions and of the system's: each gets a signal of its own."""
    found = ran(BEGIN + EVERY_MOMENT, tmp_path, int(number), stride)
    assert found.returncode == 0, found.stderr
    *signalled, last = (line.split() for line in found.stdout.splitlines())
    assert len(signalled) * stride > 300
    assert last == ["0", "1", "2", "3", "0"]
    assert {ended for ended, *_ in signalled} == {str(-number)}
    states = {tuple(state) for _, *state, _ in signalled}
    before, after = ("-", "old", "-"), ("1", "2", "3")
    between = {("1", "old", "-"), ("1", "2", "-")} if number == signal.SIGKILL else set()
    assert {before, after} <= states <= {before, after} | between
    assert (stride > 1) or states == {before, after} | between
    assert ({count for *_, count in signalled} == {"0"}) == (number != signal.SIGKILL)


def test_long_work_is_asked_to_stop_and_a_second_signal_does_not_ask() -> None:
    program = """
with stopped_by_signals() as stop:
    assert stop.asked is None
    send(signal.SIGTERM)
    print(stop.asked == signal.SIGTERM, flush=True)
    send(signal.SIGINT)
    print("alive", flush=True)
"""
    ended = ran(INSTALLED + program)
    assert (ended.returncode, ended.stdout) == (-signal.SIGINT, "True\n")
    ended = ran(INSTALLED + program.replace("send(signal.SIGINT)", "") + "print('beyond', flush=True)\n")
    assert (ended.returncode, ended.stdout) == (-signal.SIGTERM, "True\nalive\n")


def test_long_work_is_asked_to_stop_amid_short_work_too() -> None:
    """A training run that dies as it writes a checkpoint would lose the steps that it paid for."""
    program = """
with stopped_by_signals() as stop:
    with uninterrupted():
        send(signal.SIGINT)
        print(stop.asked == signal.SIGINT, flush=True)
    print("asked", flush=True)
    with uninterrupted():
        send(signal.SIGTERM)
        print("done", flush=True)
    print("alive", flush=True)
"""
    ended = ran(INSTALLED + program)
    assert (ended.returncode, ended.stdout) == (-signal.SIGTERM, "True\nasked\ndone\n")


@pytest.mark.skipif(not can_fork(), reason="this system cannot fork")
def test_processes_end_with_the_one_that_forked_them() -> None:
    """Killed, it can no longer end them itself; its output ends when the last of them does."""
    program = """
from certdp.plugins.forks import forked
for _ in range(3):
    forked(time.sleep, 600)
print("begun", flush=True)
time.sleep(600)
"""
    running = subprocess.Popen([sys.executable, "-c", INSTALLED + program], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stdout.readline() == "begun\n"
    running.kill()
    assert running.communicate()[0] == ""


KILLED = """
def killed(*_):
    send(signal.SIGKILL)
os.replace = killed
write_whole(Path(sys.argv[1]), b"never seen")
"""


def test_what_a_killed_process_leaves_is_removed_by_the_next(tmp_path: Path) -> None:
    path, other = tmp_path / "out", tmp_path / "another"
    for target in (path, path, other):
        assert ran(INSTALLED + KILLED, target).returncode == -signal.SIGKILL
    own = tmp_path / ".out.0123456789abcdef"
    own.write_bytes(b"somebody's")
    assert len(list(tmp_path.iterdir())) == 3  # the second run of the first has removed what the first left
    write_whole(path, b"content")
    left = sorted(entry.name for entry in tmp_path.iterdir())
    assert len(left) == 3
    assert {own.name, path.name} < set(left)
    assert left[0].startswith(".another.")
    write_whole(other, b"content")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [own.name, other.name, path.name]


def test_what_a_living_process_writes_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "out"
    program = """
with whole_file(Path(sys.argv[1])) as stream:
    stream.write(b"slow")
    print("writing", flush=True)
    sys.stdin.readline()
"""
    command = [sys.executable, "-c", INSTALLED + program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "writing\n"
        write_whole(path, b"quick")
        assert path.read_bytes() == b"quick"
        running.communicate("\n")
    assert running.returncode == 0
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"slow"]


@pytest.mark.skipif(not can_fork(), reason="forks")
def test_a_file_of_errors_holds_no_codes_of_terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal in ("xterm", "dumb"):
        monkeypatch.setenv("TERM", terminal)
        errors = tmp_path / terminal
        child = os.fork()
        if not child:
            os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
            _State.owner = os.getpid()
            die_of(signal.SIGTERM)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
        assert errors.read_bytes() == b""


@pytest.mark.parametrize("owned", [True, False])
@pytest.mark.parametrize("shown", [True, False])
def test_what_is_done_before_the_end(owned: bool, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step is noted in place of being done: half-done work goes, latest first, before the signal is sent."""
    done = list[tuple[Any, ...]]()
    for where, name in ((os, "write"), (os, "kill"), (signal, "signal"), (signal, "pthread_sigmask")):
        monkeypatch.setattr(where, name, lambda *given, name=name: done.append((name, *given)))
    monkeypatch.setattr(interruption, "_obeys_codes", lambda: shown)
    monkeypatch.setattr(_State, "owner", os.getpid() if owned else os.getpid() + 1)
    monkeypatch.setattr(_State, "half_done", {1: lambda: done.append(("first",)), 2: lambda: done.append(("second",))})
    with pytest.raises(SystemExit) as ended:
        die_of(signal.SIGTERM)
    assert ended.value.code == 128 + signal.SIGTERM
    undone = [("second",), ("first",), *([("write", 2, b"\x1b[?25h")] if shown else [])] if owned else []
    assert done == [
        *(("signal", number, signal.SIG_IGN) for number in SIGNALS),
        *undone,
        ("signal", signal.SIGTERM, signal.SIG_DFL),
        ("kill", os.getpid(), signal.SIGTERM),
        ("pthread_sigmask", signal.SIG_UNBLOCK, [signal.SIGTERM]),
    ]


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("kind", ["xterm", "dumb", None])
def test_codes_are_for_terminals_that_obey_them(
    terminal: bool, kind: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "isatty", lambda descriptor: terminal and descriptor == 2)
    if kind is None:
        monkeypatch.delenv("TERM", raising=False)
    else:
        monkeypatch.setenv("TERM", kind)
    assert _obeys_codes() == (terminal and kind == "xterm")


@pytest.mark.skipif(not can_fork(), reason="this system cannot fork")
@pytest.mark.parametrize(
    ("terminal", "kind", "shown"),
    [(True, "xterm", True), (True, "dumb", False), (True, None, False), (False, "xterm", False)],
)
def test_the_cursor_is_shown_again_on_terminals_that_hide_it(
    terminal: bool, kind: str | None, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind is None:
        monkeypatch.delenv("TERM", raising=False)
    else:
        monkeypatch.setenv("TERM", kind)
    reading, writing = os.openpty() if terminal else os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writing, 2)
        _State.owner = os.getpid()
        die_of(signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
    os.write(writing, b"end")
    found = b""
    while not found.endswith(b"end"):
        found += os.read(reading, 100)
    os.close(reading)
    os.close(writing)
    assert (b"\x1b[?25h" in found) == shown
