"""Can sampling improve privacy? IS Propositions 16 and 17, asked of an expression."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from fractions import Fraction

from ..enclosures import Enclosure, Truth
from ..errors import OutsideDomain
from ..expressions import (
    ONE,
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
_DOUBLINGS = 64
_PIECES = 4000


class Gain(Enum):
    """Whether some weighted sampling loses less about a record (IS Proposition 16)."""

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
    slope = derivative(epsilon, W)
    excess = simplify(W * slope - epsilon)
    return _non_negative_terms(excess) or _starts_right_and_grows(excess, slope) or _non_negative_on_ray(excess)


def _non_negative_terms(excess: Expression) -> bool:
    return all(range_of(term).non_negative for term in terms(excess))


def _starts_right_and_grows(excess: Expression, slope: Expression) -> bool:
    """(wε' − ε)' = wε'' ≥ 0 for a smooth ε, so that the value at w = 1 decides."""
    if deciding(slope):
        return False  # the slope may jump down, which ε'' does not show
    return _non_negative_terms(derivative(slope, W)) and _non_negative_at_one(excess) is Truth.TRUE


def _non_negative_at_one(excess: Expression) -> Truth:
    value = simplify(substitute(excess, {W: ONE}))  # what cancels exactly, an enclosure could not decide
    return enclose(value, {}, precision=_PRECISIONS[-1]).greater_equal(0)


def _non_negative_on_ray(excess: Expression) -> bool:
    """Proven over w ∈ [1, ∞) piece by piece: doubling intervals, then one unbounded piece by structure."""
    low, left = Fraction(1), _PIECES
    for _ in range(_DOUBLINGS):
        tail = {W: Range(low, None)}
        if range_of(prune(excess, tail), tail).non_negative:
            return True
        left = _proven_between(excess, low, 2 * low, left)
        if not left:
            return False
        low *= 2
    return False


def _proven_between(excess: Expression, low: Fraction, high: Fraction, pieces: int) -> int:
    """How many of the `pieces` are left once [low, high] is proven piece by piece; 0 where it is not."""
    open_pieces = [(low, high)]
    while open_pieces and pieces:
        pieces -= 1
        left, right = open_pieces.pop()
        middle = (left + right) / 2
        try:
            box = {W: Enclosure.between(left, right, precision=_PRECISIONS[0])}
            value = enclose(excess, box, precision=_PRECISIONS[0])
        except OutsideDomain:
            open_pieces += [(middle, right), (left, middle)]
            continue
        if value.less(0) is Truth.TRUE:
            return 0
        if value.greater_equal(0) is not Truth.TRUE:
            open_pieces += [(middle, right), (left, middle)]
    return 0 if open_pieces else pieces
