"""The series of experiments: what is made once, goes on where it stopped, and refuses data that were altered."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from certdp.accounting.errors import InvalidValue
from certdp.commands.app import app
from certdp.experiments import series
from certdp.experiments.catalogue import EXPERIMENTS
from certdp.experiments.results import TABLES, written_into
from certdp.experiments.series import DIGESTS, SERIES, Item, Series, State, on_stand_ins, read_record

DOCUMENT = Path(__file__).parents[2] / "docs/experiments.md"
FILE = "small.npy"
QUICK = Item(folder="one", experiment="pws-fig1")
ON_DATA = Item(folder="two", experiment="is-table1", file=FILE)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data, and a series of two items that are made in a moment."""
    folder = tmp_path / "data"
    folder.mkdir()
    np.save(folder / FILE, np.random.default_rng(3).normal(size=(50, 3)))
    digest = hashlib.sha256((folder / FILE).read_bytes()).hexdigest()
    monkeypatch.setattr(series, "DIGESTS", {FILE: digest})
    monkeypatch.setattr(series, "SERIES", (QUICK, ON_DATA))
    return folder


def run(data: Path | None, output: Path, *arguments: str) -> tuple[int, Any]:
    given = [] if data is None else ["--data-folder", str(data)]
    result = CliRunner().invoke(app, ["experiments", *given, "--output", str(output), "--json", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout) if result.exit_code in (0, 1) else result.output


def states(answer: Any) -> dict[str, str]:
    return {one["item"]: one["state"] for one in answer["items"]}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("items", [SERIES, on_stand_ins()], ids=["data", "stand-ins"])
def test_items_have_files_of_their_own(items: tuple[Item, ...]) -> None:
    assert len({item.name for item in items}) == len(items)
    assert {item.experiment for item in items} <= set(EXPERIMENTS)
    assert {item.file for item in items if item.file is not None} <= set(DIGESTS)


def test_every_experiment_is_in_the_series() -> None:
    # Figures 3 and 4 and Table 2 on a file are 6 and 7 and Table 3, which the series has
    assert {item.experiment for item in SERIES} == set(EXPERIMENTS)
    assert {item.file for item in SERIES if item.file is not None} == set(DIGESTS)


@pytest.mark.slow
def test_what_is_made_is_found(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(data, out, "--made") == (1, {"items": ANY_TO_MAKE, "output": str(out), "page": None})
    assert not out.exists()
    code, answer = run(data, out)
    assert (code, set(states(answer).values())) == (0, {State.MADE.value})
    before = contents(out)
    code, answer = run(data, out)
    assert (code, set(states(answer).values())) == (0, {State.FOUND.value})
    assert contents(out) == before
    assert states(run(data, out, "--seed", "1")[1]) == {QUICK.name: State.MADE.value, ON_DATA.name: State.MADE.value}


ANY_TO_MAKE = [{"item": item.name, "file": item.file, "state": State.TO_MAKE.value} for item in (QUICK, ON_DATA)]


def test_a_file_that_was_altered_or_lost_is_made_anew(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(data, out)
    before = contents(out)
    (out / "one/pws-fig1.csv").write_text("another\n")
    (out / "two/is-table1.csv").unlink()
    assert set(states(run(data, out)[1]).values()) == {State.MADE.value}
    assert contents(out) == before


def test_results_of_another_machine_are_taken_and_told(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(data, out)
    path = out / "one/pws-fig1.json"
    record = json.loads(path.read_bytes())
    record["maker"]["machine"] = "another"
    path.write_text(json.dumps(record))
    code, answer = run(data, out)
    assert (code, states(answer)[QUICK.name]) == (0, State.FOUND_ELSEWHERE.value)


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 2}', '{"format": 1}'])
def test_a_record_that_cannot_be_read_is_refused(data: Path, tmp_path: Path, content: str) -> None:
    out = tmp_path / "out"
    run(data, out)
    (out / "one/pws-fig1.json").write_text(content)
    code, errors = run(data, out)
    assert code == 2
    assert "pws-fig1.json" in errors
    assert "Remove the file" in errors


def test_altered_data_are_refused_before_anything_is_made(data: Path, tmp_path: Path) -> None:
    (data / FILE).write_bytes((data / FILE).read_bytes() + b"\0")
    code, errors = run(data, tmp_path / "out")
    assert code == 2
    assert "SHA-256" in errors
    assert not (tmp_path / "out").exists()


def test_a_missing_file_leaves_its_items_out_and_says_so(data: Path, tmp_path: Path) -> None:
    (data / FILE).unlink()
    code, answer = run(data, tmp_path / "out")
    assert code == 1
    assert states(answer) == {QUICK.name: State.MADE.value, ON_DATA.name: State.WANTING.value}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--only", "nothing"), "only"),
        (("--data-folder", "nowhere"), "data-folder"),
        (("--output", "no/where"), "output"),
        (("--page", "missing.md"), "page"),
    ],
)
def test_bad_options_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any, named: str) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["experiments", "--output", "out", *arguments])
    assert result.exit_code == 2
    assert named in result.stderr


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from certdp.experiments import series
from certdp.experiments.series import Item, Series

write, number = series.write_files, int(sys.argv[2])
def killed(folder, contents, **how):
    global number
    if number == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    number -= 1
    return write(folder, contents, **how)
series.write_files = killed
items = [Item(folder="a", experiment="pws-fig1"), Item(folder="b", experiment="pws-fig3")]
for item, state in Series(data=None, output=Path(sys.argv[1])).run(items, lambda item, share: None):
    print(state.value)
"""


@pytest.mark.slow
def test_killed_twice_it_goes_on(tmp_path: Path) -> None:
    def ran(number: int) -> tuple[int, list[str]]:
        command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "out"), str(number)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.split()

    assert ran(0)[0] == -signal.SIGKILL
    assert ran(1)[0] == -signal.SIGKILL
    code, made = ran(9)
    assert (code, made) == (0, ["made", "before", "made"])
    whole = Series(data=None, output=tmp_path / "whole")
    list(whole.run([Item(folder="a", experiment="pws-fig1"), Item(folder="b", experiment="pws-fig3")], _ignored))
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert not [name for name in os.listdir(tmp_path / "out/a") if name.startswith(".")]


def _ignored(item: Item, share: float) -> None:
    del item, share


def test_tables_of_a_document_are_written_anew(data: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "out", tmp_path / "page.md"
    run(data, out)
    (out / "song").mkdir()
    record = read_record(out / "two/is-table1.json")
    assert record is not None
    (out / "song/is-table1.json").write_bytes(record.content)
    old = "<!-- results: is-weights -->\nas it was\n<!-- end of results -->\n"
    page.write_text(
        f"# Title\n\n<!-- results: is-table1 song covertype -->\nold\n<!-- end of results -->\n\n{old}after\n"
    )
    run(data, out, "--page", str(page))
    lines = page.read_text().splitlines()
    (row,) = record.summary["rows"]
    assert f"| Song | {row['n']} | 3 | {row['r']:.2f} | {row['mean_squared_norm']:,.2f} |" in lines
    assert "| Covertype | not made |  |  |  |" in lines
    assert "old" not in lines
    assert old in page.read_text()  # nothing of it is made
    again = page.read_text()
    run(data, out, "--page", str(page))
    assert page.read_text() == again


def test_a_table_that_nobody_makes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="results: what"):
        written_into("<!-- results: what -->\n<!-- end of results -->", tmp_path)


def test_every_table_is_in_the_document(tmp_path: Path) -> None:
    text = DOCUMENT.read_text("utf-8")
    assert all(f"<!-- results: {name}" in text for name in TABLES)
    assert written_into(text, tmp_path) == text
