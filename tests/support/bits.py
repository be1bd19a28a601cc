"""Floats as their bits."""

from __future__ import annotations

import struct


def bits(value: float) -> int:
    """The bits of a float, read as a signed integer."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def from_bits(pattern: int) -> float:
    """The float with these bits."""
    return float(struct.unpack("<d", struct.pack("<Q", int(pattern) % 2**64))[0])
