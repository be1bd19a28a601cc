"""What a mechanism declares that one record costs, as expressions in its weight W and its norms.

A loss gives the dominating pair of any record, and the laws that follow from it. Losses with a `parameter` are
families of pairs in which a larger parameter is never easier to hide; a loss without one is a bare curve.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias, final

from attrs import field, frozen

from ..bulk.amplification import scaled
from ..bulk.pairs import LAPLACE, RESPONSE, BulkPairs, CurvePairs, GaussianPairs, PurePairs
from ..enclosures import Enclosure
from ..enclosures.arguments import whole
from ..errors import InvalidType, InvalidValue
from ..exact import Floats
from ..expressions import ORDER, Constant, Expression, Symbol, range_of, substitute, variables
from ..pairs import (
    DiscreteGaussianPair,
    DiscreteGaussianVectorPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomisedResponsePair,
    RenyiCurve,
    ZeroConcentratedCurve,
    admissible_variance,
)

Reading: TypeAlias = Callable[[Expression], Enclosure]
"""Reads an expression in W and norms at a record, or over a set of records."""

BulkReading: TypeAlias = Callable[[Expression], Floats]
"""Reads an expression in W and norms for many records at once: proven upper bounds, one per record."""


def _features_and(*symbols: Symbol, name: str) -> Callable[[Any, Any, Expression], None]:
    def check(_: Any, __: Any, value: Expression) -> None:
        if not isinstance(value, Expression):
            raise InvalidType(name, value, "an expression in W and norms")
        admitted = {Symbol.WEIGHT, Symbol.NORM, Symbol.PLACE, *symbols}
        alien = [v.name for v in variables(value) if v.symbol not in admitted]
        if alien:
            raise InvalidValue(name, ", ".join(sorted(alien)), "the weight and norms of the record")
        if not range_of(value).non_negative:
            raise InvalidValue(
                name,
                str(value),
                "an expression that is non-negative by its structure",
                "Write it from constants ≥ 0, W and norms with +, ·, /, min, max, exp, expm1, log1p and powers",
            )

    return check


def _above_zero(_: Any, attribute: Any, value: Fraction) -> None:
    if not isinstance(value, Fraction):
        raise InvalidType(attribute.name, value, "a Fraction > 0", "Write exact(value) to read a float or text.")
    if value <= 0:
        raise InvalidValue(attribute.name, value, "a Fraction > 0")


def _dimension(_: Any, __: Any, value: int | None) -> None:
    if value is not None:
        whole("dimension", value, 1)


def _variance(_: Any, __: Any, value: Fraction) -> None:
    admissible_variance(value)


class Attained(Enum):
    """Which records have exactly the pair that a loss gives; about any other record the pair is only a bound.

    Lower ends rest on it, upper ends do not: they are about the mechanism as declared, on real numbers. Its release may
    cut records to a grid, which is post-processing of each record, and tells no more.
    """

    BY_NONE = "by none that is known"
    ON_AXES = "by records with at most one coordinate other than 0"
    BY_ALL = "by all"


class Loss(ABC):
    """What one record costs; the base class of the losses that a mechanism may declare."""

    __slots__ = ()

    @property
    @abstractmethod
    def parameters(self) -> tuple[Expression, ...]:
        """The expressions in W and norms that the pair depends on; the larger each is, the larger the loss."""

    @property
    def parameter(self) -> Expression | None:
        """The only parameter of a family of pairs; None for a bare curve, such as τ(α; W, x)."""
        return self.parameters[0] if len(self.parameters) == 1 else None

    @property
    def features(self) -> tuple[Expression, ...]:
        """The expressions whose norms the loss depends on."""
        return self.parameters

    @abstractmethod
    def pair(self, read: Reading) -> Pair:
        """The dominating pair, with the parameters that `read` gives.

        Guarantees: bounds every record for which each parameter is at most the upper end read.
        """

    @property
    def attained(self) -> Attained:
        """Which records have exactly that pair."""
        return Attained.BY_NONE

    def bulk_pairs(self, read: BulkReading) -> BulkPairs | None:
        """The dominating pairs of many records, with the parameters that `read` gives; None where no law is known."""
        return None

    @property
    def pure(self) -> PureLoss | None:
        """The PDP profile that follows, or None where no pure ε does."""
        return None


@final
@frozen
class PureLoss(Loss):
    """A PDP profile ε(W, x): entering with weight W, record x changes no output probability by more than e^ε.

    Attributes:
        epsilon: an expression in W and norms, at least 0 by its structure.

    Guarantees:
        The pair is that of randomised response with the same ε, which dominates every ε-DP mechanism (Kairouz, Oh,
        Viswanath 2015).
    """

    epsilon: Expression = field(validator=_features_and(name="epsilon"))

    @property
    def parameters(self) -> tuple[Expression, ...]:
        """The parameter of the pair: ε, an expression in W and norms."""
        return (self.epsilon,)

    def pair(self, read: Reading) -> RandomisedResponsePair:
        """Return the pair of randomised response with the ε that `read` gives."""
        return RandomisedResponsePair(read(self.epsilon))

    def bulk_pairs(self, read: BulkReading) -> PurePairs:
        """Randomised response with the ε of each record."""
        return PurePairs(RESPONSE, read(self.epsilon))

    @property
    def pure(self) -> PureLoss:
        """The PDP profile: this loss itself."""
        return self


@final
@frozen
class LaplaceLoss(Loss):
    """Two Laplace distributions of scale 1, `shift` apart: what a sum with independent Laplace noise loses.

    Attributes:
        shift: the record's ℓ1 contribution over the scale, an expression in W and norms.
    """

    shift: Expression = field(validator=_features_and(name="shift"))

    @property
    def parameters(self) -> tuple[Expression, ...]:
        """The parameter of the pair: the shift, an expression in W and norms."""
        return (self.shift,)

    def pair(self, read: Reading) -> LaplacePair:
        """Return the pair Laplace(0, 1) and Laplace(shift, 1), with the shift that `read` gives."""
        return LaplacePair(read(self.shift))

    @property
    def attained(self) -> Attained:
        """Which records have exactly that pair: those on an axis; on others the same ℓ1 distance is harder to tell."""
        return Attained.ON_AXES

    def bulk_pairs(self, read: BulkReading) -> PurePairs:
        """Laplace pairs with the shift of each record."""
        return PurePairs(LAPLACE, read(self.shift))

    @property
    def pure(self) -> PureLoss:
        """The PDP profile of Laplace noise: ε = shift."""
        return PureLoss(self.shift)


@final
@frozen
class GaussianLoss(Loss):
    """Two normal distributions of standard deviation 1, `shift` apart: what a sum with Gaussian noise loses.

    Attributes:
        shift: the record's ℓ2 contribution over the standard deviation, an expression in W and norms.
    """

    shift: Expression = field(validator=_features_and(name="shift"))

    @property
    def parameters(self) -> tuple[Expression, ...]:
        """The parameter of the pair: the shift, an expression in W and norms."""
        return (self.shift,)

    def pair(self, read: Reading) -> GaussianPair:
        """Return the pair N(0, 1) and N(shift, 1), with the shift that `read` gives."""
        return GaussianPair(read(self.shift))

    @property
    def attained(self) -> Attained:
        """Which records have exactly that pair: all, because the noise looks the same in each direction."""
        return Attained.BY_ALL

    def bulk_pairs(self, read: BulkReading) -> GaussianPairs:
        """Gaussian pairs with the shift of each record."""
        return GaussianPairs(read(self.shift))


@final
@frozen
class DiscreteLaplaceLoss(Loss):
    """Two discrete Laplace distributions on a lattice: what a sum of whole steps with such noise loses.

    Attributes:
        steps: the record's ℓ1 contribution in steps of the lattice, an expression in W and norms; contributions are
            whole, so its whole part counts.
        unit: what one step costs, the step over the scale; a Fraction above 0.
    """

    steps: Expression = field(validator=_features_and(name="steps"))
    unit: Fraction = field(validator=_above_zero)

    @property
    def parameters(self) -> tuple[Expression, ...]:
        """The parameter of the pair: the number of lattice steps, an expression in W and norms."""
        return (self.steps,)

    def pair(self, read: Reading) -> DiscreteLaplacePair:
        """Discrete Laplace distributions that many steps apart."""
        steps = read(self.steps)
        return DiscreteLaplacePair(Enclosure.of(self.unit, precision=steps.precision), steps)

    @property
    def attained(self) -> Attained:
        """Which records have exactly that pair: those on an axis, as for `LaplaceLoss`."""
        return Attained.ON_AXES

    @property
    def pure(self) -> PureLoss:
        """ε = unit·steps, which the whole part of the steps cannot exceed."""
        return PureLoss(self.steps * self.unit)


@final
@frozen
class DiscreteGaussianLoss(Loss):
    """Two discrete Gaussian distributions on the integers: what one sum of whole steps with such noise loses.

    Attributes:
        steps: the record's contribution in steps of the lattice, an expression in W and norms; contributions are
            whole, so its whole part counts.
        variance: σ² in squared steps; a Fraction from 2**-32 to 2**128.
    """

    steps: Expression = field(validator=_features_and(name="steps"))
    variance: Fraction = field(validator=_variance)

    @property
    def parameters(self) -> tuple[Expression, ...]:
        """The parameter of the pair: the number of whole steps, an expression in W and norms."""
        return (self.steps,)

    def pair(self, read: Reading) -> DiscreteGaussianPair:
        """Discrete Gaussian distributions that many steps apart."""
        steps = read(self.steps)
        return DiscreteGaussianPair(self.variance, steps, precision=steps.precision)

    @property
    def attained(self) -> Attained:
        """Which records have exactly that pair: those on an axis, for others may lose more in moving to whole steps."""
        return Attained.ON_AXES


@final
@frozen
class DiscreteGaussianVectorLoss(Loss):
    """Discrete Gaussian noise on a lattice of several dimensions: what one sum of whole steps with such noise loses.

    Attributes:
        length: the ℓ2 norm of the record's contribution in steps of the lattice, an expression in W and norms.
        variance: σ² in squared steps; a Fraction from 2**-32 to 2**128.
        dimension: number of coordinates, a whole number ≥ 1; None where it is not known.
    """

    length: Expression = field(validator=_features_and(name="length"))
    variance: Fraction = field(validator=_variance)
    dimension: int | None = field(default=None, validator=_dimension)

    @property
    def parameters(self) -> tuple[Expression, ...]:
        """The parameter of the pair: the length in steps, an expression in W and norms."""
        return (self.length,)

    def pair(self, read: Reading) -> DiscreteGaussianVectorPair:
        """Return the noise about vectors up to the length that `read` gives."""
        return DiscreteGaussianVectorPair(self.variance, read(self.length), self.dimension)

    def bulk_pairs(self, read: BulkReading) -> CurvePairs:
        """Return the curve τ(α) = ρα of each record, ρ = k²/2σ²."""
        return ZeroConcentratedLoss(self.rho).bulk_pairs(read)

    @property
    def rho(self) -> Expression:
        """ρ(W, x) = k²/2σ², k being the length."""
        return self.length * self.length * (1 / (2 * self.variance))


@final
@frozen
class FamilyLoss(Loss):
    """Any family of pairs with one parameter that a plugin supplies, such as a table or densities of its own.

    Attributes:
        parameter: an expression in W and norms; the larger, the larger every divergence of the pair.
        family: the pair at a parameter; it must enclose every parameter within the enclosure it gets.
        pure_loss: the PDP profile, where there is one.
        attained_by: which records have exactly the family's pair; lower ends are proven from these alone.
        clones: of a mechanism that answers for each record by itself, one answer a record in the order of the records:
            with at least which chance an answer is a draw from either of the two laws of which those of any two records
            consist, each as likely (`docs/soundness_shuffling.md`); e^−ε does for any with the pure loss ε. None where
            answers are not about one record each.
    """

    of: Expression = field(validator=_features_and(name="of"))
    family: Callable[[Enclosure], Pair]
    pure_loss: PureLoss | None = None
    attained_by: Attained = Attained.BY_NONE
    clones: Enclosure | None = None

    @property
    def parameters(self) -> tuple[Expression, ...]:
        """The parameter of the family of pairs, an expression in W and norms."""
        return (self.of,)

    def pair(self, read: Reading) -> Pair:
        """Return the family's pair at the parameter that `read` gives."""
        return self.family(read(self.of))

    @property
    def attained(self) -> Attained:
        """Which records have exactly that pair: as was stated with the family."""
        return self.attained_by

    def bulk_pairs(self, read: BulkReading) -> PurePairs | None:
        """Return the pairs of the PDP profile, where the family states one; else None."""
        return None if self.pure_loss is None else self.pure_loss.bulk_pairs(read)

    @property
    def pure(self) -> PureLoss | None:
        """The PDP profile, where the family states one."""
        return self.pure_loss


@final
@frozen
class ZeroConcentratedLoss(Loss):
    """A zero-concentrated profile ρ(W, x): τ(α) ≤ ρα at every order α > 1, in both directions.

    Attributes:
        rho: an expression in W and norms, at least 0 by its structure.
        symmetric: whether, for every record, an involution of the outputs swaps the laws with and without it, as
            reflection does for noise that is added; sampling then amplifies more.
    """

    rho: Expression = field(validator=_features_and(name="rho"))
    symmetric: bool = False

    @property
    def parameters(self) -> tuple[Expression, ...]:
        """The parameter of the curve: ρ, an expression in W and norms."""
        return (self.rho,)

    def pair(self, read: Reading) -> ZeroConcentratedCurve:
        """Return the curve τ(α) = ρα, with the ρ that `read` gives."""
        return ZeroConcentratedCurve(read(self.rho), self.symmetric)

    def bulk_pairs(self, read: BulkReading) -> CurvePairs:
        """Return the curve τ(α) = ρα of each record."""
        rho = read(self.rho)
        return CurvePairs(lambda order: scaled(rho, order))


@final
@frozen
class RenyiLoss(Loss):
    """A Rényi profile τ(α; W, x), for mechanisms that declare nothing else.

    Attributes:
        tau: an expression in the order α, W and norms, at least 0 by its structure. It bounds both directions.
        symmetric: as for `ZeroConcentratedLoss`.
    """

    tau: Expression = field(validator=_features_and(Symbol.ORDER, name="tau"))
    symmetric: bool = False

    @property
    def parameters(self) -> tuple[Expression, ...]:
        """The parameters of the pair: none, because τ is a whole curve."""
        return ()

    @property
    def features(self) -> tuple[Expression, ...]:
        """The expression whose norms the loss depends on: τ."""
        return (self.tau,)

    def pair(self, read: Reading) -> RenyiCurve:
        """Return a pair of which the curve τ(α) alone is known."""

        def tau(order: Fraction) -> Enclosure:
            return read(substitute(self.tau, {ORDER: Constant(order)}))

        return RenyiCurve(tau, self.symmetric)

    def bulk_pairs(self, read: BulkReading) -> CurvePairs:
        """Return the curve τ(α) of each record."""

        def tau(order: Fraction) -> Floats:
            return read(substitute(self.tau, {ORDER: Constant(order)}))

        return CurvePairs(tau)
