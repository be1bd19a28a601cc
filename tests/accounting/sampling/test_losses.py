"""A declared loss is an expression in the weight and the norms, non-negative by its structure."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.expressions import (
    ORDER,
    Symbol,
    Variable,
    W,
    exp,
    expm1,
    log,
    log1p,
    maximum,
    norm,
    rounding,
    sqrt,
)
from certdp.accounting.expressions.floats import evaluate
from certdp.accounting.pairs import LaplacePair
from certdp.accounting.relations import Direction
from certdp.accounting.sampling.losses import FamilyLoss, PureLoss, RenyiLoss, ZeroConcentratedLoss

X = norm(1)


@pytest.mark.parametrize(
    "epsilon",
    [W * X / 160, maximum(0, W - 2) * X, expm1(X), log1p(W * W), exp(-X), sqrt(X) * W, log(W), (W - 1) * X],
    ids=str,
)
def test_admissible(epsilon: Any) -> None:
    assert PureLoss(epsilon).epsilon == epsilon
    assert RenyiLoss(epsilon * ORDER).tau == epsilon * ORDER


@pytest.mark.parametrize("epsilon", [-X, W - 2, X - W * X, log(X), expm1(-X), exp(X) - 2, 1 - X / W], ids=str)
def test_what_may_be_negative_is_refused(epsilon: Any) -> None:
    with pytest.raises(InvalidValue, match=r"epsilon: got .*; admissible: an expression that is non-negative"):
        PureLoss(epsilon)
    with pytest.raises(InvalidValue, match="tau: got"):
        RenyiLoss(epsilon)


@pytest.mark.parametrize("alien", [rounding("rate") * rounding("rate"), Variable(Symbol.RATIO, "1"), ORDER])
def test_other_variables_are_refused(alien: Any) -> None:
    with pytest.raises(InvalidValue, match=r"epsilon: got .*; admissible: the weight and norms of the record"):
        PureLoss(W * alien)


def test_the_order_belongs_to_the_renyi_loss() -> None:
    assert RenyiLoss(ORDER * W * X).tau == ORDER * W * X
    with pytest.raises(InvalidValue, match="epsilon: got order"):
        PureLoss(ORDER * W)


@pytest.mark.parametrize("value", [1.0, "W", None])
def test_numbers_are_no_losses(value: Any) -> None:
    with pytest.raises(InvalidType, match="an expression in W and norms"):
        PureLoss(value)


@pytest.mark.slow
def test_a_zero_concentrated_profile_is_a_line_in_every_order() -> None:
    loss = ZeroConcentratedLoss(W * X / 2)
    pair = loss.pair(lambda _: Enclosure.of(3))
    assert loss.parameter == W * X / 2
    assert loss.pure is None
    assert pair.zero_concentrated == Enclosure.of(3)
    for direction in Direction:
        assert pair.renyi(Fraction(5, 2), direction).upper == Fraction(15, 2)
        assert pair.renyi_estimate(2.5, direction) == 7.5
    assert pair.pure is None
    assert pair.delta is None
    bulk = loss.bulk_pairs(lambda _: np.array([0.0, 3.0]))
    assert list(bulk.renyi(np.ones(2), Fraction(2))) == pytest.approx([0, 6])
    with pytest.raises(InvalidValue, match="rho"):
        ZeroConcentratedLoss(W - X)


def test_a_family_has_in_bulk_what_its_pure_profile_has() -> None:
    def family(parameter: Enclosure) -> LaplacePair:
        return LaplacePair(parameter)

    def read(expression: Any) -> Any:
        return evaluate(expression, {W: np.array([4.0]), X: np.array([0.25])})

    pure = PureLoss(W * X)
    bare = FamilyLoss(W * X, family)
    stated = FamilyLoss(W * X, family, pure_loss=pure)
    assert bare.bulk_pairs(read) is None
    assert bare.pure is None
    assert str(stated.bulk_pairs(read)) == str(pure.bulk_pairs(read))
    assert stated.pure is pure
