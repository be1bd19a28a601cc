"""Faults of importance-sampled DP-SGD as DPIS prints it.

Legend: b is the expected batch size, Ñ the number of records, K̃ the sum of gradient norms, C = 1 the clipping bound,
ĝ = k·n a bound on the norm of a gradient from its stale norm n, g that gradient; σ_G and σ_K are noise multipliers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...accounting.enclosures import Enclosure
from ...accounting.exact import Floats
from ...accounting.pairs import GaussianPair
from ...accounting.provenance import Public
from ...accounting.units import Delta
from ...mechanisms.dpis_step import DpisStep
from ...mechanisms.gaussian_sum import GaussianSum
from ...plugins.contract import Coins
from ...samplers.dpis import Dpis
from ...samplers.poisson import Poisson
from ..audit import Releases
from .fault import ONE_RECORD, Fault, Inputs, epsilon_of, sampled

_DELTA = Delta("0.01")
_BATCH, _SIZE, _BOUND = 2, 4, 5
_NOISE = Fraction(1, 2)
_NORM_SUM = Fraction("2.02")
_STEP = GaussianPair(Enclosure.of(_NORM_SUM / (_SIZE * _NOISE))).sampled(Enclosure.of(_BATCH / _NORM_SUM))

_SUM_RATE, _SUM_NOISE = Fraction(1, 4), Fraction(2)  # p_K and σ_K


def _as_printed(stale: float) -> Inputs:
    """Algorithm 1 for one record with a gradient of norm 1: q = min(1, b·ĝ/K̃), p = ‖g‖/ĝ, b/Ñ·g/(q·p) is added."""
    bound = _BOUND * stale
    first, second = min(1.0, _BATCH * bound / float(_NORM_SUM)), min(1.0, 1 / bound)

    def inputs(coins: Coins) -> tuple[Releases, Releases]:
        def releases(present: int) -> Releases:
            def drawn(count: int) -> Floats:
                accepted = coins.bernoulli(np.full(count, first)) & coins.bernoulli(np.full(count, second))
                added = present * accepted * (_BATCH / _SIZE / (first * second))
                return added + coins.gaussian(_NOISE, count)

            return drawn

        return releases(1), releases(0)

    return inputs


_RIGHT_STEP = sampled(
    DpisStep(
        noise_multiplier=Public(_NOISE),
        clip=Public(1),
        size=Public(_SIZE),
        batch=Public(_BATCH),
        norm_sum=Public(_NORM_SUM),
    ),
    Dpis(batch=Public(_BATCH), norm_sum=Public(_NORM_SUM), clip=Public(1)),
    ONE_RECORD,
)

TRAINING_FAULTS = (
    Fault(
        id="saturated-dpis",
        says="a first stage q = min(1, b·ĝ/K̃) that stops at 1 while the weight grows on (erratum DPIS-saturation)",
        claimed=epsilon_of(_STEP, _DELTA),
        delta=_DELTA,
        wrong=_as_printed(stale=0.99),
        right=_RIGHT_STEP,
    ),
    Fault(
        id="stale-dpis",
        says="a stale norm far below the gradient's, which then enters with too large a weight (erratum DPIS-stale)",
        claimed=epsilon_of(_STEP, _DELTA),
        delta=_DELTA,
        wrong=_as_printed(stale=0.1),
        right=_RIGHT_STEP,
    ),
    Fault(
        id="norm-sum-multiplier",
        says="a sum of norms sampled at p_K, σ_K taken for its noise multiplier σ_K·p_K (erratum DPIS-Eq19)",
        claimed=epsilon_of(GaussianPair(Enclosure.of(1 / _SUM_NOISE)).sampled(Enclosure.of(_SUM_RATE)), _DELTA),
        delta=_DELTA,
        wrong=sampled(
            GaussianSum(scale=Public(_SUM_NOISE)), Poisson(rate=Public(_SUM_RATE), weighted=Public(True)), ONE_RECORD
        ),
        right=sampled(
            GaussianSum(scale=Public(_SUM_NOISE / _SUM_RATE)),
            Poisson(rate=Public(_SUM_RATE), weighted=Public(True)),
            ONE_RECORD,
        ),
    ),
)
