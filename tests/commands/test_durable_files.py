"""Whatever a command writes goes through one door: on disk before its name is, and in an order that tells the truth."""

from __future__ import annotations

import os
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import strategies as st
from typer.models import ArgumentInfo

from certdp.plugins.contract import Claim, Finding
from certdp.plugins.registry import Registry
from tests.support.commands import commands

Inode = tuple[int, int]

pytestmark = pytest.mark.skipif(not hasattr(os, "O_DIRECTORY"), reason="this system forces no folders to disk")


@frozen
class Forced:
    """`fsync` of a file or folder.

    Attributes:
        inode: of what.
        state: its size and the time of its last change.
    """

    inode: Inode
    state: tuple[int, int]


@frozen
class Renamed:
    """A name was given to a file or folder."""

    inode: Inode
    state: tuple[int, int]
    target: Path


def _state(found: os.stat_result) -> tuple[Inode, tuple[int, int]]:
    return (found.st_dev, found.st_ino), (found.st_size, found.st_mtime_ns)


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[Forced | Renamed]:
    """What reaches the file system's layer: everything that is forced to disk, and every name that is given."""
    seen: list[Forced | Renamed] = []
    fsync = os.fsync

    def forced(handle: int) -> None:
        fsync(handle)
        seen.append(Forced(*_state(os.fstat(handle))))

    def renaming(rename: Callable[..., None]) -> Callable[..., None]:
        def renamed(source: Any, target: Any, **rest: Any) -> None:
            state = _state(os.stat(source))
            rename(source, target, **rest)
            seen.append(Renamed(*state, target=Path(target)))

        return renamed

    monkeypatch.setattr(os, "fsync", forced)
    for name in ("replace", "rename"):
        monkeypatch.setattr(os, name, renaming(getattr(os, name)))
    return seen


def complaints(seen: list[Forced | Renamed], below: Path) -> list[str]:
    """What a crash of the machine could undo or damage of the files below a folder."""
    found = []
    for place, event in enumerate(seen):
        if not isinstance(event, Renamed) or below not in event.target.parents:
            continue
        if not any(
            isinstance(one, Forced) and (one.inode, one.state) == (event.inode, event.state) for one in seen[:place]
        ):
            found.append(f"{event.target.name} has its name before all of it is on disk")
        folder = _state(event.target.parent.stat())[0]
        following = seen[place + 1] if place + 1 < len(seen) else None
        if not isinstance(following, Forced) or following.inode != folder:
            found.append(f"the folder of {event.target.name} is not forced to disk before anything else happens")
    return found


def contents(folder: Path) -> dict[Path, tuple[int, int]]:
    """Every file below a folder, and what tells whether it is another one."""
    return {path: _state(path.stat())[1] for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    random = np.random.default_rng(0)
    records = random.standard_normal((200, 3))
    np.savez(folder / "data.npz", X=records, y=random.integers(0, 2, 200))
    np.savetxt(folder / "records.csv", records, delimiter=",", header="a,b,c", comments="")
    lines = [f"k{key},{count}" for key, count in enumerate([900, 500, 40, 3, 1, 1])]
    (folder / "counts.csv").write_text("\n".join(["key,count", *lines]) + "\n")
    (folder / "state.json").write_text('{"history": [[2.0, 1.0, 1]], "mechanism": "rdp"}')
    return folder


LAPLACE = "--mechanism laplace-sum --option scale=10 --option radius=3"
TWICE = "--mechanism laplace-sum --sampler full --option scale=10 --option radius=1 --resample each --steps 2"
TRAINED = (
    "--data {in}/data.npz --target y --records 200 --batch 20 --epochs 2 --epsilon 8 --delta 1e-5 --order 4 "
    "--model logistic --classes 2 --norm-noise 6 --checkpoint-every 5"
)
RUN_PLAN = "--records 200 --batch 20 --epochs 2 --epsilon 8 --delta 1e-5 --order 4"
SAMPLED = "pws sample {in}/counts.csv --scheme ppswor --threshold 0.1 --output {out}/%s"
REPEATED = "*"

WRITING: Mapping[str, tuple[str, str]] = {
    "weights": (
        f"weights {LAPLACE} --epsilon 1 --data {{in}}/records.csv --output {{out}}/w.csv --certificate {{out}}/c",
        "w.csv c",
    ),
    "weights parquet": (
        f"weights {LAPLACE} --epsilon 1 --data {{in}}/records.csv --output {{out}}/w.parquet",
        "w.parquet",
    ),
    "psi": (
        f"psi {LAPLACE} --sampler importance --option rate=0.3 --data {{in}}/records.csv --certificate {{out}}/c "
        "--owner-certificate {out}/o --plot {out}/p.png --owner-plot {out}/q.png",
        "o q.png c p.png",
    ),
    "psi keyed": (
        "psi --mechanism pws-keys --option epsilon=1 --option delta=1e-6 --sampler ppswor --option threshold=0.1 "
        "--certificate {out}/c",
        "c",
    ),
    "epsilon": (f"epsilon {TWICE} --delta 1e-5 --certificate {{out}}/c --plot {{out}}/p.png", "p.png c"),
    "delta": (f"delta {TWICE} --epsilon 1 --certificate {{out}}/c --plot {{out}}/p.png", "p.png c"),
    "risk": (f"risk {TWICE} --certificate {{out}}/c --plot {{out}}/p.png", "p.png c"),
    "calibrate": (
        "calibrate --mechanism laplace-sum --sampler full --option radius=1 --find scale --epsilon 1 "
        "--certificate {out}/c --plot {out}/p.png",
        "p.png c",
    ),
    "cluster": (
        "cluster --data {in}/records.csv --epsilon 5 --clusters 2 --option radius=3 --output {out}/o.csv "
        "--certificate {out}/c",
        "c o.csv",
    ),
    "verify": ("verify --only test/holds --html {out}/h --junit {out}/j", "h j"),
    "mutants": ("mutants --table --only accounting.amplification.psi --markdown {out}/m", "m"),
    "verify errata": ("verify --errata --only PWS-L4.2 --markdown {out}/m", "m"),
    "reproduce": (
        "reproduce is-fig4 --data {in}/records.csv --repetitions 1 --size 20 --output {out}/made",
        REPEATED,
    ),
    "experiments": ("experiments --only stand-ins/pws-fig1 --output {out}/made", REPEATED),
    "pws release": (
        "pws release {in}/counts.csv --epsilon 1 --delta 1e-6 --output {out}/s.csv --certificate {out}/c "
        "--owner-report {out}/r",
        "r s.csv.json c s.csv",
    ),
    "verify-peer": ("verify-peer {in}/state.json --epsilon 5 --delta 1e-5 --certificate {out}/c", "c"),
    "statement": ("statement {in}/certificate --format markdown --output {out}/s.md", "s.md"),
    "sign": ("sign {in}/certificate --signing-key {in}/key.pem --output {out}/c.sig", "c.sig"),
    "pws table": ("pws table --epsilon 1 --delta 1e-6 --rows 20 --plot {out}/p.png", "p.png"),
    "pws sample": (SAMPLED % "s.parquet", "s.parquet"),
    "pws merge": ("pws merge {in}/one.csv {in}/two.csv --output {out}/m.csv", "m.csv.json m.csv"),
    "pws sanitise": (
        "pws sanitise {in}/one.csv --epsilon 1 --delta 1e-6 --output {out}/s.tsv --certificate {out}/c",
        "s.tsv.json c s.tsv",
    ),
    "pws estimate": ("pws estimate {in}/tokens.csv --statistic count --plot {out}/p.png", "p.png"),
    "dpis plan": (f"dpis plan {RUN_PLAN} --plot {{out}}/p.png --certificate {{out}}/c", "c p.png"),
    "dpis train": (
        f"dpis train {TRAINED} --output {{out}}/run --certificate {{out}}/c",
        f"private-checkpoint.npz {REPEATED} private-figures.json private-steps.csv private-steps.png run.json "
        "history.csv history.png c model.npz",
    ),
    "ledger export": ("ledger export {in}/a.ledger --output {out}/log.jsonl", "log.jsonl"),
    "ledger statement": ("ledger statement {in}/a.ledger --plot {out}/p.png", "p.png"),
    "ledger verify": ("ledger verify {in}/a.ledger --write-anchor {out}/a", "a"),
    "plugins new": ("plugins new tested-here --role sampler --output {out}", "tested-here"),
}
"""Every command that writes, and what appears in which order; whatever comes before the star may come several times."""

HELD = Claim(
    id="test/holds",
    statement="Test, Lemma 1",
    says="x is at most 9",
    cases=lambda: st.fixed_dictionaries({"x": st.integers(0, 9)}),
    examine=lambda case: Finding(case["x"] < 10, f"x = {case['x']}", "[9]"),
)

READ = {
    "data",
    "data_folder",
    "page",
    "plan",
    "neighbours",
    "kc_trajectory",
    "artefact",
    "signature",
    "signed_by",
    "signing_key",
    "proof",
    "anchor",
}
"""Options that are paths, and that are read; an anchor is written by the ledger, whose tests kill it, and a page whole
after it was read (`tests/experiments/test_series.py`)."""


def test_no_option_that_is_written_to_is_forgotten() -> None:
    for name, function in commands():
        plain, told_of = typing.get_type_hints(function), typing.get_type_hints(function, include_extras=True)
        paths = {
            option
            for option, kind in plain.items()
            if Path in (kind, *typing.get_args(kind)) and not isinstance(told_of[option].__metadata__[0], ArgumentInfo)
        } - READ
        told = " ".join(command for words, (command, _) in WRITING.items() if words.startswith(name))
        missing = {option for option in paths if f"--{option.replace('_', '-')} {{out}}" not in told}
        assert not missing, f"certdp {name}: {missing}"


@pytest.fixture
def prepared(inputs: Path, certdp: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The inputs, samples among them; and a claim that holds."""
    for name in ("one", "two"):
        source = inputs / f"{name}-counts.csv"
        source.write_text(f"key,count\n{name}1,500\n{name}2,20\n")
        sample = ("--scheme", "ppswor", "--threshold", "0.1", "--output", inputs / f"{name}.csv", "--overwrite")
        assert certdp("pws", "sample", source, *sample).code == 0
    released = ("--epsilon", 1, "--delta", "1e-6", "--frequencies", "--output", inputs / "tokens.csv", "--overwrite")
    assert certdp("pws", "release", inputs / "counts.csv", *released).code == 0
    keyed = ("--mechanism", "pws-keys", "--option", "epsilon=1", "--option", "delta=1e-6", "--sampler", "every-key")
    assert certdp("psi", *keyed, "--certificate", inputs / "certificate").code == 0
    if not (inputs / "a.ledger").exists():
        assert certdp("ledger", "create", inputs / "a.ledger", "--data-set", "census", "--epsilon", 1).code == 0
    key = Ed25519PrivateKey.generate()
    (inputs / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    claims, problems = Registry(third_party=False).claims()
    monkeypatch.setattr(Registry, "claims", lambda _: ([*claims, HELD], problems))
    return inputs


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITING)
def test_every_name_is_given_to_what_is_on_disk(
    name: str, prepared: Path, certdp: Callable[..., Any], tmp_path: Path, events: list[Forced | Renamed]
) -> None:
    command, order = WRITING[name]
    words = [word.replace("{in}", str(prepared)).replace("{out}", str(tmp_path)) for word in command.split()]
    events.clear()
    ran = certdp(*words, *(("--examples", 2) if name == "verify" else ()))
    assert ran.code == 0, ran
    assert complaints(events, tmp_path) == []
    named = [event.target for event in events if isinstance(event, Renamed) and tmp_path in event.target.parents]
    whole = {
        path for path in contents(tmp_path) if any(path in (one, *path.parents) or one in path.parents for one in named)
    }
    assert {path.name for path in set(contents(tmp_path)) - whole} <= {"private-checkpoint.npz.lock", "a.lock"}
    told, expected = [path.name for path in named], order.split()
    if REPEATED in expected:
        first = expected[: expected.index(REPEATED)]
        last = expected[expected.index(REPEATED) + 1 :]
        assert told[len(told) - len(last) :] == last
        assert set(told[: len(told) - len(last)]) == set(first) or not first
    else:
        assert told == expected
