"""Work in processes of its own: what hangs, crashes or leaves children behind harms no other piece."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from certdp.plugins.forks import can_fork
from certdp.verification.running.isolation import Crashed, Fate, Finished, Note, Overdue, isolated

pytestmark = pytest.mark.skipif(not can_fork(), reason="this system cannot fork")


def work(piece: Callable[[], Any], _: Note) -> Any:
    return piece()


def fates(pieces: Sequence[Callable[[], Any]], *, jobs: int = 1, seconds: float | None = 30) -> list[Fate[Any]]:
    found = dict(isolated(pieces, work, jobs=jobs, seconds=seconds, tick=lambda _: None))
    assert set(found) == set(range(len(pieces)))
    assert not multiprocessing.active_children()
    return [found[index] for index in range(len(pieces))]


def endless() -> None:
    while True:
        pass


def asleep_in_c() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})
    time.sleep(600)


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 3])
def test_every_piece_has_its_fate_and_the_others_run_on(jobs: int) -> None:
    pieces = [lambda: 1, endless, lambda: 2, killed, lambda: os._exit(3), asleep_in_c, lambda: 4]
    one, stuck, two, crashed, left, asleep, four = fates(pieces, jobs=jobs, seconds=1)
    assert [one, two, four] == [Finished(1), Finished(2), Finished(4)]
    for overdue in (stuck, asleep):
        assert isinstance(overdue, Overdue)
        assert overdue.seconds > 1
    assert isinstance(crashed, Crashed)
    assert crashed.exit_code == -signal.SIGKILL
    assert isinstance(left, Crashed)
    assert left.exit_code == 3


def test_one_process_serves_many_pieces() -> None:
    served = fates([os.getpid] * 20)
    assert len(set(served)) == 1
    assert served[0] != Finished(os.getpid())


def test_as_many_pieces_are_in_work_at_a_time_as_there_are_jobs() -> None:
    barrier = multiprocessing.get_context("fork").Barrier(
        8
    )  # opens once eight wait at it: one after the other never do
    assert set(fates([lambda: barrier.wait() >= 0] * 8, jobs=8)) == {Finished(True)}


def test_what_an_overdue_piece_started_is_stopped_too(tmp_path: Path) -> None:
    noted = tmp_path / "child"

    def with_child() -> None:
        noted.write_text(str(subprocess.Popen(["sleep", "600"]).pid), encoding="ascii")
        time.sleep(600)

    (fate,) = fates([with_child], seconds=1)
    assert isinstance(fate, Overdue)
    child = Path(f"/proc/{noted.read_text('ascii')}/stat")
    while child.exists() and child.read_text("ascii").split()[2] != "Z":  # it is ended in a moment, or this never ends
        time.sleep(0.05)


def test_what_a_piece_prints_stays_off_the_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert fates([lambda: os.write(1, b"noise")]) == [Finished(5)]
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "noise" in captured.err


def test_an_interruption_leaves_no_process_behind() -> None:
    def interrupt(_: Sequence[object]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(isolated([endless], work, jobs=1, seconds=None, tick=interrupt))
    assert not multiprocessing.active_children()


def test_ticks_tell_what_is_being_worked_on() -> None:
    told: list[Sequence[str]] = []
    pieces = ["a", "b", "c"]
    list(isolated(pieces, lambda *_: time.sleep(0.3), jobs=2, seconds=None, tick=told.append))
    assert {piece for running in told for piece in running} == set(pieces)
    assert all(len(running) <= 2 for running in told)


def test_the_last_note_of_work_that_does_not_end_is_known() -> None:
    def noting(piece: Callable[[], Any], note: Note) -> Any:
        for number in range(1000):
            note({"at": number})
        return piece()

    pieces = [lambda: time.sleep(600), lambda: os._exit(1), lambda: 5]
    slept, left, ended = dict(isolated(pieces, noting, jobs=1, seconds=1.5, tick=lambda _: None)).values()
    assert isinstance(slept, Overdue)
    assert isinstance(left, Crashed)
    assert slept.noted == left.noted == {"at": 999}
    assert ended == Finished(5)


def test_no_pieces_need_no_process() -> None:
    assert fates([]) == []


ORPHANED = """
import os, signal, time
from certdp.verification.running.isolation import isolated

def work(piece, note):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(0.5)  # until it is gone
    return piece

if __name__ == "__main__":
    list(isolated([1, 2], work, jobs=1, seconds=30, tick=lambda _: None))
"""


def test_a_process_whose_parent_was_killed_ends_without_a_word(tmp_path: Path) -> None:
    program = tmp_path / "orphaned.py"
    program.write_text(ORPHANED, encoding="utf-8")
    ran = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    assert ran.returncode == -signal.SIGKILL
    assert ran.stderr == ""  # at the end of which the child has ended too
