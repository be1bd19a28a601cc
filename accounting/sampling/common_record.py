"""What one and the same record loses in several releases: lower ends of whole runs rest on it.

The worst records of two releases may be different ones. A record on an axis, all of whose norms are equal, can be
evaluated in every release; its losses compose to a lower bound of the run.
"""

from __future__ import annotations

from fractions import Fraction

from ..enclosures import Enclosure
from ..errors import OutsideDomain
from ..expressions import ONE, Constant, Expression, Symbol, W, enclose, substitute, variables
from .losses import Attained, Loss
from .rate import SamplingRate
from .theorem_6 import realised
from .worst_cases import Case

_NEVER = Constant(Fraction(0))


def case_on_axis(loss: Loss, rate: SamplingRate, size: Fraction, *, precision: int = 128) -> Case | None:
    """The pair about the record with one coordinate `size` and no other, and its sampling rate.

    Args:
        loss: what one record costs.
        rate: with what probability and weight it is drawn; every value within its rounding is covered.
        size: at least 0; where no norm occurs it does not matter.
        precision: working precision in bits.

    Guarantees: the record has exactly that pair and that rate, for numbers inside the enclosures. None where the loss
    only bounds its pair, or cannot be evaluated there.
    """
    if loss.parameter is None or loss.attained is Attained.BY_NONE:
        return None
    used = realised(rate)
    weight = ONE if rate.probability == _NEVER else used.weight
    parameter = substitute(loss.parameter, {W: weight})

    def at(root: Expression) -> Enclosure:
        place = {
            v: Enclosure.of(size, precision=precision)
            if v.symbol is Symbol.NORM
            else Enclosure.between(-1, 1, precision=precision)
            for v in variables(root)
        }
        return enclose(root, place, precision=precision)

    try:
        value, drawn = at(parameter).maximum(0), at(used.probability).maximum(0).minimum(1)
    except OutsideDomain:
        return None  # such as the weight of a record that is never drawn
    return Case(loss.pair(lambda _: value), drawn)
