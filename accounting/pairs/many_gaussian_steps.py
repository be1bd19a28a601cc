"""The pair of very many different sampled Gaussian steps."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import final

from attrs import field, frozen

from ..enclosures import Enclosure
from ..exact import Floats
from ..loss_distribution.interpolated_steps import InterpolatedTransform
from ..loss_distribution.inversion import delta_by_transforms, epsilon_by_transforms, is_enough
from ..loss_distribution.profile import KeptContours, Nearness
from ..loss_distribution.step_boxes import InterpolatedSteps
from ..relations import Direction
from .laws import DeltaLaw, RenyiEstimate, RenyiLaw
from .pair import Pair


@final
@frozen(eq=False)
class ManyGaussianSteps(Pair):
    """Very many different sampled Gaussian steps: δ(ε) by their interpolated moments, all else by few groups of steps.

    Where the moments do not tell δ(ε), the groups do, too.

    Attributes:
        transforms: of the loss of all steps, in each direction.
        grouped: a pair that dominates the steps, or one that they dominate; made where it is asked for.
    """

    transforms: dict[Direction, InterpolatedTransform] = field(repr=False)
    _answers: dict[tuple[Direction, Enclosure], Enclosure | None] = field(alias="answers", repr=False)
    _make: Callable[[], Pair] = field(alias="grouped", repr=False)

    @classmethod
    def between(
        cls,
        rates: Floats,
        shifts: Floats,
        *,
        nodes: int,
        above: Callable[[], Pair],
        below: Callable[[], Pair],
        low_shifts: Floats | None = None,
    ) -> tuple[ManyGaussianSteps, ManyGaussianSteps] | None:
        """The steps with either pair, above first; None where so many nodes do not tell their moments.

        Args:
            rates: of each step, in (0, 1).
            shifts: of each step, at least the true one and within 4u of it, relatively.
            nodes: how many there may be.
            above, below: make a pair that dominates the steps, and one that they dominate.
            low_shifts: at most the true one, as near; by default `shifts` are the true ones.
        """
        steps = InterpolatedSteps.of(rates, shifts, nodes=nodes, low_shifts=low_shifts)
        if steps is None:
            return None
        transforms = {direction: InterpolatedTransform(steps, direction) for direction in Direction}
        answers: dict[tuple[Direction, Enclosure], Enclosure | None] = {}  # of both, which are one where moments tell
        return cls(transforms, answers, above), cls(transforms, answers, below)

    @cached_property
    def grouped(self) -> Pair:
        """The pair of groups."""
        return self._make()

    @property
    def settled_within(self) -> Fraction:
        """How near an upper end is to be: as near as the moments are for."""
        return Fraction(1, 2**10)

    @property
    def delta(self) -> DeltaLaw:
        """δ(ε) of the steps as they are, or of their groups where the moments do not tell it."""
        return self._delta

    @property
    def renyi(self) -> RenyiLaw | None:
        """Rényi divergences of the groups."""
        return self.grouped.renyi

    @property
    def renyi_estimate(self) -> RenyiEstimate | None:
        """A quick estimate of the Rényi divergences of the groups."""
        return self.grouped.renyi_estimate

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """The ρ of the groups."""
        return self.grouped.zero_concentrated

    @property
    def gaussian(self) -> Enclosure | None:
        """The μ of the groups."""
        return self.grouped.gaussian

    @property
    def factors(self) -> tuple[Pair, ...]:
        """The independent releases of the groups."""
        return self.grouped.factors

    @property
    def releases(self) -> tuple[tuple[Pair, int], ...]:
        """The independent releases of the groups, equal ones together with their number."""
        return self.grouped.releases

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """Enclosure of the smallest ε at δ, of the steps as they are or of their groups."""
        asked = direction, delta
        if asked not in self._answers:
            self._answers[asked] = epsilon_by_transforms([(self.transforms[direction], 1)], delta)
        found = self._answers[asked]
        if found is not None and found.width <= self.settled_within * found.upper:
            return found
        known = (one for one in (found, self.grouped.smallest_epsilon(delta, direction)) if one is not None)
        return min(known, key=lambda one: one.width, default=None)

    def is_enough(self, epsilon: Enclosure, delta: Enclosure, direction: Direction) -> bool:
        """Whether δ(ε) ≤ δ follows from one moment of the steps: groups, which take longer to make, are not asked."""
        return is_enough([(self.transforms[direction], 1)], epsilon.lower, delta.lower)

    def profile(self, direction: Direction, nearness: Nearness) -> Callable[[Enclosure], Enclosure]:
        """δ(ε) in a direction at many ε: contours that serve several are kept."""
        contours = KeptContours([(self.transforms[direction], 1)], nearness)

        def kept(epsilon: Enclosure) -> Enclosure:
            found = contours.delta(epsilon)
            return self._by_groups(epsilon, direction) if found is None else found

        return kept

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        found = delta_by_transforms([(self.transforms[direction], 1)], epsilon)
        return self._by_groups(epsilon, direction) if found is None else found

    def _by_groups(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        law = self.grouped.delta
        assert law is not None  # of sampled Gaussian pairs
        return law(epsilon, direction)
