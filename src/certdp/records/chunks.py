"""Records chunk by chunk: what each is drawn with, what is lost about it, and what is counted of them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Self, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.guarantees import require
from ..accounting.private import InvalidData
from ..accounting.sampling.clipping import Held, Outside, hold
from ..accounting.sampling.records import NEGLIGIBLE, Realisation
from ..accounting.stored import Json, is_vector
from ..data import Records
from ..runs.partial import Packed, run_digest
from ..runs.prepared import matrix_within
from ..runs.sampled import SampledRun
from .in_order import in_order
from .laws import At, RecordLaw, at_to_text

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
        tally: what is counted of all of them.
    """

    held: Held
    realisation: Realisation
    losses: Floats
    of_dropped: float
    tally: Tally

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
        return every_realisation(self.held, self.realisation)


def every_realisation(held: Held, realisation: Realisation) -> Realisation:
    """What all records are drawn with, in order, from what those within the domain are; a dropped one never is."""
    inside = held.inside
    if inside is None:
        return realisation
    probability, weight = np.zeros(len(inside)), np.full(len(inside), math.inf)
    probability[inside], weight[inside] = realisation.probability, realisation.weight
    return Realisation(probability, weight, realisation.gap)


def chunks(
    run: SampledRun[Any],
    records: Records,
    outside: Outside,
    law: RecordLaw,
    *,
    rows: int | None = None,
    first: int = 0,
    progress: Progress | None = None,
    threads: int = 1,
) -> Iterator[Chunk]:
    """Pass over records of a run, a chunk at a time, in order.

    Args:
        run: the run.
        records: some or all of a data set.
        outside: what happens to those outside the domain.
        law: what is lost about each.
        rows: records at a time.
        first: number of the first record in the data set, for messages to its curator.
        progress: called with the number of records done.
        threads: how many work on chunks, each on its own, while the next ones are read; 2 · threads + 2 chunks are in
            memory then. What is computed of a record is the same for any number.
    """
    matrix_within(np.empty((0, records.columns)), run.domain)
    nothing, done = float(law.with_cost(np.zeros(1))[0]), 0

    def chunk(some: Floats, before: int) -> Chunk:
        held = hold(some, run.domain, outside, first=first + before)
        realisation = run.drawing.realise(held.features)
        losses = law(realisation, held.features)
        tally = Tally.of(held, realisation, losses, nothing)
        return Chunk(held=held, realisation=realisation, losses=losses, of_dropped=nothing, tally=tally)

    for found in in_order(chunk, _numbered(records.chunks(rows)), threads=threads):
        yield found
        done += found.tally.records
        if progress is not None:
            progress(done)


def _numbered(some: Iterator[Floats]) -> Iterator[tuple[Floats, int]]:
    """Records with how many there are before them."""
    before = 0
    for records in some:
        yield records, before
        before += len(records)


def whole_or_part(records: ArrayLike | Records) -> Records:
    """The records of a data set, or of a part of it, which may have none."""
    return records if isinstance(records, Records) else Records.of(records, fewest=0)


_DIGEST = re.compile("[0-9a-f]{64}")

FACTS = {"run": str, "columns": int, "outside": str, "at": str | None}
"""The types of what `facts_of` gives, by name."""


def facts_of(run: SampledRun[Any], records: Records, outside: Outside, at: At) -> Json:
    """What parts over records of a data set have in common."""
    require("outside", outside, Outside, "Use Outside.CLIP or Outside.DROP")
    return {"run": run_digest(run), "columns": records.columns, "outside": outside.value, "at": at_to_text(at)}


def are_facts(facts: Json) -> bool:
    """Whether these may be what `facts_of` gives, beside others."""
    known = {outside.value for outside in Outside}
    return bool(_DIGEST.fullmatch(facts["run"])) and facts["columns"] > 0 and facts["outside"] in known


@final
@frozen(kw_only=True)
class Tally:
    """What is counted of records, whatever chunks they came in.

    Attributes:
        records: how many there are, those outside the domain included.
        outside: how many of them were clipped or dropped.
        kept: how many were not dropped.
        units: the sum of the probabilities drawn, in units of 2^-1102: exact, so it depends on no chunks.
        largest: the largest loss, dropped records included; 0 of none.
    """

    records: int = 0
    outside: int = 0
    kept: int = 0
    units: int = 0
    largest: float = 0.0

    @classmethod
    def of(cls, held: Held, realisation: Realisation, losses: Floats, of_dropped: float) -> Self:
        """What is counted of a chunk: see `Chunk`."""
        return cls(
            records=len(losses) if held.inside is None else len(held.inside),
            outside=held.outside,
            kept=len(losses),
            units=_units(realisation.probability),
            largest=max(of_dropped, float(losses.max(initial=0.0))),
        )

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            records=self.records + other.records,
            outside=self.outside + other.outside,
            kept=self.kept + other.kept,
            units=self.units + other.units,
            largest=max(self.largest, other.largest),
        )

    def require_some(self, columns: int) -> None:
        """Refuse no records: a release on none is an output like any other, figures of none are not.

        Raises:
            InvalidValue: for none.
        """
        if not self.records:
            admissible = "at least one record and one column"
            raise InvalidValue("records", f"a matrix of shape (0, {columns})", admissible, "Give some records")

    def expected_sample_size(self, rounding: Fraction) -> tuple[float, float]:
        """Lower and upper end of Σ q(x).

        Args:
            rounding: by how much, relatively, a probability drawn may differ from q(x).
        """
        total = Fraction(float(Fraction(self.units, 1 << _UNIT)))
        margin = 1 + rounding + _SUM_MARGIN
        # a record with a probability below the negligible one is never drawn, but counts with its q in the sum
        lower, upper = total / margin, total * margin + self.kept * Fraction(NEGLIGIBLE)
        return float(np.nextafter(float(lower), 0.0)), float(np.nextafter(float(upper), math.inf))

    def to_packed(self) -> Packed:
        """All of it, for the bytes of a part."""
        counts = np.array([self.records, self.outside, self.kept], dtype=np.int64)
        return {"units": hex(self.units)}, {"counts": counts, "largest": np.array([self.largest])}

    @classmethod
    def from_packed(cls, numbers: Json, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The tally that `to_packed` gave, among other numbers and arrays.

        Raises:
            InvalidData: for counts of no records.
        """
        require_whole(is_vector(arrays["counts"], "i8", 3) and is_vector(arrays["largest"], "f8", 1))
        records, outside, kept = arrays["counts"].tolist()
        (largest,), units = arrays["largest"].tolist(), int(numbers["units"], 16)
        require_whole(0 <= outside <= records and 0 <= kept <= records <= kept + outside)
        require_whole(0 <= units <= kept << _UNIT and largest >= 0)
        return cls(records=records, outside=outside, kept=kept, units=units, largest=largest)


def require_whole(whole: bool) -> None:
    """Refuse what was unpacked, unless it is what may have been packed.

    Raises:
        InvalidData: for anything else.
    """
    if not whole:
        raise InvalidData("content", "what no records give", "what to_bytes gave")


def _units(probabilities: Floats) -> int:
    """The exact sum of at most 2^24 probabilities, 29 binary digits of each at a time: such sums binary64 holds."""
    rest, scale, units = probabilities, 0, 0
    while rest.size:
        scale += _DIGITS
        digits = np.rint(np.ldexp(rest, scale))
        units += int(digits.sum()) << (_UNIT - scale)
        rest = rest - np.ldexp(digits, -scale)
        rest = rest[rest != 0]
    return units
