"""Rates over a public domain: which targets every record of it can be drawn within."""

from __future__ import annotations

from fractions import Fraction

import pytest

from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import Constant, Expression, W, norm, sqrt
from certdp.accounting.expressions.floats import evaluate
from certdp.accounting.feasible_weights.rates import LinearConstrainedRate, constrained_rate
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Public
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.losses import PureLoss
from certdp.accounting.sampling.releases import ResampleEach, SampleOnce

BALL = NormBall(norm=Norm.L1, radius=Public("7/3"), dimension=4)


def linear(loss: PureLoss, target: Fraction) -> LinearConstrainedRate:
    rate = constrained_rate(loss, target)
    assert isinstance(rate, LinearConstrainedRate)
    return rate


TINY = Fraction(1, 2**200)


@pytest.mark.parametrize(
    ("unit", "largest"),
    [
        (norm(1) / 5, Fraction(7, 15)),
        (Constant(Fraction(1, 10)), Fraction(1, 10)),
        (norm(1) / 3 + norm(2) / 7 + Fraction(1, 10), Fraction(7, 9) + Fraction(1, 3) + Fraction(1, 10)),
    ],
)
def test_a_target_may_equal_what_the_domain_loses(unit: Expression, largest: Fraction) -> None:
    rate = linear(PureLoss(W * unit), largest).on(BALL)
    assert rate.domain_loss == largest
    with pytest.raises(InvalidValue, match="target"):
        linear(PureLoss(W * unit), largest - TINY).on(BALL)


def test_where_arithmetic_is_not_rational_the_search_decides() -> None:
    unit = sqrt(norm(1) / 3)  # √(7/9) = 0.88191710368819...
    assert linear(PureLoss(W * unit), Fraction(8820, 10000)).on(BALL).domain_loss is not None
    with pytest.raises(InvalidValue, match=r"at least 0\.8819171036881"):
        linear(PureLoss(W * unit), Fraction(8819, 10000)).on(BALL)


def test_the_profile_names_the_records_it_is_for() -> None:
    rate = linear(PureLoss(W * norm(1)), Fraction(1, 3))
    loss = PureLoss(W * norm(1))
    assert "records = those that lose at most 1/3 at weight 1" in map(str, rate.profile(loss).assumptions)
    held = rate.on(NormBall(norm=Norm.L1, radius=Public("1/4")))
    assert not held.profile(loss).assumptions


@pytest.mark.parametrize("loss", [PureLoss(W * norm(1)), PureLoss(sqrt(W) * norm(1))], ids=["linear", "of any form"])
def test_a_sample_loses_all_its_releases(loss: PureLoss) -> None:
    """On one sample their losses add before sampling; each fresh sample has its share of the target."""

    def value(root: Expression) -> float:
        return float(evaluate(root, {W: 4.0, norm(1): 0.125}))

    for times in (1, 2, 5):
        rate = constrained_rate(loss, Fraction(3, 2)).over(SampleOnce(times))
        assert rate.share == Fraction(3, 2)
        assert value(rate.on_a_sample.epsilon) == times * value(loss.epsilon)
        fresh = rate.over(ResampleEach(times))
        assert fresh.share == Fraction(3, 2) / times
        assert value(fresh.on_a_sample.epsilon) == value(loss.epsilon)
