"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, NoReturn

import pytest

from certdp.accounting.errors import InvalidValue
from certdp.durable.files import Rank, check_place, published, write_whole


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def fails(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Break one step of writing a file."""

    def broken(*_: Any, **__: Any) -> NoReturn:
        raise OSError(28, "No space left on device")

    step: str = request.param
    if step == "replace":
        monkeypatch.setattr(os, "replace", broken)
    elif step == "write":
        monkeypatch.setattr(os, "fdopen", lambda handle, *_: _Full(handle))
    else:
        monkeypatch.setattr(os, step, broken)
    return step


class _Full:
    """A stream that takes half of what it is given."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def fileno(self) -> int:
        return self._handle

    def close(self) -> None:
        os.close(self._handle)

    def write(self, content: bytes) -> NoReturn:
        os.write(self._handle, content[: len(content) // 2])
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("content", [b"", b"one\n", bytes(range(256)) * 5000])
def test_a_new_file_and_an_old_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "out.json"
    for _ in range(2):
        write_whole(path, content)
        assert path.read_bytes() == content
        assert list(tmp_path.iterdir()) == [path]
    write_whole(path, b"short")
    assert path.read_bytes() == b"short"


@pytest.mark.parametrize("fails", ["write", "fsync", "replace"], indirect=True)
@pytest.mark.parametrize("old", [None, b"the old content"])
def test_a_write_that_fails_leaves_everything_as_it_was(tmp_path: Path, fails: str, old: bytes | None) -> None:
    path = tmp_path / "out.json"
    if old is not None:
        path.write_bytes(old)
    with pytest.raises(InvalidValue) as caught:
        write_whole(path, b"the new content")
    error = caught.value
    assert (error.parameter, error.value, error.admissible) == ("path", str(path), "a writable file")
    assert "No space left on device" in error.remedy
    assert fails in {"write", "fsync", "replace"}
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if old is None else [old])


def test_an_interrupt_leaves_no_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: int) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "out.json", b"content")
    assert list(tmp_path.iterdir()) == []


def test_a_secret_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "secret.json"
    path.write_bytes(b"old and open")
    path.chmod(0o644)
    before = os.umask(0)
    try:
        write_whole(path, b"new", secret=True)
    finally:
        os.umask(before)
    assert mode(path) == 0o600


@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_other_files_follow_the_umask(tmp_path: Path, umask: int, expected: int) -> None:
    path = tmp_path / "open.json"
    before = os.umask(umask)
    try:
        write_whole(path, b"content")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert mode(path) == expected


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue) as caught:
        write_whole(tmp_path / "none" / "out.json", b"content")
    error = caught.value
    assert error.value == str(tmp_path / "none" / "out.json")
    assert error.admissible == "a file in an existing, writable folder"
    assert error.remedy
    assert not (tmp_path / "none").exists()


def test_two_files_of_one_publication_have_two_places(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "out.json")
    for second in ("out.json", "link.json"):
        with published() as files:
            files.write(tmp_path / "out.json", b"statement", Rank.STATEMENT)
            with pytest.raises(InvalidValue, match="that no other file of these has"):
                files.write(tmp_path / second, b"release", Rank.RELEASE)
        assert (tmp_path / "out.json").read_bytes() == b"statement"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidValue, match="admissible: a regular file"):
        write_whole(tmp_path / "folder", b"content")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_device_or_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InvalidValue, match="admissible: a regular file"):
        write_whole(pipe, b"content")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


def test_a_link_leads_to_the_file_that_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_bytes(b"old")
    link.symlink_to(real)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_place_is_tried_without_a_trace(tmp_path: Path) -> None:
    check_place(tmp_path / "out.json")
    assert list(tmp_path.iterdir()) == []
    for place, remedy in (
        (tmp_path, "It is a folder: add the name of a file"),
        (Path(os.devnull), "It is a device or pipe: choose another name"),
        (tmp_path / "none" / "out.json", f"Create the folder {tmp_path / 'none'}, or choose another"),
        (tmp_path / ("n" * 300), "File name too long: choose another place"),
    ):
        with pytest.raises(InvalidValue) as caught:
            check_place(place)
        assert (caught.value.parameter, caught.value.value) == ("path", str(place))
        assert caught.value.remedy == remedy


def test_links_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    dangling, loop = tmp_path / "dangling", tmp_path / "loop"
    dangling.symlink_to(tmp_path / "none" / "out.json")
    loop.symlink_to(loop)
    with pytest.raises(InvalidValue, match="Create the folder"):
        check_place(dangling)
    with pytest.raises(InvalidValue, match=r"path: got .*loop; admissible: .*: choose another place"):
        check_place(loop)


def test_a_name_as_long_as_names_may_be(tmp_path: Path) -> None:
    for name in ("n" * 255, "ψ" * 127):
        write_whole(tmp_path / name, b"content")
        assert (tmp_path / name).read_bytes() == b"content"
