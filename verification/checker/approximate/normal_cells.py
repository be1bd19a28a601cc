"""Masses of the normal law in cells of one width.

A cell of N(0, 1) around m has phi(m) times the sum over even k of m^k/k!·I_k, I_k the integral of u^k·e^(-u²/2) from
-t/2 to t/2: the sum over i of 2(-1/2)^i/i!·(t/2)^(k + 2i + 1)/(k + 2i + 1), whose terms fall and take turns in sign.
I_k falls by (t/2)² from one even k to the next, so that terms that fall by half leave no more than the last one.
"""

from fractions import Fraction
from math import factorial
from typing import Final

from ..intervals import NOTHING, ONE, ZERO, Arithmetic, Interval, magnitude
from ..verdict import Refused
from .divergences import normal_density

_SLIGHT: Final = 180
_UNIT: Final = Interval(ONE, ONE)
_HALF: Final = Fraction(1, 2)


def mass_beyond(start: Fraction, arithmetic: Arithmetic) -> Interval:
    """Bound the mass of N(0, 1) beyond a place from above."""
    point = arithmetic.rational(start)
    return Interval(ZERO, arithmetic.divide(normal_density(point, arithmetic), point).hi)


def moments_of_cells(half: Fraction, arithmetic: Arithmetic) -> list[Interval]:
    """Enclose I_k/k! for even k, as far as they may matter."""
    found: list[Interval] = []
    k = 0
    while not found or magnitude(found[-1].hi) > -4 * _SLIGHT:
        terms = [
            2 * (-_HALF) ** i / factorial(i) * half ** (k + 2 * i + 1) / (k + 2 * i + 1) / factorial(k)
            for i in range(_SLIGHT // 2)
        ]
        low, high = sorted((sum(terms[:-1], Fraction(0)), sum(terms, Fraction(0))))
        found.append(Interval(arithmetic.rational(low).lo, arithmetic.rational(high).hi))
        k += 2
    return found


def mass_of_cell(centre: Fraction, half: Fraction, moments: list[Interval], arithmetic: Arithmetic) -> Interval:
    """Enclose the mass of N(0, 1) in a cell."""
    square, power, total = arithmetic.rational(centre**2), _UNIT, NOTHING
    steep = 2 * (centre * half) ** 2
    for place, moment in enumerate(moments):
        term = arithmetic.multiply(power, moment)
        total = arithmetic.add(total, term)
        falls = steep <= (2 * place + 1) * (2 * place + 2)
        if falls and magnitude(term.hi) < magnitude(total.lo) - _SLIGHT:
            break
        power = arithmetic.multiply(power, square)
    else:
        raise Refused("cells of the normal law are too wide")
    total = arithmetic.add(total, Interval(ZERO, term.hi))
    return arithmetic.multiply(normal_density(arithmetic.rational(centre), arithmetic), total)
