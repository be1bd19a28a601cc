"""An accountant with Opacus's protocol: `opacus.accountants.register_accountant("certdp", CertifiedAccountant)`.

It imports neither torch nor Opacus; it has the methods of `opacus.accountants.IAccountant`.

Assumptions, which Opacus makes too: neighbouring data sets differ in one record that is added or removed; each record
enters each batch independently with probability `sample_rate` (`poisson_sampling=True`), which is public; each
record's gradient is clipped to the norm C, and normal noise of standard deviation noise_multiplier·C is added once
per step; noise and sums are real numbers.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..accounting.enclosures import Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.filters.spending import SpendingState, owned
from ..accounting.provenance import Public
from ..accounting.relations import Record
from ..accounting.units import Delta
from ..runs.many_steps import GaussianSteps
from ..runs.run import Answer, Interval, NotionAbsent, Run
from .events import Composed, Gaussian, PoissonSampled, SelfComposed

Steps: TypeAlias = tuple[float, float, int]
"""(noise multiplier, sample rate, number of steps), as in the history of Opacus's accountants."""

_FEW, _MOST_AS_ARRAYS = 256, 10**7


class Optimizer(Protocol):
    """What the accountant reads of an `opacus.optimizers.DPOptimizer`."""

    @property
    def noise_multiplier(self) -> float:
        """The standard deviation of the noise over the clipping norm."""
        ...

    @property
    def accumulated_iterations(self) -> int:
        """How many batches were seen since the last step."""
        ...


class CertifiedAccountant(SpendingState):
    """Proven ε of DP-SGD, behind the protocol of Opacus's accountants.

    The history is read as a plan that was fixed before training: schedules of noise, rate and length that depend on
    nothing but the step. Then every accountant applies to it, and the best of them answers. Where they depend on
    released values (noise lowered because a released loss stalls, stopping at an ε that looks good), the realised
    history proves nothing; spend from a filter instead, such as `certdp.accounting.filters.RenyiFilter`, whose order is
    fixed beforehand. A run that stops by what it has released is covered by its whole plan, not by the shorter history.

    Raises:
        InvalidValue: wherever a noise multiplier is not a finite number ≥ 0, a rate not in [0, 1], a number of steps
            not a whole number ≥ 1. InvalidType: for other types. The state is then as it was.
    """

    def __init__(self) -> None:
        self._history: list[Steps] = []

    @classmethod
    def mechanism(cls) -> str:
        """The name under which Opacus knows it."""
        return "certdp"

    @property
    @owned
    def history(self) -> list[Steps]:
        """A copy of the steps taken, equal ones in a row together; assigning replaces them."""
        return list(self._history)

    @history.setter
    @owned
    def history(self, steps: Iterable[tuple[float, float, int]]) -> None:
        self._history = _checked_history(steps)

    @owned
    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Record one step.

        Args:
            noise_multiplier: noise over clipping norm; at least 0, and 0 means that nothing is proven any more.
            sample_rate: in [0, 1].
        """
        self._append(_checked(noise_multiplier, sample_rate, 1))

    @owned
    def get_epsilon(self, delta: float) -> float:
        """The proven upper end of ε at δ; infinite where none is finite, as without noise.

        Args:
            delta: in (0, 1].
        """
        return self.get_epsilon_interval(delta).upper

    def get_epsilon_interval(self, delta: float) -> Interval:
        """Return both proven ends of the smallest ε at δ.

        Args:
            delta: in (0, 1].
        """
        target = Delta(delta)
        if not target.value:
            raise InvalidValue("delta", delta, "a number in (0, 1]", "Normal noise has no finite ε at δ = 0")
        try:
            return self.answer(target).epsilon
        except NotionAbsent:
            return Interval(None, math.inf)

    @owned
    def answer(self, delta: Delta) -> Answer:
        """The guarantee, with its derivation and assumptions.

        Raises:
            NotionAbsent: where no finite ε follows.
        """
        return self.run.epsilon(delta)

    @property
    @owned
    def run(self) -> Run[Record]:
        """The history as a run to ask; very many different steps are put together in groups."""
        noise, rates, counts = zip(*self._history, strict=True) if self._history else ((), (), ())
        if len(self._history) <= _FEW or not min(noise) or sum(counts) > _MOST_AS_ARRAYS:
            return self.event.run()
        return GaussianSteps(
            rates=Public(np.repeat(rates, counts)), noise_multipliers=Public(np.repeat(noise, counts)), groups=_FEW
        )

    @property
    @owned
    def event(self) -> Composed:
        """The history as a tree of events."""
        return Composed(
            SelfComposed(PoissonSampled(Fraction(rate), Gaussian(Fraction(noise))), steps)
            for noise, rate, steps in self._history
        )

    @owned
    def __len__(self) -> int:
        return sum(steps for _, _, steps in self._history)

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Optimizer], None]:
        """What `DPOptimizer.attach_step_hook` takes: records each step of the optimizer.

        Where k > 1 batches were accumulated before the noise was added, a record may be in several of them. The noise
        of standard deviation σ is then the sum of k parts of σ/√k, so that the step is post-processing of k steps with
        that noise at the given rate, and is recorded as these. (Opacus records one step at k times the rate; that is
        no bound: a record that is in two batches moves the sum twice as far.)

        Args:
            sample_rate: probability with which a record enters one batch; in [0, 1].
        """
        _ = _checked(0.0, sample_rate, 1)

        def hook(optimizer: Optimizer) -> None:
            batches = whole("accumulated_iterations", optimizer.accumulated_iterations, 1)
            noise, rate, _ = _checked(optimizer.noise_multiplier, sample_rate, 1)
            part = noise if batches == 1 else (Enclosure.of(noise) / Enclosure.of(batches).sqrt()).lower_float
            self._append((part, rate, batches))

        return hook

    @owned
    def state_dict(self, destination: MutableMapping[str, Any] | None = None) -> MutableMapping[str, Any]:
        """The state in lists, numbers and text, which JSON and pickle keep exactly.

        Args:
            destination: where to put it; a new dictionary unless given.
        """
        state = OrderedDict[str, Any]() if destination is None else destination
        state["history"] = [list(steps) for steps in self._history]
        state["mechanism"] = self.mechanism()
        return state

    @owned
    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Replace the state by that of `state_dict`, once all of it has been checked.

        Raises:
            InvalidValue: (a ValueError) for missing keys, another mechanism, and steps out of range.
        """
        match state_dict:
            case {"history": history, "mechanism": str(mechanism)}:
                if mechanism != self.mechanism():
                    raise InvalidValue(
                        "mechanism", mechanism, repr(self.mechanism()), "Load it into its own accountant"
                    )
                self._history = _checked_history(history)
            case _:
                raise InvalidValue("state_dict", state_dict, "a mapping with history and mechanism, by state_dict()")

    @owned
    def _append(self, steps: Steps) -> None:
        match self._history:
            case [*_, (noise, rate, taken)] if (noise, rate) == steps[:2]:
                self._history[-1] = (noise, rate, taken + steps[2])
            case _:
                self._history.append(steps)


def _checked(noise_multiplier: float, sample_rate: float, steps: int) -> Steps:
    """Return the same numbers as plain Python's, checked."""
    noise = Gaussian(noise_multiplier).noise_multiplier
    return _binary64("noise_multiplier", noise), _rate(sample_rate), int(whole("steps", steps, 1))


def _rate(sample_rate: float) -> float:
    return _binary64("sample_rate", PoissonSampled(sample_rate, Gaussian(Fraction(1))).sampling_probability)


def _binary64(parameter: str, value: Fraction) -> float:
    """`value` as a float, which it must be exactly."""
    nearest = float(value)
    if Fraction(nearest) != value:
        raise InvalidValue(parameter, str(value), "a binary64 number")
    return nearest


def _checked_history(history: Iterable[Iterable[Any]]) -> list[Steps]:
    match history:
        case list() | tuple():
            pass
        case _:
            raise InvalidType("history", history, "a list of (noise multiplier, sample rate, steps)")
    checked = []
    for position, entry in enumerate(history):
        match entry:
            case [noise, rate, steps]:
                checked.append(_checked(noise, rate, steps))
            case _:
                raise InvalidValue(f"history[{position}]", entry, "(noise multiplier, sample rate, steps)")
    return checked
