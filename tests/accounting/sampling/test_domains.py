"""Norm balls: the box of an expression holds every record of the ball, and no norm is wider than it must be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import norm_enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.expressions import Range, Symbol, Variable, W, norm, rounding, variables
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Private, Public, Released
from certdp.accounting.sampling.domains import NormBall
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.runs.sampled import SampledRun
from certdp.samplers.full import Full
from tests.support.cases import examples

NORMS = (Norm.L1, Norm.L2, Norm.LINF, Norm("3/2"), Norm(3), Norm("1.0001"), Norm(Fraction(10**40 + 1, 10**40)))


def ball(p: Norm, radius: Any = 5, dimension: int | None = None) -> NormBall:
    return NormBall(norm=p, radius=Public(radius), dimension=dimension)


def holds(side: Any, low: Fraction, high: Fraction) -> bool:
    slack = Fraction(1, 2**80)
    return bool(side.lower <= high * (1 + slack) and low * (1 - slack) <= side.upper)


@examples(200)
@given(
    row=st.lists(st.integers(-99, 99), min_size=1, max_size=6),
    own=st.sampled_from(NORMS),
    wanted=st.sets(st.sampled_from(NORMS), min_size=1),
)
def test_every_record_of_the_ball_lies_in_the_box(row: list[int], own: Norm, wanted: set[Norm]) -> None:
    true = {p: norm_enclosure(row, p, precision=200) for p in NORMS}
    domain = ball(own, max(true[own].upper, Fraction(1)), len(row))
    meaning, box = domain.box([norm(p) for p in wanted])
    for p in wanted:
        variable = norm(p)
        if variable in box:
            assert holds(box[variable], true[p].lower, true[p].upper)
            continue
        ratio = Variable(Symbol.RATIO, p.value)
        assert variables(meaning[variable]) == {norm(own), ratio}
        if any(row):
            quotient = true[p] / true[own]
            assert holds(box[ratio], quotient.lower, quotient.upper)


def length(x: Any, p: Norm) -> float:
    return float(np.linalg.norm(x, np.inf if p.order is None else float(p.order)))


@pytest.mark.parametrize("own", NORMS, ids=lambda p: p.value[:8])
@pytest.mark.parametrize("other", NORMS, ids=lambda p: p.value[:8])
@pytest.mark.parametrize("dimension", [1, 2, 7, 100])
def test_the_largest_value_of_another_norm_is_reached(own: Norm, other: Norm, dimension: int) -> None:
    """A corner or an axis of the ball, scaled to its boundary, has that norm."""
    candidates = [np.ones(dimension), np.eye(dimension)[0]]
    largest = max(5 * length(x, other) / length(x, own) for x in candidates)
    _, box = ball(own, 5, dimension).box([norm(other)])
    assert box[norm(other)].lower == 0
    upper = box[norm(other)].upper
    assert upper is not None
    assert float(upper) == pytest.approx(largest, rel=1e-12)


def test_roundings_range_over_their_interval() -> None:
    _, box = ball(Norm.L1).box([norm(1), rounding("rate")])
    assert box[rounding("rate")] == Range(Fraction(-1), Fraction(1))
    assert box[norm(1)] == Range(Fraction(0), Fraction(5))


def test_another_norm_needs_the_dimension() -> None:
    assert ball(Norm.L2).box([norm(2)])[0] == {}
    with pytest.raises(InvalidValue, match="dimension: got None; admissible: the number of coordinates"):
        ball(Norm.L2).box([norm(1)])


@pytest.mark.parametrize("radius", [0, -1, "nan", float("inf"), "five"])
def test_radii_are_positive_numbers(radius: Any) -> None:
    with pytest.raises(InvalidValue, match="radius: got"):
        ball(Norm.L1, radius)


def test_a_radius_computed_from_the_records_is_refused() -> None:
    with pytest.raises(InvalidType, match="radius: got a Private value"):
        NormBall(norm=Norm.L1, radius=Private(5))  # type: ignore[arg-type]


@pytest.mark.parametrize(("dimension", "error"), [(0, InvalidValue), (2.0, InvalidType), (True, InvalidType)])
def test_dimensions_are_whole_numbers(dimension: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="dimension: got"):
        ball(Norm.L1, 5, dimension)


def test_the_public_constants_are_assumptions() -> None:
    assert [str(a) for a in ball(Norm.LINF, "1/3", 4).assumptions] == ["norm = inf", "radius = 1/3", "dimension = 4"]
    assert W not in ball(Norm.L1).box([norm(1)])[1]


def test_a_released_radius_is_largest_at_the_end_of_its_range() -> None:
    cost = SampledRun(mechanism=LaplaceSum(scale=Public(10)), sampler=Full(), domain=ball(Norm.L1)).pure()
    within, anywhere = Released(3, cost, within=(2, 8)), Released(3, cost)
    assert NormBall(norm=Norm.L1, radius=within).at_its_largest.radius.value == 8
    for domain in (NormBall(norm=Norm.L1, radius=anywhere), ball(Norm.L1)):
        assert domain.at_its_largest is domain
