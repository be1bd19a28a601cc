"""The bounds of sampled rates are the stated ones: of one step that step, of several what the largest factors give."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import inf
from typing import Any

import flint
import pytest
from mpmath import libmp

from certdp.verification.checker.budget import Budget
from certdp.verification.checker.intervals import INFINITY, Arithmetic, Interval, Mpf
from certdp.verification.checker.keyed.rates import ListedSizes, Powers, Rates, read_rates
from certdp.verification.checker.verdict import Refused
from tests.support.arb_numbers import arb_of

FINE = Arithmetic(160)
POWERS = ["0", "1/3", "1/2", "1", "3/2", "2", "7", "65", "1/65"]
SIZES = ["1/3", "1/3", "1", "5", "11/2", "60", "61"]
GROWTHS = [Fraction(1), Fraction(5, 4), Fraction(3)]


@pytest.fixture(autouse=True)
def precisely() -> Iterator[None]:
    before, flint.ctx.prec = flint.ctx.prec, 600
    yield
    flint.ctx.prec = before


class Truth:
    """The rates of a scheme by Arb, and the bounds that its docstrings state."""

    def __init__(self, scheme: dict[str, Any]) -> None:
        self.name, self.threshold = scheme["name"], Fraction(scheme["threshold"])
        self.power = Fraction(scheme["power"]) if "power" in scheme else None
        self.listed = scheme.get("sizes")

    def size(self, i: int) -> Any:
        """τ·f(i)."""
        if not i:
            return flint.arb(0)
        size = flint.arb(i) ** arb_of(self.power) if self.listed is None else arb_of(Fraction(self.listed[i - 1]))
        return arb_of(self.threshold) * size

    def left(self, i: int) -> Any:
        """1 - q_i."""
        size = self.size(i)
        if self.name == "ppswor":
            return (-size).exp()
        return 1 - size if size < 1 else flint.arb(0)

    def step(self, first: int, last: int | None) -> Any:
        """The largest τ·(f(i) - f(i - 1)), or None where it is not known."""
        only = first if first == last else None
        at = only if self.power is None else first if self.power <= 1 else last
        return None if at is None else self.size(at) - self.size(at - 1)

    def rise(self, first: int, last: int | None) -> Any:
        step, left = self.step(first, last), self.left(first - 1)
        if self.name == "ppswor":
            return left * (1 if step is None else 1 - (-step).exp())
        return left if step is None or step > left else step

    def fall(self, first: int, last: int | None, growth: Fraction) -> Any:
        rise, step = self.rise(first, last), self.step(first, last)
        least = rise if last is None else rise - (arb_of(growth) - 1) * self.left(last)
        if self.name == "pps":
            return least
        sharp = self.left(first - 1) * (1 if step is None else 1 - arb_of(growth) * (-step).exp())
        sharp = flint.arb(0) if sharp < 0 else sharp
        return sharp if sharp < least else least


def number(value: Mpf) -> Any:
    sign, mantissa, exponent, _ = value
    return flint.arb((-1) ** sign * mantissa) * flint.arb(2) ** exponent


def is_just_above(bound: Mpf, true: Any) -> bool:
    """Within 2^-140: enough for halving to end, and nothing below."""
    found = number(bound)
    return bool(not (found < true) and abs(found - true) < flint.arb(2) ** -140)


SCHEMES = [
    *(
        {"name": name, "threshold": threshold, "power": power}
        for name in ("ppswor", "pps")
        for threshold in ("1/1000", "1/7", "3")
        for power in POWERS
    ),
    *({"name": name, "threshold": "1/8", "sizes": SIZES} for name in ("ppswor", "pps")),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_bounds_are_as_sharp_as_stated(scheme: dict[str, Any]) -> None:
    rates, truth = read_rates(scheme, FINE), Truth(scheme)
    last = len(SIZES) if "sizes" in scheme else 40
    assert rates.last == (last if "sizes" in scheme else inf)
    for i in range(last + 1):
        found, left = rates.rate(i), rates.left_out(i)
        assert is_just_above(found.hi, 1 - truth.left(i))
        assert is_just_above(libmp.mpf_neg(found.lo), truth.left(i) - 1)
        assert is_just_above(left.hi, truth.left(i))
        assert is_just_above(libmp.mpf_neg(left.lo), -truth.left(i))
    for first, end in ((1, 1), (2, 2), (5, 5), (7, 7), (1, 6), (2, 7), (3, 7), (last - 1, last), (1, None), (5, None)):
        assert is_just_above(rates.rise(first, end), truth.rise(first, end)), (first, end)
        for growth in GROWTHS:
            bound = rates.fall(first, end, FINE.rational(growth))
            assert is_just_above(bound, truth.fall(first, end, growth)), (first, end, growth)


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_a_bound_of_one_step_is_that_step(scheme: dict[str, Any]) -> None:
    """Without which the stated bounds might be sharp and of something else."""
    truth = Truth(scheme)
    for i in (1, 2, 3, 5, 7):
        rise = truth.left(i - 1) - truth.left(i)
        assert abs(truth.rise(i, i) - rise) < flint.arb(2) ** -140
        for growth in GROWTHS:
            fall = truth.left(i - 1) - arb_of(growth) * truth.left(i)
            found = truth.fall(i, i, growth)
            assert abs(found - fall) < flint.arb(2) ** -140


def test_listed_rates_are_known_step_by_step() -> None:
    rates = read_rates({"name": "listed-rates", "rates": ["1/8", "1/8", "3/4", "1"]}, FINE)
    assert rates.last == 4
    exact = [Fraction(0), Fraction(1, 8), Fraction(1, 8), Fraction(3, 4), Fraction(1)]
    for i in range(1, 5):
        assert rates.rate(i) == FINE.rational(exact[i])
        assert rates.left_out(i) == FINE.rational(1 - exact[i])
        assert Interval(rates.rise(i, i), rates.rise(i, i)) == FINE.rational(exact[i] - exact[i - 1])
        fall = (1 - exact[i - 1]) - 3 * (1 - exact[i])
        assert rates.fall(i, i, FINE.rational(Fraction(3))) == FINE.rational(fall).hi
    assert rates.left_out(0) == FINE.rational(Fraction(1))
    for first, last in ((1, 2), (2, 4), (1, None)):
        assert rates.rise(first, last) == rates.fall(first, last, FINE.rational(Fraction(2))) == INFINITY


def test_every_key_is_kept() -> None:
    rates = read_rates({"name": "every-key"}, FINE)
    one, none = FINE.rational(Fraction(1)), FINE.rational(Fraction(0))
    assert rates.last == inf
    assert (rates.rate(0), rates.rate(1), rates.left_out(0), rates.left_out(1)) == (none, one, one, none)
    for first, last, rise in ((1, 1, one), (1, None, one), (1, 9, one), (2, 2, none), (2, 9, none), (2, None, none)):
        assert rates.rise(first, last) == rates.fall(first, last, FINE.rational(Fraction(2))) == rise.hi


@pytest.mark.parametrize(
    ("power", "frequency", "size"),
    [
        ("1/2", 9, "3"), ("1/2", 8, None), ("3/2", 4, "8"), ("1/3", 27, "3"), ("2/3", 27, "9"), ("2/3", 26, None),
        ("1/3", 28, None), ("0", 5, "1"), ("0", 0, "0"), ("1/2", 0, "0"), ("7", 1, "1"), ("64", 2, str(2**64)),
        ("65", 2, None), ("1/64", 1, "1"), ("1/65", 1, None), ("100", 1, None), ("1/2", 2**52, str(2**26)),
        ("1/2", 2**52 + 1, None), ("1/2", 2**52 - 1, None), ("1/52", 2**52, "2"), ("1/53", 2**53, "2"),
        ("1/53", 2**53 - 1, None), ("1/51", 2**53, None), ("0", 2**53, "1"),
    ],
)  # fmt: skip
def test_a_size_is_exact_where_it_is_whole_and_the_power_short(power: str, frequency: int, size: str | None) -> None:
    assert Powers(Fraction(power)).exact(frequency) == (None if size is None else Fraction(size))
    if frequency:
        low, high = (Fraction(*libmp.to_rational(end)) for end in Powers(Fraction(power)).enclose(frequency, FINE))
        true = flint.arb(frequency) ** arb_of(Fraction(power))
        assert not (arb_of(low) > true)
        assert not (arb_of(high) < true)
        assert high - low <= high / 2**140
        if size is not None:
            assert low <= Fraction(size) <= high


def test_listed_sizes() -> None:
    sizes = ListedSizes(["1/3", "2"])
    assert (sizes.exact(0), sizes.exact(1), sizes.exact(2)) == (Fraction(0), Fraction(1, 3), Fraction(2))
    assert sizes.enclose(1, FINE) == FINE.rational(Fraction(1, 3))
    assert (sizes.steepest(2, 2), sizes.steepest(1, 2), sizes.steepest(1, None)) == (2, None, None)


@pytest.mark.parametrize("power", ["1", "1/2", "99/98"])
def test_a_step_is_the_difference_of_exact_sizes_where_both_are_known(power: str) -> None:
    """Then it is one number rounded, not the difference of two: nothing is lost where both are large."""
    rates: Any = read_rates({"name": "pps", "threshold": "1/3", "power": power}, Arithmetic(20))
    step = rates._step(2**50 + 1, 2**50 + 1)
    true = (flint.arb(2**50 + 1) ** arb_of(Fraction(power)) - flint.arb(2**50) ** arb_of(Fraction(power))) / 3
    assert not (number(step) < true)
    assert (number(step) < true * (1 + flint.arb(2) ** -18)) is (power == "1")


@pytest.mark.parametrize(
    ("scheme", "reason"),
    [
        ({"name": "ppswor", "threshold": "0", "power": "1"}, "threshold must be above 0"),
        ({"name": "listed-rates", "rates": ["1/2", "1/3"]}, "must not fall"),
        ({"name": "listed-rates", "rates": ["1/2", "3/2"]}, r"within \[0, 1\]"),
        ({"name": "listed-rates", "rates": []}, "at least one rate"),
        ({"name": "pps", "threshold": "1", "sizes": []}, "at least one size"),
        ({"name": "pps", "threshold": "1", "sizes": ["2", "1"]}, "must not fall"),
        ({"name": "pps", "threshold": "1", "sizes": ["1"], "power": "1"}, "power"),
        ({"name": "every-key", "rates": []}, "rates"),
        ({"name": "bottom-k"}, "name must be one of"),
        ({"name": ["pps"]}, "name must be one of"),
    ],
)
def test_what_is_no_scheme_is_refused(scheme: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        read_rates(scheme, FINE)


@pytest.mark.parametrize(
    "scheme",
    [
        {"name": "listed-rates", "rates": ["0", "0", "1"]},
        {"name": "listed-rates", "rates": ["1"]},
        {"name": "ppswor", "threshold": "1", "sizes": ["0", "1", "1"]},
        {"name": "pps", "threshold": "1", "power": "0"},
    ],
)
def test_what_is_a_scheme_at_the_ends_is_taken(scheme: dict[str, Any]) -> None:
    assert read_rates(scheme, FINE).arithmetic is FINE


def test_a_scheme_draws_on_the_budget_of_the_check() -> None:
    budget = Budget(0)
    rates = read_rates({"name": "pps", "threshold": "1", "power": "1"}, FINE, budget)
    assert rates.budget is budget
    with pytest.raises(Refused, match="work budget"):
        rates.rate(1)
    alone: Rates = read_rates({"name": "pps", "threshold": "1", "power": "1"}, FINE)
    before = alone.budget.left
    alone.rate(1)
    assert alone.budget.left < before
