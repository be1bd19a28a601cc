"""Which end of a range certificates are written at: the one where everything that counts is largest, or none."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import certdp
from certdp import (
    Enclosure,
    Full,
    Importance,
    InvalidValue,
    LaplaceSum,
    Norm,
    NormBall,
    Poisson,
    Public,
    Released,
)
from certdp.accounting.derivation import Theorem
from certdp.accounting.expressions import ONE, Expression, W, between, expm1, norm
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.notions import Pure
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.accounting.units import Delta
from certdp.runs.sampled import SampledRun
from certdp.runs.worst_ends import worst_ends

COST: Any = Guarantee(
    bound=Pure(Enclosure.of("0.1")), relation=ADD_REMOVE, unit=RECORD, derivation=Theorem("a test", "1").conclude()
)
PLACE = between(Fraction(1), Fraction(4), "p")
RELEASED = {"p": Released(2, COST, within=(1, 4))}


@pytest.mark.parametrize(
    ("roots", "end"),
    [
        ([W * norm(1) / PLACE], 1),
        ([W * norm(1) * PLACE, ONE], 4),
        ([norm(1) / PLACE, norm(2) / PLACE**2], 1),
        ([expm1(norm(1) / PLACE)], 1),  # overflows where norms are large
    ],
)
def test_the_end_where_all_is_largest(roots: list[Expression], end: int) -> None:
    assert worst_ends(roots, RELEASED) == {"p": end}


def test_what_moves_with_no_parameter_has_no_end() -> None:
    assert worst_ends([norm(1), W], RELEASED) == {}


@pytest.mark.parametrize("roots", [[norm(1) / PLACE, PLACE / 9], [norm(1) * PLACE + 1 / PLACE]])
def test_where_neither_end_is_the_worst_there_is_none(roots: list[Expression]) -> None:
    with pytest.raises(InvalidValue, match=r"p within 1 to 4; admissible: a range of which one end costs most"):
        worst_ends(roots, RELEASED)


@pytest.mark.slow
def test_a_weighted_rate_has_a_guarantee_and_no_certificate_of_a_run() -> None:
    """A higher rate draws more often and weighs less."""
    rate = Released("0.3", COST, within=("0.2", "0.9"))
    run = SampledRun(
        mechanism=LaplaceSum(scale=Public(1)),
        sampler=Poisson(rate=rate, weighted=Public(True)),
        domain=NormBall(norm=Norm.L1, radius=Public(1)),
    )
    answer = run.epsilon(Delta("1e-3"))
    with pytest.raises(InvalidValue, match="one end costs most"):
        certdp.certificate(run, answer)


def test_a_profile_is_certified_at_its_end_alone() -> None:
    """ψ of importance sampling falls with the rate per norm: its certificate is that of the lowest, if any."""
    rate = Released("0.3", COST, within=("0.2", "0.9"))
    run = SampledRun(mechanism=LaplaceSum(scale=Public(1)), sampler=Importance(rate=rate))
    with pytest.raises(InvalidValue, match="what is proven at one value is not known to cover others"):
        certdp.profile_certificate(run.on(NormBall(norm=Norm.L1, radius=Public(1))))
    assert Full().rate.probability == ONE
