"""Pages of the documentation that come out of the code: the command line."""

from __future__ import annotations

import re
from typing import Any

import typer
import typer.cli
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from certdp.commands.app import app

_INTRODUCTION = "Every command takes `--json`. Exit codes: 0 success, 1 a claim or certificate that fails, 2 bad input."


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the page of the command line."""
    files.append(File.generated(config, "reference/command_line.md", content=command_line()))
    return files


def command_line() -> str:
    """What `--help` says of each command, as Markdown."""
    command = typer.main.get_command(app)
    with command.make_context("certdp", [], resilient_parsing=True) as context:
        text = typer.cli.get_docs_for_click(obj=command, ctx=context, name="certdp")
    lines = [line for line in text.splitlines() if not line.startswith("* `--help`")]
    body = re.sub(r"^# `certdp`$", f"# Command line\n\n{_INTRODUCTION}", "\n".join(lines), count=1, flags=re.MULTILINE)
    return re.sub(r"^\*\*Options\*\*:\n\n(?=\n|\Z|#)", "", body, flags=re.MULTILINE)
