"""Can sampling improve privacy? IS Propositions 16 and 17, asked of an expression."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from fractions import Fraction

from .enclosures import Enclosure, Truth
from .errors import OutsideDomain
from .expressions import (
    Constant,
    Expression,
    Range,
    Variable,
    W,
    deciding,
    derivative,
    enclose,
    prune,
    range_of,
    simplify,
    substitute,
    terms,
)
from .losses import PureLoss

_PRECISIONS = (96, 192, 384, 768)
_WEIGHTS = 64


class Gain(Enum):
    """The answer for one record."""

    YES = "some weighted sampling loses strictly less about the record (IS Proposition 16)"
    NO = "no weighted sampling loses less about the record (IS Proposition 17)"
    UNKNOWN = "neither proposition applies to this profile at this record"


def can_sampling_improve(loss: PureLoss, norms: Mapping[Variable, Fraction]) -> Gain:
    """Whether sampling with weight 1/q can lose less about a record than running on all the data.

    Args:
        loss: the mechanism's PDP profile ε(W, x).
        norms: the record's norms, exactly.

    Guarantees:
        YES and NO are proven; UNKNOWN says that neither sufficient condition was proven.
    """
    at_norms = substitute(loss.epsilon, {variable: Constant(value) for variable, value in norms.items()})
    at_record = prune(at_norms, {W: Range(Fraction(1), None)})
    if gains_near_one(at_record) is Truth.TRUE:
        return Gain.YES
    return Gain.NO if elasticity_at_least_one(at_record) else Gain.UNKNOWN


def gains_near_one(epsilon: Expression) -> Truth:
    """IS Proposition 16's condition ε'(1) < 1 − e^{−ε(1)} for a profile in W alone."""
    if W in deciding(epsilon):
        return Truth.UNDECIDED  # ε may jump
    slope = derivative(epsilon, W)
    for precision in _PRECISIONS:
        at_one = {W: Enclosure.of(1, precision=precision)}
        # a neighbourhood, because at a kink of ε in w = 1 only the slope to its right counts
        from_one = {W: Enclosure.between(1, 1 + Fraction(1, 2 ** (precision // 2)), precision=precision)}
        right = -(-enclose(epsilon, at_one, precision=precision)).expm1()
        answer = enclose(slope, from_one, precision=precision).less(right)
        if answer is not Truth.UNDECIDED:
            return answer
    return Truth.UNDECIDED


def elasticity_at_least_one(epsilon: Expression) -> bool:
    """IS Proposition 17's condition ε(w) ≤ w·ε'(w) for all w ≥ 1, proven, for a profile in W alone."""
    if W in deciding(epsilon):
        return False  # ε may jump
    excess = simplify(W * derivative(epsilon, W) - epsilon)
    if _non_negative_terms(excess):
        return True
    return _non_negative_on_ray(excess)


def _non_negative_terms(excess: Expression) -> bool:
    return all(range_of(term).non_negative for term in terms(excess))


def _non_negative_on_ray(excess: Expression) -> bool:
    """Proven over w ∈ [1, ∞) piece by piece: doubling intervals, then one unbounded piece by structure."""
    low = Fraction(1)
    for _ in range(_WEIGHTS):
        tail = {W: Range(low, None)}
        if range_of(prune(excess, tail), tail).non_negative:
            return True
        if not _non_negative_between(excess, low, 2 * low, depth=24):
            return False
        low *= 2
    return False


def _non_negative_between(excess: Expression, low: Fraction, high: Fraction, *, depth: int) -> bool:
    try:
        box = {W: Enclosure.between(low, high, precision=_PRECISIONS[0])}
        value = enclose(excess, box, precision=_PRECISIONS[0])
        if value.lower >= 0:
            return True
        if value.upper < 0:
            return False
    except OutsideDomain:
        pass
    if not depth:
        return False
    middle = (low + high) / 2
    return _non_negative_between(excess, low, middle, depth=depth - 1) and _non_negative_between(
        excess, middle, high, depth=depth - 1
    )
