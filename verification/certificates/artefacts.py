"""Certificates of released files: they state the digest of each, so that none stands beside another output."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ...accounting.errors import InvalidType, InvalidValue
from ...plugins.contract import Coins
from ...plugins.contract.coins import seeded_run
from ..checker import check, digest_of
from ..checker.artefacts import COINS, KEY
from .writing import sealed


def artefact_certificate(certificate: bytes, *files: Path | str, coins: Coins | None = None) -> bytes:
    """Bind a certificate to the files that were released with it: it then states their digests.

    `certdp check --artefact FILE` compares; that the files came from the run certified remains the author's word.

    Args:
        certificate: a publishable certificate.
        files: what was released, as it is published: from 1 to 64 files of different names.
        coins: those that were drawn with; the operating system's unless given.

    Raises:
        InvalidType: for a certificate that is not bytes.
        InvalidValue: for seeded coins, a certificate or names that the checker refuses, and files that cannot be read.
    """
    paths = [Path(file) for file in files]
    if len({path.name for path in paths}) < len(paths):
        names = ", ".join(sorted(path.name for path in paths))
        raise InvalidValue("files", names, "files of different names", "Rename one")
    if coins is not None and not coins.private:
        raise seeded_run("certificate")
    digests = {}
    for path in paths:
        try:
            digests[path.name] = digest_of(path)
        except OSError as error:
            raise InvalidValue("files", str(path), "readable files", error.strerror or str(error)) from None
    return with_digests(certificate, digests)


def with_digests(certificate: bytes, digests: Mapping[str, str]) -> bytes:
    """Bind a certificate to files by their names and digests, drawn with the operating system's coins.

    Raises:
        InvalidType: for a certificate that is not bytes.
        InvalidValue: for a certificate or names that the checker refuses.
    """
    if not isinstance(certificate, bytes):
        raise InvalidType("certificate", certificate, "the bytes of a certificate")
    try:
        body = json.loads(certificate)
        del body["digest"]
    except (ValueError, TypeError, KeyError):
        raise InvalidValue("certificate", "no certificate", "the bytes of a certificate") from None
    content = sealed({**body, KEY: {"coins": COINS[0], "files": dict(digests)}})
    verdict = check(content)
    if not verdict.accepted:
        raise InvalidValue("certificate", "one that the checker refuses", "a publishable one", verdict.reason)
    return content
