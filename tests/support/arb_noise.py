"""An oracle in Arb: tails, their inverses and cells, from other formulas than the library's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np

from certdp.accounting.draws.laws import LAPLACE, Law
from tests.support.arb_numbers import arb_of

PRECISION = 400
FURTHER = 0x9E3779B97F4A7C15
"""The word that `Handed` gives whenever it is asked for one more."""


class Handed:
    """A source of chosen words, and of `FURTHER` for ever after."""

    private = False

    def __init__(self, words: Any) -> None:
        self.words = np.asarray(words, dtype=np.uint64)
        self.further = 0

    def bits(self, count: int) -> Any:
        if len(self.words):
            handed, self.words = self.words[:count], self.words[count:]
            assert len(handed) == count
            return handed
        assert count == 1
        self.further += 1
        return np.full(1, FURTHER, dtype=np.uint64)


def tail(law: Law, x: Fraction) -> Any:
    """T(x)."""
    with flint.ctx.workprec(PRECISION):
        return (-arb_of(x)).exp() if law is LAPLACE else (arb_of(x) / flint.arb(2).sqrt()).erfc()


def inverse(law: Law, p: Fraction) -> Any:
    """G(p)."""
    with flint.ctx.workprec(PRECISION):
        return -arb_of(p).log() if law is LAPLACE else arb_of(p).erfcinv() * flint.arb(2).sqrt()


def beyond(law: Law, p: Fraction, magnitude: int) -> float:
    """How far G(p)·2^58 is outside [magnitude, magnitude + 1]; below 0 inside."""
    with flint.ctx.workprec(PRECISION):
        true = inverse(law, p) * arb_of(Fraction(1 << 58)) if p < 1 else flint.arb(0)
        return max(float(magnitude - true), float(true - (magnitude + 1)))


def number(word: int) -> Fraction:
    """The uniform number that a word and `FURTHER` repeated without end stand for."""
    return ((word >> 1) + Fraction(FURTHER, 2**64 - 1)) / 2**63


def cell(law: Law, ratio: Fraction, word: int, p: Fraction | None = None) -> int:
    """The cell of the noise that a word means, whose number is `p`, or else goes on with `FURTHER`."""
    with flint.ctx.workprec(PRECISION):
        found = (inverse(law, number(word) if p is None else p) * arb_of(ratio) + arb_of(Fraction(1, 2))).floor()
        magnitude = int(found.unique_fmpz())
    return -magnitude if word & 1 else magnitude


def digits(law: Law, x: Fraction, bits: int) -> int:
    """⌊T(x)·2^bits⌋."""
    with flint.ctx.workprec(PRECISION):
        return int((tail(law, x) * arb_of(Fraction(1 << bits))).floor().unique_fmpz())
