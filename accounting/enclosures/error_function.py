"""The error function, its complement and the logarithm of the complement.

Guarantees of all three: the true value of every number inside the argument lies in the result, whose ends are
within a few units of the last place of the values at the ends of the argument, relatively, however small they are.
"""

from __future__ import annotations

from . import _bell
from ._monotone import decreasing_image, increasing_image
from .enclosure import Enclosure

_GUARD = 8
_VARIANCE_BITS = 1  # erfc(x) = P(|X| > x) for X of variance 1/2


def erf(x: Enclosure) -> Enclosure:
    """2/√π times the integral of e**(−t²) from 0 to x.

    >>> erf(Enclosure.of(1))
    Enclosure[0.84270079294971486934122063507, 0.84270079294971486934122063509]
    """
    return increasing_image(x, _erf)


def erfc(x: Enclosure) -> Enclosure:
    """1 − erf(x). For x ≥ 2**31 the lower end is 0: see `log_erfc`.

    >>> erfc(Enclosure.of(30))
    Enclosure[2.5646562037561116000333972774E-393, 2.5646562037561116000333972776E-393]
    """
    return decreasing_image(x, _erfc)


def log_erfc(x: Enclosure) -> Enclosure:
    """ln(1 − erf(x)), for every x.

    >>> log_erfc(Enclosure.of(10**8))
    Enclosure[-10000000000000018.993045686878, -10000000000000018.993045686876]
    """
    return decreasing_image(x, _log_erfc)


def _erf(x: Enclosure) -> Enclosure:
    bits = x.precision + _GUARD
    size = abs(x)
    return _bell.central(x, bits, _VARIANCE_BITS) if size == x else -_bell.central(size, bits, _VARIANCE_BITS)


def _erfc(x: Enclosure) -> Enclosure:
    bits = x.precision + _GUARD
    size = abs(x)
    return _bell.tail(x, bits, _VARIANCE_BITS) if size == x else 1 + _bell.central(size, bits, _VARIANCE_BITS)


def _log_erfc(x: Enclosure) -> Enclosure:
    bits = x.precision + _GUARD
    size = abs(x)
    if size == x:
        return _bell.log_tail(x, bits, _VARIANCE_BITS)
    return _bell.central(size, bits, _VARIANCE_BITS).log1p()
