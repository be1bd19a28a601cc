"""The documentation as a site: it builds without a complaint, has every page and public name, and fetches nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import certdp

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CONFIGURATION = ROOT / "mkdocs.yml"
LISTED = re.compile(r"^ +- [^:]+: (\S+\.md)$", re.MULTILINE)
DOCUMENTED = re.compile(r"^::: certdp\.(\w+)$", re.MULTILINE)
FETCHED = re.compile(r"<(?:script|img|link|iframe)[^>]* (?:src|href)=\"?(?:https?:)?//[^\" >]+")
GENERATED = {"reference/command_line.md"}


def test_every_page_is_in_the_navigation() -> None:
    listed = LISTED.findall(CONFIGURATION.read_text("utf-8"))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} | GENERATED
    assert sorted(listed) == sorted(pages)


def test_every_public_name_is_in_the_reference_once() -> None:
    pages = sorted((DOCS / "reference").glob("*.md"))
    documented = [name for page in pages for name in DOCUMENTED.findall(page.read_text("utf-8")) if name[0] != "_"]
    modules = {"dpis", "interoperation", "plugins", "verification"}
    assert sorted(name for name in documented if name not in modules) == sorted(certdp.__all__)


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


def test_the_site_has_the_commands_and_the_signatures(site: Path) -> None:
    assert "certdp dpis plan" in (site / "reference/command_line.html").read_text("utf-8")
    runs = re.sub(r"<[^>]+>", "", (site / "reference/runs.html").read_text("utf-8"))
    assert re.search(r"SampledMechanism\(\s*\*,\s*mechanism: Mechanism", runs)


def test_the_site_fetches_nothing(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    assert not [(page.name, found) for page in pages for found in FETCHED.findall(page.read_text("utf-8"))]
