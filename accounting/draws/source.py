"""Where random bits come from: the operating system, a cipher keyed by it, or a seed."""

from __future__ import annotations

import os
from functools import cache
from typing import Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidType, InvalidValue

Bits: TypeAlias = NDArray[np.uint64]

_WORD, _BLOCK = 8, 16  # bytes: of a word, and of a block of AES
_KEY = 32
_FEW = 512  # words for which asking the operating system costs no more than keying a cipher
_PLAIN = bytes(1 << 16)  # what is enciphered, a piece at a time
_NIST_KEY = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
_NIST_COUNTER = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
_NIST_STREAM = bytes.fromhex("0bdf7df1591716335e9a8b15c860c502")

PROBE = _FEW + 1
"""Words that a source is asked for, twice, before it is used: so many that a keyed stream enciphers them."""


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

    def __init__(self) -> None:
        if not _has_cipher():
            raise InvalidValue(
                "source",
                "a keyed stream without its cipher",
                "an installation with AES-256 in counter mode",
                "pip install --upgrade 'certdp[stream]', or leave the source out for the operating system's",
            )

    def bits(self, count: int) -> Bits:
        """Return `count` independent uniform 64-bit words."""
        if count <= _FEW:
            return OperatingSystem().bits(count)
        words = np.empty(count + _BLOCK // _WORD, dtype=np.uint64)  # the cipher asks for room for one more block
        key = bytearray(os.urandom(_KEY))
        try:
            _encipher(key, bytes(_BLOCK), words.data.cast("B"), _WORD * count)
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


def require_working(source: Source) -> None:
    """Ask a private source for words, which are thrown away, and refuse one that fails, stands still or repeats.

    Raises:
        InvalidValue: for such a source. Seeded ones are not asked: their words are the run's.
    """
    if not source.private:
        return
    try:
        first, second = source.bits(PROBE), source.bits(PROBE)
    except Exception as error:
        raise _not_working(f"a source that raises {type(error).__name__}: {error}") from error
    for words in (first, second):
        if words.dtype != np.uint64 or words.shape != (PROBE,):
            raise _not_working(f"a source of {words.dtype}{list(words.shape)} for {PROBE} words")
    if len(np.unique(np.concatenate([first, second]))) < 2 * PROBE:
        raise _not_working("a source whose words repeat")


def _not_working(got: str) -> InvalidValue:
    remedy = "Leave the coins out for the operating system's; nothing was paid or drawn"
    return InvalidValue("coins", got, "independent uniform 64-bit words", remedy)


def _encipher(key: bytes | bytearray, counter: bytes, room: memoryview, size: int) -> None:
    """Write as many enciphered bytes."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    stream, plain, written = Cipher(algorithms.AES256(key), modes.CTR(counter)).encryptor(), memoryview(_PLAIN), 0
    while written < size:
        written += stream.update_into(plain[: size - written], room[written:])


@cache
def _has_cipher() -> bool:
    """Whether AES-256 in counter mode is there, and gives what NIST SP 800-38A, F.5.5, prints for its first block."""
    room = bytearray(2 * _BLOCK)
    try:
        _encipher(_NIST_KEY, _NIST_COUNTER, memoryview(room), _BLOCK)
    except Exception:  # what is missing differs from release to release: the module, the cipher, a method
        return False
    return bytes(room[:_BLOCK]) == _NIST_STREAM
