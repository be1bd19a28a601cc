"""Whole units of probability, against exact fractions and the divergences that they stand for."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from typing import Any

import pytest

from certdp.verification.checker.keyed.units import Units, a_whole_number
from certdp.verification.checker.verdict import Refused


def drawn(source: random.Random) -> Units:
    bits = source.randint(1, 12)
    certain = 1 << bits
    growth = certain + source.choice([0, 1, source.randint(0, 4 * certain)])
    return Units(bits, growth, source.choice([0, 1, source.randint(0, certain), certain]))


def apart(units: Units, one: int, other: int) -> Fraction:
    """max(0, a − G·b), in units."""
    return max(Fraction(0), one - Fraction(units.growth, 1 << units.bits) * other)


def test_what_lies_beyond_is_exact() -> None:
    source = random.Random(1)
    for _ in range(2000):
        units = drawn(source)
        certain = units.certain
        assert certain == 2**units.bits
        one, other = source.randint(0, certain), source.randint(0, certain)
        scale = Fraction(1, certain)
        assert units.beyond(one, other) * scale == apart(units, one, other)
        assert units.apart(one, other) == (units.beyond(one, other), units.beyond(other, one))
        assert units.scaled_allowance * scale == units.allowance
        growth = Fraction(units.growth, certain)
        assert units.grown(one) <= growth * one < units.grown(one) + 1
        assert (units.shrunk(one) - 1) * growth < one <= units.shrunk(one) * growth


def test_a_neighbour_is_admitted_where_every_row_between_is() -> None:
    """Between the ends of what may be reported: δ of both outcomes, both ways, by the definition."""
    source, seen = random.Random(2), set()
    for _ in range(6000):
        units = drawn(source)
        certain = units.certain
        low = source.randint(0, certain)
        high = min(certain, low + source.choice([0, 1, 3]))
        reported = (
            min(certain, max(0, low + source.randint(-3, 3))) if source.random() < 0.7 else source.randint(0, certain)
        )
        expected = all(
            max(apart(units, *pair), apart(units, *pair[::-1])) <= units.allowance
            for own in range(low, high + 1)
            for pair in ((own, reported), (certain - own, certain - reported))
        )
        assert units.admits(low, high, reported) is expected
        seen.add(expected)
    assert seen == {True, False}


def inputs(**changes: Any) -> dict[str, Any]:
    return {"bits": 3, "growth": "8", "allowance": "8"} | changes


@pytest.mark.parametrize(
    "changes", [{}, {"bits": 1, "growth": "2", "allowance": "0"}, {"bits": 1100, "growth": str(2**1100)}]
)
def test_units_within_their_ranges_are_read(changes: dict[str, Any]) -> None:
    found = Units.of(inputs(**changes))
    assert (found.bits, found.growth, found.allowance) == tuple(int(n) for n in inputs(**changes).values())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bits": 0, "growth": "1", "allowance": "1"}, "within [1, 1100]"),
        ({"bits": 1101, "growth": str(2**1101)}, "within [1, 1100]"),
        ({"growth": "7"}, "at least 2^bits"),
        ({"allowance": "9"}, "at most 2^bits"),
    ],
)
def test_units_outside_their_ranges_are_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused, match=re.escape(reason)):
        Units.of(inputs(**changes))


@pytest.mark.parametrize("text", ["0", "7", "10", "1" + "0" * 699])
def test_whole_numbers(text: str) -> None:
    a_whole_number(text, "here")


@pytest.mark.parametrize(
    "value", ["", "00", "01", "-1", "+1", "1.0", " 1", "1\n", "1" + "0" * 700, 7, True, None, ["1"]]
)
def test_what_is_no_whole_number(value: Any) -> None:
    with pytest.raises(Refused, match="here must be a whole number"):
        a_whole_number(value, "here")
