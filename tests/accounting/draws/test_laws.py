"""The derivatives that laws are expanded by, and rows whose sums would leave 64 bits."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import pytest

from certdp.accounting.draws.laws import Expansion, Law, _polynomials
from certdp.accounting.draws.tables import POINT, row
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue


def test_polynomials_of_derivatives_follow_the_recurrence() -> None:
    """P_1 = 1 and P_(n+1) = P_n' + n·x·P_n: those of the derivatives of the inverse of the normal law."""
    assert _polynomials(5) == [[1], [0, 1], [1, 0, 2], [0, 7, 0, 6], [7, 0, 46, 0, 24]]
    for n, (one, following) in enumerate(zip(_polynomials(9), _polynomials(9)[1:], strict=False), start=1):
        for x in (-2, 1, 3):
            slope = sum(k * c * x ** (k - 1) for k, c in enumerate(one) if k)
            value = sum(c * x**k for k, c in enumerate(one))
            assert sum(c * x**k for k, c in enumerate(following)) == slope + n * x * value


class Constant(Law):
    """A law whose G is one number, as far from 0 as it is told."""

    name: ClassVar[str] = "constant"

    def __init__(self, units: int) -> None:
        self.value = Fraction(units, 1 << POINT)

    def tail(self, x: Enclosure) -> Enclosure:
        raise NotImplementedError

    def guess(self, p: float) -> float:
        raise NotImplementedError

    def expansion(self, centre: Fraction, width: Fraction, precision: int) -> Expansion:
        nothing = Enclosure.of(0, precision=precision)
        return Expansion((Enclosure.of(self.value, precision=precision),), nothing, nothing)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_row_whose_sums_could_leave_64_bits_is_refused(sign: int) -> None:
    """With the bound of its error, and what rounding adds."""
    _, _, bound = row(Constant(0), 0, 0)
    most = (1 << 63) - (1 << POINT - 1) - bound - 1
    first, rest, same = row(Constant(sign * most), 0, 0)
    assert (first, rest, same) == (sign * most, (), bound)
    with pytest.raises(InvalidValue, match="sums that fit 64 bits"):
        row(Constant(sign * (most + 1)), 0, 0)
