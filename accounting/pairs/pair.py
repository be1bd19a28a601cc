"""What a dominating pair is, and how pairs are sampled and composed.

Legend: P is the law of an output with the record, Q without it; both directions are kept apart. A pair dominates
a mechanism where for every γ ≥ 0 the mechanism's hockey-stick divergences, of its outputs with and without any
record of the domain, are at most those of the pair (Zhu, Dong, Wang 2022, Definition 7). Every divergence that
obeys the data-processing inequality is then bounded by the pair's.

A law that does not follow from a pair is None, and typed so: asking a Gaussian pair for a pure ε is a type error.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from ..directions import Direction
from ..enclosures import Enclosure
from ..enclosures.arguments import probability, whole
from ..errors import InvalidType

if TYPE_CHECKING:
    from ..loss_distribution.cells import Cells
    from ..loss_distribution.transforms import Transform

PureLaw: TypeAlias = Callable[[Direction], Enclosure]
"""The smallest ε with P ≤ e^ε Q (REMOVE) or Q ≤ e^ε P (ADD)."""

DeltaLaw: TypeAlias = Callable[[Enclosure, Direction], Enclosure]
"""The hockey-stick divergence δ(ε) = sup_Y P(Y) − e^ε Q(Y) for ε ≥ 0, or with P and Q swapped.

Raises InvalidValue for an ε that reaches below 0.
"""

RenyiLaw: TypeAlias = Callable[[Fraction, Direction], Enclosure]
"""The Rényi divergence τ(α) of order α > 1 of P from Q, or of Q from P; InvalidValue for α ≤ 1."""

RenyiEstimate: TypeAlias = Callable[[float, Direction], float]
"""About τ(α), quickly: it tells a search where to look and proves nothing."""

LossTransform: TypeAlias = "Callable[[Direction], Transform]"
"""The moments of the privacy loss on vertical lines, with proven errors."""

LossCells: TypeAlias = "Callable[[Direction], Cells]"
"""Laws of the privacy loss, above and below, that can be cut at the points of a lattice."""


class Pair:
    """A dominating pair; this base class knows no law.

    Parameters of a pair are enclosures. A law encloses its value for every parameter within them: its upper end
    bounds the worst of these, its lower end the best. No law is ever negative or NaN; where a value is beyond what
    an enclosure can hold, a law raises OutsideDomain.
    """

    @property
    def pure(self) -> PureLaw | None:
        """The pure loss, where it is finite."""
        return None

    @property
    def delta(self) -> DeltaLaw | None:
        """The hockey-stick divergence."""
        return None

    @property
    def renyi(self) -> RenyiLaw | None:
        """The Rényi divergence at real orders."""
        return None

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """A quick estimate of the Rényi divergence, for pairs whose own law is slow."""
        return None

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """The smallest known ρ with τ(α) ≤ ρα for all α > 1 in both directions."""
        return None

    @property
    def gaussian(self) -> Enclosure | None:
        """The smallest known μ such that the pair is no easier to tell apart than N(0, 1) and N(μ, 1)."""
        return None

    @property
    def normal_shift(self) -> Enclosure | None:
        """The shift, where the pair is exactly N(shift, 1) and N(0, 1): such pairs compose to one."""
        return None

    @property
    def loss_transform(self) -> LossTransform | None:
        """The moments of the privacy loss, from which δ(ε) of many releases follows."""
        return None

    @property
    def loss_cells(self) -> LossCells | None:
        """The privacy loss cut in cells, from which δ(ε) of many releases follows."""
        return None

    @property
    def symmetric(self) -> bool:
        """Whether an involution of the outputs is known that swaps P and Q.

        After sampling such a pair, REMOVE dominates ADD for δ(ε), ε ≥ 0, and at every Rényi order
        (`docs/soundness_amplification_rows.md`, section "Directions").
        """
        return False

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Where the larger δ(ε), ε ≥ 0, is to be looked for: one direction, where the other is never above it."""
        return (Direction.REMOVE,) if self.symmetric else tuple(Direction)

    @property
    def factors(self) -> tuple[Pair, ...]:
        """The independent releases that the pair is composed of."""
        return (self,)

    @property
    def releases(self) -> tuple[tuple[Pair, int], ...]:
        """The independent releases that the pair is composed of, equal ones together with their number."""
        return ((self, 1),)

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """Enclosure of inf{ε ≥ 0 : δ(ε) ≤ δ}; None for a pair without a law δ(ε).

        Raises:
            InvalidValue: where the law is not proven to fall to δ.
        """
        from .smallest_epsilon import smallest_epsilon

        law = self.delta
        return None if law is None else smallest_epsilon(lambda epsilon: law(epsilon, direction), delta)

    def sampled(self, rate: Enclosure) -> Pair:
        """The pair of a mechanism that sees the record with probability `rate`: ((1 − q)Q + qP, Q).

        Args:
            rate: enclosure of q in [0, 1].
        """
        from .sampled import Sampled

        return self if always(rate) else Sampled(self, rate)

    def repeated(self, times: int) -> Pair:
        """The pair of `times` independent releases: (P, …, P) and (Q, …, Q).

        Args:
            times: at least 1.
        """
        from .repeated import Repeated

        return self if whole("times", times, 1) == 1 else Repeated(self, times)


def always(rate: Enclosure) -> bool:
    """Whether a rate is exactly 1: every record is seen, and a pair remains what it is.

    Raises:
        InvalidValue: outside [0, 1]. InvalidType: for anything but an enclosure.
    """
    return probability("rate", rate).lower == 1


def checked_pair(parameter: str, value: Pair) -> Pair:
    """`value` if it is a pair.

    Raises:
        InvalidType: for anything else.
    """
    match value:
        case Pair():
            return value
    raise InvalidType(parameter, value, "a dominating pair, such as LaplacePair(Enclosure.of(1))")
