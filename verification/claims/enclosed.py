"""Exact numbers as enclosures, and whether an enclosure is a closed form's value and next to nothing else."""

from __future__ import annotations

from fractions import Fraction

from ...accounting.enclosures import Enclosure

PRECISION = 192
_AGREEMENT = Fraction(1, 2**128)


def enclosed(number: Fraction | int) -> Enclosure:
    """The exact number at the claims' precision."""
    return Enclosure.of(number, precision=PRECISION)


def enclosed_log(factor: Fraction) -> Enclosure:
    """Enclose log(factor) at the claims' precision."""
    return enclosed(factor - 1).log1p()


def agrees(found: Enclosure, number: Fraction, closeness: Fraction = _AGREEMENT) -> bool:
    """Whether the enclosure holds the number ≥ 0 and is narrow, relatively: it is the same closed form."""
    return found.contains(number) and found.width <= closeness * max(number, closeness)
