"""Randomness: from the operating system, or seeded for reproducible runs that are not private."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Protocol, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...accounting.errors import InvalidType, InvalidValue

Floats: TypeAlias = NDArray[np.float64]
Bits: TypeAlias = NDArray[np.uint64]


class Source(Protocol):
    """Where random bits come from."""

    @property
    def private(self) -> bool:
        """Whether nobody but the operating system can know the bits."""
        ...

    def bits(self, count: int) -> Bits:
        """`count` independent uniform 64-bit words."""
        ...


_LARGEST = Fraction(2**1023)


@final
class OperatingSystem:
    """The operating system's entropy."""

    private = True

    def bits(self, count: int) -> Bits:
        """`count` independent uniform 64-bit words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


@final
class Seeded:
    """A reproducible stream; whoever knows the seed can undo the noise, so results are not private."""

    private = False

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise InvalidType("seed", seed, "a whole number ≥ 0")
        if seed < 0:
            raise InvalidValue("seed", seed, "a whole number ≥ 0")
        self._generator = np.random.Philox(seed)

    def bits(self, count: int) -> Bits:
        """`count` independent uniform 64-bit words."""
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)


@final
@frozen
class Coins:
    """Draws from a source of random bits.

    Attributes:
        source: the operating system unless stated.
    """

    source: Source = field(factory=OperatingSystem)

    @classmethod
    def seeded(cls, seed: int) -> Coins:
        """Reproducible coins; a run with them is not private and says so."""
        return cls(Seeded(seed))

    @property
    def private(self) -> bool:
        """Whether a release with these coins can be private."""
        return self.source.private

    def bernoulli(self, probabilities: Floats) -> NDArray[np.bool_]:
        """Independent draws, each true with exactly the binary64 probability given.

        The binary expansion of a uniform number is compared with the probability's, 64 bits at a time, until they
        differ, so the distribution is exact down to the smallest subnormal.

        Args:
            probabilities: float64 array of any shape, in [0, 1].

        Raises:
            InvalidValue: for NaN and values outside [0, 1].
        """
        remaining = np.array(probabilities, dtype=np.float64)
        if not np.all((remaining >= 0) & (remaining <= 1)):
            raise InvalidValue("probabilities", "a value outside [0, 1] or NaN", "probabilities in [0, 1]")
        drawn = np.asarray(remaining == 1)
        undecided = np.flatnonzero((remaining > 0) & (remaining < 1))
        shape = remaining.shape
        drawn, remaining = drawn.reshape(-1), remaining.reshape(-1)
        while undecided.size:
            scaled = np.ldexp(remaining[undecided], 64)
            whole = np.floor(scaled)
            digits = whole.astype(np.uint64)
            random = self.source.bits(undecided.size)
            drawn[undecided[random < digits]] = True
            tie = random == digits
            rest = (scaled - whole)[tie]
            undecided = undecided[tie]
            remaining[undecided] = rest
            undecided = undecided[rest > 0]
        return drawn.reshape(shape)

    def laplace(self, scale: Fraction, size: int) -> Floats:
        """`size` draws of Laplace noise in binary64: random signs times standard exponentials −log(U) times the scale.

        The scale is rounded up to binary64, so that rounding it never costs privacy. A guarantee that rests on these
        draws assumes real-valued noise.
        """
        if scale > _LARGEST:
            raise InvalidValue(
                "scale", scale, "a scale within the range of binary64", "Divide the data by a public bound"
            )
        nearest = float(scale)
        wide = nearest if nearest >= scale else float(np.nextafter(nearest, np.inf))
        words = self.source.bits(2 * size)
        uniform = ((words[:size] >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        sign = np.where(words[size:] >> np.uint64(63), 1.0, -1.0)
        return np.asarray(sign * -np.log(uniform) * wide)
