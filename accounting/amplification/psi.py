"""Amplification by Poisson sampling in the pure notion, for one record.

Legend: ε is the mechanism's loss about a record that is drawn, q the probability of drawing it.
"""

from __future__ import annotations

from ..enclosures import Enclosure, arguments


def psi(epsilon: Enclosure, probability: Enclosure) -> Enclosure:
    """ψ = log(1 + q(e^ε − 1)) of one record, in interval arithmetic.

    Args:
        epsilon: enclosure of ε ≥ 0.
        probability: enclosure of q in [0, 1].

    Raises:
        InvalidValue: outside these ranges. OutsideDomain: where ε reaches 2**62.
    """
    return (_checked(epsilon, probability) * epsilon.expm1()).log1p()


def psi_add(epsilon: Enclosure, probability: Enclosure) -> Enclosure:
    """−log(1 − q(1 − e^−ε)) of one record, in interval arithmetic; arguments and errors as for `psi`.

    Computed as log(1 + qE/(1 + (1 − q)E)) with E = e^ε − 1, which cancels nothing near q = 1.
    """
    rate = _checked(epsilon, probability)
    grown = epsilon.expm1()
    return (rate * grown / ((1 - rate) * grown + 1)).log1p()


def proposition_3(epsilon: Enclosure, probability: Enclosure) -> Enclosure:
    """IS Proposition 3: amplification of an ε-DP mechanism by uniform Poisson sampling, unweighted."""
    return psi(epsilon, probability)


def _checked(epsilon: Enclosure, probability: Enclosure) -> Enclosure:
    arguments.non_negative("epsilon", epsilon)
    return arguments.probability("probability", probability)
