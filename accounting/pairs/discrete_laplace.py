"""Two discrete Laplace (two-sided geometric) distributions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import TypeAlias, final

from attrs import frozen

from ..enclosures import Enclosure, Truth
from ..enclosures.arguments import non_negative, order_above_one, positive
from ..enclosures.corners import between_corners
from ..enclosures.monotone import increasing
from ..loss_distribution.cells import Cells
from ..loss_distribution.families import discrete_laplace_cells, few_steps
from ..relations import Direction
from .lattice_steps import lattice_steps, over_steps
from .laws import DeltaLaw, LossCells, PureLaw, RenyiLaw
from .pair import Pair
from .randomised_response import RandomisedResponsePair

_Law: TypeAlias = Callable[[Enclosure, int], Enclosure]


@final
@frozen
class DiscreteLaplacePair(Pair):
    """P(x) ∝ e^{−λ|x−k|} and Q(x) ∝ e^{−λ|x|} on the integers: the same in both directions.

    It dominates d-dimensional independent discrete Laplace noise about two lattice points at ℓ1 distance k. With
    m(γ) = Σ min(P, γQ), δ(ε) = 1 − m(e^ε); m is √γ·e^{−λk/2} at each γ = e^{λj} with |j| ≤ k and j ≡ k mod 2, where
    P/Q takes its values, linear between them, and min(1, γ) beyond. A product of pairs with k₁ and k₂ steps has
    Σ min(P₁P₂, γ₁γ₂Q₁Q₂) ≥ m₁(γ₁)·m₂(γ₂). Each j for k₁ + k₂ is a sum of admissible j₁ and j₂, so the product's m is
    at least that of k₁ + k₂ steps at every such γ, and between them too, being concave.

    The larger λ or k, the larger every divergence. For λ: the characteristic function of the law with λ₁ > λ₂ divides
    that with λ₂, and the quotient is that of a mixture of the point 0 and the law with λ₂, so more noise is added
    noise. For k: m falls.

    Attributes:
        unit: λ, the loss of one step; above 0.
        steps: the distance in steps, from 0 to 2**64; of a number that is not whole, the whole part counts, because
            points of the lattice at no more than that ℓ1 distance are at no more than its whole part.

    Raises:
        InvalidValue: outside these ranges. InvalidType: for anything but enclosures.
    """

    unit: Enclosure
    steps: Enclosure

    def __attrs_post_init__(self) -> None:
        positive("unit", self.unit)
        lattice_steps(self.steps)

    @property
    def pure(self) -> PureLaw:
        """Pure ε of the discrete Laplace: ε = λk, in both directions."""
        return self._pure

    @property
    def delta(self) -> DeltaLaw:
        """δ(ε) = (1 − e^{ε−λx} + e^{−λ}(1 − e^{−λ(k−x)}))/(1 + e^{−λ}), with the least x such that λ(2x − k) ≥ ε.

        It is P(X ≥ x) − e^ε·Q(X ≥ x), which no other x exceeds; 0 where ε ≥ λk.
        """
        return self._delta

    @property
    def symmetric(self) -> bool:
        """Whether an involution swaps both laws: x → steps − x does."""
        return True

    @property
    def renyi(self) -> RenyiLaw:
        """Rényi divergence τ(α), by a geometric sum: see `_log_moment`."""
        return self._renyi

    @property
    def zero_concentrated(self) -> Enclosure:
        """ρ = λ·(k − 2a(1 − a^k)/(1 − a²)) with a = e^{−λ}, which τ(α)/α approaches for α → 1 and never exceeds.

        With u = α − ½ and z = λu, (α − 1)τ(α) = log f(u) − log f(½) for f ∝ 2cosh(kz) + (1 − a)·sinh((k−1)z)/sinh z.
        At z = iθ, c = cos θ, this is U_k(c) − a·U_{k−2}(c) = 2c·U_{k−1} − (1 + a)·U_{k−2} with Chebyshev's U: the
        characteristic polynomial of a symmetric tridiagonal matrix, whose k roots are real; the largest grows with
        a, and for a = 1 they are those of 2T_k, below 1. So f, as a function of u² entire of order ½, has negative
        zeros only, and log f is concave in u²: the argument of `LaplacePair` gives the Kullback-Leibler divergence.
        """
        return self._over(_divergence)

    @property
    def gaussian(self) -> Enclosure:
        """μ of Gaussian DP: that of randomised response with the same ε."""
        return RandomisedResponsePair(self._pure(Direction.REMOVE)).gaussian

    @property
    def loss_cells(self) -> LossCells | None:
        """An atom for each step from one centre to the other; None where they are too many."""
        return self._cells if few_steps(self.unit, lattice_steps(self.steps)[1]) else None

    def _cells(self, direction: Direction) -> Cells:
        return discrete_laplace_cells(self.unit, *lattice_steps(self.steps), direction)

    def _pure(self, direction: Direction) -> Enclosure:
        return self._over(lambda unit, steps: unit * steps)

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        level = non_negative("epsilon", epsilon)
        return over_steps(
            self.steps,
            lambda steps: between_corners(lambda unit, e: _delta_at(unit, steps, e), rising=self.unit, falling=level),
        ).minimum(1)

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        alpha = order_above_one(order)
        return self._over(lambda unit, steps: _log_moment(unit, steps, alpha) / (alpha - 1))

    def _over(self, law: _Law) -> Enclosure:
        """The image of the parameters under a law that is non-decreasing in both."""
        return over_steps(self.steps, lambda steps: increasing(lambda unit: law(unit, steps), self.unit)).maximum(0)


def _delta_at(unit: Enclosure, steps: int, level: Enclosure) -> Enclosure:
    least = ((level / unit) + steps) * Fraction(1, 2)
    thresholds = range(ceil(least.lower), min(ceil(least.upper), steps) + 1)
    found = Enclosure.of(0, precision=unit.precision)
    for x in thresholds:  # one or two: the right one gives the largest value
        missed = (unit * (x - steps)).expm1() * (-unit).exp()
        found = found.maximum(-((level - unit * x).expm1() + missed) / ((-unit).exp() + 1))
    return found


def _log_moment(unit: Enclosure, steps: int, order: Fraction) -> Enclosure:
    """log Σ P^α·Q^{1−α}: geometric sums over x ≤ 0, 0 < x < k and x ≥ k.

    With a = e^{−λ}, b = e^{λ(2α−1)}, E = e^{λk(α−1)}, F = e^{−λkα}: (E + F)/(1 + a) + (1 − a)/(1 + a)·(E − bF)/(b − 1).
    """
    if not steps:
        return Enclosure.of(0, precision=unit.precision)
    beyond = (-unit).exp() + 1
    within = -(-unit).expm1() / beyond
    growth, wide = unit * (steps * (order - 1)), 2 * order - 1
    if growth.greater(1) is Truth.TRUE:  # E is taken out: it may be beyond any exponent
        inner = (unit * -wide).exp() * (unit * (-wide * (steps - 1))).expm1() / (unit * -wide).expm1()
        return growth + (((unit * (-wide * steps)).exp() + 1) / beyond + within * inner).log()
    above, below = growth.expm1(), (unit * (-order * steps)).expm1()
    inner = (above - (unit * (wide - order * steps)).expm1()) / (unit * wide).expm1()
    return ((above + below) / beyond + within * (inner + 1)).log1p()


def _divergence(unit: Enclosure, steps: int) -> Enclosure:
    """Enclose the Kullback-Leibler divergence of the two laws."""
    stay = (-unit).exp()
    return unit * (steps - stay * 2 / (stay + 1) * (unit * -steps).expm1() / (-unit).expm1())
