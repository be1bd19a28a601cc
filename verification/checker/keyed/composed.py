"""Several releases of sampled keys by what each of them keeps alone: optimal composition.

Legend: T releases, each within (log G, d) both ways, d = D/2^K. The two laws of such a release are images, by one map,
of those of randomised response that loses log G, but that with probability d tells the data instead (Kairouz, Oh,
Viswanath 2015). None of T tells with probability (1 - d)^T; with R(eps) the divergence of T responses that do not,

    delta(eps) <= 1 - (1 - d)^T·(1 - R(eps)) = R(eps) + (1 - R(eps))·(1 - (1 - d)^T),

at their epsilons Theorem 3.3 there. It is at most what T·d says where R is 0, from eps = T·log G on. What releasing the
sampler's constants costs is added, as they are released before (basic composition).
"""

from fractions import Fraction
from typing import Final

from ..approximate.divergences import delta_of_one
from ..approximate.factors import PURE, REMOVE, Factor
from ..budget import Budget
from ..intervals import ONE, Arithmetic, Interval, upper_end
from ..verdict import Refused
from .units import Units

_ARITHMETIC: Final = Arithmetic(192)
_CERTAIN: Final = Interval(ONE, ONE)
_RESPONSE: Final = 25_000


def prove_composed(
    epsilon: Fraction, delta: Fraction, releases: int, units: Units, cost: tuple[Fraction, Fraction], budget: Budget
) -> None:
    """Prove that so many releases, and the cost of released constants, are within (epsilon, delta), or refuse it."""
    level = epsilon - cost[0]
    if level < 0:
        raise Refused("the cost of released constants exceeds epsilon")
    if delta > 1:
        raise Refused("claim.delta is no probability")
    budget.spend(_RESPONSE * (releases + 1))
    if _delta(level, releases, units) + cost[1] > delta:
        raise Refused("the releases composed, and the cost of released constants, exceed delta at epsilon")


def _delta(epsilon: Fraction, releases: int, units: Units) -> Fraction:
    """Bound delta(epsilon) of the releases from above."""
    growth = _ARITHMETIC.rational(Fraction(units.growth, units.certain))
    responses = Factor(PURE, upper_end(_ARITHMETIC.log(growth)), Fraction(1), 1, releases)
    told = delta_of_one([responses], epsilon, REMOVE, _ARITHMETIC)
    silent = _ARITHMETIC.log1p(_ARITHMETIC.rational(Fraction(-units.allowance, units.certain)))
    tells = _ARITHMETIC.expm1(_ARITHMETIC.multiply(_ARITHMETIC.rational(Fraction(releases)), silent))
    rest = _ARITHMETIC.multiply(_ARITHMETIC.subtract(_CERTAIN, told), _ARITHMETIC.negate(tells))
    return upper_end(_ARITHMETIC.add(told, rest))
