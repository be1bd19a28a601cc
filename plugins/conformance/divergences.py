"""What a loss says about one record: its divergences as enclosures, to be compared with those of another record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import isfinite
from typing import TypeAlias

from ...accounting.display import rounded_down, rounded_up
from ...accounting.enclosures import Enclosure, norm_enclosure
from ...accounting.errors import OutsideDomain
from ...accounting.expressions import Expression, Variable, W, enclose, variables
from ...accounting.norms import Norm
from ...accounting.pairs import Pair
from ...accounting.relations import Direction
from ...accounting.sampling.losses import Loss, Reading

PRECISION = 96
_DIGITS = 9
EPSILONS = (Fraction(0), Fraction(1, 4), Fraction(1), Fraction(3))
ORDERS = (Fraction(3, 2), Fraction(2), Fraction(4), Fraction(16))

Row: TypeAlias = Sequence[float]
"""A record."""

Divergences: TypeAlias = Mapping[str, Enclosure]
"""Divergences by what they are; those that do not follow from a loss are not there."""


def point(value: Fraction | float) -> Enclosure:
    """Return the enclosure of an exact number."""
    return Enclosure.of(value, precision=PRECISION)


def reading(record: Row, weight: Enclosure) -> Reading:
    """Reads expressions for one record that enters with this weight."""

    def value(variable: Variable) -> Enclosure:
        return weight if variable == W else norm_enclosure(record, Norm(variable.index), precision=PRECISION)

    def read(root: Expression) -> Enclosure:
        return enclose(root, {variable: value(variable) for variable in variables(root)}, precision=PRECISION)

    return read


def pair_at(loss: Loss, record: Row, weight: float) -> Pair:
    """Return the dominating pair of one record at one weight."""
    return loss.pair(reading(record, point(weight)))


def divergences(pair: Pair, letters: str = "εδτρμ", orders: Sequence[Fraction] = ORDERS) -> Divergences:
    """What a pair says, in both directions, but for values beyond what an enclosure can hold.

    Args:
        pair: the pair.
        letters: of the laws that are wanted.
        orders: of the Rényi divergences.
    """
    found = {}
    for name, law in _laws(pair, orders):
        if name[0] not in letters:
            continue
        try:
            value = law()
        except OutsideDomain:
            continue
        if value is not None:
            found[name] = value
    return found


def _laws(pair: Pair, orders: Sequence[Fraction]) -> Iterator[tuple[str, Callable[[], Enclosure | None]]]:
    for direction in Direction:
        word = direction.name.lower()
        if pair.pure is not None:
            yield f"ε, {word}", partial(pair.pure, direction)
        if pair.delta is not None:
            for epsilon in EPSILONS:
                yield f"δ({epsilon}), {word}", partial(pair.delta, point(epsilon), direction)
        if pair.renyi is not None:
            for order in orders:
                yield f"τ({order}), {word}", partial(pair.renyi, order, direction)
    yield "ρ", lambda: pair.zero_concentrated
    yield "μ", lambda: pair.gaussian


def first_above(smaller: Divergences, larger: Divergences) -> str | None:
    """The first divergence that is proven to fall although it must not, if any does."""
    return next((name for name, low in smaller.items() if name in larger and low.lower > larger[name].upper), None)


def first_apart(one: Divergences, other: Divergences) -> str | None:
    """The first divergence that is proven to differ although it must not, if any does."""
    return first_above(one, other) or first_above(other, one)


def formatted(value: Enclosure) -> str:
    """Write an enclosure in few digits."""
    ends = (value.lower_float, rounded_down), (value.upper_float, rounded_up)
    low, high = (rounded(end, _DIGITS) if isfinite(end) else str(end) for end, rounded in ends)
    return low if low == high else f"[{low}, {high}]"
