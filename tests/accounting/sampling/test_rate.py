"""A sampling rate is an expression in the norms, a probability by its structure."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.expressions import Constant, Power, W, exp, expm1, maximum, minimum, norm, rounding, sqrt
from certdp.accounting.pairs import GaussianPair
from certdp.accounting.relations import REPLACE, ZERO_OUT, Direction, Relation
from certdp.accounting.sampling.drawing import StatedRate
from certdp.accounting.sampling.rate import ALWAYS, SamplingRate

X = norm(1)
UNIT = Fraction(1, 2**53)


@pytest.mark.parametrize(
    "probability",
    [minimum(1, X), minimum(1, maximum(Fraction(1, 9), 3 * X)), exp(-X), -expm1(-X), 1 / (1 + X), minimum(1, X) / 3],
    ids=str,
)
def test_admissible(probability: Any) -> None:
    assert SamplingRate(probability, weighted=True).probability == probability


@pytest.mark.parametrize(
    "probability", [X, minimum(1, X - 1), Constant(Fraction(11, 10)), Constant(Fraction(-1)), 2 * exp(-X)], ids=str
)
def test_what_may_leave_the_unit_interval_is_refused(probability: Any) -> None:
    with pytest.raises(InvalidValue, match=r"Cap it: minimum\(1, …\)"):
        SamplingRate(probability, weighted=False)


@pytest.mark.parametrize("alien", [W, rounding("rate")])
def test_a_rate_depends_on_norms_alone(alien: Any) -> None:
    with pytest.raises(InvalidValue, match="an expression in norms of the record alone"):
        SamplingRate(minimum(1, maximum(0, alien)), weighted=False)


@pytest.mark.parametrize("value", [0.5, "0.5", None])
def test_numbers_are_no_rates(value: Any) -> None:
    with pytest.raises(InvalidType, match="an expression in norms"):
        SamplingRate(value, weighted=False)


def test_rounding_counts_operations() -> None:
    assert ALWAYS.rounding == 0
    few = SamplingRate(minimum(1, X / 3), weighted=True).rounding
    many = SamplingRate(minimum(1, Power(sqrt(X) * X / 7 + X, Fraction(3))), weighted=True).rounding
    assert 8 * UNIT <= few < many <= 100 * UNIT
    assert SamplingRate(minimum(1, X), weighted=True).rounding == (6 + 4) * UNIT  # six of a norm, four of the weight


def test_replacing_a_record_costs_more_than_zeroing_it_out() -> None:
    rate = StatedRate(SamplingRate(Constant(Fraction(1, 10)), weighted=False))
    level = Enclosure.of("1/8")

    def cost(relation: Relation) -> Enclosure:
        pair = rate.changed(GaussianPair(Enclosure.of(1)), Enclosure.of("1/10"), relation, 1)
        assert pair is not None
        assert pair.delta is not None
        return pair.delta(level, Direction.REMOVE)

    assert cost(REPLACE).lower > cost(ZERO_OUT).upper
