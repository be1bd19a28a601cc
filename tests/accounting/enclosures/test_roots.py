"""Proven roots: brackets hold, are tight, cost few evaluations, and refuse what is not proven."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure, Truth, decreasing_root, erf, increasing_root
from certdp.accounting.errors import InvalidValue, OutsideDomain, Undecided


class Counted:
    """A function that counts how often it is asked."""

    def __init__(self, function: Callable[[Enclosure], Enclosure]) -> None:
        self.function = function
        self.asked = 0

    def __call__(self, x: Enclosure) -> Enclosure:
        self.asked += 1
        return self.function(x)


def assert_tight(root: Enclosure, units: int = 8) -> None:
    width = root.relative_width
    assert width is not None
    assert width <= Fraction(units, 2**root.precision)


@given(
    st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6),
    st.sampled_from([2, 3, 5, 9]),
    st.sampled_from([24, 96, 300]),
    st.sampled_from([None, 0.9, 0.999999, 1 - 2.0**-50]),
)
@example(Fraction(1), 2, 96, 1.0)
def test_roots_of_powers_are_enclosed(value: Fraction, degree: int, precision: int, quality: float | None) -> None:
    """The oracle is exact: the lower end's power is at most the value, the upper end's at least."""
    guess = None if quality is None else quality * float(value) ** (1 / degree)
    root = increasing_root(lambda x: x.power(degree) - value, 0, 10**7, precision=precision, guess=guess)
    assert root.lower**degree <= value <= root.upper**degree
    assert_tight(root)
    mirrored = decreasing_root(lambda x: (-x).power(degree) - value, -(10**7), 0, precision=precision)
    assert (-mirrored.upper) ** degree <= value <= (-mirrored.lower) ** degree
    assert_tight(mirrored)


SMOOTH: dict[str, tuple[Callable[[Enclosure], Enclosure], Fraction, Fraction, float]] = {
    "square": (lambda x: x.square() - 2, Fraction(1), Fraction(2), 1.4142135623730951),
    "exp": (lambda x: x.exp() - 3, Fraction(0), Fraction(2), 1.0986122886681098),
    "erf": (lambda x: erf(x) - Fraction(1, 3), Fraction(0), Fraction(2), 0.30457019417398561),
    "log": (lambda x: x.log() - 1, Fraction(1), Fraction(5), 2.718281828459045),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions_take_few_evaluations(name: str) -> None:
    function, lower, upper, guess = SMOOTH[name]
    alone, guided, misled = Counted(function), Counted(function), Counted(function)
    roots = [
        increasing_root(alone, lower, upper, precision=90),
        increasing_root(guided, lower, upper, precision=90, guess=guess),
        increasing_root(misled, lower, upper, precision=90, guess=float(lower + (upper - lower) / 64)),
    ]
    assert alone.asked <= 25
    assert guided.asked <= 9
    assert misled.asked <= 31
    for root in roots:
        assert_tight(root)
        assert function(Enclosure.of(root.lower, precision=200)).less(0) is Truth.TRUE
        assert function(Enclosure.of(root.upper, precision=200)).greater(0) is Truth.TRUE


def test_a_root_at_zero_or_at_an_end_is_found_exactly() -> None:
    assert increasing_root(lambda x: x.expm1(), -1, 2) == Enclosure.of(0)
    assert increasing_root(lambda x: x.power(3), -1, 2) == Enclosure.of(0)
    assert increasing_root(lambda x: x - 1, 1, 2) == Enclosure.of(1)
    assert increasing_root(lambda x: x - 2, 1, 2) == Enclosure.of(2)


def test_a_tiny_root_is_relatively_accurate() -> None:
    for value in ("1e-30", "-1e-30"):
        root = increasing_root(lambda x: x.expm1() - Enclosure.of(value, precision=200), -1, 2)  # noqa: B023
        assert root.contains(Enclosure.of(value, precision=400).log1p())
        assert_tight(root)


def test_a_blurred_function_gives_a_bracket_of_the_size_of_its_blur() -> None:
    blur = Enclosure.between("-1e-12", "1e-12")
    root = increasing_root(lambda x: x.square() - 2 + blur, 1, 2)
    assert root.lower**2 < 2 < root.upper**2
    assert Fraction(1, 10**12) < root.width < Fraction(8, 10**12)
    beside_zero = increasing_root(lambda x: x + blur, -1, 2)
    assert beside_zero.contains(0)
    assert beside_zero.width < Fraction(16, 10**12)


def test_a_steep_function_ends() -> None:
    root = increasing_root(lambda x: (1000 * (x - Fraction(1, 3))).exp() - 1, 0, 100)
    assert root.contains(Fraction(1, 3))
    assert_tight(root)


def test_missing_sign_changes_are_refused() -> None:
    with pytest.raises(OutsideDomain, match="no sign change"):
        increasing_root(lambda x: x - 3, 4, 5)
    with pytest.raises(OutsideDomain, match="no sign change"):
        increasing_root(lambda x: x - 3, 1, 2)
    with pytest.raises(OutsideDomain, match="no sign change"):
        decreasing_root(lambda x: x - 3, 1, 5)
    with pytest.raises(Undecided, match="not proven"):
        increasing_root(lambda x: x + Enclosure.between(-1, 2), -1, 5)
    for lower, upper in ((2, 1), (1, 1)):
        with pytest.raises(InvalidValue, match="lower"):
            increasing_root(lambda x: x, lower, upper)
    with pytest.raises(InvalidValue, match="guess"):
        increasing_root(lambda x: x, -1, 1, guess=float("nan"))
    with pytest.raises(InvalidValue, match="precision"):
        increasing_root(lambda x: x, -1, 1, precision=3)
