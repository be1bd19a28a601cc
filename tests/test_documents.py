"""What the documents show is what happens: their Python runs and prints what it says, and their commands succeed."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from certdp.commands.app import app
from certdp.commands.plan_files import plan_from_file
from certdp.plugins.forks import can_fork
from certdp.verification.running.runner import run

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README, PLUGINS, COMPOSITION = ROOT / "README.md", DOCS / "plugins.md", DOCS / "composition.md"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])

BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"# → (.+)$", re.MULTILINE)

READ_ALONE = {  # pages whose commands are read but not run, and why
    DOCS / "experiments.md": "hours, on data that are not in the project",
    PLUGINS: "about plugins that are not installed here",
    DOCS / "estimates.md": "a pattern: SAMPLE and KEY stand for a reader's own",
    DOCS
    / "ledger.md": "a pattern: the counts stand for a reader's own; tests/commands/test_paid_releases.py runs them",
    DOCS / "keyed_data.md": "a pattern: COUNTS, SAMPLE and OUT stand for a reader's own",
    DOCS / "peers.md": "a pattern: the state stands for a reader's own",
    DOCS / "training.md": "long runs, on data that are not in the project, with extras",
}
EXTRAS = {"import torch\n": "torch", "import dask": "dask", "import SparkSession": "pyspark"}
LANGUAGES = {"python", "console", "sh", "toml", "json", "text"}


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, *languages: str) -> list[str]:
    return [found["text"] for found in BLOCK.finditer(page.read_text("utf-8")) if found["language"] in languages]


def lines(page: Path) -> list[str]:
    """The commands of a page that begin with `certdp`, in order."""
    text = "".join(blocks(page, "console", "sh")).replace("\\\n", " ")
    return [line for line in text.splitlines() if line.startswith("certdp ")]


def words(line: str) -> list[str]:
    """What follows that word."""
    return shlex.split(line, comments=True)[1:]


LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=name)
def test_links_of_the_project_lead_somewhere(page: Path) -> None:
    """Those of the other pages are held by the site, which is built strictly."""
    found = LINK.findall(page.read_text("utf-8"))
    generated = {"docs/reference/command_line.md"}
    assert [link for link in found if link not in generated and not (page.parent / link).exists()] == []


def having(pages: list[Path], *languages: str) -> list[Path]:
    return [page for page in pages if blocks(page, *languages)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is(page: Path) -> None:
    assert {found["language"] for found in BLOCK.finditer(page.read_text("utf-8"))} <= LANGUAGES


SHOWN_WITH = {"--html ": "report", "--plot ": "plot", ".parquet": "parquet"}


def without_its_extra(text: str) -> list[str]:
    """What the blocks of a page use before the page says which extra it needs."""
    return [
        sign
        for found in BLOCK.finditer(text)
        for sign, extra in SHOWN_WITH.items()
        if sign in found["text"] and f"certdp[{extra}]" not in text[: found.start()]
    ]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_needs_an_extra_says_so_before(page: Path) -> None:
    assert without_its_extra(page.read_text("utf-8")) == []


def test_a_block_that_says_it_afterwards_is_found() -> None:
    block = "```console\ncertdp verify --html page.html\n```\n"
    said = "It needs `certdp[report]`.\n"
    assert without_its_extra(block + said) == ["--html "]
    assert without_its_extra(said + block) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.parametrize("page", having(PAGES, "python"), ids=name)
def test_python_prints_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    names: dict[str, Any] = {"__name__": "document"}
    for block in blocks(page, "python"):
        for words_of_extra, extra in EXTRAS.items():
            if words_of_extra in block:
                pytest.importorskip(extra, reason=f"the blocks from here on need the extra {extra}")
        exec(compile(block, str(page), "exec"), names)
        assert capsys.readouterr().out.splitlines() == PRINTED.findall(block)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if lines(page) and page not in READ_ALONE], ids=name)
def test_commands_succeed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in lines(page):
        result = CliRunner().invoke(app, words(line))
        assert result.exit_code == int(line.endswith("# exits with 1")), (line, result.output)


@pytest.mark.slow
@pytest.mark.parametrize("page", READ_ALONE, ids=name)
def test_commands_that_are_not_run_are_spelt_right(page: Path) -> None:
    assert lines(page)
    for line in lines(page):
        group: Any = typer.main.get_command(app)
        rest = words(line)
        while hasattr(group, "commands"):
            group, rest = group.commands[rest[0]], rest[1:]
        known = {text for parameter in group.params for text in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in rest if word.startswith("--")} <= known, line


ERRATUM = re.compile(r"^### (?P<label>.+)\n(?P<text>(?:(?!#).*\n)*)", re.MULTILINE)
QUOTED = re.compile(r"^\| (?P<label>[A-Z]+-[^|]+) \| (?P<printed>[^|]+) \| (?P<recomputed>[^|]+) \|$", re.MULTILINE)


@pytest.mark.parametrize("page", sorted((DOCS / "papers").glob("*.md")), ids=name)
def test_figures_of_a_paper_are_those_of_its_errata(page: Path) -> None:
    """Which `certdp verify --errata` writes."""
    errata = {found["label"]: found["text"] for found in ERRATUM.finditer((DOCS / "errata.md").read_text("utf-8"))}
    rows = list(QUOTED.finditer(page.read_text("utf-8")))
    assert len(rows) > 4
    for row in rows:
        assert f"- as printed: {row['printed']}\n- recomputed: {row['recomputed']}\n" in errata[row["label"]]


def test_the_plan_of_the_page_on_composition_is_its_python(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    (text,) = blocks(COMPOSITION, "toml")
    file.write_text(text, "utf-8")
    names: dict[str, Any] = {}
    exec(compile(blocks(COMPOSITION, "python")[0], str(COMPOSITION), "exec"), names)
    assert plan_from_file(file) == names["plan"]


def test_claims_of_the_guide_are_checked() -> None:
    names: dict[str, Any] = {"__name__": "document"}
    (block,) = [text for text in blocks(PLUGINS, "python") if "CLAIMS = " in text]
    exec(compile(block, "<guide>", "exec"), names)  # of no file: Hypothesis looks for lambdas in a file's lines
    report = run(names["CLAIMS"], examples=20)
    assert [result.passed for result in report.results] == [True, True]


@pytest.mark.slow
@pytest.mark.skipif(not can_fork(), reason="needs processes that fork")
def test_example_spends_one_budget_in_20_processes(capsys: pytest.CaptureFixture[str]) -> None:
    """The document shows what the example prints."""
    runpy.run_path(str(ROOT / "examples/budget_in_20_processes.py"), run_name="__main__")
    told = capsys.readouterr().out
    assert [line.split()[-3] for line in told.splitlines()[:3]] == ["0", "2,000", "100"]
    assert told in (ROOT / "docs/ledger.md").read_text("utf-8")


def test_example_prints_losses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_text("a,b\n0.5,0\n0,0\n3,4\n", "utf-8")
    monkeypatch.setattr("sys.argv", ["losses_per_record.py", str(data), str(out)])
    runpy.run_path(str(ROOT / "examples/losses_per_record.py"), run_name="__main__")
    header, *losses = out.read_text("utf-8").splitlines()
    assert header == "epsilon"
    half, none, clipped = map(float, losses)
    assert 0 < none + half < clipped  # a record of norm 0 moves no sum
    assert none == 0
    assert "largest 2.1008" in capsys.readouterr().out
