"""Pages of the documentation that lie elsewhere: the command line, out of the code, and the pages of the project."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer
import typer.cli
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from certdp.commands.app import app

_ROOT = Path(__file__).parents[2]
_PROJECT = ("ARCHITECTURE", "CONTRIBUTING", "RELEASING", "SECURITY", "CHANGELOG")
_INTRODUCTION = (
    "Every command takes `--json` and `--full`. Exit codes: 0 success, 1 a claim or certificate that fails, 2 bad "
    "input, 3 a certificate that holds only assuming the profile."
)


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the page of the command line, and those that lie beside the folder of the documentation."""
    files.append(File.generated(config, "reference/command_line.md", content=command_line()))
    for name in _PROJECT:
        files.append(File.generated(config, f"{name.lower()}.md", content=of_the_project(name)))
    return files


def of_the_project(name: str) -> str:
    """A page from the root of the repository, its links as they are from here."""
    text = (_ROOT / f"{name}.md").read_text("utf-8")
    text = re.sub(r"\]\(docs/", "](", text)
    return re.sub(rf"\]\(({'|'.join(_PROJECT)})\.md", lambda found: f"]({found[1].lower()}.md", text)


def command_line() -> str:
    """What `--help` says of each command, as Markdown."""
    command = typer.main.get_command(app)
    with command.make_context("certdp", [], resilient_parsing=True) as context:
        text = typer.cli.get_docs_for_click(obj=command, ctx=context, name="certdp")
    lines = [line for line in text.splitlines() if not line.startswith("* `--help`")]
    body = re.sub(r"^# `certdp`$", f"# Command line\n\n{_INTRODUCTION}", "\n".join(lines), count=1, flags=re.MULTILINE)
    return re.sub(r"^\*\*Options\*\*:\n\n(?=\n|\Z|#)", "", body, flags=re.MULTILINE)
