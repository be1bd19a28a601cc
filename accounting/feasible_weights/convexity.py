"""What IS Assumptions 8, 9 and 11 ask of a loss, proven or refuted over weights w ≥ 1 and a box of records.

Legend: ε = ε(w, x), ε' its derivative in w, c = e^ε* − 1. e^ε has the derivatives ε'·e^ε, s·e^ε and t·e^ε with
s = ε'' + ε'² and t = s' + s·ε'. Where t ≥ 0 the curvature s·e^ε grows with w, so that it is least at w = 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import final

from attrs import frozen

from ..enclosures import Enclosure, Truth
from ..errors import OutsideDomain
from ..expressions import (
    ONE,
    ZERO,
    Apply,
    Expression,
    Operation,
    Power,
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
    variables,
)
from ..expressions.suprema import NoFiniteSupremum, supremum
from ..sampling.domains import NormBall
from ..sampling.losses import PureLoss

Ranges = Mapping[Variable, Range]

_PRECISION = 128
_BLOCKS = 4
_CRITICAL = {Operation.SQRT: 0, Operation.LOG: 0, Operation.DIVIDE: 1}
"""Which argument must stay away from 0."""
_ROOT = _DOUBLINGS = 6  # a block of weights ends at 2^6 times its start
_PIECES = 600
_POWERS = tuple(Fraction(k, 2) for k in (0, 1, 2, 3, 4, 5, 6))


@final
@frozen
class Convexity:
    """What is proven of e^ε as a function of the weight, over w ≥ 1 and every record of a box.

    Attributes:
        convex: whether e^ε is proven convex; the feasible weights of a record are then an interval from 1 on.
        growing: whether its second derivative is proven not to fall with w.
        curvature: s; the second derivative is s·e^ε.
    """

    convex: bool
    growing: bool
    curvature: Expression

    def modulus(self, loss: Expression, box: Mapping[Variable, Enclosure], *, precision: int) -> Enclosure | None:
        """μ of Assumption 11, where it is proven: the second derivative at w = 1 of a growing one, if above 0."""
        if not self.growing:
            return None
        at_one = {**box, W: Enclosure.of(1, precision=precision)}
        value = enclose(self.curvature, at_one, precision=precision) * enclose(loss, at_one, precision=precision).exp()
        return value if value.greater(0) is Truth.TRUE else None


def convexity(loss: Expression, box: Ranges) -> Convexity:
    """Prove what can be proven of e^ε in the weight.

    Args:
        loss: ε in W and the variables of `box`, pruned: minima and maxima left in it count as kinks.
        box: the range of every other variable.
    """
    slope = derivative(loss, W)
    if W in deciding(loss) or deciding(slope) or not _smooth(loss, {**box, W: Range(Fraction(1), None)}):
        return Convexity(False, False, slope)  # ε may jump, or its slope
    curvature = simplify(derivative(slope, W) + slope * slope)
    convex = non_negative_on_ray(curvature, box)
    growing = convex and non_negative_on_ray(simplify(derivative(curvature, W) + curvature * slope), box)
    return Convexity(convex, growing, curvature)


def _smooth(node: Expression, known: Ranges) -> bool:
    """Whether no root of a number that may be 0, and no division by one, makes a kink or a pole in the weight."""
    match node:
        case Power(base, exponent):
            whole = exponent.denominator == 1 and exponent >= 0
            return (whole or _constant_or_positive(base, known)) and _smooth(base, known)
        case Apply(operation, arguments):
            critical = _CRITICAL.get(operation)
            safe = critical is None or _constant_or_positive(arguments[critical], known)
            return safe and all(_smooth(argument, known) for argument in arguments)
        case _:
            return True


def _constant_or_positive(node: Expression, known: Ranges) -> bool:
    if W not in variables(node):
        return True
    lower = range_of(node, known).lower
    return lower is not None and lower > 0


def non_negative_on_ray(root: Expression, box: Ranges) -> bool:
    """Whether `root` ≥ 0 is proven for all w ≥ 1 and the whole box: piece by piece, then one unbounded piece.

    The unbounded piece is bounded by the structure of the expression, after multiplying with some power of w. There w
    stands for the sixth power of a variable, so that square and cube roots become whole powers, whose ranges are exact.
    """
    if _non_negative(root, {**box, W: Range(Fraction(1), None)}):
        return True
    scaled = [root, *(_scaled(root, power) for power in _POWERS)]
    sixths = [simplify(substitute(form, {W: W**_ROOT})) for form in scaled]
    low, left = Fraction(1), _PIECES
    for block in range(_BLOCKS):
        ray = {**box, W: Range(Fraction(2**block), None)}
        if any(_non_negative(form, ray) for form in sixths):
            return True
        for _ in range(_DOUBLINGS):
            left = _proven_between(scaled[1], box, low, 2 * low, left)
            if not left:
                return False
            low *= 2
    return False


def _scaled(root: Expression, power: Fraction) -> Expression:
    """root·w^power, term by term, so that powers of w cancel."""
    total: Expression = ZERO
    for term in terms(root):
        total = total + simplify(term * W**power)
    return simplify(total)


def _non_negative(root: Expression, known: Ranges) -> bool:
    pruned = prune(root, known)
    return range_of(pruned, known).non_negative or all(range_of(term, known).non_negative for term in terms(pruned))


def _proven_between(root: Expression, box: Ranges, low: Fraction, high: Fraction, pieces: int) -> int:
    """How many of the `pieces` are left once [low, high] is proven; 0 where it is not."""
    sides = {
        v: Enclosure.between(side.lower, side.upper, precision=_PRECISION)
        for v, side in box.items()
        if side.lower is not None and side.upper is not None
    }
    if len(sides) < len(box):
        return 0  # what is not bounded has no pieces
    open_pieces = [(low, high)]
    while open_pieces and pieces:
        pieces -= 1
        left, right = open_pieces.pop()
        try:
            value = enclose(
                root, {**sides, W: Enclosure.between(left, right, precision=_PRECISION)}, precision=_PRECISION
            )
        except OutsideDomain:
            return 0
        if value.less(0) is Truth.TRUE:
            return 0
        if value.greater_equal(0) is not Truth.TRUE:
            middle = (left + right) / 2
            open_pieces += [(middle, right), (left, middle)]
    return 0 if open_pieces else pieces


def unit_loss(loss: PureLoss) -> Expression | None:
    """A(x) where ε(w, x) = A(x)·w, for `largest_weights`; None for other profiles."""
    slope = derivative(loss.epsilon, W)
    linear = W not in variables(slope) and terms(loss.epsilon - W * slope) == [ZERO]
    return slope if linear else None


def assumption_8(loss: PureLoss, domain: NormBall, target: Fraction) -> Truth:
    """IS Assumption 8 over a public domain: ε(1, x) ≤ ε* for every record.

    TRUE and FALSE are proven; FALSE has a record of the domain with a larger loss.
    """
    root, box = _on_domain(simplify(substitute(loss.epsilon, {W: ONE})), domain)
    try:
        found = supremum(root, {v: box[v] for v in variables(root)}, slack=Fraction(0)).enclosure
    except NoFiniteSupremum:
        return Truth.UNDECIDED
    if found.upper <= target:
        return Truth.TRUE
    return Truth.FALSE if found.lower > target else Truth.UNDECIDED


def assumption_9(loss: PureLoss, domain: NormBall) -> Truth:
    """IS Assumption 9 over a public domain: from some weight on, every record is infeasible, whatever the target.

    TRUE where Assumption 11 holds. FALSE where the loss of the record 0 stays below a bound for all weights, so that
    there is a target at which it is never infeasible: a cap on the weights is then needed.
    """
    if assumption_11(loss, domain) is Truth.TRUE:
        return Truth.TRUE
    at_zero = _at_zero(loss)
    bounded = range_of(prune(at_zero, {W: Range(Fraction(1), None)})).upper is not None
    return Truth.FALSE if bounded else Truth.UNDECIDED


def assumption_11(loss: PureLoss, domain: NormBall) -> Truth:
    """IS Assumption 11 over a public domain, with one μ > 0 for all: e^ε is differentiable and μ-strongly convex in w.

    FALSE where the loss of the record 0 does not depend on the weight.
    """
    if W not in variables(_at_zero(loss)):
        return Truth.FALSE
    root, box = _on_domain(loss.epsilon, domain)
    root = prune(root, {**box, W: Range(Fraction(1), None)})
    found = convexity(root, box)
    if not found.growing:
        return Truth.UNDECIDED
    at_one = simplify(substitute(-found.curvature, {W: ONE}))
    try:
        least = supremum(at_one, {v: box[v] for v in variables(at_one)}, slack=Fraction(0)).enclosure
    except NoFiniteSupremum:
        return Truth.UNDECIDED
    return Truth.TRUE if least.upper < 0 else Truth.UNDECIDED  # e^ε ≥ 1, so the modulus is at least that of s


def _at_zero(loss: PureLoss) -> Expression:
    """Return the loss of a record whose norms are all 0."""
    norms = {v: ZERO for v in variables(loss.epsilon) if v != W}
    return simplify(substitute(loss.epsilon, norms))


def _on_domain(root: Expression, domain: NormBall) -> tuple[Expression, Ranges]:
    meaning, box = domain.box(variables(root) - {W})
    return simplify(substitute(root, meaning)), box
