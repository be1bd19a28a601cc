"""Records in bulk: their features, the probabilities really drawn, the weights applied and their certified ψ."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..bulk import arrays as bulk
from ..enclosures import Enclosure, norm_enclosure
from ..errors import InvalidType, OutsideDomain, Undecided
from ..exact import Floats
from ..expressions import (
    EVERYWHERE,
    Expression,
    Rounded,
    Symbol,
    Variable,
    W,
    enclose,
    mask_within,
    rounded,
    upper,
    variables,
)
from ..norms import Norm
from .losses import PureLoss
from .rate import SamplingRate, norm_roundings

_PRECISION = 96
_PRECISIONS = (96, 192, 384, 768, 1536, 3072)
_NARROW = Fraction(1, 2**60)
NEGLIGIBLE = 2.0**-960
"""Probabilities below this are drawn as 0: such a record is never drawn."""


Indices: TypeAlias = NDArray[np.int64]


class ChoosingCoins(Protocol):
    """What records are drawn with together."""

    def integers(self, bound: int, size: int) -> list[int]:
        """`size` independent integers, uniform below `bound`."""
        ...

    def bernoulli(self, probabilities: Floats) -> NDArray[np.bool_]:
        """Independent draws with these probabilities."""
        ...


class JointDraw(Protocol):
    """How records are drawn together, where they are not drawn independently."""

    def members(self, size: int, coins: ChoosingCoins) -> Indices:
        """The places of those drawn of `size` records, rising."""
        ...


@final
@frozen(eq=False)
class Realisation:
    """Per record, what a sampler really does with it.

    Attributes:
        probability: float64 (n,), the probability drawn; 0 where the record is never drawn.
        weight: float64 (n,), the weight applied; inf where the probability is 0.
        gap: a bound of the relative distance of each weight to the largest feasible one; None where the rate aims at
            none.
        reach: per record, what is proven about other weights, by its place in `feasible_weights.REACHES`; None where
            the rate aims at none.
        batches: how the records are drawn together; None where each is drawn by itself.
    """

    probability: Floats
    weight: Floats
    gap: float | None = None
    reach: NDArray[np.uint8] | None = None
    batches: JointDraw | None = None


class Features:
    """Norms of a matrix of records, computed once per norm on first use.

    Args:
        records: float64 matrix (n, d) of finite numbers.
        first: number of the first of them in the data set, for messages to its curator.
        norms: what `bulk.norms` gave for these records, where that is known already.
    """

    def __init__(self, records: Floats, *, first: int = 0, norms: Mapping[Norm, Floats] | None = None) -> None:
        self.records = records
        self.first = first
        self._norms = {Variable(Symbol.NORM, norm.value): known for norm, known in (norms or {}).items()}

    def __len__(self) -> int:
        return len(self.records)

    def norm(self, variable: Variable) -> Floats:
        """Upper bounds of one norm, within the kernels' stated margin."""
        if variable.symbol is not Symbol.NORM:
            raise InvalidType("feature", variable.name, "a norm of the record")
        if variable not in self._norms:
            self._norms[variable] = bulk.norms(self.records, Norm(variable.index))
        return self._norms[variable]

    def rounded(self, root: Expression) -> dict[Variable, Rounded]:
        """The norms that `root` uses, with their roundings."""

        def known(variable: Variable) -> Rounded:
            norms, count = self.norm(variable), norm_roundings(Norm(variable.index))
            # the relative margin of a norm holds above the subnormal range and for 0
            return Rounded(norms, count, mask_within(norms, NEGLIGIBLE, sys.float_info.max, zeros=True))

        return {v: known(v) for v in variables(root) if v.symbol is Symbol.NORM}

    def enclosures(self, index: int, *, precision: int = _PRECISION) -> Mapping[Variable, Enclosure]:
        """Enclosures of the true norms of one record."""
        return {
            variable: norm_enclosure(self.records[index].tolist(), Norm(variable.index), precision=precision)
            for variable in self._norms
        }


def realise(rate: SamplingRate, features: Features) -> Realisation:
    """The binary64 probabilities that are drawn and the weights that are applied.

    Guarantees:
        Each probability is 0 or within a factor 1 ± `rate.rounding` of q(x); each weight is within that factor of
        1/q(x). Probabilities below 2^-960 become 0.

    Raises:
        Undecided: where no admissible precision tells the probability of a record that well.
    """
    size = len(features)
    known = features.rounded(rate.probability)
    result = rounded(rate.probability, known)
    probability = np.empty(size)
    safe = np.zeros(size, dtype=np.bool_)
    if result is not None:
        probability[...] = np.minimum(result.values, 1.0)  # q ≤ 1 by its structure, its rounding may not be
        safe[...] = result.safe
    for index in np.flatnonzero(~safe):
        probability[index] = _probability(rate, features, int(index))
    probability[probability < NEGLIGIBLE] = 0.0
    if not rate.weighted:
        return Realisation(probability, np.where(probability > 0, 1.0, np.inf))
    with np.errstate(divide="ignore"):  # probability 0 has weight inf by convention
        return Realisation(probability, 1.0 / probability)


def _probability(rate: SamplingRate, features: Features, index: int) -> float:
    """The probability of one record, at whatever precision tells it to within two roundings."""
    for precision in _PRECISIONS:
        try:
            value = enclose(rate.probability, features.enclosures(index, precision=precision), precision=precision)
        except OutsideDomain:
            if precision == _PRECISIONS[-1]:
                raise
            continue
        if value.upper_float < NEGLIGIBLE:
            return 0.0
        width = value.relative_width
        if width is not None and width <= _NARROW and value.lower > 0:
            return min(1.0, value.lower_float)
    raise Undecided(
        f"the probability {rate.probability} of row {features.first + index} is undecided at {_PRECISIONS[-1]} bits: "
        "the record may lie on a jump of it, or cancellation hides it. Write the probability without differences "
        "and selections"
    )


def psi_upper(loss: PureLoss, realisation: Realisation, features: Features) -> Floats:
    """Certified ψ per record: proven upper bounds for the probability drawn and the weight applied.

    Returns:
        float64 (n,); 0 where the record is never drawn.
    """
    drawn = realisation.probability > 0
    weights = np.where(drawn, realisation.weight, 1.0)
    known = {W: Rounded(weights, 0, EVERYWHERE), **features.rounded(loss.epsilon)}

    def at(index: int) -> Mapping[Variable, Enclosure]:
        weight = Enclosure.of(float(weights[index]), precision=_PRECISION)
        return {**features.enclosures(index), W: weight}

    losses = upper(loss.epsilon, known, len(features), at)
    return bulk.psi_remove(losses, realisation.probability)
