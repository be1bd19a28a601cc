"""The exponential mechanism, over a metric (IS Appendix D.4) and over finitely many outputs (McSherry, Talwar 2007)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from attrs import field, frozen

from ..accounting.errors import InvalidValue
from ..accounting.exact import Number, above_zero, exact
from ..accounting.expressions import Expression, Operand, Symbol, W, variables
from ..accounting.sampling.losses import PureLoss
from ..plugins.contract import Coins, Release, WeightedSample

Query: TypeAlias = Callable[[WeightedSample], Release]
"""The statistic g that is released."""

Draw: TypeAlias = Callable[[Release, Coins], Release]
"""One output of density ∝ exp(−d(y, centre)/β), given the centre."""

Utilities: TypeAlias = Callable[[WeightedSample], Sequence[Number]]
"""How good each output is for a weighted sample: exact numbers, larger ones for better outputs, always as many."""


class Normaliser(Enum):
    """Whether ∫ exp(−d(y, g)/β) dy depends on g; the value is the factor by which the loss then grows."""

    CONSTANT = 1
    """It does not: as for a translation-invariant metric and outputs from the whole space."""
    VARIES = 2
    """It may: as for a bounded output space."""


def _of_norms(_: Any, __: Any, value: Expression) -> None:
    alien = [v.name for v in variables(value) if v.symbol is not Symbol.NORM]
    if alien:
        raise InvalidValue("sensitivity", ", ".join(sorted(alien)), "an expression in norms of the record alone")


def exponential_loss(sensitivity: Expression, scale: Operand, normaliser: Normaliser) -> PureLoss:
    """ε(W, x) = W·Δ(x)/β, or twice that where the normaliser varies."""
    return PureLoss(W * sensitivity * normaliser.value / scale)


@final
@frozen(kw_only=True)
class Exponential:
    """A statistic g released with noise that falls off exponentially in a metric d; a part to build mechanisms from.

    Args:
        sensitivity: Δ(x) with d(g(D), g(D')) ≤ w·Δ(x) for all D, D' that differ in a record x of weight w: an
            expression in norms of x, at least 0 by its structure.
        scale: β, in units of the metric; above 0.
        query: g.
        draw: one output of density ∝ exp(−d(y, centre)/β), which must have a finite integral.
        normaliser: whether that integral depends on the centre.

    Guarantees:
        PDP profile ε(W, x) = W·Δ(x)/β under adding or removing one record, twice that where the normaliser varies.
        With f = exp(−d(y, g)/β)/Z for D and f', g', Z' for D', the triangle inequality gives
        |d(y, g) − d(y, g')| ≤ d(g, g') ≤ w·Δ(x), so the exponentials of the two densities differ by at most the factor
        e^(wΔ(x)/β) at every y. Hence so do their integrals Z and Z', and |log f/f'| ≤ 2wΔ(x)/β; where Z = Z', the
        first factor alone counts (IS Appendix D.4). These are the author's premises: d is a metric, `sensitivity`
        bounds it and `draw` has this density.

    Raises:
        InvalidValue: for a sensitivity that is not non-negative by its structure or depends on the weight, and a
            scale that is not above 0.
    """

    sensitivity: Expression = field(validator=_of_norms)
    scale: Fraction = field(validator=above_zero)
    query: Query
    draw: Draw
    normaliser: Normaliser = Normaliser.VARIES

    def __attrs_post_init__(self) -> None:
        _ = self.loss  # whose check of the sign is the sensitivity's

    @property
    def loss(self) -> PureLoss:
        """ε(W, x) = W·Δ(x)/β, or twice that."""
        return exponential_loss(self.sensitivity, self.scale, self.normaliser)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """Release one output around the statistic of a weighted sample."""
        return self.draw(self.query(sample), coins)


@final
@frozen(kw_only=True)
class FiniteExponential:
    """One of finitely many outputs, y with probability ∝ e^(u_y/β) for its utility u_y; a part of mechanisms.

    Args:
        sensitivity: Δ(x) with |u_y(D) − u_y(D')| ≤ w·Δ(x) for every output y and all D, D' that differ in a record x of
            weight w: an expression in norms of x, at least 0 by its structure.
        scale: β, in units of the utility; above 0.
        utilities: u, exactly.
        monotone: whether a record moves all utilities up, or all down.

    Guarantees:
        PDP profile ε(W, x) = 2·W·Δ(x)/β under adding or removing one record, half that where utilities are monotone
        (McSherry, Talwar 2007, Theorem 6). e^(u_y/β) changes by at most the factor e^(wΔ(x)/β) at every y, and hence so
        does their sum, in the same direction where all utilities move in one. The draw is exact: nothing is assumed of
        arithmetic beyond the author's premise that the utilities are numbers of this sensitivity as they are computed.
        A draw takes a time that depends on them.

    Raises:
        InvalidValue: for a sensitivity that is not non-negative by its structure or depends on the weight, and a
            scale that is not above 0.
    """

    sensitivity: Expression = field(validator=_of_norms)
    scale: Fraction = field(validator=above_zero)
    utilities: Utilities
    monotone: bool = False

    def __attrs_post_init__(self) -> None:
        _ = self.loss  # whose check of the sign is the sensitivity's

    @property
    def loss(self) -> PureLoss:
        """ε(W, x) = 2·W·Δ(x)/β, or half that."""
        normaliser = Normaliser.CONSTANT if self.monotone else Normaliser.VARIES
        return exponential_loss(self.sensitivity, self.scale, normaliser)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """Release the index of one output: a vector of one entry."""
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent choices: a matrix with one row per release.

        Raises:
            InvalidValue: for no outputs, and utilities that are no finite numbers; nothing is drawn then.
        """
        scores = [exact(score, parameter="utilities") for score in self.utilities(sample)]
        drawn = coins.exponential_choice([-score / self.scale for score in scores], count)
        return np.asarray(drawn[:, np.newaxis], dtype=np.float64)
