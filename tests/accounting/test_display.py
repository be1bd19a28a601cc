"""Answers show themselves within three lines, and as tables that hold no markup of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.derivation import Assumption
from certdp.accounting.display import (
    Displayed,
    Number,
    figure,
    format_value,
    numbers,
    parts,
    shorten,
)
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.exact import exact
from certdp.accounting.provenance import Public
from certdp.accounting.units import Delta, Epsilon, Order
from certdp.plugins.contract import Expectation


class _Answer(Displayed):
    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def cells(self) -> Iterator[tuple[str, str]]:
        yield self.text, self.text


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(999999.5)
@example(-1234561.0)
@example(0.0)
def test_a_figure_is_rounded_as_it_is_asked(value: float) -> None:
    least, near, most = (
        Fraction(figure(value, how).replace(",", "")) for how in (ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING)
    )
    assert least <= value <= most
    assert near in (least, most)
    assert most - least <= max(abs(Fraction(value)) / 10**5, Fraction(0))


@given(text=st.text(max_size=600))
@example(text="many words " * 40)
def test_any_answer(text: str) -> None:
    answer = _Answer(text)
    assert len(repr(answer)) <= 3 * 80
    assert "\n" not in repr(answer)
    table = answer._repr_html_()
    assert table.count("<") == len(("table", "tr", "th", "td")) * 2


@given(value=st.fractions(0, 1))
def test_numbers_show_themselves_as_they_may_be_typed(value: object) -> None:
    for made in (Delta(value), Epsilon(value), Public(value)):  # type: ignore[arg-type]
        again = eval(repr(made), {"Delta": Delta, "Epsilon": Epsilon, "Public": Public})
        assert type(again) is type(made)
        assert exact(again, parameter=type(made).__name__.lower()) == value


@pytest.mark.parametrize(
    ("value", "text"), [(Order(2), "Order('2')"), (Public(5), "Public(5)"), (Public("x"), "Public('x')")]
)
def test_some(value: object, text: str) -> None:
    assert repr(value) == text


# Numbers in texts

RATIOS = st.fractions(max_denominator=10**30) | st.builds(
    Fraction, st.integers(-(10**60), 10**60), st.integers(1, 10**60)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("δ = 1/3", "δ = 1/3"),
        ("π = 3860751119543/6576668672000 with L = 4", "π ≈ 0.5870374975677352 with L = 4"),
        ("1/100000000000000000000", "1e-20"),
        ("2.6937878497408163", "2.6937878497408163"),
        ("0.3333333333333333333333", "≈ 0.3333333333333333"),
        ("the weights (Fraction(1, 1), Fraction(-2, 3))", "the weights (1, -2/3)"),
        ("[0.10526933518151466518774, 0.10526933518151466518775]", "[0.1052693351815147 ± 4e-17]"),
        ("e^[0.0039999999999999999999, 0.0040000000000000000001]", "e^[0.004 ± 1e-22]"),
        ("[0.12345678901234567891, 0.23456789012345678912]", "[0.1234567890123456, 0.2345678901234568]"),
        ("[0, 8.82E-39] and [4]", "[0, 8.82E-39] and [4]"),
        ("[0.5, 0.25]", "[0.5, 0.25]"),
        ("x1 = 5, IS-A1-line6, 1/0, a/12345678901234567890", "x1 = 5, IS-A1-line6, 1/0, a/12345678901234567890"),
        ("1e999999999 and 9/8", "1e999999999 and 9/8"),
        ("", ""),
    ],
)
def test_texts(text: str, expected: str) -> None:
    assert shorten(text) == expected


def test_long_digits_are_left_alone() -> None:
    text = "9" * 5000
    assert shorten(text) == text


@given(RATIOS)
def test_a_ratio_is_exact_or_marked_and_close(ratio: Fraction) -> None:
    text = format_value(ratio)
    found = Fraction(text.removeprefix("≈ "))
    assert (found == ratio) is not text.startswith("≈")
    assert abs(found - ratio) <= abs(ratio) / 10**15
    assert len(text) <= 40


@given(RATIOS, st.fractions(min_value=0, max_value=1, max_denominator=10**6), st.integers(40, 220))
def test_an_enclosure_holds_what_it_stands_for(middle: Fraction, spread: Fraction, precision: int) -> None:
    low, high = (Enclosure.of(end, precision=precision) for end in (middle - spread, middle + spread))
    text = str(low.hull(high))
    (number,) = numbers(text)
    assert number.stated == text
    assert number.lower <= middle - spread <= middle + spread <= number.upper
    match number.short.strip("[]").split(" ± "), number.short.strip("[]").split(", "):
        case [value, radius], _:
            centre, around = Fraction(value), Fraction(radius)
            assert centre - around <= number.lower
            assert number.upper <= centre + around
        case _, [lower, upper]:
            assert Fraction(lower) <= number.lower
            assert number.upper <= Fraction(upper)
        case _, [point]:
            assert number.lower == number.upper == Fraction(point)


@given(st.text() | st.from_regex(re.compile(r"[\[\]\d/., eE-]{0,40}"), fullmatch=True))
def test_pieces_make_up_the_text(text: str) -> None:
    pieces = list(parts(text))
    stated = "".join(piece.stated if isinstance(piece, Number) else piece for piece in pieces)
    assert stated.replace("= ", "") == text.replace("= ", "")
    assert shorten(text) == "".join(piece.short if isinstance(piece, Number) else piece for piece in pieces)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Fraction(1, 3), "1/3"),
        ((Fraction(1), Fraction(2, 7)), "(1, 2/7)"),
        ([1], "(1,)"),
        ((), "()"),
        ({"a": Fraction(1, 2), "b": ()}, "a: 1/2, b: ()"),
        (Expectation.HOLDS, "holds"),
        (0.1, "0.1"),
        (None, "None"),
        (True, "True"),
        ("text", "text"),
    ],
)
def test_values_of_cases(value: object, expected: str) -> None:
    assert format_value(value) == expected


@given(numerator=st.integers(1, 10**12), places=st.integers(60, 3000))
def test_an_assumption_shows_a_small_rate_short_and_keeps_it_exactly(numerator: int, places: int) -> None:
    rate = Fraction(numerator, 10**places)
    made = Assumption("rate", str(rate))
    assert len(str(made)) < 40
    assert made.exact == f"rate = {rate}"
    (shown,) = numbers(made.exact)
    assert shown.lower == shown.upper == rate
    assert str(made) == f"rate ≈ {shown.short[2:]}" if "≈" in shown.short else f"rate = {shown.short}"


@given(value=st.fractions(max_denominator=10**15))
def test_an_assumption_shows_what_is_short_as_it_is(value: Fraction) -> None:
    assert str(Assumption("scale", str(value))) == f"scale = {value}" == Assumption("scale", str(value)).exact
