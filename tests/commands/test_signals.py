"""Signals at any moment of a command: it dies of the signal, silently, with its outputs whole or absent."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from attrs import frozen

from certdp.dpis.checkpoints import Standing
from certdp.verification.checker import check
from certdp.weighted_sampling import read_sample

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell who listens")

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


@frozen
class Command:
    """A command under test.

    Attributes:
        words: of its command line; {in} and {out} are folders.
        records, statements, releases: what it writes, by what must be there before what.
        sound: complains about outputs that are there but are not what they should be.
        steady: outputs that are the same in every run.
        goes_on: whether a run that was killed goes on with what it had, less what it lost.
    """

    words: str
    records: tuple[str, ...]
    statements: tuple[str, ...]
    releases: tuple[str, ...]
    sound: Callable[[Path], None]
    steady: tuple[str, ...] = ()
    goes_on: bool = False

    @property
    def outputs(self) -> tuple[str, ...]:
        return (*self.records, *self.statements, *self.releases)

    def line(self, inputs: Path, folder: Path) -> list[str]:
        words = [word.replace("{in}", str(inputs)).replace("{out}", str(folder)) for word in self.words.split()]
        going_on = (folder / CHECKPOINT).exists()
        return [sys.executable, "-m", "certdp", *words, *(["--resume"] if going_on else [])]


CHECKPOINT = "run/private-checkpoint.npz"


def certificate_holds(folder: Path) -> None:
    if (folder / "c").exists():
        assert check((folder / "c").read_bytes()).accepted


def weights_are_whole(folder: Path) -> None:
    certificate_holds(folder)
    if (folder / "w.csv").exists():
        assert np.loadtxt(folder / "w.csv", delimiter=",", skiprows=1).shape == (20_000, 2)


def sample_is_whole(folder: Path) -> None:
    certificate_holds(folder)
    if (folder / "r").exists():
        json.loads((folder / "r").read_text("utf-8"))
    if (folder / "s.csv").exists():
        table, statement = read_sample(folder / "s.csv")
        assert len(table) > 100
        assert statement.private


def spend_is_recorded(folder: Path) -> None:
    """The checkpoint has paid for every step that was taken, and for every one that is published."""
    certificate_holds(folder)
    if not (folder / CHECKPOINT).exists():
        assert not [name for name in TRAINING[:-1] if (folder / f"run/{name}").exists()]
        return
    standing = Standing.read((folder / CHECKPOINT).read_bytes())
    paid = [epoch["steps"] if epoch["begun"] is not None else 0 for epoch in standing.account["epochs"]]
    taken = [row.steps for row in standing.history.epochs]
    assert sum(taken) + standing.unused <= sum(paid)
    if (folder / "run/run.json").exists():
        published = json.loads((folder / "run/run.json").read_text("utf-8"))["epochs"]
        assert published["steps"] == taken
        assert published["epsilon"] == [row.epsilon for row in standing.history.epochs]
        assert standing.unused == 0
    if (folder / "run/model.npz").exists():
        with np.load(folder / "run/model.npz") as model:
            for name in model.files:
                assert np.array_equal(model[name], standing.model[name])


TRAIN = (
    "dpis train --data {in}/data.npz --target y --records 200 --batch 20 --epochs 3 --epsilon 8 --delta 1e-5 --order 4 "
    "--model logistic --classes 2 --norm-noise 6 --checkpoint-every 3 --out {out}/run "
)
TRAINING = ("private-figures.json", "private-steps.csv", "run.json", "history.csv", "model.npz")
COMMANDS = {
    "weights": Command(
        words="weights --mechanism laplace-sum --option scale=10 --option radius=3 --target-epsilon 1 "
        "--data {in}/records.csv --output {out}/w.csv --certificate {out}/c",
        records=("w.csv",),
        statements=("c",),
        releases=(),
        sound=weights_are_whole,
        steady=("w.csv", "c"),
    ),
    "pws release": Command(
        words="pws release {in}/counts.csv --epsilon 1 --delta 1e-6 --scheme ppswor --threshold 0.01 --overwrite "
        "--output {out}/s.csv --certificate {out}/c --report {out}/r",
        records=("r",),
        statements=("c", "s.csv.json"),
        releases=("s.csv",),
        sound=sample_is_whole,
        steady=("c",),
    ),
    "dpis train": Command(
        words=f"{TRAIN} --certificate {{out}}/c",
        records=("run/private-figures.json", "run/private-steps.csv"),
        statements=("run/run.json", "run/history.csv", "c"),
        releases=("run/model.npz",),
        sound=spend_is_recorded,
        goes_on=True,
    ),
    "dpis train, seeded": Command(
        words=f"{TRAIN} --seed 1",
        records=("run/private-figures.json", "run/private-steps.csv"),
        statements=("run/run.json", "run/history.csv"),
        releases=("run/model.npz",),
        sound=spend_is_recorded,
        goes_on=True,
        steady=("run/model.npz", "run/history.csv"),
    ),
}


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    source = np.random.default_rng(0)
    np.savetxt(folder / "records.csv", source.standard_normal((20_000, 3)), delimiter=",", header="a,b,c", comments="")
    counts = source.zipf(1.5, 20_000).clip(max=10**6)
    (folder / "counts.csv").write_text("key,count\n" + "".join(f"k{key},{count}\n" for key, count in enumerate(counts)))
    np.savez(folder / "data.npz", X=source.standard_normal((200, 3)), y=source.integers(0, 2, 200))
    return folder


@contextmanager
def begun(line: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that listens to signals, whether or not this one does."""
    ignored = [one for one in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(one) is signal.SIG_IGN]
    for one in ignored:
        signal.signal(one, signal.SIG_DFL)
    try:
        running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    finally:
        for one in ignored:
            signal.signal(one, signal.SIG_IGN)
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def listens(running: subprocess.Popen[str]) -> bool:
    """Whether certdp has begun: the interpreter, which answers before, leaves SIGTERM alone."""
    try:
        status = Path(f"/proc/{running.pid}/status").read_text()
    except OSError:
        return False
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".*")]


def run_whole(command: Command, inputs: Path, folder: Path) -> float:
    """Run until the end; how long that took."""
    before = time.monotonic()
    with begun(command.line(inputs, folder)) as running:
        _, told = running.communicate()
    assert running.returncode == 0, told
    assert {name for name in command.outputs if not (folder / name).exists()} == set()
    assert left_behind(folder) == []
    command.sound(folder)
    return time.monotonic() - before


@pytest.fixture(scope="session")
def undisturbed(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, float]]:
    """The outputs of a run that nobody disturbs, and how long it takes."""

    @cache
    def known(name: str) -> tuple[Path, float]:
        folder = tmp_path_factory.mktemp("undisturbed")
        return folder, run_whole(COMMANDS[name], inputs, folder)

    return known


def require_order(command: Command, folder: Path) -> None:
    """What is released is not there without its records, what is stated not without them either."""
    there = {name for name in command.outputs if (folder / name).exists()}
    if there & set(command.releases):
        assert there >= {*command.statements, *command.records}
    if there & set(command.statements):
        assert there >= set(command.records)


def disturb(
    name: str, ending: signal.Signals, share: float, inputs: Path, folder: Path, known: tuple[Path, float]
) -> str:
    """Send a signal at a share of the time that a run takes, hold what is left against what must be, and go on."""
    command, (whole, seconds) = COMMANDS[name], known
    with begun(command.line(inputs, folder)) as running:
        time.sleep(share * seconds)
        has_begun = listens(running)
        running.send_signal(ending)
        _, told = running.communicate()
    if ending is not signal.SIGINT or has_begun:
        assert running.returncode in (-ending, 0), told
        assert "Traceback" not in told
    command.sound(folder)
    require_order(command, folder)
    if ending is not signal.SIGKILL:
        assert left_behind(folder) == []
        assert sum((folder / one).exists() for one in command.outputs) in (0, len(command.outputs))
    ended = "finished" if running.returncode == 0 else "ended" if has_begun else "ended before certdp began"
    left = len(left_behind(folder))
    if ending is signal.SIGKILL or command.goes_on:
        run_whole(command, inputs, folder)
    there = command.steady if ending is not signal.SIGKILL or not command.goes_on else ()
    for one in there:
        if (folder / one).exists():
            assert (folder / one).read_bytes() == (whole / one).read_bytes()
    return f"{ended}, leaving {left}"


def case(number: int) -> tuple[str, signal.Signals, float]:
    """The same whenever it is asked for."""
    source = random.Random(f"signals {number}")
    return source.choice(list(COMMANDS)), source.choice(ENDINGS), source.uniform(0, 1.02)


@pytest.mark.parametrize("number", range(8))
def test_signals_at_any_moment(
    number: int,
    inputs: Path,
    undisturbed: Callable[[str], tuple[Path, float]],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    name, ending, share = case(number)
    found = disturb(name, ending, share, inputs, tmp_path, undisturbed(name))
    record_property("signal", f"{name}, {ending.name} at {share:.3f}: {found}")


@pytest.mark.soundness
@pytest.mark.parametrize("number", range(200))
def test_two_hundred_signals(
    number: int,
    inputs: Path,
    undisturbed: Callable[[str], tuple[Path, float]],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    test_signals_at_any_moment(number, inputs, undisturbed, tmp_path, record_property)
