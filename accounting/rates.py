"""How the records of one run are drawn, once mechanism and sampler are known: stated, or solved for a target.

A stated rate is an expression in norms of the record. A constrained one gives each record the largest weight with which
the mechanism's loss about it stays within a target.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import inf
from typing import final

from attrs import frozen

from .derivation import Assumption, Derivation, Theorem
from .domains import NormBall
from .enclosures import Enclosure
from .errors import InvalidValue
from .expressions import ONE, Constant, Expression, Variable, W, derivative, range_of, substitute, upper, variables
from .expressions.floats import Floats
from .feasible_weights import largest_weights
from .importance_sampling import theorem_6
from .losses import Loss, PureLoss
from .profiles import PureProfile
from .records import Features, Realisation, realise
from .relations import AddRemove, Record
from .sampling import SamplingRate
from .suprema import supremum

PROBLEM_7 = Theorem("IS", "Problem 7 and Theorem 6")


class Rate(ABC):
    """With what probability and weight the records of a run are drawn."""

    __slots__ = ()

    @property
    @abstractmethod
    def features(self) -> tuple[Expression, ...]:
        """The expressions whose norms decide the probability."""

    @property
    @abstractmethod
    def rounding(self) -> Fraction:
        """By how much, relatively, a probability drawn may differ from the one declared."""

    @abstractmethod
    def realise(self, features: Features) -> Realisation:
        """The binary64 probabilities that are drawn and the weights that are applied."""

    @abstractmethod
    def profile(self, loss: PureLoss, premises: Iterable[Derivation] = ()) -> PureProfile[AddRemove, Record]:
        """The ψ-PDP profile of a mechanism with this loss, on records drawn so."""

    @property
    def ceiling(self) -> float:
        """A bound of ψ for every record that is drawn so, whatever its norms."""
        return inf

    def on(self, domain: NormBall | None) -> Rate:
        """The same rate where records are held within a public domain.

        Raises:
            InvalidValue: where some record of the domain cannot be drawn as declared.
        """
        return self


@final
@frozen
class StatedRate(Rate):
    """A rate that a sampler states as an expression.

    Attributes:
        stated: probability and weighting.
    """

    stated: SamplingRate

    @property
    def features(self) -> tuple[Expression, ...]:
        """The probability."""
        return (self.stated.probability,)

    @property
    def rounding(self) -> Fraction:
        """The rate's own."""
        return self.stated.rounding

    def realise(self, features: Features) -> Realisation:
        """See `records.realise`."""
        return realise(self.stated, features)

    def profile(self, loss: PureLoss, premises: Iterable[Derivation] = ()) -> PureProfile[AddRemove, Record]:
        """IS Theorem 6."""
        return theorem_6(loss, self.stated, premises)


@final
@frozen
class ConstrainedRate(Rate):
    """Each record enters with the largest weight w that keeps ψ within a target, and is drawn with probability 1/w.

    Guarantees: for every record that is drawn, ψ ≤ ε* is proven for the binary64 probability and weight before they are
    used; a record for which it cannot be, because it loses more than ε* at weight 1 already, is refused.

    Attributes:
        unit_loss: the loss A = ε(1, x) of a loss A·W, an expression in norms.
        target: ε*, from 2^-40 to 700.
        largest: a cap on the weights, or None: then a record without loss is never drawn.
        domain_loss: a proven bound of A on the public domain, where there is one.
    """

    unit_loss: Expression
    target: Fraction
    largest: float | None = None
    domain_loss: Fraction | None = None

    @classmethod
    def of(cls, loss: Loss, target: Fraction, *, largest: float | None = None) -> ConstrainedRate:
        """The rate for a mechanism.

        Raises:
            InvalidValue: for a loss that is not proven to be proportional to the weight.
        """
        pure = loss.pure
        unit = None if pure is None else linear_part(pure)
        if unit is None:
            raise InvalidValue(
                "mechanism",
                "a loss that is not proportional to the weight" if pure else "a mechanism without a pure ε",
                "a mechanism with a pure loss ε(W, x) = A(x)·W, such as laplace-sum, lp-sum, count or lloyd",
                "Choose such a mechanism, or a sampler that states its rate",
            )
        return cls(unit, target, largest)

    @property
    def features(self) -> tuple[Expression, ...]:
        """The loss at weight 1."""
        return (self.unit_loss,)

    @property
    def rounding(self) -> Fraction:
        """None: the probability is defined as the binary64 number that is drawn."""
        return Fraction(0)

    @property
    def ceiling(self) -> float:
        """ε*, rounded up."""
        return Enclosure.of(self.target).upper_float

    def realise(self, features: Features) -> Realisation:
        """The weights of `feasible_weights.largest_weights`."""
        losses = _bounds(self.unit_loss, features)
        found = largest_weights(
            losses, self.target, largest=self.largest, domain_loss=self.domain_loss, first=features.first
        )
        return Realisation(found.probability, found.weight, found.gap)

    def profile(self, loss: PureLoss, premises: Iterable[Derivation] = ()) -> PureProfile[AddRemove, Record]:
        """ψ ≤ ε* for every record that can be drawn at all (IS Problem 7)."""
        assumed = Assumption("records", f"those that lose at most {self.target} at weight 1")
        return PureProfile(
            remove=Constant(self.target),
            add=Constant(self.target),
            relation=AddRemove(),
            unit=Record(),
            derivation=PROBLEM_7.conclude(premises, [assumed] if self.domain_loss is None else []),
        )

    def on(self, domain: NormBall | None) -> ConstrainedRate:
        """The rate on a domain where every record can be drawn: the largest loss at weight 1 is within the target."""
        if domain is None:
            return self
        meaning, box = domain.box(variables(self.unit_loss))
        placed = substitute(self.unit_loss, meaning)
        sides = {v: box[v] for v in variables(placed)}
        rational = range_of(placed, sides).upper  # exact, so that a target may equal what the domain loses
        if rational is not None and rational <= self.target:
            return ConstrainedRate(self.unit_loss, self.target, self.largest, rational)
        found = supremum(placed, sides, slack=Fraction(0)).enclosure
        if found.upper > self.target:
            raise InvalidValue(
                "target",
                str(self.target),
                f"at least {found.upper_float!r}, what some record of the domain loses at weight 1",
                "Raise the target, use more noise or a smaller radius",
            )
        return ConstrainedRate(self.unit_loss, self.target, self.largest, found.upper)


def linear_part(loss: PureLoss) -> Expression | None:
    """A(x) where ε(W, x) = A(x)·W by its structure, else None."""
    slope = derivative(loss.epsilon, W).simplified()
    at_zero = substitute(loss.epsilon, {W: Constant(Fraction(0))}).simplified()
    if W in variables(slope) or at_zero != Constant(Fraction(0)):
        return None
    return substitute(loss.epsilon, {W: ONE})


def _bounds(root: Expression, features: Features) -> Floats:
    """Proven upper bounds of an expression in norms, per record."""

    def at(index: int) -> Mapping[Variable, Enclosure]:
        return features.enclosures(index)

    return upper(root, features.rounded(root), len(features), at)
