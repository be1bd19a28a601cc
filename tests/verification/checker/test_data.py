"""Norms of rows: enclosed at every magnitude, as tightly as is stated and no tighter."""

from __future__ import annotations

import hashlib
import random
import struct
from fractions import Fraction
from typing import Any

import flint
import pytest

from certdp.verification.checker.data import Measured, _norms, compare
from certdp.verification.checker.domain import Domain
from certdp.verification.checker.expressions import norm
from certdp.verification.checker.intervals import ONE, ZERO, Arithmetic, Interval
from certdp.verification.checker.verdict import Refused
from tests.support.arb_numbers import arb_of
from tests.support.stated import Rows

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


@pytest.mark.parametrize(
    ("row", "in_floats"),
    [
        ([2.0**400, 1.0], True),
        ([2.0**-400, 1.0], True),
        ([2.0**-400, 0.0], True),
        ([2.0**400 * (1 + 2.0**-52), 1.0], False),
        ([2.0**-400 * (1 - 2.0**-53), 1.0], False),
    ],
    ids=str,
)
def test_floats_sum_squares_from_2_to_the_minus_400_to_2_to_the_400(row: list[float], in_floats: bool) -> None:
    """Other rows are summed exactly, and so more tightly."""
    flint.ctx.prec = 2000
    low, high = map(ball, _norms(row, ["2"])[norm("2")])
    assert (high - low > high * flint.arb(2) ** -52) is in_floats


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


BOUND = Domain("2", Fraction(1), None)
ON_THE_BOUND = [0.6, 0.8]


def compared(
    row: list[float], outside: str, sizes: tuple[float, float] = (1.0, 1.0), columns: int = 2
) -> list[Interval]:
    """The norms by which a row that is always drawn is measured."""
    nonce, measured = "00" * 32, list[Interval]()
    content = bytes.fromhex(nonce) + f"1,{columns};".encode() + struct.pack(f">{len(row)}d", *row)
    stated = {
        "nonce": nonce,
        "records": 1,
        "columns": columns,
        "outside": outside,
        "psi_max": 0.0,
        "expected_sample_size": list(sizes),
        "commitment": hashlib.sha256(content).hexdigest(),
    }

    def measure(norms: dict[str, Interval], arithmetic: Arithmetic) -> Measured:
        measured.append(norms[norm("2")])
        return Measured(ZERO, Interval(ONE, ONE))

    class Stated(Rows):
        @property
        def columns(self) -> int:
            return columns

    compare(measure, {norm("2")}, BOUND, stated, Stated([row]))
    return measured


def test_a_row_of_another_length_is_refused() -> None:
    assert compared([0.5, 0.5], "none")
    for row in ([0.5], [0.5, 0.5, 0.0]):
        with pytest.raises(Refused, match="number of records and columns"):
            compared(row, "none")


def test_a_clipped_row_lies_up_to_2_to_the_minus_40_below_the_radius() -> None:
    flint.ctx.prec = 300
    for row in ([3.0, 4.0], ON_THE_BOUND):
        ((low, _),) = compared(row, "clip")
        assert abs(ball(low) - (1 - flint.arb(2) ** -40)) <= flint.arb(2) ** -80


def test_a_row_that_may_lie_on_either_side_of_the_bound_is_measured_as_both() -> None:
    """It is clipped or not, dropped or not, and never refused."""
    flint.ctx.prec = 300
    ((low, high),) = compared(ON_THE_BOUND, "none")
    assert ball(low) < 1 < ball(high)
    ((_, clipped),) = compared(ON_THE_BOUND, "clip")
    assert ball(clipped) == ball(high)
    for outside in ("none", "clip", "drop"):
        assert len(compared(ON_THE_BOUND, outside)) == 1
    compared(ON_THE_BOUND, "drop", (0.0, 0.0))
    for outside in ("none", "clip"):
        with pytest.raises(Refused, match="expected sample size"):
            compared(ON_THE_BOUND, outside, (0.0, 0.0))


def test_an_expected_sample_size_from_more_to_less_is_refused() -> None:
    compared(ON_THE_BOUND, "drop", (0.3, 0.7))
    with pytest.raises(Refused, match="expected sample size"):
        compared(ON_THE_BOUND, "drop", (0.7, 0.3))
