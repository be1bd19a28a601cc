"""What a plugin declares about every value of its released parameters, held against what it declares at some of them.

A stand-in for all values of a range goes through a plugin's own code, which may tell it from a number: by its type, as
a key, or where an error is caught. A loss that is then declared for no value, or for some alone, is found here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import attrs

from ..enclosures import Enclosure
from ..errors import CertdpError
from ..expressions import Constant, Expression, Symbol, Variable, enclose, substitute, variables
from ..provenance import Released
from ..relations import Direction
from .every_value import ExPost, moves
from .losses import Loss

Places = Mapping[Variable, Expression]
Sample = Mapping[Symbol, Fraction]

_SHARES = (Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(1))
_ALIKE = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3), Fraction(4))
"""Numbers that code is likeliest to tell from others."""
_NEARLY = 1 - Fraction(1, 2**40)
"""Two upper ends of one number may differ by so much."""
_PRECISION = 96
_ORDERS = (Fraction(2), Fraction(9, 2))
_SAMPLES: tuple[Sample, ...] = (
    {Symbol.WEIGHT: Fraction(1), Symbol.NORM: Fraction(1, 3), Symbol.ORDER: Fraction(2)},
    {Symbol.WEIGHT: Fraction(7, 3), Symbol.NORM: Fraction(5, 4), Symbol.ORDER: Fraction(9, 2)},
)


def some_values(released: Mapping[str, Released[Any]]) -> Iterator[Mapping[str, Any]]:
    """Values that parameters might have come out as, those that did first.

    Of a range its ends and some small numbers are among them; of a number without one, numbers that its plugin may not
    even admit.
    """
    yield {name: value.value for name, value in released.items()}
    if any(map(moves, released.values())):
        for share in _SHARES:
            yield {name: _another(value, share) for name, value in released.items()}
        for number in _ALIKE:
            yield {name: _nearest(value, number) for name, value in released.items()}


def _another(value: Released[Any], share: Fraction) -> Any:
    within, came_out = value.within, value.value
    if within is not None:
        return within.low + share * (within.high - within.low)
    return 1 + share * (2 * came_out - 1) if isinstance(came_out, Fraction) else came_out


def _nearest(value: Released[Any], number: Fraction) -> Any:
    return value.value if value.within is None else value.within.clamp(number)


def require_agreement(
    declared: object, at_values: object, values: Mapping[str, Any], released: Mapping[str, Released[Any]]
) -> None:
    """Hold a declaration about every value against the same one, made for these values.

    Args:
        declared: with places in public ranges as variables.
        at_values: the declaration at the values; a loss of another family may be below the one declared.
        values: of the released parameters, by name.
        released: these parameters.

    Raises:
        ExPost: where the two differ.
    """
    places = {Variable(Symbol.PLACE, name): Constant(_place(released[name], value)) for name, value in values.items()}
    if not _agree(declared, at_values, places):
        without = [name for name, value in released.items() if value.within is None]
        raise (ExPost.about if without else ExPost.over_ranges)(", ".join(without or released))


def _place(value: Released[Any], number: Any) -> Fraction:
    within = value.within
    if within is None or within.low == within.high:
        return Fraction(0)
    return Fraction((number - within.low) / (within.high - within.low))


def _agree(one: Any, other: Any, places: Places) -> bool:
    if isinstance(one, Expression) and isinstance(other, Expression):
        return all(_meet(substitute(one, places), other, sample) for sample in _SAMPLES)
    if isinstance(one, Enclosure) and isinstance(other, Enclosure):
        return one.lower <= other.upper and other.lower <= one.upper
    if type(one) is not type(other):
        return isinstance(one, Loss) and isinstance(other, Loss) and _bounds(one, other, places)
    if attrs.has(type(one)):
        fields = [field.name for field in attrs.fields(type(one))]
        return all(_agree(getattr(one, name), getattr(other, name), places) for name in fields)
    return callable(one) or bool(one == other)


def _meet(one: Expression, other: Expression, sample: Sample) -> bool:
    """Whether the two may have one value at a sample of weight, norms and order."""
    try:
        first, second = (_at(root, sample) for root in (one, other))
    except CertdpError:  # it has none there
        return True
    return _agree(first, second, {})


def _at(root: Expression, sample: Sample) -> Enclosure:
    box = {v: Enclosure.of(sample.get(v.symbol, Fraction(1)), precision=_PRECISION) for v in variables(root)}
    return enclose(root, box, precision=_PRECISION)


def _bounds(one: Loss, other: Loss, places: Places) -> bool:
    """Whether a loss of another family is at least as large, by the divergences that both know; some they have to."""
    return all(_below(one, other, places, sample) for sample in _SAMPLES)


def _below(one: Loss, other: Loss, places: Places, sample: Sample) -> bool:
    try:
        larger = one.pair(lambda root: _at(substitute(root, places), sample)).renyi
        smaller = other.pair(lambda root: _at(root, sample)).renyi
        if larger is None or smaller is None:
            return False
        return all(larger(a, d).upper >= _NEARLY * smaller(a, d).upper for a in _ORDERS for d in Direction)
    except CertdpError:  # what cannot be told is not known to be below
        return False
