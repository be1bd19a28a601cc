"""What a hidden unit does with the number it gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, final

import numpy as np
from attrs import field, frozen

from ...accounting.bulk.record_rows import tanh
from ...accounting.errors import InvalidValue
from ...accounting.exact import above_zero
from ..sampling import FloatArray

if TYPE_CHECKING:
    from attrs import Attribute


class Activation(Protocol):
    """A function of one number, with its derivative."""

    @property
    def entry_by_entry(self) -> bool:
        """Whether each value depends on its input alone, bit for bit, wherever in an array it stands."""
        ...

    def of(self, inputs: FloatArray) -> FloatArray:
        """Return the function's values at the inputs."""
        ...

    def slope(self, inputs: FloatArray) -> FloatArray:
        """Return the derivative at the inputs; where there is none, one of those at its sides."""
        ...


@final
@frozen
class Relu:
    """The rectifier max(0, x)."""

    @property
    def entry_by_entry(self) -> bool:
        """Whether each value depends on its input alone, bit for bit: it does."""
        return True

    def of(self, inputs: FloatArray) -> FloatArray:
        """Return the values max(0, x)."""
        return np.maximum(inputs, 0.0)

    def slope(self, inputs: FloatArray) -> FloatArray:
        """1 above 0, otherwise 0; NaN at NaN."""
        return np.where(np.isnan(inputs), np.nan, np.where(inputs > 0, 1.0, 0.0))


@final
@frozen
class Tanh:
    """The hyperbolic tangent as an activation."""

    @property
    def entry_by_entry(self) -> bool:
        """Whether each value depends on its input alone, bit for bit: it does."""
        return True

    def of(self, inputs: FloatArray) -> FloatArray:
        """Return the values tanh x."""
        return tanh(inputs)

    def slope(self, inputs: FloatArray) -> FloatArray:
        """Return the derivatives 1 − tanh² x."""
        return np.asarray(1 - tanh(inputs) ** 2)


def _finite(_: object, attribute: Attribute[float], value: float) -> None:
    if not np.isfinite(value):
        raise InvalidValue(attribute.name, value, "a finite number")


@final
@frozen(kw_only=True)
class TemperedSigmoid:
    """s/(1 + e^{−T·x}) − o (Papernot, Thakurta, Song, Chien, Erlingsson 2021): bounded, so that gradients stay short.

    Args:
        scale: s > 0; by default 2, with which and the other defaults it is the hyperbolic tangent.
        temperature: T > 0, by default 2.
        offset: o, by default 1.
    """

    scale: float = field(default=2.0, validator=above_zero)
    temperature: float = field(default=2.0, validator=above_zero)
    offset: float = field(default=1.0, validator=_finite)

    @property
    def entry_by_entry(self) -> bool:
        """Whether each value depends on its input alone, bit for bit: it does."""
        return True

    def of(self, inputs: FloatArray) -> FloatArray:
        """s/(1 + e^{−T·x}) − o, as s/2·(1 + tanh(T·x/2)) − o, which does not overflow."""
        return np.asarray(self.scale / 2 * (1 + tanh(self.temperature * inputs / 2)) - self.offset)

    def slope(self, inputs: FloatArray) -> FloatArray:
        """Return the derivatives s·T/4·(1 − tanh²(T·x/2))."""
        return np.asarray(self.scale * self.temperature / 4 * (1 - tanh(self.temperature * inputs / 2) ** 2))
