"""Released files that a certificate names: how many, by which names, and of which certificates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from certdp.verification.checker.artefacts import digest_of, take_artefacts
from certdp.verification.checker.verdict import Refused

DIGEST = "sha256:" + "0" * 64


def body(*names: str, audience: str = "public") -> dict[str, Any]:
    stated = {"coins": "operating system", "files": dict.fromkeys(names, DIGEST)}
    return {"audience": audience, "artefacts": stated}


def test_files_of_a_public_certificate_are_taken_out() -> None:
    stated = body("a.npy", "b c")
    found = take_artefacts(stated)
    assert found is not None
    assert found.files == (("a.npy", DIGEST), ("b c", DIGEST))
    assert "artefacts" not in stated
    assert take_artefacts(stated) is None
    with pytest.raises(Refused, match="public certificate"):
        take_artefacts(body("a.npy", audience="owner"))


@pytest.mark.parametrize("name", ["", "a/b", "é", "a\n", "\x7f", "a" * 256])
def test_a_name_is_short_printable_and_no_path(name: str) -> None:
    take_artefacts(body("a" * 255))
    with pytest.raises(Refused, match="must have names"):
        take_artefacts(body(name))


def test_there_are_some_files_and_not_too_many() -> None:
    take_artefacts(body(*map(str, range(64))))
    for names in ((), map(str, range(65))):
        with pytest.raises(Refused, match="from 1 to 64 files"):
            take_artefacts(body(*names))


def test_what_is_no_regular_file_has_no_digest(tmp_path: Path) -> None:
    for place in (tmp_path, Path("/dev/null")):
        with pytest.raises(OSError, match="no regular file"):
            digest_of(place)


@pytest.mark.parametrize(
    "change",
    [
        {"coins": "a seed"},
        {"coins": None},
        {"files": ["a.npy"]},
        {"files": {"a.npy": "0" * 64}},
        {"files": {"a.npy": DIGEST[:-1]}},
        {"files": {"a.npy": None}},
        {"more": "x"},
    ],
    ids=str,
)
def test_what_is_stated_of_files_has_its_shape(change: dict[str, Any]) -> None:
    stated = body("a.npy")
    stated["artefacts"] |= change
    with pytest.raises(Refused, match="artefacts"):
        take_artefacts(stated)
    with pytest.raises(Refused, match="artefacts"):
        take_artefacts({"audience": "public", "artefacts": None})
