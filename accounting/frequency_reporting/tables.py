"""The sanitiser of keys and frequencies, row by row, for any non-decreasing q (PWS Algorithms 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, tee
from typing import final

from attrs import field, frozen

from ..arguments import whole
from ..enclosures import Enclosure
from ..errors import CertdpError
from ..units import Delta, Epsilon
from .budget import DyadicBudget
from .inclusion import EveryKey, Inclusion
from .keys import kept_units, optima
from .reporting import Reporting
from .rows import Excess, FrequencyRow, excess, following, nothing_reported, picked


@final
@frozen(kw_only=True)
class ProvenRow:
    """A row, what separates it from the one before, and what rounding costs."""

    row: FrequencyRow
    excess: Excess
    """Both at most δ, exactly."""
    loss: Enclosure
    """The exact optimum π_i less the probability with which a key of this frequency is reported."""


@final
@frozen(kw_only=True)
class FrequencyTable(Reporting):
    """The end-to-end probabilities π_ij of a frequency sanitiser, as they are drawn.

    Args:
        epsilon: ε ≥ 0.
        delta: δ > 0.
        inclusion: the sampler's q_i.
        subdivision: r; each frequency brings 2^r tokens. 0 is PWS Algorithm 4, the largest admissible separation with
            i tokens up to frequency i; more is Algorithm 5 with breakpoints at multiples of 2^−r.

    Raises:
        InvalidValue, InvalidType: as `DyadicBudget`.
    """

    epsilon: Epsilon
    delta: Delta
    inclusion: Inclusion = field(factory=EveryKey)
    subdivision: int = field(default=0)
    budget: DyadicBudget = field(init=False)

    def __attrs_post_init__(self) -> None:
        budget = DyadicBudget(epsilon=self.epsilon, delta=self.delta, subdivision=self.subdivision)
        object.__setattr__(self, "budget", budget)

    @property
    def with_frequencies(self) -> bool:
        """Yes."""
        return True

    def at(self, frequencies: Iterable[int]) -> Iterator[FrequencyRow]:
        """The rows of these frequencies."""
        return picked(self.rows(), frequencies)

    def rows(self) -> Iterator[FrequencyRow]:
        """Rows 1, 2, …, one at a time, without end unless the rates end; only the last one is held."""
        return (proven.row for proven in self.proven_rows())

    def stored(self, last: int) -> tuple[FrequencyRow, ...]:
        """Rows 1 to `last`, or to where the rates end; each holds the tokens of positive probability alone."""
        return tuple(islice(self.rows(), whole("last", last, 1)))

    def proven_rows(self) -> Iterator[ProvenRow]:
        """The rows with their proofs.

        Guarantees:
            Every row's divergences from the one before are computed from the two rows and at most δ: `excess` knows
            nothing of how they came about.

        Raises:
            CertdpError: where they are not, which would be an error of this library.
        """
        budget, before = self.budget, nothing_reported(self.budget)
        kept, rates = tee(kept_units(budget, self.inclusion))
        best = optima(self.epsilon, self.delta, (rate for _, rate in rates))
        for (units, _), optimum in zip(kept, best, strict=False):
            row = following(budget, before, units)
            found = excess(budget, before, row)
            if max(found) > self.delta.value or row.unreported + sum(run.mass for run in row.runs) != budget.certain:
                raise CertdpError(f"row {row.frequency} does not satisfy (ε, δ)-DP: {found}")
            yield ProvenRow(row=row, excess=found, loss=optimum - row.probability)
            before = row
