"""Coins by name: what is drawn for a unit or a key follows from one secret and its name, wherever it is drawn.

Legend: V is a number uniform on [0, 1), in binary. Its 64 leading bits are keyed BLAKE2b (RFC 7693) of the name; all
further ones, which decide about one draw in 2^64, come 512 at a time, of the same name under the next counter.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidType, InvalidValue
from ..exact import Floats
from .source import Bits

_SECRET = 32
_LEAD, _BLOCK = 8, 64  # bytes
_WORD = 64  # bits
_NAME = 16


@final
class NamedCoins:
    """Draws that a task may repeat: a secret of 256 bits, and for each name a number that follows from both.

    One secret serves one release: `fresh` draws it when that is paid for, and it is thrown away with it. With a secret
    that was stated draws are reproducible, and a release is not private and says so.

    Guarantees: the numbers of different names and of different draws are as good as independent and uniform to whoever
    does not know the secret and cannot tell keyed BLAKE2b from a random function. What is drawn for a name does not
    depend on which others are drawn for, in which order, where, or how often.

    Args:
        secret: 32 bytes.

    Raises:
        InvalidType, InvalidValue: for anything else.
    """

    __slots__ = ("_private", "_secret")

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes):
            raise InvalidType("secret", type(secret), "bytes")
        if len(secret) != _SECRET:
            raise InvalidValue("secret", f"{len(secret)} bytes", f"{_SECRET} bytes", "Leave it to NamedCoins.fresh()")
        self._secret, self._private = secret, False

    @classmethod
    def fresh(cls) -> Self:
        """Coins under a secret of the operating system's. Their pickles hold it: for the data's owner alone."""
        coins = cls(os.urandom(_SECRET))
        coins._private = True
        return coins

    @property
    def private(self) -> bool:
        """Whether a release with these coins can be private."""
        return self._private

    def bernoulli(self, names: Sequence[bytes], probabilities: Floats, *, draw: int = 0) -> NDArray[np.bool_]:
        """For each name a draw that is true with exactly the binary64 probability given.

        Args:
            names: as many as probabilities, each one once.
            probabilities: float64 (n,), in [0, 1].
            draw: which of several independent draws for the same names, from 0 on.

        Raises:
            InvalidValue: for NaN and values outside [0, 1].
        """
        if not np.all((probabilities >= 0) & (probabilities <= 1)):
            raise InvalidValue("probabilities", "a value outside [0, 1] or NaN", "probabilities in [0, 1]")
        drawn = np.asarray(probabilities == 1)
        open_ = np.flatnonzero((probabilities > 0) & ~drawn)
        limits = probabilities[open_]
        leads = np.floor(np.ldexp(limits, _WORD)).astype(np.uint64)
        chosen = [names[place] for place in open_.tolist()]
        drawn[open_] = self.below(chosen, leads, lambda place: Fraction(float(limits[place])), draw=draw)
        return drawn

    def below(
        self, names: Sequence[bytes], leads: Bits, limit: Callable[[int], Fraction], *, draw: int = 0
    ) -> NDArray[np.bool_]:
        """For each name whether V lies below a limit.

        Args:
            names: each one once.
            leads: ⌊limit·2^64⌋ for each of them.
            limit: the limit itself, of the name at a place: in [0, 1), its denominator a power of two.
            draw: as for `bernoulli`.
        """
        words = self.leads(names, draw=draw)
        drawn = words < leads
        for place in np.flatnonzero(words == leads).tolist():
            drawn[place] = self._is_below(names[place], int(words[place]), limit(place), draw)
        return drawn

    def leads(self, names: Sequence[bytes], *, draw: int = 0) -> Bits:
        """The 64 leading bits of V for each name."""
        start = self._hash(_LEAD, draw, 0)
        return np.frombuffer(b"".join(_digests(start, names)), dtype="<u8").astype(np.uint64, copy=False)

    def name_of(self, names: Sequence[bytes]) -> str:
        """A name for a set of names, in any order: 32 hexadecimal digits that tell nothing of them."""
        own = self._hash(_NAME, 0, 0, person=b"certdp-set")
        own.update(np.sort(self.leads(names)).tobytes())
        return str(own.hexdigest())

    def _is_below(self, name: bytes, lead: int, limit: Fraction, draw: int) -> bool:
        number, bits, counter = lead, _WORD, 0
        most = limit.denominator.bit_length() - 1
        while bits < most:
            counter += 1
            (block,) = _digests(self._hash(_BLOCK, draw, counter), [name])
            number, bits = (number << 8 * _BLOCK) + int.from_bytes(block, "little"), bits + 8 * _BLOCK
        return Fraction(number, 1 << bits) < limit

    def _hash(self, size: int, draw: int, counter: int, *, person: bytes = b"certdp-by-name") -> Any:
        place = draw.to_bytes(8, "little") + counter.to_bytes(8, "little")
        return hashlib.blake2b(digest_size=size, key=self._secret, salt=place, person=person)

    def __repr__(self) -> str:
        return "NamedCoins(…)"


def _digests(start: Any, names: Sequence[bytes]) -> Iterator[bytes]:
    for name in names:
        own = start.copy()
        own.update(name)
        yield own.digest()
