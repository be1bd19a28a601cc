"""The envelope of a certificate: canonical JSON that ends in its own digest.

Guarantee: `open_envelope` returns a body only for the one byte string that `seal` makes of it, so any
changed byte, reordered or duplicate key, or other spelling of a number is refused.
"""

import hashlib
import json
from typing import Any

from .verdict import Refused

FORMAT = "certdp-certificate/1"
LARGEST_FILE = 8 * 2**20


def seal(body: dict[str, Any]) -> bytes:
    """Write a body (without its digest) in canonical form, ending in its digest."""
    text = json.dumps(body, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False, separators=(",", ": "))
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    return (text.removesuffix("\n}") + f',\n "digest": "sha256:{digest}"\n}}\n').encode("ascii")


def _refuse_constant(name: str) -> None:
    raise Refused(f"{name} is not a JSON number")


def open_envelope(text: bytes) -> dict[str, Any]:
    """Return the body of a certificate whose bytes are exactly its canonical form."""
    if len(text) > LARGEST_FILE:
        raise Refused(f"the file has more than {LARGEST_FILE} bytes")
    try:
        body = json.loads(text.decode("ascii"), parse_constant=_refuse_constant)
        if type(body) is not dict or "digest" not in body:
            raise Refused("the file is not a JSON object with a digest")
        del body["digest"]
        sealed = seal(body)
    except UnicodeDecodeError:
        raise Refused("the file is not in canonical form: a byte is not ASCII") from None
    except RecursionError:
        raise Refused("the file is nested too deeply") from None
    except ValueError as error:
        raise Refused(f"the file is not JSON of this format: {ascii(str(error))[:200]}") from None
    if sealed != text:
        raise Refused("the bytes are not the canonical form of the content with its digest")
    if body.get("format") != FORMAT:
        raise Refused(f"the format is not {FORMAT}")
    return body
