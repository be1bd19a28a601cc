"""Dyadic tables for sanitised keys: with how many units a key of frequency i is kept, and reported.

The sampler must keep a key of frequency i with exactly `kept` units (q_i rounded down); a kept key is then reported
with probability reported/kept, by a uniform whole number below `kept`. End to end that is `reported` units, and the
(ε, δ) constraints of neighbouring frequencies are proven for these, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import count, tee
from math import floor
from typing import final

from attrs import field, frozen

from ..enclosures import Enclosure
from ..units import Delta, Epsilon
from .budget import DyadicBudget
from .inclusion import EveryKey, Inclusion
from .reporting import Reporting
from .rows import FrequencyRow, Run, picked

_GUARD = 32


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

    Raises:
        InvalidValue: at δ = 0.
    """

    epsilon: Epsilon
    delta: Delta
    inclusion: Inclusion = field(factory=EveryKey)
    budget: DyadicBudget = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "budget", DyadicBudget(epsilon=self.epsilon, delta=self.delta))

    @property
    def with_frequencies(self) -> bool:
        """No: a key is all that is reported."""
        return False

    def at(self, frequencies: Iterable[int]) -> Iterator[FrequencyRow]:
        """The rows of these frequencies, with one token."""
        return (
            FrequencyRow(
                frequency=row.frequency,
                bits=row.bits,
                subdivision=0,
                kept=row.kept,
                unreported=self.budget.certain - row.reported,
                runs=(Run(0, 1, row.reported),) if row.reported else (),
            )
            for row in picked(self.rows(), frequencies)
        )

    def rows(self) -> Iterator[KeyRow]:
        """Frequencies 1, 2, …, without end unless the rates end.

        Guarantees:
            kept and reported do not fall, reported ≤ kept, and both outcomes of every two neighbouring frequencies
            satisfy (ε, δ), both ways: `DyadicBudget.reported` takes two of the four limits, and the other two are slack
            where reported does not fall (`accounting.key_reporting`).
        """
        budget, before = self.budget, 0
        kept, rates = tee(kept_units(budget, self.inclusion))
        best = optima(self.epsilon, self.delta, (rate for _, rate in rates))
        for frequency, ((units, _), optimum) in enumerate(zip(kept, best, strict=False), start=1):
            before = budget.reported(before, units)
            loss = optimum - budget.probability(before)
            yield KeyRow(frequency=frequency, bits=budget.bits, kept=units, reported=before, loss=loss)


def kept_units(budget: DyadicBudget, inclusion: Inclusion) -> Iterator[tuple[int, Enclosure]]:
    """For i = 1, 2, …: q_i in units, rounded down and non-decreasing, and its enclosure; ends where the rates do."""
    before, precision = 0, budget.bits + _GUARD
    for frequency in count(1) if inclusion.last is None else range(1, inclusion.last + 1):
        rate = inclusion.rate(frequency, precision=precision)
        before = max(before, floor(rate.lower * budget.certain))  # q_i ≥ q_{i−1} ≥ the lower end of q_{i−1}
        yield before, rate


def optima(epsilon: Epsilon, delta: Delta, rates: Iterator[Enclosure]) -> Iterator[Enclosure]:
    """π_1, π_2, … of PWS Algorithm 3 one at a time, at the precision of the rates."""
    reported = Enclosure.of(0)
    for rate in rates:
        e, d = (Enclosure.of(unit.value, precision=rate.precision) for unit in (epsilon, delta))
        reported = rate.minimum(e.exp() * reported + d).minimum(1 - (-e).exp() * (1 - reported - d))
        yield reported
