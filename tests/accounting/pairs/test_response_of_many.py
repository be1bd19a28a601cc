"""The pair of an answer over many categories: its exact tables, by enumerating what is answered."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs.response_of_many import ResponseOfMany


@given(st.integers(2, 9), st.fractions(Fraction(1, 100), 1, max_denominator=100), st.integers(53, 200))
def test_tables_are_those_of_every_answer(categories: int, uniform: Fraction, precision: int) -> None:
    """With probability γ any of k, else the own category: 0 with the record, 1 without it, all others alike."""
    laws = [[uniform / categories + (1 - uniform) * (answer == own) for answer in range(categories)] for own in (0, 1)]
    pair = ResponseOfMany(categories, uniform)(Enclosure.of(1, precision=precision))
    assert pair.present == (laws[0][0], laws[0][1], sum(laws[0][2:], Fraction(0)))
    assert pair.absent == (laws[1][0], laws[1][1], sum(laws[1][2:], Fraction(0)))
    assert pair.precision == precision
