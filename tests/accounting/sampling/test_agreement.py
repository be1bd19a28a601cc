"""What is declared about every value, held against what is declared at some."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.expressions import ONE, W, minimum, norm
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.notions import Pure
from certdp.accounting.pairs import GaussianPair
from certdp.accounting.provenance import Released
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.accounting.sampling.agreement import require_agreement, some_values
from certdp.accounting.sampling.every_value import ExPost, for_every_value
from certdp.accounting.sampling.losses import (
    DiscreteGaussianLoss,
    DiscreteGaussianVectorLoss,
    FamilyLoss,
    GaussianLoss,
    LaplaceLoss,
    PureLoss,
    ZeroConcentratedLoss,
)
from certdp.accounting.sampling.rate import SamplingRate

COST: Any = Guarantee(
    bound=Pure(Enclosure.of("0.1")),
    relation=ADD_REMOVE,
    unit=RECORD,
    derivation=Theorem("a test", "a release").conclude(),
)
NAME = "mechanism.scale"


def released(value: Any, within: Any = None) -> dict[str, Released[Any]]:
    return {NAME: Released(value if isinstance(value, str) else Fraction(value), COST, within=within)}


def stand_in(parameters: dict[str, Released[Any]]) -> Any:
    return for_every_value(parameters[NAME], NAME).value


class TestSomeValues:
    def test_of_a_range_its_ends_are_among_them(self) -> None:
        found = [values[NAME] for values in some_values(released(2, ("1/4", "13/4")))]
        shares = [Fraction(1, 4), Fraction(5, 4), Fraction(9, 4), Fraction(13, 4)]
        assert found == [2, *shares, Fraction(1, 4), Fraction(1, 2), 1, 2, 3, Fraction(13, 4)]

    def test_of_a_number_without_a_range_others_are_tried(self) -> None:
        assert {values[NAME] for values in some_values(released(2))} == {1, 2, 3, 4}

    def test_of_anything_else_there_is_no_other(self) -> None:
        assert {values[NAME] for values in some_values(released("gumbel"))} == {"gumbel"}

    def test_one_value_alone_has_no_others(self) -> None:
        assert [values[NAME] for values in some_values(released(3, (3, 3)))] == [3]


RANGE = released(2, (1, 4))


@given(st.fractions(1, 4))
def test_an_expression_agrees_with_itself_at_its_values(value: Fraction) -> None:
    at = stand_in(RANGE)
    for declared, at_value in (
        (LaplaceLoss(W * norm(1) / at), LaplaceLoss(W * norm(1) / value)),
        (SamplingRate(minimum(1, at / 9), weighted=True), SamplingRate(minimum(1, ONE * value / 9), weighted=True)),
        (at, ONE * value),
    ):
        require_agreement(declared, at_value, {NAME: value}, RANGE)


@pytest.mark.parametrize(
    ("declared", "at_value"),
    [
        (LaplaceLoss(W * norm(1) / 3), LaplaceLoss(W * norm(1) / 2)),
        (LaplaceLoss(W * norm(1)), LaplaceLoss(W * norm(2) * norm(1))),
        (LaplaceLoss(W * norm(1)), LaplaceLoss(norm(1) * ONE)),
        (SamplingRate(ONE / 2, weighted=True), SamplingRate(ONE / 2, weighted=False)),
        (SamplingRate(ONE / 2, weighted=True), SamplingRate(ONE / 3, weighted=True)),
        (DiscreteGaussianLoss(W * norm(2), Fraction(9)), DiscreteGaussianLoss(W * norm(2), Fraction(8))),
        (PureLoss(W * norm(1)), LaplaceLoss(2 * W * norm(1))),
        (GaussianLoss(W * norm(1)), FamilyLoss(W * norm(1), GaussianPair)),
        (LaplaceLoss(W * norm(1)), SamplingRate(ONE / 2, weighted=True)),
        (LaplaceLoss(W * norm(1)), None),
        (Enclosure.of(1), Enclosure.of("1.001")),
        (1, 2),
    ],
)
def test_what_differs_is_refused(declared: Any, at_value: Any) -> None:
    if isinstance(at_value, FamilyLoss):
        at_value = FamilyLoss(2 * W * norm(1), GaussianPair)
    with pytest.raises(ExPost, match=r"mechanism\.scale: got a released value over whose range no bound is proven"):
        require_agreement(declared, at_value, {NAME: Fraction(2)}, RANGE)
    with pytest.raises(ExPost, match=r"mechanism\.scale: got a released value with which the bound moves"):
        require_agreement(declared, at_value, {NAME: Fraction(2)}, released(2))


@pytest.mark.parametrize("scale", ["1", "3/2", "4"])
def test_a_loss_of_another_family_may_be_larger_than_the_one_at_a_value(scale: str) -> None:
    """Discrete Gaussian vectors lose at most what their curve says; where the curve is too low that is seen."""
    value, at = Fraction(scale), stand_in(RANGE)
    vector = DiscreteGaussianVectorLoss(W * norm(2), value**2, 2)
    require_agreement(ZeroConcentratedLoss((W * norm(2) / at) ** 2 / 2, symmetric=True), vector, {NAME: value}, RANGE)
    low = ZeroConcentratedLoss((W * norm(2) / at) ** 2 / 3, symmetric=True)
    with pytest.raises(ExPost):
        require_agreement(low, vector, {NAME: value}, RANGE)


def test_what_has_no_value_at_a_sample_is_told_at_the_others() -> None:
    """A rate below 0 there is none; the loss of the other family knows no curve there, and is refused."""
    with pytest.raises(ExPost):
        require_agreement(
            ZeroConcentratedLoss(W * norm(2)), FamilyLoss(W * norm(2), lambda _: GaussianPair(Enclosure.of(-1))), {}, {}
        )
