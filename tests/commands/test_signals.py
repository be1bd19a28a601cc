"""Signals at any moment of a command: it dies of the signal, silently, with its outputs whole or absent.

A moment is a number of events, calls and returns, that the process itself counts before it sends itself the signal:
of all that happens from its first line on, of those in certdp's own modules, or of those in the modules that write
files. The same moments are therefore reached however busy the machine is.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from attrs import frozen

from certdp.dpis.checkpoints import Checkpoints, CheckpointState
from certdp.durable.files import published
from certdp.durable.interruption import undone_by
from certdp.verification.checker import check, digest_of
from certdp.weighted_sampling import read_sample

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

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

    def words_in(self, inputs: Path, folder: Path) -> list[str]:
        words = [word.replace("{in}", str(inputs)).replace("{out}", str(folder)) for word in self.words.split()]
        return [*words, *(["--resume"] if (folder / CHECKPOINT).exists() else [])]


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
        certified = check((folder / "c").read_bytes()).artefacts
        assert certified is not None
        assert digest_of(folder / "s.csv") == dict(certified.files)["s.csv"]
        table, statement = read_sample(folder / "s.csv")
        assert len(table) > 100
        assert statement.private


def spend_is_recorded(folder: Path) -> None:
    """The checkpoint has paid for every step that was taken, and for every one that is published."""
    certificate_holds(folder)
    if not (folder / CHECKPOINT).exists():
        assert not [name for name in TRAINING[:-1] if (folder / f"run/{name}").exists()]
        return
    standing = CheckpointState.read((folder / CHECKPOINT).read_bytes())
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
    "--model logistic --classes 2 --norm-noise 6 --checkpoint-every 3 --output {out}/run "
)
TRAINING = ("private-figures.json", "private-steps.csv", "run.json", "history.csv", "model.npz")
COMMANDS = {
    "weights": Command(
        words="weights --mechanism laplace-sum --option scale=10 --option radius=3 --epsilon 1 "
        "--data {in}/records.csv --output {out}/w.csv --certificate {out}/c",
        records=("w.csv",),
        statements=("c",),
        releases=(),
        sound=weights_are_whole,
        steady=("w.csv", "c"),
    ),
    "pws release": Command(
        words="pws release {in}/counts.csv --epsilon 1 --delta 1e-6 --scheme ppswor --threshold 0.01 --overwrite "
        "--output {out}/s.csv --certificate {out}/c --owner-report {out}/r",
        records=("r",),
        statements=("c", "s.csv.json"),
        releases=("s.csv",),
        sound=sample_is_whole,
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


Moments = dict[str, int]

MOMENTS = ("all", "own", "files")
"""Of what events are counted."""

WRITING = [one.__module__ for one in (published, undone_by, Checkpoints)]
FEW = 5

COUNTING = """
import _signal, json, os, runpy, sys
which, at, ending, told, writing = json.loads(sys.argv[1])
counts = {"before": 0, "all": 0, "own": 0, "files": 0}
def before(frame, event, argument):
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        counts["before"] += frame.f_globals.get("__name__", "").startswith("certdp")
    else:
        sys.setprofile(since)
def since(frame, event, argument):
    counts["all"] += 1
    name = frame.f_globals.get("__name__") or ""
    if name.startswith("certdp"):
        counts["own"] += 1
        counts["files"] += name in writing
    if counts[which] == at:
        counts[which] += 1  # once
        os.kill(os.getpid(), ending)
sys.argv = ["certdp", *sys.argv[2:]]
sys.setprofile(before)
try:
    runpy.run_module("certdp", run_name="__main__", alter_sys=True)
finally:
    sys.setprofile(None)
    with open(told, "w") as stream:
        json.dump(counts, stream)
"""


def ran(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, encoding="utf-8", check=False)


def counting(command: Command, inputs: Path, folder: Path, told: Path, moment: tuple[str, int, int]) -> list[str]:
    """The command line of a process that sends itself a signal at a moment, or that tells how many there are."""
    return ["-c", COUNTING, json.dumps([*moment, str(told), WRITING]), *command.words_in(inputs, folder)]


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".*")]


def require_whole(command: Command, folder: Path, ended: subprocess.CompletedProcess[str]) -> None:
    assert ended.returncode == 0, ended.stderr
    assert {name for name in command.outputs if not (folder / name).exists()} == set()
    assert left_behind(folder) == []
    command.sound(folder)


@pytest.fixture(scope="session")
def undisturbed(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Moments]]:
    """The outputs of a run that nobody disturbs, and how many moments it has."""

    @cache
    def known(name: str) -> tuple[Path, Moments]:
        folder, told = tmp_path_factory.mktemp("undisturbed"), tmp_path_factory.mktemp("told") / "counts"
        ended = ran(counting(COMMANDS[name], inputs, folder, told, ("all", -1, 0)))
        require_whole(COMMANDS[name], folder, ended)
        return folder, json.loads(told.read_text("utf-8"))

    return known


def require_order(command: Command, folder: Path) -> None:
    """What is released is not there without its records, what is stated not without them either."""
    there = {name for name in command.outputs if (folder / name).exists()}
    if there & set(command.releases):
        assert there >= {*command.statements, *command.records}
    if there & set(command.statements):
        assert there >= set(command.records)


@frozen
class Disturbance:
    """What is sent to which command, and when: at a share of the events of one kind."""

    name: str
    ending: signal.Signals
    which: str
    share: float

    def __str__(self) -> str:
        return f"{self.name}, {self.ending.name} at {self.share:.4f} of {self.which}"


def disturb(case: Disturbance, inputs: Path, folder: Path, told: Path, whole: Path, moments: Moments) -> str:
    """Hold what is left against what must be, and go on."""
    command, ending = COMMANDS[case.name], case.ending
    at = 1 + int(case.share * moments[case.which])
    ended = ran(counting(command, inputs, folder, told, (case.which, at, ending)))
    assert ended.returncode in (-ending, 0), ended.stderr
    assert "Traceback" not in ended.stderr
    if ended.returncode == 0:
        assert json.loads(told.read_text("utf-8"))[case.which] < at, "the signal was swallowed"
    command.sound(folder)
    require_order(command, folder)
    if ending is not signal.SIGKILL:
        assert left_behind(folder) == []
        assert sum((folder / one).exists() for one in command.outputs) in (0, len(command.outputs))
    left = len(left_behind(folder))
    if ending is signal.SIGKILL or command.goes_on:
        require_whole(command, folder, ran(["-m", "certdp", *command.words_in(inputs, folder)]))
    there = command.steady if ending is not signal.SIGKILL or not command.goes_on else ()
    for one in there:
        if (folder / one).exists():
            assert (folder / one).read_bytes() == (whole / one).read_bytes()
    return f"{'finished' if ended.returncode == 0 else 'ended'}, leaving {left}"


def case_of(number: int) -> Disturbance:
    """The same whenever it is asked for."""
    source = random.Random(f"signals {number}")
    name, ending, which = source.choice(list(COMMANDS)), source.choice(ENDINGS), source.choice(MOMENTS)
    return Disturbance(name, ending, which, source.random())


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_signals_at_any_moment(
    number: int,
    inputs: Path,
    undisturbed: Callable[[str], tuple[Path, Moments]],
    tmp_path_factory: pytest.TempPathFactory,
    record_property: Callable[[str, object], None],
) -> None:
    case = case_of(number)
    folder, told = tmp_path_factory.mktemp("disturbed"), tmp_path_factory.mktemp("told") / "counts"
    found = disturb(case, inputs, folder, told, *undisturbed(case.name))
    record_property("signal", f"{case}: {found}")


@pytest.mark.slow
def test_signals_are_answered_before_anything_is_imported(
    inputs: Path, undisturbed: Callable[[str], tuple[Path, Moments]]
) -> None:
    _, moments = undisturbed("weights")
    assert 0 < moments["before"] <= FEW
    assert moments["all"] > 10**5


@pytest.mark.soundness
@pytest.mark.parametrize("number", range(200))
def test_two_hundred_signals(
    number: int,
    inputs: Path,
    undisturbed: Callable[[str], tuple[Path, Moments]],
    tmp_path_factory: pytest.TempPathFactory,
    record_property: Callable[[str, object], None],
) -> None:
    test_signals_at_any_moment(number, inputs, undisturbed, tmp_path_factory, record_property)
