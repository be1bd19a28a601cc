"""A radix-2 Fourier transform on binary64 with a proven bound of its error.

Legend: N = 2^L, ω = e^(−2πi/N), X_k = Σ_r x_r·ω^(rk). Forward, the input is in natural and the output in bit-reversed
order; the inverse (without the factor 1/N) goes back, so that nothing is ever permuted. In bit-reversed order the
frequencies k and N − k lie mirrored within the block [2^m, 2^(m+1)) of positions.

Every output is a sum over the inputs, each of which passes L butterflies; a butterfly adds (1u), and multiplies (√5u)
by a tabled root of unity (5u). So |computed X_k − X_k| ≤ 9.1·L·u·Σ|x_r|, and the same holds backwards. The proof is in
`docs/soundness_lattice.md`, section "The transform". u = 2^-53.
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

import numpy as np

from . import types
from .compile import READ, WRITE, Floats, inlined, kernel

STAGE_UNITS = 10
"""In units of u, what one of the L stages adds to the error, relative to the sum of the magnitudes put in."""

_BITS = 128
_RESIDENT = 1 << 12  # a block of this length stays in the cache while its stages are done


def _roots(halvings: int) -> list[tuple[int, int]]:
    """(cos, sin) of 2π/2^m for m = 1, …, halvings, times 2^_BITS, each off by less than 2^16."""
    one = 1 << _BITS
    found = [(-one, 0), (0, one)]
    while len(found) < halvings:
        cosine, sine = found[-1]
        half = isqrt((one + cosine) << (_BITS - 1))
        found.append((half, (sine << (_BITS - 1)) // half))
    return found[:halvings]


def _powers(root: tuple[int, int], count: int) -> tuple[Floats, Floats]:
    """The first powers of a root of unity, each rounded once."""
    cosine, sine = 1 << _BITS, 0
    real, imaginary = np.empty(count), np.empty(count)
    for k in range(count):
        real[k], imaginary[k] = cosine / 2**_BITS, sine / 2**_BITS  # a quotient of integers is correctly rounded
        cosine, sine = (cosine * root[0] - sine * root[1]) >> _BITS, (cosine * root[1] + sine * root[0]) >> _BITS
    return real, imaginary


@lru_cache(maxsize=4)
def roots_of_unity(log_length: int) -> tuple[Floats, Floats]:
    """Real and imaginary parts of ω^j for the stages of a transform of length 2^L, L = log_length ≥ 1.

    The stage that joins halves of length 2^m has its 2^m roots at the positions from 2^m on. Each root is within 5u.
    """
    length = 1 << log_length
    low = (log_length - 1) // 2  # ω^j = ω^(2^low·a)·ω^b: two short tables instead of a long one
    angles = _roots(log_length)
    coarse_real, coarse_imaginary = _powers(angles[log_length - low - 1], 1 << (log_length - 1 - low))
    fine_real, fine_imaginary = _powers(angles[-1], 1 << low)
    real = np.outer(coarse_real, fine_real) - np.outer(coarse_imaginary, fine_imaginary)
    imaginary = np.outer(coarse_real, fine_imaginary) + np.outer(coarse_imaginary, fine_real)
    finest = real.reshape(-1), -imaginary.reshape(-1)
    tables = np.empty(length), np.empty(length)
    for table, values in zip(tables, finest, strict=True):
        table[0] = 0.0
        for stage in range(log_length):
            table[1 << stage : 2 << stage] = values[:: 1 << (log_length - 1 - stage)]
        table.flags.writeable = False
    return tables


@inlined
def _apart(real: Floats, imaginary: Floats, root_real: Floats, root_imaginary: Floats, start: int, half: int) -> None:
    """One butterfly stage of a block: sums go left, differences times roots go right."""
    for j in range(half):
        here, there = start + j, start + j + half
        a, b = real[here], imaginary[here]
        c, d = real[there], imaginary[there]
        p, q = a - c, b - d
        w, v = root_real[half + j], root_imaginary[half + j]
        real[here], imaginary[here] = a + c, b + d
        real[there], imaginary[there] = p * w - q * v, p * v + q * w


@inlined
def _together(
    real: Floats, imaginary: Floats, root_real: Floats, root_imaginary: Floats, start: int, half: int
) -> None:
    """The stage that undoes `_apart`, times 2: the conjugate roots come first."""
    for j in range(half):
        here, there = start + j, start + j + half
        w, v = root_real[half + j], root_imaginary[half + j]
        c, d = real[there], imaginary[there]
        p, q = c * w + d * v, d * w - c * v
        a, b = real[here], imaginary[here]
        real[here], imaginary[here] = a + p, b + q
        real[there], imaginary[there] = a - p, b - q


@kernel(types.void, WRITE, WRITE, READ, READ)
def forward(real: Floats, imaginary: Floats, root_real: Floats, root_imaginary: Floats) -> None:
    """The transform in place; the output is in bit-reversed order."""
    length = real.size
    resident = min(length, _RESIDENT)
    half = length // 2
    while half >= resident:
        for start in range(0, length, 2 * half):
            _apart(real, imaginary, root_real, root_imaginary, start, half)
        half //= 2
    for block in range(0, length, resident):
        half = resident // 2
        while half >= 1:
            for start in range(block, block + resident, 2 * half):
                _apart(real, imaginary, root_real, root_imaginary, start, half)
            half //= 2


@kernel(types.void, WRITE, WRITE, READ, READ)
def backward(real: Floats, imaginary: Floats, root_real: Floats, root_imaginary: Floats) -> None:
    """The inverse transform in place, times N; the input is in bit-reversed order."""
    length = real.size
    resident = min(length, _RESIDENT)
    for block in range(0, length, resident):
        half = 1
        while half < resident:
            for start in range(block, block + resident, 2 * half):
                _together(real, imaginary, root_real, root_imaginary, start, half)
            half *= 2
    half = resident
    while half < length:
        for start in range(0, length, 2 * half):
            _together(real, imaginary, root_real, root_imaginary, start, half)
        half *= 2
