"""The gamma function of positive numbers and its logarithm, by Stirling's series."""

from __future__ import annotations

import math
from functools import lru_cache

from ..errors import OutsideDomain
from ..exact import exact
from . import _ends as ends
from ._monotone import of_bracket, point
from ._series import Bracket, _floor_shift
from .constants import pi
from .enclosure import Enclosure, _make
from .truth import Truth

_GUARD = 16
_SHIFT_DIVISOR = 4  # Stirling's series is used from precision/4 on
_LONG = 60  # bits of a number from which on neither the shift nor the length of the series depends on it

_LOWEST_PLACE = Enclosure.between(
    exact("1.461632144968362341262659542325721328468196204006446351295988408598"),
    exact("1.461632144968362341262659542325721328468196204006446351295988408599"),
    precision=240,
)
"""Where ln Γ is least: the digamma function changes its sign inside, as a test shows."""
_LEAST_ERROR_BITS = 438  # half the square of the width of _LOWEST_PLACE is below 2**-438


def log_gamma(x: Enclosure) -> Enclosure:
    """ln Γ(x) for x > 0, relatively accurate at its roots 1 and 2 too.

    Guarantees: the true values lie in the result, whose ends are within a few units of the last place of the least
    and the greatest of them; around 1.4616… within 2**-437 of the least of all, −0.1214….

    Raises:
        OutsideDomain: where the enclosure reaches 0.

    >>> log_gamma(Enclosure.of("0.5"))
    Enclosure[0.57236494292470008707171367567, 0.57236494292470008707171367569]
    """
    if x.greater(0) is not Truth.TRUE:
        raise OutsideDomain(f"the gamma function of {x}, which reaches 0; keep arguments above 0.")
    bits = x.precision
    first = _log_gamma(point(x._lower, bits))
    if x.is_point:
        return first.at(bits)
    last = _log_gamma(point(x._upper, bits))
    if x.greater(_LOWEST_PLACE) is Truth.TRUE:
        least = first
    elif x.less(_LOWEST_PLACE) is Truth.TRUE:
        least = last
    else:
        least = _least(bits + _GUARD)
    most = ends.larger(first._upper, last._upper)  # ln Γ is convex
    return _make(least._lower, most, max(first.precision, last.precision, least.precision)).at(bits)


def gamma_function(x: Enclosure) -> Enclosure:
    """Γ(x) for x > 0, with the guarantees of `log_gamma`.

    Raises:
        OutsideDomain: where the enclosure reaches 0, and where ln Γ(x) reaches 2**62.

    >>> gamma_function(Enclosure.of(6))
    Enclosure[119.99999999999999999999999999, 120.00000000000000000000000001]
    """
    bits = x.precision
    sizes = [end[2] + end[3] for end in (x._lower, x._upper)]
    lost = min(max(0, *sizes), _LONG) + max(abs(size).bit_length() for size in sizes)  # bits of ln Γ(x)
    return log_gamma(x.at(bits + lost + _GUARD)).exp().at(bits)


@lru_cache(maxsize=64)
def _least(precision: int) -> Enclosure:
    """The least value of ln Γ, below its value at an end of `_LOWEST_PLACE` by at most width²/2: there ψ' < 1."""
    value = _log_gamma(point(_LOWEST_PLACE._lower, max(precision, _LOWEST_PLACE.precision)))
    slack = point(ends.shifted(ends.ONE, -_LEAST_ERROR_BITS), precision)
    return (value - slack).hull(value)


def _log_gamma(x: Enclosure) -> Enclosure:
    """ln Γ of a point, from ln Γ(x) = ln Γ(x + n) − ln(x·(x+1)···(x+n−1)); a few bits finer than `x`."""
    distance = abs((x - 1) * (x - 2))
    if distance.contains(0):
        return Enclosure.of(0, precision=x.precision)
    lost = max(0, -(distance._lower[2] + distance._lower[3]))  # next to the roots 1 and 2 the difference is small
    work = x.precision + x.precision.bit_length() + lost + _GUARD
    shift = work // _SHIFT_DIVISOR - _whole(x) + 1
    if shift <= 0:
        return _stirling(x.at(work))
    x = x.at(work)
    rising = of_bracket(_rising_product(*ends.integers(x._lower), shift, work), work)
    return _stirling(x + shift) - (x * rising).log()


def _rising_product(man: int, exponent: int, count: int, work: int) -> Bracket:
    """Bracket the product (x+1)·(x+2)···(x+count−1)."""
    one = 1 << work
    factor, product = _floor_shift(man, exponent + work), one
    for _ in range(1, count):
        factor += one
        product = product * factor >> work
    # Each of the factors, and each product, is at least 1 and loses less than a unit: a relative 2**-work apiece.
    return product, product + (product * 4 * count >> work) + 1, -work


def _stirling(x: Enclosure) -> Enclosure:
    """ln Γ(x) = (x − 1/2)·ln x − x + ln(2π)/2 + T/x for x of at least precision/4.

    T = Σ c_k·x**(2−2k) with c_k = B_2k/(2k·(2k−1)). What is left out of it lies between 0 and the first term left
    out (DLMF 5.11(ii)).
    """
    bits = x.precision
    main = (2 * x - 1) * x.log() - 2 * x + _log_two_pi(bits)
    return main / 2 + of_bracket(_stirling_sum(x, bits), bits) / x


def _stirling_sum(x: Enclosure, work: int) -> Bracket:
    """Bracket of T, for an x that is known to a relative 2**(2 − work)."""
    man, exponent = ends.integers((1 / x.square())._lower)
    low = _floor_shift(man, exponent + work)
    *coefficients, left_out = _stirling_coefficients(_series_length(x, work), work)
    left_out, total = abs(left_out) + 1, 0
    for coefficient in reversed(coefficients):
        total = coefficient + (low * total >> work)
        left_out = (left_out * (low + 2) >> work) + 1
    # y = x**-2 ≤ 1/4 is in [low, low + 2] units. Let h_k be the true Horner sums. A step errs by less than 1 unit for
    # c_k, 1 for the shift and 2·|h_(k+1)| for y, and carries y times the error before it. As |c_(k+1)|·y/|c_k| <
    # (k/(π·x))² < 1/8 for k ≤ x, |h_(k+1)|·y**(k−1) ≤ 8/7·|c_(k+1)|·y**(k−1), and these sum to less than 1/100.
    slack = 4 + left_out
    return total - slack, total + slack, -work


def _whole(x: Enclosure) -> int:
    """Return floor(x) of the number x, or 2**60 where it is larger."""
    return _floor_shift(*ends.integers(x._lower)) if x._lower[2] + x._lower[3] < _LONG else 1 << _LONG


def _series_length(x: Enclosure, work: int) -> int:
    """How many terms of T, at most x, leave out less than 2**-work."""
    whole = _whole(x)
    length, left = 0, float(work)
    while left > 0 and length < whole:
        length += 1
        left -= 2 * math.log2(math.pi * whole / length)
    return length


@lru_cache(maxsize=64)
def _log_two_pi(precision: int) -> Enclosure:
    return (2 * pi(precision)).log()


@lru_cache(maxsize=256)
def _stirling_coefficients(length: int, work: int) -> tuple[int, ...]:
    """floor(2**work·c_k) for k = 1, …, length + 1, from c_k = (−1)**(k−1)·T_k/((2k−1)·4**k·(4**k − 1))."""
    made = []
    for k, tangent in enumerate(_tangent_numbers(length + 1), start=1):
        signed = tangent if k % 2 else -tangent
        made.append((signed << work) // ((2 * k - 1) * (4**k - 1) << 2 * k))
    return tuple(made)


@lru_cache(maxsize=64)
def _tangent_numbers(count: int) -> tuple[int, ...]:
    """T_1, …, T_count: tan t = Σ T_k·t**(2k−1)/(2k−1)! (Brent and Harvey 2011, algorithm TangentNumbers)."""
    numbers = [math.factorial(k) for k in range(count)]
    for start in range(1, count):
        for k in range(start, count):
            numbers[k] = (k - start) * numbers[k - 1] + (k - start + 2) * numbers[k]
    return tuple(numbers)
