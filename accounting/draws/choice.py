"""One of finitely many outputs, exactly: with probabilities proportional to e^−x, or by permute-and-flip.

With a = e^−(x − the least x), cumulative sums A_0 = 0 to A_m and a uniform number w, the choice is the i with
A_i < w·A_m ≤ A_(i+1). The sums are enclosed: where a word's interval lies between two of them, it is decided, and where
it does not, more bits of the same number are drawn and the sums are enclosed more closely, until it does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..enclosures import Enclosure
from ..errors import InvalidValue
from .exact import LazyNumber
from .noise import Integers, words_of
from .source import Source

_WORD = 64
_PRECISION = 128
_MARGIN = 32


def choose(exponents: Sequence[Fraction], size: int, source: Source) -> Integers:
    """Independent choices, each i with probability exactly proportional to e^−exponents[i], given uniform bits.

    Args:
        exponents: one for each output; at least one.
        size: how many choices.
        source: of random bits.

    Returns:
        int64 array of `size` indices.

    Raises:
        InvalidValue: for no exponents, and a source that does not give the words that it was asked for.
    """
    if not exponents:
        raise InvalidValue("exponents", "none", "at least one output")
    least = min(exponents)
    above = [exponent - least for exponent in exponents]
    # the number of ends that w is known to be above, and that it may be above: v·2^-64 ≤ w ≤ (v + 1)·2^-64
    ends = _ends(above, _PRECISION)
    surely = np.array([min(math.ceil(high * 2**_WORD), 2**_WORD) - 1 for _, high in ends], dtype=np.uint64)
    maybe = np.array([min(math.floor(low * 2**_WORD), 2**_WORD - 1) for low, _ in ends], dtype=np.uint64)
    words = words_of(source, size)
    drawn = np.searchsorted(surely, words, side="left").astype(np.int64)
    for place in np.flatnonzero(drawn != np.searchsorted(maybe, words, side="right")).tolist():
        drawn[place] = exact_choice(above, int(words[place]), source)
    return drawn


def exact_choice(above: Sequence[Fraction], word: int, source: Source) -> int:
    """The choice that a word and the words drawn after it mean.

    Args:
        above: exponents of which the least is 0.
        word: 64 uniform bits.
        source: of more bits.
    """
    number = LazyNumber(word, _WORD, source)
    while True:
        ends = _ends(above, number.bits + _MARGIN + len(above).bit_length())
        low, high = Fraction(number.known, 1 << number.bits), Fraction(number.known + 1, 1 << number.bits)
        surely, maybe = (sum(above_it) for above_it in ([low >= e[1] for e in ends], [high > e[0] for e in ends]))
        if surely == maybe:
            return surely
        number.extend()


def accepted(exponents: Sequence[Fraction], which: Integers, source: Source) -> NDArray[np.bool_]:
    """Independent coins, coin j true with probability exactly e^−exponents[which[j]].

    Permute-and-flip takes outputs in random order until a coin is true; that is a uniform one of those with a true coin
    (McKenna, Sheldon 2020, Algorithm 1).

    Args:
        exponents: the different ones, each at least 0.
        which: int64 (n,), the exponent of each coin.
        source: of random bits.
    """
    shares = [_share(exponent, _PRECISION) for exponent in exponents]
    # w lies in [v, v + 1]·2^-64: surely below the lower end for v < first, and not below the upper one for v > last
    first = np.array([min(math.floor(p.lower * 2**_WORD), 2**_WORD - 1) for p in shares], dtype=np.uint64)
    last = np.array([min(math.ceil(p.upper * 2**_WORD), 2**_WORD) - 1 for p in shares], dtype=np.uint64)
    words = words_of(source, len(which))
    told = words < first[which]
    for place in np.flatnonzero(~told & (words <= last[which])).tolist():
        exponent = exponents[int(which[place])]

        def probability(precision: int, exponent: Fraction = exponent) -> Enclosure:
            return _share(exponent, precision)

        told[place] = LazyNumber(int(words[place]), _WORD, source).below(probability)
    return told


def _ends(above: Sequence[Fraction], precision: int) -> list[tuple[Fraction, Fraction]]:
    """Both ends of A_1/A_m to A_(m−1)/A_m, each at least those before it."""
    sums = list(accumulate(_share(exponent, precision) for exponent in above))
    ratios = [one / sums[-1] for one in sums[:-1]]
    lower = accumulate((ratio.lower for ratio in ratios), max)
    upper = accumulate((ratio.upper for ratio in ratios), max)
    return list(zip(lower, upper, strict=True))


def _share(exponent: Fraction, precision: int) -> Enclosure:
    """e^−exponent; where it is below 2^-precision, that is all that is said of it."""
    if exponent > precision:
        return Enclosure.between(0, Fraction(1, 1 << precision), precision=precision)
    return (-Enclosure.of(exponent, precision=precision)).exp()
