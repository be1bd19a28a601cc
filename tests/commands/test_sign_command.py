"""`certdp sign` and `certdp check --signed-by`: the key's own signature passes, and no other."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]


def written(folder: Path, name: str, key: Any, encryption: KeySerializationEncryption) -> tuple[Path, Path]:
    """The files of a private key and of its public key."""
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


def key_files(folder: Path, name: str) -> tuple[Path, Path]:
    return written(folder, name, Ed25519PrivateKey.generate(), NoEncryption())


@pytest.fixture
def certificate(certdp: Run, base: tuple[str, ...], tmp_path: Path) -> Path:
    assert certdp(*base, "--option", "radius=3", "--certificate", tmp_path / "c").code == 0
    return tmp_path / "c"


def test_a_key_tells_its_own_signature(certdp: Run, certificate: Path, tmp_path: Path) -> None:
    private, public = key_files(tmp_path, "own")
    _, another = key_files(tmp_path, "another")
    unsigned = certdp("check", certificate, "--signed-by", public)
    assert unsigned.code == 1
    assert "not met: signed-by" in unsigned.out
    assert certdp("sign", certificate, "--signing-key", private).code == 0
    signature = tmp_path / "c.sig"
    assert len(signature.read_bytes()) == 64
    assert certdp("check", certificate, "--signed-by", public).code == 0
    assert certdp("check", certificate, "--signed-by", another).code == 1
    assert certdp("check", certificate, "--signed-by", public, "--signature", signature, "--json").json["demands"][0][
        "met"
    ]
    signature.write_bytes(signature.read_bytes()[:-1])
    assert certdp("check", certificate, "--signed-by", public).code == 1


def test_a_signature_is_of_one_certificate(
    certdp: Run, base: tuple[str, ...], certificate: Path, tmp_path: Path
) -> None:
    private, public = key_files(tmp_path, "own")
    assert certdp("sign", certificate, "--signing-key", private, "--output", tmp_path / "s").code == 0
    assert certdp(*base, "--option", "radius=4", "--certificate", tmp_path / "other").code == 0
    for file, code in ((certificate, 0), (tmp_path / "other", 1)):
        assert certdp("check", file, "--signed-by", public, "--signature", tmp_path / "s").code == code


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not there")
def test_openssl_agrees(certdp: Run, certificate: Path, tmp_path: Path) -> None:
    private, public = tmp_path / "own.pem", tmp_path / "own.pub"
    own, known = str(private), str(public)
    for words in (["genpkey", "-algorithm", "ed25519", "-out", own], ["pkey", "-in", own, "-pubout", "-out", known]):
        subprocess.run(["openssl", *words], check=True, capture_output=True)
    assert certdp("sign", certificate, "--signing-key", private).code == 0
    verify = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", known, "-in", str(certificate)]
    subprocess.run([*verify, "-sigfile", f"{certificate}.sig"], check=True, capture_output=True)


def test_what_is_no_key_and_what_is_not_signed(refusal: Refusal, certificate: Path, tmp_path: Path) -> None:
    private, public = key_files(tmp_path, "own")
    locked, _ = written(tmp_path, "locked", Ed25519PrivateKey.generate(), BestAvailableEncryption(b"word"))
    curve, other = written(tmp_path, "curve", ec.generate_private_key(ec.SECP256R1()), NoEncryption())
    for key in (public, certificate, locked, curve, tmp_path / "absent"):
        assert refusal("sign", certificate, "--signing-key", key)["parameter"] == "signing-key"
    for key in (private, certificate, other, tmp_path / "absent"):
        assert refusal("check", certificate, "--signed-by", key)["parameter"] == "signed-by"
    assert refusal("sign", public, "--signing-key", private)["parameter"] == "certificate"
    assert refusal("sign", tmp_path / "absent", "--signing-key", private)["parameter"] == "certificate"
    assert refusal("check", certificate, "--signature", public)["parameter"] == "signature"
    for place in (certificate, private):
        before = place.read_bytes()
        assert refusal("sign", certificate, "--signing-key", private, "--output", place)["parameter"] == "output"
        assert place.read_bytes() == before
    assert not (tmp_path / "c.sig").exists()


def test_no_error_shows_a_key(certdp: Run, certificate: Path, tmp_path: Path) -> None:
    private, public = key_files(tmp_path, "own")
    secret = private.read_text().splitlines()[1]
    for words in (("sign", public, "--signing-key", private), ("check", certificate, "--signed-by", private)):
        said = certdp(*words)
        assert said.code == 2
        assert secret not in said.out + said.err
