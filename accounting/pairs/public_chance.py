"""Several pairs, of which public chance decides which one a release has."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from typing import TypeAlias, TypeVar, final

from attrs import frozen

from ..enclosures import Enclosure
from ..enclosures.arguments import order_above_one, probability
from ..errors import InvalidType, InvalidValue
from ..loss_distribution.cells import Cells, LossLaw
from ..loss_distribution.combined import MixedLaw
from ..loss_distribution.mixed_transforms import MixedTransform
from ..relations import Direction
from .laws import DeltaLaw, LossCells, LossTransform, PureLaw, RenyiEstimate, RenyiLaw
from .pair import Pair, checked_pair

Chances: TypeAlias = tuple[tuple[Enclosure, Pair], ...]
_C = TypeVar("_C")
_L = TypeVar("_L")
_NARROW = Fraction(1, 2**64)
_LEAST = Fraction(1, 2**512)


@final
@frozen
class PublicChance(Pair):
    """(Σ p_m·P_m, Σ p_m·Q_m) on disjoint outputs: the outcome m has the probability p_m under both laws, and is seen.

    Its δ(ε) is Σ p_m·δ_m(ε). It dominates a mechanism that is dominated by (P_m, Q_m) where m came out, m not being
    released: to hide it is post-processing.

    Attributes:
        parts: p_m and the pair. Probabilities are at least 2^-512, known to 2^-64 relatively, and add up to 1.

    Raises:
        InvalidValue: for no parts, for probabilities that are known worse, too small, or cannot add up to 1.
        InvalidType: for anything but enclosures and pairs.
    """

    parts: Chances

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.parts, tuple) or not self.parts:
            raise InvalidType("parts", self.parts, "a tuple of at least one (probability, pair)")
        total = Enclosure.of(0)
        for chance, pair in self.parts:
            checked_pair("parts", pair)
            total = total + probability("parts", chance)
            if chance.lower < _LEAST or chance.width > chance.lower * _NARROW:
                raise InvalidValue("parts", chance, "a probability of at least 2^-512, known to 2^-64 relatively")
        if not total.contains(1):
            raise InvalidValue("parts", total, "probabilities that add up to 1")

    @property
    def pure(self) -> PureLaw | None:
        """The largest pure ε of the parts; None where one has none."""
        laws = [pair.pure for _, pair in self.parts]
        known = [law for law in laws if law is not None]
        if len(known) < len(laws):
            return None
        return lambda direction: reduce(Enclosure.maximum, (law(direction) for law in known))

    @property
    def delta(self) -> DeltaLaw | None:
        """Σ p_m·δ_m(ε); None where a part has no law."""
        known = _every((chance, pair.delta) for chance, pair in self.parts)
        if known is None:
            return None

        def mean(epsilon: Enclosure, direction: Direction) -> Enclosure:
            zero = Enclosure.of(0, precision=epsilon.precision)
            return sum((chance * law(epsilon, direction) for chance, law in known), zero).minimum(1)

        return mean

    @property
    def renyi(self) -> RenyiLaw | None:
        """log Σ p_m·e^((α − 1)τ_m(α))/(α − 1); None where a part has no law."""
        known = _every((chance, pair.renyi) for chance, pair in self.parts)
        if known is None:
            return None

        def mean(order: Fraction, direction: Direction) -> Enclosure:
            alpha = order_above_one(order)
            zero = Enclosure.of(0)
            # less 1 at once: for τ near 0 the sum would lose it
            excess = sum((chance * (law(alpha, direction) * (alpha - 1)).expm1() for chance, law in known), zero)
            return excess.log1p() / (alpha - 1)

        return mean

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """About the same in binary64; None where a part has no estimate."""
        known = _every((float(chance.midpoint), pair.renyi_estimate) for chance, pair in self.parts)
        if known is None:
            return None

        def mean(order: float, direction: Direction) -> float:
            exponents = [math.log(p) + (order - 1) * estimate(order, direction) for p, estimate in known]
            top = max(exponents)
            return max((top + math.log(sum(math.exp(x - top) for x in exponents))) / (order - 1), 0.0)

        return mean

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """The largest ρ of the parts."""
        return _greatest([pair.zero_concentrated for _, pair in self.parts])

    @property
    def gaussian(self) -> Enclosure | None:
        """The largest μ of the parts: its normal pair dominates each."""
        return _greatest([pair.gaussian for _, pair in self.parts])

    @property
    def loss_transform(self) -> LossTransform | None:
        """The moments of the privacy loss: the mixture of the parts'; None where a part has none."""
        known = _every((chance, pair.loss_transform) for chance, pair in self.parts)
        if known is None:
            return None
        return lambda direction: MixedTransform(tuple((chance, law(direction)) for chance, law in known))

    @property
    def loss_cells(self) -> LossCells | None:
        """The privacy loss in cells: the mixture of the parts'."""
        known = _every((chance, pair.loss_cells) for chance, pair in self.parts)
        if known is None:
            return None

        def mixed(direction: Direction) -> Cells:
            cells = [(float(chance.midpoint), law(direction)) for chance, law in known]
            below: list[tuple[float, LossLaw]] = [(p, one.below) for p, one in cells if one.below is not None]
            return Cells(
                MixedLaw(tuple((p, one.above) for p, one in cells)),
                MixedLaw(tuple(below)) if len(below) == len(cells) else None,
            )

        return mixed

    @property
    def symmetric(self) -> bool:
        """Whether each part is."""
        return all(pair.symmetric for _, pair in self.parts)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """REMOVE alone, where it is so for each part."""
        remove = (Direction.REMOVE,)
        return remove if all(pair.directions == remove for _, pair in self.parts) else tuple(Direction)

    def replaced(self, by: Callable[[Pair], Pair]) -> Pair:
        """Return the mixture of the parts' replacements."""
        return PublicChance(tuple((chance, pair.replaced(by)) for chance, pair in self.parts))


def _every(laws: Iterable[tuple[_C, _L | None]]) -> list[tuple[_C, _L]] | None:
    """The laws with their chances; None where a part has none."""
    asked = list(laws)
    known = [(chance, law) for chance, law in asked if law is not None]
    return known if len(known) == len(asked) else None


def _greatest(bounds: list[Enclosure | None]) -> Enclosure | None:
    known = [bound for bound in bounds if bound is not None]
    return reduce(Enclosure.maximum, known) if len(known) == len(bounds) else None
