"""Guarantees as text, from which the same guarantee with its derivation is restored, and arrays as bytes."""

from .guarantees import (
    bound_to_json,
    derivation_from_json,
    derivation_to_json,
    guarantee_from_json,
    guarantee_to_json,
    protection_from_json,
    protection_to_json,
    read_bound,
)
from .packing import is_vector, packed, unpacked, whole_content
from .reading import Json, canonical, entries, parsed, read_ratio, read_text, read_whole, require_written, written

__all__ = [
    "Json",
    "bound_to_json",
    "canonical",
    "derivation_from_json",
    "derivation_to_json",
    "entries",
    "guarantee_from_json",
    "guarantee_to_json",
    "is_vector",
    "packed",
    "parsed",
    "protection_from_json",
    "protection_to_json",
    "read_bound",
    "read_ratio",
    "read_text",
    "read_whole",
    "require_written",
    "unpacked",
    "whole_content",
    "written",
]
