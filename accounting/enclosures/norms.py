"""Enclosures of the norm of one record with exact coordinates."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from ..errors import InvalidValue
from ..exact import Number, exact
from ..norms import Norm
from .enclosure import Enclosure, checked_precision

_GUARD = 8


def norm_enclosure(record: Iterable[Number], norm: Norm, *, precision: int = 96) -> Enclosure:
    """Enclosure of a norm of `record`.

    The coordinates are exact. For ℓ1, ℓ2 and ℓ∞ so are the sums; one rounding (ℓ1, ℓ∞) or two (ℓ2, the first at
    twice the precision) remain. Every other norm is the root of a sum of enclosed powers.

    Guarantees: relative width at most 2**(2 − precision); a point where the norm has at most `precision` bits and
    is ℓ1, ℓ2 or ℓ∞, or one coordinate alone is not 0.

    Raises:
        InvalidValue: for an empty record, NaN, infinities and an inadmissible precision.
        InvalidType: for coordinates that are no numbers.

    >>> norm_enclosure([3.0, -4.0], Norm.L2)
    Enclosure[5]
    """
    checked_precision(precision)
    ratios = [exact(coordinate, parameter="record").as_integer_ratio() for coordinate in record]
    if not ratios:
        raise InvalidValue("record", "no coordinates", "at least one coordinate")
    common = math.lcm(*(denominator for _, denominator in ratios))
    sizes = [abs(numerator) * (common // denominator) for numerator, denominator in ratios]
    match norm:
        case Norm.L1:
            return Enclosure.of_ratio(sum(sizes), common, precision=precision)
        case Norm.LINF:
            return Enclosure.of_ratio(max(sizes), common, precision=precision)
        case Norm.L2:
            squares = sum(size * size for size in sizes)
            fine = 2 * precision + 8  # a norm of `precision` bits has a square of twice as many
            return Enclosure.of_ratio(squares, common * common, precision=fine).sqrt().at(precision)
        case _:
            return _root_of_powers(sizes, common, norm.reciprocal, precision)


def _root_of_powers(sizes: list[int], common: int, reciprocal: Fraction, precision: int) -> Enclosure:
    """(Σ size^p)^(1/p) / common for 1/p = `reciprocal` > 0."""
    fine = precision + len(sizes).bit_length() + _GUARD  # the sum rounds once per coordinate
    scale = max(sizes) or 1  # the largest power is then 1, whatever the order
    total = Enclosure.of(0, precision=fine)
    for size in sizes:
        total += Enclosure.of_ratio(size, scale, precision=fine).power(1 / reciprocal)
    return (total.power(reciprocal) * Enclosure.of_ratio(scale, common, precision=fine)).at(precision)
