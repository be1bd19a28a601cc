"""What is read of a file before it is a certificate."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from certdp.verification.checker.envelope import (
    FORMAT,
    LARGEST_FILE,
    _refuse_deep,
    open_envelope,
    read_file,
    require_regular,
    seal,
)
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


def test_a_file_has_at_most_20_mebibytes() -> None:
    for size, reason in ((20 * 2**20, "not JSON"), (20 * 2**20 + 1, "has more than 20971520 bytes")):
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


@contextmanager
def open_pipe() -> Iterator[int]:
    """The reading end of a pipe that holds nothing and is never written to."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize("place", ["/dev/fd", "/proc/self/fd"])
def test_a_pipe_that_was_given_open_is_admitted_and_no_other(place: str, tmp_path: Path) -> None:
    if not Path(place).is_dir():
        pytest.skip("this system has no such folder")
    with open_pipe() as reading:
        require_regular(Path(place) / str(reading))
    named = tmp_path / "pipe"
    os.mkfifo(named)
    with pytest.raises(OSError, match="no regular file"):
        require_regular(named)


def test_a_pipe_as_standard_input_is_admitted() -> None:
    before = os.dup(0)
    try:
        with open_pipe() as reading:
            os.dup2(reading, 0)
            require_regular(Path("/dev/stdin"))
    finally:
        os.dup2(before, 0)
        os.close(before)


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_what_json_has_no_word_for_is_no_number(name: str) -> None:
    with pytest.raises(Refused, match=f"^{name} is not a JSON number$"):
        open_envelope(f'{{"number": {name}}}'.encode())


def test_a_whole_number_has_at_most_17_digits() -> None:
    with pytest.raises(Refused, match="is not a JSON object with a digest"):
        open_envelope(b'{"number": 99999999999999999}')
    for number in (b"100000000000000000", b"9" * 5000):
        with pytest.raises(Refused, match="a number has more than 17 digits"):
            open_envelope(b'{"number": %b}' % number)


@pytest.mark.parametrize("text", [b"[]", b'["digest"]', b'"digest"', b"7", b"null"])
def test_what_is_no_object_is_no_certificate(text: bytes) -> None:
    with pytest.raises(Refused, match="is not a JSON object with a digest"):
        open_envelope(text)


def test_what_is_nested_too_deeply_is_not_read() -> None:
    with pytest.raises(Refused, match="nested too deeply"):
        open_envelope(b"[" * 300 + b"]" * 300)


def test_a_byte_beyond_ascii_is_refused() -> None:
    with pytest.raises(Refused, match="a byte is not ASCII"):
        open_envelope('{"digest": "\u00e9"}'.encode())


@pytest.mark.parametrize("altered", [lambda text: text + b"\n", lambda text: text.replace(b":", b": ", 1)])
def test_one_way_of_writing_is_the_certificate(altered: Callable[[bytes], bytes]) -> None:
    text = seal({"format": FORMAT})
    assert open_envelope(text) == {"format": FORMAT}
    with pytest.raises(Refused, match="not the canonical form"):
        open_envelope(altered(text))
