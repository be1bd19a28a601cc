"""Packed arrays: back as they were, and refused where a header says what was never written."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from certdp.accounting.errors import CertdpError, InvalidType, InvalidValue
from certdp.accounting.private import InvalidData
from certdp.accounting.stored.packing import packed, unpacked

ARRAYS = {"a": np.arange(6, dtype=np.float64).reshape(2, 3), "b": np.array([True, False])}


def with_header(content: bytes, **changes: Any) -> bytes:
    """The same content with another header, sealed anew."""
    body = content[:-32]
    begin = body.index(b"{")
    end = begin + int.from_bytes(body[begin - 8 : begin], "little")
    header = json.dumps({**json.loads(body[begin:end]), **changes}, sort_keys=True, separators=(",", ":")).encode()
    changed = body[: begin - 8] + len(header).to_bytes(8, "little") + header + body[end:]
    return changed + sha256(changed).digest()


def test_arrays_come_back() -> None:
    stated, arrays = unpacked("form", packed("form", {"x": 1}, ARRAYS))
    assert stated == {"x": 1}
    assert {name: (array.dtype, array.tolist()) for name, array in arrays.items()} == {
        name: (array.dtype, array.tolist()) for name, array in ARRAYS.items()
    }


@pytest.mark.parametrize("kind", ["|O", "<c16", "<f4", "|S8", "<f8,", "", 3])
def test_kinds_that_nobody_writes_are_refused(kind: Any) -> None:
    content = packed("form", {"x": 1}, ARRAYS)
    assert unpacked("form", with_header(content))[0] == {"x": 1}
    with pytest.raises(CertdpError, match="content"):
        unpacked("form", with_header(content, arrays={"a": [kind, 2, 3], "b": ["|b1", 2]}))


@pytest.mark.parametrize("shape", [[-1], [2, -3], [-2, -3], [2, 4], [10**30], [2.0, 3], [True, 6], ["6"], [7], [5]])
def test_shapes_of_other_content_are_refused(shape: list[Any]) -> None:
    content = packed("form", {"x": 1}, ARRAYS)
    with pytest.raises(CertdpError, match="content"):
        unpacked("form", with_header(content, arrays={"a": ["<f8", *shape], "b": ["|b1", 2]}))


def test_only_numbers_are_packed() -> None:
    with pytest.raises(InvalidType, match="binary64"):
        packed("form", {}, {"a": np.array(["text"])})


def sealed(header: bytes) -> bytes:
    """Content with this header and no arrays."""
    body = b"certdp-packed\n" + len(header).to_bytes(8, "little") + header
    return body + sha256(body).digest()


SECRET = "hidden"


@pytest.mark.parametrize(
    "header",
    [
        b'{"stated": {"x":"hidden"},"format":"form","arrays":{}}',
        b'{"arrays":{},"format":"form","stated":{"x":"hidden"}} ',
        b'{"arrays":{},"format":"form","hidden":1,"stated":{}}',
        b'{"arrays":{},"format":"hidden"}',
        b'{"arrays":{},"format":"hidden text","stated":{}}',
        b'{"arrays":{},"format":["hidden"],"stated":{}}',
        b'{"arrays":{"hidden":[]},"format":"form","stated":{}}',
        b'{"arrays":{"hidden":null},"format":"form","stated":{}}',
        b'{"arrays":{"hidden":["<f8",0,1000000000000000000000000000000]},"format":"form","stated":{}}',
        b'{"arrays":{"hidden":[["<f8"],1]},"format":"form","stated":{}}',
        b'{"arrays":["hidden"],"format":"form","stated":{}}',
        b'{"arrays":3,"format":"form","stated":"hidden"}',
        b'"hidden"',
        b"hidden",
        b"[" * 100_000,
        "hidden ü".encode(),
        b"hidden \xff",
        b"",
    ],
)
def test_forged_headers_are_refused_in_one_word(header: bytes) -> None:
    assert unpacked("form", sealed(b'{"arrays":{},"format":"form","stated":{}}')) == ({}, {})
    with pytest.raises(InvalidData) as caught:
        unpacked("form", sealed(header))
    assert str(caught.value).startswith("content: got bytes that are not whole;")
    assert SECRET not in str(caught.value)


def test_another_form_is_named() -> None:
    with pytest.raises(InvalidValue, match="the form certdp-sum-part/1"):
        unpacked("form", packed("certdp-sum-part/1", {}, {}))


def test_truth_values_of_other_bytes_are_refused() -> None:
    content = packed("form", {}, {"b": np.array([1, 2, 0], dtype=np.uint8)})
    with pytest.raises(InvalidData):
        unpacked("form", with_header(content, arrays={"b": ["|b1", 3]}))
