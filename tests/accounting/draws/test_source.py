"""Random words: as many as asked for, uniform, never the same twice, whoever is forked, copied or killed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import stats

from certdp.accounting.draws import source
from certdp.accounting.draws.source import KeyedStream, OperatingSystem, Seeded, Source, private_source
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.plugins.contract import Coins

SIZES = [0, 1, 7, 511, 512, 513, 8191, 8192, 8193, 8194, 100_001]


@pytest.mark.parametrize("words", [OperatingSystem(), KeyedStream()], ids=["system", "stream"])
@pytest.mark.parametrize("count", SIZES)
def test_as_many_words_as_asked_for(words: Source, count: int) -> None:
    drawn = words.bits(count)
    assert drawn.shape == (count,)
    assert drawn.dtype == np.uint64
    assert words.private
    assert len(np.unique(drawn)) == count


def test_coins_are_the_stream_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(Coins().source, KeyedStream)
    monkeypatch.setattr(source, "_has_cipher", lambda: False)
    assert isinstance(private_source(), OperatingSystem)


def test_the_words_of_a_key_are_its_enciphered_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against AES-256 applied to the numbers 0, 1, 2, … as blocks, one by one."""
    key = bytes(range(32))
    monkeypatch.setattr(os, "urandom", lambda count: key[:count])
    drawn = KeyedStream().bits(20_001)
    blocks = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()
    counted = b"".join(blocks.update(number.to_bytes(16, "big")) for number in range(10_001))
    assert drawn.tobytes() == counted[: 8 * 20_001]


def test_every_request_has_a_key_of_its_own_and_none_outlives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[bytearray] = []
    seen: list[bytes] = []
    plain = algorithms.AES256

    def kept(key: bytearray) -> Any:
        keys.append(key)
        seen.append(bytes(key))
        return plain(key)

    stream = KeyedStream()
    stream.bits(1000)  # at the first call the library looks its ciphers up by these very classes
    monkeypatch.setattr(algorithms, "AES256", kept)
    for _ in range(50):
        stream.bits(1000)
    assert len(set(seen)) == 50
    assert set(map(bytes, keys)) == {bytes(32)}
    assert not hasattr(stream, "__dict__") or not vars(stream)


def test_a_key_is_overwritten_when_the_cipher_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[bytearray] = []

    def failing(key: bytearray) -> None:
        keys.append(key)
        raise RuntimeError

    monkeypatch.setattr(algorithms, "AES256", failing)
    with pytest.raises(RuntimeError):
        KeyedStream().bits(1000)
    assert keys == [bytes(32)]


def test_a_system_without_entropy_is_an_error_and_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: int) -> bytes:
        raise OSError("no entropy")

    monkeypatch.setattr(os, "urandom", failing)
    for count in (1, 1000):
        with pytest.raises(OSError, match="no entropy"):
            KeyedStream().bits(count)


_FORKS = """
import os, sys
from certdp.accounting.draws.source import KeyedStream
stream = KeyedStream()
stream.bits(5000)  # used before the fork: what it kept would be copied
for generation in range(3):
    for _ in range(2):
        if os.fork() == 0:
            break
    for count in (4, 600):
        os.write(1, stream.bits(count)[-4:].tobytes())
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_repeats_no_word() -> None:
    run = subprocess.run([sys.executable, "-c", _FORKS], stdout=subprocess.PIPE, check=True)
    words = np.frombuffer(run.stdout, dtype=np.uint64)
    assert len(words) == (3 + 9 + 27) * 2 * 4
    assert len(np.unique(words)) == len(words)


def test_threads_repeat_no_word() -> None:
    stream = KeyedStream()
    drawn: list[Any] = []
    threads = [threading.Thread(target=lambda: drawn.append(stream.bits(9000))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(np.unique(np.concatenate(drawn))) == 8 * 9000


def test_bytes_are_uniform() -> None:
    """χ² of the bytes at each place of a word; a right stream fails once in 10^7 runs."""
    drawn = KeyedStream().bits(1 << 18).view(np.uint8).reshape(-1, 8)
    p = [stats.chisquare(np.bincount(column, minlength=256)).pvalue for column in drawn.T]
    assert min(p) > 1e-7 / 8


@pytest.mark.parametrize("seed", [True, False, 1.0, "1", None, np.int64(3)])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(InvalidType, match="seed"):
        Seeded(seed)


@pytest.mark.parametrize("seed", [-1, -(2**70)])
def test_a_seed_is_not_negative(seed: int) -> None:
    with pytest.raises(InvalidValue, match="seed"):
        Seeded(seed)


@pytest.mark.parametrize("seed", [0, 1, 2**64, 2**100])
def test_a_seed_gives_the_same_words_each_time(seed: int) -> None:
    drawn = Seeded(seed).bits(1000)
    assert drawn.tolist() == Seeded(seed).bits(1000).tolist() != Seeded(seed + 1).bits(1000).tolist()
    assert not Seeded(seed).private
