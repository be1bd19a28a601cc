"""One place of a batch that changes hands (`batches`), as a pair of finitely many outcomes that bounds both orders.

Legend: (P, Q) is a symmetric pair about one release, q the chance that the record is in that place, A the ratio
1 - q + q·dP/dQ of the sampled pair to Q.

Both orders. Let R(g) = E_Q(A - g)+ for g >= 1 bound both. The pair that has the sampled masses of A > 1 at log A, those
of Q and the sampled ones exchanged at -log A, and the rest of both at 0, has that curve and is its own mirror image.
There is a rest: by symmetry P + Q of dP/dQ > 1 is at most 1, and the sampled P + Q of it is less by (1 - q)(P - Q).

Normal noise, of shift s. Between the places s/2 - r and s/2 + r in n cells of the width t, dP/dQ is moved onto the
ends of the cells, e^(sy) at s/2 + y, so that the masses of P and Q stay: a spread, as in `finite`. With masses a of
Q and b of P the upper end gets (b - a·e^v)/(e^(v + st) - e^v) of Q, v = sy of the lower one. Where y > r, Q is moved
onto e^(sr), and what then is left of P onto infinity; that is at most P(y > r), and counts as one more delta at each
release. Where y < -r the same happens with P and Q exchanged.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Final

from ..intervals import NOTHING, ONE, ZERO, Arithmetic, Interval, at_most
from ..verdict import Refused
from .divergences import normal_density
from .factors import GAUSSIAN, Factor
from .finite import Outcome, outcomes, outcomes_of
from .nodes import shift_of
from .normal_cells import mass_beyond, mass_of_cell, moments_of_cells

REACH: Final = 16
"""How many standard deviations of each law lie within the cells, to its own side."""
FEWEST_CELLS: Final = 32
_FARTHEST: Final = 16
_LAW: Final = 40_000_000
_CELL: Final = 60_000
_UNIT: Final = Interval(ONE, ONE)


def price_of_symmetrised(factor: Factor, cells: int) -> int:
    """Give what `symmetrised_outcomes` takes from a budget."""
    return (cells + factor.together) * _CELL + _LAW


def lost_beyond(factor: Factor, arithmetic: Arithmetic) -> Interval:
    """Bound what one release of normal noise has at infinity: phi(r)/r, r standard deviations out."""
    if factor.base != GAUSSIAN:
        return NOTHING
    reach = arithmetic.rational(Fraction(REACH))
    return arithmetic.divide(normal_density(reach, arithmetic), reach)


def symmetrised_outcomes(factor: Factor, cells: int, arithmetic: Arithmetic) -> list[Outcome]:
    """List the outcomes of what a factor releases on a batch; the same for both orders.

    Raises:
        Refused: for releases that no finite pair is known for.
    """
    rate, kept = arithmetic.rational(factor.rate), NOTHING
    found = []
    for mass, log_ratio in _drawn(factor, cells, arithmetic):
        loss = arithmetic.log1p(arithmetic.multiply(rate, arithmetic.expm1(log_ratio)))
        grown = arithmetic.multiply(mass, arithmetic.exp(loss))
        found += [Outcome(mass, loss), Outcome(grown, arithmetic.negate(loss))]
        kept = arithmetic.add(kept, arithmetic.add(mass, grown))
    rest = arithmetic.maximum(arithmetic.subtract(_UNIT, kept), NOTHING)
    return [*found, Outcome(rest, NOTHING)]


def _drawn(factor: Factor, cells: int, arithmetic: Arithmetic) -> Sequence[Outcome]:
    """List the outcomes of one release about a drawn record whose log-ratio is above 0."""
    if factor.base == GAUSSIAN:
        return _normal(shift_of(factor), cells, arithmetic)
    base = factor._replace(family=factor.base, rate=Fraction(1))
    outcomes_of(base, cells)
    drawn = outcomes(base, cells, arithmetic)
    return [outcome for outcome in drawn if at_most(ZERO, outcome.loss.lo) and outcome.loss.hi != ZERO]


@lru_cache(maxsize=4)
def _normal(shift: Fraction, cells: int, arithmetic: Arithmetic) -> Sequence[Outcome]:
    """Move the masses of the cells onto their ends, from the middle on."""
    if shift > _FARTHEST or cells < FEWEST_CELLS or cells % 2:
        raise Refused("so large a shift, or so few cells, are not known to the checker where a place changes hands")
    times, add, subtract, rational = arithmetic.multiply, arithmetic.add, arithmetic.subtract, arithmetic.rational
    reach = ceil(shift / 2) + REACH
    width = Fraction(2 * reach, cells)
    moments = moments_of_cells(width / 2, arithmetic)
    growth = arithmetic.expm1(rational(shift * width))
    ends = [NOTHING] * (cells // 2 + 1)
    for cell in range(cells // 2):
        y = cell * width
        without, with_record = (
            mass_of_cell(y + width / 2 + moved, width / 2, moments, arithmetic) for moved in (shift / 2, -shift / 2)
        )
        low = arithmetic.exp(rational(shift * y))
        upper = arithmetic.divide(subtract(with_record, times(without, low)), times(low, growth))
        ends[cell] = add(ends[cell], subtract(without, upper))
        ends[cell + 1] = add(ends[cell + 1], upper)
    ends[-1] = add(ends[-1], mass_beyond(reach + shift / 2, arithmetic))
    return tuple(Outcome(mass, rational(shift * j * width)) for j, mass in enumerate(ends) if j)
