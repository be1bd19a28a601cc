"""Arrays and what is stated beside them as bytes: one form for each content, refused unless it is whole.

The form: a mark, the length of the header (64 bits, little-endian), the header as canonical JSON, the entries of the
arrays one after the other, little-endian, and the SHA-256 digest of all that.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidType, InvalidValue
from ..private import InvalidData
from .reading import Json, canonical, entries, parsed

Arrays: TypeAlias = Mapping[str, NDArray[Any]]

_MARK = b"certdp-packed\n"
_LENGTH, _DIGEST = 8, 32
_TYPES = ("<f8", "<i8", "<u8", "|u1", "|b1")
_DAMAGED = "Damaged, or nothing that certdp wrote"


def packed(form: str, stated: Json, arrays: Arrays) -> bytes:
    """What is stated and arrays as bytes, which start with the name of their form.

    Args:
        form: name and version.
        stated: whole numbers, text and lists of them by name.
        arrays: of binary64, int64, uint64, uint8 or bool, by name.
    """
    held = {name: _little(array) for name, array in arrays.items()}
    shapes = {name: [array.dtype.str, *array.shape] for name, array in held.items()}
    header = canonical({"format": form, "stated": stated, "arrays": shapes}).encode("ascii")
    pieces = [_MARK, len(header).to_bytes(_LENGTH, "little"), header]
    content = b"".join([*pieces, *(held[name].tobytes() for name in sorted(held))])
    return content + sha256(content).digest()


def unpacked(form: str, content: bytes) -> tuple[Json, dict[str, NDArray[Any]]]:
    """What `packed` was given; nothing of the content is in what an error says.

    Raises:
        InvalidType: for anything but bytes.
        InvalidValue: for another form, damaged and cut content.
    """
    if not isinstance(content, bytes):
        raise InvalidType("content", type(content), "bytes", "Give what to_bytes gave")
    body = content[:-_DIGEST]
    if not body.startswith(_MARK) or sha256(body).digest() != content[-_DIGEST:]:
        raise _damaged()
    start = len(_MARK) + _LENGTH
    end = start + int.from_bytes(body[len(_MARK) : start], "little")
    header = parsed(body[start:end].decode("ascii"), "content")
    found, stated, shapes = entries("content", header, "format", "stated", "arrays")
    if found != form:
        remedy = "Read it with what wrote it: its kind, and the version of certdp"
        raise InvalidValue("content", f"the form {found}", f"the form {form}", remedy)
    arrays: dict[str, NDArray[Any]] = {}
    for name in sorted(shapes):
        kind, *shape = shapes[name]
        if kind not in _TYPES or not all(type(length) is int and length >= 0 for length in shape):
            raise _damaged()
        size = np.dtype(kind).itemsize * prod(shape)
        if size > len(body) - end:
            raise _damaged()
        arrays[name] = np.frombuffer(body[end : end + size], dtype=kind).reshape(shape).astype(kind[1:])
        end += size
    if end != len(body):
        raise _damaged()
    return stated, arrays


def _damaged() -> InvalidData:
    return InvalidData("content", "bytes that are not whole", "what to_bytes gave", _DAMAGED)


def _little(array: NDArray[Any]) -> NDArray[Any]:
    result: NDArray[Any] = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if result.dtype.str not in _TYPES:
        raise InvalidType("arrays", result.dtype, "binary64, int64, uint64, uint8 or bool")
    return result
