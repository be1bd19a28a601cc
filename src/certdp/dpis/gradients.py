"""What a training run needs of a model and its data, whatever framework they are written in.

The guarantee of a run rests on two things that only the model can provide:

* a record adds w·g for the g whose norm the weight w was computed from, within the relative error η that the model
  states; so weights are computed inside `weighted_sum`, from the norms of the very vectors that it adds;
* what a record adds depends on the parameters and on that record alone, bit for bit: no layer may mix records, no
  rounding may depend on the batch, and sums are of whole units of a public grid. What a model cannot promise of this
  it states in `assumptions`, and so does the run's guarantee.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Protocol, TypeAlias, final

import numpy as np
from attrs import frozen

from ..accounting.bulk.record_rows import Integers
from ..accounting.derivation import INDEPENDENT_CONTRIBUTIONS, REAL_VALUED_NOISE, Assumption
from ..accounting.errors import InvalidValue
from ..accounting.provenance import Private
from .sampling import FloatArray, IntArray

RECORDS_APART = Assumption(
    "records apart", "a record's gradient depends on the parameters and on that record alone, but for rounding"
)
FLOAT_GRADIENTS = (RECORDS_APART, INDEPENDENT_CONTRIBUTIONS, REAL_VALUED_NOISE)
"""What a guarantee assumes of a model whose gradients, and their sums, are of floats."""

_LARGEST = 2.0**62

Weighting: TypeAlias = Callable[[FloatArray], FloatArray]
"""Norms of gradients to the finite factors ≥ 0 that they are multiplied by; 0 for a record to be left out.

It may draw coins, of which each record has one: it is asked once for each record, in their order, in parts or at once.
"""


@final
@frozen(eq=False)
class Evaluation:
    """What some records are at the current parameters. Private.

    Attributes:
        norms: ‖g‖₂ of each, (count,); NaN and infinities are admitted.
        losses: the loss of each, (count,); for the data's owner alone, NaN where the model computes none.
    """

    norms: FloatArray
    losses: FloatArray

    @classmethod
    def joined(cls, parts: list[Evaluation]) -> Evaluation:
        """The records of all parts, in order."""
        norms = [part.norms for part in parts] or [np.empty(0)]
        losses = [part.losses for part in parts] or [np.empty(0)]
        return cls(np.concatenate(norms), np.concatenate(losses))


@final
@frozen(kw_only=True)
class Identity:
    """What a run trains, with what and on what: the same in all parts of a run that is resumed.

    Attributes:
        model: its shape, and its loss where there is a choice; public.
        optimiser: its options, public.
        data: a digest of all records, as training reads them. Whoever knows all records but one can try out the last.
    """

    model: str
    optimiser: str
    data: Private[str]

    def require(self, before: Identity) -> None:
        """Raises InvalidValue, which names what differs, where this is not what it was before."""
        for name in ("model", "optimiser"):
            now, then = getattr(self, name), getattr(before, name)
            if now != then:
                raise InvalidValue(name, now, f"{then}, as when the run began", "Resume with the options of the run")
        if self.data.reveal() != before.data.reveal():
            raise InvalidValue("data", "other records", "those that the run began with, in their order", "Name them")


def described(value: object) -> str:
    """A value as one line that is the same in every process: without addresses in memory."""
    return " ".join(re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value)).split())


class RecordGradients(Protocol):
    """A model with its parameters, its optimiser and its data."""

    @property
    def size(self) -> int:
        """The number of records that can be addressed now. Private."""
        ...

    @property
    def dimension(self) -> int:
        """The number of trained parameters."""
        ...

    @property
    def error(self) -> Fraction:
        """η: four times a bound on the relative errors of norms and of scaling by them (`sampling.norm_error`)."""
        ...

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the guarantee of a run assumes of this model; `FLOAT_GRADIENTS` unless it promises more.

        None is a promise: gradients depend on the parameters and on their record alone, bit for bit, and
        `weighted_sum` adds whole units of each.
        """
        ...

    def released(self) -> Mapping[str, FloatArray]:
        """Copies of the parameters as they are now, by name: what is published of a run that is over."""
        ...

    def identity(self) -> Identity:
        """What must stay the same where a run is resumed; asked for where it writes checkpoints or a ledger pays."""
        ...

    def evaluate(self, indices: IntArray) -> Evaluation:
        """The norms of the gradients of these records at the current parameters."""
        ...

    def weighted_sum(self, indices: IntArray, weighting: Weighting, unit: float) -> tuple[Integers, Evaluation]:
        """Σ w·g over these records, for the weights of their norms; and what they were.

        A record of weight 0 adds nothing, though its gradient be NaN or infinite.

        Args:
            indices: of the records.
            weighting: norms to weights; asked once for each record, in their order.
            unit: of a public grid, a power of two.

        Returns:
            int64 (dimension,): the sum in whole units; w·g of each record is cut toward zero to them, or where
            `assumptions` has real-valued noise the sum is rounded: see `in_units`.
        """
        ...

    def step(self, gradient: FloatArray) -> None:
        """Hand a mean gradient, which is released by now, to the optimiser."""
        ...

    def state(self) -> dict[str, FloatArray]:
        """The parameters and what the optimiser remembers: functions of what was released, copied."""
        ...

    def restore(self, state: Mapping[str, FloatArray]) -> None:
        """Go back to what `state` gave.

        Raises:
            InvalidValue: for the state of another model; nothing has changed then.
        """
        ...


def cut_to_units(added: FloatArray, unit: float) -> Integers:
    """What one record adds in whole units of a grid, cut toward zero: int64; ±2^62 beyond, 0 for NaN.

    No entry grows, so no norm does. Sums of these are exact modulo 2^64, as is the noise that is added to them: what is
    released is a function of the sum with noise.
    """
    return _whole_units(added, unit, np.trunc)


def in_units(total: FloatArray, unit: float) -> Integers:
    """A sum of floats in whole units of a grid, the nearest ones: int64; ±2^62 beyond, 0 for NaN.

    This is for models whose sums are of floats: they assume real-valued noise.
    """
    return _whole_units(total, unit, np.rint)


def _whole_units(numbers: FloatArray, unit: float, rounded: Callable[[FloatArray], FloatArray]) -> Integers:
    """Numbers over a unit, a power of two, rounded to whole ones."""
    with np.errstate(over="ignore", invalid="ignore"):
        counts = np.clip(rounded(numbers / unit), -_LARGEST, _LARGEST)
    return np.asarray(np.nan_to_num(counts, nan=0.0), dtype=np.int64)
