"""Cases of claims about keys: with which probability a key of each frequency is sampled."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def ascending_rates(least: int, longest: int) -> SearchStrategy[tuple[Fraction, ...]]:
    """Rates of frequencies 1, 2, …, which do not fall, or with which every key is kept; from `least` to `longest`."""
    from hypothesis import strategies as st

    varied = st.lists(st.fractions(0, 1, max_denominator=20), min_size=least, max_size=longest)
    every = st.integers(least, longest).map(lambda count: (Fraction(1),) * count)
    return varied.map(lambda rates: tuple(sorted(rates))) | every
