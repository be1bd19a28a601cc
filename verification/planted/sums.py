"""Faults of noisy sums, of their sampling and of their composition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...accounting.amplification import psi, psi_add
from ...accounting.enclosures import Enclosure
from ...accounting.exact import Floats
from ...accounting.norms import Norm
from ...accounting.provenance import Public
from ...accounting.sampling.releases import ResampleEach, SampleOnce
from ...accounting.units import Delta, Epsilon
from ...mechanisms.count import Count
from ...mechanisms.laplace_sum import LaplaceSum
from ...mechanisms.lp_sum import lp_noise
from ...plugins.contract import Coins
from ...samplers.full import Full
from ...samplers.poisson import Poisson
from ..audit import Releases
from .fault import ONE_RECORD, Fault, Inputs, sampled

_PURE = Delta(0)
_ONE = Fraction(1)
_SHIFT = Fraction(1, 10)
_RATE = Fraction(1, 8)
_STEPS = 5


def _planar(exponential: bool) -> Inputs:
    """A sum in the plane with and without a record of norm 0.1, and noise of scale 1 whose radius may be wrong."""

    def inputs(coins: Coins) -> tuple[Releases, Releases]:
        def releases(shift: float) -> Releases:
            def drawn(count: int) -> Floats:
                noise = lp_noise(Norm.L2, _ONE, (count, 2), coins)
                if exponential:
                    radii = coins.gamma(_ONE, _ONE, count)
                    noise *= (radii / np.linalg.norm(noise, axis=1))[:, np.newaxis]
                return np.asarray(noise + np.array([shift, 0.0]))

            return drawn

        return releases(float(_SHIFT)), releases(0.0)

    return inputs


def _amplified(epsilon: int) -> Epsilon:
    """ψ of a pure loss at rate 1/8 (IS Theorem 6), rounded up."""
    return Epsilon(psi(Enclosure.of(epsilon), Enclosure.of(_RATE)).upper)


def _amplified_when_added(epsilon: int) -> Epsilon:
    return Epsilon(psi_add(Enclosure.of(epsilon), Enclosure.of(_RATE)).upper)


def _laplace(scale: str) -> LaplaceSum:
    return LaplaceSum(scale=Public(scale))


SUM_FAULTS = (
    Fault(
        id="exponential-radius",
        says="noise ∝ e^{−‖ζ‖₂/β} in the plane, with a radius of law Exponential(β) for Gamma(2, β) (erratum IS-noise)",
        claimed=Epsilon(_SHIFT),
        delta=_PURE,
        wrong=_planar(exponential=True),
        right=_planar(exponential=False),
    ),
    Fault(
        id="scale-off-by-1.2",
        says="Laplace noise whose scale is 1.2 times too small",
        claimed=Epsilon(1),
        delta=_PURE,
        wrong=sampled(_laplace("5/6"), Full(), ONE_RECORD),
        right=sampled(_laplace("1"), Full(), ONE_RECORD),
    ),
    Fault(
        id="missing-t",
        says=f"{_STEPS} noisy counts on one data set, claimed at the ε of one: the factor T is missing",
        claimed=Epsilon("0.2"),
        delta=_PURE,
        wrong=sampled(Count(scale=Public(5)), Full(), ONE_RECORD, SampleOnce(_STEPS)),
        right=sampled(Count(scale=Public(5 * _STEPS)), Full(), ONE_RECORD, SampleOnce(_STEPS)),
    ),
    Fault(
        id="unweighted-noise",
        says="a sum of records weighted by 1/q = 8, with noise for weight 1",
        claimed=_amplified(1),
        delta=_PURE,
        wrong=sampled(_laplace("1"), Poisson(rate=Public(_RATE), weighted=Public(True)), ONE_RECORD),
        right=sampled(_laplace("8"), Poisson(rate=Public(_RATE), weighted=Public(True)), ONE_RECORD),
    ),
    Fault(
        id="dropped-direction",
        says="a sampled sum, claimed at the ψ of adding a record alone, which is below that of removing it",
        claimed=_amplified_when_added(1),
        delta=_PURE,
        wrong=sampled(_laplace("1"), Poisson(rate=Public(_RATE)), ONE_RECORD),
        right=sampled(_laplace("3"), Poisson(rate=Public(_RATE)), ONE_RECORD),
    ),
    Fault(
        id="once-for-each",
        says="4 sums on one sample, claimed as if each were on a fresh one",
        claimed=Epsilon(4 * _amplified(1).value),
        delta=_PURE,
        wrong=sampled(_laplace("1"), Poisson(rate=Public(_RATE)), ONE_RECORD, SampleOnce(4)),
        right=sampled(_laplace("1"), Poisson(rate=Public(_RATE)), ONE_RECORD, ResampleEach(4)),
    ),
)
