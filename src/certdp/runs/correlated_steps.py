"""Steps with correlated noise, drawn one after the other.

What a step's records add is put on a public grid toward zero, record by record, and summed in integers. A row of C,
whose entries are whole multiples of 2^-22, times these sums is a whole number of units of a finer grid, to which noise
is correctly rounded: so a row of C·x + z is the real-valued one, rounded, and what is made of it is post-processing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol, final

import numpy as np
from attrs import Factory, define
from numpy.typing import ArrayLike, NDArray

from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats, python_int
from ..accounting.filters.spending import SpendingState, owned
from ..accounting.norms import Norm
from ..accounting.sampling.clipping import Outside, hold
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.strategies import FINEST, CyclicPoisson, Participation, Schema, Strategy, TreeStrategy
from ..mechanisms.gaussian_sum import GaussianSum
from ..mechanisms.lattice import lattice_sum, noise_unit
from ..plugins.contract import Coins, WeightedSample
from .contributions import names_of
from .prepared import matrix_within

_WHOLE = 1 << 62


class _Estimate(Protocol):
    def next(self, rows: Sequence[Floats], released: Sequence[Floats]) -> Floats:
        """The noisy sum of a step, from what is released after it."""
        ...


@final
@define(eq=False)
class _Solved:
    """The row of the step gives its sum, those of the steps before being known."""

    known: deque[Floats]

    def next(self, rows: Sequence[Floats], released: Sequence[Floats]) -> Floats:
        (row,), (noisy,) = rows, released
        past = sum((c * x for c, x in zip(row[-2::-1], self.known, strict=False)), np.zeros_like(noisy))
        found = np.asarray((noisy - past) / row[-1])
        self.known.appendleft(found)
        return found


@final
@define(eq=False)
class _Summed:
    """Whole stretches that follow one another give the sum over all steps; the longest of those that end are taken."""

    stretches: list[tuple[int, Floats]] = Factory(list)

    def next(self, rows: Sequence[Floats], released: Sequence[Floats]) -> Floats:
        before = sum((noisy for _, noisy in self.stretches), np.zeros_like(released[-1]))
        length = len(rows[-1])
        while self.stretches and self.stretches[-1][0] < length:
            self.stretches.pop()
        self.stretches.append((length, released[-1]))
        return np.asarray(sum((noisy for _, noisy in self.stretches), -before))


@final
class CorrelatedSteps(SpendingState):
    """Steps that are released one after the other; what `CorrelatedRun.begin` gives. Private, but for what it releases.

    Guarantees:
        No step is released twice: a copy, and a process forked from this one, would add the same noise to other sums.

    Raises:
        InvalidValue: as `CorrelatedRun.begin`; nothing is drawn.
    """

    def __init__(
        self,
        mechanism: GaussianSum,
        strategy: Strategy,
        participation: Schema,
        domain: NormBall | None,
        columns: int,
        outside: Outside,
        coins: Coins,
    ) -> None:
        if domain is None or domain.norm not in (Norm.L1, Norm.L2):
            remedy = "Declare how long a record is at most: NormBall(norm=Norm.L2, radius=Public(…))"
            raise InvalidValue("domain", domain, "a ball of the ℓ1 or ℓ2 norm", remedy)
        if (bits := strategy.fraction_bits) is None:
            admissible = f"entries that are multiples of 2^-{FINEST}"
            raise InvalidValue("strategy", strategy, admissible, "Account for, and release with, strategy.rounded()")
        scale = mechanism.scaled(domain.radius.value, 1).scale.value
        assert scale is not None  # a noise multiplier was made one
        self._strategy, self._participation, self._domain = strategy, participation, domain
        self._columns = whole("columns", python_int(columns), 1)
        self._outside, self._coins, self._scale = outside, coins, scale
        self._unit, self._bits = noise_unit(scale, FINEST), bits
        self._sums: deque[NDArray[Any]] = deque(maxlen=strategy.bands)
        in_tree = isinstance(strategy, TreeStrategy)
        self._estimate: _Estimate = _Summed() if in_tree else _Solved(deque(maxlen=strategy.bands))
        self._turns: dict[str, tuple[int, int]] = {}
        self._released = 0

    @property
    def step(self) -> int:
        """How many steps were released."""
        with self._own():
            return self._released

    @owned
    def add(self, records: ArrayLike, members: ArrayLike) -> Floats:
        """Release the noisy sum of the next step.

        Args:
            records: matrix (m, d) of what the members add, such as their gradients; m may be 0.
            members: who they are: m different whole numbers or texts, the same for the same record in every step; a
                number is the same as its text.

        Returns:
            The d entries of the step's row of x + C⁻¹·z.

        Raises:
            InvalidType: for members of another kind, which might not be known again; nothing is released.
            InvalidValue: after the last step, for records of another shape, and for a member that has taken part too
                often, too lately, or in the turns of another group; nothing is released.
            InterruptedChange: after an interruption while a step that had been drawn was written down: then no step
                follows. One that fails before may be repeated.
        """
        if self._released == self._strategy.steps:
            raise InvalidValue(
                "step", self._released, f"the {self._strategy.steps} steps of the run", "Begin another run"
            )
        matrix = matrix_within(records, self._domain)
        if matrix.shape[1] != self._columns:
            raise InvalidValue("records", f"{matrix.shape[1]} columns", f"{self._columns} columns, as in every step")
        names = names_of("members", members)
        if len(names) != len(matrix) or len(set(names)) != len(names):
            raise InvalidValue("members", f"{len(set(names))} names", f"{len(matrix)} different ones, one a record")
        turns = {name: self._turn(name) for name in names}
        held = hold(matrix, self._domain, self._outside).features.records
        sample = WeightedSample(held, np.ones(len(held)))
        sample.require_summable()
        return self._release(lattice_sum(sample, self._unit), turns)

    def _turn(self, name: str) -> tuple[int, int]:
        """How often it will have taken part, and when last.

        Raises:
            InvalidValue: where it may not now.
        """
        count, last = self._turns.get(name, (0, None))
        match self._participation:
            case Participation(times=times, apart=apart):
                if count == times or (last is not None and self._released - last < apart):
                    admissible = f"at most {times} times, at least {apart} steps apart"
                    raise InvalidValue("members", name, admissible, "Draw the batches by run.schedule(count)")
            case CyclicPoisson(groups=groups):
                if last is not None and (self._released - last) % groups:
                    raise InvalidValue("members", name, "the turns of one group", "Draw them by run.schedule(count)")
        return count + 1, self._released

    def _release(self, totals: Sequence[int], turns: Mapping[str, tuple[int, int]]) -> Floats:
        large = max(map(abs, totals), default=0) >= _WHOLE
        last = np.array(totals, dtype=object if large else np.int64)
        sums = self._sums.copy()
        sums.appendleft(last)
        fine = self._unit / (1 << self._bits)
        rows = self._strategy.ending(self._released)
        released = [self._noisy(row, fine, sums) for row in rows]
        with self._changing():
            self._sums, self._released = sums, self._released + 1
            self._turns.update(turns)
            return self._estimate.next(rows, released)

    def _noisy(self, row: Floats, fine: Fraction, sums: Iterable[NDArray[Any]]) -> Floats:
        """A row of C·x + z."""
        entries = [int(entry) for entry in np.ldexp(row[::-1], self._bits).tolist()]
        met = [(entry, x) for entry, x in zip(entries, sums, strict=False) if entry]
        noise = self._coins.gaussian_cells(self._scale / fine, self._columns)
        largest = sum(abs(entry) * max(1, int(np.max(np.abs(x)))) for entry, x in met)
        if largest >= _WHOLE or np.max(np.abs(noise)) >= _WHOLE:
            met, noise = [(entry, x.astype(object)) for entry, x in met], noise.astype(object)
        cells = sum((entry * x for entry, x in met), noise)
        return np.asarray(cells.astype(np.float64) * float(fine))
