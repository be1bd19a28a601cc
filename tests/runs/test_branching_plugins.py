"""Plugins that are right at every number and tell a stand-in from one: nothing is stated of their released parameters.

Each chooses the scale 1/10 where its option is 1, and else 100; a stand-in for all values passes for another number.
Where the option is 1 one record loses 10, which a bound of 0.01 beside the cost of the release would leave out.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import pytest
from attrs import field, frozen

from certdp import (
    ExPost,
    Full,
    LaplaceSum,
    Norm,
    NormBall,
    Public,
    Released,
    SampledRun,
    certificate,
    profile_certificate,
)
from certdp.accounting.derivation import Evidence
from certdp.plugins.contract import (
    CONTRACT_VERSION,
    About,
    Coins,
    LaplaceLoss,
    Real,
    Release,
    W,
    WeightedSample,
    named,
    norm,
    positive,
)

BALL = NormBall(norm=Norm.L1, radius=Public(1))
COUNT = SampledRun(mechanism=LaplaceSum(scale=Public(10)), sampler=Full(), domain=BALL).pure()
LOUD, QUIET = Fraction(1, 10), Fraction(100)


def caught(value: Any) -> Fraction:
    """Goes on where the value is no number."""
    try:
        return LOUD if float(value) == 1 else QUIET
    except Exception:
        return QUIET


WAYS: dict[str, Callable[[Any], Fraction]] = {
    "equal": lambda value: LOUD if value == 1 else QUIET,
    "not equal": lambda value: QUIET if value != 1 else LOUD,
    "equal, the other way round": lambda value: LOUD if Fraction(1) == value else QUIET,
    "among numbers": lambda value: LOUD if value in (1, 3) else QUIET,
    "a key": lambda value: {Fraction(1): LOUD}.get(value, QUIET),
    "a set": lambda value: QUIET if {value} - {Fraction(1)} else LOUD,
    "what follows from it": lambda value: LOUD if 2 * value == 2 else QUIET,
    "an instance": lambda value: LOUD if isinstance(value, Fraction) and value == 1 else QUIET,
    "its type": lambda value: LOUD if type(value) is Fraction and value.numerator == value.denominator else QUIET,
    "its text": lambda value: LOUD if str(value) == "1" else QUIET,
    "its form": lambda value: LOUD if repr(value) == "Fraction(1, 1)" else QUIET,
    "an error caught": caught,
}


@frozen(kw_only=True, field_transformer=named)
class Branching:
    """A sum whose scale is chosen by an option, in a way of its own."""

    about: ClassVar[About] = About(
        name="branching", version="1", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="a test"
    )
    choose: ClassVar[Callable[[Any], Fraction]]

    mode: Real = field(converter=positive)

    @property
    def loss(self) -> LaplaceLoss:
        return LaplaceLoss(W * norm(1) / type(self).choose(self.mode.value))

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        return sample.weights @ sample.records + coins.laplace(type(self).choose(self.mode.value), 1)


def branching(way: str, mode: Any) -> SampledRun:
    kind: Any = type("Branching", (Branching,), {"choose": staticmethod(WAYS[way])})
    return SampledRun(mechanism=kind(mode=mode), sampler=Full(), domain=BALL)


@pytest.mark.parametrize("within", [None, (1, 2), ("1/3", 2), ("1/3", 1000)])
@pytest.mark.parametrize("way", WAYS)
def test_no_bound_is_stated_for_a_stand_in_that_was_told_from_a_number(way: str, within: Any) -> None:
    run = branching(way, Released(2, COUNT, within=within))
    doors: list[Callable[[], object]] = [
        run.pure,
        lambda: run.epsilon("1e-6"),
        lambda: run.profile,
        lambda: profile_certificate(run),
        lambda: certificate(run, branching(way, Public(2)).epsilon("1e-6")),
    ]
    for door in doors:
        with pytest.raises(ExPost, match=r"mechanism\.mode"):
            door()


@pytest.mark.parametrize("way", WAYS)
def test_the_same_plugin_is_right_at_every_number(way: str) -> None:
    assert [branching(way, Public(mode)).pure().bound.epsilon.upper_float for mode in (1, 2)] == [10.0, 0.01]
    read = branching(way, Released(2, COUNT)).as_it_came_out.pure()
    assert read.bound.epsilon.upper_float == pytest.approx(0.11)
