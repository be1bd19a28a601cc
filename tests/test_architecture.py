"""ARCHITECTURE.md speaks of the folders that there are, and of every top folder and room."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import certdp

from .test_layering import FLOORS

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
SPOKEN_OF = sorted(set(re.findall(r"`((?:[a-z_]+/)+[a-z_]*)`", TEXT)))
PACKAGES = ("accounting", "verification", "plugins", "src/certdp")


def folders(within: str) -> set[str]:
    """Packages inside a folder."""
    return {path.parent.name for path in (ROOT / within).glob("*/__init__.py") if not path.parent.is_symlink()}


def test_folders_are_spoken_of() -> None:
    assert len(SPOKEN_OF) > 25


@pytest.mark.parametrize("folder", SPOKEN_OF)
def test_each_folder_is_there(folder: str) -> None:
    assert (ROOT / folder).exists(), f"ARCHITECTURE.md speaks of {folder}, which is not there"


def test_each_top_folder_is_named() -> None:
    tops = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "." and path.name != "run"}
    tracked = {name for name in tops if any((ROOT / name).rglob("*.*"))} - {"build", "dist", "__pycache__"}
    assert {name for name in tracked if not re.search(rf"\b{name}\b", TEXT)} == set()


@pytest.mark.parametrize("within", PACKAGES)
def test_each_room_is_named(within: str) -> None:
    unnamed = {name for name in folders(within) if not re.search(rf"\b{name}\b", TEXT)}
    assert not unnamed, f"place {sorted(unnamed)} of {within} in ARCHITECTURE.md"


def test_the_words_are_names_of_the_library() -> None:
    names = re.findall(r"`([A-Z][A-Za-z]+)`", TEXT)
    assert {"SampledRun", "Plan", "Enclosure", "Private"} <= set(names)
    assert [name for name in names if not hasattr(certdp, name)] == []


def test_the_picture_has_the_floors_in_their_order() -> None:
    """From the top down, one block for each floor whose imports are held; what lies on it is named there."""
    (picture,) = re.findall(r"^```text\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    blocks = [block for block in re.split(r"^─+[┘]?$", picture, flags=re.MULTILINE) if block.strip()]
    assert len(blocks) == len(FLOORS)
    for block, wings in zip(reversed(blocks), FLOORS, strict=True):
        words = set(re.findall(r"\w+", block))
        unseen = {"probe", "forks"}  # parts of discovery
        assert {wing.rpartition(".")[2] for wing in wings} - unseen <= words | {"certdp"}, block
