"""Norms of rows: enclosed at every magnitude, as tightly as is stated and no tighter."""

from __future__ import annotations

import hashlib
import random
from fractions import Fraction
from typing import Any

import flint
import pytest

from certdp.verification.checker.data import Measured, _norms, compare
from certdp.verification.checker.expressions import norm
from certdp.verification.checker.intervals import ZERO, Interval
from certdp.verification.checker.verdict import Refused
from tests.support.arb_numbers import arb_of

ORDERS = ("1", "2", "3", "3/2", "inf")


def ball(value: Any) -> Any:
    sign, mantissa, exponent, _ = value
    return flint.arb(-mantissa if sign else mantissa) * flint.arb(2) ** exponent


def truth(row: list[float], order: str) -> Any:
    sizes = [abs(Fraction(value)) for value in row]
    if order == "inf":
        return arb_of(max(sizes))
    p = flint.fmpq(Fraction(order).numerator, Fraction(order).denominator)
    powers = [arb_of(s) ** flint.arb(p) for s in sizes if s]
    return sum(powers, flint.arb(0)) ** (1 / flint.arb(p))


def rows(scales: list[int]) -> list[list[float]]:
    source = random.Random(str(scales))
    return [[source.uniform(0.5, 1) * 2.0 ** source.choice(scales) for _ in range(4)] for _ in range(20)]


@pytest.mark.parametrize(
    "scales", [[0], [-3, 5], [-900], [900], [-900, 0], [0, 900], [-900, 900], [-401, 0], [401, 0]], ids=str
)
def test_norms_are_enclosed_at_every_magnitude(scales: list[int]) -> None:
    flint.ctx.prec = 6000
    for row in rows(scales):
        found = _norms(row, ORDERS)
        for order in ORDERS:
            low, high = found[norm(order)]
            real = truth(row, order)
            assert ball(low) <= real.upper(), (row, order)
            assert real.lower() <= ball(high), (row, order)


@pytest.mark.parametrize(("order", "allowed"), [("2", 50), ("3", 43), ("3/2", 43)])
def test_what_is_allowed_for_rounding_is_what_is_stated(order: str, allowed: int) -> None:
    """No less, as the producer rounds too; no more, as nobody would notice."""
    flint.ctx.prec = 2000
    for row in rows([-3, 5]):
        low, high = _norms(row, [order])[norm(order)]
        real, unit = truth(row, order), flint.arb(2) ** -allowed
        least = unit / 2 if order == "2" else unit  # the sum of squares is itself rounded to a float
        for away in ((real - ball(low)) / real, (ball(high) - real) / real):
            assert least * (1 - flint.arb(2) ** -20) <= away <= unit * (flint.arb(3) / 2)


class Nothing:
    """Data of so many columns without a record."""

    def __init__(self, columns: int) -> None:
        self.columns = columns

    def __iter__(self) -> Any:
        return iter(())


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_data_without_a_record_have_the_stated_columns(columns: int) -> None:
    nonce = "0" * 64
    stated = {
        "nonce": nonce,
        "records": 0,
        "columns": 3,
        "outside": "none",
        "psi_max": 0.0,
        "expected_sample_size": [0.0, 0.0],
        "commitment": hashlib.sha256(bytes.fromhex(nonce) + b"0,3;").hexdigest(),
    }
    nowhere = Measured(ZERO, Interval(ZERO, ZERO))
    compare(lambda *_: nowhere, set(), None, stated, Nothing(3))
    with pytest.raises(Refused, match=f"the data have {columns} columns, the certificate 3"):
        compare(lambda *_: nowhere, set(), None, stated, Nothing(columns))
