"""Proven integrals against closed forms, and against Arb's own proven quadrature."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import pytest

from certdp.accounting.enclosures import (
    Enclosure,
    _ends,
    gauss_legendre,
    increasing_root,
    normal_survival,
    pi,
    trapezoid_on_line,
    trapezoid_step,
)
from certdp.accounting.enclosures.quadrature import _rule
from certdp.accounting.errors import InvalidValue


def bell(x: Enclosure) -> Enclosure:
    return (-x.square() / 2).exp()


def bell_tail(reach: int) -> Enclosure:
    """The integral of e**(−x²/2) beyond ±reach."""
    return 2 * (2 * pi()).sqrt() * normal_survival(Enclosure.of(reach))


def bell_edge(half_width: Fraction) -> Enclosure:
    """|e**(−z²/2)| = e**(b²/2)·e**(−x²/2) for z = x + i·b."""
    return (2 * pi()).sqrt() * Enclosure.of(half_width**2 / 2).exp()


@pytest.mark.parametrize("half_width", [Fraction(1, 2), Fraction(2), Fraction(8)])
@pytest.mark.parametrize("precision", [24, 96, 200])
def test_trapezoids_enclose_the_gaussian_integral(half_width: Fraction, precision: int) -> None:
    true = (2 * pi(400)).sqrt()
    for centre in (0, Fraction(1, 3)):
        made = trapezoid_on_line(
            bell,
            half_width=half_width,
            edge_norm=bell_edge(half_width),
            reach=20,
            tail=bell_tail(19),
            centre=centre,
            precision=precision,
        )
        assert made.contains(true)
        assert made.width < Fraction(1, 2 ** (min(precision, 200) - 8))


@pytest.mark.parametrize("step", [Fraction(1), Fraction(2), Fraction(3)])
def test_the_discretisation_error_is_included(step: Fraction) -> None:
    """With so coarse a step the sum alone is off by more than everything else together."""
    true = (2 * pi(400)).sqrt()
    options: dict[str, Any] = {"half_width": 4, "reach": 20, "tail": bell_tail(19), "step": step}
    assert trapezoid_on_line(bell, edge_norm=bell_edge(Fraction(4)), **options).contains(true)
    assert not trapezoid_on_line(bell, edge_norm=Enclosure.of(0), **options).contains(true)


def test_the_tails_are_included() -> None:
    options: dict[str, Any] = {"half_width": 4, "edge_norm": bell_edge(Fraction(4)), "reach": 3}
    true = (2 * pi(400)).sqrt()
    assert trapezoid_on_line(bell, tail=bell_tail(3), **options).contains(true)
    assert not trapezoid_on_line(bell, tail=Enclosure.of(0), **options).contains(true)


def test_the_default_step_meets_the_precision() -> None:
    for precision in (30, 96):
        step = trapezoid_step(2, bell_edge(Fraction(2)), precision=precision)
        error = 2 * bell_edge(Fraction(2)) / (2 * pi() * (2 / step)).expm1()
        assert error.upper < Fraction(1, 2**precision)
        assert error.lower > Fraction(1, 2 ** (precision + 4))


INTEGRALS: dict[
    str,
    tuple[Callable[[Enclosure], Enclosure], Callable[[Any, bool], Any], Fraction, Fraction, str, int],
] = {  # the function here and in Arb, the ends, ρ and a bound inside that ellipse
    "1/x": (lambda x: 1 / x, lambda z, _: 1 / z, Fraction(1), Fraction(2), "4", 3),
    "exp": (lambda x: x.exp(), lambda z, _: z.exp(), Fraction(-1), Fraction(3), "6", 5000),
    "x^5": (lambda x: x.power(5), lambda z, _: z**5, Fraction(-1, 3), Fraction(1, 7), "10", 10),
    "bell": (bell, lambda z, _: (-z * z / 2).exp(), Fraction(-2), Fraction(2), "4", 10**4),
    "log": (lambda x: x.log(), lambda z, a: z.log(analytic=a), Fraction(1), Fraction(3), "3", 4),
}


@pytest.mark.parametrize("name", INTEGRALS)
@pytest.mark.parametrize("count", [None, 1, 2, 5, 12])
def test_gauss_legendre_encloses_arb(name: str, count: int | None) -> None:
    ours, theirs, lower, upper, ellipse, bound = INTEGRALS[name]
    made = gauss_legendre(ours, lower, upper, ellipse=ellipse, bound=Enclosure.of(bound), count=count)
    before = flint.ctx.prec
    try:
        flint.ctx.prec = 400
        start, end = (flint.arb(flint.fmpq(*limit.as_integer_ratio())) for limit in (lower, upper))
        true = flint.acb.integral(theirs, start, end).real
        low, high = (flint.arb(_ends.integers(raw)) for raw in (made._lower, made._upper))
        assert low <= true
        assert true <= high
    finally:
        flint.ctx.prec = before
    if count is None:
        assert made.width < Fraction(1, 2**90)


def test_few_points_need_their_error_bound() -> None:
    true = Enclosure.of(2, precision=400).log()
    options: dict[str, Any] = {"ellipse": 4, "count": 4}
    assert gauss_legendre(lambda x: 1 / x, 1, 2, bound=Enclosure.of(3), **options).contains(true)
    assert not gauss_legendre(lambda x: 1 / x, 1, 2, bound=Enclosure.of(0), **options).contains(true)


@pytest.mark.parametrize("count", [1, 2, 3, 8, 21])
def test_the_rule_is_exact_for_polynomials_and_no_more(count: int) -> None:
    """Its nodes and weights integrate x**k exactly up to k = 2n − 1: that alone characterises the rule."""
    rule = _rule(count, 120)
    assert len(rule) == count
    for power in range(2 * count + 1):
        total = sum((weight * node.power(power) for node, weight in rule), Enclosure.of(0, precision=120))
        true = Fraction(2, power + 1) if power % 2 == 0 else Fraction(0)
        assert total.contains(true) is (power < 2 * count)
        assert total.width < Fraction(1, 2**100)


def test_bad_arguments_are_refused() -> None:
    line: dict[str, Any] = {"half_width": 1, "edge_norm": Enclosure.of(1), "reach": 1, "tail": Enclosure.of(0)}
    for name, value in (
        ("half_width", 0),
        ("reach", -1),
        ("step", 0),
        ("edge_norm", Enclosure.between(-1, 1)),
        ("tail", Enclosure.of(-1)),
    ):
        with pytest.raises(InvalidValue, match=name):
            trapezoid_on_line(bell, **{**line, name: value})
    interval: dict[str, Any] = {"lower": 0, "upper": 1, "ellipse": 2, "bound": Enclosure.of(1)}
    for name, value in (("lower", 1), ("ellipse", 1), ("count", 0), ("bound", Enclosure.of(-1))):
        with pytest.raises(InvalidValue, match=name):
            gauss_legendre(bell, **{**interval, name: value})


def test_an_integral_can_be_solved_for_its_end() -> None:
    """Functions of enclosures compose: the upper end at which the integral of 1/x from 1 reaches 1 is e."""
    root = increasing_root(
        lambda end: (
            gauss_legendre(
                lambda t: (end - 1) / (1 + (end - 1) * t), 0, 1, ellipse=3, bound=Enclosure.of(30), precision=60
            )
            - 1
        ),
        2,
        3,
        precision=40,
    )
    assert root.contains(Enclosure.of(1, precision=200).exp())


def test_what_a_rule_may_miss_counts_alike_on_both_sides() -> None:
    nothing, bound = Enclosure.of(0), Enclosure.of(3)
    for found in (
        trapezoid_on_line(lambda _: nothing, half_width=1, edge_norm=bound, reach=4, tail=Enclosure.of("1/2")),
        gauss_legendre(lambda _: nothing, -1, 2, ellipse=2, bound=bound, count=3),
    ):
        assert found.lower == -found.upper < 0
