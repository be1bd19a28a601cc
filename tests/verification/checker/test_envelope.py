"""What is read of a file before it is a certificate."""

from __future__ import annotations

from pathlib import Path

import pytest

from certdp.verification.checker.envelope import LARGEST_FILE, _refuse_deep, open_envelope, read_file
from certdp.verification.checker.verdict import Refused


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


def test_a_file_has_at_most_8_mebibytes() -> None:
    for size, reason in ((8 * 2**20, "not JSON"), (8 * 2**20 + 1, "has more than 8388608 bytes")):
        with pytest.raises(Refused, match=reason):
            open_envelope(b"x" * size)


@pytest.mark.parametrize(
    "before", [b"", b"[]" * 300, b"{}" * 300, b'"[[[[{{{{\\"[[["' * 300], ids=["", "[]", "{}", "text"]
)
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b"{", b"}"), (b"[{", b"}]")])
def test_nesting_is_counted_as_it_opens_and_closes(before: bytes, opening: bytes, closing: bytes) -> None:
    times = 256 // len(opening)
    _refuse_deep(before + opening * times + closing * times + opening * times)
    with pytest.raises(Refused, match="nested too deeply"):
        _refuse_deep(before + opening * times + b"[" + closing * times)


def test_values_times_depth_are_limited() -> None:
    """2^25 of them, whatever stands between the commas and in strings."""
    depth, commas = 256, 2**17
    _refuse_deep(b"[" * depth + b"," * commas + b'",,"')
    with pytest.raises(Refused, match="nested too deeply"):
        _refuse_deep(b"[" * depth + b"," * (commas + 1))
