"""The least noise, nearly, with which a mechanism on a sample stays within an ε on a public domain, proven."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Generic, TypeVar, final

from attrs import frozen

from ..accounting.errors import InvalidValue, Undecided
from ..accounting.expressions import ONE, Constant, W, expm1, log1p, substitute, variables
from ..accounting.expressions.suprema import supremum
from ..accounting.sampling.domains import NormBall
from ..plugins.contract import Mechanism, Sampler
from ..verification.certificates.writing import SampledPureClaim
from .certificates import pure_claim
from .declared import declared_loss, declared_rate, pure_loss_of
from .sampled import SampledRun

M = TypeVar("M", bound=Mechanism)

_PRECISION = 128
_GAP = Fraction(1, 2**20)
_MARGINS = (Fraction(1, 2**36), Fraction(1, 2**24), Fraction(1, 2**12))
_LARGEST_EPSILON = 2**20


@final
@frozen
class LeastScale(Generic[M]):
    """A mechanism with just enough noise.

    Attributes:
        mechanism: that of the scale found.
        scale: the scale, a binary64 number.
        claim: what its certificate states: a supremum over the domain that is at most the ε asked for.
    """

    mechanism: M
    scale: Fraction
    claim: SampledPureClaim


def least_scale(at: Callable[[Fraction], M], sampler: Sampler, domain: NormBall, epsilon: Fraction) -> LeastScale[M]:
    """The mechanism of a scale s, in binary64, with which sup ψ over the domain is proven to be at most ε.

    For a mechanism whose loss is c(W, x)/s, ψ(x) ≤ ε says s ≥ c(1/q, x)/log(1 + (e^ε − 1)/q): the least s is the
    supremum of that over the domain. It is enclosed for the rate as declared and enlarged a little, to cover the
    rounding of the probability drawn; the bound itself is then proven anew for the mechanism of that scale.

    Args:
        at: the mechanism of a scale; its loss must be inversely proportional to that, but for rounding.
        sampler: which records enter.
        domain: the public domain.
        epsilon: in (0, 2^20].

    Guarantees:
        The claim's supremum is at most `epsilon`. The scale is within about 2^-20 of the least one, relatively, unless
        a larger margin was needed for the proof.

    Raises:
        InvalidValue: for an inadmissible ε, and where no scale in binary64 is large enough.
        NoFiniteSupremum: where no scale suffices.
        Undecided: where no margin made the proof succeed.
    """
    if not 0 < epsilon <= _LARGEST_EPSILON:
        raise InvalidValue("epsilon", str(epsilon), f"a number in (0, {_LARGEST_EPSILON}]")
    needed = _needed(at(Fraction(1)), sampler, domain, epsilon)
    for margin in _MARGINS:
        scale = _rounded_up(needed * (1 + margin), epsilon)
        mechanism = at(scale)
        claim = pure_claim(SampledRun(mechanism=mechanism, sampler=sampler, domain=domain))
        if proven(claim) <= epsilon:
            return LeastScale(mechanism, scale, claim)
    raise Undecided(f"no scale near {float(needed):.6g} was proven to keep ψ within {float(epsilon)}; state a scale")


def proven(claim: SampledPureClaim) -> Fraction:
    """The ε that a claim over a public domain proves: the upper end of its supremum."""
    assert claim.supremum is not None
    return claim.supremum.enclosure.upper


def _needed(unit: Mechanism, sampler: Sampler, domain: NormBall, epsilon: Fraction) -> Fraction:
    """An upper bound of the least scale for the rate as declared."""
    rate = declared_rate(sampler)
    weight = 1 / rate.probability if rate.weighted else ONE
    allowed = log1p(expm1(Constant(epsilon)) / rate.probability)
    root = substitute(pure_loss_of(unit, declared_loss(unit)).epsilon, {W: weight}) / allowed
    meaning, box = domain.box(variables(root))
    found = supremum(substitute(root, meaning), box, precision=_PRECISION, relative_gap=_GAP)
    return found.enclosure.upper


def _rounded_up(scale: Fraction, epsilon: Fraction) -> Fraction:
    if scale > Fraction(sys.float_info.max):
        raise InvalidValue("epsilon", str(epsilon), "an ε that noise within binary64 reaches", "Scale the data down")
    nearest = float(scale)
    return Fraction(nearest if nearest >= scale else math.nextafter(nearest, math.inf))
