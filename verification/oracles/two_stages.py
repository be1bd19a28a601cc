"""Two-stage programs at high precision: a noisy count, and a noisy sum whose scale is chosen by it.

Written out from the densities; shares no code with the library. Results are numerical evidence, not proof.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from .working_precision import context, fraction

_context = context(160)


def laplace_after_count(
    epsilon: Fraction, *, count_scale: Fraction, records: int, threshold: Fraction, below: Fraction, above: Fraction
) -> Fraction:
    """δ at ε between `records` + 1 and `records` records of norm 1, the worse direction.

    The first output is the count with Laplace noise of scale `count_scale`; the second the sum of the records with
    Laplace noise of scale `below` where the first came out under `threshold`, and `above` elsewhere.
    """
    return max(
        _delta(epsilon, count_scale, first, second, threshold, below, above)
        for first, second in ((records + 1, records), (records, records + 1))
    )


def _delta(
    epsilon: Fraction,
    count_scale: Fraction,
    first: int,
    second: int,
    threshold: Fraction,
    below: Fraction,
    above: Fraction,
) -> Fraction:
    """∫ p(r)·δ_{s(r)}(ε − log p(r)/q(r)) dr: closed forms outside the two counts, smooth pieces between them."""
    b, level, cut = _context.number(count_scale), _context.number(epsilon), _context.number(threshold)
    low, high = sorted((first, second))

    def loss(r: Any) -> Any:
        return (abs(r - second) - abs(r - first)) / b

    def mass(start: Any, stop: Any) -> Any:
        return _cumulative((stop - first) / b) - _cumulative((start - first) / b)

    total = _context.mpf(0)
    for scale, start, stop in ((below, -_context.inf, cut), (above, cut, _context.inf)):
        shift = 1 / _context.number(scale)
        for where, outer in ((low, (start, min(stop, low))), (high, (max(start, high), stop))):
            if outer[0] < outer[1]:  # the first output tells the same everywhere out there
                total += mass(*outer) * _laplace(shift, level - loss(where))
        inner = [max(start, low), *_corners(shift, level, b, low, high), min(stop, high)]
        inside = sorted({r for r in inner if inner[0] <= r <= inner[-1]})
        for one, other in pairwise(inside):
            total += _context.quad(
                lambda r, shift=shift: _context.exp(-abs(r - first) / b) / (2 * b) * _laplace(shift, level - loss(r)),
                [one, other],
            )
    return fraction(total)


def _corners(shift: Any, level: Any, b: Any, low: int, high: int) -> list[Any]:
    """Where between the counts level − loss(r) is ±shift: loss(r) is ±(2r − low − high)/b there."""
    centre = _context.mpf(low + high) / 2
    return [centre + way * (level + side) * b / 2 for way in (1, -1) for side in (shift, -shift)]


def _cumulative(x: Any) -> Any:
    """The distribution function of the Laplace distribution of scale 1."""
    return _context.exp(x) / 2 if x < 0 else 1 - _context.exp(-x) / 2


def _laplace(shift: Any, level: Any) -> Any:
    """The hockey-stick divergence at e^level of two Laplace distributions of scale 1, `shift` apart."""
    if level >= shift:
        return _context.mpf(0)
    if level <= -shift:
        return 1 - _context.exp(level)
    return 1 - _context.exp((level - shift) / 2)
