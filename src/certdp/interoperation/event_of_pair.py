"""The event that describes a dominating pair, for tools that account by events."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue
from ..accounting.pairs import Composed as ComposedPairs
from ..accounting.pairs import (
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pair,
    Repeated,
    Sampled,
    SampledGaussian,
    ZeroConcentratedCurve,
)
from .events import (
    Composed,
    DiscreteLaplace,
    Event,
    Gaussian,
    Laplace,
    NoOp,
    PoissonSampled,
    SelfComposed,
    ZeroConcentrated,
)


def event_of(pair: Pair) -> Event:
    """The event under add/remove whose pair dominates `pair`, and is it where the parameters are single numbers.

    Args:
        pair: such as one of `SampledRun(…).pairs.bounding`.

    Raises:
        InvalidValue: for a pair that no event describes, such as that of a finite table.
    """
    match pair:
        case GaussianPair(shift):
            return Gaussian(_reciprocal(shift)) if shift.upper else NoOp()
        case LaplacePair(shift):
            return Laplace(_reciprocal(shift)) if shift.upper else NoOp()
        case DiscreteLaplacePair(unit, steps):
            return DiscreteLaplace(unit.upper, floor(steps.upper))
        case ZeroConcentratedCurve(rho):
            return ZeroConcentrated(rho.upper)
        case SampledGaussian(shift, rate):
            return PoissonSampled(rate.upper, event_of(GaussianPair(shift)))
        case Sampled(base, rate):
            return PoissonSampled(rate.upper, event_of(base))
        case Repeated(base, times):
            return SelfComposed(event_of(base), times)
        case ComposedPairs(parts):
            return Composed(event_of(part) for part in parts)
    raise InvalidValue("pair", pair, "a Gaussian, Laplace or discrete Laplace pair, sampled or composed")


def _reciprocal(shift: Enclosure) -> Fraction:
    """The least noise multiplier that gives this shift: no more noise than there is."""
    return 1 / shift.upper
