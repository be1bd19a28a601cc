"""Coins by name: exact laws, the same draw wherever and how often it is made, and secrets that decide all of it."""

from __future__ import annotations

import hashlib
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2

from certdp.accounting.draws.by_name import NamedCoins
from certdp.accounting.errors import InvalidType, InvalidValue
from tests.support.cases import examples

SECRET = bytes(range(32))
NAMES = [str(place).encode() for place in range(20_000)]
LEVEL = 1e-6


def number(name: bytes, draw: int, bits: int) -> Fraction:
    """V to so many bits, by the definition."""
    found, counter = b"", 0
    lead = hashlib.blake2b(name, digest_size=8, key=SECRET, salt=salt(draw, 0), person=b"certdp-by-name").digest()
    value, known = int.from_bytes(lead, "little"), 64
    while known < bits:
        counter += 1
        found = hashlib.blake2b(
            name, digest_size=64, key=SECRET, salt=salt(draw, counter), person=b"certdp-by-name"
        ).digest()
        value, known = value * 2**512 + int.from_bytes(found, "little"), known + 512
    return Fraction(value, 2**known)


def salt(draw: int, counter: int) -> bytes:
    return draw.to_bytes(8, "little") + counter.to_bytes(8, "little")


@pytest.mark.parametrize("rate", [0.0, 1.0, 0.5, 1 / 3, 1e-3, 2.0**-1074, 1 - 2.0**-53])
def test_each_name_is_drawn_with_its_probability(rate: float) -> None:
    drawn = NamedCoins.fresh().bernoulli(NAMES, np.full(len(NAMES), rate))
    assert binomtest(int(drawn.sum()), len(NAMES), rate).pvalue > LEVEL


def test_leading_bits_are_uniform_and_draws_independent() -> None:
    coins = NamedCoins.fresh()
    first, second = (coins.leads(NAMES, draw=draw) >> np.uint64(60) for draw in (0, 1))
    cells = np.bincount((first * np.uint64(16) + second).astype(np.int64), minlength=256)
    expected = len(NAMES) / 256
    assert chi2.sf(((cells - expected) ** 2 / expected).sum(), 255) > LEVEL


@examples(50)
@given(
    names=st.lists(st.binary(max_size=40), min_size=1, max_size=20, unique=True),
    rates=st.lists(st.floats(0, 1), min_size=20, max_size=20),
    draw=st.integers(0, 2**63),
    seed=st.randoms(use_true_random=False),
)
def test_a_draw_follows_from_secret_and_name_alone(
    names: list[bytes], rates: list[float], draw: int, seed: Any
) -> None:
    pairs = list(zip(names, rates, strict=False))
    every = NamedCoins(SECRET).bernoulli(names, np.array([rate for _, rate in pairs]), draw=draw)
    found = dict(zip(names, every.tolist(), strict=True))
    assert found == {name: number(name, draw, 1074) < Fraction(rate) for name, rate in pairs}
    seed.shuffle(pairs)
    half = pairs[: len(pairs) // 2 + 1]
    again = pickle.loads(pickle.dumps(NamedCoins(SECRET)))
    drawn = again.bernoulli([name for name, _ in half], np.array([rate for _, rate in half]), draw=draw)
    assert drawn.tolist() == [found[name] for name, _ in half]


@pytest.mark.parametrize("bits", [64, 65, 200, 575, 576, 577, 1074])
def test_ties_are_decided_exactly(bits: int) -> None:
    """Limits on both sides of V itself, which agree with it in their 64 leading bits."""
    coins = NamedCoins(SECRET)
    for name in NAMES[:20]:
        value = number(name, 3, bits)
        units = int(value * 2**bits)
        assert Fraction(units, 2**bits) <= value
        for above, expected in ((units, False), (units + 1, True)):
            limit = Fraction(above, 2**bits)
            leads = np.array([int(limit * 2**64)], dtype=np.uint64)
            assert coins.below([name], leads, [limit].__getitem__, draw=3).tolist() == [expected]


def test_secrets_decide_and_are_not_shown() -> None:
    rates = np.full(1000, 0.5)
    drawn = [coins.bernoulli(NAMES[:1000], rates).tolist() for coins in (NamedCoins.fresh(), NamedCoins.fresh())]
    assert drawn[0] != drawn[1]
    fresh = NamedCoins.fresh()
    assert fresh.private
    assert pickle.loads(pickle.dumps(fresh)).private
    assert not NamedCoins(SECRET).private
    assert repr(fresh) == "NamedCoins(…)"


def test_a_set_of_names_has_a_name_of_its_own() -> None:
    coins = NamedCoins(SECRET)
    assert coins.name_of([b"a", b"b"]) == coins.name_of([b"b", b"a"])
    others = [coins.name_of(names) for names in ([b"a"], [b"b"], [b"ab"], [b"a", b"b"], [])]
    assert len(set(others)) == len(others)


@pytest.mark.parametrize(("secret", "kind"), [(b"short", InvalidValue), ("text" * 8, InvalidType)])
def test_other_secrets_are_refused(secret: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        NamedCoins(secret)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_other_probabilities_are_refused(rate: float) -> None:
    with pytest.raises(InvalidValue):
        NamedCoins(SECRET).bernoulli([b"a"], np.array([rate]))
