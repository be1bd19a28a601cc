"""Two discrete Gaussian distributions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import final

from attrs import field, frozen

from ..enclosures import DEFAULT_PRECISION, Enclosure, Truth, pi
from ..enclosures.arguments import non_negative, order_above_one
from ..enclosures.corners import writable
from ..enclosures.enclosure import checked_precision
from ..enclosures.monotone import decreasing, sharp
from ..errors import InvalidType, InvalidValue
from ..loss_distribution.cells import Cells
from ..loss_distribution.families import discrete_gaussian_cells, few_points
from ..relations import Direction
from .falling_sums import with_falling_terms
from .gaussian import GaussianPair
from .lattice_steps import lattice_steps, over_steps
from .laws import DeltaLaw, LossCells, RenyiLaw
from .pair import Pair

LEAST_VARIANCE, GREATEST_VARIANCE = Fraction(1, 2**32), Fraction(2**128)
"""σ² in squared steps that a discrete Gaussian may have."""
_SUMMED = 2**12
"""About the most terms of a sum; where more would be needed, it is compared with its integral."""
WIDE_VARIANCE = 8
"""From this variance on, the sum of all terms is σ√(2π) to within 2^-200, relatively."""
_NEXT_TO_NOTHING = Enclosure.of(Fraction(1, 2 ** (1 << 16)))


@final
@frozen
class DiscreteGaussianPair(Pair):
    """P(x) ∝ e^{−(x−k)²/2σ²} and Q(x) ∝ e^{−x²/2σ²} on the integers: the same in both directions.

    The larger k, the larger every divergence: likelihood ratios are monotone in x, so that thresholds are the best
    tests, and a larger k lowers the error of each.

    Legend: g(d) = e^{−d²/2σ²}; N(c) = Σ_x g(x − c), a sum over all integers.

    Attributes:
        variance: σ² in squared steps; a Fraction from 2**-32 to 2**128. (The variance of the law is near it.)
        steps: the distance, from 0 to 2**64 steps; of a number that is not whole, the whole part counts.
        precision: bits of the results.

    Raises:
        InvalidValue: outside these ranges. InvalidType: for other types.
    """

    variance: Fraction
    steps: Enclosure
    precision: int = field(default=DEFAULT_PRECISION, kw_only=True)

    def __attrs_post_init__(self) -> None:
        admissible_variance(self.variance)
        lattice_steps(self.steps)
        checked_precision(self.precision)

    @property
    def delta(self) -> DeltaLaw:
        """δ(ε) = P(X ≥ x) − e^ε·Q(X ≥ x) for x = ⌈εσ²/k + k/2⌉ (Canonne, Kamath, Steinke 2020, Theorem 7).

        Summed term by term, with a proven tail, where σ is at most some hundred. Beyond, the sum is compared with its
        integral, and the enclosure has a relative width of about 1/σ (more in the far tail).
        """
        return self._delta

    @property
    def symmetric(self) -> bool:
        """Whether an involution swaps both laws: x → steps − x does."""
        return True

    @property
    def renyi(self) -> RenyiLaw:
        """τ(α) = αk²/2σ² + log(N(αk)/N(0))/(α − 1), at most αk²/2σ².

        Completing the square gives it; N(c) ≤ N(0), with equality where c is whole (Canonne, Kamath, Steinke 2020,
        Proposition 5).
        """
        return self._renyi

    @property
    def zero_concentrated(self) -> Enclosure:
        """ρ of the discrete Gaussian: ρ = k²/2σ²."""
        return over_steps(self.steps, self._normal)

    @property
    def loss_cells(self) -> LossCells | None:
        """An atom for each point that matters; None where they are too many."""
        return self._cells if few_points(self.variance, lattice_steps(self.steps)[1]) else None

    def _cells(self, direction: Direction) -> Cells:
        total = _sum_of_all(self.variance, self.precision)
        return discrete_gaussian_cells(self.variance, total, *lattice_steps(self.steps), direction)

    def _normal(self, steps: int) -> Enclosure:
        return Enclosure.of(Fraction(steps * steps) / (2 * self.variance), precision=self.precision)

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        level = non_negative("epsilon", epsilon).at(max(self.precision, epsilon.precision))
        return over_steps(self.steps, lambda steps: self._delta_after(steps, level)).maximum(0).minimum(1)

    def _delta_after(self, steps: int, level: Enclosure) -> Enclosure:
        if not steps:
            return Enclosure.of(0, precision=level.precision)
        if 2 * self.variance * level.precision > _SUMMED**2:
            return writable(_near_integral(self.variance, steps, level).maximum(0))
        return decreasing(lambda epsilon: _summed(self.variance, steps, epsilon), level)

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        alpha = order_above_one(order)
        return over_steps(
            self.steps,
            lambda steps: self._normal(steps) * alpha + self._correction(alpha * steps) / (alpha - 1),
        ).maximum(0)

    def _correction(self, centre: Fraction) -> Enclosure:
        """log(N(c)/N(0)); for wide laws N(c) = σ√(2π)·(1 + 2·Σ_n e^{−2π²σ²n²}·cos 2πnc), and 2π² > 19."""
        if centre.denominator == 1:
            return Enclosure.of(0, precision=self.precision)
        if self.variance >= WIDE_VARIANCE:
            return (Enclosure.of(-19 * self.variance, precision=self.precision).exp() * -9).hull(0)

        def ratio(at: Enclosure) -> Enclosure:
            around = _sum_from(self.variance, centre % 1, at.precision)
            return (around + _sum_from(self.variance, 1 - centre % 1, at.precision)) / _sum_of_all(
                self.variance, at.precision
            )

        return sharp(lambda at: ratio(at).log(), centre, self.precision)


def admissible_variance(value: Fraction) -> Fraction:
    """`value` if it is a variance that a discrete Gaussian may have: from 2**-32 to 2**128.

    Raises:
        InvalidType: for anything but a Fraction. InvalidValue: outside that range.
    """
    match value:
        case Fraction():
            if LEAST_VARIANCE <= value <= GREATEST_VARIANCE:
                return value
            raise InvalidValue("variance", value, "a Fraction from 2**-32 to 2**128, in squared steps")
    raise InvalidType("variance", value, "a Fraction from 2**-32 to 2**128", "Write exact(value) to read a float.")


def _threshold(variance: Fraction, steps: int, level: Enclosure) -> Enclosure:
    """Enclose where P(x) = e^ε·Q(x), as a distance from k."""
    return level * (variance / steps) - Fraction(steps, 2)


def _summed(variance: Fraction, steps: int, level: Enclosure) -> Enclosure:
    """Enclose δ at a single ε, by summing terms."""
    first = ceil(_threshold(variance, steps, level).lower)  # before it every weight is 0
    peak = max(first, 0)
    term = _bell(variance, peak, level.precision)
    if term.greater(_NEXT_TO_NOTHING) is not Truth.TRUE:
        return _NEXT_TO_NOTHING.hull(0).at(level.precision)  # δ ≤ Σ_{d ≥ peak} g(d) < 2**200·g(peak)

    def weight(distance: int) -> Enclosure:
        return -(level - Fraction(steps * (2 * distance + steps)) / (2 * variance)).minimum(0).expm1()

    total = with_falling_terms(
        term * weight(peak),
        term,
        ((ratio, weight(peak + n)) for n, ratio in enumerate(_ratios(variance, peak, level.precision), 1)),
    )
    total = with_falling_terms(
        total,
        term,
        (
            (ratio, weight(-n))
            for n, ratio in zip(range(1, 1 - first), _ratios(variance, 0, level.precision), strict=False)
        ),
    )
    return total / _sum_of_all(variance, level.precision)


def _near_integral(variance: Fraction, steps: int, level: Enclosure) -> Enclosure:
    """δ from that of two normal laws.

    The sum of a unimodal function over the integers differs from its integral by at most its maximum. Here it is
    h(d) = [g(d) − e^ε·g(d + k)]₊, unimodal as a product of log-concave functions; it is at most (k/σ)·e^{−1/2}, for
    |g'| ≤ e^{−1/2}/σ and ε ≥ 0, and at most g(t)·min(1, (k/σ)·e^{−1/2}) where it starts at t ≥ 0, for there
    1 − e^{−kd/σ²} ≤ kd/σ² and g(t + d) ≤ g(t)·g(d).
    """
    bits = level.precision
    shift = Enclosure.of(Fraction(steps * steps) / variance, precision=bits).sqrt()
    most = (shift * Enclosure.of(Fraction(-1, 2), precision=bits).exp()).minimum(1)
    start = _threshold(variance, steps, level).maximum(0)
    most = most * (start.square() * (-1 / (2 * variance))).exp() / _sum_of_all(variance, bits)
    whole = _sum_of_all(variance, bits) / _gaussian_integral(variance, bits)
    return GaussianPair(shift).delta(level, Direction.REMOVE) / whole + most.hull(-most)


def _bell(variance: Fraction, distance: Fraction | int, bits: int) -> Enclosure:
    """Enclose the unnormalised density g(d) at a distance d from the centre."""
    return Enclosure.of(-Fraction(distance * distance) / (2 * variance), precision=bits).exp()


def _ratios(variance: Fraction, distance: Fraction | int, bits: int) -> Iterator[Enclosure]:
    """g(d + 1)/g(d), g(d + 2)/g(d + 1), …: each is the one before times e^{−1/σ²}."""
    ratio = Enclosure.of(-Fraction(2 * distance + 1) / (2 * variance), precision=bits).exp()
    step = Enclosure.of(-1 / variance, precision=bits).exp()
    while True:
        yield ratio
        ratio = ratio * step


def _sum_from(variance: Fraction, distance: Fraction | int, bits: int) -> Enclosure:
    """g(d) + g(d + 1) + …, for 0 ≤ d ≤ 1."""
    first, one = _bell(variance, distance, bits), Enclosure.of(1, precision=bits)
    return with_falling_terms(first, first, ((ratio, one) for ratio in _ratios(variance, distance, bits)))


def _sum_of_all(variance: Fraction, bits: int) -> Enclosure:
    """N(0); for wide laws by Poisson's formula, σ√(2π)·(1 + 2·Σ_n e^{−2π²σ²n²}), and 2π² > 19."""
    if variance < WIDE_VARIANCE:
        return _sum_from(variance, 0, bits) + _sum_from(variance, 1, bits)
    excess = Enclosure.of(-19 * variance, precision=bits).exp() * 4
    return _gaussian_integral(variance, bits) * (excess.hull(0) + 1)


def _gaussian_integral(variance: Fraction, bits: int) -> Enclosure:
    """Enclose the Gaussian integral σ√(2π)."""
    return (pi(bits) * (2 * variance)).sqrt()
