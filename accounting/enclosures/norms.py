"""Enclosures of the norm of one record with exact coordinates."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..errors import InvalidValue
from ..exact import Number, exact
from ..norms import Norm
from .enclosure import Enclosure, checked_precision


def norm_enclosure(record: Iterable[Number], norm: Norm, *, precision: int = 96) -> Enclosure:
    """Enclosure of the ℓ1, ℓ2 or ℓ∞ norm of `record`.

    The coordinates are exact and so are the sums; one rounding (ℓ1, ℓ∞) or two (ℓ2, the first at twice the
    precision) remain.

    Guarantees: a point where the norm has at most `precision` bits; otherwise relative width at most
    2**(2 − precision).

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
