"""Figures of T steps of the sampled Gaussian at one rate and shift, for the nodes of a table."""

from __future__ import annotations

from fractions import Fraction

from ..bulk.sampled_gaussian import epsilon_upper
from ..enclosures import Enclosure
from ..enclosures.arguments import whole
from ..errors import InvalidValue, OutsideDomain
from ..exact import Number
from ..pairs import Pair
from ..pairs.gaussian import SampledGaussian
from ..relations import Direction
from ..units import Delta
from .nodes import FigureOf
from .truncated_gaussian import truncated_gaussian


def epsilon_of_steps(steps: int, delta: Delta | Number) -> FigureOf:
    """ε at δ of T steps that were fixed beforehand, each on a fresh sample: the larger of the two directions.

    From both sides by the loss distribution where that gives an answer; else from above by the best Rényi order.

    Raises:
        InvalidValue: for fewer steps than 1, and for δ = 0, at which no ε bounds Gaussian noise.
    """
    times = whole("steps", steps, 1)
    level = Enclosure.of(_positive(delta).value)

    def figure(rate: float, shift: float) -> Enclosure:
        bound, _ = epsilon_upper(rate, shift, times, level.lower_float)
        by_order = Enclosure.of(0).hull(Fraction(float(bound)))
        pair = _composed(rate, shift, times)
        try:
            remove, add = (pair.smallest_epsilon(level, direction) for direction in Direction)
        except (InvalidValue, OutsideDomain):  # δ(ε) is not proven to fall to δ, or beyond what enclosures hold
            return by_order
        if remove is None or add is None:
            return by_order
        return remove.maximum(add).minimum(by_order.upper)

    return figure


def truncated_mu_of_steps(steps: int, delta: Delta | Number) -> FigureOf:
    """The μ of `TruncatedGaussian` at δ₀ for T steps, from above: a label, and no guarantee of Gaussian DP.

    Raises:
        InvalidValue: for fewer steps than 1, for δ₀ = 0, and by the figure where the composed pair has no law δ(ε).
    """
    times = whole("steps", steps, 1)
    level = _positive(delta)

    def figure(rate: float, shift: float) -> Enclosure:
        law = _composed(rate, shift, times).delta
        if law is None:
            raise InvalidValue("steps", steps, "a number of steps whose δ(ε) is known", "Ask for a single step")
        return Enclosure.of(0).hull(truncated_gaussian(law, level).mu)

    return figure


def _positive(delta: Delta | Number) -> Delta:
    level = Delta.of(delta)
    if not level.value:
        raise InvalidValue("delta", level.value, "δ > 0")
    return level


def _composed(rate: float, shift: float, times: int) -> Pair:
    return SampledGaussian(Enclosure.of(shift), Enclosure.of(rate)).repeated(times)
