"""Answers show themselves within three lines, and as tables that hold no markup of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.display import Displayed
from certdp.accounting.exact import exact
from certdp.accounting.provenance import Public
from certdp.accounting.units import Delta, Epsilon, Order


class _Answer(Displayed):
    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def cells(self) -> Iterator[tuple[str, str]]:
        yield self.text, self.text


@given(text=st.text(max_size=600))
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
