"""The envelope of a certificate: canonical JSON that ends in its own digest.

Guarantee: `open_envelope` returns a body only for the one byte string that `seal` makes of it, so any
changed byte, reordered or duplicate key, or other spelling of a number is refused.
"""

import hashlib
import json
import re
import stat
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from .verdict import Refused

FORMAT = "certdp-certificate/1"
LARGEST_FILE = 20 * 2**20
_OPEN: Final = ("/dev/fd", "/proc/self/fd")
_MOST_DIGITS: Final = 17
_MOST_NESTED: Final = 256
_MOST_WORK: Final = 2**25
"""Values times depth, which is how long Python takes to write them again: some seconds."""
_STRINGS: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?')
"""Strings, and what begins like one: it always matches and takes nothing back, so every byte is seen once."""
_STEPS: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS: Final = bytes(set(range(256)) - set(_STEPS))


def read_file(path: Path) -> bytes:
    """Read a certificate; of what is larger than any, one byte more than the largest.

    An OSError also for what is no regular file, since a pipe may never begin and a device never end. What this process
    was given open is read: /dev/stdin, and /dev/fd/N of a shell.
    """
    require_regular(path)
    with path.open("rb") as file:
        return file.read(LARGEST_FILE + 1)


def require_regular(path: Path) -> None:
    """Raise an OSError for what is no regular file and was not given open, as `read_file` does."""
    given = path.as_posix() == "/dev/stdin" or path.parent.as_posix() in _OPEN
    if not given and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(0, "It is no regular file but a directory, a pipe or a device: save it first", str(path))


def seal(body: dict[str, Any]) -> bytes:
    """Write a body (without its digest) in canonical form, ending in its digest."""
    text = json.dumps(body, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False, separators=(",", ": "))
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    return (text.removesuffix("\n}") + f',\n "digest": "sha256:{digest}"\n}}\n').encode("ascii")


def _refuse_constant(name: str) -> None:
    raise Refused(f"{name} is not a JSON number")


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise Refused(f"a number has more than {_MOST_DIGITS} digits")
    return int(digits)


def _refuse_deep(text: bytes) -> None:
    """Refuse what a reader of JSON may take long for, whatever it is: before it is read."""
    bare = _STRINGS.sub(b"", text)
    depth = max(accumulate(map(_STEPS.__getitem__, bare.translate(None, _NO_BRACKETS)), initial=0))
    if depth > _MOST_NESTED or depth * bare.count(b",") > _MOST_WORK:
        raise Refused("the file is nested too deeply")


def open_envelope(text: bytes) -> dict[str, Any]:
    """Return the body of a certificate whose bytes are exactly its canonical form."""
    if len(text) > LARGEST_FILE:
        raise Refused(f"the file has more than {LARGEST_FILE} bytes")
    try:
        _refuse_deep(text)
        body = json.loads(text.decode("ascii"), parse_int=_whole, parse_constant=_refuse_constant)
        if type(body) is not dict or "digest" not in body:
            raise Refused("the file is not a JSON object with a digest")
        del body["digest"]
        sealed = seal(body)
    except UnicodeDecodeError:
        raise Refused("the file is not in canonical form: a byte is not ASCII") from None
    except ValueError as error:
        raise Refused(f"the file is not JSON of this format: {ascii(str(error))[:200]}") from None
    if sealed != text:
        raise Refused("the bytes are not the canonical form of the content with its digest")
    if body.get("format") != FORMAT:
        raise Refused(f"the format is not {FORMAT}")
    return body
