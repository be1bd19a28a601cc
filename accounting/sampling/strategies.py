"""Strategy matrices of correlated noise: what a record moves in C·x that takes part in several of the steps.

Legend: C has a column for each of n steps and a row for each noisy number that is released; x has a row for each step,
the sum over the records that take part in it; C·x + z is released, z being independent noise. A record that takes
part in the steps π adds rows of norm at most 1, in units of its bound, to x: it moves C·x by at most
√(Σ_{s, t ∈ π} |(CᵀC)_{st}|), and by exactly that where none of these is negative and it adds the same row each time.
docs/soundness_correlated_noise.md has the proofs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from ..enclosures import Enclosure
from ..enclosures.arguments import whole
from ..errors import InvalidType, InvalidValue, known_keywords
from ..exact import Floats, Number, exact, float_at_most, python_int, ratio_text
from .heaviest import at_most, heaviest

STRATEGY = "strategy"
"""Which matrix it is, as an assumption names it."""
PARTICIPATION = "participation of a record"
"""What is assumed of it, by name."""
LARGEST_DENSE = 4096
"""Steps of a strategy whose whole matrix is looked at."""
FINEST = 22
"""Bits after the point of entries with which noise is drawn."""

_MOST_TERMS = 10_000_000
_DIGITS = 52  # whole numbers of so many bits, and sums of them, are exact in binary64
_SLICES = 3
_ROUNDED = 2.0**-48  # more than nine terms of a sum, each rounded, can be off by


def _drawn(given: Number) -> Fraction:
    rate = exact(given, parameter="rate")
    if not 0 < rate <= 1:
        raise InvalidValue("rate", rate, "a number in (0, 1]")
    found = Fraction(float_at_most(rate))
    if not found:
        raise InvalidValue("rate", rate, "a number in (0, 1] that binary64 holds")
    return found


@known_keywords
@frozen(kw_only=True)
class Participation:
    """In which steps one record may take part: in few of them, that lie apart.

    Attributes:
        times: in how many steps at most, k; at least 1.
        apart: how many steps lie at least between the numbers of two of them, b; at least 1.

    Raises:
        InvalidValue: below 1. InvalidType: for no whole numbers.
    """

    times: int = field(converter=python_int)
    apart: int = field(default=1, converter=python_int)

    def __attrs_post_init__(self) -> None:
        whole("times", self.times, 1)
        whole("apart", self.apart, 1)

    def __str__(self) -> str:
        return f"in at most {self.times} steps, at least {self.apart} apart"

    def earliest(self, steps: int) -> range:
        """The steps of a record that takes part as early and as often as it may."""
        return range(0, min(steps, self.times * self.apart), self.apart)

    def within(self, steps: int) -> Participation:
        """Return what is left of it among so many steps.

        Raises:
            InvalidValue: for more times than fit.
        """
        most = -(-steps // self.apart)
        if self.times > most:
            admissible = f"at most {most}: {steps} steps hold no more that are {self.apart} apart"
            raise InvalidValue("times", self.times, admissible, "State how often a record takes part at most")
        return self


@known_keywords
@frozen(kw_only=True)
class CyclicPoisson:
    """Each record is in one of several groups, whose turns come round, and is drawn in each of its turns by itself.

    Attributes:
        groups: how many there are, b, at least 1: a record of group g may take part in the steps g, g + b, g + 2b, …
        rate: with which probability it is drawn in each of them; in (0, 1], rounded down to binary64.

    Raises:
        InvalidValue: outside these ranges. InvalidType: for what is no number.
    """

    groups: int = field(converter=python_int)
    rate: Fraction = field(converter=_drawn)

    def __attrs_post_init__(self) -> None:
        whole("groups", self.groups, 1)

    def __str__(self) -> str:
        return f"in the turns of one of {self.groups} groups, drawn in each at rate {ratio_text(self.rate)}"


Schema: TypeAlias = Participation | CyclicPoisson
"""In which steps a record may take part."""


@frozen(eq=False, repr=False)
class Strategy(ABC):
    """A strategy matrix C, with exactly the binary64 entries given; base class."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """How many steps there are, n."""

    @property
    @abstractmethod
    def matrix(self) -> Floats:
        """C, a row for each number that is released.

        Raises:
            InvalidValue: for more steps than it is looked at for.
        """

    @property
    @abstractmethod
    def numbers(self) -> Floats:
        """Every number that an entry may be, but for 0."""

    @property
    @abstractmethod
    def bands(self) -> int:
        """How far back a row reaches: the number of diagonals of C with numbers other than 0, if it is triangular."""

    @abstractmethod
    def ending(self, step: int) -> list[Floats]:
        """The rows of C that are released after a step; of each the entries that belong to it and the ones before."""

    @abstractmethod
    def rounded(self, bits: int = FINEST) -> Strategy:
        """Return the strategy with its entries rounded to the nearest multiples of 2^-bits: a strategy of its own."""

    @cached_property
    def fraction_bits(self) -> int | None:
        """Bits after the point of the entries; None for more than 22."""
        scaled = (np.ldexp(self.numbers, bits) for bits in range(FINEST + 1))
        return next((bits for bits, numbers in enumerate(scaled) if np.all(np.rint(numbers) == numbers)), None)

    @cached_property
    def _products(self) -> tuple[Floats, Floats, int]:
        return products(self.matrix)

    def sensitivity(self, participation: Participation) -> Enclosure:
        """How far one record can move C·x, in units of the bound on what it adds to a step.

        Args:
            participation: in which steps it may take part.

        Guarantees:
            No record moves it farther than the upper end, whatever earlier outputs it reacts to; one moves it as far as
            the lower end. Where no two columns that may meet have a negative product, and there are few ways to take
            part within the bands, the two differ by rounding alone.

        Raises:
            InvalidValue: for more times than fit into the steps.
        """
        asked = participation.within(self.steps)
        lower, upper, exponent = self._products
        most = np.maximum(np.abs(lower), np.abs(upper))
        value, found = heaviest(most, asked.times, asked.apart)
        tried: list[Sequence[int]] = [asked.earliest(self.steps), [int(np.argmax(np.diagonal(lower)))]]
        least = max(_total(lower, steps) for steps in [*tried, *([] if found is None else [found])])
        scale = Fraction(4) ** exponent
        return Enclosure.between(max(least, Fraction(0)) * scale, max(Fraction(value), least) * scale).sqrt()

    def column_norms(self) -> list[Enclosure]:
        """The ℓ2 norm of each column: how far a record moves C·x that takes part in that step alone."""
        lower, upper, exponent = self._products
        scale = Fraction(4) ** exponent
        ends = zip(np.diagonal(lower).tolist(), np.diagonal(upper).tolist(), strict=True)
        return [Enclosure.between(max(Fraction(a), Fraction(0)) * scale, Fraction(b) * scale).sqrt() for a, b in ends]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


def _finite(parameter: str, given: ArrayLike, axes: int) -> Floats:
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidType(parameter, given, "an array of numbers") from None
    if found.ndim != axes:
        admissible = "a list of numbers" if axes == 1 else "a matrix"
        raise InvalidValue(parameter, f"shape {found.shape}", admissible)
    if not np.all(np.isfinite(found)):
        raise InvalidValue(parameter, "NaN or inf", "finite numbers")
    found.flags.writeable = False
    return found


def _vector(given: ArrayLike) -> Floats:
    return _finite("coefficients", given, 1)


def _square(given: ArrayLike) -> Floats:
    return _finite("matrix", given, 2)


@final
@known_keywords
@frozen(eq=False, repr=False)
class ToeplitzStrategy(Strategy):
    """A lower-triangular matrix with one number on each diagonal: C_{st} = c_{s−t}.

    Args:
        coefficients: c_0, c_1, …, at least one and at most one for each step; those that follow are 0.
        steps: n; as many as there are coefficients, unless given.

    Raises:
        InvalidValue: for numbers that are not finite, c_0 = 0, and more coefficients than steps.
    """

    coefficients: Floats = field(converter=_vector)
    _steps: int | None = field(default=None)

    def __attrs_post_init__(self) -> None:
        if not self.coefficients.size or self.coefficients[0] == 0:
            raise InvalidValue("coefficients", self.coefficients, "a first one other than 0", "C has no inverse")
        if self.coefficients.size > whole("steps", python_int(self.steps), 1):
            admissible = f"at most {self.steps}, one for each step"
            raise InvalidValue("coefficients", f"{self.coefficients.size} of them", admissible, "Leave out the last")

    @property
    def steps(self) -> int:
        """How many steps there are, n."""
        return self.coefficients.size if self._steps is None else self._steps

    @property
    def matrix(self) -> Floats:
        """The matrix C, with zeros above the diagonal."""
        found = np.zeros(2 * (_within_limit(self.steps),))
        for lag, number in enumerate(self.coefficients.tolist()):
            np.fill_diagonal(found[lag:], number)
        return found

    @property
    def numbers(self) -> Floats:
        """The coefficients of all diagonals."""
        return self.coefficients

    @property
    def bands(self) -> int:
        """The number of coefficients, but for zeros at the end."""
        return int(np.flatnonzero(self.coefficients)[-1]) + 1

    def ending(self, step: int) -> list[Floats]:
        """One row, back to where 0 follows."""
        return [self.coefficients[: min(step + 1, self.bands)][::-1]]

    def rounded(self, bits: int = FINEST) -> ToeplitzStrategy:
        """Return the strategy with coefficients that are multiples of 2^-bits."""
        return ToeplitzStrategy(_nearest(self.coefficients, bits), self.steps)

    def sensitivity(self, participation: Participation) -> Enclosure:
        """As of every strategy; exact where no coefficient is negative or above the one before it."""
        falling = np.all(self.coefficients >= 0) and np.all(np.diff(self.coefficients) <= 0)
        asked = participation.within(self.steps)
        if not falling or asked.times * self.bands > _MOST_TERMS:
            return super().sensitivity(asked)
        numbers, unit = _integers(self.coefficients)
        moved = [0] * self.steps
        for start in asked.earliest(self.steps):
            for place, number in enumerate(numbers[: self.steps - start], start):
                moved[place] += number
        return Enclosure.of(sum(number * number for number in moved) * unit * unit).sqrt()

    def column_norms(self) -> list[Enclosure]:
        """The ℓ2 norm of each column, exactly; those of the last ones are less."""
        numbers, unit = _integers(self.coefficients)
        squares, total = [0], 0
        for number in numbers:
            squares.append(total := total + number * number)
        known = [Enclosure.of(total * unit * unit).sqrt() for total in squares]
        return [known[min(self.steps - step, len(numbers))] for step in range(self.steps)]

    def __str__(self) -> str:
        return f"Toeplitz, {self.bands} of {self.steps} diagonals"


@final
@known_keywords
@frozen(eq=False, repr=False)
class MatrixStrategy(Strategy):
    """A lower-triangular matrix without zeros on its diagonal.

    Args:
        matrix: n × n, n ≤ 4,096.

    Raises:
        InvalidValue: for another shape, numbers that are not finite, ones above the diagonal and zeros on it.
    """

    matrix: Floats = field(converter=_square)

    def __attrs_post_init__(self) -> None:
        rows, columns = self.matrix.shape
        if rows != columns or not rows:
            raise InvalidValue("matrix", f"shape {self.matrix.shape}", "as many rows as columns, at least 1")
        _within_limit(rows)
        if np.any(np.triu(self.matrix, 1)):
            remedy = "A number that is released may depend on this step and earlier ones alone"
            raise InvalidValue("matrix", "a number above the diagonal", "a lower-triangular matrix", remedy)
        if not np.all(np.diagonal(self.matrix)):
            raise InvalidValue("matrix", "a zero on the diagonal", "a matrix that has an inverse")

    @property
    def steps(self) -> int:
        """How many steps there are, n."""
        return len(self.matrix)

    @property
    def numbers(self) -> Floats:
        """Every entry of the matrix."""
        return self.matrix

    @property
    def bands(self) -> int:
        """The number of diagonals up to the last that holds a number other than 0."""
        rows, columns = np.nonzero(self.matrix)
        return int(np.max(rows - columns)) + 1

    def ending(self, step: int) -> list[Floats]:
        """One row, back to where 0 follows."""
        return [self.matrix[step, max(0, step + 1 - self.bands) : step + 1]]

    def rounded(self, bits: int = FINEST) -> MatrixStrategy:
        """Return the strategy with entries that are multiples of 2^-bits."""
        return MatrixStrategy(_nearest(self.matrix, bits))

    def __str__(self) -> str:
        return f"a matrix, {self.bands} of {self.steps} diagonals"


@final
@known_keywords
@frozen(eq=False, repr=False)
class TreeStrategy(Strategy):
    """Tree aggregation: the sums over all whole stretches of 1, 2, 4, … steps are released with noise.

    Args:
        steps: n ≤ 4,096.

    Raises:
        InvalidValue: for other numbers of steps.
    """

    _steps: int = field(converter=python_int)

    def __attrs_post_init__(self) -> None:
        _within_limit(whole("steps", self._steps, 1))

    @property
    def steps(self) -> int:
        """How many steps there are, n."""
        return self._steps

    @property
    def matrix(self) -> Floats:
        """C, a row for each stretch."""
        rows = [(step, row) for step in range(self.steps) for row in self.ending(step)]
        found = np.zeros((len(rows), self.steps))
        for place, (step, row) in enumerate(rows):
            found[place, step + 1 - len(row) : step + 1] = row
        return found

    def ending(self, step: int) -> list[Floats]:
        """The stretches that end with a step, the shortest first."""
        return [np.ones(1 << level) for level in range(((step + 1) & -(step + 1)).bit_length())]

    @property
    def numbers(self) -> Floats:
        """Entries are 1."""
        return np.ones(1)

    @property
    def bands(self) -> int:
        """A row reaches back over the longest whole stretch."""
        return 1 << (self.steps.bit_length() - 1)

    def rounded(self, bits: int = FINEST) -> TreeStrategy:
        """Return itself: its entries are 0 and 1."""
        return self

    def __str__(self) -> str:
        return f"tree aggregation over {self.steps} steps"


def strategy_of(source: ArrayLike | str | Path, steps: int | None = None) -> Strategy:
    """The strategy that other tools write as an array, such as those of jax_privacy.

    Args:
        source: a list of Toeplitz coefficients or a lower-triangular matrix, or an npy file that holds one of them.
        steps: of a Toeplitz strategy, where it has more of them than coefficients.

    Raises:
        InvalidValue: for a file that is none, numbers that are not finite, and as the strategies.
    """
    given: ArrayLike
    match source:
        case str() | Path():
            try:
                given = np.load(source, allow_pickle=False)
            except (OSError, ValueError) as error:
                raise InvalidValue("source", str(source), "an npy file of numbers", f"Reading it: {error}") from None
        case _:
            given = source
    found = np.asarray(given)
    if found.ndim == 1:
        return ToeplitzStrategy(found, steps)
    if steps not in (None, len(found)):
        raise InvalidValue("steps", steps, f"{len(found)}, as many as the matrix has rows")
    return MatrixStrategy(found)


def products(matrix: Floats) -> tuple[Floats, Floats, int]:
    """Lower and upper ends of the entries of CᵀC in units of 4^e, and e.

    Entries are cut into slices of whole numbers so short that their products add up exactly in binary64: the result is
    the same however a library orders the sums.
    """
    exponent = int(np.frexp(np.max(np.abs(matrix)))[1])
    rest, width = np.ldexp(matrix, -exponent), (_DIGITS - len(matrix).bit_length()) // 2
    slices = []
    for _ in range(_SLICES):
        rest = np.ldexp(rest, width)
        slices.append(np.trunc(rest))
        rest = rest - slices[-1]
    total, magnitude = np.zeros((2, *2 * matrix.shape[1:]))
    for one, first in enumerate(slices, 1):
        for other, second in enumerate(slices, 1):
            part = np.ldexp(first.T @ second, -width * (one + other))
            total += part
            magnitude += np.abs(part)
    filled = np.asarray(matrix != 0, dtype=np.float64)
    meet = filled.T @ filled > 0
    error = _ROUNDED * magnitude + meet * (8.0 * len(matrix) * 2.0 ** (-width * _SLICES))
    return total - error, total + error, exponent


def _total(entries: Floats, steps: Sequence[int]) -> Fraction:
    """The sum of the entries in these rows and columns, exactly rounded down a little."""
    block = entries[np.ix_(list(steps), list(steps))]
    return Fraction(float(np.sum(block))) - Fraction(at_most(float(np.sum(np.abs(block))), block.size))


def _within_limit(steps: int) -> int:
    if steps > LARGEST_DENSE:
        remedy = "State Toeplitz coefficients that never rise, which need no matrix"
        raise InvalidValue("steps", steps, f"at most {LARGEST_DENSE} for this strategy", remedy)
    return steps


def _nearest(numbers: Floats, bits: int) -> Floats:
    return np.asarray(np.ldexp(np.rint(np.ldexp(numbers, whole("bits", bits, 0))), -bits))


def _integers(numbers: Floats) -> tuple[list[int], Fraction]:
    """Whole numbers of a unit, exactly."""
    ratios = [Fraction(number) for number in numbers.tolist()]
    bottom = max(ratio.denominator for ratio in ratios)
    return [int(ratio * bottom) for ratio in ratios], Fraction(1, bottom)
