"""Certificates of released files: the files themselves are accepted, altered and swapped ones are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from certdp import (
    Coins,
    InvalidType,
    InvalidValue,
    LaplaceSum,
    Norm,
    NormBall,
    Poisson,
    Public,
    SampledRun,
    artefact_certificate,
    profile_certificate,
)
from certdp.verification.checker import check, digest_of
from certdp.verification.checker.__main__ import main
from certdp.verification.checker.artefacts import KEY
from certdp.verification.checker.envelope import seal

RUN = SampledRun(
    mechanism=LaplaceSum(scale=Public(1)),
    sampler=Poisson(rate=Public("0.5")),
    domain=NormBall(norm=Norm.L1, radius=Public(1)),
)
CERTIFICATE = profile_certificate(RUN)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name in ("first", "second"):
        (tmp_path / name).write_bytes(name.encode())
    return [tmp_path / "first", tmp_path / "second"]


def body_of(certificate: bytes) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(certificate)
    del body["digest"]
    return body


def test_a_certificate_says_of_which_files_it_is(files: list[Path]) -> None:
    verdict = check(artefact_certificate(CERTIFICATE, *files))
    assert verdict.accepted
    assert verdict.artefacts is not None
    assert dict(verdict.artefacts.files) == {path.name: digest_of(path) for path in files}
    assert verdict.claim == check(CERTIFICATE).claim
    assert check(CERTIFICATE).artefacts is None
    for digest in dict(verdict.artefacts.files).values():
        assert digest in str(verdict)


def test_only_its_files_pass(files: list[Path], tmp_path: Path) -> None:
    first, second = files
    certificate, unbound = tmp_path / "certificate", tmp_path / "unbound"
    certificate.write_bytes(artefact_certificate(CERTIFICATE, first))
    unbound.write_bytes(CERTIFICATE)
    for path, named, status in (
        (certificate, [first], 0),
        (certificate, [second], 1),
        (certificate, [first, second], 1),
        (unbound, [first], 1),
        (unbound, [], 0),
    ):
        assert main([str(path), *(word for file in named for word in ("--artefact", str(file)))]) == status
    first.write_bytes(b"First")
    assert main([str(certificate), "--artefact", str(first)]) == 1
    assert main([str(certificate), "--artefact", str(tmp_path / "absent")]) == 2
    assert main([str(certificate), "--artefact", str(tmp_path)]) == 2


@pytest.mark.parametrize(
    ("artefacts", "why"),
    [
        ({"coins": "seeded", "files": {"a": "sha256:" + "0" * 64}}, "coins"),
        ({"coins": "operating system", "files": {}}, "from 1 to 64"),
        ({"coins": "operating system", "files": {str(n): "sha256:" + "0" * 64 for n in range(65)}}, "from 1 to 64"),
        ({"coins": "operating system", "files": {"a": "sha256:" + "A" * 64}}, "64 lower-case"),
        ({"coins": "operating system", "files": {"../a": "sha256:" + "0" * 64}}, "names"),
        ({"coins": "operating system", "files": {"": "sha256:" + "0" * 64}}, "names"),
        ({"coins": "operating system", "files": {"\x1b[2J": "sha256:" + "0" * 64}}, "names"),
        ({"coins": "operating system"}, "files"),
        (None, "object"),
    ],
)
def test_what_no_certificate_may_say_of_files(artefacts: Any, why: str) -> None:
    verdict = check(seal({**body_of(CERTIFICATE), KEY: artefacts}))
    assert not verdict.accepted
    assert why in verdict.reason


def test_an_owners_certificate_speaks_of_no_files(files: list[Path]) -> None:
    body = {**body_of(artefact_certificate(CERTIFICATE, *files)), "audience": "owner"}
    assert "public certificate" in check(seal(body)).reason


def test_what_cannot_be_bound(files: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="seeded"):
        artefact_certificate(CERTIFICATE, *files, coins=Coins.seeded(1))
    with pytest.raises(InvalidValue, match="different names"):
        artefact_certificate(CERTIFICATE, files[0], files[0])
    with pytest.raises(InvalidValue, match="1 to 64"):
        artefact_certificate(CERTIFICATE)
    with pytest.raises(InvalidValue, match="readable"):
        artefact_certificate(CERTIFICATE, tmp_path / "absent")
    for wrong in (b"", b"[]", b"{}", b"1", CERTIFICATE[:-10]):
        with pytest.raises(InvalidValue, match="certificate"):
            artefact_certificate(wrong, *files)
    with pytest.raises(InvalidType):
        artefact_certificate(str(CERTIFICATE), *files)  # type: ignore[arg-type]
