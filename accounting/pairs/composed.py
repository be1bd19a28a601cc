"""Independent releases of several pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from operator import add
from typing import final

from attrs import frozen

from ..enclosures import Enclosure
from ..errors import InvalidType, InvalidValue
from ..relations import Direction
from .gaussian import GaussianPair
from .laws import PureLaw, RenyiEstimate, RenyiLaw
from .pair import IndependentReleases, Pair, checked_pair


@final
@frozen
class Composed(IndependentReleases):
    """(P₁, …, Pₙ) and (Q₁, …, Qₙ): pure and Rényi losses add; δ(ε) follows from the distribution of the losses' sum.

    It bounds releases of mechanisms that each pair dominates, also where a later one is chosen by earlier outputs
    among mechanisms that its pair, fixed beforehand, dominates.

    Attributes:
        parts: the pairs; at least one.

    Raises:
        InvalidValue: for no parts. InvalidType: for anything but a tuple of pairs.
    """

    parts: tuple[Pair, ...]

    def __attrs_post_init__(self) -> None:
        match self.parts:
            case tuple():
                for part in self.parts:
                    checked_pair("parts", part)
            case _:
                raise InvalidType("parts", self.parts, "a tuple of pairs")
        if not self.parts:
            raise InvalidValue("parts", self.parts, "at least one pair")

    def replaced(self, by: Callable[[Pair], Pair]) -> Pair:
        """Return the composition of the parts' replacements."""
        return compose_pairs(part.replaced(by) for part in self.parts)

    @property
    def pure(self) -> PureLaw | None:
        """Pure ε of the composition: the sum of the parts' ε; None where a part has none."""
        laws = [part.pure for part in self.parts]
        known = [law for law in laws if law is not None]
        if len(known) < len(laws):
            return None

        def total(direction: Direction) -> Enclosure:
            return _sum(law(direction) for law in known)

        return total

    @property
    def symmetric(self) -> bool:
        """Whether the composition is symmetric: where each part is."""
        return all(part.symmetric for part in self.parts)

    @property
    def renyi(self) -> RenyiLaw | None:
        """τ(α) of the composition: the sum of the parts' τ(α); None where a part has none."""
        laws = [part.renyi for part in self.parts]
        known = [law for law in laws if law is not None]
        if len(known) < len(laws):
            return None

        def total(order: Fraction, direction: Direction) -> Enclosure:
            return _sum(law(order, direction) for law in known)

        return total

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """The sum of the parts', or of their own laws where these are quick."""
        if self.renyi is None:
            return None
        estimates = [part.renyi_estimate or _from_law(part) for part in self.parts]
        return lambda order, direction: sum(estimate(order, direction) for estimate in estimates)

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """ρ of the composition: the sum of the parts' ρ; None where a part has none."""
        costs = [part.zero_concentrated for part in self.parts]
        known = [rho for rho in costs if rho is not None]
        return _sum(known) if len(known) == len(costs) else None

    @property
    def gaussian(self) -> Enclosure | None:
        """√Σ μ² (Dong, Roth, Su 2022, Corollary 3.3)."""
        costs = [part.gaussian for part in self.parts]
        known = [mu for mu in costs if mu is not None]
        return _sum(mu.square() for mu in known).sqrt() if len(known) == len(costs) else None

    @property
    def factors(self) -> tuple[Pair, ...]:
        """The independent releases of the composition: those of its parts."""
        return tuple(factor for part in self.parts for factor in part.factors)

    @property
    def releases(self) -> tuple[tuple[Pair, int], ...]:
        """The independent releases of all parts, equal ones together with their number."""
        counts = Counter[Pair]()
        for part in self.parts:
            for one, times in part.releases:
                counts[one] += times
        return tuple(counts.items())

    def repeated(self, times: int) -> Pair:
        """Return the composition with each part repeated so often."""
        return Composed(tuple(part.repeated(times) for part in self.parts))


def _from_law(part: Pair) -> RenyiEstimate:
    def estimate(order: float, direction: Direction) -> float:
        law = part.renyi
        assert law is not None
        return law(Fraction(order), direction).upper_float

    return estimate


def compose_pairs(parts: Iterable[Pair]) -> Pair:
    """The pair of independent releases, in the fewest parts known.

    Normal pairs become one, with the root of the summed squares of their shifts; equal pairs become a repetition.

    Raises:
        InvalidValue: for no parts. InvalidType: for anything but pairs.
    """
    factors = Composed(tuple(parts)).factors
    shifts = [shift for part in factors if (shift := part.normal_shift) is not None]
    repeats = Counter(part for part in factors if part.normal_shift is None)
    composed = [part.repeated(times) for part, times in repeats.items()]
    if shifts:
        shift = shifts[0] if len(shifts) == 1 else _sum(shift.square() for shift in shifts).sqrt()
        composed.append(GaussianPair(shift))
    return composed[0] if len(composed) == 1 else Composed(tuple(composed))


def _sum(values: Iterable[Enclosure]) -> Enclosure:
    return reduce(add, values)
