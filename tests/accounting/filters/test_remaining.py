"""What a budget still covers: read rounded down, so that what is read fits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.filters.remaining import Remaining
from certdp.accounting.notions import Approximate, Pure, Renyi


@pytest.mark.parametrize("number", ["1/3", "2/3", "1/10", "7", "0", "1/1048577"])
def test_numbers_are_rounded_down_to_binary64(number: str) -> None:
    exact = Fraction(number)
    found = Remaining(Approximate(Enclosure.of(number), Enclosure.of(number) / 8)).rounded_down
    for rounded, true in ((found.epsilon, exact), (found.delta, exact / 8)):
        assert rounded.lower == rounded.upper
        assert rounded.upper <= true < rounded.upper + true * Fraction(1, 2**52) + Fraction(1, 2**1000)


def test_the_order_stays_as_it_is() -> None:
    found = Remaining(Renyi(Fraction(4, 3), Enclosure.of("1/3"))).rounded_down
    assert (found.order, found.tau.upper) == (Fraction(4, 3), Fraction(6004799503160661, 2**54))
    assert str(Remaining(Pure(Enclosure.of("1/3")))) == "ε ≤ 0.3333333333333333"
