"""Weighted sums on the lattice granularity·ℤ, in exact integers: what exact noise is added to.

Each record is put on the lattice by itself, coordinate by coordinate toward zero, so what it adds has no larger
absolute coordinate than w·x: every norm of it is at most w·‖x‖, and no sensitivity is added.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import cycle
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..accounting._kernels.exact_sums import LOW_BITS, ROWS, add_cut
from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats, Number
from ..accounting.provenance import Declared, declared_number
from ..plugins.contract import Coins, Real, Release, WeightedSample

_Counts: TypeAlias = NDArray[np.int64]
_Flags: TypeAlias = NDArray[np.bool_]

_LARGEST = Fraction(sys.float_info.max)
_FINEST, _COARSEST = Fraction(1, 2**500), Fraction(2**500)
_WHOLE = 2.0**53  # below it, binary64 holds every whole number
_MARGIN = 2.0**-50
_FINE = 30  # bits of the least scale in units of its grid
_SUMMABLE = 1 << 62
_ENTRIES = 1 << 17  # of a block of columns, or one column
_MANY = 1 << 16  # entries from which a kernel is worth its loading
_STRETCH = 64  # entries at least that it takes at a time


@runtime_checkable
class Additive(Protocol):
    """A mechanism that releases from exact whole numbers, which add up over the records of a sample."""

    def totals(self, sample: WeightedSample) -> list[int]:
        """The numbers of a sample, at least one for any; those of two samples add up to those of both together."""
        ...

    def noisy(self, totals: Sequence[int], count: int, coins: Coins) -> Release:
        """Independent releases from the numbers of a sample: a matrix with one row per release."""
        ...


def granularity(value: Declared[Number]) -> Real:
    """A declared spacing of the lattice, in [2^-500, 2^500]."""
    return declared_number(
        value, lambda spacing: _FINEST <= spacing <= _COARSEST, "a number in [2^-500, 2^500]", parameter="granularity"
    )


def noise_unit(scale: Fraction, bits: int = _FINE) -> Fraction:
    """The unit of the grid on which real-valued noise of this scale is rounded: 2^30 to 2^31 of them are the scale.

    It is a power of two that follows from the scale alone, which is public.

    Args:
        scale: in units of the data.
        bits: another number than those 30, in [0, 44].

    Raises:
        InvalidValue: for a scale below 2^(bits − 500) or of 2^(bits + 500) at least.
    """
    top, bottom = scale.numerator, scale.denominator
    power = top.bit_length() - bottom.bit_length()
    if Fraction(2) ** power > scale:
        power -= 1
    unit = Fraction(2) ** (power - bits)
    if not _FINEST <= unit <= _COARSEST:
        admissible = f"a scale from 2^{bits - 500} to 2^{bits + 500}"
        raise InvalidValue("scale", scale, admissible, "Multiply or divide the data by a public number")
    return unit


def lattice_sum(sample: WeightedSample, spacing: Fraction) -> list[int]:
    """Per column the sum of the numbers ⌊w·|x|/spacing⌋ with the signs of x, all exact.

    Args:
        sample: records and weights.
        spacing: granularity of the lattice, in [2^-500, 2^500].
    """
    if sample.records.size >= _MANY and _is_power_of_two(spacing):
        return _sums_in_bulk(sample, spacing)
    step = max(1, _ENTRIES // max(1, len(sample)))
    blocks = (sample.records[:, start : start + step] for start in range(0, sample.records.shape[1], step))
    return [total for block in blocks for total in _totals(sample.weights, block, spacing)]


def vote_sums(sample: WeightedSample, spacing: Fraction, *, signed: bool) -> list[int]:
    """`lattice_sum` of votes; unless they are signed, a negative one counts as 0."""
    votes = sample if signed else WeightedSample(np.maximum(sample.records, 0.0), sample.weights)
    return lattice_sum(votes, spacing)


def require_columns(sample: WeightedSample) -> None:
    """Refuse samples without columns, and those whose sums leave the range of binary64."""
    if not sample.records.shape[1]:
        raise InvalidValue("records", "no column", "one column for each candidate, at least one")
    sample.require_summable()


def _sums_in_bulk(sample: WeightedSample, spacing: Fraction) -> list[int]:
    """What `lattice_sum` gives, for a spacing that is a power of two, by a compiled kernel."""
    columns = sample.records.shape[1]
    stretch = columns * max(1, min(ROWS, -(-_STRETCH // columns)))
    high, low = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    left = np.empty(-(-len(sample) // ROWS), dtype=np.int64)
    weights, records = np.ascontiguousarray(sample.weights), np.ascontiguousarray(sample.records)
    room = np.empty(stretch), np.empty(stretch, dtype=np.int64)
    opened = add_cut(weights, records.reshape(-1), float(1 / spacing), *room, high, low, left)
    totals = _joined(high, low)
    for block in left[:opened].tolist():
        rows = slice(block * ROWS, (block + 1) * ROWS)
        extra = _totals(weights[rows], records[rows], spacing)
        totals = [total + more for total, more in zip(totals, extra, strict=True)]
    return totals


def on_lattice(counts: Iterable[int], spacing: Fraction) -> Release:
    """The lattice points counts·spacing, rounded to binary64: post-processing, whatever the rounding.

    Points beyond binary64 become its largest numbers: a refusal after a draw would say something of it.
    """
    points = (max(-_LARGEST, min(_LARGEST, count * spacing)) for count in counts)
    return np.asarray([float(point) for point in points], dtype=np.float64)


def noisy_sums(totals: Sequence[int], noise: Sequence[int], spacing: Fraction, draws: int) -> Release:
    """The totals with each of several draws of noise, as lattice points: a matrix with one row per draw.

    Args:
        totals: one per column.
        noise: as many numbers for each draw as there are columns, draw after draw.
        spacing: granularity of the lattice.
        draws: how many there are.
    """
    points = on_lattice((total + extra for total, extra in zip(cycle(totals), noise, strict=False)), spacing)
    return points.reshape(draws, len(totals))


def rounded_sums(
    totals: Sequence[int], scale: Fraction, noise_cells: Callable[[Fraction, int], _Counts], draws: int
) -> Release:
    """Sums with real-valued noise, correctly rounded to a fine public grid: one row per draw.

    Each record was put on the grid toward zero by itself, and noise is rounded to it: what is released is a function of
    the real-valued mechanism's output alone, on records none of whose norms grew.

    Args:
        totals: what `lattice_sum` gave on the grid of the scale, whose unit is `noise_unit(scale)`.
        scale: of the noise, in units of the data.
        noise_cells: draws so many numbers of units of noise of a scale that is given in units of the grid.
        draws: how many rows.

    Raises:
        InvalidValue: as `noise_unit`.
    """
    unit = noise_unit(scale)
    noise = noise_cells(scale / unit, draws * len(totals))
    small = max(map(abs, totals), default=0) < _SUMMABLE and np.all(np.abs(noise) < _SUMMABLE)
    if not small:
        return noisy_sums(totals, noise.tolist(), unit, draws)
    cells = noise.reshape(draws, len(totals)) + np.array(totals, dtype=np.int64)
    return np.asarray(cells.astype(np.float64) * float(unit))


def _totals(weights: Floats, block: Floats, spacing: Fraction) -> list[int]:
    magnitudes = np.abs(block)
    spread = np.broadcast_to(weights[:, np.newaxis], block.shape)
    counts, settled = _whole_counts(spread, magnitudes, spacing)
    rows, columns = np.nonzero(~settled)
    close, told = _bracketed_counts(weights[rows], magnitudes[rows, columns], spacing)
    counts[rows[told], columns[told]] = close[told]
    signed = np.where(block < 0, -counts, counts)
    # |count| < 2^53: the sums of the upper and of the lower bits of up to 2^35 of them stay within int64
    high, low = (signed >> LOW_BITS).sum(axis=0), (signed & ((1 << LOW_BITS) - 1)).sum(axis=0)
    totals = _joined(high, low)
    for row, column in zip(rows[~told].tolist(), columns[~told].tolist(), strict=True):
        count = _exact_count(float(weights[row]), float(magnitudes[row, column]), spacing)
        totals[column] += -count if block[row, column] < 0 else count
    return totals


def _joined(high: _Counts, low: _Counts) -> list[int]:
    """Sums of which the upper and the lower bits were added up apart."""
    return [(upper << LOW_BITS) + lower for upper, lower in zip(high.tolist(), low.tolist(), strict=True)]


def _is_power_of_two(number: Fraction) -> bool:
    return all(part & (part - 1) == 0 for part in number.as_integer_ratio())


def _whole_counts(weights: Floats, magnitudes: Floats, spacing: Fraction) -> tuple[_Counts, _Flags]:
    """The counts where w·|x|·b/a, spacing = a/b, is a ratio of whole numbers that binary64 holds; and where so.

    Multiplying by a power of two b ≥ 1 is exact unless it overflows; a product of whole numbers is exact where its
    rounded value is below 2^53. The remaining division is one of integers.
    """
    top, bottom = spacing.numerator, spacing.denominator
    if top >= _WHOLE or bottom >= _WHOLE:
        return np.zeros(magnitudes.shape, dtype=np.int64), np.zeros(magnitudes.shape, dtype=np.bool_)
    with np.errstate(over="ignore"):  # an overflow is not below 2^53
        fine = magnitudes * float(bottom)
        product = weights * fine
    exact = (product < _WHOLE) & (np.floor(fine) == fine) & (np.floor(weights) == weights)
    if bottom & (bottom - 1):
        exact &= np.floor(magnitudes) == magnitudes
    return np.where(exact, product, 0.0).astype(np.int64) // top, exact


def _bracketed_counts(weights: Floats, magnitudes: Floats, spacing: Fraction) -> tuple[_Counts, _Flags]:
    """The counts where a bracket of the quotient w·|x|/spacing holds no whole number; and where so.

    With u = 2^-53, three roundings leave the quotient within 3.01u of the true one, relatively, and the bracket's
    own rounding adds u: 8u on either side is more. Where a product or quotient underflows, the true quotient and the
    bracket are below 2^-1021/2^-500 < 1.
    """
    with np.errstate(over="ignore", under="ignore"):  # an overflow is not below 2^53
        quotient = weights * magnitudes / float(spacing)
        lower, upper = np.floor(quotient * (1 - _MARGIN)), np.floor(quotient * (1 + _MARGIN))
    told = (lower == upper) & (upper < _WHOLE)
    return np.where(told, lower, 0.0).astype(np.int64), told


def _exact_count(weight: float, magnitude: float, spacing: Fraction) -> int:
    one, other = weight.as_integer_ratio(), magnitude.as_integer_ratio()
    return one[0] * other[0] * spacing.denominator // (one[1] * other[1] * spacing.numerator)
