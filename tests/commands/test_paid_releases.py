"""`--ledger` on every command that releases: paid before anything is drawn, and drawn once under an id."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from attrs import frozen

from certdp import Ledger
from certdp.accounting.draws import source
from certdp.commands.app import app
from certdp.durable.files import digest_of
from certdp.ledger import LedgerUnavailable, RequestState
from certdp.ledger.entries import Entry, Event

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]

OPTIONS = ("--ledger", "--request", "--data-set", "--anchor", "--by")
BUDGET = ("--epsilon", "1", "--delta", "1e-3")
SAMPLED = ("--scheme", "ppswor", "--threshold", "0.1")


@frozen(kw_only=True)
class Releasing:
    """A command that releases.

    Attributes:
        words: of its command line; {in} and {out} are folders.
        files: what it writes for publication.
        ledger: the budget that covers it twice, in the words of `certdp ledger create`.
        cost: an option that changes what it costs, and another value of it.
        data: the file that it reads; `faulty` beside it has a fault in its last row.
        seeded: whether it takes a seed.
    """

    words: str
    files: tuple[str, ...]
    ledger: str
    data: str
    cost: tuple[str, str] = ("--epsilon", "0.5")
    seeded: bool = False

    def line(self, inputs: Path, out: Path, *more: object) -> list[object]:
        words = [word.replace("{in}", str(inputs)).replace("{out}", str(out)) for word in self.words.split()]
        return [*words, *more, "--ledger", out / "a.ledger", "--request", "one"]


RELEASING = {
    "cluster": Releasing(
        words="cluster --data {in}/points.npy --epsilon 1 --clusters 2 --option radius=1 --output {out}/centres.csv",
        files=("centres.csv", "c"),
        ledger="--epsilon 2 --radius 1 --norm 2 --dimension 2",
        data="points.npy",
    ),
    "pws release": Releasing(
        words="pws release {in}/counts.csv --epsilon 1 --delta 1e-3 --scheme ppswor --threshold 0.1 "
        "--output {out}/s.csv",
        files=("s.csv", "s.csv.json", "c"),
        ledger="--epsilon 2 --delta 1e-2 --unit element",
        data="counts.csv",
        seeded=True,
    ),
    "pws sanitise": Releasing(
        words="pws sanitise {in}/drawn.csv --epsilon 1 --delta 1e-3 --output {out}/s.csv",
        files=("s.csv", "s.csv.json", "c"),
        ledger="--epsilon 2 --delta 1e-2 --unit element",
        data="drawn.csv",
    ),
    "dpis train": Releasing(
        words="dpis train --data {in}/labelled.npz --target y --model logistic --classes 2 --records 40 --batch 8 "
        "--epochs 1 --epsilon 8 --delta 1e-5 --norm-noise 6 --output {out}/run",
        files=("run/model.npz", "run/history.csv", "run/run.json", "c"),
        ledger="--epsilon 16 --delta 1e-4",
        data="labelled.npz",
        cost=("--epsilon", "7"),
        seeded=True,
    ),
}
"""The commands that release something of the data to the public."""

OTHERS = {
    "psi": "proves what a release would cost",
    "epsilon": "proves what a release would cost",
    "delta": "proves what a release would cost",
    "risk": "proves what a release would cost",
    "calibrate": "says how much noise a release would need",
    "weights": "writes weights and probabilities for the data's owner",
    "pws sample": "writes true frequencies for the data's owner",
    "pws merge": "writes true frequencies for the data's owner",
    "pws estimate": "post-processes a sample",
    "pws table": "prints public probabilities",
    "dpis plan": "says what a run would cost",
    "audit": "runs on inputs of its own",
    "check": "reads a certificate",
    "sign": "signs a certificate",
    "statement": "reads a certificate",
    "verify": "runs claims",
    "verify-peer": "checks the claim of another tool",
    "mutants": "plants faults",
    "reproduce": "runs experiments, with seeded coins",
    "experiments": "runs experiments, with seeded coins",
    "ledger create": "is about the ledger itself",
    "ledger pay": "is about the ledger itself",
    "ledger status": "is about the ledger itself",
    "ledger statement": "is about the ledger itself",
    "ledger verify": "is about the ledger itself",
    "ledger export": "is about the ledger itself",
    "plugins": "reads what is installed",
    "plugins show": "reads what is installed",
    "plugins check": "tries a plugin on inputs of its own",
    "plugins new": "writes a package",
}
"""The other commands, and why they take no ledger."""


def commands(group: Any, words: tuple[str, ...] = ()) -> dict[str, Any]:
    found = {}
    for name, command in group.commands.items():
        named = (*words, name)
        if not hasattr(command, "commands") or command.invoke_without_command:
            found[" ".join(named)] = command
        if hasattr(command, "commands"):
            found |= commands(command, named)
    return found


ALL = commands(typer.main.get_command(app))


def test_every_command_releases_or_says_why_not() -> None:
    assert {*RELEASING, *OTHERS} == set(ALL)
    assert not set(RELEASING) & set(OTHERS)


@pytest.mark.parametrize("name", ALL)
def test_commands_that_release_take_a_ledger(name: str) -> None:
    taken = {word for one in ALL[name].params for word in one.opts} & set(OPTIONS)
    if name in RELEASING:
        assert taken == set(OPTIONS)
    else:
        assert "--ledger" not in taken


def test_no_command_publishes_a_release_beside_the_ledger() -> None:
    """Whatever a module of commands writes as a release, it hands in; `verify` writes the last of its reports so."""
    folder = Path(str(import_module("certdp.commands").__file__)).parent
    publishing = {
        path.relative_to(folder).with_suffix("").as_posix()
        for path in folder.rglob("*.py")
        if {"RELEASE", "put_sample"} & _names(path)
    } - {"verify"}
    assert publishing == {"cluster", "pws/release", "pws/sanitise", "dpis/train"}
    assert all("hand_in" in _names(folder / f"{name}.py") for name in publishing)


def _names(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    return {one.id for one in nodes if isinstance(one, ast.Name)} | {
        one.attr for one in nodes if isinstance(one, ast.Attribute)
    }


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, certdp: Run) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "counts.csv").write_text("key,count\n" + "".join(f"k{n},{1 + n % 20}\n" for n in range(400)))
    (folder / "others.csv").write_text("key,count\n" + "".join(f"other{n},{1 + n % 20}\n" for n in range(100)))
    assert certdp("pws", "sample", folder / "counts.csv", *SAMPLED, "--output", folder / "drawn.csv").code == 0
    random = np.random.default_rng(0)
    np.save(folder / "points.npy", random.standard_normal((50, 2)))
    features, labels = random.standard_normal((40, 2)), random.integers(0, 2, 40)
    np.savez(folder / "labelled.npz", X=features, y=labels)
    faulty = folder / "faulty"
    faulty.mkdir()
    for name in ("counts.csv", "drawn.csv"):
        (faulty / name).write_text((folder / name).read_text() + "last,0\n")
    (faulty / "drawn.csv.json").write_bytes((folder / "drawn.csv.json").read_bytes())
    np.save(faulty / "points.npy", np.array([[0.5, 0.5], [0.5, np.nan]]))
    np.savez(faulty / "labelled.npz", X=features, y=np.append(labels[:-1], 2))
    return folder


@pytest.fixture(params=RELEASING)
def releasing(request: pytest.FixtureRequest, certdp: Run, tmp_path: Path) -> Releasing:
    found = RELEASING[request.param]
    told = ("--data-set", "census", *found.ledger.split())
    assert certdp("ledger", "create", tmp_path / "a.ledger", *told).code == 0
    return found


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith("a.ledger")
    }


def test_a_release_is_paid_and_handed_in(releasing: Releasing, certdp: Run, inputs: Path, tmp_path: Path) -> None:
    line = releasing.line(inputs, tmp_path, "--certificate", tmp_path / "c", "--data-set", "census", "--by", "ann")
    told = certdp(*line, "--json")
    assert told.code == 0, told
    assert told.json["ledger"]["outcome"] == "paid"
    ledger = Ledger(tmp_path / "a.ledger")
    assert (ledger.number, ledger.state("one")) == (1, RequestState.COMMITTED)
    output = ledger.output("one").content.decode()
    for name in releasing.files:
        assert digest_of((tmp_path / name).read_bytes()) in output
    assert "private" not in output
    begun, committed = (Entry.read(body) for body, _ in ledger._log() if Entry.read(body).event is not Event.OPENED)
    for entry in (begun, committed):
        assert entry.content["plan"].startswith("sha256:")
        assert entry.content["unit"]["name"] == ledger.rule.unit.name
        assert entry.content["relation"] == "add-remove"
        assert entry.content["data"] == "census"
    assert begun.content["by"] == "ann"
    assert ledger.verify().sound


def test_asked_again_it_says_where_everything_stands(
    releasing: Releasing, certdp: Run, inputs: Path, tmp_path: Path
) -> None:
    line = releasing.line(inputs, tmp_path, "--certificate", tmp_path / "c")
    assert certdp(*line).code == 0
    before = files_of(tmp_path)
    again = certdp(*line, "--json")
    assert again.code == 0, again
    assert again.json["ledger"]["outcome"] == "done"
    assert set(again.json["files"]) >= {Path(name).name for name in releasing.files}
    assert "nothing drawn, done" in certdp(*line).out
    assert files_of(tmp_path) == before
    (tmp_path / releasing.files[0]).write_bytes(b"another")
    lost = certdp(*line, "--json")
    assert (lost.code, lost.json["ledger"]["outcome"]) == (1, "lost")
    assert Path(releasing.files[0]).name in lost.json["reason"]
    assert (tmp_path / releasing.files[0]).read_bytes() == b"another"
    assert Ledger(tmp_path / "a.ledger").number == 1


def test_asked_again_for_other_files_it_says_what_was_never_released(
    releasing: Releasing, certdp: Run, inputs: Path, tmp_path: Path
) -> None:
    assert certdp(*releasing.line(inputs, tmp_path, "--certificate", tmp_path / "c")).code == 0
    before = files_of(tmp_path)
    fewer = certdp(*releasing.line(inputs, tmp_path), "--json")
    assert (fewer.code, fewer.json["ledger"]["outcome"]) == (0, "done")
    assert "c" not in fewer.json["files"]
    assert fewer.json["reason"].endswith("not looked at: c")
    more = certdp(*releasing.line(inputs, tmp_path, "--certificate", tmp_path / "other"), "--json")
    assert (more.code, more.json["ledger"]["outcome"], more.json["files"]) == (1, "lost", {})
    assert "did not release other" in more.json["reason"]
    assert files_of(tmp_path) == before


def test_nothing_is_written_over_the_ledger(
    releasing: Releasing, refusal: Refusal, inputs: Path, tmp_path: Path
) -> None:
    before = (tmp_path / "a.ledger").read_bytes()
    error = refusal(*releasing.line(inputs, tmp_path, "--certificate", tmp_path / "a.ledger"))
    assert error["parameter"] == "ledger"
    assert (tmp_path / "a.ledger").read_bytes() == before
    assert not files_of(tmp_path)


def test_the_same_id_at_another_cost_is_refused(
    releasing: Releasing, certdp: Run, refusal: Refusal, inputs: Path, tmp_path: Path
) -> None:
    assert certdp(*releasing.line(inputs, tmp_path)).code == 0
    before = files_of(tmp_path)
    assert refusal(*releasing.line(inputs, tmp_path, *releasing.cost))["parameter"] == "request"
    assert files_of(tmp_path) == before
    assert Ledger(tmp_path / "a.ledger").number == 1


def test_what_the_budget_does_not_cover_is_not_drawn(
    releasing: Releasing, certdp: Run, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "a.ledger")
    spent = ("--epsilon", "1.5", *(("--delta", "0") if ledger.rule.budget.notion.name == "approximate" else ()))
    if releasing is RELEASING["dpis train"]:
        spent = ("--epsilon", "15", "--delta", "0")
    assert certdp("ledger", "pay", tmp_path / "a.ledger", *spent, "--request", "before").code == 0
    words = drawn_words(monkeypatch, ledger)
    told = certdp(*releasing.line(inputs, tmp_path), "--json")
    assert (told.code, told.json["ledger"]["outcome"]) == (1, "refused")
    assert "nothing was spent" in told.json["reason"]
    assert not words
    assert not files_of(tmp_path)
    assert ledger.state("one") is None


def drawn_words(monkeypatch: pytest.MonkeyPatch, ledger: Ledger) -> list[RequestState | None]:
    """Where the request stands whenever random words are taken, but those by which a source is tried."""
    found = list[RequestState | None]()
    for kind in (source.OperatingSystem, source.KeyedStream):
        bits: Any = kind.bits

        def noted(self: Any, count: int, bits: Any = bits) -> Any:
            if count != source.PROBE:
                found.append(ledger.state("one"))
            return bits(self, count)

        monkeypatch.setattr(kind, "bits", noted)
    return found


def test_a_fault_in_the_last_row_costs_nothing(
    releasing: Releasing, certdp: Run, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "a.ledger")
    words = drawn_words(monkeypatch, ledger)
    line = [
        str(word).replace(f"/{releasing.data}", f"/faulty/{releasing.data}")
        for word in releasing.line(inputs, tmp_path)
    ]
    told = certdp(*line)
    assert told.code == 2, told
    assert not words
    assert not [name for name in releasing.files if (tmp_path / name).exists()]
    assert (ledger.number, ledger.state("one")) == (0, None)


def test_the_payment_is_there_before_anything_is_drawn(
    releasing: Releasing, certdp: Run, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = drawn_words(monkeypatch, Ledger(tmp_path / "a.ledger"))
    assert certdp(*releasing.line(inputs, tmp_path)).code == 0
    assert states
    assert set(states) == {RequestState.BEGUN}


def test_what_was_not_handed_in_does_not_appear_and_stays_paid(
    releasing: Releasing, certdp: Run, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: Any) -> Any:
        raise LedgerUnavailable("ledger", "a server", "one that is there")

    with monkeypatch.context() as cut:
        cut.setattr(Ledger, "commit", unavailable)
        assert certdp(*releasing.line(inputs, tmp_path)).code == 2
    assert not [name for name in releasing.files if (tmp_path / name).exists()]
    ledger = Ledger(tmp_path / "a.ledger")
    assert (ledger.number, ledger.state("one")) == (1, RequestState.BEGUN)
    lost = certdp(*releasing.line(inputs, tmp_path), "--json")
    assert (lost.code, lost.json["ledger"]["outcome"]) == (1, "lost")
    assert ledger.number == 1


def test_seeded_coins_are_not_paid_for(releasing: Releasing, refusal: Refusal, inputs: Path, tmp_path: Path) -> None:
    if not releasing.seeded:
        return
    error = refusal(*releasing.line(inputs, tmp_path, "--seed", 1))
    assert (error["parameter"], error["admissible"]) == ("ledger", "a private run")
    assert Ledger(tmp_path / "a.ledger").number == 0


def test_half_of_the_options_is_refused(releasing: Releasing, refusal: Refusal, inputs: Path, tmp_path: Path) -> None:
    words = releasing.line(inputs, tmp_path)
    assert refusal(*words[:-2])["parameter"] == "request"
    assert refusal(*words[:-4], "--request", "one")["parameter"] == "request"
    assert refusal(*words, "--data-set", "other")["parameter"] == "data-set"


def test_a_size_that_is_drawn_first_is_refused(certdp: Run, refusal: Refusal, inputs: Path, tmp_path: Path) -> None:
    made = ("ledger", "create", tmp_path / "a.ledger", "--data-set", "census", "--epsilon", 2, "--delta", "0.1")
    assert certdp(*made, "--unit", "element").code == 0
    words = ("pws", "release", inputs / "counts.csv", *BUDGET, "--size", 100, "--total-epsilon", 1)
    paid = ("--output", tmp_path / "s.csv", "--ledger", tmp_path / "a.ledger", "--request", "one")
    assert refusal(*words, *paid)["parameter"] == "total-epsilon"


def test_a_sample_is_sanitised_once_under_a_ledger(certdp: Run, inputs: Path, tmp_path: Path) -> None:
    """Two results from one sample share its coins: what both cost together is not the sum of their costs."""
    sanitising = RELEASING["pws sanitise"]
    assert (
        certdp("ledger", "create", tmp_path / "a.ledger", "--data-set", "census", *sanitising.ledger.split()).code == 0
    )
    assert certdp(*sanitising.line(inputs, tmp_path)).code == 0
    before = files_of(tmp_path)
    (tmp_path / "copy.csv").write_bytes((inputs / "drawn.csv").read_bytes())
    (tmp_path / "copy.csv.json").write_bytes((inputs / "drawn.csv.json").read_bytes())
    words = ("pws", "sample", inputs / "others.csv", *SAMPLED, "--output", tmp_path / "others.csv")
    assert certdp(*words).code == 0
    assert (
        certdp("pws", "merge", tmp_path / "copy.csv", tmp_path / "others.csv", "--output", tmp_path / "m.csv").code == 0
    )
    paid = ("--ledger", tmp_path / "a.ledger", "--json")
    for name in ("copy", "m"):
        line = ("pws", "sanitise", tmp_path / f"{name}.csv", *BUDGET, "--output", tmp_path / "again.csv", *paid)
        told = certdp(*line, "--request", "two")
        assert (told.code, told.json["ledger"]["outcome"]) == (1, "refused")
        assert "request one has used it" in told.json["reason"]
    assert not (tmp_path / "again.csv").exists()
    assert {name: content for name, content in files_of(tmp_path).items() if name in before} == before
    line = ("pws", "sanitise", tmp_path / "others.csv", *BUDGET, "--output", tmp_path / "o.csv", *paid)
    assert certdp(*line, "--request", "two").code == 0
    ledger = Ledger(tmp_path / "a.ledger")
    assert ledger.number == 2
    assert ledger.verify().sound


@pytest.mark.parametrize("stated", [("--resume",), ("--checkpoint-every", 3)], ids=["resume", "checkpoint-every"])
def test_a_paid_training_run_is_not_resumed(
    stated: tuple[object, ...], certdp: Run, refusal: Refusal, inputs: Path, tmp_path: Path
) -> None:
    training = RELEASING["dpis train"]
    made = ("ledger", "create", tmp_path / "a.ledger", "--data-set", "census", *training.ledger.split())
    assert certdp(*made).code == 0
    assert refusal(*training.line(inputs, tmp_path, *stated))["parameter"] == str(stated[0]).removeprefix("--")
    assert Ledger(tmp_path / "a.ledger").number == 0
    assert certdp(*training.line(inputs, tmp_path)).code == 0
    assert not list((tmp_path / "run").glob("*checkpoint*"))
