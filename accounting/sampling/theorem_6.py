"""IS Theorem 6: the ψ-PDP profile of a mechanism run on a Poisson importance sample.

Legend: ε(W, x) is the loss of the mechanism about a record that enters with weight W; q(x) the probability with
which the sampler draws it; ψ the loss of the sampled mechanism.

IS Theorem 6 in both directions, with the exponent ε(1/q(x), x) (the last lines of the printed proof have
1/q(x) instead, erratum IS-T6-proof). IS Proposition 3 is the case of a constant loss and a constant rate.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from ..derivation import Assumption, Derivation, Theorem
from ..expressions import ONE, Expression, W, expm1, log1p, maximum, minimum, rounding, substitute
from ..relations import AddRemove, Record
from .losses import PureLoss
from .profiles import PureProfile
from .rate import SamplingRate

THEOREM_6 = Theorem("IS", "Theorem 6")


def remove_direction(loss: Expression, rate: Expression) -> Expression:
    """log(1 + q·(e^ε − 1)): the record is in the first data set only."""
    return log1p(rate * expm1(loss))


def add_direction(loss: Expression, rate: Expression) -> Expression:
    """−log(1 − q·(1 − e^−ε)): the record is in the second data set only."""
    return -log1p(rate * expm1(-loss))


@frozen
class Realised:
    """Probability and weight as they are really used, within the sampler's rounding of the declared ones."""

    probability: Expression
    weight: Expression


def realised(rate: SamplingRate) -> Realised:
    """The drawn probability q·(1 + ηθ), at most 1, and the applied weight (1 + ηθ')/q, at least 1."""
    eta = rate.rounding
    probability = rate.probability
    weight: Expression = 1 / probability if rate.weighted else ONE
    if not eta:
        return Realised(probability, weight)
    drawn = minimum(1, probability * (1 + eta * rounding("rate")))
    applied = maximum(1, weight * (1 + eta * rounding("weight"))) if rate.weighted else weight
    return Realised(drawn, applied)


def theorem_6(
    loss: PureLoss, rate: SamplingRate, premises: Iterable[Derivation] = ()
) -> PureProfile[AddRemove, Record]:
    """IS Theorem 6: the ψ-PDP profile of a mechanism run on a Poisson importance sample.

    Args:
        loss: the mechanism's PDP profile ε(W, x), for records under add/remove.
        rate: the sampler's probability and weight.
        premises: derivations of the two.

    Guarantees:
        For every record x and every probability and weight within the sampler's rounding, the outputs with and
        without x differ by at most e^ψ(x), ψ being `remove` in one direction and `add` in the other.
    """
    used = realised(rate)
    weighted_loss = substitute(loss.epsilon, {W: used.weight})
    eta = rate.rounding
    assumptions = [Assumption("relative rounding of probability and weight", str(eta))] if eta else []
    return PureProfile(
        remove=remove_direction(weighted_loss, used.probability),
        add=add_direction(weighted_loss, used.probability),
        relation=AddRemove(),
        unit=Record(),
        derivation=THEOREM_6.conclude(premises, assumptions),
    )
