"""Signatures of certificates: who vouches that a file, and the outputs that it states, are theirs.

Ed25519 (RFC 8032) of the certificate's bytes, 64 bytes in a file of their own, as other tools write and read them:
`openssl pkeyutl -verify -rawin -pubin -inkey KEY -in CERTIFICATE -sigfile SIGNATURE`. It needs `certdp[signatures]`.
"""

from __future__ import annotations

import hashlib
from importlib import import_module
from typing import Any

from ...accounting.errors import InvalidValue
from ..checker import check

_LENGTH = 64


def sign(certificate: bytes, key: bytes) -> bytes:
    """Sign a certificate that the checker accepts.

    Args:
        certificate: its bytes.
        key: a private Ed25519 key in PEM (PKCS #8), not encrypted; it is shown in no error.

    Raises:
        InvalidValue: for another key, a certificate that is refused, and an installation without the extra.
    """
    signing = _private_key(key)
    verdict = check(certificate)
    if not verdict.accepted:
        remedy = f"It says: {verdict.reason}"
        raise InvalidValue("certificate", "one that the checker refuses", "one that it accepts", remedy)
    signature: bytes = signing.sign(certificate)
    return signature


def is_signed_by(certificate: bytes, signature: bytes, key: bytes) -> bool:
    """Whether the signature is that of the key over these bytes; nothing else is said of the certificate.

    Args:
        certificate: its bytes.
        signature: 64 bytes; anything else is no signature.
        key: a public Ed25519 key in PEM.

    Raises:
        InvalidValue: for another key, and an installation without the extra.
    """
    verifying, invalid = _public_key(key), _imported("exceptions").InvalidSignature
    if len(signature) != _LENGTH:
        return False
    try:
        verifying.verify(signature, certificate)
    except invalid:
        return False
    return True


def fingerprint(key: bytes) -> str:
    """The SHA-256 of a public key's 32 bytes, as `sha256:…`, whatever the file that holds it looks like.

    Raises:
        InvalidValue: as `is_signed_by`.
    """
    return f"sha256:{hashlib.sha256(_public_key(key).public_bytes_raw()).hexdigest()}"


def _private_key(key: bytes) -> Any:
    load, kind = _imported("hazmat.primitives.serialization").load_pem_private_key, _ed25519().Ed25519PrivateKey
    try:
        found = load(key, password=None)
    except (TypeError, ValueError):  # it may quote the key
        found = None
    if not isinstance(found, kind):
        raise InvalidValue(
            "key",
            "no such key",
            "a private Ed25519 key in PEM, not encrypted",
            "Make one: openssl genpkey -algorithm ed25519",
        )
    return found


def _public_key(key: bytes) -> Any:
    serialization = _imported("hazmat.primitives.serialization")
    try:
        found = serialization.load_pem_public_key(key)
    except ValueError:
        found = None
    if not isinstance(found, _ed25519().Ed25519PublicKey):
        raise InvalidValue(
            "signed-by", "no such key", "a public Ed25519 key in PEM", "Take it from its owner: openssl pkey -pubout"
        )
    return found


def _ed25519() -> Any:
    return _imported("hazmat.primitives.asymmetric.ed25519")


def _imported(name: str) -> Any:
    try:
        return import_module(f"cryptography.{name}")
    except ImportError:
        remedy = "pip install 'certdp[signatures]'"
        raise InvalidValue("key", "cryptography is missing", "an installation with it", remedy) from None
