"""Proof that an expression stays below a bound on a box, by bisection.

On each cell what is decided there is simplified (an undecided n/min(1, r·n) has no finite range near 0,
the decided one is 1/r); then the natural range, the ends of monotone variables and the mean value form are
tried in turn, and what remains is halved.

Guarantee: `prove_at_most` returns only if the expression is at most the bound at every point of the box at
which it is defined. Derivatives are used only on cells where every operation is defined and continuous, so
a limit at an end of a cell is a value there.
"""

from fractions import Fraction

from mpmath import libmp

from . import intervals
from .expressions import Box, Pool
from .intervals import ZERO, Arithmetic, Interval, Mpf, at_most
from .verdict import Refused


def prove_at_most(pool: Pool, root: int, box: Box, bound: Mpf, arithmetic: Arithmetic, exceeded: str) -> None:
    """Prove that the expression is at most the bound on the box, or refuse: with `exceeded` where it is not."""
    open_cells = [(dict(box), root)]
    while open_cells:
        cell, root = open_cells.pop()
        values, regular = pool.evaluate(root, cell, arithmetic)
        if choice := pool.decided(root, values):
            root = pool.simplify(root, choice)
            values, regular = pool.evaluate(root, cell, arithmetic)
        if at_most(values[root].hi, bound):
            continue
        centre = {name: _middle(side, arithmetic) for name, side in cell.items()}
        at_centre = pool.evaluate(root, centre, arithmetic).values[root]
        if not at_most(at_centre.lo, bound):
            raise Refused(exceeded)
        slopes: dict[str, Interval] = {}
        if regular:
            slopes = pool.gradient(root, values, arithmetic)
            ends = {name: _worst_end(cell[name], slopes.get(name, intervals.NOTHING)) for name in cell}
            if ends != cell:
                open_cells.append((ends, root))
                continue
            reach = at_centre
            for name, slope in slopes.items():
                offset = arithmetic.subtract(cell[name], centre[name])
                reach = arithmetic.add(reach, arithmetic.multiply(slope, offset))
            if at_most(reach.hi, bound):
                continue
        name = _most_influential(cell, box, slopes, arithmetic)
        low, middle, high = cell[name].lo, centre[name].lo, cell[name].hi
        if middle in (low, high):
            raise Refused("the supremum could not be verified at this precision")
        halves = Interval(low, middle), Interval(middle, high)
        open_cells += ((cell | {name: half}, root) for half in halves)


def _middle(side: Interval, arithmetic: Arithmetic) -> Interval:
    total = arithmetic.add(Interval(side.lo, side.lo), Interval(side.hi, side.hi)).lo
    middle: Mpf = libmp.mpf_shift(total, -1)
    return Interval(middle, middle) if at_most(side.lo, middle) else Interval(side.lo, side.lo)


def _worst_end(side: Interval, slope: Interval) -> Interval:
    if at_most(ZERO, slope.lo):
        return Interval(side.hi, side.hi)
    return Interval(side.lo, side.lo) if at_most(slope.hi, ZERO) else side


def _most_influential(cell: Box, box: Box, slopes: Box, arithmetic: Arithmetic) -> str:
    """Choose the variable along which the expression may vary most, else the one halved least."""

    def influence(name: str) -> tuple[float, float]:
        slope = slopes.get(name, intervals.LINE)
        steepest = max(intervals.magnitude(slope.lo), intervals.magnitude(slope.hi))
        size = intervals.magnitude(_width(cell[name], arithmetic))
        return steepest + size, size - intervals.magnitude(_width(box[name], arithmetic))

    wide = [name for name, side in cell.items() if side.lo != side.hi]
    if not wide:
        raise Refused("the supremum could not be verified at this precision")
    return max(wide, key=influence)


def _width(side: Interval, arithmetic: Arithmetic) -> Mpf:
    return arithmetic.subtract(Interval(side.hi, side.hi), Interval(side.lo, side.lo)).hi


def enclose_at(pool: Pool, root: int, point: dict[str, Fraction], arithmetic: Arithmetic) -> Interval:
    """Enclose the expression at a rational point."""
    box = {name: arithmetic.rational(value) for name, value in point.items()}
    return pool.evaluate(root, box, arithmetic).values[root]
