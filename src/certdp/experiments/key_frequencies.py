"""How many keys have each frequency: of a file of counts, of Zipf's law, of a public interval.

"Zipf[α]" of PWS Figures 2 and 4 is read as the law by rank: of n keys, the one of rank r occurs ⌊(n/r)^α⌋ times, the
last one once. The captions state neither support nor normalisation; this reading gives the gains of Figure 4's caption,
that of a probability proportional to i^−α for the frequency i does not (docs/experiments.md).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Self, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..weighted_sampling.counts import open_counts

_LARGEST = 2.0**53


@final
@frozen(eq=False)
class KeyFrequencies:
    """Keys by frequency.

    Attributes:
        name: of the data, or of the law.
        frequencies: whole numbers ≥ 1, increasing.
        keys: how many keys have that frequency.
    """

    name: str
    frequencies: NDArray[np.int64] = field(repr=False)
    keys: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, name: str, counts: NDArray[np.int64]) -> Self:
        """Return the frequencies of keys with these counts."""
        frequencies, keys = np.unique(counts, return_counts=True)
        return cls(name, frequencies, keys.astype(np.int64))

    @classmethod
    def zipf(cls, exponent: float, keys: int) -> Self:
        """The r-th of `keys` keys occurs ⌊(keys/r)^exponent⌋ times.

        Raises:
            InvalidValue: where the first one's count is beyond binary64's whole numbers.
        """
        if float(keys) ** exponent > _LARGEST:
            raise InvalidValue("exponent", exponent, f"an exponent with {keys}^exponent up to 2^53")
        sizes = (keys / np.arange(1.0, keys + 1)) ** exponent
        # a rank that divides n has a whole power, which rounding must not miss
        return cls.of(f"Zipf[{exponent:g}]", np.floor(sizes * (1 + 2.0**-40)).astype(np.int64))

    @classmethod
    def zipf_of_frequencies(cls, exponent: float, largest: int, scale: int = 10**9) -> Self:
        """Return Zipf's law of frequencies: i ≤ `largest` has a share of keys proportional to i^−exponent.

        Shares are whole numbers of `scale`ths of the largest one.
        """
        frequencies = np.arange(1, largest + 1, dtype=np.int64)
        shares = np.rint(scale * frequencies ** -float(exponent)).astype(np.int64)
        return cls(f"Zipf[{exponent:g}] over frequencies to {largest}", frequencies[shares > 0], shares[shares > 0])

    @classmethod
    def uniform(cls, largest: int, keys: int) -> Self:
        """`keys` keys of each frequency from 1 to `largest`."""
        return cls(f"uniform on 1 to {largest}", np.arange(1, largest + 1), np.full(largest, keys, dtype=np.int64))

    def __len__(self) -> int:
        return int(self.keys.sum())

    @property
    def elements(self) -> int:
        """How often all keys occur together."""
        return sum(map(int.__mul__, self.frequencies.tolist(), self.keys.tolist()))

    def up_to(self, largest: int) -> Self:
        """The keys of at most this frequency."""
        kept = self.frequencies <= largest
        return type(self)(f"{self.name}, counts up to {largest}", self.frequencies[kept], self.keys[kept])

    def share(self, probabilities: Floats) -> float:
        """The expected share of keys that are reported, where `probabilities` are those of the frequencies."""
        return math.fsum(self.keys * probabilities) / len(self)


def read_frequencies(path: Path) -> KeyFrequencies:
    """Read the frequencies of a file of keys and counts; errors as for `read_counts`."""
    return KeyFrequencies.of(path.name.partition(".")[0], read_counts(path))


def read_counts(path: Path) -> NDArray[np.int64]:
    """Read the count of each key of a file.

    Raises:
        InvalidValue: as `open_counts`, and for a file without keys.
    """
    with open_counts(path) as stream:
        chunks = [chunk.counts for chunk in stream.chunks()]
    counts = np.concatenate([np.zeros(0, dtype=np.uint64), *chunks]).astype(np.int64)
    if not counts.size:
        raise InvalidValue("data", str(path), "a file with keys and counts")
    return counts
