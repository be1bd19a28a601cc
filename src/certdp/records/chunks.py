"""One pass over records, in the memory of a chunk: what each is drawn with, and what is lost about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.sampling.clipping import Held, Outside, hold
from ..accounting.sampling.records import NEGLIGIBLE, Realisation
from ..data import Records
from ..plugins.contract import as_records
from ..runs.prepared import matrix_within
from ..runs.sampled import SampledRun
from .laws import RecordLaw

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of records done."""

_SUM_MARGIN = Fraction(1, 2**45)
_DIGITS = 29
_UNIT = 38 * _DIGITS  # every binary64 number is a multiple of 2^-1074


@final
@frozen(kw_only=True, eq=False)
class Chunk:
    """A chunk of records, one after the other.

    Attributes:
        held: those within the domain, clipped ones among them.
        realisation: what each of these is drawn with.
        losses: what is lost about each of these.
        of_dropped: what is lost about one that is dropped: the cost of released parameters.
    """

    held: Held
    realisation: Realisation
    losses: Floats
    of_dropped: float

    @property
    def every_loss(self) -> Floats:
        """The losses of all records, in order."""
        if self.held.inside is None:
            return self.losses
        every = np.full(len(self.held.inside), self.of_dropped)
        every[self.held.inside] = self.losses
        return every

    @property
    def every_realisation(self) -> Realisation:
        """What all records are drawn with, in order; a dropped one never is."""
        inside = self.held.inside
        if inside is None:
            return self.realisation
        probability, weight = np.zeros(len(inside)), np.full(len(inside), math.inf)
        probability[inside], weight[inside] = self.realisation.probability, self.realisation.weight
        return Realisation(probability, weight, self.realisation.gap)


@final
class Pass:
    """A pass over the records of a run; iterate once.

    Attributes:
        records: how many were read so far, those outside the domain included.
        outside: how many of them were clipped or dropped.
        largest: the largest loss, dropped records included.
    """

    def __init__(
        self,
        run: SampledRun[Any],
        records: ArrayLike | Records,
        outside: Outside,
        law: RecordLaw,
        *,
        rows: int | None,
        progress: Progress | None,
    ) -> None:
        self._run, self._law, self._outside, self._rows, self._progress = run, law, outside, rows, progress
        self._records = records if isinstance(records, Records) else Records.of(_some(records))
        matrix_within(np.empty((0, self._records.columns)), run.domain)
        self._sum = _Total()
        self._kept = 0
        self.records = self.outside = 0
        self.largest = 0.0

    def __iter__(self) -> Iterator[Chunk]:
        nothing = float(self._law.with_cost(np.zeros(1))[0])
        rate = self._run.drawing
        for rows in self._records.chunks(self._rows):
            held = hold(rows, self._run.domain, self._outside, first=self.records)
            realisation = rate.realise(held.features)
            losses = self._law(realisation, held.features)
            self._sum.add(realisation.probability)
            self._kept += len(losses)
            self.records += len(rows)
            self.outside += held.outside
            self.largest = max(self.largest, nothing, float(losses.max(initial=0.0)))
            yield Chunk(held=held, realisation=realisation, losses=losses, of_dropped=nothing)
            if self._progress is not None:
                self._progress(self.records)

    @property
    def expected_sample_size(self) -> tuple[float, float]:
        """Lower and upper end of Σ q(x) over the records so far."""
        total = Fraction(float(self._sum.value))
        margin = 1 + self._run.drawing.rounding + _SUM_MARGIN
        # a record with a probability below the negligible one is never drawn, but counts with its q in the sum
        lower, upper = total / margin, total * margin + self._kept * Fraction(NEGLIGIBLE)
        return float(np.nextafter(float(lower), 0.0)), float(np.nextafter(float(upper), math.inf))


def _some(records: ArrayLike) -> Floats:
    matrix = as_records(records)
    if not matrix.size:  # a release on no records is an output like any other, figures of none are not
        raise InvalidValue(
            "records", f"a matrix of shape {matrix.shape}", "at least one record and one column", "Give some records"
        )
    return matrix


class _Total:
    """A sum of probabilities, exact: it does not depend on how they are cut into chunks."""

    def __init__(self) -> None:
        self._units = 0

    def add(self, probabilities: Floats) -> None:
        """Count at most 2^24 probabilities in, 29 binary digits of each at a time: such sums binary64 holds."""
        rest, scale = probabilities, 0
        while rest.size:
            scale += _DIGITS
            digits = np.rint(np.ldexp(rest, scale))
            self._units += int(digits.sum()) << (_UNIT - scale)
            rest = rest - np.ldexp(digits, -scale)
            rest = rest[rest != 0]

    @property
    def value(self) -> Fraction:
        """The sum of the values added so far."""
        return Fraction(self._units, 1 << _UNIT)
