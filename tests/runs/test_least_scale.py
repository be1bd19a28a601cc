"""The least noise for an ε: proven to suffice, hardly more than needed, and refused where none suffices."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp.accounting.errors import InvalidValue, Undecided
from certdp.accounting.expressions.suprema import NoFiniteSupremum
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Public
from certdp.accounting.sampling.domains import NormBall
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.mechanisms.lloyd import Lloyd
from certdp.plugins.contract import Sampler
from certdp.runs import least_scale as calibration
from certdp.runs.least_scale import least_scale, proven
from certdp.runs.sampled import SampledRun
from certdp.samplers.full import Full
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson

BALL = NormBall(norm=Norm.L2, radius=Public(3), dimension=9)


def lloyd(scale: Fraction) -> Lloyd:
    return Lloyd(
        clusters=Public(5),
        scale_sum=Public(scale),
        split=Public("derived"),
        radius=Public(3),
        dimension=Public(9),
        iterations=Public(4),
    )


SAMPLERS: list[Sampler] = [
    Full(),
    Poisson(rate=Public("0.1")),
    Poisson(rate=Public("0.1"), weighted=Public(True)),
    Importance(rate=Public("0.2"), norm=Public(2), floor=Public("0.05")),
]


CASES = [
    (sampler, epsilon)
    for sampler in SAMPLERS
    for epsilon in (Fraction(1, 1000), Fraction(1), Fraction("30.5"), Fraction(10**5))
]
CASES.append((Importance(rate=Public("0.2"), norm=Public(1), floor=Public("0.05")), Fraction(2)))  # two norms: slow


@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "epsilon"), CASES)
def test_the_scale_suffices_and_one_that_is_a_thousandth_smaller_does_not(sampler: Sampler, epsilon: Fraction) -> None:
    found = least_scale(lloyd, sampler, BALL, epsilon)
    scale = found.scale
    assert Fraction(float(scale)) == scale
    assert found.mechanism == lloyd(scale)

    def bound(scale: Fraction) -> Any:
        return SampledRun(mechanism=lloyd(scale), sampler=sampler).on(BALL).pure().bound.epsilon

    assert bound(scale).upper <= proven(found.claim) <= epsilon  # a run knows more ways than the supremum of ψ
    assert bound(scale * Fraction(999, 1000)).lower > epsilon


def test_without_sampling_it_is_the_closed_form() -> None:
    """T(1/β_count + r/β_sum) = ε with β_count = β_sum/(r·∛(4dρ²))."""
    share = np.cbrt(4 * 9 * 0.225**2)
    scale = least_scale(lloyd, Full(), BALL, Fraction(2)).scale
    assert float(scale) == pytest.approx(4 * (3 * share + 3) / 2, rel=1e-9)


def test_another_mechanism() -> None:
    ball = NormBall(norm=Norm.L1, radius=Public(5))
    scale = least_scale(lambda s: LaplaceSum(scale=Public(s)), Full(), ball, Fraction(1, 2)).scale
    assert 10 <= scale <= 10 * (1 + Fraction(1, 2**20))


def test_where_no_noise_suffices() -> None:
    with pytest.raises(NoFiniteSupremum):
        least_scale(lloyd, Importance(rate=Public("0.2"), norm=Public(2)), BALL, Fraction(1))


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1), Fraction(10**9), Fraction(1, 10**320)])
def test_bad_targets_are_named(epsilon: Fraction) -> None:
    with pytest.raises(InvalidValue, match="epsilon: got"):
        least_scale(lloyd, Full(), BALL, epsilon)


def test_an_unproven_scale_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_needed", lambda unit, sampler, domain, epsilon: Fraction(1, 100))
    with pytest.raises(Undecided, match="state a scale"):
        least_scale(lloyd, Full(), BALL, Fraction(1))
