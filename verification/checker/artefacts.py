"""The files that were released with a certificate, by their digests.

That the program released these very bytes, and with which coins, is in no file: it is the author's word, as the name of
the mechanism is. What is compared is whether a file is one of those that the certificate speaks of.
"""

import hashlib
from pathlib import Path
from typing import Any, Final

from . import shapes
from .envelope import require_regular
from .verdict import Artefacts, Refused

KEY: Final = "artefacts"
COINS: Final = ("operating system",)
_MOST: Final = 64
_LONGEST_NAME: Final = 255
_SHAPE: Final = shapes.record(coins=shapes.one_of(*COINS), files=shapes.mapping(shapes.digest))


def take_artefacts(body: dict[str, Any]) -> Artefacts | None:
    """Take what a certificate says of released files out of its body; None where it says nothing."""
    if KEY not in body:
        return None
    stated = body.pop(KEY)
    _SHAPE(stated, KEY)
    if body.get("audience") != "public":
        raise Refused(f"{KEY} belong in a public certificate, and only there")
    files = stated["files"]
    if not 1 <= len(files) <= _MOST:
        raise Refused(f"{KEY}.files must name from 1 to {_MOST} files")
    for name in files:
        if not (name.isascii() and name.isprintable() and 1 <= len(name) <= _LONGEST_NAME) or "/" in name:
            raise Refused(f"{KEY}.files must have names of 1 to {_LONGEST_NAME} printable ASCII characters but /")
    return Artefacts(coins=stated["coins"], files=tuple(files.items()))


def digest_of(path: Path) -> str:
    """Give the digest of a file, as certificates state it; an OSError for what is no regular file that can be read."""
    require_regular(path)
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
