"""From a budget for users to one for elements, where a user contributes at most c elements.

Group privacy turns (ε, δ) for an element into (cε, δ·(1 + e^ε + … + e^{ε(c−1)})) for a user. Solved for the element
that is ε = E/c and δ = D·(e^ε − 1)/(e^E − 1), or D/c at E = 0, both rounded down; the law itself confirms the result.
Where an element costs s elsewhere, such as for a released threshold, the law is applied to ε + s: that is how the sum
is accounted for, and δ is then a little smaller.
"""

from __future__ import annotations

from fractions import Fraction

from ..accounting.enclosures import Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import CertdpError
from ..accounting.notions import APPROXIMATE, Approximate
from ..accounting.units import Delta, Epsilon

_BITS = 64
_NEXT_BELOW = 1 - Fraction(1, 1 << 60)


def element_budget(
    epsilon: Epsilon, delta: Delta, contributions: int, *, spent: Fraction = Fraction(0)
) -> tuple[Epsilon, Delta]:
    """The largest (ε, δ) for elements, nearly, that gives users (`epsilon`, `delta`).

    Args:
        epsilon: E of the budget for users.
        delta: D of the budget for users.
        contributions: c ≥ 1: how many elements a user contributes at most.
        spent: s ≥ 0, the ε that an element costs beside.

    Guarantees:
        Group privacy for c elements, of (ε + s, δ), gives at most (E + cs, D), proven by its forward formula; at c = 1
        (ε, δ) is (E, D).

    Raises:
        InvalidValue, InvalidType: for contributions that are no whole number ≥ 1.
    """
    if whole("contributions", contributions, 1) == 1:
        return epsilon, delta
    each = Enclosure.of(epsilon.value / contributions, precision=_BITS).lower
    one = Enclosure.of(each) + spent
    factor = (one * contributions).expm1() / one.expm1() if one.upper else Enclosure.of(contributions)
    share = (delta.value / factor).at(_BITS).lower
    for candidate in (share, share * _NEXT_BELOW):
        found = APPROXIMATE.group(Approximate(one, Enclosure.of(candidate)), contributions)
        if each * contributions <= epsilon.value and found.delta.upper <= delta.value:
            return Epsilon(each), Delta(candidate)
    raise CertdpError(f"no budget for elements was found that gives {contributions} of them ({epsilon}, {delta})")
