"""Dyadic tables for sanitised keys: with how many units a key of frequency i is kept, and reported.

The sampler must keep a key of frequency i with exactly `kept` units (q_i rounded down); a kept key is then reported
with probability reported/kept, by a uniform whole number below `kept`. End to end that is `reported` units, and the
(ε, δ) constraints of neighbouring frequencies are proven for these, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import count
from typing import final

from attrs import field, frozen

from ...enclosures import Enclosure
from ...errors import OutsideDomain
from ...units import Delta, Epsilon
from .budget import DyadicBudget
from .inclusion import HIGHEST, Corner, EveryKey, Inclusion
from .reporting import Origin, Reporting
from .rows import Comparison, FrequencyRow, Outcome, Run

_GUARD = 32
_MOST_STEPS = 5_000_000
_ONE_BY_ONE = 1 << 16


@final
@frozen(kw_only=True)
class KeyRow:
    """One frequency: units out of 2^bits, and what rounding costs."""

    frequency: int
    bits: int
    kept: int
    """q_i, rounded down."""
    reported: int
    """π_i, rounded down."""
    loss: Enclosure
    """The exact optimum π_i of PWS Algorithm 3 less the probability drawn."""

    @property
    def probability(self) -> Fraction:
        """The end-to-end probability with which the key is reported."""
        return Fraction(self.reported, 1 << self.bits)


@final
@frozen(kw_only=True)
class KeyTable(Reporting):
    """The reporting probabilities of keys under (ε, δ)-DP as they are drawn, one row per frequency.

    Args:
        epsilon: ε ≥ 0.
        delta: δ > 0.
        inclusion: the sampler's q_i.
        largest: a public largest frequency, see `Reporting`.

    Raises:
        InvalidValue: at δ = 0, and for another largest frequency.
    """

    epsilon: Epsilon
    delta: Delta
    inclusion: Inclusion = field(factory=EveryKey)
    budget: DyadicBudget = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "budget", DyadicBudget(epsilon=self.epsilon, delta=self.delta))
        self._check_largest()

    @property
    def with_frequencies(self) -> bool:
        """Whether frequencies are reported with the keys: a key is all that is reported."""
        return False

    def comparisons(self) -> Iterator[Comparison]:
        """Neighbouring frequencies one by one, and beyond 2^16 of them the corners of whole stretches.

        Raises:
            OutsideDomain: as for `at`.
        """
        walk, end = self._walk(), self.last
        most = self.inclusion.most(self.budget.bits)
        while walk.frequency < (HIGHEST if end is None else end) and not (walk.attached and walk.kept == most):
            if walk.frequency >= _ONE_BY_ONE and walk.attached:
                corners, far = self._stretch(walk, most)
                yield from map(self._outcomes, corners)
                if corners and far == end:
                    return
                if corners and far is not None:
                    walk.step_to(far)
                    continue
            before = walk.reported
            walk.step()
            yield self._outcomes(Corner(before, walk.reported))

    def _stretch(self, walk: _KeyWalk, most: int) -> tuple[tuple[Corner, ...], int | None]:
        """Corners from here to the frequency returned; none where nothing is proven."""
        end, bits = self.last, self.budget.bits
        far = end if walk.through is None else walk.through if end is None else min(walk.through, end)
        if far is not None and far <= walk.frequency:
            return (), far
        if corners := self.inclusion.corners(bits, walk.frequency, far):
            return corners, far
        # all units that follow lie between these two
        return ((Corner(walk.kept, most),), end) if walk.saturated else ((), far)

    def _outcomes(self, corner: Corner) -> Comparison:
        before, after = corner
        certain = self.budget.certain
        return Outcome(1, before, after), Outcome(1, certain - before, certain - after)

    def _walk(self) -> _KeyWalk:
        return _KeyWalk(self.budget, self.inclusion)

    def rows(self) -> Iterator[KeyRow]:
        """Frequencies 1, 2, …, without end unless the rates end.

        Guarantees:
            kept and reported do not fall, reported ≤ kept, and both outcomes of every two neighbouring frequencies
            satisfy (ε, δ), both ways: `DyadicBudget.reported` takes two of the four limits, and the other two are slack
            where reported does not fall (`accounting.keyed.key_sanitiser`).
        """
        walk, end = self._walk(), self.last
        frequencies = count(1) if end is None else range(1, end + 1)
        rates = rates_at(self.inclusion, self.budget, frequencies)
        for optimum in optima(self.epsilon, self.delta, rates):
            walk.step()
            yield KeyRow(
                frequency=walk.frequency,
                bits=self.budget.bits,
                kept=walk.kept,
                reported=walk.reported,
                loss=optimum - self.budget.probability(walk.reported),
            )


class _KeyWalk:
    """The way through the rows of keys: one by one where reporting is limited, at once where all keys are reported."""

    def __init__(self, budget: DyadicBudget, inclusion: Inclusion) -> None:
        self._budget, self._inclusion = budget, inclusion
        self._most = inclusion.most(budget.bits)
        self._steps = 0
        self.frequency = self.kept = self.reported = 0
        self.through: int | None = 0
        """The last frequency through which all that is kept is reported; None where it is for ever."""

    @property
    def attached(self) -> bool:
        """Whether all that is kept at this frequency is reported."""
        return self.through is None or self.through >= self.frequency > 0

    @property
    def saturated(self) -> bool:
        """Whether what is not kept is at most Δ, or kept never grows: either way all is reported for ever.

        From at least 2^K − Δ units, G ≥ 1 and Δ more reach 2^K, and nothing need be withheld.
        """
        return self.attached and (self._budget.certain - self.kept <= self._budget.allowance or self.kept == self._most)

    def to(self, frequency: int) -> FrequencyRow:
        """Return the row of this frequency."""
        self.step_to(frequency)
        bits, certain = self._budget.bits, self._budget.certain
        return FrequencyRow(
            frequency=frequency,
            bits=bits,
            subdivision=0,
            kept=self.kept,
            unreported=certain - self.reported,
            runs=(Run(0, 1, self.reported),) if self.reported else (),
        )

    def origin(self, frequency: int) -> Origin:
        """Return where the row comes from: the frequency itself, because a key has one token."""
        return Origin(frequency, 0)

    def step_to(self, frequency: int) -> None:
        """Go on to the row of this frequency."""
        while self.frequency < frequency:
            if self.through is None or self.through >= frequency:
                self._jump(frequency)
            elif self.through > self.frequency:
                self._jump(self.through)
            else:
                self.step()

    def step(self) -> None:
        """Go on to the row of the next frequency.

        Raises:
            OutsideDomain: after too many steps.
        """
        following = self.frequency + 1
        if self.attached and (self.through is None or self.through >= following):
            self._jump(following)
            return
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise OutsideDomain(
                f"the rows of frequencies beyond {self.frequency} follow one from the other, and nothing shorter is "
                "proven for these rates; state a smaller public largest frequency, or use a larger threshold."
            )
        self.kept = self._inclusion.units(following, self._budget.bits)
        self.reported = self._budget.reported(self.reported, self.kept)
        self.frequency = following
        if self.reported == self.kept:
            self.through = following
            self.through = self._proven()

    def _jump(self, frequency: int) -> None:
        self.frequency = frequency
        self.kept = self.reported = self._inclusion.units(frequency, self._budget.bits)

    def _proven(self) -> int | None:
        if self.saturated:
            return None
        last = self._inclusion.last
        if last is not None and self.frequency >= last:
            return self.frequency
        return self._inclusion.attached(self._budget, self.frequency)


def rates_at(inclusion: Inclusion, budget: DyadicBudget, frequencies: Iterable[int]) -> Iterator[Enclosure]:
    """Enclose the sampling probability q_i of each frequency, more finely than the units."""
    return (inclusion.rate(i, precision=budget.bits + _GUARD) for i in frequencies)


def optima(epsilon: Epsilon, delta: Delta, rates: Iterator[Enclosure]) -> Iterator[Enclosure]:
    """π_1, π_2, … of PWS Algorithm 3 one at a time, at the precision of the rates."""
    reported = Enclosure.of(0)
    for rate in rates:
        e, d = (Enclosure.of(unit.value, precision=rate.precision) for unit in (epsilon, delta))
        reported = rate.minimum(e.exp() * reported + d).minimum(1 - (-e).exp() * (1 - reported - d))
        yield reported
