"""A declared loss is an expression in the weight and the norms, non-negative by its structure."""

from __future__ import annotations

from typing import Any

import pytest

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
from certdp.accounting.losses import PureLoss, RenyiLoss

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
