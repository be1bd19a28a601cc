"""What is checked: a plugin of one of five kinds, with public constants to try it with."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, TypeVar, final

import numpy as np
from attrs import frozen

from ...accounting.enclosures import Enclosure
from ...accounting.errors import CertdpError
from ...accounting.expressions import Constant, W, norm
from ...accounting.pairs import RandomisedResponsePair
from ...accounting.relations import AddRemove
from ...accounting.sampling.drawing import Rate, StatedRate
from ...accounting.sampling.losses import FamilyLoss, GaussianLoss, PureLoss
from ...accounting.sampling.rate import SamplingRate
from ...accounting.sampling.records import Features
from ..contract import Coins, LossSampler, WeightedSample
from .constants import Setup
from .law import nothing_escapes

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Rows: TypeAlias = tuple[tuple[float, ...], ...]
"""A small matrix of records, as a witness shows it."""

_BOUND = 8
_STEPS = 64


@final
@frozen(eq=False)
class Ground:
    """Records that a mechanism takes.

    Attributes:
        columns: how many numbers a record has.
        bound: the ℓ1 norm of a record is at most this.
        whole: whether records are codes 0 and 1.
        weighted: whether they may weigh more than 1.
        rows: the records to choose from, where the author gave some.
    """

    columns: int
    bound: float
    whole: bool = False
    weighted: bool = True
    rows: Rows = ()

    def record(self) -> SearchStrategy[tuple[float, ...]]:
        """Return a strategy for one record that the mechanism takes."""
        from hypothesis import strategies

        if self.rows:
            return strategies.sampled_from(self.rows)
        if self.whole:
            return strategies.tuples(*[strategies.integers(0, 1).map(float)] * self.columns)
        step = self.bound / (_STEPS * self.columns)
        entry = strategies.integers(-_STEPS, _STEPS).map(lambda count: count * step)
        return strategies.tuples(*[entry] * self.columns)

    def records(self, *, least: int = 0, most: int = 4) -> SearchStrategy[Rows]:
        """Return a strategy for a few records that the mechanism takes."""
        from hypothesis import strategies

        return strategies.lists(self.record(), min_size=least, max_size=most).map(tuple)

    def weight(self) -> SearchStrategy[float]:
        """Return a strategy for a weight that the mechanism takes."""
        from hypothesis import strategies

        if not self.weighted:
            return strategies.just(1.0)
        return strategies.integers(0, 40).map(lambda count: 1 + count / 4)

    def sample(self, records: Rows, weights: Sequence[float]) -> WeightedSample:
        """Return the weighted sample of these records and weights."""
        return sample_of(records, weights, self.columns)

    @property
    def attempt(self) -> WeightedSample:
        """A sample that tells whether the mechanism takes such records."""
        size = 1.0 if self.whole else self.bound * 3 / (16 * self.columns)  # of 8, it is no whole number
        rows = self.rows[:2] or ((size,) * self.columns, (0.0 if self.whole else -size,) * self.columns)
        return self.sample(rows, [2.0 if self.weighted else 1.0] * len(rows))


def sample_of(records: Rows, weights: Sequence[float], columns: int) -> WeightedSample:
    """A weighted sample of any number of records."""
    return WeightedSample(np.asarray(records, dtype=np.float64).reshape(len(records), columns), np.asarray(weights))


@final
@frozen(eq=False)
class Trial:
    """A mechanism with public constants, and records that it takes.

    Attributes:
        setup: the constants.
        ground: the records.
    """

    setup: Setup
    ground: Ground

    def __str__(self) -> str:
        return str(self.setup)


@final
@frozen(eq=False)
class MechanismSubject:
    """A mechanism of records.

    Attributes:
        setups: public constants to try it with.
        trials: those with which it releases, and the records that it then takes.
        refusal: what it says where there are none.
        audit_trials: releases on either side of an audit.
    """

    setups: tuple[Setup, ...]
    trials: tuple[Trial, ...]
    refusal: str
    audit_trials: int

    @property
    def counts_records(self) -> bool:
        """Whether records may be added or removed; otherwise each has its place."""
        return AddRemove() in self.setups[0].plugin.about.relations  # type: ignore[attr-defined]

    def options_named(self, *words: str) -> tuple[str, ...]:
        """The options whose names contain one of these words."""
        names = dict.fromkeys(name for setup in self.setups for name in setup.options)
        return tuple(name for name in names if set(name.split("_")) & set(words))


def mechanism_subject(setups: tuple[Setup, ...], rows: Rows, audit_trials: int) -> MechanismSubject:
    """Return a mechanism for examination, with the records that it takes."""
    trials, refusal = [], ""
    for setup in setups:
        for ground in _grounds(setup, rows):
            try:
                with nothing_escapes():
                    setup.build().release(ground.attempt, Coins.seeded(0))
            except CertdpError as error:
                refusal = refusal or str(error)
                continue
            except Exception:  # what breaks here breaks in the laws, with a witness
                pass
            trials.append(Trial(setup, ground))
            break
    return MechanismSubject(setups, tuple(trials), refusal, audit_trials)


def _grounds(setup: Setup, rows: Rows) -> tuple[Ground, ...]:
    bound = _number(setup, "radius") or float(_BOUND)
    dimension = _number(setup, "dimension")
    if rows:
        columns = len(rows[0])
        return tuple(Ground(columns, bound, weighted=weighted, rows=rows) for weighted in (True, False))
    if dimension:
        return tuple(Ground(int(dimension), bound, weighted=weighted) for weighted in (True, False))
    return (
        Ground(2, bound),
        Ground(1, bound),
        Ground(2, bound, weighted=False),
        Ground(1, bound, weighted=False),
        Ground(1, bound, whole=True),
        Ground(1, bound, whole=True, weighted=False),
    )


def _number(setup: Setup, option: str) -> float | None:
    """A public constant that bounds the records, by the name that certdp has for it."""
    value = getattr(getattr(setup.build(), option, None), "value", None)
    return None if value is None else float(value)


@final
@frozen(eq=False)
class Drawing:
    """A sampler with public constants, and a mechanism's loss that it draws for.

    Attributes:
        setup: the constants.
        loss: of the mechanism; a sampler that states its rate does not read it.
        bound: the ℓ1 norm of the records that it is tried with is at most this.
    """

    setup: Setup
    loss: PureLoss | GaussianLoss | FamilyLoss
    bound: float

    def rate(self) -> Rate:
        """How records are drawn.

        Raises:
            TypeError: where the sampler states no rate.
        """
        plugin = self.setup.build()
        if isinstance(plugin, LossSampler):
            return _checked(plugin.rate_for(self.loss), Rate, "rate_for")
        return StatedRate(_checked(plugin.rate, SamplingRate, "rate"))

    @property
    def size(self) -> int | None:
        """How many records it draws from, where they are drawn together; None where each is drawn by itself."""
        return self.rate().size

    def record(self) -> SearchStrategy[tuple[float, ...]]:
        """Return a strategy for one record that the sampler draws from."""
        return Ground(2, self.bound).record()

    @property
    def chooses(self) -> bool:
        """Whether its probabilities depend on the loss."""
        return hasattr(self.setup.plugin, "rate_for")

    def __str__(self) -> str:
        return f"{self.setup}; {self.loss.parameter}" if self.chooses else str(self.setup)


T = TypeVar("T")


def _checked(value: T, kind: type, name: str) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r}, which is no {kind.__name__}")
    return value


@final
@frozen(eq=False)
class SamplerSubject:
    """A sampler of records.

    Attributes:
        setups: public constants to try it with.
        drawings: those with which it draws, for which losses and records.
        refusal: what it says where there are none.
        draws: in how many of them frequencies are counted.
    """

    setups: tuple[Setup, ...]
    drawings: tuple[Drawing, ...]
    refusal: str
    draws: int


_OWN = Constant(Fraction(1))
_ANSWER = FamilyLoss(
    _OWN, RandomisedResponsePair, PureLoss(_OWN), clones=Enclosure.of("0.25")
)  # of each record by itself
_LOSSES = (PureLoss(W * norm(1) / 8), GaussianLoss(W * norm(2) / 8), _ANSWER)
_BOUNDS = (float(_BOUND), 0.5, 2.0**-7, 2.0**-20, 2.0**-40)


def sampler_subject(setups: tuple[Setup, ...], draws: int) -> SamplerSubject:
    """Return a sampler for examination, with the losses that it draws for."""
    drawings, refusal = [], ""
    for setup in setups:
        for drawing in (Drawing(setup, loss, bound) for loss in _LOSSES for bound in _BOUNDS):
            try:
                with nothing_escapes():
                    two = np.asarray([[drawing.bound, 0.0], [0.0, drawing.bound / 4]])
                    drawing.rate().realise(Features(np.resize(two, (drawing.size or 2, 2))))
            except CertdpError as error:
                if drawing.chooses:  # for other losses and records it may draw; a stated rate is there for all
                    refusal = refusal or str(error)
                    continue
            except Exception:  # what breaks here breaks in the laws, with a witness
                pass
            drawings.append(drawing)
            break
    return SamplerSubject(setups, tuple(drawings), refusal, draws)
