"""Optimisers of the NumPy models: what they do with a released gradient is free, as post-processing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, final

import numpy as np
from attrs import define, field, frozen

from ..accounting.errors import InvalidValue
from ..accounting.exact import above_zero
from .sampling import FloatArray

if TYPE_CHECKING:
    from attrs import Attribute


class Optimiser(Protocol):
    """Turns gradients into changes of the parameters; it may remember what it has seen."""

    def change(self, gradient: FloatArray) -> FloatArray:
        """What to add to the parameters after this gradient."""
        ...

    def state(self) -> dict[str, FloatArray]:
        """Return a copy of what the optimiser remembers; empty before the first gradient."""
        ...

    def restore(self, state: Mapping[str, FloatArray]) -> None:
        """Go back to a state that `state` gave."""
        ...


class OptimiserOptions(Protocol):
    """The public options of an optimiser, from which a fresh one is made."""

    def optimiser(self) -> Optimiser:
        """Return a fresh optimiser, which has seen no gradient."""
        ...


def _share(_: object, attribute: Attribute[float], value: float) -> None:
    if not 0 <= value < 1:
        raise InvalidValue(attribute.name, value, "a number in [0, 1)")


@final
@frozen(kw_only=True)
class Sgd:
    """Gradient descent with momentum: v ← m·v + g, θ ← θ − rate·v.

    Args:
        rate: the learning rate; above 0.
        momentum: m in [0, 1).
    """

    rate: float = field(default=0.1, validator=above_zero)
    momentum: float = field(default=0.0, validator=_share)

    def optimiser(self) -> Optimiser:
        """Return a fresh optimiser with velocity 0."""
        return _Sgd(self)


@final
@frozen(kw_only=True)
class Adam:
    """Adam (Kingma, Ba 2015, Algorithm 1).

    Args:
        rate: the learning rate; above 0.
        first: β₁ in [0, 1).
        second: β₂ in [0, 1).
        offset: ε̂, added to the root of the second moment; above 0.
    """

    rate: float = field(default=0.001, validator=above_zero)
    first: float = field(default=0.9, validator=_share)
    second: float = field(default=0.999, validator=_share)
    offset: float = field(default=1e-8, validator=above_zero)

    def optimiser(self) -> Optimiser:
        """Return a fresh optimiser with moments 0."""
        return _Adam(self)


@final
@define
class _Sgd:
    options: Sgd
    velocity: FloatArray | None = None

    def change(self, gradient: FloatArray) -> FloatArray:
        before = np.zeros_like(gradient) if self.velocity is None else self.velocity
        self.velocity = self.options.momentum * before + gradient
        return -self.options.rate * self.velocity

    def state(self) -> dict[str, FloatArray]:
        return {} if self.velocity is None else {"velocity": self.velocity.copy()}

    def restore(self, state: Mapping[str, FloatArray]) -> None:
        found = state.get("velocity")
        self.velocity = None if found is None else found.copy()


@final
@define
class _Adam:
    options: Adam
    moments: FloatArray | None = None
    steps: int = 0

    def change(self, gradient: FloatArray) -> FloatArray:
        how = self.options
        before = np.zeros((2, *gradient.shape)) if self.moments is None else self.moments
        shares = np.array([[how.first], [how.second]])
        self.moments = shares * before + (1 - shares) * np.stack([gradient, gradient**2])
        self.steps += 1
        mean = self.moments[0] / (1 - how.first**self.steps)
        square = self.moments[1] / (1 - how.second**self.steps)
        return np.asarray(-how.rate * mean / (np.sqrt(square) + how.offset))

    def state(self) -> dict[str, FloatArray]:
        return {} if self.moments is None else {"moments": self.moments.copy(), "steps": np.array([float(self.steps)])}

    def restore(self, state: Mapping[str, FloatArray]) -> None:
        found = state.get("moments")
        self.moments = None if found is None else found.copy()
        self.steps = 0 if found is None else int(state["steps"][0])
