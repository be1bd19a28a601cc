"""Files of norm sums: what is read, and what is refused by line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from certdp.accounting.errors import InvalidValue
from certdp.dpis.trajectories import read_trajectory


def written(folder: Path, text: str) -> Path:
    path = folder / "sums.txt"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("epochs", [None, 2])
def test_shares_are_read_by_line(epochs: int | None, tmp_path: Path) -> None:
    path = written(tmp_path, "10\n\n 2.5 \n")
    assert read_trajectory(path, epochs, Fraction(10), parameter="sums") == [Fraction(1), Fraction(1, 4)]


@pytest.mark.parametrize(
    ("text", "epochs", "complaint"),
    [
        ("", None, "at least one number"),
        ("", 2, "2 numbers, one for each epoch"),
        ("1\n2\n3\n", 2, "3 numbers.*2 numbers, one for each epoch"),
        ("1\n0\n", None, "in line 2"),
        ("11\n", None, "in line 1"),
        ("1\nx\n", None, "sums"),
    ],
)
def test_other_content_is_refused(text: str, epochs: int | None, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=complaint):
        read_trajectory(written(tmp_path, text), epochs, Fraction(10), parameter="sums")


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="a text file, one number a line"):
        read_trajectory(tmp_path / "nowhere.txt", None, Fraction(10), parameter="sums")
