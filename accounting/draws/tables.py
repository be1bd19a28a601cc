"""Tables of G as polynomials on segments, each with a proven bound of its error.

A segment is p from 2^-(k+1)·(1 + j/64) to 2^-(k+1)·(1 + (j + 1)/64), the j-th of the octave k; the kernel of
`certdp.accounting._kernels.noise` says what its row means and how it is used. With t in [−1, 1] the place of p in the
segment, and u/2^63 the place that the kernel takes, let G = Σ a_n·t^n + remainder, C_0 the integer of the row and
C_n·2^(−63·n) its binary64 numbers. The error of the kernel's magnitude, in units of 2^-58, is at most the sum of

- |a_0·2^58 − C_0| + Σ_(n≥1) |a_n·2^58 − C_n|: coefficients are rounded, and |u/2^63| ≤ 1;
- remainder·2^58, for the terms that are left out;
- slope·2^58·2^(k+7−63): unread bits move p by at most 2^(k+7)/2^63 from the place that the kernel takes;
- 1.001·2^-52·Σ_(n≥1) (2n + 1)·|C_n|: in Horner's scheme the n-th term is multiplied n times by the rounded u and is
  rounded n + 1 times, at the end with the others; each time it changes by 2^-52 of itself at most, in whichever
  direction the machine rounds, with and without a fused operation. Nothing is near the ends of the range of binary64;
- 1, for the binary64 number is cut to an integer.

a_n, remainder and slope are enclosures, and so is this sum, E; what is stored is the least integer above it, plus 2 for
the scaling. All fits 64 bits, which is checked in each row: |C_0| + 2·Σ_(n≥1) |C_n| bounds the magnitude, and with
E + 2 + 2^57 it is below 2^63, as half a cell is 2^57 at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..enclosures import Enclosure
from ..errors import InvalidValue
from .laws import DEGREE, GAUSSIAN, LAPLACE, Law

OCTAVES = 24
"""In a table; a word beyond, one in 2^24, goes to the exact routine."""
SEGMENTS, POINT, PLACE = 64, 58, 63
"""As in the kernel."""

_PRECISION = 128
_HALF_UNREAD = 7
_ROUNDING = Fraction(1001, 1000 << 52)
_SCALING = 2
_NEVER = 1 << 60  # a bound that exceeds every half cell

_ROW = np.dtype([("first", "<i8"), ("rest", "<f8", DEGREE), ("bound", "<i8")])
_DIGESTS = MappingProxyType(
    {
        "laplace": "4b31b32ff38d530246a2d12dc8fdfa860fec5cd23fe39953cef19438faed842c",
        "gaussian": "ad5f5fd69b95e19115fce11e6e787d984b83173c0895fe528a2a3a525150683d",
    }
)
_FOLDER = Path(__file__).parent

Row: TypeAlias = tuple[int, tuple[float, ...], int]
"""C_0, the binary64 numbers of C_1 to C_7, and E + 2."""


@final
@frozen(eq=False)
class Table:
    """What the kernel reads: the rows of all segments, and one that is never decided.

    Attributes:
        whole: int64, two columns.
        broken: float64, seven columns.
        largest_bound: of segments.
    """

    whole: NDArray[np.int64]
    broken: NDArray[np.float64]
    largest_bound: int


def row(law: Law, octave: int, segment: int) -> Row:
    """The row of a segment, with the bound proven above.

    Raises:
        InvalidValue: where its sums could leave 64 bits.
    """
    width = Fraction(1, SEGMENTS << (octave + 2))
    centre = (2 * (SEGMENTS + segment) + 1) * width
    found = law.expansion(centre, width, _PRECISION)
    units = [exact * (1 << POINT) for exact in found.coefficients]
    first = round(units[0].midpoint)
    rest = [float(exact.midpoint) for exact in units[1:]]
    error = (
        found.remainder * (1 << POINT)
        + found.slope * Fraction(1 << (octave + _HALF_UNREAD + POINT), 1 << PLACE)
        + abs(units[0] - first)
        + _total(abs(exact - Fraction(kept)) for exact, kept in zip(units[1:], rest, strict=True))
        + _ROUNDING * sum((2 * n + 1) * abs(Fraction(kept)) for n, kept in enumerate(rest, start=1))
        + 1
    )
    bound = math.ceil(error.upper) + _SCALING
    if abs(first) + 2 * sum(map(abs, rest)) + bound + (1 << POINT - 1) >= 1 << 63:
        raise InvalidValue("law", law.name, "sums that fit 64 bits")
    return first, tuple(math.ldexp(kept, -PLACE * n) for n, kept in enumerate(rest, start=1)), bound


def _total(numbers: Iterable[Enclosure]) -> Enclosure:
    return sum(numbers, Enclosure.of(0, precision=_PRECISION))


@cache
def table(law: Law) -> Table:
    """The table of a law as it was computed ahead, read-only.

    Raises:
        InvalidValue: where the file is not the one that was computed.
    """
    path = _path(law)
    stored = path.read_bytes()
    if sha256(stored).hexdigest() != _DIGESTS[law.name]:
        raise InvalidValue("table", path, "the file that certdp was published with", "Install certdp again")
    rows = np.frombuffer(stored, dtype=_ROW)
    whole = np.zeros((len(rows) + 1, 2), dtype=np.int64)
    whole[:-1, 0], whole[:-1, 1], whole[-1, 1] = rows["first"], rows["bound"], _NEVER
    broken = np.zeros((len(rows) + 1, DEGREE))
    broken[:-1] = rows["rest"]
    for part in (whole, broken):
        part.flags.writeable = False
    return Table(whole, broken, int(whole[:-1, 1].max()))


def _path(law: Law) -> Path:
    return _FOLDER / f"{law.name}.table"


def _write() -> None:
    for law in (LAPLACE, GAUSSIAN):
        rows = [row(law, octave, segment) for octave in range(OCTAVES) for segment in range(SEGMENTS)]
        stored = np.array(rows, dtype=_ROW).tobytes()
        _path(law).write_bytes(stored)
        print(f'"{law.name}": "{sha256(stored).hexdigest()}",')


if __name__ == "__main__":  # python -m certdp.accounting.draws.tables; its output goes into _DIGESTS
    _write()
