"""The noise with which the optimal sample has a given expected size on a data set, and the reverse.

Both read the data and compute in floats: estimates for the data's owner, which no guarantee uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.expressions import evaluate, variables
from ..accounting.feasible_weights import largest_weights
from ..accounting.feasible_weights.rates import linear_part
from ..accounting.provenance import Private
from ..accounting.sampling.losses import PureLoss
from ..accounting.sampling.records import Features

TargetAt: TypeAlias = Callable[[float], float]
"""The ε* of a noise scale: one and the same, or what the mechanism loses at weight 1 with that scale."""

_WIDEST = 2.0**30
_LARGEST_TARGET = 699.0
_CLOSE = 1e-10


def unit_losses(loss: PureLoss, features: Features) -> Private[Floats]:
    """The loss of each record at weight 1, in floats, of a loss proportional to the weight."""
    root = linear_part(loss.epsilon)
    assert root is not None, "the experiments use mechanisms whose loss is proportional to the weight"
    values = evaluate(root, {v: features.norm(v) for v in variables(root)})
    return Private(np.array(np.broadcast_to(values, len(features)), dtype=np.float64))


def expected_size(losses: Private[Floats], scale: float, target: float) -> Private[float]:
    """Σ q over the records, for the largest weights with ψ ≤ target.

    Args:
        losses: per record the loss at weight 1 with noise of scale 1.
        scale: of the noise; losses are inversely proportional to it.
        target: ε*, from 2^-40 to 1024 and at least the largest loss but for rounding.
    """

    def total(unit: Floats) -> float:
        at_weight_1 = np.minimum(unit / scale, target)
        return math.fsum(largest_weights(at_weight_1, Fraction(target)).probability)

    return losses.map(total)


def noise_for_size(losses: Private[Floats], size: float, target_at: TargetAt, least: float) -> Private[float]:
    """The scale, at least `least`, at which the optimal sample has the expected size asked for.

    Args:
        losses: per record the loss at weight 1 with noise of scale 1.
        size: the expected size, above 0.
        target_at: ε* at a scale.
        least: the smallest scale with which every record can be drawn at all.

    Returns:
        a root of the size in the scale, which it falls with; `least` where the sample is smaller there already, since
        then no admissible noise needs as many records.
    """

    def excess(scale: float) -> float:
        return expected_size(losses, scale, target_at(scale)).reveal() - size

    return Private(_falling_root(excess, least, least * _WIDEST))


def target_for_size(losses: Private[Floats], size: float, scale: float, least: float) -> Private[float]:
    """The ε*, at least `least`, at which the optimal sample has the expected size asked for, at one noise scale.

    Args:
        losses: per record the loss at weight 1 with noise of scale 1.
        size: the expected size, above 0; the size falls with ε*.
        scale: of the noise.
        least: the smallest ε* with which every record can be drawn at all.
    """

    def excess(target: float) -> float:
        return expected_size(losses, scale, target).reveal() - size

    return Private(_falling_root(excess, least, _LARGEST_TARGET))


def _falling_root(excess: Callable[[float], float], least: float, most: float) -> float:
    """Where a falling function crosses 0, between two numbers above 0; `least` where it is below 0 there already."""
    from scipy.optimize import brentq

    start, end = math.log(least), math.log(most)
    if excess(least) <= 0:
        return least
    if excess(most) > 0:
        raise InvalidValue("size", f"a sample smaller than with {most:.4g}", "a size that noise or ε* reaches")
    root: Any = brentq(lambda at: excess(math.exp(at)), start, end, xtol=_CLOSE)
    return min(most, max(least, math.exp(root)))
