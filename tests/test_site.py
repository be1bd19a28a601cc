"""The documentation as a site: it builds without a complaint, has every page and public name, and fetches nothing."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from enum import Enum
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from .test_compatibility import members_of, public

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CONFIGURATION = ROOT / "mkdocs.yml"
LISTED = re.compile(r"^ +- [^:]+: (\S+\.md)$", re.MULTILINE)
ENTRY = re.compile(r"^::: (certdp[\w.]*)$", re.MULTILINE)
ANCHOR = re.compile(r"\bid=\"?(certdp[\w.]*)")
FETCHED = re.compile(r"<(?:script|img|link|iframe)[^>]* (?:src|href)=\"?(?:https?:)?//[^\" >]+")
OF_THE_PROJECT = ("ARCHITECTURE", "CONTRIBUTING", "RELEASING", "SECURITY", "CHANGELOG")
GENERATED = {"reference/command_line.md", *(f"{name.lower()}.md" for name in OF_THE_PROJECT)}

pytestmark = pytest.mark.xdist_group("site")  # one worker builds the site


def test_every_page_is_in_the_navigation() -> None:
    listed = LISTED.findall(CONFIGURATION.read_text("utf-8"))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} | GENERATED
    assert sorted(listed) == sorted(pages)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(built)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,  # the configuration is strict: a warning is an error
    )
    return built


@pytest.mark.slow
def test_the_site_has_the_commands_and_the_signatures(site: Path) -> None:
    assert "certdp dpis plan" in (site / "reference/command_line.html").read_text("utf-8")
    runs = re.sub(r"<[^>]+>", "", (site / "reference/runs.html").read_text("utf-8"))
    assert re.search(r"SampledRun\(\s*\*,\s*mechanism: Mechanism", runs)


@pytest.mark.slow
def test_every_page_of_the_project_is_there(site: Path) -> None:
    for name in OF_THE_PROJECT:
        assert (ROOT / f"{name}.md").is_file()
        assert (site / f"{name.lower()}.html").is_file()


# The reference


def entries() -> list[str]:
    return [
        name for page in sorted((DOCS / "reference").glob("*.md")) for name in ENTRY.findall(page.read_text("utf-8"))
    ]


def offered() -> dict[str, Any]:
    """Every public name, with what it is."""
    names = [f"{module}.{name}" for module, found in public().items() for name in found]
    return {name: getattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2]) for name in names}


def callable_members(kind: type) -> set[str]:
    """Methods and properties of a class, inherited ones too, and the members of an enumeration."""
    found = {name: inspect.getattr_static(kind, name, None) for name in members_of(kind)}
    kinds = (property, cached_property, classmethod, staticmethod, FunctionType)
    methods = {name for name, value in found.items() if isinstance(value, kinds)}
    return methods | ({member.name for member in kind} if issubclass(kind, Enum) else set())


def test_no_name_has_two_entries() -> None:
    names = offered()
    found = [names.get(name, name) for name in entries()]
    values = [value for value in found if inspect.isclass(value) or inspect.isroutine(value)]
    assert sorted(entries()) == sorted(set(entries()))
    assert len({id(value) for value in values}) == len(values)
    assert [name for name in entries() if name not in names] == []


@pytest.mark.slow
def test_every_public_name_has_an_entry_with_its_members(site: Path) -> None:
    anchors = {
        found for page in (site / "reference").glob("*.html") for found in ANCHOR.findall(page.read_text("utf-8"))
    }
    names = offered()
    homes: dict[int, list[str]] = {}  # the public names of one thing
    for name, value in names.items():
        homes.setdefault(id(value), []).append(name)
    missing = []
    for name, value in names.items():
        home = next((home for home in (name, *homes[id(value)]) if home in anchors), None)
        if home is None:
            missing.append(name)
        elif inspect.isclass(value):
            missing += [f"{name}.{item}" for item in callable_members(value) if f"{home}.{item}" not in anchors]
    assert not missing, f"give them an entry in docs/reference: {sorted(missing)}"
    assert sum("." in name.removeprefix("certdp.") for name in anchors) > 1000


@pytest.mark.slow
def test_code_is_whole_at_any_width(site: Path) -> None:
    """Wide windows have room for 120 columns; in others lines go on below instead of being cut."""
    style = (site / "site/width.css").read_text("utf-8")
    assert re.search(r"pre > code \{[^}]*white-space: pre-wrap", style)
    column, sides, margins = 0.68 * 0.6, 2 * 12.1, 2 * (1.2 + 1.1764705882 * 0.68)  # in rem, of the theme
    (width,) = re.findall(r"\.md-grid \{ max-width: (\d+)rem", style)
    assert 120 * column + sides + margins <= float(width)
    pages = list(site.rglob("*.html"))
    assert all("site/width.css" in page.read_text("utf-8") for page in pages)


@pytest.mark.slow
def test_the_site_fetches_nothing(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    assert not [(page.name, found) for page in pages for found in FETCHED.findall(page.read_text("utf-8"))]
