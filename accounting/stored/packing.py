"""Arrays and what is stated beside them as bytes: one form for each content, refused unless it is whole.

The form: a mark, the length of the header (64 bits, little-endian), the header as canonical JSON, the entries of the
arrays one after the other, little-endian, and the SHA-256 digest of all that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
_FORM = re.compile(r"certdp-[a-z-]{1,40}/[0-9]{1,4}")
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
    with whole_content():
        header = parsed(body[start:end].decode("ascii"), "content")
        found, stated, shapes = entries("content", header, "format", "stated", "arrays")
    if found != form:
        if not (isinstance(found, str) and _FORM.fullmatch(found)):
            raise _damaged()
        remedy = "Read it with what wrote it: its kind, and the version of certdp"
        raise InvalidValue("content", f"the form {found}", f"the form {form}", remedy)
    with whole_content():
        return stated, _arrays(shapes, body[end:])


@contextmanager
def whole_content() -> Iterator[None]:
    """To take packed content apart: whatever fails there ends in one error, which says nothing of the content.

    Raises:
        InvalidData: in place of any other error.
    """
    try:
        yield
    except Exception:  # whatever it is, its text may quote the content
        raise _damaged() from None


def is_vector(array: NDArray[Any], kind: str, length: int | None = None) -> bool:
    """Whether an array has one dimension and entries of one kind: f8, i8, u8, u1 or b1; and so many where stated."""
    return array.ndim == 1 and array.dtype.str[1:] == kind and (length is None or len(array) == length)


def _arrays(shapes: Mapping[str, list[Any]], body: bytes) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    end = 0
    for name in sorted(shapes):
        kind, *shape = shapes[name]
        if kind not in _TYPES or not all(type(length) is int and length >= 0 for length in shape):
            raise _damaged()
        size = np.dtype(kind).itemsize * prod(shape)
        if size > len(body) - end:
            raise _damaged()
        piece = body[end : end + size]
        if kind == "|b1" and piece.translate(None, b"\0\1"):
            raise _damaged()  # a truth value that is neither
        arrays[name] = np.frombuffer(piece, dtype=kind).reshape(shape).astype(kind[1:])
        end += size
    if end != len(body):
        raise _damaged()
    return arrays


def _damaged() -> InvalidData:
    return InvalidData("content", "bytes that are not whole", "what to_bytes gave", _DAMAGED)


def _little(array: NDArray[Any]) -> NDArray[Any]:
    result: NDArray[Any] = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if result.dtype.str not in _TYPES:
        raise InvalidType("arrays", result.dtype, "binary64, int64, uint64, uint8 or bool")
    return result
