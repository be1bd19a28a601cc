"""Where random bits come from: the operating system, a cipher keyed by it, or a seed."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from typing import Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidType, InvalidValue

Bits: TypeAlias = NDArray[np.uint64]

_WORD, _BLOCK = 8, 16  # bytes: of a word, and of a block of AES
_KEY = 32
_FEW = 512  # words for which asking the operating system costs no more than keying a cipher
_PLAIN = bytes(1 << 16)  # what is enciphered, a piece at a time


class Source(Protocol):
    """A source of random bits."""

    @property
    def private(self) -> bool:
        """Whether nobody but the operating system can know the bits."""
        ...

    def bits(self, count: int) -> Bits:
        """Return `count` independent uniform 64-bit words."""
        ...


@final
class OperatingSystem:
    """A source of random bits: the operating system's entropy."""

    private = True

    def bits(self, count: int) -> Bits:
        """Return `count` independent uniform 64-bit words."""
        return np.frombuffer(os.urandom(_WORD * count), dtype=np.uint64)


@final
class KeyedStream:
    """A source of random bits: AES-256 in counter mode, under a key of the operating system's for every request.

    It needs the extra `certdp[stream]`. Requests of up to 512 words are answered by the operating system itself.

    Guarantees:
        Nothing is kept between two requests. Their words come from keys that are independent of each other, so a
        process that was forked, copied or restored goes on with keys of its own, and threads share nothing. A key is
        overwritten before its words are returned. The words are as good as uniform to whoever cannot tell AES-256
        from a random permutation.
    """

    private = True

    def bits(self, count: int) -> Bits:
        """Return `count` independent uniform 64-bit words."""
        if count <= _FEW:
            return OperatingSystem().bits(count)
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        size = _WORD * count
        words = np.empty(count + _BLOCK // _WORD, dtype=np.uint64)  # the cipher asks for room for one more block
        room, plain = words.data.cast("B"), memoryview(_PLAIN)
        key = bytearray(os.urandom(_KEY))
        try:
            stream = Cipher(algorithms.AES256(key), modes.CTR(bytes(_BLOCK))).encryptor()
            written = 0
            while written < size:
                written += stream.update_into(plain[: size - written], room[written:])
        finally:
            key[:] = bytes(_KEY)
        return words[:count]


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
        """Return `count` independent uniform 64-bit words."""
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)


def private_source() -> Source:
    """The fastest source whose bits nobody can know: a `KeyedStream` where its extra is installed."""
    return KeyedStream() if _has_cipher() else OperatingSystem()


@cache
def _has_cipher() -> bool:
    return find_spec("cryptography") is not None
