"""Loops over the bytes of keys and counts, and over random words, one element at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..accounting._kernels import types
from ..accounting._kernels.compile import inlined, kernel

_POSITIONS = types.array(types.int64, 1, "C", readonly=True)
_BYTES = types.array(types.uint8, 1, "C", readonly=True)
_WORDS = types.array(types.uint64, 1, "C", readonly=True)
_WORDS_OUT = types.array(types.uint64, 1, "C")
_PLACES_OUT = types.array(types.int64, 1, "C")
_TRUTHS_OUT = types.array(types.boolean, 1, "C")

_FIRST, _SECOND, _THIRD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
_ZERO, _TEN = np.uint8(48), np.uint64(10)
_DIGITS = 16  # of 2^53
_GUIDED = np.uint64(52)  # a guide has an entry for each value of the 12 leading bits


@inlined
def _mixed(word: np.uint64) -> np.uint64:
    """A bijection of the words that spreads every bit (SplitMix64, Steele, Lea, Flood 2014)."""
    word = (word ^ (word >> _SHIFTS[0])) * _SECOND
    word = (word ^ (word >> _SHIFTS[1])) * _THIRD
    return word ^ (word >> _SHIFTS[2])


@kernel(types.void, _POSITIONS, _BYTES, types.uint64, _WORDS_OUT)
def hashes(offsets: NDArray[np.int64], data: NDArray[np.uint8], secret: np.uint64, out: NDArray[np.uint64]) -> None:
    """Write a 64-bit hash of each key, data[offsets[i]:offsets[i+1]], to `out`; equal keys have equal hashes."""
    for i in range(out.size):
        at, end = offsets[i], offsets[i + 1]
        state = _mixed(secret ^ np.uint64(end - at) * _FIRST)
        while at + 8 <= end:
            word = np.uint64(0)
            for j in range(8):
                word |= np.uint64(data[at + j]) << np.uint64(8 * j)
            state = _mixed(state ^ word) * _FIRST
            at += 8
        word = np.uint64(0)
        for j in range(end - at):
            word |= np.uint64(data[at + j]) << np.uint64(8 * j)
        out[i] = _mixed(state ^ word)


@kernel(types.int64, _POSITIONS, _BYTES)
def shared(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> np.int64:
    """How many bytes all keys begin with alike; there is at least one key."""
    first = offsets[0]
    length: np.int64 = offsets[1] - first
    for i in range(1, offsets.size - 1):
        at = offsets[i]
        length = min(length, offsets[i + 1] - at)
        for j in range(length):
            if data[at + j] != data[first + j]:
                length = np.int64(j)
                break
    return length


@kernel(types.void, _POSITIONS, _BYTES, types.int64, _WORDS_OUT)
def prefixes(offsets: NDArray[np.int64], data: NDArray[np.uint8], skipped: np.int64, out: NDArray[np.uint64]) -> None:
    """Write 8 bytes of each key after the first `skipped` ones, as a number, to `out`; shorter keys end in zeros."""
    for i in range(out.size):
        at, end = offsets[i] + skipped, offsets[i + 1]
        word = np.uint64(0)
        for j in range(min(8, end - at)):
            word |= np.uint64(data[at + j]) << np.uint64(56 - 8 * j)
        out[i] = word


@kernel(types.void, _POSITIONS, _BYTES, _WORDS_OUT, _TRUTHS_OUT)
def decimals(
    offsets: NDArray[np.int64], data: NDArray[np.uint8], out: NDArray[np.uint64], read: NDArray[np.bool_]
) -> None:
    """Write to `out` what is a number of 1 to 16 digits and nothing else; `read` tells where."""
    for i in range(out.size):
        at, end = offsets[i], offsets[i + 1]
        value = np.uint64(0)
        plain = (at < end) & (end - at <= _DIGITS)
        if plain:
            for j in range(at, end):
                digit = data[j] - _ZERO  # below 0 it wraps around
                plain &= digit < _TEN
                value = value * _TEN + np.uint64(digit)
        out[i] = value
        read[i] = plain


@kernel(types.void, _WORDS, _WORDS, _POSITIONS, _PLACES_OUT)
def sections(
    words: NDArray[np.uint64], leads: NDArray[np.uint64], guide: NDArray[np.int64], out: NDArray[np.int64]
) -> None:
    """Write how many of the increasing `leads` are below each word, or −1 where one is equal to it.

    `guide` has, for each value of the 12 leading bits of a word, how many leads are below all words that start so, and
    at its end how many leads there are.
    """
    for i in range(words.size):
        word = words[i]
        start = word >> _GUIDED
        low, high = guide[start], guide[start + 1]
        while low < high:
            middle = (low + high) >> 1
            if leads[middle] < word:
                low = middle + 1
            else:
                high = middle
        out[i] = -1 if (low < leads.size) and (leads[low] == word) else low


@kernel(types.void, _WORDS, _POSITIONS, _POSITIONS, _WORDS, _PLACES_OUT)
def sections_of_rows(
    words: NDArray[np.uint64],
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    leads: NDArray[np.uint64],
    out: NDArray[np.int64],
) -> None:
    """Write how many of the increasing leads of its row are below each word, or −1 where one is equal to it.

    Row r has the leads from `starts[r]` to before `starts[r + 1]`.
    """
    for i in range(words.size):
        word = words[i]
        start, end = starts[rows[i]], starts[rows[i] + 1]
        low, high = start, end
        while low < high:
            middle = (low + high) >> 1
            if leads[middle] < word:
                low = middle + 1
            else:
                high = middle
        out[i] = -1 if (low < end) and (leads[low] == word) else low - start
