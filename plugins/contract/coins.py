"""Randomness: from the operating system, or seeded for reproducible runs that are not private."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...accounting.draws.choice import accepted, choose
from ...accounting.draws.discrete import discrete_gaussian, discrete_laplace
from ...accounting.draws.laws import GAUSSIAN, LAPLACE
from ...accounting.draws.lp_noise import lp_cells
from ...accounting.draws.noise import LARGEST_SCALE, Integers, noise_cells
from ...accounting.draws.source import Seeded, Source, private_source, require_working
from ...accounting.errors import InvalidValue
from ...accounting.exact import Floats
from ...accounting.guarantees import require
from ...accounting.norms import Norm
from .exact_draws import ExactDraws

_LARGEST = Fraction(2**1023)
_FEWEST_WORDS, _MOST_WORDS = 8, 8192  # asked of a source at a time; what an exact draw leaves over is thrown away
_WORDS_PER_DRAW = 12


def stated_source(private: bool) -> str:
    """Where coins came from, as statements and certificates say it: the operating system, or a seed."""
    return "operating system" if private else "seeded"


def seeded_run(asked: str) -> InvalidValue:
    """The refusal of what only a private run has."""
    return InvalidValue(
        asked,
        "a run with seeded coins",
        "a private run",
        "Whoever knows the seed can undo the noise: run it without one",
    )


@final
@frozen
class Coins:
    """Draws from a source of random bits.

    Attributes:
        source: unless stated the operating system, or a cipher that it keys where `certdp[stream]` is installed.
    """

    source: Source = field(factory=private_source)

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

    def uniform(self, size: int) -> Floats:
        """`size` independent uniform numbers (k + ½)·2^-53, k in {0, …, 2^53 − 1}, rounded to binary64: in (0, 1]."""
        return ((self.source.bits(size) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53

    def laplace(self, scale: Fraction, size: int) -> Floats:
        """`size` draws of Laplace noise in binary64: random signs times standard exponentials −log(U) times the scale.

        The scale is rounded up to binary64, so that rounding it never costs privacy. A guarantee that rests on these
        draws assumes real-valued noise.

        Raises:
            InvalidValue: for a scale that is not above 0 or beyond binary64.
        """
        wide = _rounded_up(scale)
        exponential = -np.log(self.uniform(size))
        return self.signs(size) * exponential * wide

    def gaussian(self, scale: Fraction, size: int) -> Floats:
        """`size` draws of normal noise in binary64, by the transform of Box and Muller (1958).

        The scale, its standard deviation, is rounded up to binary64; no draw is beyond 8.66 times the scale, since a
        uniform number is at least 2^-54. A guarantee that rests on these draws assumes real-valued noise.

        Raises:
            InvalidValue: for a scale that is not above 0 or beyond binary64.
        """
        return self._normal(size) * _rounded_up(scale)

    def laplace_cells(self, scale: Fraction, size: int) -> Integers:
        """`size` draws of real-valued Laplace noise, each rounded to the nearest whole number, as int64.

        The law of the result is exact: added to a whole number x, it gives the real-valued x + noise, rounded.

        Args:
            scale: in units of the grid on which noise is rounded; from 1 to 2^45.
            size: how many.

        Raises:
            InvalidValue: for a scale outside its range.
        """
        return noise_cells(LAPLACE, scale, size, self.source)

    def gaussian_cells(self, scale: Fraction, size: int) -> Integers:
        """`size` draws of real-valued normal noise, each rounded to the nearest whole number, as `laplace_cells`.

        Raises:
            InvalidValue: for a scale, which is the standard deviation, outside its range.
        """
        return noise_cells(GAUSSIAN, scale, size, self.source)

    def lp_cells(self, order: Norm, scale: Fraction, count: int, size: int) -> Integers:
        """`count` vectors of real-valued noise of density ∝ e^(−‖ζ‖_p/scale), each rounded as `laplace_cells`.

        Args:
            order: p.
            scale: in units of the grid on which noise is rounded; from 1 to 2^45.
            count: how many vectors.
            size: coordinates of each.

        Returns:
            int64 array (count, size).

        Raises:
            InvalidValue: for a scale outside its range.
        """
        return lp_cells(order, scale, count, size, self.source)

    def gamma(self, shape: Fraction, scale: Fraction, size: int) -> Floats:
        """`size` draws of density proportional to t^(shape − 1)·e^(−t/scale), by rejection (Marsaglia, Tsang 2000).

        The scale is rounded up to binary64. A guarantee that rests on these draws assumes real-valued noise.

        Args:
            shape: at least 1.
            scale: above 0.
            size: how many.

        Raises:
            InvalidValue: for a shape below 1, and a scale that is not above 0 or beyond binary64.
        """
        if shape < 1:
            raise InvalidValue("shape", shape, "a shape ≥ 1")
        wide = _rounded_up(scale)
        centre = float(shape) - 1 / 3
        spread = 1 / math.sqrt(9 * centre)
        drawn = np.empty(size)
        open_ = np.arange(size)
        while open_.size:
            normal = self._normal(open_.size)
            cube = (1 + spread * normal) ** 3
            kept = cube > 0
            log_cube = np.log(np.where(kept, cube, 1.0))
            kept &= np.log(self.uniform(open_.size)) < normal * normal / 2 + centre * (1 - cube + log_cube)
            drawn[open_[kept]] = centre * cube[kept]
            open_ = open_[~kept]
        return drawn * wide

    def signs(self, size: int) -> Floats:
        """`size` independent fair choices of 1 or −1."""
        return np.where(self.source.bits(size) >> np.uint64(63), 1.0, -1.0)

    def exactly(self, ratio: Fraction, size: int) -> NDArray[np.bool_]:
        """`size` independent draws, each true with exactly the rational probability given.

        Raises:
            InvalidValue: for a probability outside [0, 1].
        """
        if not 0 <= ratio <= 1:
            raise InvalidValue("ratio", ratio, "a probability in [0, 1]")
        draws = self._exact_draws(2 * size)
        return np.asarray([draws.bernoulli(*ratio.as_integer_ratio()) for _ in range(size)], dtype=np.bool_)

    def bernoulli_exp(self, exponent: Fraction, size: int) -> NDArray[np.bool_]:
        """`size` independent draws, each true with probability exactly e^−exponent.

        Raises:
            InvalidValue: for an exponent below 0.
        """
        if exponent < 0:
            raise InvalidValue("exponent", exponent, "a number ≥ 0")
        draws = self._exact_draws(2 * size)
        return np.asarray([draws.bernoulli_exp(*exponent.as_integer_ratio()) for _ in range(size)], dtype=np.bool_)

    def exponential_choice(self, exponents: Sequence[Fraction], size: int) -> Integers:
        """`size` independent indices, each i with probability exactly proportional to e^−exponents[i], as int64.

        How long a draw takes depends on the exponents: someone who can time it learns about them.

        Args:
            exponents: exact numbers, one for each output; at least one.
            size: how many.

        Raises:
            InvalidValue: for no exponents.
        """
        return choose(exponents, size, self.source)

    def permute_and_flip(self, exponents: Sequence[Fraction], which: Integers) -> int:
        """The output that permute-and-flip takes: of those in random order the first whose coin e^−exponent is true.

        Args:
            exponents: the different ones, exact numbers ≥ 0, of which one is 0.
            which: int64 (n,), the place of each output's exponent; each exponent belongs to some output.

        Raises:
            InvalidValue: where no exponent is 0, or one is below.
        """
        if min(exponents, default=1):
            raise InvalidValue("exponents", "none that is 0, or one below", "numbers ≥ 0, the best output's 0")
        candidates = np.flatnonzero(accepted(exponents, which, self.source))
        return int(candidates[self.integers(len(candidates), 1)[0]])

    def integers(self, bound: int, size: int) -> list[int]:
        """`size` independent integers, exactly uniform in {0, …, bound − 1}.

        Raises:
            InvalidValue: for a bound below 1.
        """
        if bound < 1:
            raise InvalidValue("bound", bound, "a whole number ≥ 1")
        draws = self._exact_draws(2 * size)
        return [draws.below(bound) for _ in range(size)]

    def discrete_laplace(self, scale: Fraction, size: int) -> list[int]:
        """`size` independent integers z with probability exactly proportional to e^(−|z|/scale).

        Raises:
            InvalidValue: for a scale that is not above 0.
        """
        return [int(number) for number in self._discrete_laplace(scale, size)]

    def discrete_gaussian(self, scale: Fraction, size: int) -> list[int]:
        """`size` independent integers z with probability exactly proportional to e^(−z²/(2·scale²)).

        Raises:
            InvalidValue: for a scale that is not above 0.
        """
        return [int(number) for number in self._discrete_gaussian(scale, size)]

    def discrete_laplace_cells(self, scale: Fraction, size: int) -> Integers:
        """`size` draws as `discrete_laplace`, as int64.

        Args:
            scale: above 0 and at most 2^45.
            size: how many.

        Raises:
            InvalidValue: for a scale outside its range.
        """
        return np.asarray(self._discrete_laplace(_small(scale), size), dtype=np.int64)

    def discrete_gaussian_cells(self, scale: Fraction, size: int) -> Integers:
        """`size` draws as `discrete_gaussian`, as int64; scale and refusals as of `discrete_laplace_cells`."""
        return np.asarray(self._discrete_gaussian(_small(scale), size), dtype=np.int64)

    def _discrete_laplace(self, scale: Fraction, size: int) -> Integers | list[int]:
        _require_positive(scale)
        drawn = discrete_laplace(scale, size, self.source)
        if drawn is not None:
            return drawn
        draws = self._exact_draws(_WORDS_PER_DRAW * size)
        return [draws.discrete_laplace(scale) for _ in range(size)]

    def _discrete_gaussian(self, scale: Fraction, size: int) -> Integers | list[int]:
        _require_positive(scale)
        drawn = discrete_gaussian(scale, size, self.source)
        if drawn is not None:
            return drawn
        draws = self._exact_draws(_WORDS_PER_DRAW * size)
        return [draws.discrete_gaussian(scale) for _ in range(size)]

    def _normal(self, size: int) -> Floats:
        half = -(-size // 2)
        radius = np.sqrt(-2 * np.log(self.uniform(half)))
        angle = 2 * np.pi * self.uniform(half)
        return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:size]

    def _exact_draws(self, words: int) -> ExactDraws:
        return ExactDraws(self.source, min(max(words, _FEWEST_WORDS), _MOST_WORDS))


def _small(scale: Fraction) -> Fraction:
    if scale > LARGEST_SCALE:
        raise InvalidValue(
            "scale", scale, f"a scale of at most {LARGEST_SCALE}", "Draw a list, or on a coarser lattice"
        )
    return scale


def _require_positive(scale: Fraction) -> None:
    if scale <= 0:
        raise InvalidValue("scale", scale, "a scale > 0")


def release_coins(coins: Coins | None) -> Coins:
    """The coins of a release, before anything is paid for it: those given, or else the operating system's.

    Raises:
        InvalidType: for what is no coins.
        InvalidValue: where a private source of random words fails or repeats: it is asked for some, which are thrown
            away.
    """
    used = Coins() if coins is None else coins
    require("coins", used, Coins, "Leave them out for the operating system's, or give Coins.seeded(…)")
    require_working(used.source)
    return used


def _rounded_up(scale: Fraction) -> float:
    _require_positive(scale)
    if scale > _LARGEST:
        raise InvalidValue("scale", scale, "a scale within the range of binary64", "Divide the data by a public bound")
    nearest = float(scale)
    return nearest if nearest >= scale else float(np.nextafter(nearest, np.inf))
