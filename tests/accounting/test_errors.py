"""Errors that certdp raises on purpose."""

from __future__ import annotations

from fractions import Fraction

import pytest

from certdp.accounting.errors import InvalidType, InvalidValue, blamed_on


def test_exact_numbers_are_shown_as_they_are_typed() -> None:
    assert str(InvalidValue("batch", Fraction(500), "a number ≤ 300")) == "batch: got 500; admissible: a number ≤ 300"
    assert InvalidValue("rate", Fraction(1, 3), "a number > 1").formatted_value == "1/3"
    assert InvalidValue("rate", None, "a number > 1").formatted_value == "None"


def test_blame_moves_to_what_the_user_wrote_and_nowhere_else() -> None:
    with pytest.raises(InvalidType) as moved, blamed_on(noise="size-noise"):
        raise InvalidType("noise", 3, "a Public value", "Fix it")
    assert moved.value.args == ("size-noise", 3, "a Public value", "Fix it")
    with pytest.raises(InvalidValue, match=r"^rate: got 3"), blamed_on(noise="size-noise"):
        raise InvalidValue("rate", 3, "0 < p ≤ 1")
    with pytest.raises(KeyError), blamed_on(noise="size-noise"):
        raise KeyError("noise")
