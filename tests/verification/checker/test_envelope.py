"""What is read of a file before it is a certificate."""

from __future__ import annotations

from pathlib import Path

import pytest

from certdp.verification.checker.envelope import LARGEST_FILE, read_file


@pytest.mark.parametrize("place", ["", "/dev/null"])
def test_what_is_no_regular_file_is_not_read(place: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no regular file"):
        read_file(tmp_path / place)


def test_of_what_is_too_large_one_byte_more_is_read(tmp_path: Path) -> None:
    for size in (0, 3, LARGEST_FILE, LARGEST_FILE + 1, LARGEST_FILE + 2):
        path = tmp_path / f"{size}.json"
        with path.open("wb") as file:
            file.truncate(size)
        assert len(read_file(path)) == min(size, LARGEST_FILE + 1)
